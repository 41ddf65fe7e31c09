"""Counting Parquet rows with Spark: 10^6, 10^7 and 10^8 rows measured, 10^9 extrapolated from the growth that was seen.

    python benchmarks/spark.py [largest power of ten, 8 if left out]

Runs on local[2], where driver and workers share two cores. Needs Java 17. Files live in a temporary folder.
"""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import duckdb
from figures import record
from pyspark.sql import SparkSession

import discreet as dc

SIZES = {"t6": 6, "t40": 40, "t60": 60, "t1000": 1000}
PART = 10**7  # rows of one file


def write(folder: Path, rows: int) -> Path:
    folder.mkdir()
    for number in range(max(1, rows // PART)):
        texts = (f"'level ' || (hash(i, {k}) % {size})::int AS {name}" for k, (name, size) in enumerate(SIZES.items()))
        start = number * PART
        source = f"range({start}, {start + min(rows, PART)}) t(i)"
        duckdb.sql(
            f"COPY (SELECT {', '.join(texts)}, (hash(i, 9) % 1000)::double AS v FROM {source}) "
            f"TO '{folder / f'{number}.parquet'}'"
        )
    return folder


def session() -> Any:
    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.sql.shuffle.partitions", "2")
    return builder.config("spark.driver.host", "127.0.0.1").getOrCreate()


def seconds(frame: Any, rows: int) -> tuple[float, float]:
    columns = [dc.Column(name, tuple(f"level {n}" for n in range(size)), outside="?") for name, size in SIZES.items()]
    model = dc.LinearRegression("v", [columns[0]], {"v": (0, 1000)}, missing="middle")
    start = perf_counter()
    tables = model_tables(frame, columns)
    middle = perf_counter()
    assert all(int(table.sum()) == rows for table in tables)
    model.statistics(frame)
    return middle - start, perf_counter() - middle


def model_tables(frame: Any, columns: list[dc.Column]) -> list[Any]:
    from discreet.records import as_source

    found: list[Any] = as_source(frame).count_families([[column] for column in columns] + [columns[:2]])
    return found


def main(largest: int) -> None:
    spark = session()
    times: dict[int, tuple[float, float]] = {}
    with TemporaryDirectory() as folder:
        for power in range(6, largest + 1):
            rows = 10**power
            frame = spark.read.parquet(str(write(Path(folder) / str(power), rows)))
            if not times:
                seconds(frame, rows)  # the first query of a session compiles
            times[power] = seconds(frame, rows)
            print(
                f"10^{power} rows: 5 tables counted in {times[power][0]:.1f} s, moments in {times[power][1]:.1f} s",
                flush=True,
            )
            record(f"{rows:,} rows on Spark, two local cores: five tables", times[power][0], "s")
            record(f"{rows:,} rows on Spark, two local cores: moments", times[power][1], "s")
    spark.stop()
    for name, place in (("counts", 0), ("moments", 1)):
        last, before = times[largest][place], times[largest - 1][place]
        each = (last - before) / (0.9 * 10**largest)
        billion = last + each * (10**9 - 10**largest)
        print(f"{name}: {each * 1e9:.0f} ns for each further row; 10^9 rows, extrapolated: {billion:.0f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 8)
