"""One coefficient of a product of series, and means under it: what every likelihood of cells comes down to.

Independent whole numbers s_1, ..., s_r have laws w_i (rows), and their sum is known to be t. With F_i the transform of
w_i on a circle of length L, P the product of all F_i and c_f = e^(2 pi i f t / L),

    P(sum = t) = sum_f c_f P_f / L,      E[a(s_i) | sum = t] = sum_f c_f P_f A_if / F_if / (L P(sum = t)),

A_i the transform of w_i a. Functions a are centred first, which keeps the digits. Dividing by a small F_i does no harm,
as the same F_i is a factor of P; one that is exactly zero is avoided by another length.

Of many rows few frequencies matter: |F_i| <= (sum of |d-th differences of w_i|) / (2 sin(theta / 2))^d for d = 1 and 2,
by summing by parts. Where the product of these bounds, without the smallest, adds up to nothing, no transform is taken.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.fft import next_fast_len, rfft

from discreet.arrays import Floats

Spectrum = NDArray[np.complex128]
_TAIL = 24.0  # standard deviations of the sum that are kept free of what comes around the circle
_TRIES = 12
_FEW = 12  # rows of which all frequencies are taken
_LEFT_OUT = 41.5  # nats: what high frequencies may add to a probability is 1e-18 of about the largest
_STEP = 16  # frequencies are counted in such steps, so that waves can be kept
_MOST_WAVES = 1_000_000


@dataclass(frozen=True, eq=False)
class KnownSum:
    """Independent numbers from 0 on, row i with the law `weights[i]`, given that they add up to `total`."""

    weights: Floats
    total: int
    spread: float

    def expect(self, values: Floats) -> Floats:
        """Return E[a_i(s_i) | sum] for rows of values a_i(0), a_i(1), ... that have the mean 0 under the weights."""
        return self._real_sums(self._others, self._transformed(self.weights * values)) / self.scale

    def _transformed(self, numbers: Floats) -> Spectrum:
        return _transform(numbers, self.length, self.kept)

    @staticmethod
    def _real_sums(one: Spectrum, two: Spectrum) -> Floats:
        """Return the real part of the sum over frequencies of a product."""
        return np.asarray(np.einsum("if,if->i", one.real, two.real) - np.einsum("if,if->i", one.imag, two.imag))

    @cached_property
    def _found(self) -> tuple[int, int, Spectrum]:
        """Return a length, how many frequencies matter, and there the transforms of all laws, none of them zero."""
        rows, width = self.weights.shape
        needed = min(rows * (width - 1) + 1, int(width + _TAIL * self.spread) + 1)
        coarse = int(2 ** (np.ceil(4 * np.log2(needed)) / 4)) if rows > _FEW else needed  # few lengths: waves are kept
        length = int(next_fast_len(coarse, real=True))
        for _ in range(_TRIES):
            kept = self._kept(length)
            spectra = _transform(self.weights, length, kept)
            if spectra.all():
                break
            length += 1 + length % 2  # odd: two equal weights vanish at half a turn
        return length, kept, np.where(spectra == 0, 1e-300, spectra)

    def _kept(self, length: int) -> int:
        """Return how many frequencies matter."""
        rows, width = self.weights.shape
        whole = length // 2 + 1
        if rows <= _FEW:
            return whole
        sines = np.log(2 * np.sin(np.pi / length * np.arange(1, whole)))
        padded = np.pad(self.weights, ((0, 0), (2, 2)))
        bound = np.zeros(whole - 1)
        for power in (1, 2):
            variations = np.sort(np.log(np.abs(np.diff(padded, n=power, axis=1)).sum(axis=1)))
            heights = np.concatenate([[0.0], np.cumsum(variations)])
            below = np.searchsorted(variations, power * sines)
            smallest = np.minimum(0.0, variations[0] - power * sines)
            bound = np.minimum(bound, heights[below] - below * power * sines - smallest)
        allowed = -_LEFT_OUT - np.log(whole)
        kept = 1 + int(np.flatnonzero(bound > allowed)[-1] + 1 if (bound > allowed).any() else 0)
        kept = -(-kept // _STEP) * _STEP
        return kept if 3 * kept < whole and kept * width <= _MOST_WAVES else whole

    @property
    def length(self) -> int:
        """Return the length of the circle."""
        return self._found[0]

    @property
    def kept(self) -> int:
        """Return how many frequencies matter."""
        return self._found[1]

    @property
    def spectra(self) -> Spectrum:
        """Return the transform of every row."""
        return self._found[2]

    @cached_property
    def product(self) -> Spectrum:
        """Return the product of all transforms, turned to the total; inner frequencies count twice."""
        frequencies = np.arange(self.kept)
        turns = 2 * np.pi / self.length * (frequencies * self.total % self.length)
        twice = np.full(self.kept, 2.0)
        twice[0] = 1.0
        if self.length % 2 == 0 and self.kept == self.length // 2 + 1:
            twice[-1] = 1.0
        return np.asarray(self.spectra.prod(axis=0) * twice * np.exp(1j * turns))

    @cached_property
    def scale(self) -> float:
        """Return the probability of the total, times the length."""
        return float(self.product.real.sum())

    @property
    def mass(self) -> float:
        """Return the probability of the total; not above 0 where rounding ate it."""
        return self.scale / self.length

    @cached_property
    def _others(self) -> Spectrum:
        """Return for each row the product of all others."""
        return np.asarray(self.product / self.spectra)

    def covariance_times(self, steps: Floats, vector: Floats) -> Floats:
        """Return Cov[s | sum] v, for `steps` counted from their means: O(rows x length), without any matrix."""
        first = self._transformed(self.weights * steps) / self.spectra
        second = self._transformed(self.weights * steps**2) / self.spectra
        along = (vector[:, None] * first).sum(axis=0)
        both = self.product * (first * along + vector[:, None] * (second - first**2))
        shift = (self.product * first).real.sum(axis=-1) / self.scale
        return np.asarray(both.real.sum(axis=-1) / self.scale - shift * float(shift @ vector))


def _transform(numbers: Floats, length: int, kept: int) -> Spectrum:
    """Return the transform of every row at the first so many frequencies."""
    if kept == length // 2 + 1:
        return np.asarray(rfft(numbers, length, axis=-1))
    cosines, sines = _waves(length, kept, numbers.shape[-1])
    found = np.empty((len(numbers), kept), dtype=np.complex128)
    found.real, found.imag = numbers @ cosines, numbers @ sines
    return found


@lru_cache(maxsize=16)
def _waves(length: int, kept: int, width: int) -> tuple[Floats, Floats]:
    """Return cos and -sin of 2 pi f j / L; whole turns are taken off before anything is rounded."""
    turns = 2 * np.pi / length * (np.arange(width)[:, None] * np.arange(kept) % length)
    return np.cos(turns), -np.sin(turns)
