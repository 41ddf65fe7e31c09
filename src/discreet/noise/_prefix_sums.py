"""Prefix sums: the distribution of the summed noise of all cells below an edge."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.arrays import Floats


@dataclass(frozen=True, eq=False)
class PrefixSumNoise:
    """The distribution of summed noise, P(U = v) for v = -h, ..., h; the probability beyond is less than 1e-12."""

    chances: Floats

    @property
    def half(self) -> int:
        """Return h."""
        return len(self.chances) // 2

    @property
    def sd(self) -> float:
        """Return the standard deviation."""
        values = np.arange(-self.half, self.half + 1)
        return float(np.sqrt(self.chances @ values**2))

    @cached_property
    def _sums(self) -> Floats:
        return np.concatenate([[0.0], np.cumsum(self.chances)])

    def at(self, values: ArrayLike) -> Floats:
        """Return P(U = v)."""
        indices = np.asarray(values, dtype=np.int64) + self.half
        inside = (indices >= 0) & (indices < len(self.chances))
        return np.where(inside, self.chances[np.clip(indices, 0, len(self.chances) - 1)], 0.0)

    def at_most(self, values: ArrayLike) -> Floats:
        """Return P(U <= v)."""
        indices = np.clip(np.asarray(values, dtype=np.int64) + self.half + 1, 0, len(self.chances))
        return np.asarray(np.minimum(1.0, self._sums[indices]))

    def at_least(self, values: ArrayLike) -> Floats:
        """Return P(U >= v): distributions of noise are symmetric."""
        return self.at_most(-np.asarray(values, dtype=np.int64))

    def quantile(self, share: float) -> int:
        """Return the smallest v with P(U <= v) >= share."""
        return int(np.searchsorted(self._sums[1:], share)) - self.half


@runtime_checkable
class HasPrefixSums(Protocol):
    """Noise whose prefix sums (cuts) have distributions that can be computed."""

    def cut(self, index: int, /) -> PrefixSumNoise | None:
        """Return the distribution of the summed noise of the first `index` numbers; None if it is not computed."""

    def single(self, index: int, /) -> PrefixSumNoise | None:
        """Return the distribution of one number's noise, where that of cuts is known too; else None."""

    @property
    def cut_operations(self) -> float:
        """Return about how many operations the distributions of all cuts take, where they are computed."""
