"""Inference from a table of numbers: tests at its edges, by exact distributions of prefix sums or by rank."""

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet.inference import Quantiles, Ratio
from discreet.noise import Averaged, HasPrefixSums, Noise, simulated_noise
from discreet.numbers._edge_tests import DrawnTests, EdgeTests, ExactTests

if TYPE_CHECKING:
    from discreet.mathematics.distributions import CountDistribution
    from discreet.numbers._table_model import NumberTable

DRAWS, _SEED = 4095, 24
MOST_FOR_CUTS = 1.2e10
"""The most operations for the distributions of all cuts; beyond, noise is so wide that draws of it are used."""


@lru_cache(maxsize=8)
def drawn_noise(noise: Noise | Averaged, draws: int = DRAWS) -> Floats:
    """Return draws of all noise: they are public and the same for every release with this noise distribution."""
    return simulated_noise(noise, draws, np.random.default_rng(_SEED))


@dataclass(frozen=True, eq=False)
class NumberTableSolution:
    """What was published of a table of numbers, and the distribution of its noise."""

    model: "NumberTable"
    size: int
    values: Counts | Floats
    noise: Noise | Averaged
    are_cuts_worked_out: bool = True
    """Whether the distributions of cuts are computed where possible, or draws are used throughout."""
    draws: int = DRAWS
    log_evidence: float = float("nan")

    @property
    def most(self) -> float:
        """Return the largest number of records that is possible."""
        return self.size

    @property
    def is_exact(self) -> bool:
        """Return whether the number of records with a value is public and the distribution of every cut is known."""
        known = self.are_cuts_worked_out and not self.model.leaves_gaps_out and self.model.by is None
        return known and self.prefix_sums is not None and self.prefix_sums.cut(1) is not None

    @property
    def prefix_sums(self) -> HasPrefixSums | None:
        """Return the noise if the distributions of its cuts can be worked out in time."""
        noise = self.noise
        return noise if isinstance(noise, HasPrefixSums) and noise.cut_operations <= MOST_FOR_CUTS else None

    @property
    def method(self) -> str:
        """Say how it was read."""
        how = "exact tests" if self.is_exact else f"tests by rank among {self.draws:,} draws of noise"
        several = (
            f", applied to the average of {len(self.noise.parts)} releases" if isinstance(self.noise, Averaged) else ""
        )
        return f"read by {how} at every edge{several}, which are valid for any records"

    @cached_property
    def drawn(self) -> Floats:
        """Return draws of all noise, group by group."""
        return drawn_noise(self.noise, self.draws).reshape(self.draws, len(self.model.groups), -1)[
            :, :, : self.model.count
        ]

    @cached_property
    def tests(self) -> tuple[EdgeTests, ...]:
        """Return the tests of every group."""
        tables = self.values.reshape(len(self.model.groups), -1)[:, : self.model.count]
        if self.is_exact and (sums := self.prefix_sums) is not None:
            return (ExactTests(tables[0], self.size, sums.cut, sums.single),)  # type: ignore[arg-type]
        return tuple(DrawnTests(own, self.drawn[:, index], self.most) for index, own in enumerate(tables))

    def mean_of(self, low: Floats, high: Floats, group: int, level: float, sampled: bool) -> Ratio:
        """Return the mean of a function that lies between `low` and `high` in each cell, the values there or others.

        It lies between two sums of the table: the lower end of the interval is that of the first, the upper end that
        of the second.
        """
        least, width = float(low[0]), float(high[-1] - low[0])
        table = self.values.reshape(len(self.model.groups), -1)[group, : self.model.count]
        tests = DrawnTests(table, self.drawn[:, group], self.most)
        first, second = ((each - least) / width for each in (low, high))
        ends = [self._mean(tests, each, level, sampled) for each in (first, second)]
        middle = self._mean(tests, (first + second) / 2, level, sampled).point
        found = min(max(middle, ends[0].low), ends[1].high), ends[0].low, ends[1].high
        return Ratio(*(least + width * each for each in found))

    def _mean(self, tests: DrawnTests, weights: Floats, level: float, sampled: bool) -> Ratio:
        noise, first, second = tests.pair(weights)
        counts = np.clip(tests.values.sum() - noise.first - noise.second, 1.0, self.most)
        normals = np.random.default_rng(_SEED + 1).standard_normal(self.draws)
        shares = np.maximum(np.diff(tests.fitted), 0)
        squares = float(shares @ weights**2) / max(1.0, float(shares.sum()))

        def deviation(ratio: float) -> Floats:
            spread = np.clip(squares - ratio**2, 0.0, ratio * (1 - ratio))
            return np.asarray(np.sqrt(counts * spread) * normals)

        return Quantiles.of(noise, level, deviation if sampled else None).interval(first, second)


@dataclass(frozen=True, eq=False)
class SecretNumberTableSolution(NumberTableSolution):
    """What was published of a table of a secret number of records; `size` is about how many there are."""

    number: "CountDistribution" = field(kw_only=True)

    @property
    def most(self) -> float:
        """Return infinity: nothing is known of the number of records beforehand."""
        return inf

    @property
    def is_exact(self) -> bool:
        return False
