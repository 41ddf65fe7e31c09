"""diffprivlib's LinearRegression on the records of `benchmarks/regression.py`.

`make peers` runs it in an environment of its own and hands the coefficients, one JSON document, to the other benchmark.
It needs nothing of this library.
"""

import json
import sys
import warnings

import numpy as np
from numpy.typing import NDArray

SIZES, EPSILONS, REPEATS = (1000, 10_000), ("0.5", "1", "5"), 20
"""Of three features, for the report on the papers."""
SETTINGS = ((3, 10_000, 400), (8, 10_000, 150), (3, 1000, 400))
"""Features, records and data sets of `benchmarks/regression.py`, at epsilon 1."""
SIGMA, SLOPES = 0.2, 0.3
Floats = NDArray[np.float64]


def records(features: int, size: int, repeat: int) -> tuple[Floats, Floats, Floats]:
    """Return true slopes, features in [-1, 1] and targets in [-1, 1]; the other benchmark has the same lines."""
    generator = np.random.default_rng([8, size, repeat] if features == 3 else [8, size, repeat, features])
    slopes = generator.normal(0, SLOPES, features) / np.sqrt(features)
    x = generator.uniform(-1, 1, (size, features))
    return slopes, x, np.clip(0.1 + x @ slopes + generator.normal(0, SIGMA, size), -1, 1)


def fitted(features: int, size: int, epsilon: str, repeat: int) -> list[float]:
    """Return intercept and slopes; the functional mechanism has the ranges of all products for sensitivities.

    So it promises epsilon when one record is replaced, as ours does, and nothing is converted.
    """
    from diffprivlib.models import LinearRegression  # type: ignore[import-not-found]

    _, x, y = records(features, size, repeat)
    model = LinearRegression(epsilon=float(epsilon), bounds_X=(-1, 1), bounds_y=(-1, 1), random_state=repeat).fit(x, y)
    return [float(model.intercept_), *map(float, model.coef_)]


def main() -> None:
    warnings.simplefilter("ignore")
    found = {}
    try:
        for size in SIZES:
            for epsilon in EPSILONS:
                found[f"{size} {epsilon}"] = [fitted(3, size, epsilon, repeat) for repeat in range(REPEATS)]
        for features, size, repeats in SETTINGS:
            found[f"{features} {size} 1"] = [fitted(features, size, "1", repeat) for repeat in range(repeats)]
    except ImportError as problem:
        print(f"diffprivlib is left out: {problem}.", file=sys.stderr)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
