from discreet.regression._formula import Formula as Formula
from discreet.regression._formula import Names as Names
from discreet.regression._formula import read_formula as read_formula
from discreet.regression._formula import written as written
from discreet.regression._mechanisms import BoxMoments, ConeMoments, GaussianMoments, LaplaceMoments
from discreet.regression._mechanisms import NoisyMoments as NoisyMoments
from discreet.regression._mechanisms import Wholes as Wholes
from discreet.regression._model import InverseGamma, LinearRegression
from discreet.regression._moments import sum_moments
from discreet.regression._posterior import RegressionPosterior
from discreet.regression._reader_prior import read_regression
from discreet.regression._weighted_mechanisms import BallMoments, GaussianBallMoments
from discreet.regression._weighted_mechanisms import why_unweighted as why_unweighted
from discreet.regression._weighted_model import WeightedRegression
from discreet.regression._weighted_posterior import WeightedRegressionPosterior

__all__ = [
    "BallMoments",
    "BoxMoments",
    "ConeMoments",
    "GaussianBallMoments",
    "GaussianMoments",
    "InverseGamma",
    "LaplaceMoments",
    "LinearRegression",
    "RegressionPosterior",
    "WeightedRegression",
    "WeightedRegressionPosterior",
    "read_regression",
    "sum_moments",
]
