"""What every model is: what it counts of the records, what it would expect, and what its parameters answer.

Whoever comes after a model (a study, a plan, a reading, a session) asks it, and never which model it is. What a model
has not, such as tables or events, it says so: by an empty tuple, or by a refusal in words.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, Protocol

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.documents import Document, DocumentedModel, document_of
from discreet.errors import DeclarationError
from discreet.models.asked import Asked, written_name
from discreet.models.number_bounds import Bounds, gaps_in_words
from discreet.records.columns import Column
from discreet.records.counting import Statistics

Parameters = Floats | Mapping[str, Floats]
"""Parameters of a model: an array, or tables by the name of their variable."""

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from discreet.models.informed import Informed

    ReadAs = TypeVar("ReadAs", default=Any, covariant=True)
    ModelT = TypeVar("ModelT", bound="Model", default=Any, covariant=True)  # a document may hold any model
else:
    from typing import TypeVar

    ReadAs, ModelT = TypeVar("ReadAs", covariant=True), TypeVar("ModelT", covariant=True)

_RANDOM_PAIRS = 3
_KINDS = 64  # kinds of records from which data sets are made up


@dataclass(frozen=True, eq=False)
class MadeUp:
    """A made-up study: statistics of records whose parameters came from the prior.

    `truth` has the true value of every row that a posterior of the model shows.
    """

    truth: tuple[float, ...]
    statistics: Counts


class CellsOfNumbers(Protocol):
    """How a record's number finds its cell."""

    @property
    def column(self) -> str:
        """Return the column."""

    @property
    def starts(self) -> tuple[Fraction, ...]:
        """Return where cells begin."""

    @property
    def missing(self) -> Fraction | None:
        """Return what a gap counts as."""

    @property
    def dates(self) -> bool:
        """Tell whether values are read as dates."""


class Placed(Protocol):
    """A metric as models see it: the whole declaration by which a record finds its place."""

    @property
    def levels(self) -> Column | None:
        """Return the declared column, if its levels are the places."""

    @property
    def numbers(self) -> CellsOfNumbers | None:
        """Return the declared cells of a column of numbers, if these are the places."""


class Model(DocumentedModel, ABC, Generic[ReadAs]):
    """A statistical model: public declarations that turn records into statistics, and a prior.

    For type checkers, a model names the type of posterior that `infer` returns: `class
    NewModel(Model["NewPosterior"])`.
    """

    is_prior_declared: bool = True
    """Whether the holder declared the prior; else it is this program's."""
    program: object = None
    """A reader's model of the table's cells, where one goes along with it."""
    is_table: ClassVar[bool] = False
    """Whether it is the shares of a table of categories, and no program goes along with it."""
    has_own_rows: ClassVar[bool] = False
    """Whether rows of one table differ in their prior, as they do for readers with own records of a network."""
    protects: str = "one record"
    """Whose change moves the statistics by no more than one record's."""

    @classmethod
    def registered(cls) -> dict[str, "type[Model]"]:
        """Return the newest version of every model that documents may name, by its kind."""
        return {kind: made for kind, made in cls.kinds.known().items() if issubclass(made, Model)}

    @classmethod
    def asked_as(cls) -> Mapping[str, Asked]:
        """Return by which names a study asks for such a model, and what makes it; else by its kind, and its fields."""
        return {written_name(cls.document_kind): Asked(cls)}

    @property
    def is_prior_open(self) -> bool:
        """Tell whether no prior was declared, and more than one may be meant: see `proposals`."""
        return False

    def proposals(self, is_evidence_known: bool) -> "Sequence[Model]":
        """Return this model under each prior that may be meant where none was declared.

        Evidence decides between them; where it is not known there is only one.
        """
        return (self,)

    @property
    def tables(self) -> tuple[tuple[Column, ...], ...]:
        """Return the columns of each table of counts; none if the statistics are no counts of levels."""
        return ()

    @property
    def declared_columns(self) -> tuple[Column, ...]:
        """Return every column of levels, each once."""
        return tuple(dict.fromkeys(column for table in self.tables for column in table))

    def is_told_by(self, metric: Placed) -> bool:
        """Tell whether what a record counts as follows from its place under a metric alone."""
        return False

    @property
    def missing_in_words(self) -> str:
        """Say what missing values count as, where a declared value stands for them; else nothing."""
        return gaps_in_words(self.declared_bounds)

    @property
    def declared_bounds(self) -> tuple[Bounds, ...]:
        """Return the bounds of every column of numbers."""
        return ()

    @property
    def conditionals(self) -> tuple[tuple[tuple[str, ...], tuple[float, ...]], ...]:
        """Return for each variable of a graph its parents and itself, and the prior of a row; nothing without a graph.

        Then the parameters are rows of probabilities of a variable given its parents.
        """
        return ()

    def informed_by(self, own: object) -> "Informed":
        """Return this model with a reader's own records from the same population added to its prior."""
        raise DeclarationError(
            "Own records can be added to the prior of categories, networks and regressions; this is a "
            f"{type(self).__name__}. Nothing was read. Pass a prior that expresses what they say."
        )

    @property
    def counted(self) -> object:
        """Return what is said about the records, whatever the prior is: releases are read together if it is equal."""
        return self

    def canonical_document(self) -> Document:
        """Return the model as a document that is the same in whichever order columns, arrows or groups were written."""
        return document_of(self)

    @property
    def row_scales(self) -> tuple[float, ...] | None:
        """Return by what each row of a posterior is multiplied to have one unit for all; None if they have one."""
        return None

    @property
    def scaled_unit(self) -> str:
        """Return that unit, in words."""
        return ""

    def planned_rows(self, count: int) -> Sequence[int]:
        """Return over which of so many rows of a posterior a plan's mean is taken: all, if they have one unit."""
        return range(count)

    @property
    @abstractmethod
    def part_in_words(self) -> str:
        """Say how large this model is, of a part of another one."""

    @abstractmethod
    def statistics(self, data: object) -> Statistics:
        """Compute the statistics of the records in a frame or another source. The result is secret."""

    @abstractmethod
    def contributions(self, most: int) -> tuple[Counts, bool]:
        """Return what a record can add to the statistics, at most so many rows, and whether these are all."""

    def parts(self) -> Iterator["Model"]:
        """Yield smaller models of the same kind, for twins in which everything can be listed."""
        return iter(())

    def made_up(self, size: int, generator: np.random.Generator) -> MadeUp:
        """Draw parameters from the prior and statistics of so many records from these."""
        raise DeclarationError(
            f"Studies of a {type(self).__name__} cannot be simulated: it does not define how likely its records are. "
            "Nothing was simulated."
        )

    def made_up_work(self, size: int) -> tuple[float, float]:
        """Return about how many operations `made_up` takes, and how many numbers it holds at a time."""
        return 1e5, 0.0

    def known_rows(self, statistics: Counts, size: int, level: float) -> list[tuple[float, float]]:
        """Return for each row of a posterior the mean and the width of the interval that exact statistics give."""
        raise DeclarationError(f"A {type(self).__name__} does not define what exact statistics say.")

    def neighbouring_pairs(self, size: int, generator: np.random.Generator) -> list[tuple[Counts, Counts]]:
        """Return neighbouring data sets to look at: all other records alike, or drawn from all kinds of records."""
        rows, _ = self.contributions(_KINDS)
        gaps = np.abs(rows[:, None] - rows[None]).sum(axis=-1)
        first, second = (int(place) for place in np.unravel_index(int(gaps.argmax()), gaps.shape))
        ends = [(first, second), (second, first), (0, len(rows) - 1), (0, min(1, len(rows) - 1))]
        starts = [(rows[one] * (size - 1), one, two) for one, two in ends if one != two]
        for _ in range(_RANDOM_PAIRS):
            others = rows[generator.integers(len(rows), size=min(size - 1, _KINDS))].sum(axis=0)
            others = others + rows[0] * max(0, size - 1 - _KINDS)
            one, two = (int(place) for place in generator.choice(len(rows), size=2, replace=False))
            starts.append((others, one, two))
        return [(others + rows[one], others + rows[two]) for others, one, two in starts]

    def are_neighbours(self, size: int, first: Counts, second: Counts) -> bool:
        """Tell whether two data sets may differ by one replaced record; True where that is not checked."""
        return True

    @abstractmethod
    def by_name(self, parameters: Parameters) -> object:
        """Return drawn parameters by name, or the single parameter if there is only one."""

    @abstractmethod
    def even_parameters(self) -> Parameters:
        """Return parameters that depend on no record, to try a question on."""

    def chance(self, event: object, parameters: Parameters, given: object = None) -> float:
        """Return the probability of an event, conditional on another event if one is given."""
        self._without_events()

    def expectation(self, values: Mapping[object, float], parameters: Parameters, given: object = None) -> float:
        """Return the expectation of a quantity whose `values` are given for events that cover each cell once."""
        self._without_events()

    def _without_events(self) -> NoReturn:
        raise DeclarationError(
            f"this is asked of Categories; ask a {type(self).__name__} for its Mean(), a network for a Probability()"
        )
