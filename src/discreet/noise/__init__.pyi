from discreet.noise.blocks import BlockLaplace, ZeroSumBlocks
from discreet.noise.cone import Cone
from discreet.noise.cube import Cube
from discreet.noise.cut import CutLaw
from discreet.noise.gaussian import Gaussian
from discreet.noise.hung_paths import HungPaths
from discreet.noise.laplace import Laplace
from discreet.noise.laplace_kernel import ZeroSumLaplace
from discreet.noise.moment_body import MomentBody
from discreet.noise.noise import Noise
from discreet.noise.rounded_gaussian import RoundedGaussian
from discreet.noise.shared_radius import SharedRadiusLaplace
from discreet.noise.side_by_side import SideBySide
from discreet.noise.transport import TreeLaplace
from discreet.noise.zero_sum_gaussian import ZeroSumGaussian

__all__ = [
    "BlockLaplace",
    "Cone",
    "Cube",
    "CutLaw",
    "Gaussian",
    "HungPaths",
    "Laplace",
    "MomentBody",
    "Noise",
    "RoundedGaussian",
    "SharedRadiusLaplace",
    "SideBySide",
    "TreeLaplace",
    "ZeroSumBlocks",
    "ZeroSumGaussian",
    "ZeroSumLaplace",
]
