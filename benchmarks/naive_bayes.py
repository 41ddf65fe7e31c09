"""Figure 1 of Zhang, Rubinstein and Dimitrakakis (2016): naive Bayes with 16 yes/no features, and what reading adds.

theta ~ U(0, 1) fresh for every repeat; 1,000 test records. Accuracy and log-loss, and paired differences to ours.
`python benchmarks/naive_bayes.py` compares readings of this library; `make peers` adds private-PGM and diffprivlib, run
in an environment of their own by `benchmarks/peers.py` on the same records. It fails if ours is worse than another
private reading by more than four standard errors anywhere.
"""

import json
import sys
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import discreet as dc
from discreet.networks import CubeCounts, Network
from discreet_papers.as_published.laplace_updates import LaplaceUpdates
from discreet_papers.as_published.projection import PlugInNetwork, projected_reading, truncated_reading

FEATURES = [f"x{number}" for number in range(16)]
NETWORK = Network.naive_bayes("y", FEATURES, dict.fromkeys(["y", *FEATURES], (0, 1)), outside=0)
SIZES, EPSILONS, TEST = (50, 1000, 10_000), ("0.1", "0.5", "1", "2", "5", "10"), 1000
TARGETS = {(50, "1"): (0.80, 0.45), (1000, "0.1"): (0.88, 0.27)}
REPEATS = {50: 40, 1000: 12, 10_000: 12}
Records = dict[str, list[int]]
Scores = dict[str, tuple[float, float]]


def records(size: int, theta: NDArray[np.float64], generator: np.random.Generator) -> tuple[NDArray[np.int64], Records]:
    y = generator.integers(0, 2, size)
    x = (generator.random((size, len(FEATURES))) < theta[y]).astype(int)
    return y, {name: column.tolist() for name, column in zip(FEATURES, x.T, strict=True)}


def counts(y: NDArray[np.int64], rows: Records) -> NDArray[np.int64]:
    return np.concatenate([np.bincount(2 * y + np.array(rows[name]), minlength=4) for name in FEATURES])


def score(chances: NDArray[np.float64], y: NDArray[np.int64]) -> tuple[float, float]:
    return float((chances.argmax(axis=1) == y).mean()), float(-np.log(chances[np.arange(len(y)), y]).mean())


def not_private(table: NDArray[np.int64]) -> PlugInNetwork:
    tables = [part.astype(float) for part in NETWORK.split(table)]
    named = dict(zip(FEATURES, tables, strict=True))
    return PlugInNetwork(NETWORK, {"y": tables[0].sum(axis=1)[None]} | named)


def one_repeat(size: int, epsilon: str, seed: int) -> Scores:
    generator = np.random.default_rng(seed)
    theta = generator.random((2, len(FEATURES)))
    y, rows = records(size, theta, generator)
    y_test, test = records(TEST, theta, generator)
    table = counts(y, rows)
    published = dc.simulate(LaplaceUpdates(NETWORK, size, epsilon), table, dc.SeededBits(seed))
    ours = dc.simulate(CubeCounts(NETWORK, size, epsilon), table, dc.SeededBits(seed + 1))
    readings: dict[str, Callable[[], NDArray[np.float64]]] = {
        "not private": lambda: not_private(table).predict_proba(test),
        "Alg. 1, truncated": lambda: truncated_reading(published).predict_proba(test),
        "Alg. 1, projected": lambda: projected_reading(published).predict_proba(test),
        "Alg. 1, noise-aware": lambda: dc.infer(published).predict_proba(test),
        "cube, projected": lambda: projected_reading(ours).predict_proba(test),
        "cube, noise-aware (ours)": lambda: dc.infer(ours).predict_proba(test),
    }
    return {name: score(read(), y_test) for name, read in readings.items()}


def show(size: int, epsilon: str, scores: list[Scores]) -> list[str]:
    """Print one setting; return where another private reading was better by more than four standard errors."""
    worse = []
    mine = np.array([each["cube, noise-aware (ours)"] for each in scores])
    print(f"\nn = {size}, epsilon = {epsilon}, {len(scores)} repeats")
    for name in scores[0]:
        values = np.array([each[name] for each in scores])
        gap = mine - values
        error = gap.std(axis=0, ddof=1) / np.sqrt(len(scores))
        accuracy, loss = values.mean(axis=0)
        if name != "not private" and (gap[:, 0].mean() < -4 * error[0] or gap[:, 1].mean() > 4 * error[1]):
            worse.append(f"n = {size}, epsilon = {epsilon}: {name}")
        print(
            f"  {name:<26} accuracy {accuracy:.3f}  log-loss {loss:.3f}   ours: {gap[:, 0].mean():+.3f} "
            f"+/- {error[0]:.3f} accuracy, {gap[:, 1].mean():+.3f} +/- {error[1]:.3f} log-loss"
        )
    if (size, epsilon) in TARGETS:
        accuracy, loss = TARGETS[size, epsilon]
        print(f"  goal for ours: accuracy at least {accuracy}, log-loss at most {loss}", flush=True)
    return worse


def main() -> None:
    warnings.simplefilter("ignore", dc.LittleInformationWarning)
    peers = json.loads(Path(sys.argv[1]).read_text()) if len(sys.argv) > 1 else {}
    worse = []
    for size, epsilon in product(SIZES, EPSILONS):
        found = [one_repeat(size, epsilon, 1000 * repeat) for repeat in range(REPEATS[size])]
        for name, scores in peers.items():
            for each, pair in zip(found, scores[f"{size} {epsilon}"], strict=True):
                each[name] = (pair[0], pair[1])
        worse += show(size, epsilon, found)
    print("\nours was worse by more than four standard errors:", worse or "nowhere")
    sys.exit(1 if worse else 0)


if __name__ == "__main__":
    main()
