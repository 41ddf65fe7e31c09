"""What a sweep keeps: an interrupted run goes on where it stopped, and only for the same commit and seed."""

import json
from pathlib import Path

import kept_results
import pytest


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_results, "RESULTS", tmp_path)
    monkeypatch.setattr(kept_results, "commit", lambda: "a" * 40)


def interrupted(number: int) -> int:
    if number == 2:
        raise KeyboardInterrupt
    return number * number


def never(number: int) -> int:
    raise AssertionError(f"repeat {number} was on file")


def test_an_interrupted_sweep_goes_on_where_it_stopped() -> None:
    with pytest.raises(KeyboardInterrupt):
        kept_results.kept("sweep", "A, n = 5", 1, 4, interrupted)
    asked: list[int] = []

    def go_on(number: int) -> int:
        asked.append(number)
        return number

    assert kept_results.kept("sweep", "A, n = 5", 1, 4, go_on) == [0, 1, 2, 3]
    assert asked == [2, 3]
    assert kept_results.kept("sweep", "A, n = 5", 1, 3, never) == [0, 1, 2]


def test_results_are_stamped_and_those_of_others_are_not_taken_up(monkeypatch: pytest.MonkeyPatch) -> None:
    kept_results.kept("sweep", "A", 1, 2, lambda number: number)
    found = json.loads(kept_results.file_of("sweep", "A").read_text("utf-8"))
    assert found == {"commit": "a" * 40, "setting": "A", "seed": 1, "repeats": [0, 1]}
    assert kept_results.kept("sweep", "A", 2, 1, lambda number: 7) == [7]
    monkeypatch.setattr(kept_results, "commit", lambda: "b" * 40)
    assert kept_results.kept("sweep", "A", 2, 1, lambda number: 8) == [8]


def test_what_is_known_so_far_is_said_after_each_repeat(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyboardInterrupt):
        kept_results.kept("sweep", "A", 1, 4, interrupted, lambda done: f"sum {sum(done)}")
    assert capsys.readouterr().out == "A, 1 of 4: sum 0\nA, 2 of 4: sum 1\n"
