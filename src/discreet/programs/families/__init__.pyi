from discreet.programs.families._binomial_probability import BinomialProbability
from discreet.programs.families._bounded_family import BoundedFamily, total_of
from discreet.programs.families._exponential_rate import ExponentialRate
from discreet.programs.families._laplace_scale import LaplaceScale
from discreet.programs.families._normal_mean import NormalMean
from discreet.programs.families._normal_precision import NormalPrecision
from discreet.programs.families._poisson_rate import PoissonRate
from discreet.programs.families._posterior import FamilyPosterior
from discreet.programs.families._readable_family import ReadableFamily

__all__ = [
    "BinomialProbability",
    "BoundedFamily",
    "ExponentialRate",
    "FamilyPosterior",
    "LaplaceScale",
    "NormalMean",
    "NormalPrecision",
    "PoissonRate",
    "ReadableFamily",
    "total_of",
]
