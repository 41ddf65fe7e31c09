"""GeometricHistogram: noise in the shape of one person's influence on a histogram.

Replacing one record moves one unit from one cell to another, so the influence of a person is the hull of {e_i - e_j},
whose norm on sum-zero vectors is d(u) = ||u||_1 / 2. The output z has the public total, and

    P(z | k) = e^(-epsilon d(z - k)) / Z,   Z = sum_i C(m-1, i)^2 q^i / (1 - q)^(m-1),   q = e^-epsilon.

Neighbours have d(k - k') = 1, so by the triangle inequality no output is more than e^epsilon times likelier under one
than under the other: pure epsilon-differential privacy, and tight. With two levels it is two-sided geometric noise.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from discreet.mechanisms.noisy_counts import NoisyCounts
from discreet.noise import ZeroSumLaplace


@dataclass(frozen=True, init=False, repr=False)
class GeometricHistogram(NoisyCounts, kind="GeometricHistogram", version=1):
    """A histogram with little noise that keeps its total: pure epsilon-DP under replacement of one record.

    >>> from discreet.models import Categories
    >>> smoking = Categories("smoking", levels=("never", "former", "current"), outside="never")
    >>> GeometricHistogram(smoking, size=1200, epsilon="0.5").guarantee.epsilon
    Fraction(1, 2)
    """

    reason = "noise of norm ||u||_1/2 on a histogram of known size (triangle inequality)"

    @cached_property
    def noise(self) -> ZeroSumLaplace:
        """Return Laplace noise that sums to zero; moving one record costs two rates."""
        return ZeroSumLaplace((self.epsilon / 2,), self.quantities.blocks)

    @property
    def rho(self) -> Fraction:
        return self.privacy_loss().rho
