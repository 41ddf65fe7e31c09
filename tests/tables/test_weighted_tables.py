"""Hellinger choices by weighted draws: sums against proved bounds, posteriors against sums over all tables."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.choices import HellingerGlobal, HellingerReciprocal, HellingerSmooth
from discreet.choices._hellinger_moments import hellinger_moments
from discreet.choices._hellinger_sums import log_normalisers
from discreet.inference import Problem, why_unreadable
from discreet.tables import _importance_solver as weighted_tables
from discreet.tables._enumeration import EnumerationSolver
from discreet.tables._importance_solver import WeightedTablesSolver

THREE = dc.Categories("x", levels=("a", "b", "c"), prior=(1, 0.5, 2), outside="a")
FOUR = dc.Categories("x", levels=("a", "b", "c", "d"), prior=1, outside="a")
TABLES = np.array([[150, 150, 150, 150], [10, 90, 200, 300], [0, 0, 0, 600], [0, 1, 2, 597], [5, 5, 290, 300]])
KINDS: dict[str, Callable[[Any, int, float], Any]] = {
    "global": HellingerGlobal,
    "smooth": lambda model, size, epsilon: HellingerSmooth(model, size, epsilon, "1e-6"),
    "reciprocal": HellingerReciprocal,
}


@pytest.mark.parametrize("alpha", [(1.0, 1.0, 1.0, 1.0), (0.5, 1.0, 1.0, 3.0)])
def test_sums_of_many_tables_lie_within_proved_bounds_of_each(alpha: tuple[float, ...]) -> None:
    """The slow twin bounds the sum of one table; scales of one call differ by a factor of 20."""
    scales = np.array([15.0, 3.0, 9.8, 2.0, 43.0])
    found = log_normalisers(np.array(alpha), TABLES, scales)
    for table, scale, each in zip(TABLES, scales, found, strict=True):
        assert each == pytest.approx(hellinger_moments(np.array(alpha), table, scale).log_normaliser.middle, abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_means_and_evidence_are_those_of_a_sum_over_all_tables(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Means within 4 Monte Carlo errors, evidence within 4 of its own; uneven priors, all 496 tables of 30 records."""
    mechanism = KINDS[kind](THREE, 30, 8)
    problem = Problem.of([dc.simulate(mechanism, np.array([5, 15, 10]), dc.SeededBits(2))])
    exact = EnumerationSolver().solve(problem)
    with monkeypatch.context() as patched:  # as if there were too many tables to list
        patched.setattr("discreet.choices._hellinger_mechanism.MOST_CANDIDATES", 100)
        assert WeightedTablesSolver().rejection(problem) is None
        found = WeightedTablesSolver().solve(problem)
        again = WeightedTablesSolver().solve(problem)
    steps = np.arange(exact.counts.marginals.shape[1])
    deviations = np.sqrt(exact.counts.marginals @ steps**2 - (exact.counts.marginals @ steps) ** 2)
    assert (np.abs(found.mean_counts - exact.mean_counts) <= 4 * deviations / np.sqrt(1_000)).all()
    assert found.log_evidence == pytest.approx(exact.log_evidence, abs=0.08)
    assert (found.mean_counts == again.mean_counts).all()
    assert "weighted draws" in found.method


def test_choices_among_millions_of_tables_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """600 records in 4 levels, few draws; a needle (epsilon 40) has the evidence 1 / candidates, about."""
    for mechanism in (HellingerSmooth(FOUR, 600, 6, "1e-6"), HellingerGlobal(FOUR, 600, 6)):
        assert why_unreadable(mechanism) is None
    monkeypatch.setattr(weighted_tables, "_TRIALS", 300)
    monkeypatch.setattr(weighted_tables, "_DRAWS", 500)
    monkeypatch.setattr(weighted_tables, "_WANTED_SIZE", 50)
    release = dc.Release(HellingerReciprocal(FOUR, 600, 40), (10, 90, 200, 300), "needle", simulated=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few draws
        posterior = dc.infer(release)
    assert "weighted draws" in posterior.method
    wanted = (np.array([10, 90, 200, 300]) + 1) / 604
    assert [row.mean for row in posterior.rows()] == pytest.approx(wanted.tolist(), abs=0.005)
    assert posterior.log_evidence == pytest.approx(-np.log(36_361_101), abs=0.5)
