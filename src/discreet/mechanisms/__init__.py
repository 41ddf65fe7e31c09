"""How noise enters: each mechanism is a conditional distribution P(output | secret statistics)."""

from discreet.mechanisms.discrete_gaussian_counts import DiscreteGaussianCounts, DiscreteGaussianHistogram
from discreet.mechanisms.discrete_laplace_counts import DiscreteLaplaceCounts
from discreet.mechanisms.geometric_histogram import GeometricHistogram
from discreet.mechanisms.mechanism import Mechanism, with_fields
from discreet.mechanisms.noisy_counts import NoisyCounts
from discreet.mechanisms.plan import Plan

__all__ = [
    "DiscreteGaussianCounts",
    "DiscreteGaussianHistogram",
    "DiscreteLaplaceCounts",
    "GeometricHistogram",
    "Mechanism",
    "NoisyCounts",
    "Plan",
    "with_fields",
]
