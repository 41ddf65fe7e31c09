"""What every model is: what it counts of the records, what it would expect, and what its parameters answer.

Whoever comes after a model (a study, a plan, a reading, a session) asks it, and never which model it is. What a model
has not, such as tables or events, it says so: by an empty tuple, or by a refusal in words.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, runtime_checkable

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


@dataclass(frozen=True, eq=False)
class Simulated:
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

    @abstractmethod
    def statistics(self, data: object) -> Statistics:
        """Compute the statistics of the records in a frame or another source. The result is secret."""

    @abstractmethod
    def contributions(self, most: int) -> tuple[Counts, bool]:
        """Return what a record can add to the statistics, at most so many rows, and whether these are all."""

    def simulate(self, size: int, generator: np.random.Generator) -> Simulated:
        """Draw parameters from the prior and statistics of so many records from these."""
        raise DeclarationError(
            f"Studies of a {type(self).__name__} cannot be simulated: it does not define how likely its records are. "
            "Nothing was simulated."
        )

    def simulation_cost(self, size: int) -> tuple[float, float]:
        """Return about how many operations `simulate` takes, and how many numbers it holds at a time."""
        return 1e5, 0.0

    def exact(self, statistics: Counts, size: int, level: float) -> list[tuple[float, float]]:
        """Return for each row of a posterior the mean and the width of the interval that exact statistics give."""
        raise DeclarationError(f"A {type(self).__name__} does not define what exact statistics say.")


@runtime_checkable
class HasParameters(Protocol):
    """A model whose parameters can be drawn, and asked about."""

    def by_name(self, parameters: Parameters) -> object:
        """Return drawn parameters by name, or the single parameter if there is only one."""

    def even_parameters(self) -> Parameters:
        """Return parameters that depend on no record, to try a question on."""


@runtime_checkable
class HasEvents(Protocol):
    """A model under whose parameters events have probabilities."""

    def chance(self, event: object, parameters: Parameters, given: object = None) -> float:
        """Return the probability of an event, conditional on another event if one is given."""


@runtime_checkable
class HasExpectations(Protocol):
    """A model under whose parameters numbers have expectations."""

    def expectation(self, values: Mapping[object, float], parameters: Parameters, given: object = None) -> float:
        """Return the expectation of a quantity whose `values` are given for events that cover each cell once."""
