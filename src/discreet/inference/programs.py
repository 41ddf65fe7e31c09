"""Read releases by a program: any model that says how probable the cells of a table are."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from discreet.errors import DeclarationError
from discreet.inference.posteriors.model import ModelPosterior
from discreet.models.modelled_table import ModelledTable
from discreet.reading.case import Case, in_order
from discreet.reading.cells.likelihood import Likelihood, Likelihoods
from discreet.reading.cells.model_reading import read_target
from discreet.reading.cells.target import Populations, Target
from discreet.reading.engines.cell_models import CellModelsEngine, seen
from discreet.reading.patience import not_read
from discreet.releases.release import Release


def infer_program(
    releases: Sequence[Release],
    populations: Mapping[str, Release],
    model: object,
    patience: float = 1.0,
    refused: Sequence[object] = (),
) -> Any:
    """Return the posterior of a program given releases of the same records, or of populations by name."""
    if any(each is not None for each in refused):
        raise DeclarationError(
            "prior, strengths and own go with plain tables; a program has priors of its own: "
            "model=dc.programs.Poisson(rate='Gamma(4, 3)'). Nothing was read."
        )
    if bool(releases) == bool(populations):
        raise DeclarationError(
            "Give releases of the same records, infer(r1, r2, model=...), or of different populations by name, "
            "infer(north=r1, south=r2, model=...). Nothing was read."
        )
    return _one(in_order(releases), model, patience) if releases else _several(populations, model)


def _one(releases: Sequence[Any], model: object, patience: float) -> ModelPosterior:
    case = Case.of(releases, patience=patience)
    table = replace(case, model=ModelledTable.read_by(case.model, model))
    engine = CellModelsEngine()
    if engine.refusal(table) is not None:
        raise not_read(table)
    return ModelPosterior(table.model, releases, [engine.read(table)])


def _several(populations: Mapping[str, Any], model: object) -> ModelPosterior:
    likelihoods = {name: Likelihood(release) for name, release in populations.items()}
    Likelihoods(**likelihoods)  # refuses the same release under two names
    parts, tables = {}, []
    for name, own in likelihoods.items():
        tables.append(ModelledTable.read_by(own.model, model))
        parts[name] = Target(tables[-1].bound, seen(own, tables[-1]))
    target = Populations(parts, tables[0].program.exchangeable)
    target.check()
    how = f"{len(parts)} populations, {next(iter(parts.values())).likelihood.method}"
    return ModelPosterior(tables[0], list(populations.values()), [read_target(tables[0], target, how)])
