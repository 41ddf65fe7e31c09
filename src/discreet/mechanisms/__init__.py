"""How noise enters: each mechanism is a conditional distribution P(output | secret statistics)."""

from discreet.mechanisms.additive import NoisyCounts
from discreet.mechanisms.ball_draw import BallDraw
from discreet.mechanisms.box_moments import BoxMoments
from discreet.mechanisms.contrast_gaussians import ContrastGaussians
from discreet.mechanisms.cube_counts import CubeCounts
from discreet.mechanisms.discrete_gaussian_counts import DiscreteGaussianCounts, DiscreteGaussianHistogram
from discreet.mechanisms.discrete_laplace_counts import DiscreteLaplaceCounts
from discreet.mechanisms.family_gaussians import FamilyGaussians
from discreet.mechanisms.family_histograms import FamilyHistograms
from discreet.mechanisms.fourier_counts import FourierCounts
from discreet.mechanisms.fourier_updates import FourierUpdates
from discreet.mechanisms.gaussian_moments import GaussianMoments
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
from discreet.mechanisms.laplace_moments import LaplaceMoments
from discreet.mechanisms.laplace_updates import LaplaceUpdates
from discreet.mechanisms.maximum_posterior import MaximumPosterior
from discreet.mechanisms.mechanism import Mechanism, with_fields
from discreet.mechanisms.network_counts import NetworkCounts
from discreet.mechanisms.network_maximum import NetworkMaximum
from discreet.mechanisms.network_sampling import NetworkSampling
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.plan import Plan
from discreet.mechanisms.posterior_sampling import PosteriorSampling
from discreet.mechanisms.published_laplace import ClampedLaplace, FlooredLaplace, RoundedLaplace, TruncatedLaplace

__all__ = [
    "BallDraw",
    "BoxMoments",
    "ClampedLaplace",
    "ContrastGaussians",
    "CubeCounts",
    "DiscreteGaussianCounts",
    "DiscreteGaussianHistogram",
    "DiscreteLaplaceCounts",
    "FamilyGaussians",
    "FamilyHistograms",
    "FlooredLaplace",
    "FourierCounts",
    "FourierUpdates",
    "GaussianMoments",
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
    "LaplaceMoments",
    "LaplaceUpdates",
    "MaximumPosterior",
    "Mechanism",
    "NetworkCounts",
    "NetworkMaximum",
    "NetworkSampling",
    "NoisyCounts",
    "PermuteAndFlip",
    "Plan",
    "PosteriorSampling",
    "RoundedLaplace",
    "TruncatedLaplace",
    "with_fields",
]
