"""An afternoon's walk: one record goes from a CSV file to an interval through the files that CONTRIBUTING names.

Every road is gone twice: what is imported and what is worked out once for all (normalisers, losses, which are facts
about a mechanism and not about a record) is done the first time, and every function that is called the second time is
noted down.
"""

import ast
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import discreet as dc

ROOT = Path(dc.__file__).parent
CONTRIBUTING = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text("utf-8")
STOP = re.compile(r"^\| \[([\w/]+\.py)\]\(src/discreet/([\w/]+\.py)\) \| (.*) \|$", re.MULTILINE)
STOPS = [path for path, _, _ in STOP.findall(CONTRIBUTING)]
MOST_FILES, MOST_LINES = 25, 4_000

LEVELS = {"smoker": ("yes", "no"), "cancer": ("yes", "no")}
SIZE = 120

EVERY_ROAD = {
    "records/files.py",
    "records/delimited.py",
    "records/columns.py",
    "records/batches.py",
    "records/counting.py",
    "documents.py",
    "exact.py",
    "guarantees/chain.py",
    "guarantees/guarantee.py",
    "guarantees/ledger.py",
    "releases/publish.py",
    "releases/release.py",
    "randomness/samplers.py",
    "reading/case.py",
    "inference/infer.py",
}
"""What a record of any model goes through."""
OWN_ROOMS = {
    "models", "mechanisms", "noise", "certificates", "randomness", "mathematics", "reading", "inference", "records",
    "rounding.py", "progress.py",
}  # fmt: skip
"""Where a model, its mechanism with noise and proof, its engine and its posterior have files of their own."""


def histogram() -> Any:
    return dc.GeometricHistogram(dc.Categories(dc.Column("smoker", ["yes", "no"], outside="no")), SIZE, epsilon=1)


def naive_bayes() -> Any:
    outside = dict.fromkeys(LEVELS, "no")
    return dc.FamilyHistograms(dc.Network.naive_bayes("smoker", ["cancer"], LEVELS, outside=outside), SIZE, epsilon=1)


def regression() -> Any:
    return dc.BoxMoments(
        dc.LinearRegression("pressure", ["age"], {"age": (0, 99), "pressure": (50, 250)}, missing="middle"), SIZE, 1
    )


def draw() -> Any:
    model = dc.Categories(dc.Column("smoker", ["yes", "no"], outside="no"))
    return dc.PosteriorSampling.tempered(model, size=SIZE, epsilon=1, delta="1e-6")


def gone(make: Callable[[], Any], folder: Path) -> tuple[Any, ...]:
    """Go one road: from a CSV file to rows with intervals."""
    records, place = folder / "records.csv", folder / "ledger.db"
    records.write_text("smoker,cancer,age,pressure\n" + "yes,no,50,120\nno,no,40,110\nno,yes,60,140\n" * (SIZE // 3))
    place.unlink(missing_ok=True)
    mechanism = make()
    secret = mechanism.model.statistics(dc.read(records))
    release = dc.publish(mechanism, secret, dc.Ledger.create(place, epsilon=5, delta="1e-3"), "a walk")
    return tuple(dc.infer(release).rows())


def touched(make: Callable[[], Any], folder: Path) -> set[str]:
    """Return the files of the library in which a function is called on this road."""
    found: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(ROOT)):
            found.add(Path(frame.f_code.co_filename).relative_to(ROOT).as_posix())

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is read from so few records may be rough
        gone(make, folder)
        sys.setprofile(note)
        try:
            rows = gone(make, folder)
        finally:
            sys.setprofile(None)
    assert all(row.low <= row.mean <= row.high for row in rows)
    return found


def test_the_walk_is_what_contributing_says_and_touches_nothing_else(tmp_path: Path) -> None:
    assert touched(histogram, tmp_path) == set(STOPS)
    assert len(set(STOPS)) == len(STOPS) > 0


def test_the_walk_takes_an_afternoon() -> None:
    lines = sum(len((ROOT / path).read_text("utf-8").splitlines()) for path in STOPS)
    assert len(STOPS) <= MOST_FILES
    assert lines <= MOST_LINES, lines
    assert f"at most {MOST_FILES} files and {MOST_LINES:,} lines" in CONTRIBUTING


@pytest.mark.parametrize(("name", "path", "idea"), STOP.findall(CONTRIBUTING))
def test_every_stop_has_its_one_idea_in_its_first_sentence(name: str, path: str, idea: str) -> None:
    words = ast.get_docstring(ast.parse((ROOT / path).read_text("utf-8"))) or ""
    assert name == path
    assert words.startswith(idea)
    assert idea.endswith(".")


@pytest.mark.parametrize("make", [naive_bayes, regression, draw])
def test_other_roads_share_all_rooms_but_those_of_their_own_engine_and_mechanism(
    make: Callable[[], Any], tmp_path: Path
) -> None:
    found = touched(make, tmp_path)
    assert found >= EVERY_ROAD
    assert set(STOPS) >= EVERY_ROAD
    proofs = {"guarantees/zcdp.py"}  # what a draw costs is found by a conversion, as part of its proof
    assert {path.split("/")[0] for path in found - set(STOPS) - proofs} <= OWN_ROOMS
