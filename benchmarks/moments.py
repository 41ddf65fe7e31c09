"""Moments of 10^7 rows x 14 features in one pass: ours, in whole numbers, against plain float sums written by hand.

Ours sums inside the engine. The third way hands the raw columns to NumPy in Arrow batches, does the same steps there
and multiplies matrices of floats, which are exact as long as a batch has fewer than 2^23 rows; it needs pyarrow.
"""

from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import duckdb
import numpy as np
from figures import record

import discreet as dc
from discreet.records import Measure
from discreet.records._moments import whole_numbers
from discreet.regression import LinearRegression, sum_moments

ROWS, FEATURES, REPEATS, BATCH = 10**7, 14, 3, 2**17
NAMES = [f"x{number}" for number in range(FEATURES)]
MODEL = LinearRegression(
    "y", NAMES, dict.fromkeys((*NAMES, "y"), (-1, 1)), noise="0.2", intercept=False, missing="middle"
)


def write(path: Path) -> None:
    columns = ", ".join(f"random() * 2 - 1 AS {name}" for name in (*NAMES, "y"))
    duckdb.sql(f"COPY (SELECT {columns} FROM range({ROWS})) TO '{path}' (FORMAT parquet)")


def by_hand(path: Path) -> None:
    pairs = [(first, second) for i, first in enumerate(NAMES) for second in (*NAMES[i:], "y")]
    sums = ", ".join(f"sum({first} * {second})" for first, second in pairs)
    assert len(duckdb.execute(f"SELECT {sums} FROM '{path}'").fetchall()) == 1


def ours(path: Path) -> None:
    assert MODEL.statistics(dc.read(path)).describes(MODEL, ROWS)


def by_batches(path: Path) -> list[int]:
    factors = [factor for factor in MODEL.layout.plan.factors if isinstance(factor, Measure)]
    total = np.zeros((len(factors), len(factors)), dtype=np.int64)
    relation = duckdb.sql(f"SELECT {', '.join(factor.column for factor in factors)} FROM '{path}'")
    assert relation is not None
    for batch in relation.to_arrow_reader(BATCH):
        values = [np.asarray(column, dtype=float) for column in batch.columns]
        rows = np.array([whole_numbers(v, f, MODEL.grid) for v, f in zip(values, factors, strict=True)], dtype=float)
        total += (rows @ rows.T).astype(np.int64)  # exact: products up to 2^30, 2^17 of them
    return [int(total[i, j]) for i, j in MODEL.layout.plan.products]


def main() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "records.parquet"
        write(path)
        times = []
        for _ in range(REPEATS + 1):  # in turns: others use this machine too
            marks = [perf_counter()]
            for way in (by_hand, ours, by_batches):
                way(path)
                marks.append(perf_counter())
            times.append(np.diff(marks).tolist())
        assert by_batches(path) == sum_moments(dc.read(path), MODEL.layout.plan)[0].tolist()
    hand, mine, batches = (median(column) for column in zip(*times[1:], strict=True))
    print(f"{ROWS} rows x {FEATURES} features: float sums by hand {hand:.2f} s, discreet {mine:.2f} s")
    record(
        f"sums of {ROWS:,} rows x {FEATURES} features",
        mine,
        "s",
        f"float sums {hand:.2f} s",
        "at most 15 times",
        mine > 15 * hand,
    )
    print(f"ratio {mine / hand:.2f} (goal: at most 15); by Arrow batches {batches:.2f} s, ratio {batches / hand:.2f}")


if __name__ == "__main__":
    main()
