"""Counting and summing against the engine's own hand-written query: CPU time, in turns, with the bars that we hold.

    python benchmarks/counting.py                     all parts: 2e7 Parquet rows, frames and moments of 2e6
    python benchmarks/counting.py --rows 1000000      a smaller file
    python benchmarks/counting.py --only files csv    some parts
    python benchmarks/counting.py --only memory       1e8 rows x 5 columns, in a process of its own: its largest memory

The fixed cost of a count is measured apart, on ten rows, and taken off. Files live in a temporary folder.
"""

import argparse
import gc
import resource
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import duckdb
from figures import record

import discreet as dc
from discreet.cli._check import matches_of

Work = Callable[[Path], object]
REPEATS, FRAME_ROWS, MEMORY_ROWS, FEATURES = 3, 2 * 10**6, 10**8, 14
FIXED_LIMIT = 0.05
SIZES = {"t6": 6, "t40": 40, "t60": 60, "t1000": 1000, "u1000": 1000}
BITS = [f"x{number}" for number in range(17)]
NUMBERS = [f"v{number}" for number in range(FEATURES)]


def cpu(work: Callable[[], object]) -> float:
    gc.collect()
    start = process_time()
    work()
    return process_time() - start


def compare(name: str, hand: Work, ours: Work, path: Path, tiny: Path | None, limit: float, repeats: int) -> None:
    """Print how much longer ours takes than the query by hand, each in turn; the first turn warms the disk."""
    turns = [(cpu(lambda: hand(path)), cpu(lambda: ours(path))) for _ in range(repeats + 1)][1:]
    fixed = 0.0 if tiny is None else median(cpu(lambda: ours(tiny)) for _ in range(5))
    by_hand, mine = median(a for a, _ in turns), median(b for _, b in turns)
    ratio = (mine - fixed) / by_hand
    apart = "" if tiny is None else f", fixed cost {fixed * 1000:5.1f} ms (at most {FIXED_LIMIT * 1000:.0f})"
    verdict = "ok" if ratio <= limit and fixed <= FIXED_LIMIT else "TOO SLOW"
    times = f"by hand {by_hand:7.3f} s, discreet {mine:7.3f} s, ratio {ratio:6.2f} (at most {limit:g})"
    print(f"{name:26} {times}{apart}  {verdict}")
    record(name, mine, "CPU s", f"query by hand {by_hand:.3g} s", f"at most {limit:g} times", ratio > limit)
    sys.stdout.flush()


def columns(names: list[str]) -> list[dc.Column]:
    return [dc.Column(name, tuple(f"level {n}" for n in range(SIZES[name])), outside="other") for name in names]


def texts() -> str:
    return ", ".join(
        f"'level ' || (hash(i, {k}) % {size})::int AS {name}" for k, (name, size) in enumerate(SIZES.items())
    )


def write(path: Path, rows: int, select: str) -> Path:
    duckdb.sql(f"COPY (SELECT {select} FROM range({rows}) t(i)) TO '{path}'")
    return path


def pair(folder: Path, name: str, rows: int, select: str) -> tuple[Path, Path]:
    return write(folder / f"{name}.parquet", rows, select), write(folder / f"{name}-tiny.parquet", 10, select)


def counted(families: list[list[dc.Column]]) -> Work:
    def work(path: Path) -> object:
        tables = dc.read(path).count_families(families)
        assert len({int(table.sum()) for table in tables}) == 1
        return tables

    return work


def query(select: str, groups: str) -> Work:
    return lambda path: duckdb.execute(f"SELECT {select}, count(*) AS n FROM '{path}' GROUP BY {groups}").fetchnumpy()


def files(rows: int, repeats: int) -> None:
    with TemporaryDirectory() as folder:
        path, tiny = pair(Path(folder), "texts", rows, texts())
        for name in ("t6", "t40", "t60", "t1000"):
            declared = columns([name])
            compare(f"{SIZES[name]} levels", query(name, name), counted([declared]), path, tiny, 1.3, repeats)
        crossed = query("t1000, u1000", "t1000, u1000")
        compare("10^6 cells", crossed, counted([columns(["t1000", "u1000"])]), path, tiny, 1.3, repeats)
    with TemporaryDirectory() as folder:
        select = ", ".join(f"(hash(i, {k}) % 2)::int AS {name}" for k, name in enumerate(BITS))
        path, tiny = pair(Path(folder), "bits", rows, select)
        declared = [dc.Column(name, (0, 1), outside="other") for name in BITS]
        families = [[declared[0], column] for column in declared[1:]]
        compare("16 tables of naive Bayes", sets(families), counted(families), path, tiny, 1.3, repeats)
    alarm(rows, repeats)


def sets(families: list[list[dc.Column]]) -> Work:
    names = list(dict.fromkeys(column.name for family in families for column in family))
    listed = ", ".join(f"({', '.join(column.name for column in family)})" for family in families)
    marks = ", ".join(f"grouping({name})" for name in names)
    return query(f"{marks}, {', '.join(names)}", f"GROUPING SETS ({listed})")


def alarm(rows: int, repeats: int) -> None:
    """Count the 37 families of the network alarm, with values drawn evenly."""
    from pgmpy.utils import get_example_model

    network = dc.Network.from_pgmpy(get_example_model("alarm"))
    select = ", ".join(
        f"({[str(level) for level in v.levels]})[1 + (hash(i, {k}) % {len(v.levels)})::int] AS {v.name}"
        for k, v in enumerate(network.variables)
    )
    by_name = {variable.name: variable for variable in network.variables}
    families = [[by_name[name] for name in family] for family in network.families]
    with TemporaryDirectory() as folder:
        path, tiny = pair(Path(folder), "alarm", rows, select)
        compare("alarm, 37 families", sets(families), counted(families), path, tiny, 1.3, repeats)


def frames(rows: int, repeats: int) -> None:
    import pandas as pd
    import polars as pl

    made: Any = duckdb.sql(f"SELECT {texts()} FROM range({rows}) t(i)")
    arrow = made.select("t40").to_arrow_table()
    plain = arrow.to_pandas()
    declared = dc.Categories(columns(["t40"])[0])
    ways: dict[str, tuple[Any, Callable[[Any], object]]] = {
        "pandas category": (plain.astype("category"), lambda frame: frame["t40"].value_counts()),
        "pandas str": (plain.astype("str"), lambda frame: frame["t40"].value_counts()),
        "pandas object": (plain.astype(object), lambda frame: frame["t40"].value_counts()),
        "pandas string[pyarrow]": (plain.astype("string[pyarrow]"), lambda frame: frame["t40"].value_counts()),
        "polars": (pl.from_arrow(arrow), lambda frame: frame.group_by("t40").len()),
        "polars categorical": (
            pl.DataFrame(pl.from_arrow(arrow)).with_columns(pl.col("t40").cast(pl.Categorical)),
            lambda frame: frame.group_by("t40").len(),
        ),
        "Arrow": (arrow, lambda table: table.group_by("t40").aggregate([([], "count_all")])),
    }
    assert isinstance(plain, pd.DataFrame)
    for name, (frame, own) in ways.items():
        compare(
            name, partial(_called, own, frame), partial(_called, declared.statistics, frame), Path(), None, 2.0, repeats
        )


def _called(work: Callable[[Any], object], frame: Any, _: Path) -> object:
    return work(frame)


def moments(rows: int, repeats: int) -> None:
    names = [*NUMBERS, "y"]
    model = dc.LinearRegression(
        "y", NUMBERS, dict.fromkeys(names, (-1, 1)), noise="0.2", intercept=False, missing="middle"
    )
    pairs = [(first, second) for i, first in enumerate(NUMBERS) for second in names[i:]]
    sums = ", ".join(f"sum({first} * {second})" for first, second in pairs)
    with TemporaryDirectory() as folder:
        path, tiny = pair(Path(folder), "numbers", rows, ", ".join(f"random() * 2 - 1 AS {name}" for name in names))
        compare(
            f"moments of {rows} x {FEATURES}",
            lambda place: duckdb.execute(f"SELECT {sums} FROM '{place}'").fetchall(),
            lambda place: model.statistics(dc.read(place)),
            path, tiny, 1.25, repeats,
        )  # fmt: skip


def csv(rows: int, repeats: int) -> None:
    with TemporaryDirectory() as folder:
        select = f"{texts()}, i AS id, 'a note, with a comma' AS note"
        path = write(Path(folder) / "texts.csv", rows, select)
        tiny = write(Path(folder) / "tiny.csv", 10, select)
        scan = "SELECT t40, count(*) FROM read_csv('{}', header = true, all_varchar = true) GROUP BY t40"
        families = [columns(["t40"])]
        compare(
            f"CSV of {rows} rows",
            lambda place: duckdb.execute(scan.format(place)).fetchall(),
            counted(families), path, tiny, 3.0, repeats,
        )  # fmt: skip


def check(rows: int, repeats: int) -> None:
    """Match rows of a CSV to the declarations as `discreet check` does: levels, bands and bounds, with mistakes."""
    select = (
        "['no', 'yes', 'Yes'][1 + (hash(i, 0) % 100 // 49)::int] AS fell, (hash(i, 1) % 95)::int AS age, "
        "round((hash(i, 2) % 20000) / 100, 2) AS income, 'ward ' || (hash(i, 3) % 12)::int AS ward, "
        "i AS id, 'a note, with a comma' AS note"
    )
    columns = "".join(
        f"[columns.{name}]\n{declared}\n"
        for name, declared in {
            "fell": 'levels = ["no", "yes"]',
            "age": "bands = [0, 18, 40, 65, 90]",
            "income": "bounds = [0, 150]",
            "ward": f"levels = {[f'ward {n}' for n in range(12)]}",
        }.items()
    )
    with TemporaryDirectory() as folder:
        write(Path(folder) / "records.csv", rows, select)
        (Path(folder) / "study.toml").write_text(
            f'[data]\npath = "records.csv"\nsize = {rows}\n[budget]\nepsilon = 1\nledger = "study.db"\n{columns}'
            '[questions.table]\ncolumns = ["fell", "age", "ward"]\nepsilon = 1\n'
            '[questions.mean]\nmodel = "number"\ncolumn = "income"\nask = ["mean"]\nepsilon = 1\n',
            encoding="utf-8",
        )
        study = dc.Study(Path(folder) / "study.toml")
        questions = list(study.questions.values())
        took = median(cpu(lambda: matches_of(study.source(), questions, study.columns)) for _ in range(repeats))
        levels, numbers = matches_of(study.source(), questions, study.columns)
        every: list[Any] = [*levels, *numbers]
        assert all(int(each.match.counts.sum()) == rows for each in every)
    assert [list(each.problems()) != [] for each in every] == [True, False, False, True]
    verdict = "ok" if took <= 2e-6 * rows else "TOO SLOW"
    print(f"check of a CSV, {rows} rows x 6 columns: {took:.2f} s of CPU  {verdict}")
    record(
        f"check of a CSV, {rows:,} rows x 6 columns",
        took,
        "CPU s",
        "",
        f"at most {2e-6 * rows:g} CPU s",
        took > 2e-6 * rows,
    )


def memory(rows: int, _: int) -> None:
    """Count 10^8 rows x 5 columns in a process of its own, and say how much memory that process had at most."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "large.parquet"
        write(path, rows, texts())
        subprocess.run([sys.executable, __file__, "--child", str(path)], check=True)


def in_child(path: Path) -> None:
    declared = columns(list(SIZES))
    start = process_time()
    tables = dc.read(path).count_families([[column] for column in declared] + [declared[:2]])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    verdict = "ok" if peak <= 2 else "TOO MUCH"
    print(
        f"{int(tables[0].sum())} rows x {len(declared)} columns: {process_time() - start:.1f} s of CPU, "
        f"{peak:.2f} GiB at most (limit 2)  {verdict}"
    )
    record(f"memory, {int(tables[0].sum()):,} rows x {len(declared)} columns", peak, "GiB", "", "at most 2", peak > 2)


PARTS: dict[str, tuple[Callable[[int, int], None], int]] = {
    "files": (files, 2 * 10**7),
    "frames": (frames, FRAME_ROWS),
    "moments": (moments, FRAME_ROWS),
    "csv": (csv, FRAME_ROWS),
    "check": (check, 10**6),
    "memory": (memory, MEMORY_ROWS),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=None)
    parser.add_argument("--only", nargs="*", default=[part for part in PARTS if part != "memory"], choices=list(PARTS))
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--child", type=Path, default=None, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child is not None:
        return in_child(given.child)
    for part in given.only:
        work, rows = PARTS[part]
        print(f"{part}: {given.rows or rows} rows")
        work(given.rows or rows, given.repeats)
    return None


if __name__ == "__main__":
    main()
