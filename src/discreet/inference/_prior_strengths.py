"""A problem under several priors, weighted by evidence: the reader's strengths, or the candidates of a learnt one.

Where no prior was declared nobody knows how many records it should be worth. Of a table of m cells the total weight is
learnt: log-uniform from 2, as for one share that is uniform, to m, one for each cell (`Categories.proposals`). Of a
network each family with many levels has a separate strength (see `networks._family_strengths`).
"""

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Any

from discreet._core.errors import DeclarationError
from discreet.inference._problem import (
    BoundsEvidence,
    Exactness,
    Problem,
    Published,
    Solution,
    Solver,
    in_turn,
    not_read,
    solver_for,
)
from discreet.mechanism import HasStrengths, Model, StrengthensPrior, TakesPrior, is_prior_open

NEGLIGIBLE = 35.0
"""Nats below the best evidence beyond which a prior is not read: its share is below e^-35 = 6e-16."""

DECLARED, LEARNT, NONE = "declared", "learnt", "none"
"""Priors by name: the holder's, one whose strength is learnt, and none, as if the holder had declared none."""


def model_under(release: Published, prior: object) -> Model:
    """Return a release's model under the reader's own prior, or one by name."""
    if prior == DECLARED:
        if not release.mechanism.model.is_prior_declared:
            raise DeclarationError(
                f"{release.label!r} was published without a prior, and none was given. Nothing was read. Give a "
                "prior, such as 1 for every parameter."
            )
        declared: Model = release.mechanism.model
        return declared
    if isinstance(prior, str) and prior not in (LEARNT, NONE):
        raise DeclarationError(
            f"A prior must be a number, one number for each cell, {DECLARED!r}, {LEARNT!r} or {NONE!r}; got "
            f"{prior!r}. Nothing was read."
        )
    if prior == LEARNT and not isinstance(release.model, StrengthensPrior):
        raise DeclarationError(
            f"The strength of the prior of a {type(release.model).__name__} cannot be learnt. Nothing was read. Give "
            "a prior, or compare the evidence of several."
        )
    assert isinstance(release.model, TakesPrior)  # `Problem.of` asked
    return release.model.with_prior(None if isinstance(prior, str) else prior)


def solve_with_learnt_prior(problem: Problem) -> list[Solution]:
    """Read a problem under every prior that may be meant where none was declared.

    Which of them is meant is learnt by evidence, so where that is not known only one is read.
    """
    if (is_learnt := _is_learnt(problem)) and _has_several_strengths(problem.model):
        from discreet.networks import solve_with_family_strengths  # of networks alone

        solver = solver_for(problem)
        assert solver is not None
        return list(solve_with_family_strengths(problem, in_turn(solver)))
    return solve_with_strengths([replace(problem, model=model) for model in problem.model.proposals(is_learnt)])


def settled(problem: Problem) -> Problem:
    """Return a problem under the one prior that may be meant where none was declared; as it is if there are several."""
    if not is_prior_open(problem.model):
        return problem
    if (is_learnt := _is_learnt(problem)) and _has_several_strengths(problem.model):
        return problem
    found = problem.model.proposals(is_learnt)
    return replace(problem, model=found[0]) if len(found) == 1 else problem


def _is_learnt(problem: Problem) -> bool:
    """Return whether the evidence of several priors is known, and found within the work limit."""
    solver = solver_for(problem)
    if solver is None or solver.exactness is not Exactness.EXACT:
        return False
    if not isinstance(problem.model, HasStrengths):
        return True
    from discreet.networks import are_few  # of networks alone

    return are_few(problem, solver)


def _has_several_strengths(model: Model) -> bool:
    return isinstance(model, HasStrengths) and len(model.strength_grids) > 1


def solve_with_strengths(problems: Sequence[Problem], by: Solver | None = None) -> list[Solution]:
    """Read a problem under each of several priors, except those with no share of the evidence; `by` some solver.

    Priors are taken in decreasing order of upper bounds on their evidence. If a bound lies 35 nats below the best
    evidence, the prior's share is below e^-35 and it is not read: it gets no evidence, and the best one's counts.
    """
    solver = by or solver_for(problems[0])
    if solver is None:
        raise not_read(problems[0])
    bounds = solver.log_bounds(problems) if isinstance(solver, BoundsEvidence) else [inf] * len(problems)
    solve = in_turn(solver)
    found: dict[int, Any] = {}
    for index in sorted(range(len(problems)), key=lambda index: -bounds[index]):
        best = max(found.values(), key=lambda solution: solution.log_evidence, default=None)
        if best is None or not bounds[index] < best.log_evidence - NEGLIGIBLE:
            found[index] = solve(problems[index])
        else:
            found[index] = replace(best, model=problems[index].model, log_evidence=-inf)
    return [found[index] for index in range(len(problems))]


def strengthened(problem: Problem, strengths: object) -> list[Problem]:
    """Return a problem under several multiples of its prior; refuse one whose evidence is not known."""
    if not isinstance(strengths, Sequence) or isinstance(strengths, str) or not strengths:
        raise DeclarationError("strengths must be a sequence of multiples of the prior, such as (0.3, 1, 3).")
    if not isinstance(problem.model, StrengthensPrior):
        raise DeclarationError(
            "strengths go with the Dirichlet priors of categories and networks; this is a "
            f"{type(problem.model).__name__}. Give another prior instead."
        )
    if (solver := solver_for(problem)) and solver.exactness is not Exactness.EXACT:
        raise DeclarationError(
            "strengths are weighted by their evidence, which is known only where a release is read exactly."
        )
    return [replace(problem, model=problem.model.strengthened(float(strength))) for strength in strengths]
