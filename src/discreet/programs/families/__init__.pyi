from discreet.programs.families._binomial import Binomial
from discreet.programs.families._bounded_family import BoundedFamily, total_of
from discreet.programs.families._exponential import Exponential
from discreet.programs.families._laplace_scale import LaplaceScale
from discreet.programs.families._normal_mean import NormalMean
from discreet.programs.families._normal_precision import NormalPrecision
from discreet.programs.families._poisson import Poisson
from discreet.programs.families._posterior import FamilyPosterior
from discreet.programs.families._readable_family import ReadableFamily

__all__ = [
    "Binomial",
    "BoundedFamily",
    "Exponential",
    "FamilyPosterior",
    "LaplaceScale",
    "NormalMean",
    "NormalPrecision",
    "Poisson",
    "ReadableFamily",
    "total_of",
]
