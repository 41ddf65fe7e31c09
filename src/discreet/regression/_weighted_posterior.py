"""The noise-aware posterior of a weighted regression: the line of the bulk, and how much of the records counted.

The last step of a release is an ordinary measurement once T and R^2 are known, and is read as moments are: noise is
drawn, subtracted, and what remains is weighted by its likelihood (`regression._likelihood`). The number of records is
replaced by the sum of their weights, which is drawn with the rest. Steps before the last have other weights and are not
read. sigma^2 A is slightly larger than the variance of weighted sums of errors, sigma^2 sum rho^2 xx'.
"""

from dataclasses import replace
from functools import cached_property

import numpy as np

from discreet._core.arrays import Counts
from discreet._core.errors import DeclarationError
from discreet.inference import PosteriorSample, Problem, ReportText, percent_text
from discreet.mathematics.distributions import WeightedDraws
from discreet.regression._inference import MomentSolution
from discreet.regression._posterior import RegressionPosterior
from discreet.regression._solver import MomentsSolver
from discreet.regression._weighted_mechanisms import WeightedMoments
from discreet.regression._weighted_model import WeightedRegression

ESTIMAND = (
    "The coefficients are those of weighted least squares: a record far from the bulk counts less, with the weight "
    "R^2 / distance^2 instead of 1 beyond the distance R, in units that the release publishes. They are not those of "
    "ordinary least squares, from which they differ where the target is skewed or the line is not straight."
)


class WeightedMomentSolution(MomentSolution):
    """Draws of the true moments of weighted records."""

    @cached_property
    def weight(self) -> WeightedDraws:
        """Return the distribution of the mean weight of a record; one that is left out has the weight 0."""
        assert isinstance(self.of, WeightedMoments)
        return WeightedDraws(self.of.weight(self.released) / self.size, self.grouped)


class WeightedMomentsSolver(MomentsSolver):
    """Weighs draws of the noise of the last step, as of any moments."""

    models = (WeightedRegression,)
    solution = WeightedMomentSolution

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse several releases: in each, records have other weights."""
        if problem.is_measured and len(problem.measurements) > 1:
            return "each of these releases gives records other weights, so they cannot be read together"
        return super().unsupported_reason(problem)


class WeightedRegressionPosterior(RegressionPosterior, shows=WeightedMomentSolution):
    """The posterior of the coefficients of a weighted regression, in the units of the table."""

    solution: WeightedMomentSolution

    @property
    def weight(self) -> WeightedDraws:
        """Return the distribution of the mean weight of a record: 1 if all count in full."""
        return self.solution.weight

    def _counted_as_facts(self, level: float) -> dict[str, object]:
        low, high = self.weight.interval(level)
        return {"mean_weight": {"mean": self.weight.mean, "low": low, "high": high}}

    def _counted_in_words(self, level: float) -> tuple[str, ...]:
        """Say what is estimated, and how much records counted."""
        low, high = self.weight.interval(level)
        counted = f"{self.weight.mean:.3g} ({percent_text(level)} {low:.3g} to {min(high, 1.0):.3g})"
        return ESTIMAND, f"On average a record counted with a weight of {counted}."

    @property
    def text(self) -> ReportText:
        """Return the words of a regression, with what is estimated."""
        found = super().text
        target, cells = self.model.target, len(self.model.cells)
        return replace(
            found,
            subject="a weighted regression",
            question=(
                f"how does {target} depend on the other columns? It is answered by a weighted linear regression from "
                f"{cells} sums, in units that were learnt from earlier sums of the same release, all with noise. "
                "Bounds and levels were declared in advance, not looked up in the records."
            ),
            meaning=f"{found.meaning} {ESTIMAND}",
            public=(*found.public, "the number of records"),
        )

    def replicate(self, sample: PosteriorSample, generator: np.random.Generator) -> Counts:
        """Refuse: new targets would have other weights."""
        raise DeclarationError(
            "a record's weight depends on its target, so new targets cannot be drawn from weighted sums"
        )
