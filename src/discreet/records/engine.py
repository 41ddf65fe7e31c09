"""Tables that DuckDB holds: counted inside the engine, by groups of codes.

SQL turns each value of a declared column into a whole number by looking at this value alone, and only such numbers are
grouped. Texts become numbers by a cast to a declared enumeration, which compares bytes whatever collation a column has
and gives null for what is not declared; numbers by their place in a declared range. No expression can fail on a value.
Which expression is used depends on the type of the column alone, never on a record.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from math import prod
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.records.batches import answered, is_stranger, require_columns, shown
from discreet.records.columns import Column
from discreet.records.expressions import GIVEN, Coding, coded, identifier, number
from discreet.records.moments import Factor, Floats, Indicator, Measure, MomentPlan, Wholes, moments_of
from discreet.records.stream import float_batches
from discreet.records.tables import Cluster, Counts, clusters, margins

_QUESTIONS = count()
_VIEW = "\x02"  # as GIVEN
_MOST_STRANGERS = 1_000
_FEW = 3  # columns that are grouped by their codes as they are


class EngineSource:
    """Records in a relation of DuckDB, or in a table of one of its connections."""

    def __init__(self, relation: Any, connection: Any = None, table: str = "") -> None:
        self._relation, self._connection, self._table = relation, connection, table
        self._types = {name: str(kind) for name, kind in zip(relation.columns, relation.types, strict=True)}
        self._lock = Lock()  # one connection answers one question at a time

    @classmethod
    def of_table(cls, connection: Any, table: str) -> "EngineSource":
        """Return the records of a table, or of a function that gives one, by a connection of its own."""
        return cls(connection.sql(f"FROM {table}"), connection, table)

    def __repr__(self) -> str:
        return "EngineSource(<records>)"

    def names(self) -> list[str]:
        """Return the names of the columns, for the data holder; no record is read."""
        return list(self._types)

    def count_families(self, families: Sequence[Sequence[Column]]) -> list[Counts]:
        """Return one table of counts for each family of columns, its axes in the order of the columns."""
        require_columns({column.name for family in families for column in family}, self.names())
        return answered(lambda: self._count(families), "count them")

    def _count(self, families: Sequence[Sequence[Column]]) -> list[Counts]:
        together = clusters(families)
        columns = list(dict.fromkeys(column for cluster in together for column in cluster.columns))
        codings = {column: self._coding(column) for column in columns}
        table, codings = self._prepared(codings)
        asked = [_grouped(cluster, codings, place, table) for place, cluster in enumerate(together)]
        with self._lock:
            rows = self._ask(" UNION ALL ".join(asked)).fetchnumpy()
        places, keys, records = (rows[name] for name in ("place", "key", "records"))
        tables = []
        for place, cluster in enumerate(together):
            own = places == place
            tables.append(_placed(cluster, codings, keys[own], records[own]))
        return margins(families, together, tables)

    def _coding(self, column: Column) -> Coding:
        return coded(column, self._types[column.name])

    def _prepared(self, codings: dict[Column, Coding]) -> tuple[str, dict[Column, Coding]]:
        """Return a table in which what the codings need is worked out once for each record, and the codings."""
        unused = (name for name in (f"discreet_{place}" for place in count()) if name not in self._types)
        made, prepared = ["*"], {}
        for column, coding in codings.items():
            name = next(unused) if coding.given else ""
            made += [f"{coding.given} AS {name}"] if coding.given else []
            prepared[column] = replace(coding, sql=coding.sql.replace(GIVEN, name))
        return f"(SELECT {', '.join(made)} FROM {_VIEW})", prepared

    def _ask(self, query: str) -> Any:
        """Return the answer to a query. A relation is asked under a name that no other question uses."""
        if self._connection is not None:
            return self._connection.execute(query.replace(_VIEW, self._table))
        view = f"discreet_view_{next(_QUESTIONS)}"
        return self._relation.query(view, query.replace(_VIEW, view))

    def _stream(self, query: str) -> Any:
        """Return the answer to a query as something that streams it."""
        return self._ask(query) if self._connection is None else self._connection.sql(query.replace(_VIEW, self._table))

    def sum_moments(self, plan: MomentPlan) -> tuple[Wholes, int]:
        """Return the sum of every product of the plan, and the number of records."""
        require_columns({factor.column for factor in plan.factors}, self.names())
        with self._lock:
            return answered(lambda: moments_of(self._batches(plan), plan), "sum them")

    def _batches(self, plan: MomentPlan) -> Iterator["_Floats"]:
        """Give the codes and numbers that the factors are made of, as the engine streams them."""
        columns = dict.fromkeys(f.declared for f in plan.factors if isinstance(f, Indicator))
        measured = dict.fromkeys((f.column, f.dates) for f in plan.factors if isinstance(f, Measure))
        table, codings = self._prepared({column: self._coding(column) for column in columns})
        numbers = {(name, dates): number(name, dates, self._types[name]) for name, dates in measured}
        selected = [f"({coding.sql})::DOUBLE" for coding in codings.values()] + list(numbers.values())
        for floats in float_batches(self._stream(f"SELECT {', '.join(selected)} FROM {table}")):
            pairs = zip(codings.items(), floats, strict=False)
            found: dict[Any, Any] = {column: coding.level(values) for (column, coding), values in pairs}
            yield _Floats(found | dict(zip(numbers, floats[len(codings) :], strict=True)))

    def strangers(self, column: Column, most: int = 5) -> list[tuple[str, int]]:
        """Return the most frequent values that no level declares, and how often: for the data holder's eyes only."""
        require_columns({column.name}, self.names())
        return answered(lambda: self._strangers(column, most), "look for undeclared values")

    def _strangers(self, column: Column, most: int) -> list[tuple[str, int]]:
        name = identifier(column.name)
        value = f"encode({name})" if self._types[column.name] == "VARCHAR" else name
        query = f"SELECT {value} AS value, count(*) AS records FROM {_VIEW} GROUP BY ALL ORDER BY records DESC"
        found: list[tuple[str, int]] = []
        with self._lock:
            answer = self._ask(query)
            while len(found) < most and (rows := answer.fetchmany(_MOST_STRANGERS)):
                plain = ((_text(value), int(records)) for value, records in rows)
                found += [(shown(value), records) for value, records in plain if is_stranger(column, value)]
        return found[:most]


def _text(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes | bytearray) else value


def _raw(factor: Factor) -> Any:
    """Return what must be known of a record for a factor: the code of a column, or its number."""
    return factor.declared if isinstance(factor, Indicator) else (factor.column, factor.dates)


class _Floats:
    def __init__(self, columns: dict[Any, Floats]) -> None:
        self._columns = columns

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def raw(self, factor: Factor) -> NDArray[Any]:
        return self._columns[_raw(factor)]


def _grouped(cluster: Cluster, codings: dict[Column, Coding], place: int, table: str) -> str:
    """Return a query for the records of each combination of codes, packed into one whole number.

    Many codes are packed before they are grouped, few afterwards: that is faster, and the same.
    """
    own = [codings[column] for column in cluster.columns]
    if len(own) > _FEW:
        groups = f"SELECT {_packed([coding.sql for coding in own], own)} AS key, count(*) AS records"
        key = "key"
    else:
        names = [f"code_{number}" for number in range(len(own))]
        codes = ", ".join(f"{coding.sql} AS {name}" for coding, name in zip(own, names, strict=True))
        groups = f"SELECT {codes}, count(*) AS records"
        key = _packed(names, own)
    return f"SELECT {place} AS place, ({key})::BIGINT AS key, records FROM ({groups} FROM {table} GROUP BY ALL)"


def _packed(codes: list[str], codings: list[Coding]) -> str:
    """Return one whole number for several codes; null is one more than the last code."""
    sizes = [len(coding.levels) + 1 for coding in codings]
    kind = "UINTEGER" if prod(sizes) < 2**32 else "UBIGINT"
    steps = [prod(sizes[number + 1 :]) for number in range(len(sizes))]
    terms = zip(codes, sizes, steps, strict=True)
    return " + ".join(f"ifnull({code}, {size - 1})::{kind} * {step}::{kind}" for code, size, step in terms)


def _placed(cluster: Cluster, codings: dict[Column, Coding], keys: Any, records: NDArray[Any]) -> Counts:
    """Return the table of a cluster from the packed codes of its groups."""
    own = [codings[column] for column in cluster.columns]
    digits = np.unravel_index(np.ma.getdata(keys).astype(np.int64), [len(coding.levels) + 1 for coding in own])
    places = [np.append(c.levels, c.home)[digit] for c, digit in zip(own, digits, strict=True)]
    cells = np.ravel_multi_index(places, cluster.shape)
    table = np.zeros(prod(cluster.shape), dtype=np.int64)
    np.add.at(table, cells, np.ma.getdata(records).astype(np.int64))
    return table
