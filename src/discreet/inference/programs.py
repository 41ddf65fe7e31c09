"""Read releases by a program: any model that says how probable the cells of a table are."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.errors import DeclarationError
from discreet.inference.posteriors.model import ModelPosterior
from discreet.models import Categories
from discreet.models.bounded_family import GammaLaw, NormalLaw
from discreet.models.modelled_table import ModelledTable
from discreet.models.priors import Gamma, Law, Normal
from discreet.models.programs.formulas import read_formula
from discreet.models.programs.loglinear import LogLinear
from discreet.models.programs.program import Cells, Program, chosen
from discreet.models.programs.regressions import Logistic, Multinomial
from discreet.models.readable_family import ReadableFamily
from discreet.reading.case import Case, in_order
from discreet.reading.cells.likelihood import Likelihood, Likelihoods
from discreet.reading.cells.model_reading import read_target
from discreet.reading.cells.target import Populations, Target
from discreet.reading.engines.cell_models import CellModelsEngine, seen
from discreet.reading.patience import not_read
from discreet.records.columns import Column
from discreet.releases.release import Release

Read = Program | ReadableFamily | str
"""What releases may be read by: a program, a family with one parameter, or a formula."""


class FamilyProgram(Program):
    """A family of posterior draws as a program: it is read from a noisy table of its levels too."""

    subject = "a family with one parameter"

    def __init__(self, family: ReadableFamily) -> None:
        self.family, self.columns = family, (family.column,)

    def __repr__(self) -> str:
        return repr(self.family)

    def _law(self) -> Law:
        found: object = self.family.posterior_given_total(Fraction(0), 0)
        if isinstance(found, GammaLaw):
            return Gamma(float(found.shape), float(found.rate))
        if isinstance(found, NormalLaw):
            return Normal(float(found.mean), float(found.variance) ** 0.5)
        raise DeclarationError(
            f"The prior of {self.family!r} is no Gamma and no normal law: it is read from draws alone."
        )

    def on(self, columns: Sequence[Column]) -> Cells:
        """Return the family on a table of its own column."""
        if tuple(columns) != self.columns:
            raise DeclarationError(f"{self.family!r} is about {self.family.column!r}; the table has {list(columns)!r}.")
        law = self._law()

        def log_of(theta: Floats) -> Floats:
            with np.errstate(divide="ignore"):
                logs = np.log(self.family.level_probabilities(law.natural(theta[:, 0])))
            return np.asarray(logs - np.logaddexp.reduce(logs, axis=1)[:, None])

        unit = f"parameter of {type(self.family).__name__}"
        name = f"{type(self.family).__name__} {self.family.column.name}"
        return Cells(tuple(columns), (name,), (law,), log_of, unit=unit)

    def in_words(self) -> str:
        """Say what is believed beforehand."""
        return f"The prior is {self._law()!r}."


def program_of(model: object, columns: Sequence[Column]) -> Program:
    """Return what a reader gave as a program: one as it is, a family, or a formula; refuse anything else."""
    if isinstance(model, Program):
        return model
    if isinstance(model, ReadableFamily):
        return FamilyProgram(model)
    if isinstance(model, str):
        read = read_formula(model)
        if not read.outcome:
            return LogLinear(model)
        (outcome,) = chosen(columns, [read.outcome])
        return Logistic(model) if len(outcome.levels) == 2 else Multinomial(model)
    raise DeclarationError(
        "model is a program such as discreet.Logistic('falls ~ age + ward'), one of discreet.programs, a family such "
        f"as discreet.Poisson, or a formula; got a {type(model).__name__}. Nothing was read."
    )


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
            "prior, strengths and own are for plain tables; a program has priors of its own: model=dc.programs.Poisson("
            "rate='Gamma(4, 3)'). Nothing was read."
        )
    if bool(releases) == bool(populations):
        raise DeclarationError(
            "Give releases of the same records, infer(r1, r2, model=...), or of different populations by name, "
            "infer(north=r1, south=r2, model=...). Nothing was read."
        )
    return _one(in_order(releases), model, patience) if releases else _several(populations, model)


def _one(releases: Sequence[Any], model: object, patience: float) -> ModelPosterior:
    case = Case.of(releases, patience=patience)
    table = replace(case, model=_modelled(case.model, model))
    engine = CellModelsEngine()
    if engine.refusal(table) is not None:
        raise not_read(table)
    return ModelPosterior(table.model, releases, [engine.read(table)])


def _several(populations: Mapping[str, Any], model: object) -> ModelPosterior:
    likelihoods = Likelihoods(**populations)
    parts, tables = {}, []
    for name, release in populations.items():
        own = likelihoods[name]
        assert isinstance(own, Likelihood)
        tables.append(_modelled(release.model, model))
        parts[name] = Target(tables[-1].bound, seen(own, tables[-1]))
    target = Populations(parts, tables[0].program.exchangeable)
    target.check()
    how = f"{len(parts)} populations, {next(iter(parts.values())).likelihood.method}"
    return ModelPosterior(tables[0], list(populations.values()), [read_target(tables[0], target, how)])


def _modelled(table: object, model: object) -> ModelledTable:
    if not isinstance(table, Categories):
        raise DeclarationError(
            f"A model reads releases of one table of categories; this one is about a {type(table).__name__}. Nothing "
            "was read."
        )
    return ModelledTable(table.columns, program_of(model, table.columns))
