"""Sums of a number in many groups beside the plain aggregate of DuckDB: processor time, the least of three.

    python benchmarks/number_sums.py [rows] [groups]

The plain aggregate knows no bounds, no gaps and no declared levels; what discreet adds is what makes it private.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

import duckdb

import discreet as dc


def least(work: Callable[[], object]) -> float:
    """Return the least processor time of three runs."""
    times = []
    for _ in range(3):
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times)


def main(rows: int, groups: int) -> None:
    """Print both times and their ratio."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.parquet"
        made = (
            f"SELECT (random() * {groups})::INTEGER % {groups} AS region, random() * 200000 AS pay FROM range({rows})"
        )
        duckdb.execute(f"COPY ({made}) TO '{path}' (FORMAT parquet)")
        region = dc.Column("region", tuple(range(groups)), outside=0)
        model = dc.NumberSums("pay", bounds=(0, 200_000), by=region)
        query = f"SELECT region, count(*), sum(pay), sum(pay * pay) FROM '{path}' GROUP BY region"
        plain = least(lambda: duckdb.execute(query).fetchall())
        ours = least(lambda: model.statistics(dc.read(path)))
        print(
            f"{rows:,} rows, {groups:,} groups: plain DuckDB {plain:.2f} s, discreet {ours:.2f} s: {ours / plain:.2f}x"
        )


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:3]]
    main(*(given + [10_000_000, 1000][len(given) :]))
