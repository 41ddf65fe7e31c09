"""The privacy cost of draws from a posterior: the smallest epsilon that is proved for the power in use.

The power of the likelihood is at most 1. If even that costs less than the stated epsilon, or if a smaller power was
chosen, the charge is what the draws cost, rounded up, and not the stated epsilon.
"""

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import ClassVar

from discreet.exact import rounded_up
from discreet.guarantees.guarantee import Guarantee
from discreet.guarantees.zcdp import pure_rho


class DrawCosts(ABC):
    """The guarantee and zCDP parameter of `draws` draws: pure if probabilities have a `least`, else with a delta."""

    why_private: ClassVar[str]
    """Why the guarantee of draws that are not truncated holds."""
    epsilon: Fraction
    delta: Fraction
    draws: int
    least: Fraction

    @property
    @abstractmethod
    def loss_range(self) -> Fraction:
        """Return q tau R, the cost of truncated draws, rounded up."""

    @property
    @abstractmethod
    def least_epsilon(self) -> Fraction:
        """Return the least certified epsilon at the stated delta, of draws that are not truncated."""

    @property
    def gaussian_rho(self) -> Fraction | None:
        """Return the zCDP parameter if the draws follow normal laws of one variance; else None."""
        return None

    @property
    def cost(self) -> Fraction:
        """Return the epsilon that is charged: the stated one, or less if the draws do not use all of it."""
        return min(self.epsilon, rounded_up(self.loss_range, 6)) if self.least else self.least_epsilon

    @property
    def guarantee(self) -> Guarantee:
        """Return what the draws cost at the stated delta."""
        why = "bounded likelihood ratio of a truncated posterior" if self.least else self.why_private
        return Guarantee(self.cost, self.delta, reason=f"{why}, {self.draws} drawn")

    @property
    def rho(self) -> Fraction:
        """Return the zCDP cost: q (R/q)^2 / 8 for pure draws of bounded range, q mu^2 / 2 for draws of a normal law.

        For all others it is the rho of epsilon, up to delta: (epsilon, delta)-DP is pure except on an event of
        probability delta (Kairouz, Oh and Viswanath, 2015).
        """
        if not self.least:
            return self.gaussian_rho or pure_rho(self.cost)
        each = self.cost / self.draws
        return self.draws * min(each**2 / 8, pure_rho(each))

    def rho_delta(self) -> Fraction:
        """Return delta for draws that are neither truncated nor normal; for these rho holds without one."""
        return self.delta if not self.least and self.gaussian_rho is None else Fraction(0)
