"""The alarm network, 37 variables, 100,000 records: counting, publishing and reading against counting alone."""

from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import duckdb
import numpy as np
import pandas as pd
from figures import record
from pgmpy.utils import get_example_model

import discreet as dc
from discreet.networks._bif import write_bif

ROWS, REPEATS = 100_000, 5


def alarm() -> tuple[dc.Network, dict[str, Any]]:
    """Return the graph and the tables of alarm, from the copy that pgmpy carries."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "alarm.bif"
        get_example_model("alarm").save(str(path), filetype="bif")
        return dc.read_bif(path.read_text())


def write_records(path: Path, network: dc.Network, tables: dict[str, Any]) -> None:
    """Draw records from the network and write them as Parquet."""
    generator = np.random.default_rng(1)
    codes: dict[str, Any] = {}
    for column, parents in zip(network.variables, network.parents, strict=True):
        rows = tables[column.name][tuple(codes[parent] for parent in parents)]
        edges = np.cumsum(np.broadcast_to(rows, (ROWS, len(column.levels))), axis=1)
        codes[column.name] = (generator.random(ROWS)[:, None] * edges[:, -1:] >= edges).sum(axis=1)
    data = {c.name: np.array([str(level) for level in c.levels])[codes[c.name]] for c in network.variables}
    frame = pd.DataFrame(data)  # noqa: F841 - DuckDB finds it by its name
    duckdb.sql(f"COPY (SELECT * FROM frame) TO '{path}' (FORMAT parquet)")


def plain_counting(path: Path, network: dc.Network) -> None:
    """Count all maximal families by one query written by hand."""
    sets = ", ".join("(" + ", ".join(f'"{name}"' for name in family) + ")" for family in network.maximal_families)
    names = ", ".join(f'"{column.name}"' for column in network.variables)
    query = f"SELECT grouping_id({names}), {names}, count(*) FROM '{path}' GROUP BY GROUPING SETS ({sets})"
    duckdb.execute(query).fetchall()


def counting(path: Path, network: dc.Network) -> None:
    """Count the same families through this library, without publishing."""
    network.statistics(dc.read(path))


def publishing(path: Path, network: dc.Network, ledger: dc.Ledger) -> dc.Release:
    """Count and publish through the one door."""
    mechanism = dc.FamilyHistograms(network, size=ROWS, epsilon="1")
    return dc.publish(mechanism, network.statistics(dc.read(path)), ledger=ledger, label="alarm")


def whole_road(path: Path, network: dc.Network, ledger: dc.Ledger) -> None:
    """Count, publish, make the tables agree, and compute the means of all probabilities."""
    dc.networks.consistent_tables(publishing(path, network, ledger)).mean_tables()


def intervals(release: dc.Release) -> str:
    """Read the release with intervals."""
    posterior = dc.infer(release)
    posterior.draws(1_000, seed=1)
    return str(posterior.method)


def seconds(work: Callable[[], object]) -> float:
    """Return how long something takes."""
    start = perf_counter()
    work()
    return perf_counter() - start


if __name__ == "__main__":
    network, tables = alarm()
    assert dc.read_bif(write_bif(network, tables))[0] == network
    with TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "alarm.parquet"
        write_records(path, network, tables)
        ledger = dc.Ledger.create(folder / "alarm.db", epsilon=2 * REPEATS + 1)
        release = publishing(path, network, ledger)
        rows = [
            (
                seconds(lambda: plain_counting(path, network)),
                seconds(lambda: counting(path, network)),
                seconds(lambda: publishing(path, network, ledger)),
                seconds(lambda: whole_road(path, network, ledger)),
            )
            for _ in range(REPEATS)
        ]
    hand, count, mine, road = (median(column) for column in zip(*rows, strict=True))
    print(f"alarm, {ROWS} records, {len(network.maximal_families)} tables, {network.cells} cells")
    print(f"by hand {hand:.2f} s, counting {count:.2f} s, counting and publishing {mine:.2f} s")
    print(f"ratio to counting {mine / count:.2f} (goal: at most 2), to the query by hand {mine / hand:.2f}")
    record(
        f"alarm, {ROWS:,} records: count and publish",
        mine,
        "s",
        f"counting alone {count:.2f} s",
        "at most 2 times",
        mine > 2 * count,
    )
    print(f"with consistent tables and means of all probabilities {road:.2f} s")
    print(f"ratio to counting {road / count:.2f}, to the query by hand {road / hand:.2f} (goal: at most 3)")
    record(
        "the same, with consistent tables and all means",
        road,
        "s",
        f"query by hand {hand:.2f} s",
        "at most 3 times",
        road > 3 * hand,
    )
    start = perf_counter()
    method = intervals(release)
    print(f"1,000 draws of all tables, {method}: {perf_counter() - start:.2f} s")
