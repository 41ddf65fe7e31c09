"""What only some posteriors can do, each as a protocol: whoever needs it asks for the protocol, never for a class.

Who asks also refuses, in words, where a posterior does not have it: the command line, the server, charts and pages for
their options, the planner and the ArviZ export by doing without.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet.inference._posterior_sample import Group, PosteriorSample
from discreet.inference._row import SHOWN_LEVEL, ProbabilityDistribution, Row
from discreet.mathematics.distributions import Interval
from discreet.mechanism import Simulated
from discreet.records import Column, Level

if TYPE_CHECKING:
    from discreet.inference._criticism import Criticism
    from discreet.inference._pictures import Distribution, Graph, Intervals


@runtime_checkable
class HasEvents(Protocol):
    """Records have levels: any event has a probability, and a rate in each group of records."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return the columns whose levels make up events."""

    def chance(self, event: str, given: str | None = None, level: float = SHOWN_LEVEL) -> Row:
        """Return P(event), or P(event | given), as a row with its interval."""

    def rates(self, event: str, by: str, level: float = SHOWN_LEVEL) -> tuple[Row, ...]:
        """Return one row for P(event | each level of a column)."""

    def rate_distributions(self, event: str, by: str) -> tuple[ProbabilityDistribution, ...]:
        """Return the distribution of P(event | each level of a column)."""

    def group_sizes(self, by: str, level: float = SHOWN_LEVEL) -> tuple[Interval, ...]:
        """Return an interval for the number of records in each level of a column."""


@runtime_checkable
class HasSynthesis(Protocol):
    """Records can be simulated."""

    def synthesize(self, rows: int, seed: int | None = None) -> dict[str, list[Level]]:
        """Return simulated records, as lists by column."""


@runtime_checkable
class HasGroupComparison(Protocol):
    """Rates of an event in groups can be pooled, and compared by the evidence."""

    def pooled(self, event: str, by: str, patience: float = 1.0) -> Any:
        """Return the posterior of the rates in the levels of a column, partially pooled."""

    def differ(self, event: str, by: str, patience: float = 1.0) -> Any:
        """Return whether the rate of an event differs between the levels of a column."""


@runtime_checkable
class HasStatements(Protocol):
    """A statement in words has a probability."""

    def probability_that(self, what: Any) -> float:
        """Return the probability of a statement such as 'current > 0.3'."""


@runtime_checkable
class HasMargins(Protocol):
    """Columns can be summed out."""

    def margin(self, *columns: str) -> Any:
        """Return the marginal posterior of some columns."""


@runtime_checkable
class HasJointTable(Protocol):
    """Answers come from elsewhere than from one joint posterior of all cells, which exists as well."""

    @property
    def table(self) -> Any:
        """Return the joint posterior of all cells."""


@runtime_checkable
class HasClosestPoint(Protocol):
    """There is a point besides the mean."""

    def closest(self) -> Mapping[Any, float]:
        """Return the point that is expected to lie closest to the truth in total variation, by key."""


@runtime_checkable
class HasBif(Protocol):
    """It is a network that other programs read."""

    def to_bif(self) -> str:
        """Return the network with the expected probabilities, in the Bayesian interchange format."""


@runtime_checkable
class HasPrediction(Protocol):
    """One variable of further records can be predicted from the others."""

    def predictions(
        self, rows: object, target: str | None = None, unknown: Collection[object] = (), level: float = SHOWN_LEVEL
    ) -> Mapping[str, Sequence[object]]:
        """Return predictions of one variable for some records, as named columns with a value for each record."""


@runtime_checkable
class HasCriticism(Protocol):
    """The model makes assumptions that released tables may contradict."""

    def criticise(self, replicates: int = 1_000, seed: int = 0, risk: float = 0.05) -> "Criticism":
        """Check whether the released tables fit the model's assumptions (model criticism)."""


@runtime_checkable
class HasGraph(Protocol):
    """It is about a network."""

    def graph(self, level: float = SHOWN_LEVEL) -> "Graph":
        """Return the graph of the network with its tables."""


@runtime_checkable
class HasDistribution(Protocol):
    """It is about the distribution of a number."""

    def distribution(self, level: float = SHOWN_LEVEL) -> "Distribution | None":
        """Return the distribution for a picture; None if the study did not ask for one."""


@runtime_checkable
class HasIntervalPicture(Protocol):
    """Its intervals are drawn in a way of their own, not as one line for each row."""

    def intervals(self, level: float = SHOWN_LEVEL) -> "Intervals":
        """Return what a picture of the intervals shows."""


@runtime_checkable
class HasRemarks(Protocol):
    """There is more to say about its rows."""

    def remarks(self, level: float = SHOWN_LEVEL) -> tuple[str, ...]:
        """Return further sentences for below the table of rows."""


@runtime_checkable
class HasFacts(Protocol):
    """There are further figures."""

    def facts(self, level: float = SHOWN_LEVEL) -> dict[str, object]:
        """Return further figures for a document, by name."""


@runtime_checkable
class HasSample(Protocol):
    """Draws come by chains, or with the hidden numbers behind the releases."""

    def sample(self, count: int, seed: int | None = None) -> PosteriorSample:
        """Draw the parameters, with the hidden numbers behind the releases where these are drawn too."""


@runtime_checkable
class HasLogLikelihoods(Protocol):
    """The likelihood of a release is not that of its mechanism at the hidden numbers."""

    def log_likelihoods(self, sample: PosteriorSample) -> list[Floats]:
        """Return for every release log P(output | draw) of each draw; refuse in words if it is not known."""


@runtime_checkable
class HasReplicates(Protocol):
    """Further records can be drawn."""

    def replicate(self, sample: PosteriorSample, generator: np.random.Generator) -> Counts:
        """Draw what would be published of as many further records, before noise; refuse in words if unknown."""


@runtime_checkable
class HasPrior(Protocol):
    """The prior can be drawn from."""

    def prior_sample(self, count: int, generator: np.random.Generator) -> PosteriorSample:
        """Draw the parameters from the prior; refuse in words where there is none to draw from."""


@runtime_checkable
class HasFurtherGroups(Protocol):
    """There are further ArviZ groups."""

    def further_groups(self, sample: PosteriorSample) -> dict[str, Group]:
        """Return further groups of numbers to export with draws, by name."""


@runtime_checkable
class HasSomeRows(Protocol):
    """A few rows take less work than all."""

    def some_rows(self, indices: Sequence[int], level: float = SHOWN_LEVEL) -> tuple[Row, ...]:
        """Return only the rows at these positions."""


@runtime_checkable
class HasPlannedFigures(Protocol):
    """Many simulated studies are evaluated together, and densities of the truth are known."""

    @classmethod
    def planned(
        cls, posteriors: Sequence[Any], made: Sequence[Simulated], indices: Sequence[int], level: float
    ) -> Floats:
        """Return figures of some rows of simulated studies of one model (studies, rows, 4), for a plan.

        These are mean and width, and the log density of the truth: of the posterior, and of what exact statistics give.
        """


@runtime_checkable
class HasPlannedFacts(Protocol):
    """A plan has more to tell than widths: of a classifier, how often it is right."""

    def planned_facts(self, made: Simulated, generator: np.random.Generator) -> dict[str, float]:
        """Return further figures of a simulated study for a plan, by name."""


@runtime_checkable
class HasEffectiveSize(Protocol):
    """Draws are not independent, or have weights."""

    @property
    def effective_size(self) -> float:
        """Return how many independent draws the posterior's own are worth, for the worst of all quantities."""


@runtime_checkable
class HasFewerDraws(Protocol):
    """Rows come from draws, and plans make do with fewer."""

    is_rough: bool
    """Whether rows come from fewer draws than `infer` makes."""

    def with_fewer_draws(self) -> Self:
        """Return the same posterior with rows from fewer draws; itself where they would save nothing."""


ANSWERS: Mapping[str, type] = {
    "chance": HasEvents,
    "closest": HasClosestPoint,
    "criticise": HasCriticism,
    "differ": HasGroupComparison,
    "margin": HasMargins,
    "pooled": HasGroupComparison,
    "predictions": HasPrediction,
    "probability_that": HasStatements,
    "rates": HasEvents,
    "synthesize": HasSynthesis,
    "to_bif": HasBif,
}
"""The methods that answer further questions of a reader, and the protocol that each belongs to."""
