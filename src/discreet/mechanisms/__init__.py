"""How noise enters: each mechanism is a conditional distribution P(output | secret statistics)."""

from discreet.mechanisms.cube_counts import CubeCounts
from discreet.mechanisms.discrete_gaussian_counts import DiscreteGaussianCounts, DiscreteGaussianHistogram
from discreet.mechanisms.discrete_laplace_counts import DiscreteLaplaceCounts
from discreet.mechanisms.family_gaussians import FamilyGaussians
from discreet.mechanisms.family_histograms import FamilyHistograms
from discreet.mechanisms.geometric_histogram import GeometricHistogram
from discreet.mechanisms.hellinger import (
    HellingerGlobal,
    HellingerLocal,
    HellingerReciprocal,
    HellingerSmooth,
    HellingerSmoothProved,
)
from discreet.mechanisms.hellinger_calibrated import HellingerCalibrated
from discreet.mechanisms.hellinger_law import HellingerMechanism
from discreet.mechanisms.hellinger_table import HellingerTable
from discreet.mechanisms.joint_histograms import JointHistograms
from discreet.mechanisms.laplace_updates import LaplaceUpdates
from discreet.mechanisms.mechanism import Mechanism, with_fields
from discreet.mechanisms.network_counts import NetworkCounts, default_mechanism
from discreet.mechanisms.noisy_counts import NoisyCounts
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.plan import Plan
from discreet.mechanisms.published_laplace import ClampedLaplace, FlooredLaplace, RoundedLaplace, TruncatedLaplace

__all__ = [
    "ClampedLaplace",
    "CubeCounts",
    "DiscreteGaussianCounts",
    "DiscreteGaussianHistogram",
    "DiscreteLaplaceCounts",
    "FamilyGaussians",
    "FamilyHistograms",
    "FlooredLaplace",
    "GeometricHistogram",
    "HellingerCalibrated",
    "HellingerGlobal",
    "HellingerLocal",
    "HellingerMechanism",
    "HellingerReciprocal",
    "HellingerSmooth",
    "HellingerSmoothProved",
    "HellingerTable",
    "JointHistograms",
    "LaplaceUpdates",
    "Mechanism",
    "NetworkCounts",
    "NoisyCounts",
    "PermuteAndFlip",
    "Plan",
    "RoundedLaplace",
    "TruncatedLaplace",
    "default_mechanism",
    "with_fields",
]
