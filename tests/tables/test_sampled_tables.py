"""Tables of categories read by chains: against the sum over all tables."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.choices import HellingerGlobal, HellingerReciprocal, MaximumPosterior
from discreet.inference import Problem, why_unreadable
from discreet.tables._chains_solver import SampledTablesSolver
from discreet.tables._enumeration import EnumerationSolver

THREE = dc.Categories("x", levels=("a", "b", "c"), prior=1, outside="a")
KINDS: dict[str, Callable[[], Any]] = {
    "Hellinger": lambda: HellingerGlobal(THREE, 30, 8),
    "maximum": lambda: MaximumPosterior(THREE, 30, 6, resolution=8),
    "truncated draw of two cells": lambda: dc.PosteriorSampling.truncated(
        dc.Categories("x", levels=("a", "b"), prior=1, outside="a"), size=30, epsilon=3
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_means_and_evidence_are_those_of_a_sum_over_all_tables(kind: str) -> None:
    """Means within 0.2 posterior deviations (effective sizes are 400 and more), evidence within .05."""
    mechanism = KINDS[kind]()
    counts = np.array([5, 15, 10]) if len(mechanism.model.cells) == 3 else np.array([10, 20])
    problem = Problem.of([dc.simulate(mechanism, counts, dc.SeededBits(2))])
    exact, found = EnumerationSolver().solve(problem), SampledTablesSolver().solve(problem)
    steps = np.arange(exact.counts.marginals.shape[1])
    deviations = np.sqrt(exact.counts.marginals @ steps**2 - (exact.counts.marginals @ steps) ** 2)
    assert (np.abs(found.mean_counts - exact.mean_counts) <= 0.2 * deviations).all()
    assert found.log_evidence == pytest.approx(exact.log_evidence, abs=0.05)
    assert "Markov chains" in found.method
    places = np.array([0])
    sums, weights = found.counts.sum_of(places)
    assert weights.sum() == pytest.approx(1)
    assert sums @ weights == pytest.approx(found.mean_counts[0])
    assert found.counts.draw(7, np.random.default_rng(1)).sum(axis=1).tolist() == [30] * 7


def test_what_is_too_much_for_chains_is_refused_before_a_charge() -> None:
    wide = dc.Categories("x", levels=tuple(range(20)), prior=1, outside=0)
    why = why_unreadable(HellingerReciprocal(wide, 6_000, 6))
    assert why is not None
    assert "publish noisy counts" in why
