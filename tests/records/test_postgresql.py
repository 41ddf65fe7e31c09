"""Records on a real PostgreSQL server mean what they mean everywhere else; refusals hold no value."""

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from conformance.backends import Engine
from conformance.contract import agree_on_every_record
from discreet.records._postgresql import PostgresqlSource
from postgresql_server import WHY_MISSING, Server, is_here, running

pytestmark = [pytest.mark.skipif(not is_here(), reason=WHY_MISSING), pytest.mark.xdist_group("records on PostgreSQL")]
TYPES = {
    "text": "text", "whole": "numeric(38)", "number": "double precision", "truth": "boolean", "decimal": "numeric",
    "date": "date", "time": "timestamp", "zoned": "timestamptz",
}  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running() as found:
        yield found


def can_hold(value: Any) -> bool:
    if isinstance(value, str):
        return "\x00" not in value and value == value.encode("utf-8", "replace").decode()
    return True


def made(server: Server, of_type: str) -> Any:
    """Return how a table of the values and the number of each record is made."""
    import psycopg

    def make(values: list[Any], kind: str, _: Path) -> Any:
        name = f"t{server._schemas}"
        server._schemas += 1
        with psycopg.connect(server.address, autocommit=True) as connection:
            connection.execute(f"CREATE TABLE {name} (x {of_type}, id bigint)".encode())
            with connection.cursor() as cursor:
                rows = [(value, number) for number, value in enumerate(values)]
                cursor.executemany(f"INSERT INTO {name} VALUES (%s, %s)".encode(), rows)
        return PostgresqlSource(server.address, name)

    return make


@pytest.mark.parametrize("kind", TYPES)
def test_every_value_of_the_corpus_is_read_as_by_the_twin(kind: str, server: Server, tmp_path: Path) -> None:
    agree_on_every_record(Engine((kind,), made(server, TYPES[kind]), can_hold=can_hold), kind, tmp_path, 7)


def table(server: Server, columns: str, *rows: str) -> str:
    """Make a table and return its name."""
    server._schemas += 1
    name = f"odd{server._schemas}"
    run(server, f"CREATE TABLE {name} ({columns})", *(f"INSERT INTO {name} VALUES ({row})" for row in rows))
    return name


def run(server: Server, *statements: str) -> None:
    import psycopg

    with psycopg.connect(server.address, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def counted(server: Server, name: str, column: dc.Column) -> list[int]:
    found = dc.read(server.address, table=name)
    counts: list[int] = found.count_families([[column]])[0].tolist()
    return counts


EXTREMES: dict[str, tuple[list[str], list[Any]]] = {
    "numeric": (["1e-400", "-1e-400", "1e400", "'NaN'", "'Infinity'", "1.10", "9007199254740993", "NULL"], [0, 1.1]),
    "real": (["'NaN'", "'-Infinity'", "0.1", "1e38", "1e-45"], [0.1]),
    "double precision": (["'NaN'", "1e308", "5e-324", "-0.0", "1e15", "9007199254740993"], [0, 10**15]),
    "timestamp": (["'infinity'", "'-infinity'", "'0044-03-15 BC'", "'12000-01-01'", "'2026-01-31'"], ["2026-01-31"]),
    "timestamptz": (["'infinity'", "'2026-01-31 00:00+00'", "'4713-01-01 BC'"], ["2026-01-31"]),
    "date": (["'infinity'", "'0044-03-15 BC'", "'5874897-12-31'", "'2026-01-31'"], ["2026-01-31"]),
    "integer[]": (["'{1}'", "NULL"], [1]),
    "jsonb": (["'1'", "'\"a\"'"], [1]),
    "time": (["'10:00'"], ["10:00"]),
    "bytea": (["'a'"], ["a"]),
    "char(5)": (["'a'", "'a b'"], ["a", "a b"]),
    "interval": (["'1 day'"], ["1 day"]),
    "uuid": (["'00000000-0000-0000-0000-000000000001'"], ["00000000-0000-0000-0000-000000000001"]),
}


@pytest.mark.parametrize("of_type", EXTREMES)
def test_no_value_of_any_type_stops_the_count_or_changes_another(of_type: str, server: Server) -> None:
    values, levels = EXTREMES[of_type]
    name = table(server, f"x {of_type}", *values)
    texts = [str(level) for level in levels]
    found = counted(server, name, dc.Column("x", texts))
    wanted = {
        "numeric": [0, 1, 7], "real": [0, 5], "double precision": [1, 1, 4], "timestamp": [1, 4], "timestamptz": [0, 3],
        "date": [1, 3], "char(5)": [1, 1, 0], "uuid": [1, 0],
    }  # fmt: skip
    if of_type == "numeric":  # 1e-400 is so near to 0 that it is written as 1e-300
        assert found == wanted[of_type]
    else:
        assert found == wanted.get(of_type, [*[0] * len(levels), len(values)])
    assert sum(counted(server, name, dc.Column.banded("x", [-1, 0, 1, 10]))) == len(values)
    assert sum(counted(server, name, dc.Column.banded("x", ["2026-01-01", "2026-12-31"]))) == len(values)


def test_collations_domains_enums_and_views_do_not_change_what_a_text_means(server: Server) -> None:
    run(
        server,
        "CREATE COLLATION IF NOT EXISTS loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)",
        "CREATE DOMAIN code AS text",
        "CREATE DOMAIN inner_code AS code",
        "CREATE TYPE ward AS ENUM ('A', 'a')",
    )
    rows = ["'A', 'A', 'A'", "'a', 'a', 'a'", "'á', 'á', NULL", "NULL, NULL, NULL"]
    name = table(server, "loose text COLLATE loose, coded inner_code, listed ward", *rows)
    run(server, f"CREATE VIEW seen_{name} AS SELECT loose, coded, listed FROM {name}")
    for place in (name, f"seen_{name}", f"public.{name}"):
        for column in ("loose", "coded", "listed"):
            assert counted(server, place, dc.Column(column, ("A", "a"))) == [1, 1, 2]


def test_records_that_the_server_groups_are_counted_as_those_that_it_sends(server: Server) -> None:
    """A band makes the same columns stream; its margin is the table that was grouped."""
    columns = "a text, b int, c numeric, d date, e boolean, f double precision"
    rows = [
        "'x', 1, 1.10, '2026-01-31', true, 'NaN'", "'X', 2, 1.1, NULL, false, -0.0", "NULL, NULL, NULL, NULL, NULL, 0",
        "'x ', 2, 'NaN', '0044-03-15 BC', NULL, 1",
    ]  # fmt: skip
    name = table(server, columns, *rows, *rows[:2] * 20)
    levels: dict[str, tuple[Any, ...]] = {
        "a": ("x", "X"),
        "b": (1, 2),
        "c": ("1.1",),
        "d": ("2026-01-31",),
        "e": (False, True),
        "f": (0, 1),
    }
    declared = [dc.Column(each, own, outside="?") for each, own in levels.items()]
    band, source = dc.Column.banded("b", [0, 9]), dc.read(server.address, table=name)
    for family in (declared[:1], declared[:3], declared[3:], declared):
        (grouped,) = source.count_families([family])
        (streamed,) = source.count_families([[*family, band]])
        assert grouped.tolist() == streamed.sum(axis=-1).tolist()
        assert grouped.sum() == 44


def test_names_need_no_care_and_a_table_of_one_column_keeps_its_empty_records(server: Server) -> None:
    name = table(server, '"a ""b"", Ç" text', "''", "NULL", "'x'", "''")
    column = dc.Column('a "b", Ç', ("x", ""))
    assert dc.read(server.address, table=name).names() == [column.name]
    assert counted(server, name, column) == [1, 2, 1]
    assert counted(server, table(server, "x text"), dc.Column("x", ("a",))) == [0, 0]


def test_all_passes_see_one_state_of_a_table_that_changes_meanwhile(server: Server) -> None:
    name = table(server, "x text", "'a'", "'a'")
    source = dc.read(server.address, table=name)
    column = dc.Column("x", ("a",))
    assert source.count_families([[column]])[0].tolist() == [2, 0]
    run(server, f"INSERT INTO {name} VALUES ('a')", f"DELETE FROM {name} WHERE x = 'b'")
    assert source.count_families([[column]])[0].tolist() == [2, 0]
    assert counted(server, name, column) == [3, 0]


def test_a_role_that_may_only_read_is_enough_and_nothing_can_be_written(server: Server) -> None:
    import psycopg

    name = table(server, "x text", "'a'")
    run(server, "CREATE ROLE reader LOGIN", f"GRANT SELECT ON {name} TO reader")
    address = server.address.replace("postgres@", "reader@")
    source: Any = dc.read(address, table=name)
    assert source.count_families([[dc.Column("x", ("a",))]])[0].tolist() == [1, 0]
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        source._connection.execute("CREATE TABLE mine (x text)")


def test_a_lost_connection_and_a_failing_view_are_told_without_a_value(server: Server) -> None:
    name = table(server, "x integer", "0", "777")
    run(server, f"CREATE VIEW failing_{name} AS SELECT 1 / x AS x FROM {name}")
    with pytest.raises(dc.SourceError, match="message is withheld") as problem:
        counted(server, f"failing_{name}", dc.Column("x", (1, 2)))
    assert "777" not in str(problem.value)
    assert problem.value.__cause__ is None
    assert problem.value.__context__ is None or "777" not in str(problem.value.__context__)
    source: Any = dc.read(server.address, table=name)
    source._connection.close()
    with pytest.raises(dc.SourceError):
        source.count_families([[dc.Column("x", (1, 2))]])


@pytest.mark.parametrize(
    ("address", "name", "words"),
    [
        ("postgresql://reader:secret@127.0.0.1/x", "t", "must not contain a password"),
        ("postgresql://reader@127.0.0.1/x?password=secret", "t", "must not contain a password"),
        ("postgresql://127.0.0.1:1/x", "t", "Cannot read from"),
        ("mysql://127.0.0.1/x", "t", "no address"),
        ("postgresql://127.0.0.1/x", None, "Name the table"),
        ("sc://127.0.0.1:15002/;token=secret", "t", "must not contain a token"),
        ("sc://127.0.0.1:15002", None, "either a table"),
    ],
)
def test_what_cannot_be_read_is_refused_without_a_password(address: str, name: str | None, words: str) -> None:
    with pytest.raises(dc.SourceError, match=words) as problem:
        dc.read(address, table=name)
    assert "secret" not in str(problem.value)


def test_a_table_that_is_not_there_is_refused(server: Server) -> None:
    with pytest.raises(dc.SourceError, match="no table or view 'nothing'"):
        dc.read(server.address, table="nothing")
    with pytest.raises(dc.SourceError, match="no column 'y'"):
        counted(server, table(server, "x text"), dc.Column("y", ("a",)))


STUDY = """
[data]
source = "{address}"
table = "visits"
size = 300
unit_column = "person"

[columns.stay]
expression = "days(admitted, left_at)"
bounds = [0, 30]

[budget]
epsilon = 5
ledger = "study.db"

[questions.stay]
model = "number"
column = "stay"
ask = "mean"
per_person = "mean"
epsilon = 2
"""


def test_a_study_of_a_table_runs_from_init_to_a_reading(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from click.testing import CliRunner

    from discreet.cli import main

    monkeypatch.chdir(tmp_path)
    run(
        server,
        "CREATE TABLE visits (person integer, admitted date, left_at timestamptz)",
        "INSERT INTO visits SELECT i % 300, date '2026-01-01' + i % 50, "
        "(date '2026-01-01' + i % 50 + i % 9)::timestamp AT TIME ZONE 'UTC' FROM generate_series(1, 900) i",
    )
    made = CliRunner().invoke(main, ["init", server.address, "--table", "visits", "--out", "first.toml"])
    assert made.exit_code == 0, made.output
    assert f'source = "{server.address}"' in (tmp_path / "first.toml").read_text()
    assert "[columns.left_at]" in (tmp_path / "first.toml").read_text()
    (tmp_path / "study.toml").write_text(STUDY.format(address=server.address))
    for words in (["check", "study.toml"], ["publish", "study.toml", "--ask", "stay"]):
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, done.output
    rows = dc.Study("study.toml").infer("stay").rows()
    assert abs(rows[0].mean - 4) < 0.6
    assert server.address.split("@")[1] not in (tmp_path / "stay.release.json").read_text()


def test_derived_columns_mean_the_same_on_the_server_as_in_lists(server: Server) -> None:
    rows = [(80.5, 1.8, date(1960, 2, 29), datetime(2026, 2, 28, 23), "I21"), (None, 0.0, None, None, None)]
    rows += [(float("nan"), 1.7, date(2000, 1, 1), datetime(1999, 12, 31), "i21"), (1e300, -1.7, None, None, "C50")]
    name = table(server, "w double precision, h numeric, born date, seen timestamp, code text")
    import psycopg

    with psycopg.connect(server.address, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {name} VALUES (%s, %s, %s, %s, %s)".encode(), rows)
    lists = {
        key: list(column)
        for key, column in zip(("w", "h", "born", "seen", "code"), zip(*rows, strict=True), strict=True)
    }
    lists["h"] = [Decimal(str(each)) for each in lists["h"]]
    derived = dc.Derived({"bmi": "w / (h * h)", "age": "years(born, seen)", "hit": "code in ('I21', 'C50')"})
    families = [[dc.Column.banded("bmi", [0, 10, 24.845679012345677, 25, 100])], [dc.Column("hit", (True, False))]]
    families += [[dc.Column("age", (-1, 0, 65, 66))]]
    ours, plain = (
        derived.source(each).count_families(families) for each in (dc.read(server.address, table=name), lists)
    )
    assert [each.tolist() for each in ours] == [each.tolist() for each in plain]
    assert np.sum(ours[0]) == len(rows)
