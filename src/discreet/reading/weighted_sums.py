"""Reading weighted sums: ratio means and totals, among the records and in the population that they come from.

Among the records a weighted mean is a ratio as any other (`ratios`). For the population, D(r) has the deviation of a
sum of independent units besides, whose variance is about V(r) = sum (h - r k)^2. It is read from the noisy parts of
squares: up to r (1 - r) sum k, the most that values between the bounds allow as k <= 1, V(r)^(1/3) is uniform
beforehand, as for means without weights, and the noise in it is taken for that of independent Laplace numbers, a little
wider than it is. Totals have the variance sum y^2 - (sum y)^2 / n.
"""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
from scipy.special import ndtri

from discreet.arrays import Floats
from discreet.mathematics.distributions.dirichlet import tails
from discreet.models.weighted_sums import WeightedSums
from discreet.reading.number_sums import NumberSumsReading
from discreet.reading.ratios import DRAWS, Deviation, Ratio

_SEED = 122
_FEW = 200  # draws of a variance that are possible; with fewer, noise hides it


@dataclass(frozen=True, eq=False)
class WeightedSumsReading(NumberSumsReading):
    """What was published of weighted sums, and the law of its noise in units."""

    model: WeightedSums

    @cached_property
    def _square_draws(self) -> Floats:
        """Return draws of the noise of three parts of squares."""
        return np.random.default_rng(_SEED).laplace(scale=1 / self.rates[1], size=(DRAWS, 3))

    def known(self, group: int) -> float:
        """Return about how many units a group counts for."""
        return float(min(max(self.first[group].sum(), 1e-3), self.size))

    def _variances(self, group: int, ratio: float) -> Floats:
        """Return draws of V(r): those that are possible, chosen by rank."""
        drawn = np.asarray(self.model.residuals(self.second[group] - self._square_draws, ratio))
        return self._possible(drawn, max(self.known(group) * ratio * (1 - ratio), 1e-12))

    def _possible(self, drawn: Floats, most: float) -> Floats:
        """Return draws of a variance up to the most that it can be, whose cubic root is uniform beforehand."""
        possible = np.sort(drawn[(drawn > 0) & (drawn <= most)])
        ranks = self._normals[1]
        if len(possible) < _FEW:
            return np.asarray(ranks**3 * most)
        weights = np.cumsum(possible ** (-2 / 3))
        return np.asarray(possible[np.searchsorted(weights, ranks * weights[-1])])

    def deviation(self, group: int) -> tuple[Deviation, float]:
        """Return draws of how far a sum of units lies from its expectation, and about how far that makes a ratio."""
        normals, count = self._normals[0], self.known(group)
        middle = float(np.clip(self.first[group, 0] / max(self.first[group].sum(), 1e-9), 0, 1))
        typical = sqrt(float(np.median(self._variances(group, middle)))) / count
        return (lambda ratio: np.asarray(np.sqrt(self._variances(group, ratio)) * normals)), max(typical, 0.1 / count)

    def due_to_privacy(self, group: int, law: Ratio, level: float) -> float:
        """Return which part of the width of a population's interval exact sums would save."""
        spread = float(np.mean(np.sqrt(self._variances(group, law.point))))
        plain = 2 * float(ndtri(tails(level)[1])) * spread / self.known(group)
        return max(0.0, 1 - plain / (law.high - law.low)) if law.high > law.low else 0.0

    def sums(self, group: int) -> Floats:
        """Return draws of the weighted total of a group."""
        return np.asarray(self.model.largest * super().sums(group))

    def sum_variances(self, group: int, sums: Floats) -> Floats:
        """Return draws of the variance of a total: sum y^2 - (sum y)^2 / n, y = W (low l + high h)."""
        low, high = float(self.model.bounds.low), float(self.model.bounds.high)
        squares = (self.second[group] - self._square_draws) @ np.array([high**2, high * low, low**2])
        top, bottom = np.maximum(self.first[group], 0.0)
        most = high**2 * top + low**2 * bottom  # as no share is above 1
        drawn = self.model.largest**2 * squares - float(np.median(sums)) ** 2 / self.size
        return self._possible(np.asarray(drawn), max(self.model.largest**2 * float(most), 1e-12))
