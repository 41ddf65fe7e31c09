# `__all__` is the front door: what a newcomer needs. The rest is in rooms, such as `discreet.mechanisms`, which come
# first. What is imported `as` itself from a room is a name of 0.1 that has moved there: it can still be asked for here,
# and is listed no more.
from discreet import as_published as as_published
from discreet import certificates as certificates
from discreet import errors as errors
from discreet import guarantees as guarantees
from discreet import inference as inference
from discreet import mathematics as mathematics
from discreet import mechanisms as mechanisms
from discreet import models as models
from discreet import noise as noise
from discreet import planning as planning
from discreet import randomness as randomness
from discreet import records as records
from discreet.as_published import ClampedLaplace as ClampedLaplace
from discreet.as_published import FlooredLaplace as FlooredLaplace
from discreet.as_published import FourierUpdates as FourierUpdates
from discreet.as_published import HellingerLocal as HellingerLocal
from discreet.as_published import HellingerTable as HellingerTable
from discreet.as_published import LaplaceUpdates as LaplaceUpdates
from discreet.as_published import RoundedLaplace as RoundedLaplace
from discreet.as_published import TruncatedLaplace as TruncatedLaplace
from discreet.as_published import adaptive_ridge as adaptive_ridge
from discreet.as_published import plug_in as plug_in
from discreet.as_published import plug_in_regression as plug_in_regression
from discreet.as_published import projected_reading as projected_reading
from discreet.as_published import truncated_reading as truncated_reading
from discreet.certificates.posterior_draw import posterior_draw_delta as posterior_draw_delta
from discreet.client import Client
from discreet.errors import (
    BudgetError,
    DeclarationError,
    DiscreetError,
    DocumentError,
    LedgerError,
    PublishError,
    SecretError,
    SourceError,
    VerificationError,
)
from discreet.errors import ConvergenceWarning as ConvergenceWarning
from discreet.errors import LittleInformationWarning as LittleInformationWarning
from discreet.errors import MisfitWarning as MisfitWarning
from discreet.guarantees import Accountant, Budget, Guarantee, Ledger, Unit, compose
from discreet.guarantees import Adjacency as Adjacency
from discreet.guarantees import Concentrated as Concentrated
from discreet.guarantees import Evidence as Evidence
from discreet.guarantees import Receipt as Receipt
from discreet.guarantees import Totals as Totals
from discreet.guarantees import across_groups as across_groups
from discreet.inference import CategoriesPosterior as CategoriesPosterior
from discreet.inference import ConsistentTables as ConsistentTables
from discreet.inference import FamilyPosterior as FamilyPosterior
from discreet.inference import Likelihood as Likelihood
from discreet.inference import Likelihoods as Likelihoods
from discreet.inference import ModelPosterior as ModelPosterior
from discreet.inference import NetworkPosterior as NetworkPosterior
from discreet.inference import NumberSumsPosterior as NumberSumsPosterior
from discreet.inference import NumberTablePosterior as NumberTablePosterior
from discreet.inference import PooledRates as PooledRates
from discreet.inference import RegressionPosterior as RegressionPosterior
from discreet.inference import consistent_tables as consistent_tables
from discreet.inference import infer
from discreet.mathematics import distributions as distributions
from discreet.mathematics import divergences as divergences
from discreet.mathematics.distributions import BetaMixture as BetaMixture
from discreet.mathematics.distributions import CountDistribution as CountDistribution
from discreet.mathematics.distributions import Dirichlet as Dirichlet
from discreet.mathematics.distributions import Interval as Interval
from discreet.mathematics.distributions import Odds as Odds
from discreet.mathematics.distributions import Sampled as Sampled
from discreet.mathematics.divergences import hellinger as hellinger
from discreet.mathematics.divergences import hockey_stick as hockey_stick
from discreet.mathematics.divergences import kullback_leibler as kullback_leibler
from discreet.mathematics.divergences import l1_distance as l1_distance
from discreet.mathematics.divergences import total_variation as total_variation
from discreet.mechanisms import BallDraw as BallDraw
from discreet.mechanisms import BoxMoments as BoxMoments
from discreet.mechanisms import ContrastGaussians as ContrastGaussians
from discreet.mechanisms import CubeCounts as CubeCounts
from discreet.mechanisms import DiscreteGaussianCounts as DiscreteGaussianCounts
from discreet.mechanisms import DiscreteGaussianHistogram as DiscreteGaussianHistogram
from discreet.mechanisms import DiscreteLaplaceCounts as DiscreteLaplaceCounts
from discreet.mechanisms import FamilyGaussians as FamilyGaussians
from discreet.mechanisms import FamilyHistograms as FamilyHistograms
from discreet.mechanisms import FourierCounts as FourierCounts
from discreet.mechanisms import GaussianMoments as GaussianMoments
from discreet.mechanisms import GeometricHistogram, Mechanism, Plan
from discreet.mechanisms import GeometricSums as GeometricSums
from discreet.mechanisms import GroupPaths as GroupPaths
from discreet.mechanisms import HellingerCalibrated as HellingerCalibrated
from discreet.mechanisms import HellingerGlobal as HellingerGlobal
from discreet.mechanisms import HellingerReciprocal as HellingerReciprocal
from discreet.mechanisms import HellingerSmooth as HellingerSmooth
from discreet.mechanisms import HellingerSmoothProved as HellingerSmoothProved
from discreet.mechanisms import JointHistograms as JointHistograms
from discreet.mechanisms import LaplaceMoments as LaplaceMoments
from discreet.mechanisms import MaximumPosterior as MaximumPosterior
from discreet.mechanisms import MetricSums as MetricSums
from discreet.mechanisms import NetworkMaximum as NetworkMaximum
from discreet.mechanisms import NetworkSampling as NetworkSampling
from discreet.mechanisms import PathTable as PathTable
from discreet.mechanisms import PermuteAndFlip as PermuteAndFlip
from discreet.mechanisms import PosteriorSampling as PosteriorSampling
from discreet.mechanisms import RateTruncation as RateTruncation
from discreet.mechanisms import TreeLevels as TreeLevels
from discreet.mechanisms import TreeTable as TreeTable
from discreet.mechanisms import TwoStepMedian as TwoStepMedian
from discreet.models import Binomial as Binomial
from discreet.models import BoundedFamily as BoundedFamily
from discreet.models import (
    Categories,
    EquivalentSize,
    Exponential,
    LinearRegression,
    Network,
    NormalMean,
    Poisson,
    Source,
    Statistics,
)
from discreet.models import CellModel as CellModel
from discreet.models import InverseGamma as InverseGamma
from discreet.models import LaplaceScale as LaplaceScale
from discreet.models import Logistic as Logistic
from discreet.models import LogLinear as LogLinear
from discreet.models import ModelledTable as ModelledTable
from discreet.models import Multinomial as Multinomial
from discreet.models import NormalPrecision as NormalPrecision
from discreet.models import NumberSums as NumberSums
from discreet.models import NumberTable as NumberTable
from discreet.models import PersonRows as PersonRows
from discreet.models import Persons as Persons
from discreet.models import WeightedSums as WeightedSums
from discreet.models import Weights as Weights
from discreet.models import priors as priors
from discreet.models import programs as programs
from discreet.models import read_bif as read_bif
from discreet.planning import Audit as Audit
from discreet.planning import Certificate as Certificate
from discreet.planning import Optimum as Optimum
from discreet.planning import Ranking as Ranking
from discreet.planning import Suggestion as Suggestion
from discreet.planning import accuracy, audit, compare, suggest, verify
from discreet.planning import minimax_optimum as minimax_optimum
from discreet.planning import optimum as optimum
from discreet.randomness import RandomBits as RandomBits
from discreet.randomness import SeededBits
from discreet.randomness import SystemBits as SystemBits
from discreet.records import read
from discreet.records.columns import Column
from discreet.releases import Release, publish, publish_plan, simulate
from discreet.session import QuerySession
from discreet.study import Question, Study
from discreet.version import __version__

__all__ = [
    "Accountant",
    "Budget",
    "BudgetError",
    "Categories",
    "Client",
    "Column",
    "DeclarationError",
    "DiscreetError",
    "DocumentError",
    "EquivalentSize",
    "Exponential",
    "GeometricHistogram",
    "Guarantee",
    "Ledger",
    "LedgerError",
    "LinearRegression",
    "Mechanism",
    "Network",
    "NormalMean",
    "Plan",
    "Poisson",
    "PublishError",
    "QuerySession",
    "Question",
    "Release",
    "SecretError",
    "SeededBits",
    "Source",
    "SourceError",
    "Statistics",
    "Study",
    "Unit",
    "VerificationError",
    "__version__",
    "accuracy",
    "audit",
    "compare",
    "compose",
    "infer",
    "publish",
    "publish_plan",
    "read",
    "simulate",
    "suggest",
    "verify",
]
