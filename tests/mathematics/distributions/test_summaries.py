"""Summaries of many proportions at once, against one after the other."""

import numpy as np
import pytest

from discreet.mathematics.distributions._dirichlet import BetaMixture
from discreet.mathematics.distributions._mixture_batch import batch_of, summaries


def law(first: float, weights: list[float], total: float) -> BetaMixture:
    a = np.asarray(first + np.arange(len(weights)), dtype=np.float64)
    shares = np.array(weights) / sum(weights)
    return BetaMixture(shares, a, total - a)


def two_priors(first: float, weights: list[float]) -> BetaMixture:
    one, two = law(first, weights, 105.0), law(first - 0.5, weights[::-1], 101.5)
    pairs = [(0.25 * one.weights, 0.75 * two.weights), (one.a, two.a), (one.b, two.b)]
    return BetaMixture(*(np.concatenate(pair) for pair in pairs))


def check(laws: list[BetaMixture], level: float = 0.9) -> None:
    for found, each in zip(summaries(laws, level), laws, strict=True):
        assert found == pytest.approx(each.summary(level), rel=1e-9, abs=1e-12)


def test_summaries_of_counts_behind_one_total_are_those_of_each_law() -> None:
    laws = [law(1.0, [5, 3, 2, 1], 105.0), law(40.0, [1, 2, 1], 105.0), law(100.0, [1, 1, 1, 1, 3], 105.0)]
    assert batch_of(laws) is not None
    check(laws)


def test_summaries_of_several_priors_are_those_of_each_law() -> None:
    laws = [two_priors(1.0, [5, 3, 2]), two_priors(30.0, [1, 2, 7])]
    batch = batch_of(laws)
    assert batch is not None
    assert len(batch.parts) == 2
    check(laws)


def test_holes_in_a_window_are_filled_with_nothing() -> None:
    whole = law(3.0, [5, 3, 0, 0, 2], 50.0)
    kept = whole.weights > 0
    check([BetaMixture(whole.weights[kept], whole.a[kept], whole.b[kept]), law(7.0, [1, 1], 50.0)])


def test_laws_that_are_no_counts_are_asked_one_by_one() -> None:
    odd = BetaMixture(np.array([0.4, 0.6]), np.array([2.0, 3.7]), np.array([5.0, 9.0]))
    assert batch_of([odd, law(1.0, [1], 3.0)]) is None
    check([odd, law(1.0, [1], 3.0)])


def test_no_laws_have_no_summaries() -> None:
    assert summaries([], 0.9) == []
