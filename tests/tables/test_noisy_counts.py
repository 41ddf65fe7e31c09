"""Noisy counts waste no noise: what is stated is what enumeration finds, not only at least that."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

import discreet as dc
from discreet.privacy import enumerate_neighbours
from discreet.tables import NoisyCounts

PURE: tuple[type[NoisyCounts], ...] = (dc.GeometricHistogram, dc.tables.DiscreteLaplaceCounts)
GAUSSIAN: tuple[type[NoisyCounts], ...] = (
    dc.tables.DiscreteGaussianHistogram,
    dc.tables.DiscreteGaussianCounts,
)
KINDS = PURE + GAUSSIAN
SETTINGS = [(2, 1, "0.3"), (2, 6, "1"), (2, 6, "2.5"), (3, 3, "0.7"), (3, 4, "1/3"), (4, 2, "1")]


def mechanism_of(kind: type[NoisyCounts], levels: int, size: int, epsilon: str) -> NoisyCounts:
    made: Any = kind
    extra = {"delta": "0.01"} if kind in GAUSSIAN else {}
    mechanism: NoisyCounts = made(
        dc.Categories("x", levels=tuple("abcd"[:levels]), outside="a"), size=size, epsilon=epsilon, **extra
    )
    return mechanism


def settings_of(kinds: tuple[type[NoisyCounts], ...]) -> list[Any]:
    return [
        pytest.param(mechanism_of(kind, *setting), id=f"{kind.__name__}-{setting}")
        for kind in kinds
        for setting in SETTINGS
    ]


MECHANISMS = settings_of(KINDS)


@pytest.mark.parametrize("mechanism", settings_of(PURE))
def test_no_output_reveals_more_than_the_promised_epsilon(mechanism: NoisyCounts) -> None:
    found = enumerate_neighbours(
        mechanism.log_prob, mechanism.size, len(mechanism.model.cells), mechanism.outputs_near(3)
    )
    assert found.epsilon <= float(mechanism.guarantee.epsilon) * (1 + 1e-12)
    assert found.epsilon >= float(mechanism.guarantee.epsilon) * (1 - 1e-12)  # no noise is wasted


@pytest.mark.parametrize("mechanism", [*settings_of(GAUSSIAN[:1])[:-1], *settings_of(GAUSSIAN[1:])[:-1]])
def test_the_delta_found_by_enumeration_is_at_most_the_stated_one_and_hardly_less(mechanism: NoisyCounts) -> None:
    margin = int(np.ceil(40 * mechanism.reach))
    found = enumerate_neighbours(
        mechanism.log_prob, mechanism.size, len(mechanism.model.cells), mechanism.outputs_near(margin)
    )
    delta = float(mechanism.guarantee.delta)
    assert found.delta_at(float(mechanism.guarantee.epsilon)) <= delta * (1 + 1e-9)
    assert found.delta_at(float(mechanism.guarantee.epsilon)) >= delta * (1 - 1e-4)  # no noise is wasted


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("levels", "size", "epsilon", "margin"), [(2, 1, "0.3", 130), (2, 5, "2", 30), (3, 2, "4", 14)]
)
@pytest.mark.parametrize("share", [0.0, 0.25, 0.6, 1.0])
def test_the_exact_delta_is_what_enumeration_finds(
    kind: type[NoisyCounts], levels: int, size: int, epsilon: str, margin: int, share: float
) -> None:
    mechanism = mechanism_of(kind, levels, size, epsilon)
    found = enumerate_neighbours(mechanism.log_prob, size, levels, mechanism.outputs_near(margin))
    allowed = share * float(mechanism.epsilon)
    assert mechanism.privacy_loss().delta_at(allowed) == pytest.approx(found.delta_at(allowed), abs=1e-7)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_losses_of_samples_follow_the_exact_privacy_loss(mechanism: NoisyCounts) -> None:
    cells, draws = len(mechanism.model.cells), 40_000
    first, second = np.zeros((2, cells), dtype=np.int64)
    first[0] = mechanism.size
    second[:2] = mechanism.size - 1, 1
    outputs = mechanism.sample(np.tile(first, (draws, 1)), dc.SeededBits(11))
    losses = mechanism.log_prob(outputs, first) - mechanism.log_prob(outputs, second)
    exact = mechanism.privacy_loss()
    observed = np.array([int(np.isclose(losses, float(loss)).sum()) for loss in exact.losses])
    assert observed.sum() == draws
    expected = np.array(exact.probabilities) * draws
    used = expected > (8 if exact.beyond else 0)
    rest = [observed[~used].sum()] if exact.beyond else []
    bins, wanted = np.append(observed[used], rest), np.append(expected[used], [expected[~used].sum()] if rest else [])
    assert chisquare(bins, wanted * (draws / wanted.sum())).pvalue > 1e-4
