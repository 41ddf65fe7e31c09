"""Where records live: a source hands out tables of counts and sums, never a row, and works without a word.

An engine only has to say how a batch of one column becomes codes or numbers. Counting and summing are done here, the
same way for every engine. What an engine prints or raises may quote records, so it is dropped and never chained.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar, cast

import numpy as np

from discreet.arrays import Counts
from discreet.errors import SourceError
from discreet.records.columns import Column
from discreet.records.counting import clusters, count_codes, margins
from discreet.records.source import Batch, Source

Found = TypeVar("Found")


def as_source(data: object) -> Source:
    """Return a source for a frame of any engine or a mapping from names to lists; a source is returned as it is."""
    if hasattr(type(data), "count_families"):  # frames of Spark Connect have every attribute
        return cast(Source, data)
    from discreet.records.frames import source_of  # it builds on this module

    return source_of(data)


class CountedBatches(ABC):
    """Records in batches, counted."""

    @abstractmethod
    def names(self) -> list[str]:
        """Return the names of the columns, for the data holder; no record is read."""

    @abstractmethod
    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        """Yield all records, with at least these columns."""

    def count_families(self, families: Sequence[Sequence[Column]]) -> list[Counts]:
        """Return one table of counts for each family of columns, its axes in the order of the columns."""
        columns = list(dict.fromkeys(column for family in families for column in family))
        self.require([column.name for column in columns])
        return answered(lambda: self._count(families, columns), "count them")

    def _count(self, families: Sequence[Sequence[Column]], columns: list[Column]) -> list[Counts]:
        together = clusters(families)
        tables = [np.zeros(int(np.prod(cluster.shape)), dtype=np.int64) for cluster in together]
        for batch in self.batches(list(dict.fromkeys(column.name for column in columns))):
            codes = {column: batch.codes(column) for column in columns}
            for cluster, table in zip(together, tables, strict=True):
                table += count_codes(codes, cluster)
        return margins(families, together, tables)

    def require(self, names: Sequence[str]) -> None:
        """Refuse if a declared column is missing."""
        require_columns(set(names), answered(self.names, "say which columns there are"))


def answered(work: Callable[[], Found], what: str) -> Found:
    """Return what an engine finds; if it fails, say so without its words. Our own refusals pass through."""
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
            f"The engine that holds the data failed to {what}; its message is withheld because it may quote records. "
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
        )


@contextmanager
def in_silence() -> Iterator[None]:
    """Drop whatever an engine prints or raises; the caller sees that nothing came back and refuses in its own words."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException:  # noqa: BLE001 - some engines panic with more than an Exception
        return


def opened_in_silence(place: Path, work: Callable[[], Found]) -> Found:
    """Return what an engine makes of a file; if it fails, say so without its words."""
    found: Found | None = None
    with suppress(Exception):  # the engine's words may quote records
        found = work()
    if found is None:
        raise SourceError(f"{place.name!r} is not a readable file of its kind. The engine's message is withheld.")
    return found
