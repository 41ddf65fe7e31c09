"""What the additive mechanisms cost, by the formulas that used to be written by hand: computed numbers must agree."""

from fractions import Fraction
from math import comb, exp, log, pi, sqrt, tanh
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dc
from discreet._core.exact import rounded_up
from discreet.mechanism import Additive
from discreet.noise._gaussian import sum_distribution
from discreet.privacy import PrivacyLoss, gaussian_loss, log_sum_of_gaussians
from discreet_papers import as_published

TABLE = dc.Categories("x", levels=("a", "b", "c", "d"), outside="a")
NET = dc.Network.from_edges("a -> b -> c", "a -> c", levels={"a": (0, 1), "b": (0, 1, 2), "c": (0, 1)}, outside=0)
YES_NO = dc.Network.from_edges("a -> b -> c", "a -> c", "d", levels=dict.fromkeys("abcd", (0, 1)), outside=0)
BAYES = dc.Network.naive_bayes(
    "y", ["a", "b", "c"], levels={"y": (0, 1, 2), "a": (0, 1), "b": (0, 1), "c": (0, 1)}, outside=0
)
LINE = dc.LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, noise="0.2", missing="middle")
EPSILON = Fraction(7, 5)


def three_values(epsilon: Fraction, cells: int) -> PrivacyLoss:
    """Return the loss of a histogram: +epsilon has Z_(m-1) / ((1 - q) Z_m)."""
    q = exp(-float(epsilon))

    def z(m: int) -> float:
        return sum(comb(m - 1, i) ** 2 * q**i for i in range(m)) / (1 - q) ** (m - 1)

    up = z(cells - 1) / (1 - q) / z(cells)
    return PrivacyLoss((epsilon, Fraction(0), -epsilon), (up, max(0.0, 1 - up - up * q), up * q))


def moves_of_one(rate: Fraction, moves: int) -> PrivacyLoss:
    """Return the binomial loss of so many numbers that move by one under Laplace noise."""
    down = 1 / (1 + exp(float(rate)))
    chances = [comb(moves, k) * (1 - down) ** k * down ** (moves - k) for k in range(moves + 1)]
    return PrivacyLoss(tuple((2 * k - moves) * rate for k in range(moves + 1)), tuple(chances))


def of_family_gaussians(mechanism: dc.networks.FamilyGaussians) -> PrivacyLoss:
    tables = len(mechanism.model.maximal_families)
    tops, chances, tail = sum_distribution(mechanism.variance, 2 * tables)
    losses = tuple((int(top) + tables) / mechanism.variance for top in tops)
    return PrivacyLoss(losses, tuple(chances.tolist()), tail)


def cases() -> list[tuple[Additive, PrivacyLoss, Fraction, Fraction]]:
    """Return mechanisms with the loss, the zCDP parameter and the pure epsilon (or the declared one) of old."""
    found: list[tuple[Additive, PrivacyLoss, Fraction, Fraction]] = []
    loss = three_values(EPSILON, 4)
    found.append((dc.GeometricHistogram(TABLE, 9, EPSILON), loss, loss.rho, EPSILON))
    loss = moves_of_one(EPSILON / 2, 2)
    found.append((dc.tables.DiscreteLaplaceCounts(TABLE, 9, EPSILON), loss, loss.rho, EPSILON))
    for kind, balanced in (
        (dc.tables.DiscreteGaussianCounts, False),
        (dc.tables.DiscreteGaussianHistogram, True),
    ):
        gaussian = kind(TABLE, 9, EPSILON, "1e-4")
        loss = gaussian_loss(gaussian.variance, 4, balanced)
        found.append((gaussian, loss, rounded_up(1 / gaussian.variance, 9), EPSILON))
    gaussians = dc.networks.FamilyGaussians(BAYES, 9, EPSILON, "1e-4")
    found.append((gaussians, of_family_gaussians(gaussians), rounded_up(3 / gaussians.variance, 9), EPSILON))
    return found


CASES = cases()
LAWS: dict[str, Any] = {type(case[0]).__name__: case[0] for case in CASES} | {
    "FamilyHistograms": dc.FamilyHistograms(BAYES, 9, EPSILON, shares=(3, 2, 1)),
    "LaplaceUpdates": as_published.LaplaceUpdates(NET, 9, EPSILON),
    "JointHistograms": dc.networks.JointHistograms(BAYES, 9, EPSILON),
    "CubeCounts": dc.CubeCounts(BAYES, 9, EPSILON),
    "FourierCounts": dc.networks.FourierCounts(YES_NO, 9, EPSILON),
    "FourierUpdates": as_published.FourierUpdates(YES_NO, 9, EPSILON),
    "BoxMoments": dc.regression.BoxMoments(LINE, 9, EPSILON),
    "LaplaceMoments": dc.regression.LaplaceMoments(LINE, 9, EPSILON),
}
every = pytest.mark.parametrize("place", range(len(CASES)), ids=[type(case[0]).__name__ for case in CASES])


@every
def test_epsilon_rho_and_the_charged_loss_are_those_of_the_old_formulas(place: int) -> None:
    mechanism, loss, rho, epsilon = CASES[place]
    assert mechanism.guarantee.epsilon == epsilon
    assert abs(mechanism.rho - rho) <= (0 if rho.denominator < 10**9 else Fraction(2, 10**9))
    stated = mechanism.privacy_loss()
    assert stated.epsilon == loss.epsilon
    for share in (0.0, 0.1, 0.37, 0.8, 1.0):
        assert stated.delta_at(share * float(epsilon)) == pytest.approx(
            loss.delta_at(share * float(epsilon)), rel=1e-12, abs=1e-15
        )


@pytest.mark.parametrize("kind", LAWS)
def test_the_computed_loss_is_never_above_the_charged_one(kind: str) -> None:
    mechanism = LAWS[kind]
    computed, charged = mechanism.computed_loss(), mechanism.privacy_loss()
    for share in (0.0, 0.1, 0.37, 0.8, 1.0):
        epsilon = share * float(mechanism.guarantee.epsilon)
        slack = 1.02 if computed.beyond else 1 + 1e-9  # a curve of a zCDP parameter is known at some points
        assert computed.delta_at(epsilon) <= charged.delta_at(epsilon) * slack + 1e-15


def old_log_probability(mechanism: Any, noise: NDArray[np.float64]) -> Any:
    """Return log P(noise) as each mechanism wrote it down."""
    name, e = type(mechanism).__name__, float(EPSILON)
    size = np.abs(noise)
    if name == "GeometricHistogram":
        return -e * size.sum() / 2 - log(histogram_normaliser(e, 4))
    if name == "DiscreteLaplaceCounts":
        return -e * size.sum() / 2 + 4 * log(tanh(e / 4))
    if name in ("DiscreteGaussianCounts", "DiscreteGaussianHistogram"):
        v = mechanism.variance
        return -(noise**2).sum() / (2 * float(v)) - log_sum_of_gaussians(v, 4, name == "DiscreteGaussianHistogram")
    if name == "FamilyHistograms":
        parts = zip(mechanism.family_epsilons, np.split(size, 3), strict=True)
        return sum(-float(part) * own.sum() / 2 - log(histogram_normaliser(float(part), 6)) for part, own in parts)
    if name == "FamilyGaussians":
        v = float(mechanism.variance)
        return -(noise**2).sum() / (2 * v) - 18 * log(2 * pi * v) / 2
    if name == "LaplaceUpdates":
        return -e / 6 * size.sum() + len(noise) * log(tanh(e / 12))
    if name == "JointHistograms":
        largest = max(own.sum() / 2 for own in np.split(size, 3))
        return -e * largest - mechanism.radius.log_normaliser
    if name == "CubeCounts":
        cube: dc.CubeCounts = mechanism
        blocks = size[3:].reshape(3, 3).max(axis=1).sum()
        features = -float(cube.feature_epsilon) / 2 * blocks - 3 * cube.radius.log_normaliser
        own = float(cube.class_epsilon)
        return features - own * size[:3].sum() / 2 - log(histogram_normaliser(own, 3))
    if name in ("FourierCounts", "FourierUpdates"):
        rates = np.array([float(rate) for rate in mechanism.rates])
        return float(-size @ rates + np.log(np.tanh(rates / 2)).sum())
    rate, cells = float(mechanism.rate), len(noise)
    if name == "LaplaceMoments":
        return -rate * size.sum() + cells * log(tanh(rate / 2))
    assert name == "BoxMoments"
    return -rate * size.max() - mechanism.noise.log_normaliser


def histogram_normaliser(epsilon: float, cells: int) -> float:
    q = exp(-epsilon)
    return sum(comb(cells - 1, i) ** 2 * q**i for i in range(cells)) / (1 - q) ** (cells - 1)


@pytest.mark.parametrize("kind", LAWS)
def test_the_likelihood_is_that_of_the_old_formulas(kind: str) -> None:
    mechanism = LAWS[kind]
    for noise in mechanism.noise.sample(6, dc.SeededBits(3)):
        stated = float(mechanism.noise.log_prob(noise))
        assert stated == pytest.approx(old_log_probability(mechanism, noise.astype(float)), rel=1e-11, abs=1e-11)


def test_spreads_are_those_of_the_old_formulas() -> None:
    moments = dc.regression.BoxMoments(LINE, 9, EPSILON)
    cells = len(moments.model.cells)
    assert moments.scale == pytest.approx(sqrt((cells + 1) * (cells + 2) / 3) / float(moments.rate), rel=1e-8)
    laplace = dc.regression.LaplaceMoments(LINE, 9, EPSILON)
    assert laplace.scale == pytest.approx(sqrt(2) / float(laplace.rate), rel=1e-8)
    updates = as_published.LaplaceUpdates(NET, 9, EPSILON)
    p = exp(-float(updates.rate))
    assert updates.cell_sd() == pytest.approx(sqrt(2 * p) / (1 - p), rel=1e-12)
    assert updates.count_sd() == pytest.approx(updates.cell_sd() * sqrt(2 / 3), rel=1e-12)
    assert updates.reach == pytest.approx(6 / float(EPSILON))
