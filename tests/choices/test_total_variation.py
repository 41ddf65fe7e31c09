"""The choice by total variation: distances against balls and by integration, its sensitivity, and its refusals."""

from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from scipy.integrate import quad
from scipy.stats import beta

import discreet as dc
from discreet.choices import TotalVariationChoice
from discreet.verification._enumerate import log_probs

COIN = dc.Categories("x", levels=("a", "b"), prior=(0.5, 2), outside="a")


def test_distances_are_half_the_integral_of_the_difference_of_densities() -> None:
    mechanism = TotalVariationChoice(COIN, 12, 1)
    for first, other in ((0, 1), (3, 9), (11, 12), (7, 2)):
        laws = [beta(0.5 + count, 14 - count) for count in (first, other)]
        twin, _ = quad(lambda x, laws=laws: abs(laws[0].pdf(x) - laws[1].pdf(x)) / 2, 0, 1, limit=400)
        assert float(mechanism.distance_ball(first, other).mid()) == pytest.approx(twin, abs=1e-6)


@pytest.mark.parametrize("prior", [1, 30, (0.5, 2.25)])
@pytest.mark.parametrize(("first", "other"), [(0, 12), (5, 6), (11, 3)])
def test_balls_are_those_of_the_incomplete_beta_function(prior: Any, first: int, other: int) -> None:
    mechanism = TotalVariationChoice(dc.Categories("x", ("a", "b"), outside="a", prior=prior), 12, 1)
    with ctx.workprec(200):
        alpha, beta_ = (arb(float(value)) for value in mechanism.model.concentration)
        shapes = [(alpha + count, beta_ + 12 - count) for count in sorted((first, other))]
        one, two = (a.lgamma() + b.lgamma() for a, b in shapes)
        x = 1 / (1 + ((one - two) / abs(first - other)).exp())
        below, above = (x.beta_lower(a, b, regularized=True) for a, b in shapes)
        found = mechanism.distance_ball(first, other)
        assert found.overlaps(below - above)
        assert float(found.rad()) < 1e-50


@pytest.mark.parametrize("size", [5, 60, 400])
def test_floats_are_as_close_to_balls_as_the_comparison_of_neighbours_takes_them_for(size: int) -> None:
    mechanism = TotalVariationChoice(COIN, size, 1)
    scores = mechanism._changes.scores
    for first, other in np.random.default_rng(size).integers(size + 1, size=(60, 2)).tolist():
        exact = mechanism.distance_ball(first, other)
        assert abs(1 - scores[first, other] - float(exact.mid())) < mechanism._changes.error / 2


@pytest.mark.parametrize("size", [1, 7, 100])
def test_one_record_changes_no_distance_by_more_than_neighbours_are_apart(size: int) -> None:
    """max_r |TV(x, r) - TV(y, r)| = TV(x, y), as TV is a metric; the sensitivity is the largest of these."""
    mechanism = TotalVariationChoice(COIN, size, 1)
    distances = 1 - mechanism._changes.scores
    changes = np.abs(np.diff(distances, axis=0)).max(axis=1)
    neighbours = np.diagonal(distances, offset=1)
    assert changes == pytest.approx(neighbours, abs=1e-12)
    assert changes.max() <= mechanism.sensitivity <= changes.max() * (1 + 1e-8)


def test_the_largest_scale_keeps_epsilon_and_a_larger_one_is_refused() -> None:
    mechanism = TotalVariationChoice(COIN, 40, 1)
    laws = np.exp(log_probs(mechanism, mechanism.listed_candidates(), mechanism.listed_candidates()))
    losses = np.abs(np.log(laws[1:] / laws[:-1]))
    assert 0.9999 < losses.max() <= 1
    assert mechanism.proved_scale < mechanism.scale
    with pytest.raises(dc.DeclarationError, match="does not give epsilon"):
        TotalVariationChoice(COIN, 40, 1, scale=mechanism.scale * 2)


def test_what_it_is_not_offered_for_is_refused_in_words() -> None:
    three = dc.Categories("x", levels=("a", "b", "c"), outside="a")
    with pytest.raises(dc.DeclarationError, match="no closed form"):
        TotalVariationChoice(three, 10, 1)
    with pytest.raises(dc.DeclarationError, match="size"):
        TotalVariationChoice(COIN, 10_000, 1)
