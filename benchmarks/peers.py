"""Peers on the records of `benchmarks/naive_bayes.py`: diffprivlib's GaussianNB, and private-PGM (mbi) on algorithm 1.

`make peers` runs it in an environment of its own (diffprivlib needs scikit-learn below 1.9) and hands the scores, one
JSON document, to the other benchmark. A peer that cannot be imported is left out, with words. It needs nothing of this
library.
"""

import json
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

FEATURES, TEST = 16, 1000
REPEATS = {50: 40, 1000: 12, 10_000: 12}
EPSILONS = ("0.1", "0.5", "1", "2", "5", "10")
Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def records(size: int, theta: Floats, generator: np.random.Generator) -> tuple[Codes, Codes]:
    y = generator.integers(0, 2, size)
    return y, (generator.random((size, FEATURES)) < theta[y]).astype(int)


def diffprivlib_chances(x: Codes, y: Codes, test: Codes, epsilon: float, seed: int) -> Floats:
    from diffprivlib.models import GaussianNB  # type: ignore[import-not-found]

    model = GaussianNB(epsilon=epsilon, bounds=(0, 1), random_state=seed).fit(x, y)
    chances = np.full((len(test), 2), 1e-12)  # a class that it dropped has no column
    chances[:, np.asarray(model.classes_, dtype=int)] = model.predict_proba(test)
    return np.asarray(np.clip(chances, 1e-12, 1.0))


def mbi_chances(x: Codes, y: Codes, test: Codes, epsilon: float, seed: int) -> Floats:
    from mbi import Domain, LinearMeasurement, estimation  # type: ignore[import-not-found]

    generator, rate = np.random.default_rng(seed), epsilon / (2 * (FEATURES + 1))
    names = ["y", *(f"x{number}" for number in range(FEATURES))]

    def measured(clique: tuple[str, ...], table: Codes) -> Any:
        noise = generator.geometric(-np.expm1(-rate), (2, len(table)))
        return LinearMeasurement(table + noise[0] - noise[1], clique, stddev=np.sqrt(2) / rate)

    parts = [measured(("y",), np.bincount(y, minlength=2))]
    parts += [measured(("y", names[i + 1]), np.bincount(2 * y + x[:, i], minlength=4)) for i in range(FEATURES)]
    model = estimation.MirrorDescent().estimate(Domain(names, [2] * len(names)), parts, known_total=float(len(y)))
    logs = np.tile(np.log(1 + np.asarray(model.project(("y",)).datavector())), (len(test), 1))
    for number in range(FEATURES):
        table = 1 + np.asarray(model.project(("y", names[number + 1])).datavector()).reshape(2, 2)
        logs += np.log(table / table.sum(axis=1, keepdims=True))[:, test[:, number]].T
    chances = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))


PEERS: dict[str, Callable[[Codes, Codes, Codes, float, int], Floats]] = {
    "diffprivlib GaussianNB": diffprivlib_chances,
    "Alg. 1 + private-PGM": mbi_chances,
}


def scores(peer: str, size: int, epsilon: str) -> list[list[float]]:
    """Return accuracy and log-loss of each repeat, on the records that the other benchmark uses."""
    found = []
    for repeat in range(REPEATS[size]):
        generator = np.random.default_rng(1000 * repeat)
        theta = generator.random((2, FEATURES))
        y, x = records(size, theta, generator)
        y_test, test = records(TEST, theta, generator)
        chances = PEERS[peer](x, y, test, float(epsilon), 1000 * repeat)
        right, loss = (chances.argmax(axis=1) == y_test).mean(), -np.log(chances[np.arange(TEST), y_test]).mean()
        found.append([float(right), float(loss)])
    return found


def main() -> None:
    warnings.simplefilter("ignore")
    found: dict[str, dict[str, list[list[float]]]] = {}
    for peer in PEERS:
        try:
            found[peer] = {f"{size} {epsilon}": scores(peer, size, epsilon) for size in REPEATS for epsilon in EPSILONS}
        except ImportError as problem:
            print(f"{peer} is left out: {problem}.", file=sys.stderr)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
