"""Tables that DuckDB holds: one table is counted inside the backend, by groups of codes; many by a stream of codes.

SQL turns each value of a declared column into a whole number by looking at this value alone, and only such numbers are
grouped. Texts become numbers by a cast to a declared enumeration, which compares bytes whatever the column's collation
and gives null for undeclared values; numbers by their position in a declared range. No expression can fail on a value.
Which expression is used depends on the column's type alone, never on a record.

Columns of numbers come from a backend's Arrow stream, taken over as NumPy arrays without any further package. The
layout is that of the Arrow C data interface: an array has a length, an offset and buffers, the first of which marks
missing values (one bit for each value), the second holds the values.
"""

import ctypes
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int64, c_void_p
from dataclasses import replace
from functools import cached_property
from itertools import count
from math import prod
from threading import Lock
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import SourceError
from discreet.records._columns import Column
from discreet.records._duckdb_sql import (
    GIVEN,
    UNHELD,
    CodeExpression,
    coded,
    id_bytes,
    identifier,
    is_held,
    number,
    placed,
    steps,
)
from discreet.records._grouped_sums import GroupPlan
from discreet.records._matches import ColumnMatch, match_of, shown, undeclared_apart
from discreet.records._moments import Base, Indicator, Measure, MomentPlan, Wholes, moments_of, whole_rows_of
from discreet.records._persons import IdPlan, IdRows, Keys
from discreet.records._source import Batch, Source, answered, require_columns
from discreet.records._statistics import Cluster, Codes, clusters, count_codes, margins
from discreet.records._typed_arrays import Array
from discreet.records._weights import WeightPlan, weighted_sums

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

    from discreet.records._derived import Derived
    from discreet.records._expressions import Raw

Item = TypeVar("Item", bound=np.generic)
Numbers = NDArray[np.number]


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_Array._fields_ = [
    ("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64), ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)), ("children", POINTER(POINTER(_Array))), ("dictionary", POINTER(_Array)),
    ("release", CFUNCTYPE(None, POINTER(_Array))), ("private_data", c_void_p),
]  # fmt: skip
_Stream._fields_ = [
    ("get_schema", c_void_p), ("get_next", CFUNCTYPE(c_int, POINTER(_Stream), POINTER(_Array))),
    ("get_last_error", CFUNCTYPE(c_char_p, POINTER(_Stream))), ("release", CFUNCTYPE(None, POINTER(_Stream))),
    ("private_data", c_void_p),
]  # fmt: skip

_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = c_void_p, [ctypes.py_object, c_char_p]


class Streams(Protocol):
    """What hands out an Arrow stream."""

    def __arrow_c_stream__(self) -> object:
        """Return the stream, in a capsule."""


def streamed(
    exporter: Streams, dtypes: Sequence[np.dtype[np.number]], gaps: Sequence[float]
) -> Iterator[list[Numbers]]:
    """Yield the columns of every batch of a stream of columns of these types, with these numbers for missing values.

    The arrays of a batch may be used until the next one is asked for.
    """
    capsule = exporter.__arrow_c_stream__()
    stream = ctypes.cast(_pointer(capsule, b"arrow_array_stream"), POINTER(_Stream))
    while True:
        batch = _Array()
        if stream.contents.get_next(stream, ctypes.byref(batch)):
            raise RuntimeError  # whoever called drops this, and the backend's words with it
        if not batch.release:
            return
        try:
            start, size = batch.offset, batch.length
            children = [batch.children[index].contents for index in range(batch.n_children)]
            yield [_column(*each, start, size) for each in zip(children, dtypes, gaps, strict=True)]
        finally:
            batch.release(ctypes.byref(batch))


def _column(child: _Array, dtype: np.dtype[np.number], gap: float, start: int, size: int) -> Numbers:
    first = start + child.offset
    values = _view(child.buffers[1], dtype, first, size)
    if not child.null_count or not child.buffers[0]:
        return values
    bits = _view(child.buffers[0], np.dtype(np.uint8), 0, (first + size + 7) // 8)
    known = np.unpackbits(bits, bitorder="little")[first : first + size]
    return np.where(known, values, np.array(gap, dtype=dtype))


def _view(address: int | None, dtype: np.dtype[Item], first: int, size: int) -> NDArray[Item]:
    if not address or not size:
        return np.zeros(0, dtype=dtype)
    whole = (ctypes.c_char * ((first + size) * dtype.itemsize)).from_address(address)
    return np.frombuffer(memoryview(whole), dtype=dtype)[first:]


_QUESTIONS = count()
_VIEW = "\x02"  # as GIVEN
_NO_VALUE = -1  # in place of a code, which is never below 0
_FEW = 3  # most columns of a table that the backend itself groups by
_BLOCK = 2**16  # records whose codes stay in the fastest memory
_KEY = "coalesce(('0x' || substr(sha256({}), {}, 16))::UBIGINT, 0)"

_Raw = Column | tuple[str, bool]
"""What a factor needs of a record: the code of a column, or the number (or day) under a name."""


class DuckdbSource:
    """Records in a relation of DuckDB, or in a table of one of its connections."""

    def __init__(
        self,
        relation: "DuckDBPyRelation",
        connection: "DuckDBPyConnection | None" = None,
        table: str = "",
        holds_moments: bool = False,
    ) -> None:
        self._relation, self._connection, self._table = relation, connection, table
        self._holds_moments = holds_moments or connection is not None
        self._types = {name: str(dtype) for name, dtype in zip(relation.columns, relation.types, strict=True)}
        self._plain = {name.casefold() for name in self._types}
        if len(self._plain) < len(relation.columns):
            raise SourceError(
                "DuckDB ignores case in column names, and two columns differ only by case. Nothing was counted. "
                "Rename one of them."
            )
        self._lock = Lock()  # one connection answers one question at a time

    @classmethod
    def of_table(cls, connection: "DuckDBPyConnection", table: str) -> "DuckdbSource":
        """Return the records of a table, or of a table function, through a separate connection."""
        return cls(connection.sql(f"FROM {table}"), connection, table)

    def __repr__(self) -> str:
        return "EngineSource(<records>)"

    def names(self) -> list[str]:
        """Return the names of the columns, for the data holder; no record is read."""
        return list(self._types)

    def count_families(self, families: Sequence[Sequence[Column]]) -> list[Counts]:
        """Return one table of counts for each family of columns, its axes in the order of the columns."""
        self._asked(column.name for family in families for column in family)
        return answered(lambda: self._count(families), "count them")

    def _count(self, families: Sequence[Sequence[Column]]) -> list[Counts]:
        together = clusters(families)
        columns = list(dict.fromkeys(column for cluster in together for column in cluster.columns))
        codings = {column: self._coding(column) for column in columns}
        is_one = len(together) == 1 and len(columns) <= _FEW
        tables = [self._grouped(together[0], codings)] if is_one else self._streamed(together, codings)
        return margins(families, together, tables)

    def _grouped(self, cluster: Cluster, codings: dict[Column, CodeExpression]) -> Counts:
        """Count one table of few columns: the backend groups by their codes."""
        table, prepared = self._prepared(codings)
        used = [prepared[column] for column in cluster.columns]
        names = [f"code_{number}" for number in range(len(used))]
        widened = "::INTEGER" if len(used) == 1 else ""  # the backend groups one column of small numbers the slow way
        codes = ", ".join(f"({coding.sql}){widened} AS {name}" for coding, name in zip(used, names, strict=True))
        with self._lock:
            groups = self._ask(f"SELECT {codes}, count(*) AS records FROM {table} GROUP BY ALL").fetchnumpy()
        pairs = zip(used, names, strict=True)
        indices = [c.placed(np.ma.filled(groups[name], c.gap).astype(np.intp)) for c, name in pairs]
        found = np.zeros(prod(cluster.shape), dtype=np.int64)
        np.add.at(found, np.ravel_multi_index(indices, cluster.shape), np.ma.getdata(groups["records"]))
        return found

    def _streamed(self, together: list[Cluster], codings: dict[Column, CodeExpression]) -> list[Counts]:
        """Count many tables: the backend makes the codes, in one pass, and NumPy counts them."""
        table, prepared = self._prepared(codings)
        dtypes, gaps = [c.dtype for c in prepared.values()], [c.gap for c in prepared.values()]
        query = f"SELECT {', '.join(coding.small for coding in prepared.values())} FROM {table}"
        found = [np.zeros(prod(cluster.shape), dtype=np.int64) for cluster in together]
        with self._lock:
            for batch in streamed(self._stream(query), dtypes, gaps):
                for start in range(0, len(batch[0]), _BLOCK):
                    block = [column[start : start + _BLOCK] for column in batch]
                    pairs = zip(prepared.items(), block, strict=True)
                    codes = {
                        column: coding.placed(numbers.astype(coding.dtype, copy=False))
                        for (column, coding), numbers in pairs
                    }
                    for cluster, counts in zip(together, found, strict=True):
                        counts += count_codes(codes, cluster)
        return found

    def _coding(self, column: Column) -> CodeExpression:
        return coded(column, self._types[column.name])

    def _prepared(self, codings: dict[Column, CodeExpression]) -> tuple[str, dict[Column, CodeExpression]]:
        """Return a table in which what the codings need is computed once for each record, and the codings."""
        unused = (name for name in (f"discreet_{index}" for index in count()) if name not in self._plain)
        made, prepared = ["*"], {}
        for column, coding in codings.items():
            name = next(unused) if coding.given else ""
            made += [f"{coding.given} AS {name}"] if coding.given else []
            prepared[column] = replace(coding, sql=coding.sql.replace(GIVEN, name))
        return f"(SELECT {', '.join(made)} FROM {_VIEW})", prepared

    def _ask(self, query: str) -> "DuckDBPyConnection | DuckDBPyRelation":
        """Return the answer to a query."""
        if self._connection is not None:
            return self._connection.execute(query.replace(_VIEW, self._table))
        return self._stream(query)

    def _stream(self, query: str) -> "DuckDBPyRelation":
        """Return the answer to a query as a stream. A relation is queried under a name that no other query uses."""
        if self._connection is not None:
            return self._connection.sql(query.replace(_VIEW, self._table))
        view = f"discreet_view_{next(_QUESTIONS)}"
        return cast("DuckDBPyRelation", self._relation.query(view, query.replace(_VIEW, view)))

    def _asked(self, names: Iterable[str]) -> None:
        """Refuse columns that are not there, and those of another program's frame on which one record stops DuckDB."""
        wanted = sorted(set(names))
        require_columns(set(wanted), self.names())
        scans = self._scans
        unheld = [name for name in wanted if not is_held(self._types[name])]
        if "PANDAS_SCAN" in scans:
            raise SourceError(
                "The DuckDB relation reads a pandas frame, and DuckDB guesses the types of its columns from some "
                "records and may stop at others. Nothing was counted. Pass that frame itself instead of the relation, "
                "or copy it into a DuckDB table."
            )
        if unheld and "ARROW_SCAN" in scans:
            raise SourceError(
                f"The DuckDB relation reads {unheld[0]!r}, of the type {self._types[unheld[0]]}, from another "
                "library's frame, and DuckDB would stop at a value outside its range. Nothing was counted. Pass that "
                "frame itself instead of the relation, or copy it into a DuckDB table."
            )

    @cached_property
    def _scans(self) -> str:
        """Return the backend's plan of reading the relation, in which it names frames of other libraries."""
        if self._holds_moments:
            return ""
        with self._lock:
            return answered(lambda: str(self._ask(f"EXPLAIN (FORMAT json) FROM {_VIEW}").fetchall()), "plan the count")

    def sum_moments(self, plan: MomentPlan) -> tuple[Wholes, int]:
        """Return the sum of every product of the plan, and the number of records."""
        self._asked(base.column for base in plan.bases)
        return answered(lambda: self._sum(plan), "sum them")

    def _sum(self, plan: MomentPlan) -> tuple[Wholes, int]:
        with self._lock:
            return moments_of(self._batches(plan), plan)

    def whole_rows(self, plan: MomentPlan) -> Wholes:
        """Return the whole numbers of every record, the constant last."""
        self._asked(base.column for base in plan.bases)
        return answered(lambda: self._whole_rows(plan), "read them")

    def _whole_rows(self, plan: MomentPlan) -> Wholes:
        with self._lock:
            return whole_rows_of(self._batches(plan), plan)

    def sum_groups(self, plan: GroupPlan) -> tuple[Wholes, int]:
        """Return the sums of a number in every group, and the number of records: the backend groups by codes."""
        self._asked(plan.names)
        return answered(lambda: self._sum_groups(plan), "sum them")

    def _sum_groups(self, plan: GroupPlan) -> tuple[Wholes, int]:
        unit = plan.unit
        inner, names, codings = self._positions(plan)
        keys, known = "".join(f"{name}, " for name in names), "count(a)" if plan.leaves_gaps_out else "count(*)"
        if names and plan.leaves_gaps_out:  # a group of their own for records without a value: quicker than two counts
            marked = f"CASE WHEN a IS NULL THEN {_NO_VALUE} ELSE {names[0]} END AS {keys}a"
            inner, known = f"SELECT {marked} FROM ({inner})", "count(*)"
        far = f"(a - {unit // 2}::DOUBLE)"
        square = f"floor({far} * {far} * {4 / unit!r}::DOUBLE + 0.5::DOUBLE)"  # (2 a - U)^2 / U, exact: a power of two
        sums = f"coalesce(sum(a), 0) AS a, coalesce(sum({square}), 0) AS b, {known} AS known"
        query = f"SELECT {keys}{sums}, count(*) AS records FROM ({inner})"
        with self._lock:
            found = self._ask(query + (f" GROUP BY {', '.join(names)}" if names else "")).fetchnumpy()
        numbers = [np.ma.filled(found[name], c.gap).astype(np.intp) for c, name in zip(codings, names, strict=True)]
        has_value = numbers[0] != _NO_VALUE if names else np.ones(len(found["a"]), dtype=bool)
        cells = _cells_of(plan, codings, [each[has_value] for each in numbers], int(has_value.sum()))
        totals = np.zeros((plan.cells, 3), dtype=np.int64)
        parts = [np.ma.getdata(found[name])[has_value].astype(np.int64) for name in ("a", "b", "known")]
        np.add.at(totals, cells, np.column_stack(parts))
        return totals, int(np.ma.getdata(found["records"]).sum())

    def _positions(self, plan: GroupPlan) -> tuple[str, list[str], list[CodeExpression]]:
        """Return a query for the codes of every record's groups and its position, a; their names, and codings."""
        measure = plan.measure
        table, codings = self._prepared({column: self._coding(column) for column in plan.groups})
        names = [f"code_{index}" for index in range(len(codings))]
        codes = "".join(f"({c.sql})::INTEGER AS {n}, " for c, n in zip(codings.values(), names, strict=True))
        value = number(measure.column, measure.dates, self._types[measure.column])
        missing = None if plan.leaves_gaps_out else measure.missing
        index = placed("v", (measure.low, measure.high), missing, plan.unit)
        keys = "".join(f"{name}, " for name in names)
        inner = (
            f"SELECT {keys}{index} AS a FROM (SELECT {codes}{value} AS v FROM {table})"  # no other column is called v
        )
        return inner, names, list(codings.values())

    def count_places(self, plan: GroupPlan) -> tuple[Wholes, int]:
        """Return how many records of every group lie at each position, then how many have no value; and all."""
        self._asked(plan.names)
        return answered(lambda: self._count_places(plan), "count them")

    def _count_places(self, plan: GroupPlan) -> tuple[Wholes, int]:
        inner, names, codings = self._positions(plan)
        keys = "".join(f"{name}, " for name in names)
        query = f"SELECT {keys}coalesce(a, -1)::BIGINT AS a, count(*) AS records FROM ({inner}) GROUP BY ALL"
        with self._lock:
            found = self._ask(query).fetchnumpy()
        numbers = [np.ma.filled(found[name], c.gap).astype(np.intp) for c, name in zip(codings, names, strict=True)]
        positions, records = (np.ma.getdata(found[name]).astype(np.int64) for name in ("a", "records"))
        cells = _cells_of(plan, codings, numbers, len(positions)) * (plan.unit + 1) + positions
        totals = np.zeros(plan.cells * (plan.unit + 1) + 1, dtype=np.int64)
        np.add.at(totals, np.where(positions < 0, len(totals) - 1, cells), records)
        return totals, int(records.sum())

    def sum_weights(self, plan: WeightPlan) -> tuple[Wholes, int]:
        """Return weighted sums of a number in every group, and the number of records."""
        self._asked(plan.names)
        return answered(lambda: self._sum_weights(plan), "sum them")

    def _sum_weights(self, plan: WeightPlan) -> tuple[Wholes, int]:
        with self._lock:
            return weighted_sums(self._batches(plan.factors), plan)

    def id_rows(self, plan: IdPlan) -> IdRows:
        """Return what the rows of each id add up to: the backend groups by the bytes of ids and by codes."""
        self._asked(plan.names)
        return answered(lambda: self._id_rows(plan), "add up the rows of each id")

    def _id_rows(self, plan: IdPlan) -> IdRows:
        measure = plan.measure
        table, codings = self._prepared({column: self._coding(column) for column in plan.groups})
        names = [f"code_{index}" for index in range(len(codings))]
        codes = "".join(f"({c.sql})::INTEGER AS {n}, " for c, n in zip(codings.values(), names, strict=True))
        value = number(measure.column, measure.dates, self._types[measure.column])
        selected = f"{codes}{id_bytes(plan.ids, self._types[plan.ids])} AS id, "
        selected += f"{steps(value, (measure.low, measure.high), plan.step)} AS s"
        within = "greatest(least(coalesce({0}(s), {1}), 4611686018427387904), -4611686018427387904)::BIGINT AS {0}"
        sums = ", ".join(within.format(*each) for each in (("sum", 0), ("max", -(2**62)), ("min", 2**62)))
        listed = "".join(f"{name}, " for name in names)
        grouped = (
            f"SELECT {listed}id, {sums}, count(s) AS known FROM (SELECT {selected} FROM {table}) GROUP BY {listed}id"
        )
        keys = ", ".join(f"{_KEY.format('id', start)} AS key_{start}" for start in (1, 17))
        with self._lock:
            found = self._ask(f"SELECT {listed}{keys}, sum, max, min, known FROM ({grouped})").fetchnumpy()
        cells = np.zeros(len(found["known"]), dtype=np.int64)
        for (column, coding), name in zip(codings.items(), names, strict=True):
            own_codes = coding.placed(np.ma.filled(found[name], coding.gap).astype(np.intp))
            cells = cells * len(column.levels) + own_codes
        parts = [np.ma.getdata(found[name]).astype(np.int64) for name in ("sum", "max", "min", "known")]
        key = np.column_stack([np.ma.getdata(found[name]).astype(np.uint64) for name in ("key_1", "key_17")])
        return IdRows.together([IdRows(key, cells, *parts)])

    def _batches(self, plan: MomentPlan, ids: Sequence[str] = ()) -> Iterator["_Numbers"]:
        """Yield the codes and numbers that the factors are made of, and keys of ids, as the backend streams them."""
        columns = dict.fromkeys(f.declared for f in plan.bases if isinstance(f, Indicator))
        measured = dict.fromkeys((f.column, f.dates) for f in plan.bases if isinstance(f, Measure))
        table, codings = self._prepared({column: self._coding(column) for column in columns})
        numbers = {(name, dates): number(name, dates, self._types[name]) for name, dates in measured}
        keys = [_KEY.format(id_bytes(name, self._types[name]), start) for name in ids for start in (1, 17)]
        selected = [coding.small for coding in codings.values()] + list(numbers.values()) + keys
        dtypes = [coding.dtype for coding in codings.values()] + [np.dtype(np.float64)] * len(numbers)
        gaps = [coding.gap for coding in codings.values()] + [np.nan] * len(numbers)
        dtypes += [np.dtype(np.uint64)] * len(keys)
        gaps += [0] * len(keys)
        for batch in streamed(self._stream(f"SELECT {', '.join(selected)} FROM {table}"), dtypes, gaps):
            pairs = zip(codings.items(), batch, strict=False)
            found: dict[_Raw, Array] = {
                column: c.placed(codes.astype(c.dtype, copy=False)) for (column, c), codes in pairs
            }
            rest = batch[len(codings) :]
            own_keys = [np.column_stack(rest[k : k + 2]).astype(np.uint64) for k in range(len(numbers), len(rest), 2)]
            yield _Numbers(
                found | dict(zip(numbers, rest[: len(numbers)], strict=True)), dict(zip(ids, own_keys, strict=True))
            )

    def stored(self, raws: "Sequence[Raw]", also: Sequence[str]) -> Iterator[Batch]:
        """Yield all records with what derived columns are made of, and with the keys of further columns."""
        self._asked([*(raw.name if isinstance(raw, Column) else raw[0] for raw in raws), *also])
        factors = [
            Indicator(each, 0) if isinstance(each, Column) else Measure(each[0], 0, 1, 0, each[1]) for each in raws
        ]
        with self._lock:
            yield from self._batches(MomentPlan(tuple(factors), (), 1), also)

    def with_derived(self, derived: "Derived") -> Source:
        """Return the same records with derived columns beside the stored ones."""
        from discreet.records._derived import DerivedSource  # it builds on this module

        return DerivedSource(self, derived)

    def match(self, columns: Sequence[Column], most: int = 5) -> list[ColumnMatch]:
        """Return how the records match each column: for the data holder's eyes only."""
        self._asked(column.name for column in columns)
        return answered(lambda: self._match(columns, most), "compare them with what is declared")

    def _match(self, columns: Sequence[Column], most: int) -> list[ColumnMatch]:
        apart = [undeclared_apart(column) for column in columns]
        counts = self._count([[column] for column in apart])
        found = []
        for column, other, total in zip(columns, apart, counts, strict=True):
            values = self._undeclared(other, most) if total[-1] else {}
            found.append(match_of(column, total, values))
        return found

    def _undeclared(self, column: Column, most: int) -> Counter[str]:
        """Return the most frequent values at the level for outside values, which is theirs alone."""
        name, kind = identifier(column.name), self._types[column.name]
        table, prepared = self._prepared({column: self._coding(column)})
        code = prepared[column]
        declared = ", ".join(map(str, np.flatnonzero(code.levels != column.home)))
        where = f"coalesce(({code.sql}) NOT IN ({declared}), true)" if declared else "true"
        is_unheld = any(word in kind for word in UNHELD)
        value = f"{name}::VARCHAR" if is_unheld else f"encode({name})" if kind == "VARCHAR" else name
        rows_of = f"SELECT {value} AS value, count(*) AS records FROM {table} WHERE {where}"
        with self._lock:
            rows = self._ask(f"{rows_of} GROUP BY ALL ORDER BY records DESC, value LIMIT {most}").fetchall()
        found: Counter[str] = Counter()
        for each, records in rows:
            found[shown(_text(each))] += int(records)
        return found


def _cells_of(
    plan: GroupPlan, codings: Sequence[CodeExpression], numbers: Sequence[NDArray[np.intp]], rows: int
) -> NDArray[np.intp]:
    """Return the number of the group of every row that a query gave, from the codes of its columns."""
    indices = [coding.placed(code) for coding, code in zip(codings, numbers, strict=True)]
    shape = tuple(len(column.levels) for column in plan.groups)
    return np.ravel_multi_index(indices, shape) if indices else np.zeros(rows, dtype=np.intp)


def _text(value: object) -> object:
    return value.decode("utf-8", "replace") if isinstance(value, bytes | bytearray) else value


def _raw(factor: Base) -> "_Raw":
    """Return what must be known of a record for a factor: the code of a column, or its number."""
    return factor.declared if isinstance(factor, Indicator) else (factor.column, factor.dates)


class _Numbers(Batch):
    def __init__(self, columns: Mapping["_Raw", Array], keys: Mapping[str, Keys]) -> None:
        self._columns, self._keys = columns, keys

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def raw(self, factor: Base) -> Array:
        return self._columns[_raw(factor)]

    def codes(self, column: Column) -> Codes:
        return cast(Codes, self._columns[column])

    def numbers(self, name: str, dates: bool) -> Floats:
        return cast(Floats, self._columns[name, dates])

    def keys(self, name: str) -> Keys:
        return self._keys[name]

    def values(self, name: str, indices: NDArray[np.intp]) -> Sequence[object]:
        raise SourceError("A stream of DuckDB holds no values as they are stored.")
