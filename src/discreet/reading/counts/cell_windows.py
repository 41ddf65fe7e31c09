"""Windows of counts for many cells: the kernel there, which no prior changes, and each prior's weights on top of it.

The weight of a count k is f(k) = Gamma(a + k) / (k! Gamma(a)) g(k), g the kernel of the cell: the likelihood of what
was published. Only the first factor knows the prior, so several strengths of a prior share one table of log g.

A kernel is log-concave, so beyond an edge e of a window it falls at least as fast as at e, and the prior's factor rises
by at most max(1, (a + e)/(e + 1)) a step to the right and is at most max(1, its value at e) to the left: what lies
outside is at most a geometric series.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.special import gammaln

from discreet.arrays import Counts, Floats
from discreet.mathematics.digits import log_gamma_ratio

LogKernel = Callable[[Counts, Counts], Floats]
"""The log kernel of arrays of cells at arrays of counts."""

_LONGEST = 4_000_000  # counts whose prior is summed in one pass
_TAME = 100.0  # nats between the largest and the smallest prior of a count: products with it lose nothing


class CellWindows:
    """Cell i covers the counts first_i, ..., last_i out of 0, ..., total; all windows are as wide as the widest."""

    def __init__(self, log_kernel: LogKernel, first: Counts, last: Counts, total: int) -> None:
        self.first, self.last, self._log_kernel, self._total = first, last, log_kernel, total
        self.width = int((last - first).max()) + 1

    @cached_property
    def _kernel(self) -> Floats:
        """Return log g_i(first_i + step), nothing beyond a cell's last count."""
        counts = self.first[:, None] + np.arange(self.width)
        last = self.last[:, None]
        found = np.array(self._log_kernel(np.arange(len(self.first))[:, None], np.minimum(counts, last)))
        found[counts > last] = -np.inf
        return found

    @cached_property
    def _edges(self) -> tuple[Floats, Floats]:
        """Return by how much the log kernel changes with the step beyond either edge; -inf where there is none."""
        rows, found = np.arange(len(self.first)), []
        for end, step in ((self.first, -1), (self.last, 1)):
            is_open = (end > 0) if step < 0 else (end < self._total)
            at, beyond = (self._log_kernel(rows, np.clip(place, 0, self._total)) for place in (end, end + step))
            is_open &= at > -np.inf
            found.append(np.where(is_open, beyond, -np.inf) - np.where(is_open, at, 0))
        return found[0], found[1]

    @cached_property
    def _factors(self) -> tuple[Floats, Floats]:
        """Return the kernel, each row divided by its largest number, and the logarithm of that."""
        peaks = self._kernel.max(axis=1)
        return np.exp(self._kernel - peaks[:, None]), peaks

    def log_weights(self, alpha: Floats) -> Floats:
        """Return log f_i(first_i + step); the prior by sums of log (a + k)/(k + 1), once if all cells have the same."""
        if (alpha == 1).all():
            return self._kernel.copy()
        if (prior := self._one_prior(alpha)) is not None:
            logs = self._by_rows(prior)
        else:
            logs = np.log1p((alpha[:, None] - 1) / np.maximum(self.first[:, None] + np.arange(self.width), 1))
            logs[:, 0] = log_prior(alpha, self.first)
            np.cumsum(logs, axis=1, out=logs)
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
        logs -= peaks[:, None]
        return np.exp(logs, out=logs), peaks

    def _one_prior(self, alpha: Floats) -> Floats | None:
        """Return the log prior of all counts from the first one of all on; nothing if cells or windows lie apart."""
        lowest, highest = int(self.first.min()), int(self.last.max())
        if (alpha != alpha[0]).any() or highest - lowest >= min(self._kernel.size, _LONGEST):
            return None
        steps = np.log1p((alpha[0] - 1) / np.arange(lowest + 1.0, highest + self.width))
        return np.concatenate([log_prior(alpha[:1], np.array([lowest])), steps]).cumsum()

    def _by_rows(self, of_counts: Floats) -> Floats:
        """Return each cell's window of numbers that are given for all counts from the first one of all on."""
        found: Floats = sliding_window_view(of_counts, self.width)[self.first - int(self.first.min())]
        return found

    def outside(self, alpha: Floats, tilt: Floats | float, ends: tuple[Floats, Floats]) -> Floats:
        """Return bounds on the mass outside windows, given the tilted weights at both ends of them."""
        rises = (
            np.exp(np.maximum(0, -log_prior(alpha, self.first))),
            np.maximum(1, (alpha + self.last) / (self.last + 1)),
        )
        found = np.zeros(len(self.first))
        for step, edge, weight in zip((-1, 1), self._edges, ends, strict=True):
            ratio = np.exp(edge + step * tilt) * (rises[1] if step > 0 else 1)
            series = weight * ratio / np.where(ratio < 1, 1 - ratio, 1) * (rises[0] if step < 0 else 1)
            found += np.where(ratio < 1, series, np.inf)
        return found


def log_prior(alpha: Floats, counts: Counts) -> Floats:
    """Return log Gamma(a + k) / (k! Gamma(a)), which is 0 throughout for a = 1."""
    if (alpha == 1).all():
        return np.zeros(np.broadcast(alpha, counts).shape)
    return np.asarray(log_gamma_ratio(counts + 1.0, alpha - 1) - gammaln(alpha))
