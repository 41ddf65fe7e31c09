"""Windows: the few counts that matter of each cell of a row, and a proved bound on all that lies outside.

A cell's weight is f(k) = P_a(k) K(k), with the prior P_a(k) = Gamma(a + k) / (k! Gamma(a)) and the likelihood K of what
was seen of it, whose logarithm is concave beyond the noisy numbers. Its window holds the counts around these, clipped
to 0, ..., n. What lies outside, weighed by e^(lambda k), is below a geometric series (`CellWindows.log_outside`):

- right of a window's end e, f(k + 1) e^lambda <= rho f(k) with rho = e^lambda K(e + 1) / K(e) max(1, (a + e)/(e + 1));
- left of its first count e, P_a(k) <= max(1, P_a(e)), and K(k - 1) e^-lambda <= K(k) K(e - 1) / K(e) e^-lambda.

So nothing here grows with the number of records, and nothing is left out that was not bounded.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from discreet._core.arrays import Counts, Floats
from discreet.mathematics import log_prior, log_prior_windows
from discreet.noise import MARGIN

LogKernel = Callable[[Counts, Counts], Floats]
"""The log kernel of arrays of cells at arrays of counts."""

_LONGEST = 4_000_000  # counts whose prior is summed in one pass
_TAME = 100.0  # nats between the largest and the smallest prior of a count: products with it lose nothing


@dataclass(frozen=True, eq=False)
class Windowed:
    """Numbers at first, first + 1, ...: a distribution, which is zero elsewhere, or logarithms of weights."""

    first: int
    values: Floats

    @property
    def counts(self) -> Counts:
        """Return the counts that the numbers belong to."""
        return self.first + np.arange(len(self.values))

    @property
    def last(self) -> int:
        """Return the last count."""
        return self.first + len(self.values) - 1


@dataclass(frozen=True, eq=False)
class NoisyRow:
    """What one measurement says about the cells of a row: its log kernel at any counts, and where it peaks."""

    log_kernel: Callable[[Counts], Floats]
    """Log K of each cell (rows) at its counts (columns)."""
    values: Counts
    reach: Floats
    """For each cell how many counts away a factor e is lost, far out."""
    information: Floats
    """For each cell about one over the variance of its noise."""


class CellWindows:
    """Windows first_i, ..., last_i of 0, ..., total for cells with a log kernel; all are as wide as the widest.

    The kernel does not know the prior, so several strengths of a prior share one table of it. `log_kernel` is asked
    for all cells at once, each (rows) at some counts (columns).
    """

    def __init__(self, log_kernel: LogKernel, first: Counts, last: Counts, total: int) -> None:
        self.first, self.last, self._log_kernel, self.total = first, last, log_kernel, total
        self.width = int((last - first).max()) + 1

    @classmethod
    def around(cls, seen: Sequence[NoisyRow], total: int, margin: float = MARGIN) -> "CellWindows":
        """Return windows that reach some nats beyond what was seen of the cells of a row."""
        values = np.stack([np.clip(each.values, 0, total) for each in seen])
        reach = np.ceil(margin * np.min([each.reach for each in seen], axis=0)).astype(np.int64) + 2
        first, last = np.clip(values.min(axis=0) - reach, 0, total), np.clip(values.max(axis=0) + reach, 0, total)

        def log_kernel(_: Counts, counts: Counts) -> Floats:
            return np.asarray(sum(each.log_kernel(counts) for each in seen))

        return cls(log_kernel, first, last, total)

    @cached_property
    def _kernel(self) -> Floats:
        """Return log g_i(first_i + step), nothing beyond a cell's last count."""
        counts = self.first[:, None] + np.arange(self.width)
        last = self.last[:, None]
        if (self.last - self.first + 1 == self.width).all():
            return np.asarray(self._log_kernel(np.arange(len(self.first))[:, None], counts))
        found = np.array(self._log_kernel(np.arange(len(self.first))[:, None], np.minimum(counts, last)))
        found[counts > last] = -np.inf
        return found

    @cached_property
    def _edges(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the log kernel at either end, and by how much it changes with the step beyond; -inf if all is held."""
        ends = np.stack([self.first - 1, self.first, self.last, self.last + 1], axis=1)
        before, first, last, after = self._log_kernel(
            np.arange(len(self.first))[:, None], np.clip(ends, 0, self.total)
        ).T
        left, right = (self.first > 0) & (first > -np.inf), (self.last < self.total) & (last > -np.inf)
        with np.errstate(invalid="ignore"):
            falls = np.where(left, before - first, -np.inf), np.where(right, after - last, -np.inf)
        return np.where(left, first, -np.inf), falls[0], np.where(right, last, -np.inf), falls[1]

    @cached_property
    def _factors(self) -> tuple[Floats, Floats]:
        """Return the kernel, each row divided by its largest number, and the logarithm of that."""
        peaks = self._kernel.max(axis=1)
        return np.exp(self._kernel - peaks[:, None]), peaks

    def log_weights(self, alpha: Floats) -> Floats:
        """Return log f_i(first_i + step), never written on; the prior is computed once if all cells share it."""
        if (alpha == 1).all():
            return self._kernel
        prior = self._one_prior(alpha)
        logs = log_prior_windows(alpha, self.first, self.width) if prior is None else self._by_rows(prior)
        logs += self._kernel
        return logs

    def weights(self, alpha: Floats) -> tuple[Floats, Floats]:
        """Return f_i(first_i + step), each row divided by a scale, and the logarithms of the scales.

        Where all cells have the same, tame prior, only its own factors are new: the kernel's are shared.
        """
        prior = self._one_prior(alpha)
        if prior is not None and (highest := prior.max()) - prior.min() < _TAME:
            factors, peaks = self._factors
            found = self._by_rows(np.exp(prior - highest))
            found *= factors
            return found, peaks + highest
        logs = self.log_weights(alpha)
        peaks = logs.max(axis=1)
        found = logs - peaks[:, None]
        return np.exp(found, out=found), peaks

    def _one_prior(self, alpha: Floats) -> Floats | None:
        """Return the log prior of all counts from the first one of all on; nothing if cells or windows lie apart."""
        lowest, highest = int(self.first.min()), int(self.last.max())
        if (alpha != alpha[0]).any() or highest - lowest >= min(self._kernel.size, _LONGEST):
            return None
        return np.asarray(log_prior_windows(alpha[:1], np.array([lowest]), highest - lowest + self.width)[0])

    def _by_rows(self, of_counts: Floats) -> Floats:
        """Return each cell's window of numbers that are given for all counts from the first one of all on."""
        found: Floats = sliding_window_view(of_counts, self.width)[self.first - int(self.first.min())]
        return found

    def beyond(self, alpha: Floats) -> "Beyond":
        """Return what lies outside the windows, at most."""
        left, falls, right, drops = self._edges
        growth = np.maximum(0.0, np.log((alpha + self.last) / (self.last + 1)))
        start = right + log_prior(alpha, self.last)
        return Beyond(
            left + np.maximum(0.0, log_prior(alpha, self.first)), falls, start, drops + growth, self.last - self.first
        )


@dataclass(frozen=True, eq=False)
class Beyond:
    """Geometric series above all weights outside windows: logs of a start and of the ratio, left and right of them.

    `span` is how far the last count of a window is from the first. Arrays may have tables along a first axis.
    """

    left: Floats
    left_ratio: Floats
    right: Floats
    right_ratio: Floats
    span: Counts

    def by_tables(self, tables: int) -> "Beyond":
        """Return the same with the cells of every table apart."""
        return Beyond(*(getattr(self, each.name).reshape(tables, -1) for each in fields(self)))

    @property
    def tilts(self) -> tuple[Floats, Floats]:
        """Return the tilts between which all that lies outside is finite."""
        return np.asarray(self.left_ratio.max(axis=-1)), np.asarray(-self.right_ratio.max(axis=-1))

    def log_outside(self, tilt: Floats) -> Floats:
        """Return the log of an upper bound on sum f(k) e^(tilt (k - first)) over all k outside, for each tilt."""
        by = np.asarray(tilt)[..., None]
        right = log_series(self.right + by * self.span, self.right_ratio + by)
        return np.logaddexp(right, log_series(self.left, self.left_ratio - by))


def log_series(start: Floats, log_ratio: Floats) -> Floats:
    """Return log sum_(j >= 1) e^(start + j log_ratio), infinite where the ratio is one or more; nothing if no start."""
    inside = np.minimum(log_ratio, -1e-300)
    with np.errstate(divide="ignore", invalid="ignore"):
        total = start + np.where(np.isneginf(inside), -np.inf, inside - np.log(-np.expm1(inside)))
    return np.where(np.isneginf(start), -np.inf, np.where(log_ratio >= 0, np.inf, total))
