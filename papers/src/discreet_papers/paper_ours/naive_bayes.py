"""Naive Bayes beside other libraries, on the same records at the same epsilon."""

import warnings

import numpy as np
from numpy.typing import NDArray

import discreet as dc
from discreet_papers.paper_ours import OURS
from discreet_papers.pictures import axis, lines
from discreet_papers.recorded_peers import recorded, versions
from discreet_papers.reproduction import Outcome, Reproduction, Row

FEATURES = tuple(f"x{number}" for number in range(16))
NETWORK = dc.Network.naive_bayes("y", FEATURES, dict.fromkeys(["y", *FEATURES], (0, 1)), outside=0)
SIZES, EPSILONS, TEST = (50, 1000), ("0.1", "0.5", "1", "2", "5", "10"), 1000
REPEATS, QUICK_REPEATS = {50: 20, 1000: 6}, {50: 2}
METHOD = "discreet: CubeCounts, noise-aware"
SHOWN = 50

Codes = NDArray[np.int64]


def run(quick: bool) -> Outcome:
    """Classify with ours; the scores of the peers are recorded."""
    sizes, epsilons = ((50,), ("1",)) if quick else (SIZES, EPSILONS)
    repeats = QUICK_REPEATS if quick else REPEATS
    rows = [row for size in sizes for epsilon in epsilons for row in _rows(size, epsilon, repeats[size])]
    best = _best_gaps(rows)
    better = sum(gap > 0 for gap in best)
    verdict = (
        f"Against {versions()}: the log-loss of ours is lower than that of every peer in {better} of {len(best)} "
        f"settings; the smallest difference to the best of them is {min(best):.3f}, the largest {max(best):.3f}."
    )
    return Outcome(rows, verdict, _chart(rows))


def _rows(size: int, epsilon: str, repeats: int) -> list[Row]:
    scores = {METHOD: [ours(size, epsilon, repeat) for repeat in range(repeats)]}
    scores |= {name: found[f"{size} {epsilon}"][:repeats] for name, found in recorded()["naive_bayes"].items()}
    rows = []
    for name, values in scores.items():
        accuracy, loss = np.mean(values, axis=0).tolist()
        error = float(np.std(values, axis=0, ddof=1)[1] / np.sqrt(repeats))
        row: Row = {"records": size, "epsilon": float(epsilon), "method": name, "accuracy": accuracy}
        rows.append(row | {"log_loss": loss, "log_loss_error": error, "repeats": repeats})
    return rows


def ours(size: int, epsilon: str, repeat: int) -> tuple[float, float]:
    """Return accuracy and log-loss on the records that the peers had."""
    generator = np.random.default_rng(1000 * repeat)
    theta = generator.random((2, len(FEATURES)))
    (y, x), (truth, test) = (_records(number, theta, generator) for number in (size, TEST))
    table = np.concatenate([np.bincount(2 * y + column, minlength=4) for column in x.T])
    release = dc.simulate(dc.CubeCounts(NETWORK, size, epsilon), table, dc.SeededBits(1000 * repeat + 1))
    columns = {name: column.tolist() for name, column in zip(FEATURES, test.T, strict=True)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.LittleInformationWarning)
        chances = dc.infer(release).predict_proba(columns)
    return float((chances.argmax(axis=1) == truth).mean()), float(-np.log(chances[np.arange(TEST), truth]).mean())


def _records(size: int, theta: NDArray[np.float64], generator: np.random.Generator) -> tuple[Codes, Codes]:
    y = generator.integers(0, 2, size)
    return y, (generator.random((size, len(FEATURES))) < theta[y]).astype(np.int64)


def _best_gaps(rows: list[Row]) -> list[float]:
    """Return for each setting how far the log-loss of the best peer is above ours."""
    settings = dict.fromkeys((row["records"], row["epsilon"]) for row in rows)
    found = []
    for setting in settings:
        here = {row["method"]: row["log_loss"] for row in rows if (row["records"], row["epsilon"]) == setting}
        mine = here.pop(METHOD)
        found.append(min(here.values()) - mine)
    return found


def _chart(rows: list[Row]) -> dict[str, object]:
    shown = [
        {"x": row["epsilon"], "y": row["accuracy"], "series": row["method"]} for row in rows if row["records"] == SHOWN
    ]
    across = axis("epsilon, on a logarithmic scale", logarithmic=True, ticks=[float(e) for e in EPSILONS])
    return lines(f"Naive Bayes from {SHOWN} records with 16 features", shown, across, axis("accuracy", zero=False))


REPRODUCTION = Reproduction(
    name="ours-naive-bayes",
    title="Naive Bayes beside other libraries",
    paper=OURS,
    setting="16 yes/no features; 50 records with 20 repeats and 1,000 with 6, 1,000 test records; pure epsilon. "
    "The peers: diffprivlib's GaussianNB, and private-PGM (mbi) on the noisy counts of algorithm 1; they were run on "
    "the same records in an environment of their own.",
    says="How accurate is a private classifier, and are its probabilities honest?",
    finds="Noise in the shape of one record's influence, read as a likelihood, gives better probabilities at every "
    "epsilon, and at small epsilon the better classifier by far.",
    run=run,
)
