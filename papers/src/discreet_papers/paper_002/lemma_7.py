"""Lemma 7: discrete Bayesian networks, every pair of records and every corner of the parameters."""

from fractions import Fraction
from itertools import product
from math import log

import numpy as np
from numpy.typing import NDArray

from discreet.draws._lipschitz import network_range
from discreet_papers.paper_002 import PAPER_002
from discreet_papers.pictures import axis, lines
from discreet_papers.reproduction import Outcome, Reproduction, Row

LEAST = 0.2
FEATURES, QUICK_FEATURES = (1, 2, 3), (1, 2)


def largest_slopes(features: int) -> tuple[float, float]:
    """Return the largest |ln P(x) - ln P(y)| for each variable that differs, and the same without the division.

    Naive Bayes, every entry of every table 0.2 or 0.8: log ratios are largest at such corners.
    """
    records = np.array(list(product((0, 1), repeat=features + 1)))
    distances = (records[:, None] != records).sum(axis=2)
    apart = distances > 0
    slope = gap = 0.0
    for corner in product((LEAST, 1 - LEAST), repeat=2 * features + 1):
        logs = _log_chances(records, corner)
        gaps = np.abs(logs[:, None] - logs)[apart]
        slope, gap = max(slope, float((gaps / distances[apart]).max())), max(gap, float(gaps.max()))
    return slope, gap


def _log_chances(records: NDArray[np.int64], corner: tuple[float, ...]) -> NDArray[np.float64]:
    """Return ln P of each record; the corner holds P(y = 1), then P(x_i = 1 | y = 0) and P(x_i = 1 | y = 1)."""
    label, given = records[:, 0], np.array(corner[1:]).reshape(-1, 2)
    chances = np.column_stack([np.full(len(records), corner[0]), given[:, label].T])
    return np.asarray(np.log(np.where(records == 1, chances, 1 - chances)).sum(axis=1))


def run(quick: bool) -> Outcome:
    """Compare all pairs of records; quick takes fewer features."""
    rows: list[Row] = []
    for features in QUICK_FEATURES if quick else FEATURES:
        slope, gap = largest_slopes(features)
        row: Row = {"features": features, "slope": slope, "lemma_with_entries": log(1 / LEAST)}
        row |= {"lemma_with_joint_atoms": (features + 1) * log(1 / LEAST), "largest_log_ratio": gap}
        rows.append(row | {"library_half_range": float(network_range([2] * (features + 1), Fraction(1, 5))) / 2})
    one = rows[0]
    verdict = (
        f"With one feature, flipping the class alone moves the log probability by {one['slope']:.4f}, more than "
        f"ln(1/0.2) = {one['lemma_with_entries']:.4f}; the smallest joint probability gives "
        f"{one['lemma_with_joint_atoms']:.4f}, which holds."
    )
    keys = {
        "epsilon the smallest joint probability": "lemma_with_joint_atoms",
        "exact": "slope",
        "epsilon the smallest entry": "lemma_with_entries",
    }
    shown = [{"x": row["features"], "y": row[key], "series": name} for name, key in keys.items() for row in rows]
    across = axis("number of features", ticks=[row["features"] for row in rows])
    title = "Naive Bayes, entries of at least 0.2: the constant L, and lemma 7 in two readings"
    return Outcome(rows, verdict, lines(title, shown, across, axis("L")))


REPRODUCTION = Reproduction(
    name="002-lemma-7",
    title="Lemma 7: discrete Bayesian networks",
    paper=PAPER_002,
    setting="Naive Bayes with yes/no variables, every entry of its tables at least 0.2, all pairs of records.",
    says="With rho the number of variables that differ and epsilon the smallest probability of any sub-event, "
    "assumption 1 holds with L = ln(1/epsilon).",
    finds="It depends on what a sub-event is. For the smallest probability of a whole record it is true. For the "
    "smallest entry of a conditional table, which is what one controls, it is false: a variable that "
    "changes takes the rows of all its children with it. At the level of one record the library charges "
    "R = 2 sum_i ln((1 - (K_i - 1) w) / w) for entries of at least w, which is attained in the limit of many records.",
    run=run,
)
