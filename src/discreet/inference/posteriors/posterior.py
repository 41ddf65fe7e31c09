"""What every posterior is: named rows with intervals, named draws, and words about how it was read.

Screens, files, pictures, statements, data frames and notebooks are written once, on these; what only one kind of model
can answer (a ratio of probabilities, a forecast) is a method of its own class.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import nan
from pathlib import Path
from typing import Any, ClassVar, Generic, Self

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.errors import DeclarationError
from discreet.inference.posteriors.account import Account
from discreet.inference.posteriors.frames import frame_of
from discreet.inference.posteriors.named_laws import SHOWN_LEVEL as SHOWN_LEVEL
from discreet.inference.posteriors.pictures import Distribution, Graph, Intervals
from discreet.inference.posteriors.row import STAR, Law, Row
from discreet.inference.posteriors.shown import MOST_IN_A_NOTEBOOK, heading_of, intervals_of, notebook_of, screen_of
from discreet.inference.posteriors.states import States
from discreet.inference.posteriors.travelling import likelihoods_of, travelling
from discreet.inference.posteriors.trees import Group, data_tree, write_netcdf
from discreet.inference.verdicts import Criticism
from discreet.kinds import POSTERIORS
from discreet.mathematics.distributions import Interval
from discreet.mechanisms.evidence import forced_prior
from discreet.models.model import ModelT, Simulated, columns_of_levels
from discreet.notebook import Shown, with_picture
from discreet.records.columns import Column
from discreet.releases.release import Release

_DRAWS = 4_000


def posterior_of(reading: type) -> Callable[..., Any]:
    """Return the posterior that shows readings of a kind."""
    for kind in reading.__mro__:
        if kind not in Posterior.registered and (home := POSTERIORS.get(f"{kind.__module__}.{kind.__name__}")):
            import_module(home)
        if kind in Posterior.registered:
            return Posterior.registered[kind]
    raise DeclarationError(f"No posterior shows a {reading.__name__}. Nothing was read.")


def require_posterior(given: object, undone: str) -> None:
    """Refuse anything but a posterior, such as a release that has not been read yet."""
    if not isinstance(given, Posterior):
        raise DeclarationError(
            f"This takes a posterior, as discreet.infer returns for a release; got a {type(given).__name__}. {undone}."
        )


@dataclass(eq=False, repr=False)
class Posterior(Shown, ABC, Generic[ModelT]):
    """What a reader knows once the noise is accounted for: the interface that all posteriors share.

    `model` holds the reader's prior, `releases` are those that were read, and `size` is their number of records.
    """

    registered: ClassVar[dict[type, Callable[..., Any]]] = {}
    """Which posterior shows readings of a kind; one registers by `class NewPosterior(Posterior[NewModel], shows=...)`.

    It is made of the model, the releases, and one reading for each strength of the prior. Its type is the one that the
    model names.
    """
    is_information_at_hand: ClassVar[bool] = False
    """Whether `information` takes no further work: then a reader is warned at once if there is little."""
    subject: ClassVar[str]
    """What it is about, in words: 'a table of categories'."""
    answers: ClassVar[frozenset[str]] = frozenset()
    """Its methods that answer further questions, about events and made-up records; others refuse them."""

    model: ModelT
    releases: tuple[Release[ModelT], ...]
    size: int
    is_rough = False
    """Whether rows come from fewer draws than `infer` makes: see `roughly`."""
    own_records = 0
    """How many records of the reader's own the prior holds: then the posterior is as confidential as they are."""

    def __init_subclass__(cls, shows: type | None = None) -> None:
        super().__init_subclass__()
        if shows is not None:
            Posterior.registered[shows] = cls

    @abstractmethod
    def rows(self, level: float = SHOWN_LEVEL) -> tuple[Row, ...]:
        """Return one row for each quantity, with equal-tailed intervals of this probability."""

    def some_rows(self, places: Sequence[int], level: float = SHOWN_LEVEL) -> tuple[Row, ...]:
        """Return only the rows at these positions."""
        rows = self.rows(level)
        return tuple(rows[place] for place in places)

    @classmethod
    def planned(
        cls, posteriors: "Sequence[Posterior]", made: Sequence[Simulated], places: Sequence[int], level: float
    ) -> Floats:
        """Return figures of some rows of simulated studies of one model (studies, rows, 4), for a plan.

        These are mean and width, and the log density of the truth: of the posterior, and of what exact statistics give.
        Densities are NaN where they are not known.
        """
        found = [each.some_rows(places, level) for each in posteriors]
        return np.array([[(row.mean, row.high - row.low, nan, nan) for row in rows] for rows in found])

    @property
    def roughly(self) -> Self:
        """Return the same posterior with rows from fewer draws, where rows come from draws: for plans."""
        return self

    def planned_facts(self, made: Simulated, generator: np.random.Generator) -> dict[str, float]:
        """Return further figures of a simulated study for a plan, by name: of a classifier, how often it is right."""
        return {}

    @abstractmethod
    def draws(self, count: int, seed: int | None = None) -> dict[str, Floats]:
        """Return named arrays of draws from the posterior; the first axis counts the draws, `dims` names the others."""

    @property
    @abstractmethod
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Return the names of the axes of each array of draws, after the first."""

    @property
    @abstractmethod
    def coords(self) -> Mapping[str, tuple[str, ...]]:
        """Return the names of the entries along each axis of `dims`."""

    @property
    @abstractmethod
    def method(self) -> str:
        """Say in words how the releases were read, to follow 'this release was': exactly, or with which error."""

    @property
    @abstractmethod
    def information(self) -> float | None:
        """Return about how many nats the releases tell: the divergence of the posterior from the prior, if known."""

    @property
    @abstractmethod
    def log_evidence(self) -> float | None:
        """Return log P(releases | model) if it is known. Differences are log Bayes factors."""

    @abstractmethod
    def account(self) -> Account:
        """Return what a statement says about the question, the columns and the prior."""

    @property
    def has_declared_prior(self) -> bool:
        """Tell whether the prior is the holder's, not the reader's own."""
        return bool(self.model == self.releases[0].mechanism.model)

    @property
    def table(self) -> Self:
        """Return the joint reading of everything: the posterior itself, unless its answers come from elsewhere."""
        return self

    @property
    def reading_line(self) -> str:
        """Say in one line, for above the rows, how means and intervals were read; nothing if that is obvious."""
        return ""

    @property
    def combined(self) -> str:
        """Say which releases were read together, which prior privacy demanded of draws, and how many own records."""
        if len(self.releases) == 1:
            return " ".join(filter(None, [self.drawn_line, self.own_line]))
        each = [
            f"{r.label!r} ({type(r.mechanism).__name__} of {', '.join(c.name for c in columns_of_levels(r.model))})"
            for r in self.releases
        ]
        read = f"Read together, as likelihoods of the same {self.size} records: {'; '.join(each)}."
        return " ".join(filter(None, [read, self.drawn_line, self.own_line]))

    @property
    def drawn_line(self) -> str:
        """Say under which prior draws were made if privacy demanded one: it is read as noise, not as belief."""
        forced = dict.fromkeys(filter(None, (forced_prior(release.mechanism) for release in self.releases)))
        if not forced:
            return ""
        return (
            f"For privacy, it was drawn under {' and '.join(forced)}; this is accounted for like noise, and is not the "
            "prior of this reading."
        )

    @property
    def own_line(self) -> str:
        """Say that own records were read too, and that nothing protects them."""
        if not self.own_records:
            return ""
        return (
            f"Read with {self.own_records:,} records of the reader's own, taken as other members of the same "
            "population. No noise protects these, so the result is as confidential as they are."
        )

    def starred(self, rows: Sequence[Row]) -> str:
        """Say why means have a star: they lie outside their intervals. Nothing if none of these rows has one."""
        return f"{STAR} {self.why_starred}" if any(row.is_mean_outside for row in rows) else ""

    @property
    def why_starred(self) -> str:
        """Say why a mean may lie outside its interval."""
        return "This mean lies outside its interval: rare large values affect a mean, but not the interval."

    def doubts(self) -> tuple[Warning, ...]:
        """Return warnings for the reader, besides that of having learnt little."""
        return ()

    def facts(self, level: float = SHOWN_LEVEL) -> dict[str, object]:
        """Return further figures for a document, by name."""
        return {}

    def remarks(self, level: float = SHOWN_LEVEL) -> tuple[str, ...]:
        """Return further sentences for below the table of rows."""
        return ()

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return the columns whose levels make up events; none if there are no events."""
        return ()

    def rates(self, event: str, by: str, level: float = SHOWN_LEVEL) -> tuple[Row, ...]:
        """Return one row for P(event | each level of a column)."""
        raise DeclarationError(
            f"A comparison is about the probability of an event in groups of records, and {self.subject} has no "
            "events. Nothing was compared."
        )

    def rate_laws(self, event: str, by: str) -> tuple[Law, ...]:
        """Return the distribution of P(event | each level of a column)."""
        raise DeclarationError(
            f"Rates in groups were requested, but {self.subject} has no events. Nothing was compared."
        )

    def group_sizes(self, by: str, level: float = SHOWN_LEVEL) -> tuple[Interval, ...]:
        """Return an interval for the number of records in each level of a column."""
        raise DeclarationError(f"Sizes of groups were requested, but {self.subject} has no groups.")

    def chance(self, event: str, given: str | None = None, level: float = SHOWN_LEVEL) -> Row:
        """Return P(event), or P(event | given), as a row with its interval."""
        raise DeclarationError(f"The probability of an event was requested, but {self.subject} has no events.")

    def criticise(self, replicates: int = 1_000, seed: int = 0, risk: float = 0.05) -> Criticism:
        """Check whether the released tables fit the model's assumptions (model criticism), where it makes any."""
        raise DeclarationError(
            f"A criticism checks whether released tables fit a graph that leaves arrows out, and {self.subject} has "
            "no graph. Nothing was checked."
        )

    def predictions(
        self, rows: object, target: str | None = None, unknown: Collection[object] = (), level: float = SHOWN_LEVEL
    ) -> Mapping[str, Sequence[object]]:
        """Return predictions of one variable for some records, as named columns with a value for each record."""
        raise DeclarationError(
            f"Predictions were requested, but {self.subject} has no variable that the others predict. Nothing was "
            "predicted."
        )

    def distribution(self, level: float = SHOWN_LEVEL) -> Distribution | None:
        """Return the distribution of a number for a picture; nothing if the model has none."""
        return None

    def graph(self, level: float = SHOWN_LEVEL) -> Graph | None:
        """Return the graph of a network with its tables; nothing if the model has none."""
        return None

    def to_frame(self, backend: str | None = None, level: float = SHOWN_LEVEL) -> Any:
        """Return the rows as a data frame: 'pandas', 'polars' or 'pyarrow', by default the first that is installed."""
        return frame_of(self.rows(level), backend)

    def states(self, count: int, seed: int | None = None) -> States:
        """Draw the parameters, with the hidden numbers behind the releases where these are drawn too."""
        return States(self.draws(count, seed))

    def log_likelihoods(self, states: States) -> list[Floats]:
        """Return for every release log P(output | hidden numbers) of each draw; refuse in words if it is not known."""
        if states.hidden is None:
            raise DeclarationError(f"the hidden numbers behind a release cannot be drawn for {self.subject}")
        return likelihoods_of(self.releases, self.model, states.hidden)

    def further(self, states: States, generator: np.random.Generator) -> Counts:
        """Draw what would be published of as many further records, before noise; refuse in words if it is not known."""
        raise DeclarationError(f"further records cannot be drawn for {self.subject}")

    def prior_states(self, count: int, generator: np.random.Generator) -> States:
        """Draw the parameters from the prior; refuse in words where there is none to draw from."""
        raise DeclarationError(f"the prior cannot be drawn from for {self.subject}")

    def further_groups(self, states: States) -> dict[str, Group]:
        """Return further groups of numbers to export with draws, by name."""
        return {}

    def to_arviz(self, draws: int = _DRAWS, seed: int = 0) -> Any:
        """Return a data tree for ArviZ: draws by chain or independent, log likelihoods, predictive outputs, the prior.

        Groups that are not known are left out, and the attribute `left_out` of the tree says why.
        """
        return data_tree(travelling(self, draws, seed))

    def to_netcdf(self, path: str | Path, draws: int = _DRAWS, seed: int = 0) -> None:
        """Write that tree as a netCDF file, which ArviZ reads."""
        write_netcdf(travelling(self, draws, seed), Path(path))

    def __repr__(self) -> str:
        return f"<posterior of {self.subject} given {self.releases[0].label!r}>"

    def intervals(self, level: float = SHOWN_LEVEL) -> Intervals:
        """Return what a picture shows of the rows: one axis, or one for each unit if there are several."""
        return intervals_of(self.rows(level), level)

    @property
    def heading(self) -> str:
        """Return which releases were read, of how many records, and under which promise."""
        return heading_of(self.releases, self.size)

    def __str__(self) -> str:
        rows = self.rows(SHOWN_LEVEL)
        lines = [self.combined, self.reading_line, screen_of(rows, SHOWN_LEVEL), self.starred(rows)]
        return "\n".join(filter(None, lines))

    def _repr_html_(self) -> str:
        """Return picture and table of the rows for a notebook; all that others wrote in it is text and nothing else."""
        simulated = "SIMULATED, not a release of real records. " if self.releases[0].simulated else ""
        heading = ". ".join(filter(None, [simulated + self.heading, self.reading_line.rstrip(".")]))
        rows = self.rows(SHOWN_LEVEL)
        page = notebook_of(rows, SHOWN_LEVEL, heading, self.method, self.starred(rows[:MOST_IN_A_NOTEBOOK]))
        return with_picture(page, "posterior_chart", self)
