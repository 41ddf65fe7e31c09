"""A row of cells on windows that are as wide as they must be, for the totals of a range that is cut where it must be.

One tilt serves totals around one centre; far from it rounding hides the distribution. So a range may be cut into parts,
each with its own tilt, until the errors of all totals that matter are small.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DiscreetError
from discreet.inference._known_sum import KnownSum, TotalDistribution
from discreet.inference._problem import MOST_NUMBERS
from discreet.inference._windows import CellWindows, NoisyRow, Windowed
from discreet.mathematics import log_prior_constant
from discreet.noise import MARGIN

_WIDEST = 64.0  # multiple of the first margin from which a wider window changes nothing
_OUTSIDE = 1e-16  # what windows may leave out, relative to the largest probability of a total

TOO_FAR = (
    "The release lies too far from all possible counts to be read: noise reaches so far with a probability below "
    "1e-20, or releases that are read together contradict each other. Nothing was read. Check that the documents are "
    "what was published."
)


@dataclass(frozen=True)
class LogBound:
    """A line above the log weight of a row, for every total."""

    intercept: float
    tilt: float

    def at(self, total: int) -> float:
        """Return the bound at a total."""
        return self.intercept - self.tilt * total

    @property
    def slope(self) -> float:
        """Return how the bound changes with every step outward; below zero."""
        return -abs(self.tilt)


class RowWindows:
    """The counts of one row given its total low, ..., high, from a prior and what was seen of its cells."""

    def __init__(self, alpha: Floats, seen: Sequence[NoisyRow], size: int, low: int, high: int, parts: int = 1) -> None:
        self.alpha, self.low, self.high, self._seen, self._size = alpha, low, high, seen, size
        edges = np.linspace(low, high + 1, min(parts, high - low + 1) + 1).astype(np.int64).tolist()
        self._edges = np.array(edges[:-1])
        self._parts = [self._sums(a, b - 1) for a, b in pairwise(edges)]
        self._known_bounds: dict[float, LogBound] = {}

    def _sums(self, low: int, high: int) -> KnownSum:
        margin = MARGIN
        while True:
            windows = CellWindows.around(self._seen, self._size, margin)
            if windows.width * len(windows.first) > MOST_NUMBERS:
                raise DiscreetError(TOO_FAR)
            found = known_row(windows, self.alpha, low, high)
            if found.outside_share <= _OUTSIDE or margin >= _WIDEST * MARGIN:
                return found
            margin *= 1.5

    @cached_property
    def log_weights(self) -> Floats:
        """Return log P(what was seen | t) but for a constant, for every total: S(t) over the sum of the prior's."""
        totals = np.arange(self.low, self.high + 1)
        return np.asarray(
            np.concatenate([self._let_go(part, part.log_sums) for part in self._parts]) + self.log_constants(totals)
        )

    def log_bound(self, share: float) -> LogBound:
        """Return a line above log S(t) at every total: S(t) <= e^(-lambda t) prod_x F_x.

        `share` says how near lambda is to the steepest tilt; above zero it bounds large totals, below zero small ones.
        """
        if share not in self._known_bounds:
            self._known_bounds[share] = self._log_bound(share)
        return self._known_bounds[share]

    @cached_property
    def _narrow(self) -> CellWindows:
        """Return windows of the first margin: any will do for a bound, and the wider they are, the less steep it is."""
        return CellWindows.around(self._seen, self._size)

    def _log_bound(self, share: float) -> LogBound:
        windows, beyond = self._narrow, self._narrow.beyond(self.alpha)
        low, high = beyond.tilts
        tilt = share * min(float(high), -float(low), 600 / windows.width)
        logs = windows.log_weights(self.alpha) + tilt * np.arange(windows.width)
        peaks = logs.max(axis=1)
        inside = peaks + np.log(np.exp(logs - peaks[:, None]).sum(axis=1))
        sums = float(np.logaddexp(inside, beyond.log_outside(np.array(tilt))).sum())
        return LogBound(sums + tilt * int(windows.first.sum()), tilt)

    def log_constants(self, totals: Counts) -> Floats:
        """Return log c(t) of some totals."""
        return log_prior_constant(float(self.alpha.sum()), totals)

    @cached_property
    def errors(self) -> Floats:
        """Return a bound on the relative error of every weight."""
        return np.concatenate([self._let_go(part, part.errors) for part in self._parts])

    @staticmethod
    def _let_go(part: KnownSum, found: Floats) -> Floats:
        """Return what was found; parts are many, and keep no transforms."""
        part.let_go()
        return found

    @cached_property
    def probabilities(self) -> Floats:
        """Return the expected probability of each level (columns) given every total (rows)."""
        totals = np.arange(self.low, self.high + 1.0)
        means = np.concatenate([self._let_go(part, part.means_given) for part in self._parts], axis=1)
        return np.asarray((self.alpha + means.T) / (self.alpha.sum() + totals)[:, None])

    def draw(self, totals: Counts, generator: np.random.Generator) -> Counts:
        """Draw independent rows of counts, one for each total."""
        drawn = np.empty((len(totals), len(self.alpha)), dtype=np.int64)
        which = np.searchsorted(self._edges, totals, side="right") - 1
        for number in np.unique(which).tolist():
            own = np.flatnonzero(which == number)
            drawn[own] = self._parts[number].draw(totals[own], generator)
        return drawn

    def distribution_inside(self, inside: NDArray[np.bool_], total: int) -> Windowed:
        """Return the distribution of the number of records, among `total`, at some of the levels."""
        part = self._parts[int(np.searchsorted(self._edges, total, side="right")) - 1]
        counts, distribution = part.marginal(inside.astype(np.int64), total)
        return Windowed(int(counts[0]), distribution)


def known_row(windows: CellWindows, alpha: Floats, low: int, high: int) -> KnownSum:
    """Return the counts of one row for totals low, ..., high, tilted to the middle of these."""
    return KnownSum(
        windows.log_weights(alpha)[None],
        windows.first[None],
        TotalDistribution.any_of(low, high),
        outside=windows.beyond(alpha),
        centre=(low + high) / 2,
    )


def whole_row(log_weights: Floats, centre: float) -> KnownSum:
    """Return the counts of one row for every total 0, ..., n, from the log weights of every count of each level (rows).

    `centre` is a total near which all that matters happens: what lies 10^-290 below that underflows to zero.
    """
    first, totals = (
        np.zeros((1, len(log_weights)), dtype=np.int64),
        TotalDistribution.any_of(0, log_weights.shape[1] - 1),
    )
    return KnownSum(log_weights[None], first, totals, centre=centre)
