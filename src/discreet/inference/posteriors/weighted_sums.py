"""What a reader knows about weighted means and totals: among the records, and in their population."""

from dataclasses import replace

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.errors import DeclarationError
from discreet.inference.posteriors.number_sums import NumberSumsPosterior, NumberSumsSolver
from discreet.inference.posteriors.report import ReportText
from discreet.inference.posteriors.sample import PosteriorSample
from discreet.models.number_sums import MEAN, SUM
from discreet.models.weighted_sums import WeightedSums
from discreet.reading.weighted_sums import WeightedSumsReading


class WeightedSumsSolver(NumberSumsSolver):
    """Reads one release of weighted sums: every quantity by a test of its own."""

    models = (WeightedSums,)
    kind = WeightedSumsReading


class WeightedSumsPosterior(NumberSumsPosterior, shows=WeightedSumsReading):
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
