"""Frames of Spark, classic or Connect, counted where they lie: one pass over the rows, and no row is copied.

Every task turns its batches of Arrow into codes with the same functions that count a table of Arrow, and hands on the
few cells that occurred; Spark adds these up. There is no GROUPING SETS, which would copy every row once for each table,
and no comparison by Spark, whose collations and casts depend on settings. Workers need numpy and pyarrow; what they run
of this library travels with the query.
"""

import copyreg
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from sys import version_info
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from discreet._core.arrays import Counts
from discreet._core.errors import SourceError
from discreet.records._arrow import ArrowBatch
from discreet.records._columns import Column
from discreet.records._grouped_sums import GroupPlan, group_sums, place_counts
from discreet.records._matches import ColumnMatch, matches_in, ordered
from discreet.records._moments import MomentPlan, Wholes, moments_of
from discreet.records._persons import IdPlan, IdRows, id_rows
from discreet.records._source import Batch, Source, answered, one_pass_only, require_columns
from discreet.records._statistics import Cluster, Codes, clusters, count_codes, margins
from discreet.records._weights import SUMS, WeightPlan, weighted_sums

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, Row, SparkSession

    from discreet.records._derived import Derived
    from discreet.records._expressions import Raw

_SIMPLE = (
    "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "string", "char", "varchar",
    "date", "timestamp", "timestamp_ntz",
)  # fmt: skip
_TOTALS = "position long, total long"
_ID_ROWS = ("first", "second", "cell", "sum", "largest", "smallest", "rows")
Totals = tuple[Codes | list[str], Codes]
Work = Callable[[Iterator[Batch]], Iterator[Totals]]


class SparkSource:
    """Records in a frame of Spark."""

    def __init__(self, frame: "DataFrame", derived: "Derived | None" = None) -> None:
        self._frame, self._derived = frame, derived

    def __repr__(self) -> str:
        return "SparkSource(<records>)"

    def names(self) -> list[str]:
        """Return the names of the columns, for the data holder; no record is read."""
        own = [] if self._derived is None else list(self._derived.definitions)
        return list(dict.fromkeys([*self._frame.columns, *own]))

    def stored(self, raws: "Sequence[Raw]", also: Sequence[str]) -> Iterator[Batch]:
        """Refuse: records stay where they are, and columns are derived there."""
        raise one_pass_only("Spark table")

    def with_derived(self, derived: "Derived") -> Source:
        """Return the same records with derived columns, which the workers evaluate."""
        return SparkSource(self._frame, derived)

    def count_families(self, families: Sequence[Sequence[Column]]) -> list[Counts]:
        """Return one table of counts for each family of columns, its axes in the order of the columns."""
        columns = list(dict.fromkeys(column for family in families for column in family))
        names = self._required(column.name for column in columns)
        together = clusters(families)
        return answered(lambda: margins(families, together, self._tables(names, columns, together)), "count them")

    def _tables(self, names: list[str], columns: list[Column], together: list[Cluster]) -> list[Counts]:
        sizes = [int(np.prod(cluster.shape)) for cluster in together]
        ends = np.cumsum([0, *sizes])

        def cells(batches: Iterator[Batch]) -> Iterator[Totals]:
            tables = [np.zeros(size, dtype=np.int64) for size in sizes]
            for batch in batches:
                codes = {column: batch.codes(column) for column in columns}
                for cluster, table in zip(together, tables, strict=True):
                    table += count_codes(codes, cluster)
            everything = np.concatenate(tables)
            occurring = np.flatnonzero(everything)
            yield occurring, everything[occurring]

        totals = np.zeros(int(ends[-1]), dtype=np.int64)
        for index, total in self._summed(names, cells):
            totals[int(index)] = total
        return [totals[start:end] for start, end in pairwise(ends)]

    def sum_moments(self, plan: MomentPlan) -> tuple[Wholes, int]:
        """Return the sum of every product of the plan, and the number of records."""
        names = self._required(base.column for base in plan.bases)

        def sums(batches: Iterator[Batch]) -> Iterator[Totals]:
            found, records = moments_of(batches, plan)
            yield np.arange(len(found) + 1), np.append(found, records)

        def add() -> tuple[list[int], int]:
            totals = {int(index): total for index, total in self._summed(names, sums)}
            return [totals.get(index, 0) for index in range(len(plan.products))], totals.get(len(plan.products), 0)

        found, records = answered(add, "sum them")
        if records > plan.most_records:
            raise SourceError(f"At most {plan.most_records} records can be summed with a grid of {plan.grid}.")
        return np.array(found, dtype=np.int64), records

    def whole_rows(self, plan: MomentPlan) -> Wholes:
        """Refuse: records stay where they are."""
        raise one_pass_only("Spark table")

    def sum_groups(self, plan: GroupPlan) -> tuple[Wholes, int]:
        """Return the sums of a number in every group, and the number of records."""
        found, records = self._sum_cells(plan.names, 3 * plan.cells, lambda batches: group_sums(batches, plan))
        return found.reshape(-1, 3), records

    def count_places(self, plan: GroupPlan) -> tuple[Wholes, int]:
        """Return how many records of every group lie at each position, then how many have no value; and all."""
        last = plan.cells * (plan.unit + 1) + 1
        return self._sum_cells(plan.names, last, lambda batches: place_counts(batches, plan))

    def sum_weights(self, plan: WeightPlan) -> tuple[Wholes, int]:
        """Return weighted sums of a number in every group, and the number of records."""
        found, records = self._sum_cells(plan.names, SUMS * plan.cells, lambda batches: weighted_sums(batches, plan))
        return found.reshape(-1, SUMS), records

    def _sum_cells(
        self, columns: Sequence[str], last: int, sum_up: Callable[[Iterator[Batch]], tuple[Wholes, int]]
    ) -> tuple[Wholes, int]:
        """Return all sums, and the number of records: tasks hand on those that are not zero."""
        names = self._required(columns)

        def sums(batches: Iterator[Batch]) -> Iterator[Totals]:
            found, records = sum_up(batches)
            everything = np.append(found.ravel(), records)
            occurring = np.flatnonzero(everything)
            yield occurring, everything[occurring]

        totals = np.zeros(last + 1, dtype=np.int64)
        for index, total in answered(lambda: self._summed(names, sums), "sum them"):
            totals[int(index)] = total
        return totals[:last], int(totals[last])

    def id_rows(self, plan: IdPlan) -> IdRows:
        """Return what the rows of each id add up to: tasks make keys of ids, and Spark groups by these numbers."""
        names, derived = self._required(plan.names), self._derived

        def task(batches: Iterator["pyarrow.RecordBatch"]) -> Iterator["pyarrow.RecordBatch"]:
            import pyarrow

            given = _batches(batches, names, derived)
            persons = id_rows(given, plan)
            keys = persons.keys.view(np.int64)
            columns = [
                keys[:, 0],
                keys[:, 1],
                persons.cells,
                persons.sums,
                persons.largest,
                persons.smallest,
                persons.rows,
            ]
            arrays = [pyarrow.array(column, pyarrow.int64()) for column in columns]
            yield pyarrow.RecordBatch.from_arrays(arrays, names=list(_ID_ROWS))

        def add() -> IdRows:
            from pyspark.sql.functions import expr

            made = mapped(self._frame, names, task, ", ".join(f"{name} long" for name in _ID_ROWS))
            totals = [expr(each) for each in ("sum(`sum`)", "max(largest)", "min(smallest)", "sum(`rows`)")]
            rows = self._collected(made.groupBy("first", "second", "cell").agg(*totals))
            found = np.array([tuple(row) for row in rows], dtype=np.int64).reshape(-1, len(_ID_ROWS))
            keys = np.ascontiguousarray(found[:, :2]).view(np.uint64)
            return IdRows.together([IdRows(keys, *found[:, 2:].T)])

        return answered(add, "add up the rows of each id")

    def match(self, columns: Sequence[Column], most: int = 5) -> list[ColumnMatch]:
        """Return how the records match each column, in one pass: for the data holder's eyes only."""
        names = self._required(column.name for column in columns)

        def matched(batches: Iterator[Batch]) -> Iterator[Totals]:
            for batch in batches:
                for index, match in enumerate(matches_in([batch], columns)):
                    levels = [f"{index} level {level}" for level in range(len(match.counts))]
                    texts = [f"{index} value {text}" for text, _ in match.values]
                    totals = [*match.counts, match.undeclared, *(times for _, times in match.values)]
                    yield [*levels, f"{index} undeclared ", *texts], np.array(totals, dtype=np.int64)

        rows = answered(
            lambda: self._summed(names, matched, "position string, total long"), "compare them with what is declared"
        )
        levels, undeclared, values = ([Counter[str]() for _ in columns] for _ in range(3))
        kinds = {"level": levels, "undeclared": undeclared, "value": values}
        for key, total in rows:
            index, kind, which = str(key).split(" ", 2)
            kinds[kind][int(index)][which] = total
        return [
            ColumnMatch(
                np.array([levels[index][str(level)] for level in range(len(column.levels))], dtype=np.int64),
                undeclared[index].total(),
                ordered(values[index])[:most],
            )
            for index, column in enumerate(columns)
        ]

    def _required(self, names: Iterable[str]) -> list[str]:
        """Return the stored columns that these are, or are made of."""
        wanted = list(dict.fromkeys(names))
        if self._derived is not None:
            definitions = self._derived.definitions
            operands = {name: definitions[name].operation.operands() for name in wanted if name in definitions}
            stored = {
                name: [raw.name if isinstance(raw, Column) else raw[0] for raw in raws]
                for name, raws in operands.items()
            }
            wanted = list(dict.fromkeys(each for name in wanted for each in stored.get(name, [name])))
        require_columns(set(wanted), self._frame.columns)
        return wanted

    def _summed(self, names: list[str], work: Work, schema: str = _TOTALS) -> list[tuple[str | int, int]]:
        """Return the totals of what all tasks found, by index."""
        rows = self._collected(summed(self._frame, names, work, schema, self._derived))
        return [(index, int(total)) for index, total in rows]

    def _collected(self, made: "DataFrame") -> list["Row"]:
        """Return the rows of a small frame that tasks of ours made."""
        try:
            return list(made.collect())
        except Exception:
            if _has_workers(self._frame.sparkSession):
                raise
        raise SourceError(
            "Spark's workers cannot run Python functions on Arrow batches. Nothing was counted and nothing was "
            f"charged. They need Python {version_info[0]}.{version_info[1]}, the version running here, with numpy "
            "and pyarrow: install these on the cluster, or set the variable PYSPARK_PYTHON to a Python that has "
            "them before Spark starts."
        )


def _has_workers(spark: "SparkSession") -> bool:
    """Return whether workers have what they need, by a task without records."""

    def task(batches: Iterator["pyarrow.RecordBatch"]) -> Iterator["pyarrow.RecordBatch"]:
        import numpy  # noqa: F401
        import pyarrow  # noqa: F401

        yield from batches

    try:
        spark.range(1).mapInArrow(task, "id long").collect()
    except Exception:  # noqa: BLE001 - whatever it is, there is no record in it
        return False
    return True


def _batches(batches: Iterator["pyarrow.RecordBatch"], names: list[str], derived: "Derived | None") -> Iterator[Batch]:
    """Yield the batches of a task, with derived columns beside the stored ones."""
    for batch in batches:
        made = ArrowBatch(dict(zip(names, batch.columns, strict=True)), batch.num_rows)
        yield made if derived is None else derived.batch(made)


def summed(
    frame: "DataFrame", names: list[str], work: Work, schema: str = _TOTALS, derived: "Derived | None" = None
) -> "DataFrame":
    """Return the frame of Spark with the totals of all tasks; nothing is computed yet.

    Sums are decimals, which do not overflow.
    """

    def task(batches: Iterator["pyarrow.RecordBatch"]) -> Iterator["pyarrow.RecordBatch"]:
        import pyarrow

        kind = pyarrow.string() if schema.startswith("position string") else pyarrow.int64()
        for found, totals in work(_batches(batches, names, derived)):
            columns = [pyarrow.array(found, kind), pyarrow.array(totals, pyarrow.int64())]
            yield pyarrow.RecordBatch.from_arrays(columns, names=["position", "total"])

    return mapped(frame, names, task, schema).groupBy("position").agg({"total": "sum"})


def mapped(
    frame: "DataFrame",
    names: list[str],
    task: Callable[[Iterator["pyarrow.RecordBatch"]], Iterator["pyarrow.RecordBatch"]],
    schema: str,
) -> "DataFrame":
    """Return the frame of Spark that tasks make of some columns; nothing is computed yet.

    Columns are taken by their index: Spark does not distinguish names by case.
    """
    indices = [frame.columns.index(name) for name in names]
    kinds = [field.dataType.simpleString().partition("(")[0].partition(" ")[0] for field in frame.schema.fields]
    numbered = frame.toDF(*(f"c{index}" for index in range(len(kinds))))
    taken = [f"c{p}" if kinds[p] in _SIMPLE else f"CAST(NULL AS STRING) AS c{p}" for p in indices]
    packed = _packed(task)

    def unpacked(batches: Iterator["pyarrow.RecordBatch"]) -> Iterator["pyarrow.RecordBatch"]:
        from pickle import loads

        return loads(packed)(batches)  # type: ignore[no-any-return]

    return numbered.selectExpr(*taken).mapInArrow(unpacked, schema)


def _packed(task: Callable[[Iterator["pyarrow.RecordBatch"]], Iterator["pyarrow.RecordBatch"]]) -> bytes:
    """Return a function with all that it needs of this library, so that workers need not have it."""
    import pyspark

    import discreet

    cloudpickle: ModuleType = pyspark.cloudpickle

    cloudpickle.register_pickle_by_value(discreet)
    copyreg.pickle(cached_property, lambda each: (_cached_property, (each.func, each.attrname)))
    try:
        packed: bytes = cloudpickle.dumps(task)
    finally:
        cloudpickle.unregister_pickle_by_value(discreet)
        copyreg.dispatch_table.pop(cached_property)
    return packed


def _cached_property(work: Callable[[object], object], name: str) -> cached_property[object]:
    """Make a cached property anew: the lock that it has in Python 3.11 cannot travel."""
    made = cached_property(work)
    made.attrname = name
    return made
