# `__all__` lists what most studies need. The rest is in the folders that are imported first, such as `discreet.tables`.
from discreet import choices as choices
from discreet import draws as draws
from discreet import inference as inference
from discreet import ledger as ledger
from discreet import mechanism as mechanism
from discreet import networks as networks
from discreet import noise as noise
from discreet import numbers as numbers
from discreet import planning as planning
from discreet import privacy as privacy
from discreet import programs as programs
from discreet import publishing as publishing
from discreet import regression as regression
from discreet import report as report
from discreet import synthesis as synthesis
from discreet import tables as tables
from discreet import verification as verification
from discreet._core.errors import (
    BudgetError,
    ConvergenceWarning,
    DeclarationError,
    DiscreetError,
    DocumentError,
    LedgerError,
    LittleInformationWarning,
    MisfitWarning,
    PriorOutweighsWarning,
    PublishError,
    SecretError,
    SourceError,
    UncalibratedDrawsWarning,
    VerificationError,
)
from discreet._core.version import __version__
from discreet.draws import PosteriorSampling
from discreet.inference import infer
from discreet.ledger import Ledger
from discreet.mechanism import Mechanism, Plan
from discreet.networks import CubeCounts, CubeTables, EquivalentSize, FamilyHistograms, Network, read_bif
from discreet.noise.randomness import SeededBits, SystemBits
from discreet.numbers import (
    BlockTable,
    CubeSums,
    GeometricSums,
    LaplaceSums,
    NumberQuantiles,
    NumberSums,
    NumberTable,
    Persons,
    TreeTable,
    WeightedSums,
    Weights,
)
from discreet.planning import accuracy, compare, suggest
from discreet.privacy import Accountant, Budget, Guarantee, Unit, compose
from discreet.programs import CellModel, Logistic
from discreet.programs.families import ExponentialRate, NormalMean, PoissonRate
from discreet.publishing import QuerySession, publish, publish_plan, simulate
from discreet.records import Column, Derived, Source, Statistics, Where, read
from discreet.regression import BallMoments, ConeMoments, LinearRegression, WeightedRegression
from discreet.release import Release
from discreet.server import Client
from discreet.study import Question, Study
from discreet.synthesis import PairGaussians, Synthesis
from discreet.tables import Categories, GeometricHistogram, LaplaceTable
from discreet.verification import audit, verify

__all__ = [
    "Accountant",
    "BallMoments",
    "BlockTable",
    "Budget",
    "BudgetError",
    "Categories",
    "CellModel",
    "Client",
    "Column",
    "ConeMoments",
    "ConvergenceWarning",
    "CubeCounts",
    "CubeSums",
    "CubeTables",
    "DeclarationError",
    "Derived",
    "DiscreetError",
    "DocumentError",
    "EquivalentSize",
    "ExponentialRate",
    "FamilyHistograms",
    "GeometricHistogram",
    "GeometricSums",
    "Guarantee",
    "LaplaceSums",
    "LaplaceTable",
    "Ledger",
    "LedgerError",
    "LinearRegression",
    "LittleInformationWarning",
    "Logistic",
    "Mechanism",
    "MisfitWarning",
    "Network",
    "NormalMean",
    "NumberQuantiles",
    "NumberSums",
    "NumberTable",
    "PairGaussians",
    "Persons",
    "Plan",
    "PoissonRate",
    "PosteriorSampling",
    "PriorOutweighsWarning",
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
    "Synthesis",
    "SystemBits",
    "TreeTable",
    "UncalibratedDrawsWarning",
    "Unit",
    "VerificationError",
    "WeightedRegression",
    "WeightedSums",
    "Weights",
    "Where",
    "__version__",
    "accuracy",
    "audit",
    "compare",
    "compose",
    "infer",
    "publish",
    "publish_plan",
    "read",
    "read_bif",
    "simulate",
    "suggest",
    "verify",
]
