"""One coefficient of a product of series, and means under it: what every likelihood of cells comes down to.

Independent whole numbers s_1, ..., s_r have laws w_i (rows), and their sum is known to be t. With F_i the transform of
w_i on a circle of length L, P the product of all F_i and c_f = e^(2 pi i f t / L),

    P(sum = t) = sum_f c_f P_f / L,      E[a(s_i) | sum = t] = sum_f c_f P_f A_if / F_if / (L P(sum = t)),

A_i the transform of w_i a. Functions a are centred first, which keeps the digits. Dividing by a small F_i does no harm,
as the same F_i is a factor of P; one that is exactly zero is avoided by another length.

What wraps around the circle is P(sum = t + L) and so on. By Chernoff's bound, P(sum >= t + L) is at most
e^(-x (t + L)) prod_i E[e^(x s_i)] for every x > 0, and likewise below; the circle is as long as that requires and no
longer. Several tables of the same shape are computed at once, along the first axis.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.fft import next_fast_len

from discreet.arrays import Floats

Spectrum = NDArray[np.complex128]
_AROUND = 44.0  # nats: what wraps around the circle is below 1e-19 of the rest
_RATES = np.array([5.0, 9.0, -5.0, -9.0])  # x of Chernoff's bound, in standard deviations of the sum
_MOST_EXPONENT = 300.0
_TRIES = 12
_SHORT = 600  # transforming this many numbers costs less than finding out whether fewer would do
_NOTHING = 1e-40  # frequencies whose product is this small beside the largest are left out: no factor is below 1e-20


@dataclass(frozen=True, eq=False)
class KnownSum:
    """Independent numbers from 0 on, given that they add up to `total`.

    `weights[b, i]` is the law of number i in table b, and `spreads[b]` the standard deviation of the sum there.
    """

    weights: Floats
    total: int
    spreads: Floats

    def expect(self, values: Floats) -> Floats:
        """Return E[a_i(s_i) | sum] for rows of values a_i(0), a_i(1), ... that have the mean 0 under the weights."""
        ratios = self._transformed(self.weights * values) / self.spectra
        return np.asarray(np.matmul(ratios, self.product[..., None])[..., 0].real / self.scale[:, None])

    def _transformed(self, numbers: Floats) -> Spectrum:
        return np.asarray(np.fft.rfft(numbers, self._length, axis=-1)[..., : self.spectra.shape[-1]])

    @cached_property
    def _length(self) -> int:
        """Return a length of the circle at which nothing wraps around and no transform is zero."""
        return self._found[0]

    @cached_property
    def _found(self) -> tuple[int, Spectrum]:
        _, rows, width = self.weights.shape
        length = rows * (width - 1) + 1  # where nothing at all wraps around
        if length > _SHORT:
            length = min(length, max(width, self._needed()))
        length = int(next_fast_len(length, real=True))
        for _ in range(_TRIES):
            spectra = np.asarray(np.fft.rfft(self.weights, length, axis=-1))
            if spectra.all():
                return length, spectra
            length += 1 + length % 2  # odd: two equal weights vanish at half a turn
        return length, np.where(spectra == 0, 1e-300, spectra)

    def _needed(self) -> int:
        """Return the length that Chernoff's bound requires."""
        width, spread = self.weights.shape[-1], float(self.spreads.max())
        rates = np.sign(_RATES) * np.minimum(np.abs(_RATES) / max(spread, 1e-9), _MOST_EXPONENT / width)
        moments = self.weights @ np.exp(np.arange(width)[:, None] * rates)
        logs = np.log(moments).sum(axis=1) - self.total * rates
        ends = (_AROUND + np.log(width * (1 + 3 * spread)) + logs) / np.abs(rates)
        upper, lower = ends[:, :2].min(axis=1), ends[:, 2:].min(axis=1)
        return int(np.ceil(min(max(float(upper.max()), float(lower.max()), 1.0), 1e9)))

    @cached_property
    def _turned(self) -> Spectrum:
        """Return the product of all transforms, turned to the total; inner frequencies count twice."""
        length, spectra = self._found
        return np.asarray(spectra.prod(axis=1) * _turns(length, self.total))

    @cached_property
    def _kept(self) -> int:
        """Return how many frequencies matter to any of the tables."""
        if self._length <= 2 * _SHORT:
            return int(self._turned.shape[1])
        sizes = np.abs(self._turned)
        matter = (sizes > _NOTHING * sizes.max(axis=1, keepdims=True)).any(axis=0)
        return int(len(matter) - matter[::-1].argmax())

    @cached_property
    def product(self) -> Spectrum:
        """Return the product of all transforms, turned to the total, at the frequencies that matter."""
        return self._turned[:, : self._kept]

    @cached_property
    def spectra(self) -> Spectrum:
        """Return the transform of every row at the frequencies that matter."""
        return self._found[1][..., : self._kept]

    @cached_property
    def scale(self) -> Floats:
        """Return the probability of the total, times the length."""
        return np.asarray(self.product.real.sum(axis=1))

    @property
    def mass(self) -> Floats:
        """Return the probability of the total; zero or less where rounding destroyed it."""
        return self.scale / self._length

    def covariance_times(self, steps: Floats, vector: Floats) -> Floats:
        """Return Cov[s | sum] v, for `steps` counted from their means: O(rows x length), without any matrix."""
        first = self._transformed(self.weights * steps) / self.spectra
        second = self._transformed(self.weights * steps**2) / self.spectra
        along = (vector[:, None] * first).sum(axis=1, keepdims=True)
        both = self.product[:, None] * (first * along + vector[:, None] * (second - first**2))
        shift = (self.product[:, None] * first).real.sum(axis=-1) / self.scale[:, None]
        return np.asarray(both.real.sum(axis=-1) / self.scale[:, None] - shift * (shift @ vector)[:, None])


@lru_cache(maxsize=64)
def _turns(length: int, total: int) -> Spectrum:
    """Return e^(2 pi i f t / L) for all frequencies of real numbers; inner ones count twice."""
    turned = np.exp(2j * np.pi / length * (np.arange(length // 2 + 1) * total % length))
    turned[1:] *= 2.0
    if length % 2 == 0:
        turned[-1] /= 2.0
    turned.setflags(write=False)
    return np.asarray(turned)
