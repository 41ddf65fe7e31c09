"""What every model is: what it counts of the records, what it would expect, and what its parameters answer.

Whoever comes after a model (a study, a plan, an inference, a session) asks it, and never which model it is. What only
some models have, such as tables or events, is a protocol: who needs it asks for that, and says in words if it is not
there.

Statistics are sums over records, so the rows that one record can add (`contributions`) give every data set. Where there
are too many kinds of records, some are chosen that differ in one variable, in half of them and in all, and it is said
that they are some.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any, Generic, Protocol, runtime_checkable

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.documents import MODELS, Document, Documented, document_of
from discreet.mechanism._study_keys import Asked, written_name
from discreet.records import Bounds, Column, Statistics

Parameters = Floats | Mapping[str, Floats]
"""Parameters of a model: an array, or tables by the name of their variable."""

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from discreet.mechanism._own_records import Informed

    ReadAs = TypeVar("ReadAs", default=Any, covariant=True)
    ModelT = TypeVar("ModelT", bound="Model", default=Any, covariant=True)  # a document may hold any model
else:
    from typing import TypeVar

    ReadAs, ModelT = TypeVar("ReadAs", covariant=True), TypeVar("ModelT", covariant=True)


@dataclass(frozen=True, eq=False)
class Simulated:
    """A simulated study: statistics of records whose parameters came from the prior.

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
        """Return what a missing value counts as."""

    @property
    def dates(self) -> bool:
        """Return whether values are read as dates."""


class MetricLike(Protocol):
    """A metric as models see it: the whole declaration by which a record finds its cell."""

    @property
    def levels(self) -> Column | None:
        """Return the declared column, if its levels are the cells."""

    @property
    def numbers(self) -> CellsOfNumbers | None:
        """Return the declared cells of a column of numbers, if these are the cells."""


class Model(Documented, ABC, Generic[ReadAs]):
    """A statistical model: public declarations that turn records into statistics, and a prior.

    For type checkers, a model names the type of posterior that `infer` returns: `class
    NewModel(Model["NewPosterior"])`.
    """

    kinds = MODELS
    is_prior_declared: bool = True
    """Whether the holder declared the prior; else it is this program's."""
    protects: str = "one record"
    """Whose change moves the statistics by no more than one record's."""

    if TYPE_CHECKING:  # a field of some models, a property of others

        @property
        def columns(self) -> tuple[Column | Bounds, ...]:
            """Return every declared column, each once: its levels, or the bounds of its numbers."""

    @classmethod
    def registered(cls) -> dict[str, "type[Model]"]:
        """Return the newest version of every model that documents may name, by its kind."""
        return {kind: made for kind, made in cls.kinds.known().items() if issubclass(made, Model)}

    @classmethod
    def asked_as(cls) -> Mapping[str, Asked]:
        """Return by which names a study asks for such a model, and what makes it; else by its kind, and its fields."""
        return {written_name(cls.document_kind): Asked(cls)}

    @property
    def counted(self) -> object:
        """Return what is said about the records, whatever the prior is: releases are read together if it is equal."""
        return self

    def canonical_document(self) -> Document:
        """Return the model as a document that is the same in whichever order columns, arrows or groups were written."""
        return document_of(self)

    @abstractmethod
    def statistics(self, data: object) -> Statistics:
        """Compute the statistics of the records in a frame or another source. The result is secret."""

    @abstractmethod
    def contributions(self, most: int) -> tuple[Counts, bool]:
        """Return what a record can add to the statistics, at most `most` rows, and whether these are all."""

    @abstractmethod
    def simulate(self, size: int, generator: np.random.Generator) -> Simulated:
        """Draw parameters from the prior and statistics of `size` records from these."""

    def simulation_cost(self, size: int) -> tuple[float, float]:
        """Return about how many operations `simulate` takes, and how many numbers it holds at a time."""
        return 1e5, 0.0

    @abstractmethod
    def exact(self, statistics: Counts, size: int, level: float) -> list[tuple[float, float]]:
        """Return for each row of a posterior the mean and the width of the interval that exact statistics give."""


def columns_of_levels(model: Model) -> tuple[Column, ...]:
    """Return every declared column that has levels or bands."""
    return tuple(column for column in model.columns if isinstance(column, Column))


def columns_of_numbers(model: Model) -> tuple[Bounds, ...]:
    """Return the bounds of every declared column of numbers."""
    return tuple(column for column in model.columns if isinstance(column, Bounds))


@runtime_checkable
class HasTables(Protocol):
    """A model whose statistics are counts of levels."""

    @property
    def tables(self) -> tuple[tuple[Column, ...], ...]:
        """Return the columns of each table of counts."""


def tables_of(model: Model) -> tuple[tuple[Column, ...], ...]:
    """Return the columns of each table of counts; none if the statistics are no counts of levels."""
    return model.tables if isinstance(model, HasTables) else ()


@runtime_checkable
class HasConditionals(Protocol):
    """A model with a graph: its parameters are rows of probabilities of a variable given its parents."""

    @property
    def conditionals(self) -> tuple[tuple[tuple[str, ...], tuple[float, ...]], ...]:
        """Return for each variable its parents and itself, and the prior of a row."""


def conditionals_of(model: Model) -> tuple[tuple[tuple[str, ...], tuple[float, ...]], ...]:
    """Return for each variable of a graph its parents and itself, and the prior of a row; nothing without a graph."""
    return model.conditionals if isinstance(model, HasConditionals) else ()


@runtime_checkable
class HasMissingValue(Protocol):
    """A model that may have a declared value stand for missing ones."""

    @property
    def missing_in_words(self) -> str:
        """Say what missing values count as; nothing if they are all left out."""


@runtime_checkable
class DecidedByMetric(Protocol):
    """A model of which a metric may say all that a record counts as."""

    def is_decided_by(self, metric: MetricLike) -> bool:
        """Return whether a record's cell under a metric decides all that it counts as."""


def decided_by(model: Model) -> Callable[[MetricLike], bool] | None:
    """Return the test whether a metric's cell decides all that a record counts as; None if it never does."""
    return model.is_decided_by if isinstance(model, DecidedByMetric) else None


@runtime_checkable
class TakesPrior(Protocol):
    """A model whose prior is no part of what is published: a reader may bring another one."""

    def with_prior(self, prior: Any) -> Model:
        """Return the same model under another prior; None says that none is declared."""


@runtime_checkable
class StrengthensPrior(Protocol):
    """A model whose prior strength, in records, can be changed."""

    def strengthened(self, strength: float) -> Model:
        """Return the same model with all parameters of its prior multiplied."""


@runtime_checkable
class LearnsPrior(Protocol):
    """A model that may leave its prior open: then more than one may be meant, and evidence decides between them."""

    @property
    def is_prior_open(self) -> bool:
        """Return whether no prior was declared, and more than one may be meant."""

    def proposals(self, is_evidence_known: bool) -> Sequence[Model]:
        """Return this model under each prior that may be meant; where evidence is not known there is only one."""


def is_prior_open(model: Model) -> bool:
    """Return whether no prior was declared, and more than one may be meant: see `LearnsPrior.proposals`."""
    return isinstance(model, LearnsPrior) and model.is_prior_open


@runtime_checkable
class HasStrengths(Protocol):
    """A model of which every variable with many levels learns a strength of its own."""

    @property
    def strength_grids(self) -> Mapping[str, tuple[float, ...]]:
        """Return the prior parameters among which each of these variables learns its own."""


@runtime_checkable
class TakesOwnRecords(Protocol):
    """A model to whose prior a reader's own records can be added."""

    def informed_by(self, own: object) -> "Informed":
        """Return this model with own records from the same population added to its prior."""


@runtime_checkable
class HasOwnRows(Protocol):
    """A model of which rows of one table differ in their prior, as a network does for readers with own records."""

    @property
    def own_rows(self) -> Counts:
        """Return the own counts of all cells."""


@runtime_checkable
class HasProgram(Protocol):
    """A table with which a reader's model of its cells goes along."""

    @property
    def program(self) -> object:
        """Return the reader's model."""


@runtime_checkable
class HasMainRows(Protocol):
    """A model of which only some rows of a posterior have the unit that plans are about."""

    def main_rows(self, count: int) -> Sequence[int]:
        """Return over which of a posterior's `count` rows a plan's mean is taken."""


@runtime_checkable
class HasRowScales(Protocol):
    """A model whose rows have units of their own, and one unit for all after multiplication."""

    @property
    def row_scales(self) -> tuple[float, ...]:
        """Return by what each row of a posterior is multiplied to have one unit for all."""

    @property
    def scaled_unit(self) -> str:
        """Return that unit, in words."""


@runtime_checkable
class HasParameters(Protocol):
    """A model whose parameters can be drawn, and asked about."""

    def by_name(self, parameters: Parameters) -> object:
        """Return drawn parameters by name, or the single parameter if there is only one."""

    def even_parameters(self) -> Parameters:
        """Return parameters that depend on no record, to try a question on."""


@runtime_checkable
class HasEventChances(Protocol):
    """A model under whose parameters events have probabilities."""

    def chance(self, event: object, parameters: Parameters, given: object = None) -> float:
        """Return the probability of an event, conditional on another event if one is given."""


@runtime_checkable
class HasExpectations(Protocol):
    """A model under whose parameters numbers have expectations."""

    def expectation(self, values: Mapping[object, float], parameters: Parameters, given: object = None) -> float:
        """Return the expectation of a quantity whose `values` are given for events that cover each cell once."""


def one_for_each(cells: int, most: int) -> tuple[Counts, bool]:
    """Return one unit for each cell: of many cells the first, the last and some between."""
    chosen = np.unique(np.linspace(0, cells - 1, min(cells, most)).astype(np.int64))
    rows = np.zeros((len(chosen), cells), dtype=np.int64)
    rows[np.arange(len(chosen)), chosen] = 1
    return rows, len(chosen) == cells


def all_or_some(levels: Sequence[int], most: int) -> tuple[Counts, bool]:
    """Return all records as rows of numbers of levels, or some of them if there are more than `most`.

    Some: every variable at its first level, every variable at its last, and each variable alone, the first j and every
    other one moved from the first level to the last.
    """
    if prod(levels) <= most:
        return np.array(list(np.ndindex(*levels)), dtype=np.int64), True
    number, last = len(levels), np.array(levels, dtype=np.int64) - 1
    moved = [np.zeros(number), np.ones(number), np.arange(number) % 2, 1 - np.arange(number) % 2]
    moved += [np.arange(number) < j for j in np.unique(np.linspace(1, number, min(number, most // 4)).astype(int))]
    moved += [np.arange(number) == j for j in np.unique(np.linspace(0, number - 1, min(number, most // 4)).astype(int))]
    rows = np.unique(np.array(moved, dtype=np.int64)[:most] * last, axis=0)
    return rows, False


def neighbouring_tables(alpha: Floats, size: int, generator: np.random.Generator) -> list[tuple[Counts, Counts]]:
    """Return pairs of tables that differ by one record: corners, beside corners, edges, balanced, and three drawn."""
    cells, ranks = len(alpha), [int(index) for index in np.argsort(alpha, kind="stable")]
    low, high = ranks[0], ranks[-1]
    middle = ranks[1] if cells > 2 else low
    first, last = (np.where(np.arange(cells) == index, size, 0) for index in (high, low))
    beside = _moved(first, high, low)
    starts = [(first, high, low), (last, low, high)]
    starts += [(beside, high, middle)] if size > 1 else []
    starts += [(beside, low, middle)] if cells > 2 else []
    even = np.full(cells, size // cells) + (np.arange(cells) < size % cells)
    starts.append((even, int(even.argmax()), low if even.argmax() != low else high))
    for theta in generator.dirichlet(alpha, size=3):
        table = generator.multinomial(size, theta)
        giver = int(generator.choice(np.flatnonzero(table)))
        starts.append((table, giver, int(generator.choice(np.delete(np.arange(cells), giver)))))
    return [(table, _moved(table, giver, taker)) for table, giver, taker in starts]


def _moved(table: Counts, giver: int, taker: int) -> Counts:
    moved = table.astype(np.int64)
    moved[giver] -= 1
    moved[taker] += 1
    return moved
