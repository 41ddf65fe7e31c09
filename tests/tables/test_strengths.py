"""Strengths of a prior share their work: bounds hold, and what is not read has no share."""

from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.inference import Problem, Solver, solve, solve_with_strengths, solver_for
from discreet.inference._prior_strengths import strengthened
from discreet.inference._problem import BoundsEvidence
from discreet.tables._solution import TableSolution

GRID = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


def release(kind: str, cells: int, size: int, epsilon: str, prior: object = 1) -> dc.Release:
    generator = np.random.default_rng(cells + size)
    model = dc.Categories("x", levels=tuple(range(cells)), prior=prior, outside=0)  # type: ignore[arg-type]
    counts = generator.multinomial(size, generator.dirichlet(np.full(cells, 0.3)))
    extra = {"delta": "1e-6"} if kind.endswith("GaussianHistogram") else {}
    made: Any = dc.Mechanism.registered()[kind]
    mechanism = made(model, size=size, epsilon=epsilon, **extra)
    return dc.simulate(mechanism, counts, dc.SeededBits(cells))


@pytest.mark.parametrize("kind", ["GeometricHistogram", "DiscreteLaplaceCounts", "DiscreteGaussianHistogram"])
@pytest.mark.parametrize(("cells", "size", "epsilon"), [(3, 40, "1"), (30, 500, "0.3"), (200, 5000, "1")])
def test_no_evidence_is_above_its_bound_and_pruned_shares_are_the_same(
    kind: str, cells: int, size: int, epsilon: str
) -> None:
    problems = strengthened(Problem.of([release(kind, cells, size, epsilon)]), GRID)
    each = np.array([solve(problem).log_evidence for problem in problems])
    solver: Any = solver_for(problems[0])
    assert isinstance(solver, BoundsEvidence)
    bounds = solver.log_bounds(problems)
    assert (np.array(bounds) >= each - 1e-9).all()
    assert np.isfinite(bounds).all()
    pruned = np.array([reading.log_evidence for reading in solve_with_strengths(problems)])
    shares, found = np.exp(each - each.max()), np.exp(pruned - pruned.max())
    assert np.abs(shares / shares.sum() - found / found.sum()).max() < 1e-14


@pytest.mark.parametrize("prior", [1, (0.5, 1, 2) * 10], ids=["one prior", "priors of their own"])
def test_strengths_that_share_windows_are_bounded_and_read_as_each_by_itself(prior: object) -> None:
    problems = strengthened(Problem.of([release("GeometricHistogram", 30, 500, "0.3", prior)]), GRID)
    solver: Any = solver_for(problems[0])
    assert isinstance(solver, BoundsEvidence)
    alone = [solver.log_bounds([problem])[0] for problem in problems]
    assert solver.log_bounds(problems) == pytest.approx(alone, abs=0.1)  # tilts are found from different sides
    assert solver.log_bounds(problems[::-1])[::-1] == pytest.approx(alone, abs=0.1)
    shared = solve_with_strengths(problems)
    assert sum(np.isfinite(reading.log_evidence) for reading in shared) > 2
    for problem, reading in zip(problems, shared, strict=True):
        slow = solve(problem)
        assert isinstance(reading, TableSolution)
        assert isinstance(slow, TableSolution)
        if np.isfinite(reading.log_evidence):
            assert reading.log_evidence == pytest.approx(slow.log_evidence, abs=1e-10)
            np.testing.assert_allclose(reading.mean_counts, slow.mean_counts, atol=1e-10)


def test_strengths_without_evidence_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    problems = strengthened(Problem.of([release("GeometricHistogram", 200, 5000, "1")]), GRID)
    kind = type(solver_for(problems[0]))
    plain = kind.solve  # type: ignore[union-attr]

    def counted(solver: Solver, problem: Problem) -> object:
        asked.append(problem.model.prior[0])
        return plain(solver, problem)

    monkeypatch.setattr(kind, "solve", counted)
    found = solve_with_strengths(problems)
    assert len(found) == len(GRID)
    assert len(asked) <= 3


def test_cells_with_priors_of_their_own_have_a_bound_too() -> None:
    one = release("GeometricHistogram", 4, 60, "1", (0.5, 1, 2, 4))
    problem = Problem.of([one])
    solver: Any = solver_for(problem)
    assert isinstance(solver, BoundsEvidence)
    assert solve(problem).log_evidence <= solver.log_bounds([problem])[0] < np.inf
