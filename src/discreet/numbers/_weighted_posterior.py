"""What a reader knows about weighted means and totals: among the records, and in the population that they come from.

Among the records, a weighted mean is a ratio like any other (`ratios`). For the population, D(r) also has the deviation
of a sum of independent units, whose variance is about V = sum (h - r k)^2. It is estimated from the noisy parts of
squares and plugged in as for means without weights; values between the bounds allow at most r (1 - r) sum k, as k <= 1.
Totals have the variance sum y^2 - (sum y)^2 / n.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet.inference import PosteriorSample, ReportText
from discreet.numbers._sums_inference import NumberSumsSolution, plugged_in
from discreet.numbers._sums_model import MEAN, SUM
from discreet.numbers._sums_posterior import NumberSumsPosterior, NumberSumsSolver
from discreet.numbers._weighted_model import WeightedSums


@dataclass(frozen=True, eq=False)
class WeightedSumsSolution(NumberSumsSolution):
    """What was published of weighted sums, and the distribution of its noise in units."""

    model: WeightedSums
    method: str = "read by tests that hold whatever the records are; for the population, with a normal distribution"

    def known(self, group: int) -> float:
        return float(min(max(self.first[group].sum(), 1e-3), self.size))

    def _estimate(self, group: int, position: float) -> float:
        """Return V = sum (h - r k)^2 for a mean position r of the records."""
        return float(self.model.residuals(self.second[group], position))

    def _estimate_noise(self, position: float) -> float:
        return self._squares_noise(self.model.residual_weights(position))

    def _squares_noise(self, weights: Floats) -> float:
        """Return the variance of a weighted sum of the noise in the three parts of squares.

        The noise of m ends that sum to zero has the variance v at each and the covariance -v / (m - 1) between two.
        """
        ends = self.model.square_ends
        return self._part_noise * float(ends * weights @ weights - weights.sum() ** 2) / (ends - 1)

    @cached_property
    def _part_noise(self) -> float:
        return float(np.var(self.square_noise.first))

    def student(self, freedom: float) -> Floats:
        """Return ones: weighted units have no definite number of degrees of freedom."""
        return np.ones(self.draws)

    @property
    def _units(self) -> float:
        """Return the largest weight that all records together may have."""
        return self.size * self.model.largest

    def free_sums(self, group: int) -> Floats:
        return np.asarray(self.model.largest * super().free_sums(group))

    def sum_variances(self, group: int, sums: Floats) -> Floats:
        """Return draws of the variance of a total: sum y^2 - (sum y)^2 / n, y = W (low l + high h)."""
        low, high, largest = float(self.model.bounds.low), float(self.model.bounds.high), self.model.largest
        weights = largest**2 * np.array([high**2, high * low, low**2])
        top, bottom = np.maximum(self.first[group], 0.0)
        most = largest**2 * (high**2 * top + low**2 * bottom)  # as no share is above 1
        estimate = float(self.second[group] @ weights) - float(np.median(sums)) ** 2 / self.size
        return np.full_like(sums, plugged_in(estimate, self._squares_noise(weights) / float(np.var(sums)), most))


class WeightedSumsSolver(NumberSumsSolver):
    """Solves one release of weighted sums: every quantity by a separate test."""

    models = (WeightedSums,)
    solution_type = WeightedSumsSolution


class WeightedSumsPosterior(NumberSumsPosterior, shows=WeightedSumsSolution):
    """Weighted means and totals, each with an interval for the records and for the population."""

    model: WeightedSums

    @property
    def known(self) -> dict[str, float]:
        """Return roughly the sum of the weights of each group, or its number of rows: noisy, not clipped."""
        return {group: count * self.model.largest for group, count in super().known.items()}

    def about_sizes(self) -> list[str]:
        """Say what weights add up to."""
        what = "Rows with a value are" if self.model.weights is None else "Weights add up to"
        return [f"{what} about {self.known['all']:,.0f}."] if self.model.by is None else []

    def _quantities(self, hidden: Floats) -> dict[str, Floats]:
        model = self.model
        high, low = np.moveaxis(hidden[:, : model.ends - 1].reshape(len(hidden), -1, 2) / model.unit, 2, 0)
        ends = model.largest * float(model.bounds.low), model.largest * float(model.bounds.high)
        mean = model.value_at(np.clip(high / np.maximum(high + low, 1e-9), 0, 1))
        found = {MEAN: mean, SUM: np.asarray(ends[0] * low + ends[1] * high)}
        return {ask: found[ask] for ask in model.asks}

    def replicate(self, sample: PosteriorSample, generator: np.random.Generator) -> Counts:
        """Refuse: sums do not tell which weights go with which values."""
        raise DeclarationError("weighted sums do not tell which weights further records would have")

    @property
    def text(self) -> ReportText:
        """Return the column with its bounds and groups; that weights are fixed by design is the holder's word."""
        found = super().text
        public = () if self.model.weights is None else ("that weights were fixed by design, as the holder states",)
        return replace(found, subject="weighted sums of a number", public=(*found.public, *public))
