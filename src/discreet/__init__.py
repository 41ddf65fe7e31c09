"""discreet: publish Bayesian posteriors under differential privacy, and read them back honestly.

A mechanism is a conditional distribution P(output | secret statistics). Drawing from it publishes, comparing it
between neighbouring data sets proves the guarantee, and reading it as a likelihood lets the reader infer the truth
behind the noise.
"""

from discreet.columns import Column
from discreet.distributions import BetaMixture, CountDistribution, Dirichlet, Interval, Odds, Sampled
from discreet.divergences import hellinger, kullback_leibler
from discreet.errors import (
    BudgetError,
    DeclarationError,
    DiscreetError,
    DocumentError,
    LedgerError,
    LittleInformationWarning,
    PublishError,
    SecretError,
    SourceError,
    VerificationError,
)
from discreet.guarantees import Adjacency, Budget, Evidence, Guarantee, Ledger, Receipt, Unit
from discreet.inference import CategoriesPosterior, infer, plug_in
from discreet.mechanisms import DiscreteLaplaceCounts, GeometricHistogram, Mechanism
from discreet.models import Categories, Source, Statistics
from discreet.planning import Certificate, verify
from discreet.randomness import RandomBits, SeededBits, SystemBits
from discreet.releases import Release, publish, simulate
from discreet.sources import read
from discreet.study import Question, Study
from discreet.version import __version__

__all__ = [
    "Adjacency",
    "BetaMixture",
    "Budget",
    "BudgetError",
    "Categories",
    "CategoriesPosterior",
    "Certificate",
    "Column",
    "CountDistribution",
    "DeclarationError",
    "Dirichlet",
    "DiscreetError",
    "DiscreteLaplaceCounts",
    "DocumentError",
    "Evidence",
    "GeometricHistogram",
    "Guarantee",
    "Interval",
    "Ledger",
    "LedgerError",
    "LittleInformationWarning",
    "Mechanism",
    "Odds",
    "PublishError",
    "Question",
    "RandomBits",
    "Receipt",
    "Release",
    "Sampled",
    "SecretError",
    "SeededBits",
    "Source",
    "SourceError",
    "Statistics",
    "Study",
    "SystemBits",
    "Unit",
    "VerificationError",
    "__version__",
    "hellinger",
    "infer",
    "kullback_leibler",
    "plug_in",
    "publish",
    "read",
    "simulate",
    "verify",
]
