"""Many cells through few frequencies: the sum of many independent counts has a smooth law.

On a circle of length L the law of a sum is (1/L) sum_j phi(theta_j) e^(i theta_j t), phi the product of the cells'
transforms. Leaving out all frequencies from J on errs by at most (2/L) sum_(j >= J) |phi(theta_j)|, and as no transform
is above 1 in modulus, |phi| is at most the product over any cells. So the 64 widest cells (one in 40, where that is
more) are transformed whole, and J is the first frequency beyond which the product of their moduli, without the largest
(so that the bound holds where one cell is left out), sums to nothing. All other cells are asked at J frequencies alone,
by products of matrices.

For a few cells this would be wrong: the transform of Laplace noise falls like theta^-2 only.
"""

from functools import cached_property

import numpy as np
from scipy.fft import irfft, rfft

from discreet.arrays import Counts, Floats
from discreet.reading.counts.count_sums import MANY, Spectrum, leave_one_out, powers

_LEFT_OUT = 1e-17  # share of the probability of the known total
MOST_WAVES = 20_000_000
"""Frequencies times counts of a window: where there are more, whole transforms are taken."""
_BLOCK = 2_000_000  # numbers that are worked on together


class LowFrequencies:
    """Transforms of rows of weights (kinds, steps) on a circle, as far as their products are not negligible.

    There are so many `times` cells of each kind. `left_out` bounds the error of every probability of a sum of all
    cells, or all but one.
    """

    def __init__(self, weights: Floats, length: int, spread: float, times: Counts) -> None:
        self._weights, self._length, self._times = weights, length, times
        steps = np.arange(weights.shape[1])
        means = weights @ steps
        self._variances = weights @ steps**2 - means**2
        self.count, self.left_out = self._kept(times, spread)

    def _kept(self, times: Counts, spread: float) -> tuple[int, float]:
        """Return how many frequencies matter to sums of so many cells of each kind, and what the others could add."""
        some = max(MANY, int(times.sum()) // 40)
        order = np.argsort(-self._variances, kind="stable")
        order = order[times[order] > 0]
        widest = order[: int(np.searchsorted(np.cumsum(times[order]), some)) + 1]
        moduli = np.log(np.maximum(np.abs(rfft(self._weights[widest], self._length, axis=1)), 1e-300))
        product = np.exp(np.minimum(0.0, times[widest] @ moduli - moduli.max(axis=0)))
        tails = 2 / self._length * np.cumsum(product[::-1])[::-1]
        allowed = _LEFT_OUT / (2.6 * max(spread, 0.4))
        kept = int(np.count_nonzero(tails > allowed))
        return max(1, kept), float(tails[kept]) if kept < len(tails) else 0.0

    @property
    def are_many(self) -> bool:
        """Tell whether so many frequencies matter that whole transforms are less work."""
        numbers: int = self.count * self._weights.shape[1]
        return numbers > MOST_WAVES

    @cached_property
    def _waves(self) -> tuple[Floats, Floats]:
        turns = self._turns(np.arange(self._weights.shape[1])[:, None])
        return np.cos(turns), np.sin(turns)

    def _turns(self, steps: Counts | int) -> Floats:
        """Return theta_j times steps; whole turns are taken off before anything is rounded."""
        return np.asarray(2 * np.pi / self._length * (np.arange(self.count) * steps % self._length))

    @cached_property
    def _spectra(self) -> Spectrum:
        cosines, sines = self._waves
        return np.asarray(self._weights @ cosines - 1j * (self._weights @ sines))

    def product(self, times: Counts) -> Spectrum:
        """Return the transform of the law of the sum of many cells, up to the last frequency that matters to it."""
        if not self.are_many:
            if (times == self._times).all():
                return np.asarray(powers(self._spectra, times).prod(axis=0))
            needed, _ = self._kept(times, float(np.sqrt(times @ self._variances)))
            if needed <= self.count:
                return np.asarray(powers(self._spectra, times).prod(axis=0))
        found = np.ones(self._length // 2 + 1, dtype=np.complex128)
        (held,) = np.nonzero(times)
        for start in range(0, len(held), MANY):
            own = held[start : start + MANY]
            found *= powers(np.asarray(rfft(self._weights[own], self._length, axis=1)), times[own]).prod(axis=0)
        return found

    def marginals(self, rest: int) -> Floats:
        """Return P(step of a cell | the steps of all cells sum to `rest`) for every kind of cell (rows).

        The law of all others at rest - step is a sum of cosines and sines of step: one product of matrices.
        """
        if self.are_many:
            return self._by_whole_transforms(rest)
        cosines, sines = self._waves
        twice = np.full(self.count, 2.0)
        twice[0] = 1
        if self._length % 2 == 0 and self.count == self._length // 2 + 1:
            twice[-1] = 1
        others = leave_one_out(self._spectra, self._times)
        others *= twice / self._length * np.exp(1j * self._turns(rest % self._length))
        found = np.empty_like(self._weights)
        block = max(1, _BLOCK // self._weights.shape[1])
        for start in range(0, len(found), block):
            part = slice(start, start + block)
            laws = others[part].real @ cosines.T + others[part].imag @ sines.T
            np.multiply(self._weights[part], np.maximum(0.0, laws), out=found[part])
        found /= found.sum(axis=1, keepdims=True)
        return found

    def _by_whole_transforms(self, rest: int) -> Floats:
        """Return the marginals from all frequencies, some cells at a time."""
        blocks = [slice(start, start + MANY) for start in range(0, len(self._weights), MANY)]
        wholes = []
        for block in blocks:
            times = np.zeros_like(self._times)
            times[block] = self._times[block]
            wholes.append(self.product(times))
        outside = leave_one_out(np.stack(wholes), np.ones(len(blocks), dtype=np.int64))
        behind = (rest - np.arange(self._weights.shape[1])) % self._length
        found = np.empty_like(self._weights)
        for block, others in zip(blocks, outside, strict=True):
            inside = leave_one_out(np.asarray(rfft(self._weights[block], self._length, axis=1)), self._times[block])
            laws = irfft(inside * others, self._length, axis=1)[:, behind]
            found[block] = self._weights[block] * np.maximum(0.0, laws)
        found /= found.sum(axis=1, keepdims=True)
        return found
