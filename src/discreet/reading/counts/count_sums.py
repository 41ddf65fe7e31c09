"""The true counts behind a noisy table: the exact posterior of each, and of their sums.

For noise that is a product over cells, P(k | z) ~ prod_i f_i(k_i) on {k : sum k = n}, with
f_i(k) = Gamma(a_i + k) / (k! Gamma(a_i)) g(z_i - k): the cells are independent but for the known total. So every
quantity is a coefficient of a product of one-dimensional series, and a fast Fourier transform gives all of them:

- each cell keeps a window of counts beyond which its weight is below e^-40, found by looking at the weights;
- all cells are tilted by one factor e^(lambda k), chosen so that the expected total is n (it cancels, as the total is
  known), so that the wanted coefficient lies where the transform is accurate;
- leaving one cell out of the product gives its marginal.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import gammaln

from discreet.arrays import Counts, Floats
from discreet.errors import DiscreetError
from discreet.mathematics.digits import log_gamma_ratio, tilted_to
from discreet.reading.case import MOST_NUMBERS

Spectrum = NDArray[np.complex128]

_MARGIN = 45.0  # a window reaches this many factors e beyond the noisy count to begin with
_NEGLIGIBLE = 40.0  # and is widened until its edges lie this many factors e below the peak: e^-40 = 4e-18
_TAIL = 24.0  # standard deviations of the total kept free of aliasing, beside a whole window
_BLOCK = 256  # cells whose spectra are held in memory together
SPARE = 4.0
"""Windows of so many times the weights that are allowed before a charge may be held, as they may have to be widened."""
_MOST_WEIGHTS = SPARE * MOST_NUMBERS
_TRIM = 1e-17  # probabilities this far below the largest are dropped from sums


class CountSums:
    """Sums of counts with a known total, given the logarithm of each cell's own weight.

    `log_weight(places, counts)` returns log f_i(k) for arrays of cells and counts; `low` and `high` say where to look
    first, `reach` how fast weights fall off beyond. `first` is the first count of each cell's window.
    """

    def __init__(
        self, log_weight: Callable[[Counts, Counts], Floats], low: Counts, high: Counts, reach: float, total: int
    ) -> None:
        self.total = total
        self._log_weight = log_weight
        self._cells = len(low)
        margin = int(np.ceil(_MARGIN * reach)) + 2
        while not self._fits(np.clip(low - margin, 0, total), np.clip(high + margin, 0, total)):
            margin *= 2

    def _fits(self, first: Counts, last: Counts) -> bool:
        """Set up these windows; tell whether they hold all but a negligible share of every cell."""
        first, last = np.minimum(first, last), np.maximum(first, last)
        width = int((last - first).max()) + 1
        if width * self._cells > _MOST_WEIGHTS:
            raise DiscreetError(
                f"Reading this needs {width} x {self._cells} weights, more than {_MOST_WEIGHTS:.0e}. A single release "
                "does so with a probability below 1e-20; several may contradict each other. Nothing was read: read "
                "them one by one."
            )
        self._rest = self.total - int(first.sum())  # the total, counted from the windows' first counts
        whole = (first == 0) & (last == self.total)
        if not (0 < self._rest < int((last - first).sum())) and not whole.all():
            return False
        steps = np.arange(width)
        counts = first[:, None] + steps
        logs = self._log_weight(np.arange(self._cells)[:, None], np.minimum(counts, self.total))
        logs = np.where(counts <= last[:, None], logs, -np.inf)
        self.first, self._width = first, width
        balanced = tilted_to(logs, steps, self._rest, absolute=1e-9, relative=0.01)
        self._tilt, self._log_sums, self._weights = balanced.tilt, balanced.log_sums, balanced.weights
        self._spread, self._means = float(np.sqrt(balanced.variance)), balanced.means
        return self._edges_are_negligible(logs, first, last)

    def _edges_are_negligible(self, logs: Floats, first: Counts, last: Counts) -> bool:
        """Look at both ends of each window and of the whole range.

        On either side of the noisy count a cell's log weight is concave (a_i >= 1) or convex (a_i < 1), so what lies
        outside the window is bounded by these four values.
        """
        rows = np.arange(self._cells)
        peaks = (logs + self._tilt * np.arange(self._width)).max(axis=1)
        allowed = peaks - _NEGLIGIBLE
        for ends, open_ in ((first, first > 0), (last, last < self.total)):
            at_end = self._log_weight(rows, ends) + self._tilt * (ends - first)
            limit = np.zeros_like(ends) if ends is first else np.full_like(ends, self.total)
            beyond = self._log_weight(rows, limit) + self._tilt * (limit - first)
            if (open_ & (np.maximum(at_end, beyond) > allowed)).any():
                return False
        return True

    @cached_property
    def length(self) -> int:
        """Return the padded length of the transforms."""
        longest = self._cells * (self._width - 1) + 1
        return int(next_fast_len(min(longest, int(self._width + _TAIL * self._spread) + 1), real=True))

    def _spectra(self, places: Counts) -> Spectrum:
        """Return the transforms of these cells' weights; a table that fits into one block is transformed once."""
        if self._cells <= _BLOCK:
            return self._all_spectra if len(places) == self._cells else self._all_spectra[places]
        return np.asarray(rfft(self._weights[places], self.length, axis=1))

    @cached_property
    def _all_spectra(self) -> Spectrum:
        return np.asarray(rfft(self._weights, self.length, axis=1))

    def _spectrum(self, places: Counts) -> Spectrum:
        """Return the transform of the law of the summed steps of these cells."""
        product = np.ones(self.length // 2 + 1, dtype=np.complex128)
        for start in range(0, len(places), _BLOCK):
            product *= self._spectra(places[start : start + _BLOCK]).prod(axis=0)
        return product

    def _law(self, spectrum: Spectrum) -> Floats:
        return np.maximum(0.0, irfft(spectrum, self.length))

    @cached_property
    def marginals(self) -> Floats:
        """Return P(k_i = first_i + step | z) for every cell (rows) and step (columns)."""
        blocks = [np.arange(s, min(s + _BLOCK, self._cells)) for s in range(0, self._cells, _BLOCK)]
        outside = _leave_one_out(np.stack([self._spectrum(b) for b in blocks])) if len(blocks) > 1 else None
        behind = (self._rest - np.arange(self._width)) % self.length
        parts = []
        for number, block in enumerate(blocks):
            others = _leave_one_out(self._spectra(block))
            others = others if outside is None else others * outside[number]
            parts.append(self._weights[block] * np.maximum(0.0, irfft(others, self.length, axis=1)[:, behind]))
        joint = np.concatenate(parts)
        return np.asarray(joint / joint.sum(axis=1, keepdims=True))

    @cached_property
    def log_sum(self) -> float:
        """Return log sum_k prod_i f_i(k_i) over all counts with the known total."""
        mass = self._law(self._spectrum(np.arange(self._cells)))[self._rest % self.length]
        return float(np.log(mass) + self._log_sums.sum() - self._tilt * self._rest)

    def sum_of(self, places: Counts) -> tuple[Counts, Floats]:
        """Return the possible sums of some cells' counts, and their probabilities."""
        if len(places) == 1:
            cell = int(places[0])
            return self._trimmed(self.first[cell] + np.arange(self._width), self.marginals[cell])
        others = np.setdiff1d(np.arange(self._cells), places)
        inner, outer = self._law(self._spectrum(places)), self._law(self._spectrum(others))
        steps = self._around(places)
        weights = inner[steps % self.length] * outer[(self._rest - steps) % self.length]
        return self._trimmed(int(self.first[places].sum()) + steps, weights / weights.sum())

    def _around(self, places: Counts) -> Counts:
        """Return one period of steps around the expected sum of some cells."""
        middle = int(self._means[places].sum())
        steps = middle - self.length // 2 + np.arange(self.length)
        longest = int((self._width - 1) * len(places))
        return np.asarray(steps[(steps >= 0) & (steps <= min(longest, self._rest))])

    @staticmethod
    def _trimmed(counts: Counts, weights: Floats) -> tuple[Counts, Floats]:
        kept = weights > _TRIM * weights.max()
        return counts[kept], weights[kept] / weights[kept].sum()


def log_prior(alpha: Floats, counts: Counts) -> Floats:
    """Return log Gamma(a + k) / (k! Gamma(a)), which is 0 throughout for a = 1."""
    if (alpha == 1).all():
        return np.zeros(np.broadcast(alpha, counts).shape)
    return np.asarray(log_gamma_ratio(counts + 1.0, alpha - 1) - gammaln(alpha))


def _leave_one_out(spectra: Spectrum) -> Spectrum:
    """Return for each row the product of all other rows: products from the left times products from the right."""
    result = np.empty_like(spectra)
    result[0] = 1
    for row in range(1, len(spectra)):
        result[row] = result[row - 1] * spectra[row - 1]
    running = np.ones_like(spectra[0])
    for row in reversed(range(len(spectra))):
        result[row] *= running
        running *= spectra[row]
    return result
