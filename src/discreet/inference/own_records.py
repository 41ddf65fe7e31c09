"""Read a release together with a reader's own records of the same population (see `models.informed`)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from discreet.errors import DeclarationError
from discreet.models.model import TakesOwnRecords
from discreet.reading import Problem, solve
from discreet.reading.published import Reading
from discreet.reading.strengths import NEGLIGIBLE


def informed_readings(problem: Problem, own: object, strengths: Sequence[float] | None) -> tuple[list[Reading], int]:
    """Return one reading for each strength of the prior, and how many own records there are.

    The likelihood of the own records under a strength is part of its evidence.
    """
    if strengths is not None:
        raise DeclarationError(
            "Own records are read under one prior or, where none was declared, with a prior strength learnt from them "
            "as well. Leave strengths out. Nothing was read."
        )
    if not isinstance(problem.model, TakesOwnRecords):
        raise DeclarationError(
            "Own records can be added to the prior of categories, networks and regressions; this is a "
            f"{type(problem.model).__name__}. Nothing was read. Pass a prior that expresses what they say."
        )
    informed = problem.model.informed_by(own)
    if len(informed.models) == 1:
        return [solve(replace(problem, model=informed.models[0]))], informed.records
    best = max(informed.log_weights)
    kept = [pair for pair in zip(informed.models, informed.log_weights, strict=True) if pair[1] > best - NEGLIGIBLE]
    readings: list[Any] = [solve(replace(problem, model=model)) for model, _ in kept]
    pairs = zip(readings, kept, strict=True)
    return [replace(each, log_evidence=each.log_evidence + log) for each, (_, log) in pairs], informed.records
