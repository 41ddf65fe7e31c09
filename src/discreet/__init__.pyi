# `__all__` is the front door: what a newcomer needs. The rest is in rooms, such as `discreet.mechanisms`, which come
# first.
from discreet import errors as errors
from discreet import guarantees as guarantees
from discreet import inference as inference
from discreet import mechanisms as mechanisms
from discreet import models as models
from discreet import noise as noise
from discreet import planning as planning
from discreet.client import Client
from discreet.errors import (
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
    VerificationError,
)
from discreet.guarantees import Accountant, Budget, Guarantee, Ledger, Unit, compose
from discreet.inference import infer
from discreet.mechanisms import (
    ConeMoments,
    CubeCounts,
    FamilyHistograms,
    GeometricHistogram,
    GeometricSums,
    Mechanism,
    Plan,
    PosteriorSampling,
    TreeTable,
)
from discreet.models import (
    Categories,
    CellModel,
    EquivalentSize,
    Exponential,
    LinearRegression,
    Logistic,
    Network,
    NormalMean,
    NumberSums,
    NumberTable,
    Persons,
    Poisson,
    Source,
    Statistics,
    WeightedSums,
    Weights,
    read_bif,
)
from discreet.planning import accuracy, audit, compare, suggest, verify
from discreet.randomness import SeededBits, SystemBits
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
    "CellModel",
    "Client",
    "Column",
    "ConeMoments",
    "ConvergenceWarning",
    "CubeCounts",
    "DeclarationError",
    "DiscreetError",
    "DocumentError",
    "EquivalentSize",
    "Exponential",
    "FamilyHistograms",
    "GeometricHistogram",
    "GeometricSums",
    "Guarantee",
    "Ledger",
    "LedgerError",
    "LinearRegression",
    "LittleInformationWarning",
    "Logistic",
    "Mechanism",
    "MisfitWarning",
    "Network",
    "NormalMean",
    "NumberSums",
    "NumberTable",
    "Persons",
    "Plan",
    "Poisson",
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
    "SystemBits",
    "TreeTable",
    "Unit",
    "VerificationError",
    "WeightedSums",
    "Weights",
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
