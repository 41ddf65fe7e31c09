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
from discreet.inference import (
    CategoriesPosterior,
    NetworkPosterior,
    PooledRates,
    infer,
    plug_in,
    projected_reading,
    truncated_reading,
)
from discreet.mechanisms import (
    CubeCounts,
    DiscreteGaussianCounts,
    DiscreteGaussianHistogram,
    DiscreteLaplaceCounts,
    FamilyGaussians,
    FamilyHistograms,
    GeometricHistogram,
    JointHistograms,
    LaplaceUpdates,
    Mechanism,
    Plan,
    default_mechanism,
)
from discreet.models import Categories, EquivalentSize, Network, Source, Statistics, read_bif
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
    "CubeCounts",
    "DeclarationError",
    "Dirichlet",
    "DiscreetError",
    "DiscreteGaussianCounts",
    "DiscreteGaussianHistogram",
    "DiscreteLaplaceCounts",
    "DocumentError",
    "EquivalentSize",
    "Evidence",
    "FamilyGaussians",
    "FamilyHistograms",
    "GeometricHistogram",
    "Guarantee",
    "Interval",
    "JointHistograms",
    "LaplaceUpdates",
    "Ledger",
    "LedgerError",
    "LittleInformationWarning",
    "Mechanism",
    "Network",
    "NetworkPosterior",
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
    "default_mechanism",
    "hellinger",
    "infer",
    "kullback_leibler",
    "plug_in",
    "projected_reading",
    "publish",
    "publish_plan",
    "read",
    "read_bif",
    "simulate",
    "truncated_reading",
    "verify",
]
