"""Persons: all rows of one id become one unit, so that one person's rows affect one unit and no other.

An id is the text of a value, and ids are compared as its bytes: 'a', 'A' and 'a ' are three persons, 7 and '7' are one.
Rows without an id (a missing value, an empty text, a number beyond 2^53 or with a fraction) together are one person; or
nobody, where the number of persons is secret.
Ids leave their backend only as the first 128 bits of their SHA-256.

Every row alone becomes a whole number s of small steps between the bounds of a row; a backend adds these up for each
id and group. The public number of persons decides how many there are in the end: if fewer ids are found, the others
have no rows; if more are found, those with the smallest hashes are kept. Replacing one person changes at most one of
those kept, and nothing reveals how many ids there were. Where their number is secret, every id is a person.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from math import ceil, floor, log2
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import SourceError
from discreet.records._columns import Column
from discreet.records._moments import Measure
from discreet.records._source import Batch
from discreet.records._values import LARGEST_WHOLE, number_of, text_of

Keys = NDArray[np.uint64]

_BOUND = 2**62  # beyond every whole number of steps
_FINE, _COARSE = 20, 32


@dataclass(frozen=True)
class IdPlan:
    """What is added up for each id: a column of numbers between the bounds of one row, in groups of rows."""

    ids: str
    measure: Measure
    groups: tuple[Column, ...] = ()

    @property
    def names(self) -> list[str]:
        """Return the columns that are needed, each once."""
        return list(dict.fromkeys([self.ids, self.measure.column, *(column.name for column in self.groups)]))

    @property
    def step(self) -> float:
        """Return the size of a step, a power of two: at most 1, so that whole numbers stay what they are.

        There are about 2^20 steps between the bounds, and a bound is at most 2^32 of them.
        """
        low, high = self.measure.low, self.measure.high
        fine = min(0, floor(log2(high - low)) - _FINE)
        return float(2.0 ** max(fine, ceil(log2(max(abs(low), abs(high)))) - _COARSE))


@dataclass(frozen=True, eq=False)
class IdRows:
    """For each id and group: the sum, the largest and the smallest of its steps, and how many rows have a value.

    Rows are in the order of their keys, each pair of a key and a group once.
    """

    keys: Keys
    cells: Counts
    sums: Counts
    largest: Counts
    smallest: Counts
    rows: Counts

    @classmethod
    def together(cls, parts: "Sequence[IdRows]") -> "IdRows":
        """Return several tables combined; a person may have rows in all of them."""
        keys = np.concatenate([np.zeros((0, 2), dtype=np.uint64), *(part.keys for part in parts)])
        columns = [[getattr(part, name) for part in parts] for name in _COLUMNS]
        cells, sums, largest, smallest, rows = (
            np.concatenate([np.zeros(0, dtype=np.int64), *column]) for column in columns
        )  # fmt: skip
        order = np.lexsort((cells, keys[:, 1], keys[:, 0]))
        keys, cells = keys[order], cells[order]
        starts = np.flatnonzero(_is_new(keys) | _is_new(cells[:, None]))
        if not len(starts):
            return cls(keys, cells, sums, largest, smallest, rows)
        return cls(
            keys[starts],
            cells[starts],
            np.add.reduceat(sums[order], starts),
            np.maximum.reduceat(largest[order], starts),
            np.minimum.reduceat(smallest[order], starts),
            np.add.reduceat(rows[order], starts),
        )

    def of_first(self, size: int) -> "IdRows":
        """Return the rows of the first persons by their keys, at most this many persons."""
        starts = np.append(self.firsts, len(self.keys))
        end = int(starts[min(size, len(starts) - 1)])
        return IdRows(self.keys[:end], *(getattr(self, name)[:end] for name in _COLUMNS))

    def of_persons(self, size: int | None) -> "IdRows":
        """Return the rows of a public number of persons, or where that is secret of all who have an id.

        Rows without an id would together be one person, and that person another one if somebody without an id is added:
        left out, nobody's rows move more than their own.
        """
        if size is not None:
            return self.of_first(size)
        kept = (self.keys != 0).any(axis=1)
        return IdRows(self.keys[kept], *(getattr(self, name)[kept] for name in _COLUMNS))

    @property
    def firsts(self) -> NDArray[np.intp]:
        """Return where the rows of each person begin."""
        return np.flatnonzero(_is_new(self.keys))


_COLUMNS = ("cells", "sums", "largest", "smallest", "rows")


def _is_new(keys: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Tell which rows differ from the one before."""
    found = np.ones(len(keys), dtype=bool)
    found[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    return found


def id_text(value: object) -> str | None:
    """Return the text of an id, or None for anything else."""
    if type(value) is UUID:
        return str(value)
    text, is_part = text_of(value), False
    with suppress(Exception):  # what an odd object raises may quote it
        number = None if isinstance(value, str) else number_of(value)
        is_part = number is not None and not number.is_integer()
    return None if is_part else text or None


def keys_of(values: Sequence[object]) -> Keys:
    """Return the keys of ids: two whole numbers for each, zero where there is no id."""
    texts = [value or None if type(value) is str else id_text(value) for value in values]
    indices = {text: index for index, text in enumerate(dict.fromkeys(texts))}
    distinct = np.array([_key(text) for text in indices], dtype=np.uint64).reshape(-1, 2)
    return distinct[np.fromiter(map(indices.__getitem__, texts), dtype=np.intp, count=len(texts))]


def _key(text: str | None) -> tuple[int, int]:
    if text is None:
        return 0, 0
    digest = sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]), int.from_bytes(digest[8:16])


def steps_of(numbers: Floats, plan: IdPlan) -> tuple[Counts, NDArray[np.bool_]]:
    """Return the whole number of steps of every value between the bounds of a row, and which rows have one."""
    with np.errstate(all="ignore"):
        known = np.abs(numbers) <= LARGEST_WHOLE  # NaN is not <= anything
        inside = np.maximum(np.minimum(np.where(known, numbers, plan.measure.low), plan.measure.high), plan.measure.low)
    return np.floor(inside / plan.step + 0.5).astype(np.int64), known


def id_rows(batches: Iterable[Batch], plan: IdPlan) -> IdRows:
    """Return what the rows of each id add up to, from batches of any backend."""
    found = IdRows.together([])
    parts = [found]
    for batch in batches:
        if not len(batch):
            continue
        steps, known = steps_of(np.asarray(batch.numbers(plan.measure.column, plan.measure.dates), dtype=float), plan)
        cells = np.zeros(len(batch), dtype=np.int64)
        for column in plan.groups:
            cells = cells * len(column.levels) + batch.codes(column)
        keys = batch.keys(plan.ids)
        largest, smallest = np.where(known, steps, -_BOUND), np.where(known, steps, _BOUND)
        parts.append(IdRows.together([IdRows(keys, cells, steps * known, largest, smallest, known.astype(np.int64))]))
    return IdRows.together(parts)


def ids_in(source: object, plan: IdPlan) -> IdRows:
    """Return what the rows of each id of a source add up to."""
    if not hasattr(source, "id_rows"):
        raise SourceError(
            f"A {type(source).__name__} cannot add up the rows of each id. Pass a frame, a file or lists."
        )
    found: IdRows = source.id_rows(plan)
    return found
