"""Inference by a program: any model that says how probable the cells of a table are."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from discreet._core.errors import DeclarationError
from discreet.inference import Problem, in_order, not_read, require
from discreet.programs._inference import solve_target
from discreet.programs._likelihood import refuse_repeated
from discreet.programs._model import ModelledTable
from discreet.programs._posterior import ModelPosterior
from discreet.programs._solver import CellModelsSolver
from discreet.programs._target import PopulationLayout, Populations
from discreet.release import Release


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
            "infer(populations={'north': r1, 'south': r2}, model=...). Nothing was read."
        )
    if model is None:
        raise DeclarationError(
            "Populations are read together by a model of what they share: infer(populations=..., model='falls ~ ward') "
            "takes a formula or one of discreet.programs. Each by itself is infer(r1). Nothing was read."
        )
    return _one(in_order(releases), model, patience) if releases else _several(populations, model, patience)


def _one(releases: Sequence[Any], model: object, patience: float) -> ModelPosterior:
    table, solver = _with_program(Problem.of(releases, work_limit=patience), model), CellModelsSolver()
    if solver.rejection(table) is not None:
        raise not_read(table)
    return ModelPosterior(table.model, releases, [solver.solve(table)])


def _several(populations: Mapping[str, Any], model: object, patience: float) -> ModelPosterior:
    releases, solver = list(populations.values()), CellModelsSolver()
    problems = {
        name: _with_program(Problem.of([release], work_limit=patience), model) for name, release in populations.items()
    }
    refuse_repeated(releases)
    layout = _layout(problems)
    for problem in problems.values():
        if solver.unsupported_reason(problem) is not None:
            raise not_read(problem)
    every = list(problems.values())
    require(solver.work_together(every, layout.cells), patience, "Nothing was read.")
    target = Populations({name: solver.target(problem) for name, problem in problems.items()}, layout.exchangeable)
    how = f"{len(every)} populations, {next(iter(target.parts.values())).likelihood.method}"
    solution = solve_target(every[0].model, target, how, allowed=solver.values_allowed(every))
    return ModelPosterior(every[0].model, releases, [solution])


def _with_program(problem: Problem, model: object) -> Problem[ModelledTable]:
    return replace(problem, model=ModelledTable.with_program(problem.model, model))


def _layout(problems: Mapping[str, Problem[ModelledTable]]) -> PopulationLayout:
    """Return where the parameters of all populations stand; refuse programs that do not have the same ones."""
    first, *others = problems
    table = problems[first].model
    for name in others:
        if problems[name].model.bound.names != table.bound.names:
            raise DeclarationError(
                f"The model has different parameters for {name!r} than for {first!r}; all populations must share them. "
                "Nothing was read."
            )
    layout = PopulationLayout(table.bound, tuple(problems), table.program.exchangeable)
    layout.check()
    return layout
