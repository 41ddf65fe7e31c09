"""What documents of version 1 of the papers' mechanisms cost: half the squared epsilon, of all or of each number.

They draw and promise what later versions do; only the zCDP parameter was larger than what is proved now.
"""

from fractions import Fraction

from discreet.as_published.fourier_updates import FourierUpdates
from discreet.as_published.laplace_updates import LaplaceUpdates
from discreet.as_published.published_laplace import (
    ClampedLaplace,
    FlooredLaplace,
    PublishedLaplace,
    RoundedLaplace,
    TruncatedLaplace,
)
from discreet.mechanisms.first_charges import HalfSquares


class HalfSquare(PublishedLaplace):
    """The charge of any pure epsilon as it was first."""

    @property
    def rho(self) -> Fraction:
        """Return epsilon^2 / 2 of the pure epsilon."""
        return self.pure_epsilon**2 / 2


class FirstRoundedLaplace(HalfSquare, RoundedLaplace, kind="RoundedLaplace", version=1):
    """RoundedLaplace as it was charged at first."""


class FirstFlooredLaplace(HalfSquare, FlooredLaplace, kind="FlooredLaplace", version=1):
    """FlooredLaplace as it was charged at first."""


class FirstTruncatedLaplace(HalfSquare, TruncatedLaplace, kind="TruncatedLaplace", version=1):
    """TruncatedLaplace as it was charged at first."""


class FirstClampedLaplace(HalfSquare, ClampedLaplace, kind="ClampedLaplace", version=1):
    """ClampedLaplace as it was charged at first."""


class FirstLaplaceUpdates(HalfSquares, LaplaceUpdates, kind="LaplaceUpdates", version=1):
    """LaplaceUpdates as it was charged at first."""


class FirstFourierUpdates(HalfSquares, FourierUpdates, kind="FourierUpdates", version=1):
    """FourierUpdates as it was charged at first."""
