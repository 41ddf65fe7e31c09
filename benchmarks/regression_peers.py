"""diffprivlib's LinearRegression on the records of `benchmarks/regression.py`.

`make peers` runs it in an environment of its own and hands the coefficients, one JSON document, to the other benchmark.
It needs nothing of this library.
"""

import json
import sys
import warnings

import numpy as np
from numpy.typing import NDArray

SIZES, EPSILONS, REPEATS, FEATURES = (1000, 10_000), ("0.5", "1", "5"), 20, 3
SIGMA, SPREAD = 0.2, 0.3
Floats = NDArray[np.float64]


def records(size: int, repeat: int) -> tuple[Floats, Floats, Floats]:
    """Return true coefficients, features in [-1, 1] and targets in [-1, 1]; the other benchmark has the same lines."""
    generator = np.random.default_rng([8, size, repeat])
    slopes = generator.normal(0, SPREAD, FEATURES) / np.sqrt(FEATURES)
    x = generator.uniform(-1, 1, (size, FEATURES))
    return slopes, x, np.clip(0.1 + x @ slopes + generator.normal(0, SIGMA, size), -1, 1)


def fitted(size: int, epsilon: str, repeat: int) -> list[float]:
    from diffprivlib.models import LinearRegression  # type: ignore[import-not-found]

    _, x, y = records(size, repeat)
    model = LinearRegression(epsilon=float(epsilon), bounds_X=(-1, 1), bounds_y=(-1, 1), random_state=repeat).fit(x, y)
    return [float(model.intercept_), *map(float, model.coef_)]


def main() -> None:
    warnings.simplefilter("ignore")
    found = {}
    try:
        for size in SIZES:
            for epsilon in EPSILONS:
                found[f"{size} {epsilon}"] = [fitted(size, epsilon, repeat) for repeat in range(REPEATS)]
    except ImportError as problem:
        print(f"diffprivlib is left out: {problem}.", file=sys.stderr)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
