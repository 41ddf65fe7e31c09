"""What documents of version 1 mean and cost, where a mechanism was calibrated better or its charge found to be less.

A release keeps the law and the charge that it was made with: a ledger that was checked against it stays right. Most
of these are the mechanism as it is, with the privacy loss and the zCDP parameter that version 1 stated, which are above
the exact ones: the worst that a pure epsilon allows, and epsilon^2 / 2 (Bun and Steinke, 2016). Choices have their
first scale, epsilon / (2 Delta), and sums of one column the noise of sums by group.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from discreet.certificates import PrivacyLoss
from discreet.certificates.network_draw import NodeCurve
from discreet.mechanisms.box_moments import BoxMoments
from discreet.mechanisms.cube_counts import CubeCounts
from discreet.mechanisms.family_histograms import FamilyHistograms
from discreet.mechanisms.fourier_counts import FourierCounts
from discreet.mechanisms.geometric_sums import Ends, GeometricSums
from discreet.mechanisms.hellinger_calibrated import HellingerCalibrated
from discreet.mechanisms.joint_histograms import JointHistograms
from discreet.mechanisms.laplace_moments import LaplaceMoments
from discreet.mechanisms.maximum_posterior import TableChoice
from discreet.mechanisms.network_maximum import NetworkChoice
from discreet.mechanisms.network_sampling import NetworkSampling
from discreet.mechanisms.posterior_sampling import PosteriorSampling
from discreet.mechanisms.unit_moves import UnitMoves
from discreet.models.network import Network
from discreet.noise import ZeroSumLaplace
from discreet.noise.losses import added, atoms_of


class WorstOfPure:
    """The charge of any pure epsilon: that of randomised response, and rho = epsilon^2 / 2."""

    epsilon: Fraction

    def privacy_loss(self) -> PrivacyLoss:
        """Return the loss of randomised response, which dominates every pure epsilon."""
        return PrivacyLoss.worst_case(self.epsilon)

    @property
    def rho(self) -> Fraction:
        """Return epsilon^2 / 2."""
        return self.epsilon**2 / 2


class FirstBoxMoments(WorstOfPure, BoxMoments, kind="BoxMoments", version=1):
    """BoxMoments as it was charged at first."""


class FirstLaplaceMoments(WorstOfPure, LaplaceMoments, kind="LaplaceMoments", version=1):
    """LaplaceMoments as it was charged at first."""


class FirstJointHistograms(WorstOfPure, JointHistograms, kind="JointHistograms", version=1):
    """JointHistograms as it was charged at first."""


class FirstFamilyHistograms(FamilyHistograms, kind="FamilyHistograms", version=1):
    """FamilyHistograms as it was charged at first: its exact loss, and a larger rho."""

    @property
    def rho(self) -> Fraction:
        """Return the sum of half the squared epsilons of the tables."""
        return sum((part**2 for part in self.family_epsilons), Fraction(0)) / 2


class FirstCubeCounts(CubeCounts, kind="CubeCounts", version=1):
    """CubeCounts as it was charged at first: as if one record moved the classes and changed inside one at once."""

    def privacy_loss(self) -> PrivacyLoss:
        """Return the class counts' loss and the worst of the features' epsilon, added."""
        features = PrivacyLoss.worst_case(self.feature_epsilon)
        if self.model.target is None:
            return features
        moved = [1, *(0,) * (self.classes - 2), -1]
        classes = ZeroSumLaplace((self.class_epsilon / 2,), (self.classes,)).loss(moved)
        return added([(atoms_of(classes), 1), (atoms_of(features), 1)])

    @property
    def rho(self) -> Fraction:
        """Return (epsilon_c^2 + epsilon_f^2) / 2."""
        return (self.class_epsilon**2 + self.feature_epsilon**2) / 2


@dataclass(frozen=True, init=False, repr=False)
class FirstMaximumPosterior(TableChoice, kind="MaximumPosterior", version=1):
    """MaximumPosterior with the scale epsilon / (2 tanh(R / 4))."""


@dataclass(frozen=True, init=False, repr=False)
class FirstNetworkMaximum(NetworkChoice, kind="NetworkMaximum", version=1):
    """NetworkMaximum with the scale epsilon / (2 tanh(R / 4))."""


class HalfSquares(UnitMoves):
    """The charge of Laplace noise as it was first: half the squared rate of every number that moves."""

    @property
    def rho(self) -> Fraction:
        """Return the largest sum of r^2 / 2 over the numbers that one record moves."""
        return super(UnitMoves, self).rho


class FirstFourierCounts(HalfSquares, FourierCounts, kind="FourierCounts", version=1):
    """FourierCounts as it was charged at first."""


class WholeRecords(Ends):
    """Ends among which records are thought to move wholly, in places and in squares at once."""

    @property
    def move_wholly(self) -> bool:
        """Return True."""
        return True


class FirstGeometricSums(GeometricSums, kind="GeometricSums", version=1):
    """GeometricSums as it was calibrated at first: the epsilons of places and of squares add up to epsilon."""

    @cached_property
    def quantities(self) -> WholeRecords:
        """Return all ends, with the distances of version 1."""
        return WholeRecords(self.model)


class FirstHellingerCalibrated(HellingerCalibrated, kind="HellingerCalibrated", version=1):
    """HellingerCalibrated as it was charged at first."""

    @cached_property
    def rho(self) -> Fraction:
        """Return epsilon^2 / 2 of the pure epsilon."""
        return self.pure_epsilon**2 / 2


class FirstDraws:
    """The charge of draws as they were first: the stated epsilon, whatever the power leaves of it."""

    epsilon: Fraction
    delta: Fraction
    draws: int
    least: Fraction

    @property
    def cost(self) -> Fraction:
        """Return the stated epsilon."""
        return self.epsilon

    @property
    def rho(self) -> Fraction:
        """Return q (R/q)^2 / 8 for pure draws of bounded range, else epsilon^2 / 2 beside delta."""
        return self.epsilon**2 / (8 * self.draws) if self.least else self.epsilon**2 / 2

    @property
    def rho_needs_delta(self) -> bool:
        """Tell whether rho holds up to delta only: for draws that are not truncated."""
        return not self.least


class FirstPosteriorSampling(FirstDraws, PosteriorSampling, kind="PosteriorSampling", version=1):
    """PosteriorSampling as it was charged at first."""


class FirstNetworkSampling(FirstDraws, NetworkSampling, kind="NetworkSampling", version=1):
    """NetworkSampling as it was charged at first: nodes without parents cost as much as others."""

    @staticmethod
    def nodes(model: Network, size: int, draws: int) -> Mapping[NodeCurve, int]:
        """Return for each smallest prior parameter how many independent losses there are with it."""
        smallest = Counter(min(Fraction(value) for value in row) for row in model.prior)
        return {NodeCurve.universal(number): times * draws for number, times in smallest.items()}
