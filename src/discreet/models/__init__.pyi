from discreet.models import priors, programs
from discreet.models.bif import read_bif
from discreet.models.binomial import Binomial
from discreet.models.bounded_family import BoundedFamily
from discreet.models.categories import Categories
from discreet.models.events import Cell
from discreet.models.exponential import Exponential
from discreet.models.laplace_scale import LaplaceScale
from discreet.models.linear_regression import InverseGamma, LinearRegression
from discreet.models.model import Model
from discreet.models.modelled_table import ModelledTable
from discreet.models.network import Network
from discreet.models.network_prior import EquivalentSize
from discreet.models.normal_mean import NormalMean
from discreet.models.normal_precision import NormalPrecision
from discreet.models.number_sums import NumberSums
from discreet.models.number_table import NumberTable
from discreet.models.persons import Persons
from discreet.models.poisson import Poisson
from discreet.models.programs import CellModel, Logistic, LogLinear, Multinomial, Program
from discreet.models.readable_family import ReadableFamily
from discreet.models.weighted_sums import WeightedSums
from discreet.models.weights import PersonRows, Weights
from discreet.records import Source
from discreet.records.counting import Statistics

__all__ = [
    "Binomial",
    "BoundedFamily",
    "Categories",
    "Cell",
    "CellModel",
    "EquivalentSize",
    "Exponential",
    "InverseGamma",
    "LaplaceScale",
    "LinearRegression",
    "LogLinear",
    "Logistic",
    "Model",
    "ModelledTable",
    "Multinomial",
    "Network",
    "NormalMean",
    "NormalPrecision",
    "NumberSums",
    "NumberTable",
    "PersonRows",
    "Persons",
    "Poisson",
    "Program",
    "ReadableFamily",
    "Source",
    "Statistics",
    "WeightedSums",
    "Weights",
    "priors",
    "programs",
    "read_bif",
]
