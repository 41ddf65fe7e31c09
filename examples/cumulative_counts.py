"""CumulativeCounts: of levels in an order, how many records are at most at each, with one radius of noise for all.

A record that goes from the last level to the first moves every one of these m - 1 numbers by 1, and any other record
moves some of them. Noise with P(u) ~ e^(-epsilon max_i |u_i|) hides that: the loss is at most epsilon max_i |c_i|.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.mechanism import Counts, NumbersT, Quantities
from discreet.noise import Cube
from discreet.tables import Categories, NoisyCounts


@dataclass(frozen=True)
class AtMost(Quantities):
    """How many records are at most at each level but the last: A k = k_1, k_1 + k_2, ..."""

    model: Categories

    @property
    def blocks(self) -> tuple[int, ...]:
        """Return the numbers, in one block."""
        return (len(self.model.cells) - 1,)

    def apply(self, counts: NumbersT) -> NumbersT:
        """Return the running sums of counts."""
        return np.cumsum(counts, axis=-1)[..., :-1]

    def transpose(self, values: NumbersT) -> NumbersT:
        """Return for each level the sum over all numbers that it is counted in."""
        sums = np.cumsum(np.asarray(values)[..., ::-1], axis=-1)[..., ::-1]
        return np.concatenate([sums, np.zeros_like(sums[..., :1])], axis=-1)

    def changes(self) -> tuple[Counts, ...]:
        """Return the one change that holds all others: every number moves by 1."""
        return (np.ones(self.length, dtype=np.int64),)


@dataclass(frozen=True, init=False, repr=False)
class CumulativeCounts(NoisyCounts, kind="CumulativeCounts"):
    """Noisy running sums of a table whose levels have an order: pure epsilon-DP under replacement of one record."""

    reason = "noise of norm max|u| on running sums that one record moves by at most 1 each"

    @cached_property
    def quantities(self) -> AtMost:
        """Return the running sums."""
        return AtMost(self.model)

    @cached_property
    def noise(self) -> Cube:
        """Return one radius for all numbers."""
        return Cube((self.epsilon,), self.quantities.blocks)
