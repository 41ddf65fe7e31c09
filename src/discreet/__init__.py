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
from discreet.guarantees import (
    Accountant,
    Adjacency,
    Budget,
    Concentrated,
    Evidence,
    Guarantee,
    Ledger,
    Receipt,
    Totals,
    Unit,
    across_groups,
    compose,
)
from discreet.inference import CategoriesPosterior, PooledRates, infer, plug_in
from discreet.mechanisms import (
    DiscreteGaussianCounts,
    DiscreteGaussianHistogram,
    DiscreteLaplaceCounts,
    GeometricHistogram,
    Mechanism,
    Plan,
)
from discreet.models import Categories, Source, Statistics
from discreet.planning import Certificate, verify
from discreet.randomness import RandomBits, SeededBits, SystemBits
from discreet.releases import Release, publish, publish_plan, simulate
from discreet.sources import read
from discreet.study import Question, Study
from discreet.version import __version__

__all__ = [
    "Accountant",
    "Adjacency",
    "BetaMixture",
    "Budget",
    "BudgetError",
    "Categories",
    "CategoriesPosterior",
    "Certificate",
    "Column",
    "Concentrated",
    "CountDistribution",
    "DeclarationError",
    "Dirichlet",
    "DiscreetError",
    "DiscreteGaussianCounts",
    "DiscreteGaussianHistogram",
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
    "Plan",
    "PooledRates",
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
    "Totals",
    "Unit",
    "VerificationError",
    "__version__",
    "across_groups",
    "compose",
    "hellinger",
    "infer",
    "kullback_leibler",
    "plug_in",
    "publish",
    "publish_plan",
    "read",
    "simulate",
    "verify",
]
