"""What `make validate` found becomes rows, and rows that differ by more than their joint error are told."""

import json
from pathlib import Path
from typing import Any

import pytest
import rows

SHARE = {"sweep": "graphs", "setting": "A", "quantity": "90 % intervals cover"}


def results(folder: Path, sweep: str, repeats: list[Any]) -> list[rows.Row]:
    place = folder / sweep / "a.json"
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps({"commit": "c", "setting": "A", "seed": 1, "repeats": repeats}), "utf-8")
    return list(rows.rows_of(folder))


def test_a_row_has_the_mean_the_repeats_and_the_standard_error(tmp_path: Path) -> None:
    (row,) = results(tmp_path, "graphs", [0.8, 0.9, 1.0, 0.9])
    assert row == SHARE | {"figure": 0.9, "repeats": 4, "standard_error": 0.0408}


def test_places_become_coverage_and_a_mean(tmp_path: Path) -> None:
    batch = {"aware": [[0.5, 0.01], [0.5, 0.9]], "plug-in": [[0.0, 1.0], [0.0, 1.0]]}
    found = {row["quantity"]: row["figure"] for row in results(tmp_path, "ranks", [batch])}
    assert found == {
        "aware: 90 % intervals cover": 0.75,
        "aware: mean place": 0.4775,
        "plug-in: 90 % intervals cover": 0.0,
        "plug-in: mean place": 0.5,
    }


def test_endless_widths_are_counted_and_not_averaged(tmp_path: Path) -> None:
    found = {
        row["quantity"]: (row["figure"], row["repeats"])
        for row in results(tmp_path, "skewed-rates", [{"odds, A": [[1, 1, 1, float("inf")], [0, 1, 1, 2.0]]}])
    }
    assert found["odds: width"] == (2.0, 1)
    assert found["odds: width is endless"] == (0.5, 2)
    assert found["odds: 50 % covers"] == (0.5, 2)


def test_shares_that_are_all_alike_have_an_error(tmp_path: Path) -> None:
    (row,) = results(tmp_path, "audits", [True] * 4)
    assert row["figure"] == 1
    assert row["standard_error"] == pytest.approx(0.186)


def test_figures_apart_by_more_than_their_joint_error_and_lost_rows_are_told() -> None:
    kept = [SHARE | {"figure": 0.9, "repeats": 30, "standard_error": 0.02}]
    assert rows.compared(kept, [kept[0] | {"figure": 0.92}]) == []
    (line,) = rows.compared(kept, [kept[0] | {"figure": 0.8}])
    assert "0.9 became 0.8, 3.5 joint errors" in line
    assert rows.compared(kept, []) == ["only before: graphs, A, 90 % intervals cover"]


def test_an_unknown_sweep_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="Nothing is known of the sweep 'new'"):
        results(tmp_path, "new", [1.0])


def test_the_kept_table_holds_every_known_sweep() -> None:
    kept = json.loads(rows.TABLE.read_text("utf-8"))
    since = {
        "joint-table",
        "skewed-networks",
        "skewed-others",
        "skewed-regression",
        "skewed-secret-size",
        "skewed-synthesis",
    }  # measured since then
    assert {row["sweep"] for row in kept} == set(rows.SWEEPS) - since
    assert rows.compared(kept, kept) == []
