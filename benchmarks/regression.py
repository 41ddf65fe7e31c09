"""Private regressions on the same records at the same epsilon: ours beside each other, and beside what others do.

`python benchmarks/regression.py` publishes every data set by ConeMoments, BoxMoments and GaussianMoments, reads them
under the default priors (nobody is told the noise), and runs AdaSSP and objective perturbation
(`benchmarks/regression_rivals.py`); `make peers` adds diffprivlib's LinearRegression, run in an environment of its own.
All of them promise epsilon = 1 when one record is *replaced*; whoever promises it when one is added or removed is run
with half of it. It prints the root mean squared error of the slopes (posterior means), and how many intervals of 90 %
hold the true slope, and fails if cone noise is not as much better than the box as it should be, or an interval's
coverage is not near 90 %.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from regression_rivals import adassp, objective_perturbation

import discreet as dc

EPSILON, DELTA = "1", "1e-6"
SETTINGS = ((3, 10_000, 400, 0.9), (8, 10_000, 150, 0.75), (3, 1000, 400, 0.95))
"""Features, records, data sets, and how much of the box's error cone noise may have at most."""
SIGMA, SLOPES, INTERCEPT, LEVEL = 0.2, 0.3, 0.1, 0.9
OURS = {"ConeMoments": {}, "BoxMoments": {}, "GaussianMoments": {"delta": DELTA}}
PEER, RIVALS, EXACT = "diffprivlib", ("AdaSSP", "objective pert."), "no privacy"
Floats = NDArray[np.float64]


def records(features: int, size: int, repeat: int) -> tuple[Floats, Floats, Floats]:
    """Return true slopes, features in [-1, 1] and targets in [-1, 1]; the peers' benchmark has the same lines."""
    generator = np.random.default_rng([8, size, repeat] if features == 3 else [8, size, repeat, features])
    slopes = generator.normal(0, SLOPES, features) / np.sqrt(features)
    x = generator.uniform(-1, 1, (size, features))
    return slopes, x, np.clip(INTERCEPT + x @ slopes + generator.normal(0, SIGMA, size), -1, 1)


def fitted(features: int, size: int, repeat: int) -> tuple[dict[str, list[float]], dict[str, int]]:
    """Return the slopes by every method, and how many intervals of ours hold the truth."""
    truth, x, y = records(features, size, repeat)
    names = tuple(f"x{number}" for number in range(features))
    model = dc.LinearRegression("y", names, dict.fromkeys((*names, "y"), (-1, 1)), missing="middle")
    moments = model.rehearse(dict(zip((*names, "y"), (*x.T, y), strict=True)))
    found, held = {}, {}
    for place, (kind, more) in enumerate(OURS.items()):
        mechanism = dc.Mechanism.registered()[kind](model, size, EPSILON, **more)  # type: ignore[call-arg]
        posterior = dc.infer(dc.simulate(mechanism, moments, dc.SeededBits(1000 * size + 3 * repeat + place)))
        found[kind] = [posterior.mean[name] for name in names]
        intervals = [posterior.interval(name, LEVEL) for name in names]
        held[kind] = sum(low <= slope <= high for slope, (low, high) in zip(truth, intervals, strict=True))
    design, generator = np.column_stack([np.ones(size), x]), np.random.default_rng([9, size, repeat, features])
    unit = 1 / np.sqrt(features + 1)
    found["AdaSSP"] = (unit * adassp(design * unit, y, float(EPSILON), float(DELTA), generator))[1:].tolist()
    found[RIVALS[1]] = (unit * objective_perturbation(design * unit, y, float(EPSILON), generator))[1:].tolist()
    found[EXACT] = np.linalg.lstsq(design, y, rcond=None)[0][1:].tolist()
    return found, held


def rmse(found: list[list[float]], features: int, size: int) -> float:
    """Return the root mean squared error of the slopes."""
    truth = np.array([records(features, size, repeat)[0] for repeat in range(len(found))])
    return float(np.sqrt(np.mean((np.array(found) - truth) ** 2)))


def measured(features: int, size: int, repeats: int, most: float, peers: dict[str, list[list[float]]]) -> list[str]:
    """Print one setting, and return what is not as it should be."""
    began = time.process_time()
    fits = [fitted(features, size, repeat) for repeat in range(repeats)]
    spent = time.process_time() - began
    print(
        f"\n{features} features, {size:,} records, epsilon {EPSILON}, {repeats} data sets, {spent:.0f} s of processor"
    )
    print(f"{'':>16} {'rmse':>8} {'of the box':>11} {'coverage':>9}")
    errors = {name: rmse([found[name] for found, _ in fits], features, size) for name in fits[0][0]}
    if peer := peers.get(f"{features} {size} {EPSILON}"):
        errors[PEER] = rmse([row[1:] for row in peer], features, size)
    wrong = []
    for name, error in errors.items():
        share = sum(held[name] for _, held in fits) / (repeats * features) if name in OURS else None
        said = "" if share is None else f"{share:>9.3f}"
        print(f"{name:>16} {error:>8.4f} {error / errors['BoxMoments']:>11.2f} {said}", flush=True)
        if share is not None and not 0.88 <= share <= 0.92:
            wrong.append(f"{name} covers {share:.3f} at {features} features and {size:,} records")
    if (ratio := errors["ConeMoments"] / errors["BoxMoments"]) > most:
        wrong.append(f"cone over box is {ratio:.2f} at {features} features, above {most}")
    return wrong


def main() -> None:
    warnings.simplefilter("ignore")
    given = [word for word in sys.argv[1:] if word.endswith(".json")]
    peers = json.loads(Path(given[0]).read_text()) if given else {}
    chosen = [int(word) for word in sys.argv[1:] if word.isdigit()] or range(len(SETTINGS))
    wrong = [each for place in chosen for each in measured(*SETTINGS[place], peers)]
    if wrong:
        sys.exit("\n" + "\n".join(wrong))


if __name__ == "__main__":
    main()
