"""Independent Gaussian noise, rounded: real normal numbers, drawn exactly and then made whole.

z = s + round(N(0, v)) with whole s is the rounding of s + N(0, v), so it costs what continuous Gaussian noise costs,
and its exact curve is known (`certificates.gaussian_curve`), however many numbers move and however far. Seen from
outside this is whole-number noise with P(u) = Phi((u + 1/2) / sd) - Phi((u - 1/2) / sd). Rounding adds 1/12 to the
variance.
"""

from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr

from discreet._core.arrays import Counts, Floats
from discreet._core.exact import ball
from discreet.noise._gaussian import ProductGaussian
from discreet.noise.randomness import LazyUniforms, RandomBits, decided, normals, rounded
from discreet.privacy import PrivacyLoss, curve_loss

_WIDE = 1e3  # standard deviations from which the mean over a cell is the density and one term more, to 1e-9


class RoundedGaussian(ProductGaussian):
    """Rounded Gaussian noise, one variance for each block of numbers.

    >>> RoundedGaussian((Fraction(4),), (3,)).privacy_loss([1, 0, -1]).rho
    Fraction(1, 4)
    """

    def sample(self, rows: int, bits: RandomBits) -> Counts:
        return np.array([self._row(bits) for _ in range(rows)], dtype=np.int64).reshape(rows, self.length)

    def _row(self, bits: RandomBits) -> list[int]:
        uniforms = LazyUniforms(2 * -(-self.length // 2), bits)
        return decided(lambda: self._rounded(uniforms), [uniforms])

    def _rounded(self, uniforms: LazyUniforms) -> list[int] | None:
        """Return sqrt(v) times normal numbers, rounded; nothing if one of them is not decided."""
        pairs = zip(self.variances, self.sizes, strict=True)
        roots = [ball(variance).sqrt() for variance, size in pairs for _ in range(size)]
        found = [rounded(root * normal) for root, normal in zip(roots, normals(uniforms.enclosed()), strict=False)]
        return None if None in found else [number for number in found if number is not None]

    @property
    def log_normaliser(self) -> float:
        """Return 0: the kernel is the probability itself."""
        return 0.0

    @cached_property
    def variance(self) -> Floats:
        """Return v + 1/12."""
        return self.number_variances + 1 / 12

    def log_terms(self, noise: ArrayLike, indices: ArrayLike | None = None) -> Floats:
        """Return ln(Phi((u + 1/2) / sd) - Phi((u - 1/2) / sd)); of wide noise by the density in the middle of the cell.

        The mean of the density over a cell is phi(x) (1 + (x^2 - 1) / (24 v) + ...), x = u / sd.
        """
        variances = self.number_variances if indices is None else self.number_variances[np.asarray(indices)]
        far, sd = np.broadcast_arrays(np.abs(np.asarray(noise, dtype=float)), np.sqrt(variances))
        squares = np.square(far / sd)
        term = np.where(sd > _WIDE, (squares - 1) / (24 * sd**2), 0.0)
        wide = -squares / 2 - np.log(sd) - np.log(2 * np.pi) / 2 + np.log1p(term)
        with np.errstate(divide="ignore"):
            near, beyond = log_ndtr((0.5 - far) / sd), log_ndtr((-0.5 - far) / sd)
            narrow = near + np.log(-np.expm1(np.minimum(beyond - near, 0.0)))
        return np.asarray(np.where(sd > _WIDE, wide, narrow))

    def log_kernel(self, noise: ArrayLike) -> Floats:
        return np.asarray(self.log_terms(noise).sum(axis=-1))

    def _curve(self, change: Counts) -> PrivacyLoss:
        """Return the loss of the exact Gaussian curve, m^2 = 2 rho, bounded from above between its points."""
        rho = self._rho(change)
        return curve_loss(2 * rho, rho) if rho else PrivacyLoss((Fraction(0),), (1.0,))

    def from_normals(self, normals: ArrayLike) -> Floats:
        """Return x sqrt(v)."""
        return np.asarray(normals, dtype=float) * np.sqrt(self.number_variances)
