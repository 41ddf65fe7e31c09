"""A private regression of three features: ours against diffprivlib, on the same records at the same pure epsilon.

`python benchmarks/regression.py` prints ours beside least squares without privacy, AdaSSP's rule and the plug-in
reading of the same release; `make peers` adds diffprivlib's LinearRegression, run in an environment of its own. Nobody
is told the noise: ours has the default priors. It fails if ours is not better than the peer in every setting.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import discreet as dc

SIZES, EPSILONS, REPEATS, FEATURES = (1000, 10_000), ("0.5", "1", "5"), 20, 3
SIGMA, SPREAD, INTERCEPT = 0.2, 0.3, 0.1
NAMES = tuple(f"x{number}" for number in range(FEATURES))
MODEL = dc.LinearRegression("y", NAMES, dict.fromkeys((*NAMES, "y"), (-1, 1)))
PEER, OURS, PLUGGED, ADAPTIVE, EXACT = "diffprivlib", "ours", "plug-in", "AdaSSP's rule", "no privacy"
Floats = NDArray[np.float64]


def records(size: int, repeat: int) -> tuple[Floats, Floats, Floats]:
    """Return true coefficients, features in [-1, 1] and targets in [-1, 1]; the other benchmark has the same lines."""
    generator = np.random.default_rng([8, size, repeat])
    slopes = generator.normal(0, SPREAD, FEATURES) / np.sqrt(FEATURES)
    x = generator.uniform(-1, 1, (size, FEATURES))
    return slopes, x, np.clip(INTERCEPT + x @ slopes + generator.normal(0, SIGMA, size), -1, 1)


def fitted(size: int, epsilon: str, repeat: int) -> dict[str, list[float]]:
    """Return intercept and slopes by every method."""
    _, x, y = records(size, repeat)
    columns = dict(zip((*NAMES, "y"), (*x.T.tolist(), y.tolist()), strict=True))
    mechanism = dc.BoxMoments(MODEL, size, epsilon)
    release = dc.simulate(mechanism, MODEL.rehearse(columns), dc.SeededBits(1000 * size + repeat))
    plugged = dc.plug_in_regression(release)
    exact, *_ = np.linalg.lstsq(np.column_stack([np.ones(size), x]), y, rcond=None)
    return {
        OURS: list(dc.infer(release).mean.values()),
        PLUGGED: [mean for mean, _ in plugged.values()],
        ADAPTIVE: list(dc.adaptive_ridge(release).values()),
        EXACT: exact.tolist(),
    }


def rmse(found: list[list[float]], size: int) -> float:
    """Return the root mean squared error of the slopes."""
    truth = np.array([records(size, repeat)[0] for repeat in range(len(found))])
    return float(np.sqrt(np.mean((np.array(found)[:, 1:] - truth) ** 2)))


def main() -> None:
    warnings.simplefilter("ignore", dc.LittleInformationWarning)
    peers = json.loads(Path(sys.argv[1]).read_text()) if len(sys.argv) > 1 else {}
    methods = (EXACT, OURS, ADAPTIVE, PLUGGED, *((PEER,) if peers else ()))
    print(f"rmse of {FEATURES} slopes over {REPEATS} data sets")
    print(
        f"{'n':>6} {'epsilon':>8}"
        + "".join(f"{method:>15}" for method in methods)
        + ("     ours/peer" if peers else "")
    )
    worse = []
    for size in SIZES:
        for epsilon in EPSILONS:
            found = [fitted(size, epsilon, repeat) for repeat in range(REPEATS)]
            errors = {method: rmse([each[method] for each in found], size) for method in found[0]}
            line = f"{size:>6} {epsilon:>8}"
            if peers:
                errors[PEER] = rmse(peers[f"{size} {epsilon}"], size)
                worse += [line] if errors[OURS] >= errors[PEER] else []
            ratio = f"{errors[OURS] / errors[PEER]:>14.2f}" if peers else ""
            print(line + "".join(f"{errors[method]:>15.4f}" for method in methods) + ratio, flush=True)
    if worse:
        sys.exit(f"Ours is not better at {'; '.join(worse)}.")


if __name__ == "__main__":
    main()
