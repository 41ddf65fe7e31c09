"""Levels of intervals: what is too near to 0 or 1 is refused in words by every posterior, and the rest is right."""

import warnings
from functools import cache
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

import discreet as dc
from discreet.mathematics.distributions._dirichlet import LEAST_LEVEL, MOST_LEVEL, BetaMixture

ODD = (0, 1, -0.5, 1e-300, 1e-17, 9e-7, 1 - 9e-10, 0.9999999999999999, nan, inf, "0.9", None)
TWO = dict.fromkeys("ab", (0, 1))
LINE = dc.LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, noise="0.2", missing="middle")


@cache
def posteriors() -> dict[str, Any]:
    """Return one posterior of each kind, of made-up records."""
    four = dc.Categories(("a", "b"), TWO, outside={"a": 0, "b": 0})
    graph = dc.Network.from_edges("a -> b", levels=TWO, outside=0)
    sums, table = dc.NumberSums("x", (0, 10)), dc.NumberTable("x", (0, 10), 5)
    numbers = {"x": [1.0, 2.5, 7.0] * 20, "y": [0.2, 0.5, 0.9] * 20}
    made: dict[str, tuple[dc.Mechanism, Any]] = {
        "two cells": (dc.GeometricHistogram(dc.Categories("a", (0, 1), outside=0), 60, 1), [50, 10]),
        "four cells": (dc.GeometricHistogram(four, 60, 1), [30, 10, 15, 5]),
        "declared prior": (dc.GeometricHistogram(four.with_prior(1), 60, 1), [30, 10, 15, 5]),
        "graph": (dc.FamilyHistograms(graph, 60, 1), [30, 10, 15, 5]),
        "family": (
            dc.PosteriorSampling.tempered(dc.PoissonRate("x", most=2, outside=2), size=60, epsilon=1, delta=".01"),
            [40, 15, 5],
        ),
        "sums": (dc.suggest(sums, 60, 1).mechanism, sums.rehearse(numbers)),
        "quantiles": (dc.suggest(table, 60, 1).mechanism, table.rehearse(numbers)),
        "line": (dc.suggest(LINE, 60, 1).mechanism, LINE.rehearse({"x": numbers["y"], "y": numbers["y"]})),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: dc.infer(dc.simulate(how, made, dc.SeededBits(3))) for name, (how, made) in made.items()}


KINDS = ("two cells", "four cells", "declared prior", "graph", "family", "sums", "quantiles", "line")


@pytest.mark.parametrize("kind", KINDS)
def test_every_posterior_refuses_levels_that_are_none(kind: str) -> None:
    posterior = posteriors()[kind]
    for level in ODD:
        with pytest.raises(dc.DeclarationError, match="level of an interval must lie between 0 and 1"):
            posterior.rows(level)


@pytest.mark.parametrize("kind", KINDS)
def test_the_last_levels_that_are_allowed_give_intervals(kind: str) -> None:
    posterior = posteriors()[kind]
    narrow, wide = posterior.rows(LEAST_LEVEL), posterior.rows(MOST_LEVEL)
    for one, two in zip(narrow, wide, strict=True):
        assert two.low <= one.low <= one.high <= two.high
        assert np.isfinite([one.low, one.high, two.low, two.high]).all()


@pytest.mark.parametrize("level", [LEAST_LEVEL, 0.5, 0.9999, MOST_LEVEL])
def test_their_ends_are_right_to_a_few_digits(level: float) -> None:
    """Tails of 5e-10 beside sums that are right to 1e-12: to about a hundredth of the tail."""
    mixture = BetaMixture(np.array([1.0]), np.array([30.0]), np.array([70.0]))
    low, high = mixture.interval(level)
    law = beta(30, 70)
    assert law.cdf(low) == pytest.approx((1 - level) / 2, rel=0.01)
    assert law.sf(high) == pytest.approx((1 - level) / 2, rel=0.01)


def test_direct_intervals_refuse_them_too() -> None:
    for kind in ("two cells", "family"):
        law = posteriors()[kind]
        for level in ODD:
            with pytest.raises(dc.DeclarationError, match="level of an interval"):
                law.interval("parameter", level) if kind == "family" else law.probability(1).interval(level)
