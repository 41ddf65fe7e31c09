"""Inference of a regression under the reader's model: the same records, another prior."""

from dataclasses import replace

from discreet._core.errors import DeclarationError
from discreet.inference import Problem
from discreet.regression._model import LinearRegression
from discreet.regression._posterior import RegressionPosterior
from discreet.regression._solver import MomentsSolver
from discreet.release import Release


def read_regression(*releases: Release, model: LinearRegression | None = None, seed: int = 0) -> RegressionPosterior:
    """Return the noise-aware posterior given one release of noisy moments, or several of the same records.

    `model` replaces the declared prior by the reader's own; its columns, bounds and grid must be the same. `seed` makes
    the result repeatable; no secret is involved. `infer` is the same, under the declared prior.
    """
    problem = replace(Problem.of(releases), seed=seed)
    if (why := MomentsSolver().unsuited(problem)) is not None:
        raise DeclarationError(f"{problem.label!r} holds no noisy moments that could be read: {why}.")
    if model is not None and (type(model) is not type(problem.model) or model.layout != problem.model.layout):
        raise DeclarationError("The reader's model must have the same columns, bounds and grid as the release.")
    problem, solver = problem if model is None else replace(problem, model=model), MomentsSolver()
    if (why := solver.rejection(problem)) is not None:
        raise DeclarationError(f"{problem.label!r} cannot be read: {why}. Nothing was read.")
    return RegressionPosterior(problem.model, releases, [solver.solve(problem)])
