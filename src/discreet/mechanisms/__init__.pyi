from discreet.mechanisms.ball_draw import BallDraw
from discreet.mechanisms.box_moments import BoxMoments
from discreet.mechanisms.cone_moments import ConeMoments
from discreet.mechanisms.contrast_gaussians import ContrastGaussians
from discreet.mechanisms.cube_counts import CubeCounts
from discreet.mechanisms.discrete_gaussian_counts import DiscreteGaussianCounts, DiscreteGaussianHistogram
from discreet.mechanisms.discrete_laplace_counts import DiscreteLaplaceCounts
from discreet.mechanisms.family_gaussians import FamilyGaussians
from discreet.mechanisms.family_histograms import FamilyHistograms
from discreet.mechanisms.fourier_counts import FourierCounts
from discreet.mechanisms.gaussian_moments import GaussianMoments
from discreet.mechanisms.geometric_histogram import GeometricHistogram
from discreet.mechanisms.geometric_sums import GeometricSums
from discreet.mechanisms.group_paths import GroupPaths
from discreet.mechanisms.hellinger import (
    HellingerGlobal,
    HellingerReciprocal,
    HellingerSmooth,
    HellingerSmoothProved,
)
from discreet.mechanisms.hellinger_calibrated import HellingerCalibrated
from discreet.mechanisms.hellinger_law import HellingerMechanism
from discreet.mechanisms.joint_histograms import JointHistograms
from discreet.mechanisms.laplace_moments import LaplaceMoments
from discreet.mechanisms.maximum_posterior import MaximumPosterior
from discreet.mechanisms.mechanism import Mechanism, Sized, sized, with_fields
from discreet.mechanisms.metric_sums import MetricSums
from discreet.mechanisms.network_counts import NetworkCounts
from discreet.mechanisms.network_maximum import NetworkMaximum
from discreet.mechanisms.network_sampling import NetworkSampling
from discreet.mechanisms.noisy_counts import NoisyCounts
from discreet.mechanisms.path_table import PathTable
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.plan import Plan
from discreet.mechanisms.posterior_sampling import PosteriorSampling
from discreet.mechanisms.rate_truncation import RateTruncation
from discreet.mechanisms.total_variation import TotalVariationChoice
from discreet.mechanisms.tree_levels import TreeLevels
from discreet.mechanisms.tree_table import TreeTable
from discreet.mechanisms.two_step_median import TwoStepMedian

__all__ = [
    "BallDraw",
    "BoxMoments",
    "ConeMoments",
    "ContrastGaussians",
    "CubeCounts",
    "DiscreteGaussianCounts",
    "DiscreteGaussianHistogram",
    "DiscreteLaplaceCounts",
    "FamilyGaussians",
    "FamilyHistograms",
    "FourierCounts",
    "GaussianMoments",
    "GeometricHistogram",
    "GeometricSums",
    "GroupPaths",
    "HellingerCalibrated",
    "HellingerGlobal",
    "HellingerMechanism",
    "HellingerReciprocal",
    "HellingerSmooth",
    "HellingerSmoothProved",
    "JointHistograms",
    "LaplaceMoments",
    "MaximumPosterior",
    "Mechanism",
    "MetricSums",
    "NetworkCounts",
    "NetworkMaximum",
    "NetworkSampling",
    "NoisyCounts",
    "PathTable",
    "PermuteAndFlip",
    "Plan",
    "PosteriorSampling",
    "RateTruncation",
    "Sized",
    "TotalVariationChoice",
    "TreeLevels",
    "TreeTable",
    "TwoStepMedian",
    "sized",
    "with_fields",
]
