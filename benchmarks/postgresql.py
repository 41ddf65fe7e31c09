"""Counting and summing a table of PostgreSQL, beside a plain COPY of the same columns through the same client.

    python benchmarks/postgresql.py [rows, 10,000,000 if left out]

Needs the programs of a server (Debian's package postgresql); a server of its own is made and thrown away.
"""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

import psycopg
from figures import record

import discreet as dc

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from postgresql_server import WHY_MISSING, is_here, running

WARDS = tuple(f"ward {number}" for number in range(40))
WARD, FELL = dc.Column("ward", WARDS, outside="?"), dc.Column("fell", (False, True), outside="?")
AGE = dc.Column.banded("age", [0, 18, 40, 65, 90])
TURNS = 3


def copied(address: str, columns: str) -> int:
    """Return how many bytes a plain COPY sends."""
    statement = f"COPY (SELECT {columns} FROM visits) TO STDOUT".encode()
    with psycopg.connect(address) as connection, connection.cursor() as cursor, cursor.copy(statement) as copy:
        return sum(len(block) for block in copy)


def seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def main(rows: int) -> None:
    if not is_here():
        print(WHY_MISSING)
        return
    with running() as server:
        with psycopg.connect(server.address, autocommit=True) as connection:
            connection.execute(
                b"CREATE TABLE visits AS SELECT 'ward ' || (i * 7919 %% 40) AS ward, i %% 3 = 0 AS fell, "
                b"(i * 104729 %% 90)::int AS age, (i %% 1000) / 10.0::float8 AS stay "
                b"FROM generate_series(1::bigint, %s) AS t(i)",
                (rows,),
            )
            connection.execute(b"VACUUM ANALYZE visits")
        table, banded = dc.Categories([WARD, FELL]), dc.Categories([WARD, AGE])
        mean = dc.NumberSums("stay", (0, 100), by=WARD)
        works: dict[str, tuple[str, Callable[[], object]]] = {
            "a table of levels": ("ward, fell", lambda: table.statistics(dc.read(server.address, table="visits"))),
            "a table with bands": ("ward, age", lambda: banded.statistics(dc.read(server.address, table="visits"))),
            "means by group": ("ward, stay", lambda: mean.statistics(dc.read(server.address, table="visits"))),
        }
        for name, (columns, work) in works.items():
            copied(server.address, columns)  # whatever is read first is read from the disk
            turns = [(seconds(work), seconds(partial(copied, server.address, columns))) for _ in range(TURNS)]
            ours, plain = (median(own) for own in zip(*turns, strict=True))
            beside, goal = f"a plain COPY {plain:.2f} s", "at most 1.5 times COPY"
            print(f"{name}, {rows:,} rows: {ours:.2f} s, {ours / plain:.2f} times {beside}   {goal}", flush=True)
            record(f"{name}, {rows:,} rows", ours, "s", beside, goal, ours > 1.5 * plain)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
