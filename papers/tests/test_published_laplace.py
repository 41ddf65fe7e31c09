"""The papers' Laplace mechanisms: their printed digits, and the guarantee that they really give."""

from math import exp, log

import numpy as np
import pytest

import discreet as dc
from discreet.privacy import pure_rho
from discreet_papers.as_published.published_laplace import (
    ClampedLaplace,
    FlooredLaplace,
    PublishedLaplace,
    RoundedLaplace,
    TruncatedLaplace,
)

COIN = dc.Categories("coin", levels=("heads", "tails"), outside="heads")
DIE = dc.Categories("die", levels=("a", "b", "c"), outside="a")
KINDS = (RoundedLaplace, FlooredLaplace, TruncatedLaplace, ClampedLaplace)


def test_the_laplace_column_of_table_one() -> None:
    mechanism = TruncatedLaplace(COIN, 8, "0.8", sensitivity=2, noisy_cells=1)
    folded = np.exp(mechanism.log_noise(np.arange(5))) * np.array([1, 2, 2, 2, 2])
    wanted = [exp(-0.4 * k) - exp(-0.4 * (k + 1)) for k in range(5)]
    assert folded == pytest.approx(wanted, rel=1e-14)
    assert folded[:2] == pytest.approx([0.329679953964, 0.220991081918], abs=6e-13)
    assert 1 - folded.sum() == pytest.approx(exp(-2), abs=1e-12)
    floor = FlooredLaplace(COIN, 8, "0.8", sensitivity=2, noisy_cells=1)
    assert exp(floor.log_noise(np.array([0]))[0]) == pytest.approx(0.1648, abs=5e-5)


def test_noise_is_that_of_a_continuous_laplace_number() -> None:
    scale, edges = 2.5, np.arange(-12, 13)
    cdf = np.where(edges < 0, np.exp(edges / scale) / 2, 1 - np.exp(-edges / scale) / 2)
    half = edges + 0.5
    cdf_half = np.where(half < 0, np.exp(half / scale) / 2, 1 - np.exp(-half / scale) / 2)
    floored = FlooredLaplace(COIN, 8, "0.4", sensitivity=1, noisy_cells=1)
    rounded = RoundedLaplace(COIN, 8, "0.4", sensitivity=1, noisy_cells=1)
    assert np.exp(floored.log_noise(edges[:-1])) == pytest.approx(np.diff(cdf), abs=1e-14)
    assert np.exp(rounded.log_noise(edges[1:])) == pytest.approx(np.diff(cdf_half), abs=1e-14)


def worst_loss(mechanism: PublishedLaplace) -> float:
    """Return the largest loss of neighbours in the middle of the table."""
    cells, third = len(mechanism.model.cells), mechanism.size // len(mechanism.model.cells)
    first = np.array([mechanism.size - third * (cells - 1)] + [third] * (cells - 1))
    noise = np.stack(np.meshgrid(*[np.arange(-4, 5)] * mechanism.noisy_cells), axis=-1).reshape(
        -1, mechanism.noisy_cells
    )
    outputs = first[: mechanism.noisy_cells] + noise
    if mechanism.noisy_cells < cells:
        outputs = np.column_stack([outputs, mechanism.size - outputs.sum(axis=1)])
    worst = 0.0
    for i in range(cells):
        for j in range(cells):
            second = first + np.eye(cells, dtype=np.int64)[i] - np.eye(cells, dtype=np.int64)[j]
            gaps = mechanism.log_prob(outputs, first) - mechanism.log_prob(outputs, second)
            worst = max(worst, float(np.abs(gaps).max()))
    return worst


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("model", "noisy_cells", "sensitivity", "share"),
    [
        (COIN, 1, 1, 1),
        (COIN, 1, 2, 0.5),
        (COIN, 2, 1, 2),
        (COIN, 2, 2, 1),
        (DIE, 2, 2, 1),
        (DIE, 3, 3, 2 / 3),
        (DIE, 3, 1, 2),
    ],
)
def test_the_guarantee_is_what_the_scale_gives(
    kind: type[PublishedLaplace], model: dc.Categories, noisy_cells: int, sensitivity: int, share: float
) -> None:
    mechanism = kind(model, 30, "0.6", sensitivity, noisy_cells)
    wanted = 0.6 * share + (mechanism.moved * log(2) if kind is TruncatedLaplace else 0)
    assert float(mechanism.guarantee.epsilon) == pytest.approx(wanted, rel=1e-5)
    assert worst_loss(mechanism) == pytest.approx(wanted, rel=1e-5)
    assert worst_loss(mechanism) <= float(mechanism.guarantee.epsilon) * (1 + 1e-12)
    assert mechanism.privacy_loss().epsilon == mechanism.guarantee.epsilon
    each = mechanism.guarantee.epsilon / mechanism.moved
    assert mechanism.rho == mechanism.moved * pure_rho(each) < mechanism.guarantee.epsilon**2 / 2


def test_cutting_noise_towards_zero_costs_log_two_however_small_epsilon_is() -> None:
    mechanism = TruncatedLaplace(COIN, 8, "0.01", sensitivity=2, noisy_cells=1)
    assert mechanism.claim.epsilon < mechanism.guarantee.epsilon
    assert float(mechanism.guarantee.epsilon) > log(2)


def test_clamped_probabilities_sum_to_one() -> None:
    mechanism = ClampedLaplace(COIN, 6, "0.7", sensitivity=2, noisy_cells=2)
    outputs = np.stack(np.meshgrid(np.arange(7), np.arange(7)), axis=-1).reshape(-1, 2)
    for count in range(7):
        law = np.exp(mechanism.log_prob(outputs, np.array([count, 6 - count])))
        assert law.sum() == pytest.approx(1, abs=1e-13)
    with pytest.raises(dc.DocumentError, match="between 0 and 6"):
        mechanism.space.check(np.array([7, 0]))


@pytest.mark.parametrize(("sensitivity", "noisy_cells"), [(0, 2), (4, 2), (2, 1), (2, 4), (1.5, 2)])
def test_nonsense_is_refused(sensitivity: object, noisy_cells: int) -> None:
    with pytest.raises(dc.DeclarationError, match=r"sensitivity|noisy_cells"):
        RoundedLaplace(DIE, 10, 1, sensitivity, noisy_cells)  # type: ignore[arg-type]
