from discreet.noise._averaged import Averaged as Averaged
from discreet.noise._blocks import BlockLaplace, ZeroSumBlocks
from discreet.noise._cone import Cone
from discreet.noise._cube import Cube, cube_radius
from discreet.noise._gaussian import Gaussian, delta_of_moves
from discreet.noise._gaussian import ProductGaussian as ProductGaussian
from discreet.noise._independent import SideBySide
from discreet.noise._laplace import Laplace
from discreet.noise._moment_body import MomentBody
from discreet.noise._moment_body import Terms as Terms
from discreet.noise._noise import DRAWN_NUMBER as DRAWN_NUMBER
from discreet.noise._noise import MARGIN as MARGIN
from discreet.noise._noise import Noise
from discreet.noise._noise import information_of as information_of
from discreet.noise._noise import pieces_of as pieces_of
from discreet.noise._noise import simulated_noise as simulated_noise
from discreet.noise._prefix_sums import HasPrefixSums as HasPrefixSums
from discreet.noise._prefix_sums import PrefixSumNoise
from discreet.noise._radius import RadiusDistribution as RadiusDistribution
from discreet.noise._rounded_gaussian import RoundedGaussian
from discreet.noise._shared_radius import SharedRadiusLaplace
from discreet.noise._star_of_paths import StarOfPathsLaplace
from discreet.noise._structure import Generator as Generator
from discreet.noise._structure import Independent as Independent
from discreet.noise._structure import SharedRadius as SharedRadius
from discreet.noise._structure import TotalPreserving as TotalPreserving
from discreet.noise._structure import TreeStructure as TreeStructure
from discreet.noise._structure import epsilon_weights as epsilon_weights
from discreet.noise._structure import generator_of as generator_of
from discreet.noise._structure import has_density as has_density
from discreet.noise._structure import log_terms as log_terms
from discreet.noise._structure import preserved as preserved
from discreet.noise._structure import product_of as product_of
from discreet.noise._structure import rho_weights as rho_weights
from discreet.noise._structure import tree_of as tree_of
from discreet.noise._summed import laplace_density as laplace_density
from discreet.noise._trace_body import TraceBody
from discreet.noise._tree_laplace import TreeLaplace
from discreet.noise._zero_sum_gaussian import ZeroSumGaussian
from discreet.noise._zero_sum_laplace import ZeroSumLaplace, balanced_noise, histogram_variance, radial_noise
from discreet.noise._zero_sum_laplace import by_block as by_block
from discreet.noise._zero_sum_laplace import starts as starts

__all__ = [
    "BlockLaplace",
    "Cone",
    "Cube",
    "Gaussian",
    "Laplace",
    "MomentBody",
    "Noise",
    "PrefixSumNoise",
    "RoundedGaussian",
    "SharedRadiusLaplace",
    "SideBySide",
    "StarOfPathsLaplace",
    "TraceBody",
    "TreeLaplace",
    "ZeroSumBlocks",
    "ZeroSumGaussian",
    "ZeroSumLaplace",
    "balanced_noise",
    "cube_radius",
    "delta_of_moves",
    "histogram_variance",
    "radial_noise",
]
