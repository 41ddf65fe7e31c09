"""A collation decides how an engine compares texts; it must not decide to which level a record belongs."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

import discreet as dc
from conformance.counting import assert_one_record_moved, counts_of

CITIES = dc.Column("city", tuple(f"city{number}" for number in range(60)), outside="other")
SHORT = dc.Column("city", ("city7", "city8"), outside="other")
KINDS = {"NOCASE": ("city7", "CITY7"), "NOACCENT": ("city7", "cíty7"), "NOCASE.NOACCENT": ("city7", "CÍTY7")}


def relation(values: list[str], collation: str, folder: Path | None = None) -> Any:
    connection = duckdb.connect() if folder is None else duckdb.connect(folder / "records.duckdb")
    connection.execute(f"CREATE TABLE records (city VARCHAR COLLATE {collation})")
    connection.execute("INSERT INTO records SELECT unnest(?)", [values])
    if folder is None:
        return connection.table("records")
    connection.close()
    return dc.read(folder / "records.duckdb")


@pytest.mark.parametrize("column", [CITIES, SHORT], ids=["sixty levels", "two levels"])
@pytest.mark.parametrize("collation", KINDS)
@pytest.mark.parametrize("stored", [False, True], ids=["relation", "file"])
@pytest.mark.parametrize("place", [0, -1], ids=["first", "last"])
def test_a_record_in_another_spelling_moves_no_other_record(
    column: dc.Column, collation: str, stored: bool, place: int, tmp_path: Path
) -> None:
    plain, odd = KINDS[collation]
    values = [plain] * 200
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    before = counts_of(column, relation(values, collation, tmp_path / "a" if stored else None))
    values[place] = odd
    after = counts_of(column, relation(values, collation, tmp_path / "b" if stored else None))
    assert_one_record_moved(before, after)
    assert before[column.levels.index("city7")] == 200
    assert after[column.levels.index("city7")] == 199  # the comparison is of the bytes: another spelling is undeclared
    assert after[-1] == 1


def test_a_collation_of_the_whole_data_base_changes_nothing() -> None:
    connection = duckdb.connect()
    connection.execute("SET default_collation = 'NOCASE'")
    connection.execute("CREATE TABLE records AS SELECT unnest(['city7', 'CITY7', 'City8']) AS city")
    for column in (CITIES, SHORT):
        counts = counts_of(column, connection.table("records"))
        assert counts[column.levels.index("city7")] == 1
        assert counts[-1] == 2


@pytest.mark.parametrize("collation", KINDS)
def test_neighbours_under_a_collation_publish_alike(collation: str, tmp_path: Path) -> None:
    """At epsilon 20 noise leaves a count almost as it is: one record must not be seen as 200 of them."""
    plain, odd = KINDS[collation]
    model = dc.Categories(CITIES)
    mechanism = dc.GeometricHistogram(model, 200, 20)
    for number, values in enumerate(([plain] * 200, [odd] + [plain] * 199)):
        ledger = dc.Ledger.create(tmp_path / f"{number}.db", 20)
        secret = model.statistics(relation(values, collation))
        released = dc.publish(mechanism, secret, ledger, "cities").counts
        assert released[CITIES.levels.index("city7")] > 190


def test_indicators_of_a_regression_follow_the_bytes_too() -> None:
    model = dc.LinearRegression(
        "y", [dc.Column("city", ("city8", "city7"), outside="city8")], {"y": (0, 1)}, intercept=False, missing="middle"
    )
    tables = []
    for odd in ("city7", "CITY7"):
        connection = duckdb.connect()
        connection.execute("CREATE TABLE records (city VARCHAR COLLATE NOCASE, y DOUBLE)")
        connection.execute("INSERT INTO records SELECT 'city7', 1 FROM range(99)")
        connection.execute("INSERT INTO records VALUES (?, 1)", [odd])
        tables.append(model.statistics(connection.table("records")).open_for_publishing())
    plain, changed = tables
    assert (plain != changed).any()
    assert (abs(plain - changed) <= model.layout.reach).all()
