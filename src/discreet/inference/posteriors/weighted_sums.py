"""What a reader knows about weighted means and totals: among the records, and in their population."""

from dataclasses import replace

from discreet.inference.posteriors.account import Account
from discreet.inference.posteriors.number_sums import NumberSumsEngine, NumberSumsPosterior
from discreet.models.weighted_sums import WeightedSums
from discreet.reading.weighted_sums import WeightedSumsReading


class WeightedSumsEngine(NumberSumsEngine, place=9):
    """Reads one release of weighted sums: every quantity by a test of its own."""

    models = (WeightedSums,)
    kind = WeightedSumsReading


class WeightedSumsPosterior(NumberSumsPosterior, shows=WeightedSumsReading):
    """Weighted means and totals, each with an interval for the records and for the population."""

    subject = "weighted sums of a number"
    model: WeightedSums

    @property
    def known(self) -> dict[str, float]:
        """Return about what the weights of each group add up to, or how many rows it has: noisy, not clipped."""
        return {group: count * self.model.largest for group, count in super().known.items()}

    def about_sizes(self) -> list[str]:
        """Say what weights add up to."""
        what = "Rows with a value are" if self.model.weights is None else "Weights add up to"
        return [f"{what} about {self.known['all']:,.0f}."] if self.model.by is None else []

    def account(self) -> Account:
        """Return the column with its bounds, and what its groups are; that weights are fixed is the holder's word."""
        found = super().account()
        public = () if self.model.weights is None else ("that weights were fixed by design, by the holder's word",)
        return replace(found, public=(*found.public, *public))
