"""Sums of a number in many groups beside the plain aggregate of DuckDB: processor time.

    python benchmarks/number_sums.py [rows] [groups]

Both run in turns, so that a busy machine slows down both, with as many threads as DuckDB takes by itself; the least of
nine runs counts, and the median of the ratios of neighbouring runs stands beside. The plain aggregate knows no bounds,
no gaps and no declared levels; what discreet adds is what makes it private. The bar is for groups: without them the
plain aggregate only adds, and what each record needs first takes most of the time.
"""

import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time

import duckdb
from figures import record

import discreet as dc

RUNS, MOST = 9, 1.5


def timed(work: Callable[[], object]) -> float:
    """Return the processor time of one run."""
    start = process_time()
    work()
    return process_time() - start


def _asked(query: str) -> object:
    return duckdb.execute(query).fetchall()


def _counted(model: dc.NumberSums, path: Path) -> object:
    return model.statistics(dc.read(path))


def main(rows: int, groups: int) -> None:
    """Print both times and their ratio, with groups and without, and with gaps that count as a number."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.parquet"
        made = (
            f"SELECT (random() * {groups})::INTEGER % {groups} AS region, random() * 200000 AS pay FROM range({rows})"
        )
        duckdb.execute(f"COPY ({made}) TO '{path}' (FORMAT parquet)")
        region = dc.Column("region", tuple(range(groups)), outside=0)
        sums = "count(*), sum(pay), sum(pay * pay)"
        by_region = f"SELECT region, {sums} FROM '{path}' GROUP BY region"
        asked = {
            f"{groups:,} groups": (dc.NumberSums("pay", bounds=(0, 200_000), by=region), by_region),
            f"{groups:,} groups, gaps count as 0": (
                dc.NumberSums("pay", bounds=(0, 200_000), by=region, missing=0),
                by_region,
            ),
            "no groups": (dc.NumberSums("pay", bounds=(0, 200_000)), f"SELECT {sums} FROM '{path}'"),
        }
        for words, (model, query) in asked.items():
            pairs = []
            for _ in range(RUNS):
                plain = timed(partial(_asked, query))
                pairs.append((plain, timed(partial(_counted, model, path))))
            plain, ours = (min(times) for times in zip(*pairs, strict=True))
            middle = median(two / one for one, two in pairs)
            bar = f"at most {MOST} times" if model.by else ""
            print(
                f"{rows:,} rows, {words}: plain DuckDB {plain:.2f} s, discreet {ours:.2f} s: {ours / plain:.2f}x "
                f"(median of pairs {middle:.2f}x{', bar: ' + bar if bar else ''})"
            )
            record(
                f"{rows:,} rows, {words}",
                ours,
                "CPU s",
                f"plain DuckDB {plain:.2f} s",
                bar,
                bool(bar) and middle > MOST,
            )


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:3]]
    main(*(given + [10_000_000, 1000][len(given) :]))
