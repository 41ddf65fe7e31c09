"""Where records live: a source returns aggregates only, never a row.

A backend says how the values of a column become codes or numbers, batch by batch. Its messages are suppressed and never
chained, as they may quote records.
"""

import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import SourceError
from discreet.records._columns import Column
from discreet.records._matches import ColumnMatch, shown
from discreet.records._moments import Base, Indicator, MomentPlan, Wholes
from discreet.records._statistics import Codes
from discreet.records._typed_arrays import Array

if TYPE_CHECKING:
    from discreet.records._derived import Derived
    from discreet.records._expressions import Raw
    from discreet.records._grouped_sums import GroupPlan
    from discreet.records._persons import IdPlan, IdRows, Keys
    from discreet.records._weights import WeightPlan


class Source(Protocol):
    r"""Records that can be counted and summed. A source returns totals, never a row.

    >>> import discreet as dc
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp(), "coins.csv")
    >>> _ = file.write_text("coin\nheads\ntails\n")
    >>> source: dc.Source = dc.read(file)
    >>> dc.Categories("coin", levels=("heads", "tails")).statistics(source)
    Statistics(<3 secret values>)
    """

    def count_families(self, families: Sequence[Sequence[Column]]) -> list[Counts]:
        """Return one table of counts for each family of columns, its axes in the order of the columns."""

    def sum_moments(self, plan: MomentPlan) -> tuple[Wholes, int]:
        """Return the sum of every product of the plan, and the number of records."""

    def whole_rows(self, plan: MomentPlan) -> Wholes:
        """Return the whole numbers of every record, the constant last: secret, and for one publication only."""

    def sum_groups(self, plan: "GroupPlan") -> tuple[Wholes, int]:
        """Return the sums of a number in every group, and the number of records."""

    def count_places(self, plan: "GroupPlan") -> tuple[Wholes, int]:
        """Return how many records of every group lie at each position, then how many have no value; and all."""

    def sum_weights(self, plan: "WeightPlan") -> tuple[Wholes, int]:
        """Return weighted sums of a number in every group, and the number of records."""

    def id_rows(self, plan: "IdPlan") -> "IdRows":
        """Return the totals of the rows of each id."""

    def names(self) -> list[str]:
        """Return the names of the columns, for the data holder; no record is read."""

    def match(self, columns: Sequence[Column], most: int = 5) -> list[ColumnMatch]:
        """Return how the records match each column, with its most frequent undeclared values: for the holder only."""

    def stored(self, raws: "Sequence[Raw]", also: Sequence[str]) -> "Iterator[Batch]":
        """Yield all records with what derived columns are made of, and with further columns as they are."""

    def with_derived(self, derived: "Derived") -> "Source":
        """Return the same records with derived columns beside the stored ones."""


class Batch(ABC):
    """Some records of a source, column by column."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of records."""

    @abstractmethod
    def codes(self, column: Column) -> Codes:
        """Return the index of every record's level: whole numbers >= 0, one for each record, for any value."""

    @abstractmethod
    def numbers(self, name: str, dates: bool) -> Floats:
        """Return every record's number, or day; NaN for what is none."""

    @abstractmethod
    def values(self, name: str, indices: NDArray[np.intp]) -> Sequence[object]:
        """Return the values of some records as they are, for the data holder's eyes only."""

    def keys(self, name: str) -> "Keys":
        """Return the keys of ids: two whole numbers for each record."""
        from discreet.records._persons import keys_of  # it builds on this module

        return keys_of(self.values(name, np.arange(len(self))))

    def frequencies(self, name: str, indices: NDArray[np.intp]) -> Counter[str]:
        """Return how often each value of some records occurs, for the data holder's eyes only."""
        return Counter(map(shown, self.values(name, indices)))

    def raw(self, factor: Base) -> Array:
        """Return numbers for a measure, codes for an indicator."""
        if isinstance(factor, Indicator):
            return self.codes(factor.declared)
        return self.numbers(factor.column, factor.dates)


Found = TypeVar("Found")


def whole_rows(data: object, plan: MomentPlan) -> Wholes:
    """Return the whole numbers of every record, the constant last: what is published by several passes reads these.

    So all passes see the same records, whatever happens to the source meanwhile.
    """
    source = as_source(data)
    if not hasattr(source, "whole_rows"):
        raise one_pass_only(type(source).__name__)
    return source.whole_rows(plan)


def one_pass_only(kind: str) -> SourceError:
    """Say that a source does not hand out what several passes over the records need."""
    return SourceError(
        f"A {kind} cannot hand its records to this program, and moments in learnt units need several passes over them. "
        'Nothing was counted and nothing was charged. Choose a mechanism with one pass, mechanism = "ConeMoments" in '
        "a study, or pass a frame or a file."
    )


def as_source(data: object) -> Source:
    """Return a source for a frame of any backend or a mapping from names to lists; a source is returned as it is."""
    if hasattr(type(data), "count_families"):  # frames of Spark Connect have every attribute
        return cast(Source, data)
    from discreet.records._frames import source_of  # it builds on this module

    return source_of(data)


def answered(work: Callable[[], Found], what: str) -> Found:
    """Return what a backend finds; if it fails, say so without its words. Our own refusals pass through."""
    refusal: SourceError | None = None
    found: Found | None = None
    with in_silence():
        try:
            found = work()
        except SourceError as problem:
            refusal = problem
    if refusal is not None:
        raise refusal from None
    if found is None:
        raise SourceError(
            f"The backend that holds the data failed to {what}; its message is withheld because it may quote records. "
            "Nothing was counted and nothing was charged."
        )
    return found


def require_columns(wanted: set[str], present: Sequence[str]) -> None:
    """Refuse if a declared column is missing.

    The names that were found are not shown: in a table read without its header, they are a record.
    """
    missing = sorted(wanted - set(present))
    if missing:
        raise SourceError(
            f"The data have no column {', '.join(map(repr, missing))}. Nothing was counted. Check the declared names "
            "against the table's header; its names are not shown, because they could be a record."
            + other_separator(present)
        )


def other_separator(names: Sequence[str]) -> str:
    """Return a question about the separator, if the only name of a table looks like several; else an empty text.

    >>> other_separator(["ward;fell;age"])
    " Its first line has 2 of ';' and a single name: is that the separator? Then declare separator = ';'."
    """
    often = max(";\t|,", key=lambda mark: names[0].count(mark)) if len(names) == 1 else ""
    if not often or often not in names[0]:
        return ""
    shown = repr(often)
    return (
        f" Its first line has {names[0].count(often)} of {shown} and a single name: is that the separator? Then "
        f"declare separator = {shown}."
    )


@contextmanager
def in_silence() -> Iterator[None]:
    """Drop whatever a backend prints or raises; the caller sees that nothing came back and refuses in its own words."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException:  # noqa: BLE001 - some backends panic with more than an Exception
        return


def opened_in_silence(path: Path, work: Callable[[], Found]) -> Found:
    """Return what a backend makes of a file; if it fails, say so without its words."""
    found: Found | None = None
    with suppress(Exception):  # the backend's words may quote records
        found = work()
    if found is None:
        raise SourceError(f"{path.name!r} is not a readable file of its kind. The backend's message is withheld.")
    return found
