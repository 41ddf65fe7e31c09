"""Five roads through the library as data: which files a question touches, and how often it changes file and folder.

Each road goes from records to what is shown, twice; the second time is traced, when everything is loaded and cached.
"""

import sys
import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

import numpy as np

import discreet as dc

ROOT = Path(dc.__file__).parent
GENERATOR = np.random.default_rng(7)


def share(folder: Path) -> object:
    """Publish the share of smokers from a CSV file, and infer it."""
    smokes = GENERATOR.choice(["no", "yes"], 300)
    (folder / "people.csv").write_text("smokes\n" + "\n".join(smokes) + "\n")
    model = dc.Categories("smokes", levels=("no", "yes"), outside="no")
    secret = model.statistics(dc.read(folder / "people.csv"))
    release = _published(dc.GeometricHistogram(model, size=300, epsilon=1), secret, folder, "share")
    return str(dc.infer(release))


def classifier(folder: Path) -> object:
    """Publish a naive Bayes classifier, infer it, and predict two records."""
    columns = {name: GENERATOR.choice(["no", "yes"], 200).tolist() for name in ("ill", "old", "smokes")}
    model = dc.Network.naive_bayes("ill", ("old", "smokes"), levels=dict.fromkeys(columns, ("no", "yes")), outside="no")
    release = _published(dc.FamilyHistograms(model, 200, 1), model.statistics(columns), folder, "classifier")
    return dc.infer(release).predictions({"old": ["yes", "no"], "smokes": ["no", "no"]})


def mean_by_group(folder: Path) -> object:
    """Publish mean stays by ward, where patients have several rows, and infer them."""
    rows = {
        "patient": [str(number) for number in np.repeat(np.arange(150), 2)],
        "ward": np.repeat(GENERATOR.choice(["East", "West"], 150), 2).tolist(),
        "days": GENERATOR.integers(0, 30, 300).tolist(),
    }
    ward = dc.Column("ward", ("East", "West"), outside="East")
    persons = dc.Persons("patient", 150, "total", (0, 30))
    model = dc.NumberSums("days", bounds=(0, 60), by=ward, missing=0, persons=persons)
    release = _published(dc.GeometricSums(model, 150, 1), model.statistics(rows), folder, "stays")
    return str(dc.infer(release))


def line(folder: Path) -> object:
    """Publish a linear regression, and infer its coefficients."""
    x = GENERATOR.uniform(0, 10, 400)
    rows = {"x": x.tolist(), "y": (2 + 0.5 * x + GENERATOR.normal(0, 1, 400)).tolist()}
    model = dc.LinearRegression("y", ["x"], bounds={"x": (0, 10), "y": (0, 10)}, missing={"x": 5, "y": 5})
    release = _published(dc.ConeMoments(model, 400, 2), model.statistics(rows), folder, "line")
    return str(dc.infer(release))


def program(folder: Path) -> object:
    """Publish one table of two hospitals each, and infer a logistic regression from both together."""
    levels = {"age": ("young", "old"), "fall": ("no", "yes")}
    model = dc.Categories([dc.Column(name, known, outside=known[0]) for name, known in levels.items()])
    releases = {}
    for hospital in ("north", "south"):
        rows = {name: GENERATOR.choice(list(known), 250).tolist() for name, known in levels.items()}
        mechanism = dc.GeometricHistogram(model, 250, 1)
        releases[hospital] = _published(mechanism, model.statistics(rows), folder, hospital)
    return str(dc.infer(populations=releases, model=dc.Logistic("fall=yes ~ age")))


def _published(mechanism: "dc.Mechanism", secret: "dc.Statistics", folder: Path, label: str) -> "dc.Release":
    unit = dc.Unit(mechanism.model.protects)
    ledger = dc.Ledger.create(folder / f"{label}.ledger", epsilon=100, unit=unit)
    return dc.Release.from_json(dc.publish(mechanism, secret, ledger=ledger, label=label).to_json())


ROADS: dict[str, Callable[[Path], object]] = {
    "a share from a CSV file": share,
    "naive Bayes, with predictions": classifier,
    "means by group, of persons": mean_by_group,
    "a linear regression": line,
    "a program of two releases": program,
}


class Trace:
    """Calls of functions of the library, as a profiler sees them."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(str(ROOT)):
            self.calls.append((name.removeprefix(f"{ROOT}/"), frame.f_code.co_qualname))


def traced(road: Callable[[Path], object]) -> Trace:
    """Return the calls of the second run of a road."""
    found = Trace()
    with warnings.catch_warnings(), TemporaryDirectory() as first, TemporaryDirectory() as second:
        warnings.simplefilter("ignore")
        road(Path(first))
        sys.setprofile(found)
        try:
            road(Path(second))
        finally:
            sys.setprofile(None)
    return found


def changes(names: list[str]) -> int:
    """Return how often a name differs from the one before."""
    return sum(one != two for one, two in pairwise(names))


def report() -> list[str]:
    """Return a line for each road."""
    lines = ["Roads (second run): files, their lines, folders, functions, calls, changes of file / of folder"]
    for name, road in ROADS.items():
        calls = traced(road).calls
        files = [file for file, _ in calls]
        lengths = sum((ROOT / file).read_text("utf-8").count("\n") for file in set(files))
        folders = [file.split("/")[0] for file in files]
        figures = (len(set(files)), lengths, len(set(folders)), len(set(calls)), len(calls))
        numbers = ", ".join(f"{figure:,}" for figure in figures)
        lines.append(f"  {name}: {numbers}, {changes(files):,} / {changes(folders):,}")
    return lines


if __name__ == "__main__":
    print("\n".join(report()))
