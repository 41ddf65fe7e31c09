"""Means, sums and variances of a number where the number of records is secret: the same tests, with noise that is free.

High and low ends of a group have D(r) = (1 - r) a - r b with the distribution of the noise alone, whatever the records
are, none and one included; so intervals for a mean among them hold as they do where the number of records is public,
and their quantiles are in closed form (`_free_ends`). That number is read from what was published of it alone, and
beforehand every number 0, 1, 2, ... is as likely as any other. A group, and all records, may have none: then the noisy
ends may add up to nothing or less, and every value between the bounds is possible.

The sum of the population is that of as many of its members as there are records, however many these are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet.inference import (
    DRAWS,
    CostEstimate,
    Feature,
    PairNoise,
    PosteriorSample,
    Problem,
    Quantiles,
    Solver,
    number_facts,
    number_in_words,
)
from discreet.mathematics.distributions import CountDistribution
from discreet.mechanism import Measurement
from discreet.noise import Independent, SharedRadius, epsilon_weights, product_of
from discreet.numbers._free_ends import CubeEnds, FreeEnds, LaplaceEnds, SummedNoise, number_behind
from discreet.numbers._further_numbers import further_sums
from discreet.numbers._secret_size_mechanisms import SignedSums
from discreet.numbers._sums_inference import NumberSumsSolution
from discreet.numbers._sums_model import NumberSums
from discreet.numbers._sums_posterior import NumberSumsPosterior
from discreet.numbers._weighted_model import WeightedSums
from discreet.numbers._weighted_posterior import WeightedSumsPosterior, WeightedSumsSolution


@dataclass(frozen=True, eq=False)
class SecretNumberSumsSolution(NumberSumsSolution):
    """What was published of the sums of a secret number of records; `size` is about how many there are."""

    ends: FreeEnds = field(kw_only=True)
    number: CountDistribution = field(kw_only=True)
    """How many records there are; of persons who are divided by their rows, how many persons."""

    is_number_public: ClassVar[bool] = False
    _least_known: ClassVar[float] = 1.0

    @cached_property
    def noise(self) -> PairNoise:
        return self.ends.drawn(self.draws)[0]

    @cached_property
    def square_noise(self) -> PairNoise:
        """Return draws of the noise of the ends of squares, jointly with the others."""
        return self.ends.drawn(self.draws)[1]

    def quantiles(self, level: float) -> Quantiles:
        return self.ends.quantiles(level)

    def known(self, group: int) -> float:
        return float(max(self.first[group].sum(), self._least_known))

    def possible_sums(self, drawn: Floats) -> Floats:
        """Return draws of a sum that have a possible sign: no number of records bounds them."""
        low, high = float(self.model.bounds.low), float(self.model.bounds.high)
        return np.clip(drawn, 0.0 if low >= 0 else -np.inf, 0.0 if high <= 0 else np.inf)

    def sum_variances(self, group: int, sums: Floats) -> Floats:
        count = np.maximum(self.first[group].sum() - self.noise.first - self.noise.second, 1.0)
        spread = self.spread(group).at(self.point(group)) * self.model.width**2
        everyone = count if self.model.ends == 2 else np.maximum(count, self.number.mean)
        return np.asarray(spread + sums**2 * (1 / count - 1 / everyone))


@dataclass(frozen=True, eq=False)
class SecretNumberWeightedSolution(SecretNumberSumsSolution, WeightedSumsSolution):
    """What was published of weighted sums of a secret number of records, or of persons by their rows."""

    model: WeightedSums
    _least_known = 1e-3

    def _squares_noise(self, weights: Floats) -> float:
        """Return the variance of a weighted sum of independent noise in the three parts of squares."""
        return self._part_noise * float(weights @ weights)

    def sum_variances(self, group: int, sums: Floats) -> Floats:
        return WeightedSumsSolution.sum_variances(self, group, sums)


class SecretNumberSumsSolver(Solver):
    """Reads one release of sums of a secret number of records: every quantity by a separate test."""

    models: ClassVar[tuple[type, ...]] = (NumberSums,)
    handles = frozenset({Feature.SECRET_NUMBER})
    solution_type: ClassVar[type[SecretNumberSumsSolution]] = SecretNumberSumsSolution

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse anything but one release of noisy sums with noise that keeps no total."""
        if isinstance(problem.number, int):
            return "the number of records is public"
        if not problem.is_measured or len(problem.observed) != 1:
            return "sums of a secret number of records are read from one release of noisy sums at a time"
        if _ends_of(problem.measurements, problem.model.unit) is None:
            return "its noise is not the noise of LaplaceSums or CubeSums"
        return None

    def cost(self, problem: Problem) -> CostEstimate:
        """Return the work of quantiles of drawn noise for every group, and of the noise of their number."""
        groups = len(problem.model.groups)
        widest = max(float(m.noise.decay_length.max()) for m in problem.measurements) / problem.model.unit
        reach = 60 * widest * np.sqrt(2 * groups + 1)
        return CostEstimate(
            f"inference for {groups} groups", 60.0 * 40 * DRAWS * groups + 50 * reach, 40.0 * DRAWS + 10 * reach
        )

    def solve(self, problem: Problem) -> SecretNumberSumsSolution:
        """Return the published ends in records, with their noise, and how many records there are."""
        model: NumberSums = problem.model
        ends = _ends_of(problem.measurements, model.unit)
        assert ends is not None
        values = np.concatenate([each.values for each in problem.measurements]) / model.unit
        groups, has_gap = len(model.groups), model.leaves_gaps_out
        if isinstance(ends, CubeEnds):
            signed, gap = values[: 3 * groups].reshape(groups, 3), values[3 * groups :]
            first = np.stack([signed[:, 0] + signed[:, 1], signed[:, 0] - signed[:, 1]], axis=1) / 2
            second = np.stack([signed[:, 0] + signed[:, 2], signed[:, 0] - signed[:, 2]], axis=1) / 2
            noisy = [(float(signed[:, 0].sum() + gap.sum()), SummedNoise(ends.rate, int(has_gap), groups))]
        else:
            assert isinstance(ends, LaplaceEnds)
            first, second = model.pairs(values * model.unit)
            halves = np.split(values, [model.ends])
            rates = zip(halves, (ends.rate, ends.square_rate), strict=True)
            noisy = [(float(half.sum()), SummedNoise(rate, len(half))) for half, rate in rates]
        number = number_behind(noisy)
        rates_of = ends.rate, getattr(ends, "square_rate", ends.rate)
        return self.solution_type(model, round(number.mean), first, second, rates_of, ends=ends, number=number)


def _ends_of(measurements: Sequence[Measurement], unit: int) -> FreeEnds | None:
    """Return the noise of both ends in records, if it is one of those that are known."""
    if len(measurements) != 1:
        return None
    (measured,) = measurements
    structure = measured.noise.structure
    if isinstance(measured.of, SignedSums):
        parts = structure.parts if isinstance(structure, Independent) else (structure,)
        rates = {part.rate for part in parts if isinstance(part, SharedRadius)}
        return CubeEnds(rates.pop() * unit) if len(rates) == 1 else None
    weights = epsilon_weights(structure)
    if product_of(structure) is None or weights is None or len(weights) != 2:
        return None
    return LaplaceEnds(float(weights[0]) * unit, float(weights[1]) * unit)


class SecretNumberWeightedSolver(SecretNumberSumsSolver):
    """Reads one release of weighted sums of a secret number of records."""

    models = (WeightedSums,)
    solution_type = SecretNumberWeightedSolution


class SecretNumberSumsPosterior(NumberSumsPosterior, shows=SecretNumberSumsSolution):
    """Means, sums and variances of a secret number of records, and that number.

    `size` is about how many there are: the rounded mean of `number_of_records`.
    """

    solution: SecretNumberSumsSolution
    about = "about "

    @property
    def number_of_records(self) -> CountDistribution:
        """Return the distribution of the number of records, from all that was published of it."""
        return self.solution.number

    def facts(self, level: float = 0.9) -> dict[str, object]:
        """Return the number of records besides."""
        return {"number_of_records": number_facts(self.number_of_records, level)}

    def about_sizes(self) -> list[str]:
        """Say how many records there are, and how many have a value."""
        who = self.model.among.removeprefix("these ")
        return [number_in_words(self.number_of_records, self.size, who), *super().about_sizes()]

    def _quantities(self, hidden: Floats) -> dict[str, Floats]:
        return super()._quantities(self._ends_of(hidden))

    def _ends_of(self, hidden: Floats) -> Floats:
        """Return the ends of positions and squares behind measured numbers."""
        (measured,) = self._measurements
        if not isinstance(measured.of, SignedSums):
            return hidden
        groups = len(self.model.groups)
        number, near, far = np.moveaxis(hidden[:, : 3 * groups].reshape(len(hidden), groups, 3), 2, 0)
        halves = [np.stack([number + each, number - each], axis=2).reshape(len(hidden), -1) / 2 for each in (near, far)]
        gap = hidden[:, 3 * groups :]
        return np.concatenate([halves[0], gap, halves[1], gap], axis=1)

    def replicate(self, sample: PosteriorSample, generator: np.random.Generator) -> Counts:
        """Draw what is measured of as many further records, as many as were drawn behind the release."""
        ends = self._ends_of(np.asarray(sample.behind))
        sizes = np.maximum(np.rint(ends[:, : self.model.ends].sum(axis=1) / self.model.unit), 0).astype(np.int64)
        (measured,) = self._measurements
        return np.asarray(measured.of.apply(further_sums(self.model, ends, sizes, generator)))


class SecretNumberWeightedPosterior(
    SecretNumberSumsPosterior, WeightedSumsPosterior, shows=SecretNumberWeightedSolution
):
    """Weighted means and totals of a secret number of records, or of persons by their rows."""

    def replicate(self, sample: PosteriorSample, generator: np.random.Generator) -> Counts:
        """Refuse: sums do not tell which weights go with which values."""
        return WeightedSumsPosterior.replicate(self, sample, generator)
