"""Counts of one row that sum to a total, on windows: the law of each for every total of a range.

The weight of a total t is S(t) = sum over k with sum k = t of prod_x f_x(k_x). All factors are multiplied by
e^(lambda k), with lambda chosen so that the mean total is in the middle of the range: then

    S(t) = e^(-lambda t) prod_x F_x p(t),   F_x = sum_k f_x(k) e^(lambda k),

and p, the law of a sum of independent numbers, is a product of Fourier transforms. Every value comes with a bound of
its relative error (`errors`), of three parts, each over p(t) itself:

- what the windows leave out: if out_x bounds sum f_x e^(lambda k) outside, at most sum_x out_x / F_x is lost, as what
  is lost has some count outside its window (drop that the counts sum to t);
- what folds over on a circle of length N: P(|K - mean| > N/2) <= e^(-mu N/2) E[e^(mu (K - mean)) + e^(-mu (K - mean))];
- rounding: a few 1e-16 of the largest p.

Of more than 64 cells only low frequencies are needed: |phi| of the sum is at most the product over any 64 of them, so
leaving out the frequencies from J on errs by at most (2/N) sum_(j >= J) of that product, one factor left out.
"""

from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from discreet.arrays import Counts, Floats
from discreet.mathematics.tilting import tilted_to
from discreet.reading.counts.row_counts import groups
from discreet.reading.counts.windows import Windowed

Spectrum = NDArray[np.complex128]

_ROUNDING = 4e-16  # rounding error of a transform, relative to the largest probability
_TAIL = 24.0  # standard deviations of the total kept free on a circle, in addition to a window and the range
_FOLDED = 1e-19  # probability that may fold over
_STEEPEST = 50.0
_MANY = 64  # number of cells from which low frequencies may be enough
_DROPPED = 1e-20  # probability that dropped frequencies may hold
_TOGETHER = 16  # cells transformed at a time


class Windows(Protocol):
    """Weights of cells on windows, with a bound on what lies outside; see `CellWindows`."""

    first: Counts
    last: Counts
    logs: Floats

    @property
    def steepest(self) -> float:
        """Return the largest tilt at which what lies outside is finite."""

    def log_outside(self, tilt: float) -> Floats:
        """Return for each cell the log of a bound on sum f(k) e^(tilt (k - first)) over all k outside."""


class WindowSums:
    """The counts of one row for totals low, ..., high, tilted so that their mean total is `centre`."""

    def __init__(self, windows: Windows, low: int, high: int, centre: float) -> None:
        self.low, self.high, self.windows = low, high, windows
        self._cells, width = windows.logs.shape
        self._steps, self._base = np.arange(width), int(windows.first.sum())
        steepest = min(_STEEPEST, 0.98 * windows.steepest)
        found = tilted_to(
            windows.logs, self._steps, centre - self._base, absolute=1e-9, relative=0.01, steepest=steepest
        )
        self.tilt, self._weights, self._log_sums, self._means = found.tilt, found.weights, found.log_sums, found.means
        self._deviation = float(np.sqrt(found.variance))
        self._longest = int((windows.last - windows.first).sum())
        self._length = self._circle(width)
        self.frequencies = self._kept_frequencies()

    def _circle(self, width: int) -> int:
        """Return a length of the transforms at which next to nothing folds over; set the bound on what does."""
        wanted = int(width + _TAIL * self._deviation + self.high - self.low) + 1
        while wanted < self._longest + 1:
            self._folded = self._beyond(wanted / 2)
            if self._folded <= _FOLDED:
                return int(next_fast_len(wanted, real=True))
            wanted = wanted * 3 // 2
        self._folded = 0.0
        return int(next_fast_len(self._longest + 1, real=True))

    def _beyond(self, distance: float) -> float:
        """Return a bound on the probability that the total is farther than this from its mean (Chernoff)."""
        rate = min(6 / max(self._deviation, 1e-9), 600 / len(self._steps))
        away = self._steps - self._means[:, None]
        both = [np.log((self._weights * np.exp(sign * rate * away)).sum(axis=1)).sum() for sign in (1, -1)]
        return float(np.exp(np.logaddexp(*both) - rate * distance))

    def _kept_frequencies(self) -> int | None:
        """Return how many low frequencies are enough; None if all are kept."""
        self._left_out = 0.0
        if self._cells <= _MANY:
            return None
        sizes = np.abs(rfft(self._weights[:_MANY], self._length, axis=1))
        product = np.sort(sizes, axis=0)[:-1].prod(axis=0)
        tails = 2 / self._length * np.cumsum(product[::-1])[::-1]
        few = int(np.argmax(tails <= _DROPPED)) if (tails <= _DROPPED).any() else len(tails)
        if few > len(tails) // 8:
            return None
        self._left_out = float(tails[few])
        return few

    @property
    def _basis(self) -> Spectrum:
        angles = 2 * np.pi / self._length * np.outer(self._steps, np.arange(self.frequencies or 0))
        return np.asarray(np.exp(-1j * angles))

    def _transform(self, values: Floats) -> Spectrum:
        if self.frequencies is None:
            return np.asarray(rfft(values, self._length, axis=-1))
        return np.asarray(values @ self._basis)

    def _law(self, spectrum: Spectrum, positions: Counts) -> Floats:
        """Return numbers at some positions from their transforms (last axis)."""
        if self.frequencies is None:
            return np.asarray(irfft(spectrum, self._length, axis=-1)[..., positions % self._length])
        angles = 2 * np.pi / self._length * np.outer(np.arange(self.frequencies), positions)
        twice = np.where(np.arange(self.frequencies) == 0, 1.0, 2.0)[:, None] / self._length
        parts = spectrum.real @ (np.cos(angles) * twice) - spectrum.imag @ (np.sin(angles) * twice)
        return np.asarray(parts)

    @cached_property
    def _whole(self) -> Spectrum:
        """Return the transform of the sum of all cells; those of single cells, which are long, are not kept."""
        block = self._cells if self.frequencies else _TOGETHER
        parts = [self._weights[start : start + block] for start in range(0, self._cells, block)]
        return np.asarray(np.prod([self._transform(part).prod(axis=0) for part in parts], axis=0))

    @property
    def _spectra(self) -> Spectrum:
        return self._transform(self._weights)

    @cached_property
    def _before(self) -> Spectrum:
        """Return the transforms of the sums of the first 0, 1, ..., K cells, which draws ask for again and again."""
        return _running(self._spectra)

    @property
    def _others(self) -> Spectrum:
        """Return for each cell the transform of the sum of all others."""
        spectra = self._spectra
        return np.asarray(_running(spectra[:-1]) * _running(spectra[:0:-1])[::-1])

    @cached_property
    def _peak(self) -> float:
        """Return about the largest p(t): that of a normal law, at least that of the range's middle."""
        middle = np.array([int(self._means.sum())])
        return max(float(self._law(self._whole, middle)[0]), 1 / (4 * self._deviation + 1))

    @cached_property
    def _left_outside(self) -> float:
        """Return a bound on the tilted probability that some count lies outside its window."""
        return float(np.exp(np.minimum(self.windows.log_outside(self.tilt) - self._log_sums, 0.0)).sum())

    @property
    def outside(self) -> float:
        """Return what the windows leave out at most, beside the largest probability of a total."""
        return self._left_outside / self._peak

    @property
    def totals(self) -> Counts:
        """Return the totals of the range."""
        return np.arange(self.low, self.high + 1)

    @cached_property
    def _chances(self) -> tuple[Floats, Floats]:
        """Return p(t) of every total, nowhere below what rounding hides, and a bound on its relative error."""
        positions = self.totals - self._base
        law = self._law(self._whole, positions)
        inside = (positions >= 0) & (positions <= self._longest)
        inside &= np.abs(positions - self._means.sum()) <= self._length / 2
        law = np.where(inside, law, 0.0)
        floor = _ROUNDING * self._peak
        lost = self._left_outside + self._folded + self._left_out + floor
        chances = np.maximum(law, floor)
        return chances, np.where(inside & (law > 2 * floor), lost / chances, 1.0)

    @property
    def errors(self) -> Floats:
        """Return for every total a bound on the relative error of its weight, 1 where it is not known at all."""
        return self._chances[1]

    @cached_property
    def log_sums(self) -> Floats:
        """Return log S(t) for every total of the range."""
        positions = self.totals - self._base
        return np.asarray(np.log(self._chances[0]) + self._log_sums.sum() - self.tilt * positions)

    @cached_property
    def means(self) -> Floats:
        """Return E[k_x | t] for each cell (rows) and total of the range (columns)."""
        away = self._weights * (self._steps - self._means[:, None])
        moments = self._law(self._transform(away) * self._others, self.totals - self._base) / self._chances[0]
        first, last = self.windows.first[:, None], self.windows.last[:, None]
        return np.clip(first + self._means[:, None] + moments, first, last)

    def marginals(self, total: int) -> list[Windowed]:
        """Return P(k_x = k | total) of each cell on its window."""
        positions = total - self._base - self._steps
        own, means = (self.windows.last - self.windows.first)[:, None], self._means[:, None]
        near = np.abs(positions - self._means.sum() + means) <= self._length / 2
        possible = near & (positions >= 0) & (positions <= self._longest - own)
        law = np.where(possible, self._law(self._others, positions), 0.0)
        joint = self._weights * np.maximum(0.0, law)
        chances = joint / joint.sum(axis=1, keepdims=True)
        widths = self.windows.last - self.windows.first + 1
        return [
            Windowed(int(first), row[:width])
            for first, row, width in zip(self.windows.first, chances, widths, strict=True)
        ]

    def draw(self, totals: Counts, generator: np.random.Generator) -> Counts:
        """Draw independent rows of counts, one for each total: the last cell first, then those before it."""
        drawn = np.empty((len(totals), self._cells), dtype=np.int64)
        left = np.asarray(totals) - self._base
        for cell in range(self._cells - 1, 0, -1):
            drawn[:, cell] = self._draw_cell(cell, left, generator)
            left = left - drawn[:, cell]
        drawn[:, 0] = left
        return drawn + self.windows.first

    def _draw_cell(self, cell: int, left: Counts, generator: np.random.Generator) -> Counts:
        """Draw P(s) ~ f_cell(s) (f_1 * ... * f_(cell-1))(left - s) in steps; equal totals share one table."""
        marks, drawn = generator.random(len(left)), np.empty(len(left), dtype=np.int64)
        steps = np.flatnonzero(self._weights[cell] > 0)
        weights, low = self._weights[cell, steps], int(left.min() - steps[-1])
        positions = np.arange(low, int(left.max() - steps[0]) + 1)
        longest = int((self.windows.last - self.windows.first)[:cell].sum())
        before = np.where(
            (positions >= 0) & (positions <= longest) & self._near(positions, cell),
            np.maximum(0.0, self._law(self._before[cell], positions)),
            0.0,
        )
        for total, places in groups(left):
            table = np.cumsum(weights * before[total - steps - low])
            found = np.searchsorted(table, marks[places] * table[-1], side="right")
            drawn[places] = steps[np.minimum(found, len(steps) - 1)]
        return drawn

    def _near(self, positions: Counts, cell: int) -> NDArray[np.bool_]:
        return np.asarray(np.abs(positions - self._means[:cell].sum()) <= self._length / 2)

    def law_inside(self, inside: NDArray[np.bool_], total: int) -> Windowed:
        """Return the law of the sum of some cells given the total of all: P(k) ~ f_in(k) f_out(total - k)."""
        parts = [self._transform(self._weights[where]).prod(axis=0) for where in (inside, ~inside)]
        means = [float(self._means[where].sum()) for where in (inside, ~inside)]
        widths = self.windows.last - self.windows.first
        rest, own = total - self._base, int(widths[inside].sum())
        middle, half = (means[0] + rest - means[1]) / 2, self._length // 2
        steps = np.arange(max(0, int(middle) - half), min(own, rest, int(middle) + half) + 1)
        one = np.where(np.abs(steps - means[0]) <= half, self._law(parts[0], steps), 0.0)
        two = np.where(np.abs(rest - steps - means[1]) <= half, self._law(parts[1], rest - steps), 0.0)
        law = np.maximum(0.0, one) * np.maximum(0.0, two)
        return Windowed(int(self.windows.first[inside].sum() + steps[0]), law / law.sum())


def _running(spectra: Spectrum) -> Spectrum:
    """Return the products of the first 0, 1, ... rows."""
    ones = np.ones((1, spectra.shape[1]), dtype=np.complex128)
    return np.cumprod(np.concatenate([ones, spectra]), axis=0)
