"""Notes of DP - Bayesian Inference (undated, about 2018), and the exact laws that its results share.

The notes draw an output z a thousand or ten thousand times and plot H(BI(x), z). Here the law of that distance is
summed over all outputs. Two conventions were found to give the printed numbers, and are used throughout:

- the smoothing gamma is computed with n + 1, also where there are more than n + 1 candidates;
- Laplace noise is on all counts but the last. Each noisy count is cut to [0, n], and the last is what is left, or 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

import discreet as dc
from discreet._core.arrays import Floats
from discreet.choices._hellinger_sensitivity import published_gamma, smooth_sensitivity
from discreet.choices._posterior_distances import Tables
from discreet.mathematics import log_affinities
from discreet_papers import as_published
from discreet_papers.as_published.published_laplace import PublishedLaplace
from discreet_papers.reproduction import Paper, Row

PAPER_003 = Paper("003", "No authors named", 2018, "Notes of DP - Bayesian Inference", "Unpublished notes")

EPSILON, DELTA = "0.8", "5e-4"
"""The setting of figures 6 to 11."""

_LEFT_OUT = 1e-8  # tails of the noise below this are moved to the nearest place that is kept


@dataclass(frozen=True, eq=False)
class DistanceLaw:
    """How far the published posterior is from the true one: distances, and the chance of each."""

    distances: Floats
    chances: Floats

    @property
    def mean(self) -> float:
        """Return E H."""
        return float(self.chances @ self.distances)

    def quantile(self, level: float) -> float:
        """Return the smallest h with P(H <= h) >= level."""
        order = np.argsort(self.distances)
        place = int(np.searchsorted(np.cumsum(self.chances[order]), level - 1e-12))
        return float(self.distances[order[min(place, len(order) - 1)]])

    def within(self, distance: float) -> float:
        """Return P(H <= distance)."""
        return float(self.chances[self.distances <= distance + 1e-12].sum())

    def summary(self) -> Row:
        """Return the mean, the quartiles and the median."""
        quarters = {"lower_quartile": 0.25, "median": 0.5, "upper_quartile": 0.75}
        return {"mean": self.mean} | {name: self.quantile(level) for name, level in quarters.items()}


def model_of(prior: tuple[float, ...]) -> dc.Categories:
    """Return a model with so many levels as the prior has numbers."""
    return dc.Categories("x", levels=tuple("abcdefgh"[: len(prior)]), prior=prior, outside="a")


def gamma_of(size: int, epsilon: str, delta: str) -> float:
    """Return gamma = ln(1 - epsilon/(2 ln(delta/(2 (n + 1))))), as printed."""
    return float(published_gamma(Fraction(epsilon), Fraction(delta), size + 1))


def smooth_of(prior: tuple[float, ...], counts: tuple[int, ...], epsilon: str = EPSILON, delta: str = DELTA) -> float:
    """Return the smooth sensitivity S(x)."""
    gamma = gamma_of(sum(counts), epsilon, delta)
    return smooth_sensitivity(np.array(prior, dtype=float), np.array(counts), gamma)


def exponential_law(prior: tuple[float, ...], counts: tuple[int, ...], scale: float) -> DistanceLaw:
    """Return the law of H when P(r) ~ e^(-scale H(x, r)) over all posteriors of as many records."""
    tables = Tables(np.array(prior, dtype=float), sum(counts))
    distances = tables.distances(np.array([counts]))[0]
    weights = np.exp(-scale * distances)
    return DistanceLaw(distances, weights / weights.sum())


def smooth_law(
    prior: tuple[float, ...], counts: tuple[int, ...], epsilon: str = EPSILON, delta: str = DELTA
) -> DistanceLaw:
    """Return the law of definition 2.1: scale epsilon/(2 S(x))."""
    return exponential_law(prior, counts, float(Fraction(epsilon)) / (2 * smooth_of(prior, counts, epsilon, delta)))


def laplace_law(mechanism: PublishedLaplace, counts: tuple[int, ...]) -> DistanceLaw:
    """Return the law of H under noise on all counts but the last.

    ln BC = sum_i D(a_i, b_i) - D(sum a, sum b), with totals that differ where the last count would be negative.
    """
    places, chances = noisy_counts(mechanism, counts)
    alpha, size = np.array(mechanism.model.concentration), sum(counts)
    a = alpha + np.array(counts)
    logs = [log_affinities(a[i], alpha[i] + z, z - counts[i]) for i, z in enumerate(places)]
    totals = np.arange((len(counts) - 1) * size + 1)
    rest = np.maximum(size - totals, 0)
    last = log_affinities(a[-1], alpha[-1] + rest, rest - counts[-1])
    last -= log_affinities(a.sum(), a.sum() + np.maximum(totals - size, 0))
    affinity = combined(logs) + last[combined(places)]
    chance = chances[0]
    for each in chances[1:]:
        chance = np.multiply.outer(chance, each)
    return DistanceLaw(np.sqrt(np.maximum(0.0, -np.expm1(affinity))).ravel(), chance.ravel())


def noisy_counts(mechanism: PublishedLaplace, counts: tuple[int, ...]) -> tuple[list[NDArray[np.int64]], list[Floats]]:
    """Return, for each noisy count, the values in [0, n] that it takes and their chances; tails are in the ends."""
    reach = ceil(-log(_LEFT_OUT) / float(mechanism.rate)) + 1
    places, chances = [], []
    for count in counts[:-1]:
        values = np.arange(max(0, count - reach), min(sum(counts), count + reach) + 1)
        chance = np.exp(mechanism.log_noise(values - count))
        far = np.exp(mechanism.log_noise(np.arange(-40 * reach, values[0] - count))).sum()
        chance[0] += far
        chance[-1] += max(0.0, 1 - chance.sum())
        places.append(values)
        chances.append(chance)
    return places, chances


def floored_law(prior: tuple[float, ...], counts: tuple[int, ...], epsilon: str = EPSILON) -> DistanceLaw:
    """Return the law of the notes' Laplace mechanism: the floor of noise of scale 2/epsilon."""
    mechanism = as_published.FlooredLaplace(model_of(prior), sum(counts), epsilon, 2, len(prior) - 1)
    return laplace_law(mechanism, counts)


def combined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return sums over all combinations, one axis for each part."""
    whole = parts[0]
    for part in parts[1:]:
        whole = np.add.outer(whole, part)
    return whole
