"""A Gaussian distribution cut off at a ball, and exact draws from it.

The density is ~ e^(-w'Aw/2 + v'w) on ||w|| <= B: the posterior of a linear regression whose prior is cut off at B.
Draws come from the Gaussian with precision A + kappa I and shift v; those inside the ball are kept with probability
e^(-kappa (B^2 - ||w||^2)/2). Every kappa >= 0 gives exactly the same distribution. Among all kappa, draws are kept most
often where E ||w||^2 = B^2 under the proposal, or at kappa = 0 if that expectation is already smaller: the log of the
rate is concave in kappa, and this is where its derivative vanishes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError
from discreet.mathematics import root

_BATCH = 256


def _root(excess: Callable[[float], float], unit: float) -> float:
    """Return where a falling function of a positive number crosses zero, or nearly zero if it never is above it.

    The unit is the natural size of that number: what is small is judged against it, as the tolerance is absolute.
    """
    high = 1.0
    while excess(high * unit) > 0:
        high *= 4
    low = 1e-12 * high
    return unit * (root(lambda share: excess(share * unit), low, high) if excess(low * unit) > 0 else low)


@dataclass(frozen=True, eq=False)
class TruncatedGaussian:
    """The Gaussian with precision A and shift v = A mean, restricted to the ball of this radius."""

    precision: Floats
    shift: Floats
    radius: float

    def __post_init__(self) -> None:
        d = len(self.shift)
        if self.precision.shape != (d, d) or not np.allclose(self.precision, self.precision.T):
            raise DeclarationError(
                f"The precision must be a symmetric matrix with {d} rows, one for each entry of the shift."
            )
        if not self.radius > 0 or self._eigenvalues[0] < -1e-9 * max(1.0, self._eigenvalues[-1]):
            raise DeclarationError("The radius must be above 0, and the precision must be positive semidefinite.")

    @cached_property
    def _spectrum(self) -> tuple[Floats, Floats]:
        values, vectors = np.linalg.eigh(self.precision)
        return values, vectors

    @property
    def _eigenvalues(self) -> Floats:
        return self._spectrum[0]

    @cached_property
    def _turned(self) -> Floats:
        """Return the shift in the directions of the eigenvectors."""
        return np.asarray(self._spectrum[1].T @ self.shift)

    def _expected_square(self, kappa: float) -> float:
        """Return E ||w||^2 of the proposal: tr (A + kappa I)^-1 + ||(A + kappa I)^-1 v||^2."""
        widths = 1 / (np.maximum(self._eigenvalues, 0) + kappa)
        return float(widths.sum() + np.square(widths * self._turned).sum())

    @cached_property
    def kappa(self) -> float:
        """Return the kappa at which draws are kept most often."""
        target = self.radius**2
        if self._eigenvalues[0] > 0 and self._expected_square(0.0) <= target:
            return 0.0
        return _root(lambda kappa: self._expected_square(kappa) - target, 1 / target)

    @property
    def mode(self) -> Floats:
        """Return the most probable point: the mean if it lies in the ball, else the closest point in the norm of A."""
        if self._eigenvalues[0] > 0 and np.linalg.norm(self._turned / self._eigenvalues) <= self.radius:
            return np.asarray(self._spectrum[1] @ (self._turned / self._eigenvalues))

        def excess(push: float) -> float:
            return float(np.linalg.norm(self._turned / (np.maximum(self._eigenvalues, 0) + push)) - self.radius)

        push = _root(excess, self.radius**-2)
        return np.asarray(self._spectrum[1] @ (self._turned / (np.maximum(self._eigenvalues, 0) + push)))

    def log_kernel(self, w: Floats) -> Floats:
        """Return -w'Aw/2 + v'w inside the ball, minus infinity outside: the log density up to a constant."""
        inside = np.square(w).sum(axis=-1) <= self.radius**2
        values = -0.5 * np.einsum("...i,ij,...j->...", w, self.precision, w) + w @ self.shift
        return np.where(inside, values, -np.inf)

    def _tries(self, count: int, generator: np.random.Generator) -> tuple[Floats, NDArray[np.bool_]]:
        """Return proposals, and which of them are kept."""
        widths = 1 / (np.maximum(self._eigenvalues, 0) + self.kappa)
        turned = widths * self._turned + np.sqrt(widths) * generator.standard_normal((count, len(self.shift)))
        room = self.radius**2 - np.square(turned).sum(axis=1)
        chances = np.where(room >= 0, np.exp(-0.5 * self.kappa * np.maximum(room, 0)), 0.0)
        return turned @ self._spectrum[1].T, generator.random(count) < chances

    def sample(self, count: int, generator: np.random.Generator) -> Floats:
        """Draw independent points (rows) from exactly this distribution, up to the rounding of floats."""
        kept = np.zeros((0, len(self.shift)))
        while len(kept) < count:
            points, keep = self._tries(max(_BATCH, 2 * (count - len(kept))), generator)
            kept = np.concatenate([kept, points[keep]])
        return kept[:count]

    def acceptance(self, tries: int, generator: np.random.Generator) -> float:
        """Return the share of proposals that are kept, by simulation."""
        return float(self._tries(tries, generator)[1].mean())
