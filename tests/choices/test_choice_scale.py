"""The largest scale of a choice: the digits of the notes, and all neighbours compared by the likelihood alone."""

from fractions import Fraction

import numpy as np
import pytest

import discreet as dc
from discreet.choices import MaximumPosterior, NetworkMaximum
from discreet.choices._choice_scale import ScoreChanges, all_tables
from discreet.privacy import compare, compositions, enumerate_neighbours, neighbouring

ARROW = dc.Network.from_edges("a -> b", levels={"a": (0, 1), "b": (0, 1)}, outside=0)


def table_of(cells: int) -> dc.Categories:
    return dc.Categories("x", levels=tuple(range(cells)), outside=0, prior=1)


@pytest.mark.parametrize(
    ("size", "cells", "resolution", "epsilon", "before", "after"),
    [
        (10, 2, 20, 1, 0.556, 4.216),
        (50, 2, 20, 1, 0.556, 4.761),
        (50, 2, 20, 4, 2.222, 12.935),
        (10, 3, 12, 1, 0.611, 6.315),
    ],
)
def test_scales_have_their_digits(
    size: int, cells: int, resolution: int, epsilon: int, before: float, after: float
) -> None:
    mechanism = MaximumPosterior(table_of(cells), size, epsilon, resolution)
    assert float(mechanism.proved_scale) == pytest.approx(before, abs=6e-4)
    assert float(mechanism.scale) == pytest.approx(after, abs=6e-4)
    found = enumerate_neighbours(mechanism.log_prob, size, cells, mechanism.candidates)
    assert epsilon * 0.99999 <= found.epsilon <= epsilon
    divergence = max(found.divergence(order) / order for order in (1.01, 2.0, 16.0))
    assert divergence <= float(mechanism.rho)


def test_the_mode_is_found_far_more_often() -> None:
    chances, found = [], MaximumPosterior(table_of(2), 50, 4, 20)
    for scale in (found.proved_scale, found.scale):
        mechanism = MaximumPosterior(table_of(2), 50, 4, 20, scale)
        modes = [mechanism.candidates[int(np.argmax(mechanism.scores(np.array(t))))] for t in compositions(50, 2)]
        laws = [mechanism.log_prob(m, np.array(t)) for m, t in zip(modes, compositions(50, 2), strict=True)]
        chances.append(float(np.exp(laws).mean()))
    assert chances == pytest.approx([0.118, 0.577], abs=2e-3)


@pytest.mark.parametrize(("size", "epsilon"), [(1, 2), (3, 1), (6, "0.3")])
def test_networks_keep_epsilon_and_use_it(size: int, epsilon: object) -> None:
    mechanism = NetworkMaximum(ARROW, size, epsilon, 4)  # type: ignore[arg-type]
    rows, complete = ARROW.contributions(10)
    found = compare(mechanism.log_prob, neighbouring(rows, size, most=10**6), mechanism.candidates)
    assert complete
    assert float(mechanism.epsilon) * 0.99999 <= found.epsilon <= float(mechanism.epsilon)
    assert mechanism.scale > 3 * mechanism.proved_scale


def test_too_many_neighbours_leave_the_scale_that_is_proved() -> None:
    many = MaximumPosterior(table_of(3), 10**6, 1, 12)
    assert many.scale == many.proved_scale
    assert many.guarantee.evidence is dc.privacy.Evidence.PROVED
    assert many.rho == Fraction(1, 8)
    with pytest.raises(dc.DeclarationError, match="scale"):
        MaximumPosterior(table_of(3), 10**6, 1, 12, scale="0.7")


def test_a_scale_that_is_too_large_is_refused_and_a_smaller_one_taken() -> None:
    found = MaximumPosterior(table_of(2), 10, 1).scale
    assert MaximumPosterior(table_of(2), 10, 1, scale=found / 2).scale == found / 2
    with pytest.raises(dc.DeclarationError, match="does not give epsilon"):
        MaximumPosterior(table_of(2), 10, 1, scale=found * Fraction(10001, 10000))


def test_all_tables_and_their_neighbours_are_listed_once() -> None:
    tables, pairs = all_tables(4, 3)
    assert [tuple(row) for row in tables.tolist()] == list(compositions(4, 3))
    gaps = np.abs(tables[:, None] - tables).sum(axis=-1)
    wanted = {(i, j) for i in range(len(tables)) for j in range(len(tables)) if gaps[i, j] == 2 and i < j}
    assert {tuple(sorted(pair)) for pair in pairs.tolist()} == wanted
    assert len(pairs) == len(wanted)


def test_epsilon_of_scores_is_the_largest_log_ratio_of_any_candidate() -> None:
    generator = np.random.default_rng(4)
    scores = generator.dirichlet(np.ones(5), size=6)
    pairs = np.array([(0, 1), (2, 3), (1, 4), (5, 0)])
    changes = ScoreChanges(scores, pairs, 0.0)
    for scale in (0.1, 2.0, 30.0):
        logs = scale * scores - np.log(np.exp(scale * scores).sum(axis=1, keepdims=True))
        slow = max(float(np.abs(logs[i] - logs[j]).max()) for i, j in pairs)
        assert slow <= changes.epsilon(scale) <= slow + 1e-11
    assert changes.range == pytest.approx(max(float(np.ptp(scores[i] - scores[j])) for i, j in pairs))
