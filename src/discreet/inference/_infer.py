"""Inference from releases: the posterior of what the records say, with the noise taken into account.

A reader's own records of the same population can be added to the prior.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast
from zlib import crc32

from discreet._core.errors import DeclarationError
from discreet.inference._number_prior import number_known
from discreet.inference._posterior import Posterior, posterior_of
from discreet.inference._prior_strengths import (
    LEARNT,
    NEGLIGIBLE,
    settled,
    solve_with_learnt_prior,
    solve_with_strengths,
    strengthened,
)
from discreet.inference._problem import Problem, Solution, in_order, not_read, rejection_of, solve, solver_for
from discreet.inference._protocols import HasFewerDraws, HasJointTable
from discreet.mechanism import Model, Sized, TakesOwnRecords, is_prior_open
from discreet.release import NO_READING, Release


def informed_solutions(problem: Problem, own: object, strengths: Sequence[float] | None) -> tuple[list[Solution], int]:
    """Return one solution for each strength of the prior, and how many own records there are.

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
    solutions: list[Any] = [solve(replace(problem, model=model)) for model, _ in kept]
    pairs = zip(solutions, kept, strict=True)
    return [replace(each, log_evidence=each.log_evidence + log) for each, (_, log) in pairs], informed.records


AnyPosterior = TypeVar("AnyPosterior", bound=Posterior)


def infer(
    *releases: Release[Model[AnyPosterior]],
    prior: object = None,
    strengths: Sequence[float] | None = None,
    own: object = None,
    patience: float = 1.0,
    model: object = None,
    populations: Mapping[str, Release] | None = None,
    number: object = None,
) -> AnyPosterior:
    """Return the noise-aware posterior given one release, or several releases of the same records.

    Without a prior, shares are inferred from their own noisy sums; `posterior.table` infers all cells jointly, with the
    prior's strength learnt. The first suitable solver reads; the posterior's `method` says which it was.

    >>> import discreet as dc
    >>> smoking = dc.Categories("smoking", levels=("never", "former", "current"))
    >>> mechanism = dc.GeometricHistogram(smoking, size=300, epsilon=1)
    >>> posterior = dc.infer(dc.simulate(mechanism, [150, 81, 54, 15], dc.SeededBits(1)))
    >>> low, high = posterior.interval("never", 0.9)
    >>> low < 0.5 < high
    True

    Args:
        *releases: several may be of one table, or of a table or graph and its margins.
        prior: the reader's own, or a name: "declared" is the holder's, "learnt" gives the joint posterior of a
            table, "none" reads as if none was declared.
        strengths: multiples of the prior, weighted by evidence.
        own: the reader's own records of the population, or their counts.
        patience: how many times the usual work is allowed.
        model: a program (docs/programs.md) that reads tables, of the same records or of different
            `populations`.
        populations: releases by name, of different people: `infer(populations={"north": r1, "south": r2},
            model=...)`.
        number: what is known beforehand of a secret number of records, for tables of shares: that number, a range such
            as (4000, 6000), chances by number, or the `number_of_records` of another posterior.

    Returns:
        a posterior of the class that suits the model, with everything that `Posterior` has.

    Raises:
        DeclarationError: if the releases do not belong together, or if nothing can read them within the work
            allowed.
    """
    if number is not None:
        if model is not None or populations is not None:
            raise DeclarationError(
                "number, what is known of a secret number of records, is for tables of shares; a model of their cells "
                "is read whatever that number is. Nothing was read. Leave number or the model out."
            )
        releases = _with_number(releases, number)
    if model is not None or populations is not None:
        from discreet.programs import infer_program  # rarely needed

        return infer_program(releases, populations or {}, model, patience, (prior, strengths, own))  # type: ignore[no-any-return]
    problem = Problem.of(releases, prior, patience)
    if any(release.reading == NO_READING for release in releases) and (why := rejection_of(problem)) is not None:
        raise DeclarationError(
            f"{problem.label!r} has no posterior, as its holder declared on publishing it (reading = {NO_READING!r}): "
            f"{why}. Nothing was read."
        )
    if strengths is not None and not problem.model.is_prior_declared:
        problem = Problem.of(releases, 1, problem.work_limit)
    solutions, records = _solutions(problem, strengths, own)
    posterior: AnyPosterior = posterior_of(type(solutions[0]))(
        solutions[0].model if records else problem.model, in_order(releases), solutions
    )
    posterior.own_records = records
    for each in posterior.warnings:
        warnings.warn(each, stacklevel=2)
    asked: object = posterior
    if isinstance(prior, str) and prior == LEARNT and isinstance(asked, HasJointTable):
        return cast(AnyPosterior, asked.table)
    return posterior


def _with_number(releases: Sequence[Release], number: object) -> tuple[Release[Any], ...]:
    """Return releases of a secret number of records, to be read with what is known of it beforehand."""
    for release in in_order(releases):
        if isinstance(release.mechanism, Sized):
            raise DeclarationError(
                f"{release.label!r} states the number of records as public, {release.mechanism.size:,}, so number says "
                "nothing more. Nothing was read. Leave it out."
            )
    known = number_known(number)
    return tuple(replace(release, reader_number=known) for release in releases)


def infer_many(releases: Sequence[Release]) -> list[Posterior]:
    """Return the posteriors of simulated releases by one mechanism, each read by itself: for plans.

    They are those of `infer`, but solvers that draw may draw less (`Solver.solve_many`), and so may rows
    (`HasFewerDraws`); each from a seed of its own, so that errors of few draws average out.
    """
    problems = [replace(Problem.of([release]), seed=crc32(repr(release.output).encode())) for release in releases]
    meant = [settled(problem) for problem in problems]
    if is_prior_open(meant[0].model):
        solutions = [solve_with_learnt_prior(problem) for problem in problems]
    else:
        if (solver := solver_for(meant[0])) is None:
            raise not_read(problems[0])
        solutions = [[solution] for solution in solver.solve_many(meant)]
    triples = zip(problems, releases, solutions, strict=True)
    found = [posterior_of(type(own[0]))(problem.model, [release], own) for problem, release, own in triples]
    return [cast(Posterior, each.with_fewer_draws()) if isinstance(each, HasFewerDraws) else each for each in found]


def _solutions(problem: Problem, strengths: Sequence[float] | None, own: object) -> tuple[list[Solution], int]:
    """Return one solution, or one per prior to be weighted by evidence, and how many own records they include."""
    if own is not None:
        return informed_solutions(problem, own, strengths)
    if strengths is not None:
        return solve_with_strengths(strengthened(problem, strengths)), 0
    return solve_with_learnt_prior(problem) if is_prior_open(problem.model) else [solve(problem)], 0
