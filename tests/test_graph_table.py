"""The table of graphs on docs/calibration.md is that of the results on file, and these hold what is said of them."""

import json

import pytest
from calibration_page import PAGE
from graph_table import COLLECTED, Entry, collected, written


@pytest.fixture(scope="module")
def results() -> list[Entry]:
    found: list[Entry] = json.loads(COLLECTED.read_text("utf-8"))["graphs"]
    return found


def test_the_table_is_made_of_the_results(results: list[Entry]) -> None:
    page = PAGE.read_text("utf-8")
    assert written(page, results) == page
    assert all(len(each["commit"]) == 40 for each in results)


def test_what_is_not_on_file_stays(results: list[Entry], monkeypatch: pytest.MonkeyPatch) -> None:
    repeats = [{"CountsSolver": [0.5, 0.01]}, {"CountsSolver": [0.3, 0.8]}]
    fresh = {"setting": "asia, n = 500, epsilon 1", "seed": 1, "commit": "a" * 40, "repeats": repeats}
    monkeypatch.setattr("graph_table.files", lambda sweep: iter([fresh]))
    found = collected(results)
    assert len(found) == len(results)
    assert found[0]["covers"]["0.9"] == [0.75, 0.25]
    assert found[1:] == results[1:]


def test_chains_cover_what_they_say(results: list[Entry]) -> None:
    """Asia on 300 releases and more within two points, alarm on 20 and more within six, as the sweep asks of both."""
    chains = [each for each in results if each["read"] == "chains"]
    assert [each["graph"].split(",")[0] for each in chains] == ["asia", "alarm"]
    for each, least, bar in zip(chains, (300, 20), (0.02, 0.06), strict=True):
        assert each["releases"] >= least
        assert each["p"] >= 1e-3
        assert all(abs(share - float(level)) <= bar for level, (share, _) in each["covers"].items())
