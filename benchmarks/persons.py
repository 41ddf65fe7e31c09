"""What it takes to put the rows of persons together: processor time for a million rows, beside a query by hand.

Run `python benchmarks/persons.py`. The query by hand adds up clipped rows for each id and clips the totals, in DuckDB.
"""

import time
from collections.abc import Callable
from functools import partial

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa

import discreet as dc

ROWS, PERSONS = 1_000_000, 200_000
BY_HAND = """
SELECT sum(least(total, 2000)) FROM (
    SELECT sum(least(greatest(x, 0), 500)) AS total FROM stays GROUP BY id
)
"""


def processor_time(work: Callable[[], object]) -> float:
    """Return the processor time of a call in seconds."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    """Print a line for each engine."""
    generator = np.random.default_rng(1)
    ids = pa.array([f"p{person}" for person in generator.integers(0, PERSONS, ROWS)])
    table = pa.table({"id": ids, "x": generator.gamma(2, 40, ROWS)})
    connection = duckdb.connect()
    connection.register("given", table)
    connection.execute("CREATE TABLE stays AS FROM given")
    persons = dc.Persons("id", 250_000, "total", (0, 500))
    model = dc.NumberSums("x", (0, 2000), missing=0, persons=persons)
    frames = {
        "DuckDB": connection.sql("FROM stays"),
        "Arrow": table,
        "pandas": table.to_pandas(),
        "polars": pl.from_arrow(table),
    }
    print(f"{ROWS:,} rows of {PERSONS:,} ids, seconds of processor time")
    print(f"{'by hand':8} {processor_time(lambda: connection.sql(BY_HAND).fetchall()):.2f}")
    for name, frame in frames.items():
        print(f"{name:8} {processor_time(partial(model.rehearse, frame)):.2f}")


if __name__ == "__main__":
    main()
