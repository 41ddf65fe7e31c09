"""Lemma 2: from the smoothness of every variable to that of the network."""

from itertools import product
from math import log

import numpy as np

from discreet._core.arrays import Floats
from discreet.draws._lipschitz import network_lipschitz
from discreet_papers.papers import PAPER_004
from discreet_papers.reproduction import Outcome, Reproduction, Row

LEAST = (0.05, 0.1, 0.2, 0.4)
FEATURES = 3


def log_ratio(root: Floats, tables: Floats, first: tuple[int, ...], second: tuple[int, ...]) -> float:
    """Return |ln p(x) / p(y)| for naive Bayes records (class, features), tables (features, classes, levels)."""
    chances = []
    for y, *x in (first, second):
        chances.append(log(root[y]) + sum(log(tables[i, y, level]) for i, level in enumerate(x)))
    return abs(chances[0] - chances[1])


def families_that_differ(first: tuple[int, ...], second: tuple[int, ...]) -> int:
    """Return how many of (class), (class, feature 1), ... are not the same in two records."""
    if first[0] != second[0]:
        return len(first)
    return sum(a != b for a, b in zip(first[1:], second[1:], strict=True))


def extreme_tables(least: float) -> tuple[Floats, Floats]:
    """Return probabilities at their bounds: every feature follows the class as closely as they allow."""
    row = np.array([[1 - least, least], [least, 1 - least]])
    return np.array([1 - least, least]), np.stack([row] * FEATURES)


def run(quick: bool) -> Outcome:
    """Compare all records at extreme probabilities."""
    rows: list[Row] = []
    everyone = list(product((0, 1), repeat=FEATURES + 1))
    for least in LEAST:
        root, tables = extreme_tables(least)
        constant = network_lipschitz([log((1 - least) / least)] * (FEATURES + 1)).constant
        pairs = [(a, b) for a, b in product(everyone, everyone) if a != b]
        by_family = max(log_ratio(root, tables, a, b) / families_that_differ(a, b) for a, b in pairs)
        only_class = log_ratio(root, tables, (0, 0, 0, 0), (1, 0, 0, 0))
        row: Row = {"least_probability": least, "constant": constant, "largest_over_families": by_family}
        rows.append(row | {"only_the_class_differs": only_class, "printed_distance_times_constant": constant})
    at = rows[2]
    verdict = (
        f"With probabilities of at least {at['least_probability']} and three features, records that differ in the "
        f"class alone have a log-ratio of {at['only_the_class_differs']:.3f}, where one variable that differs would "
        f"allow {at['printed_distance_times_constant']:.3f}. Counting the families that differ, the ratio is "
        f"{at['largest_over_families']:.3f} at most, and the constant is {at['constant']:.3f}."
    )
    return Outcome(rows, verdict)


REPRODUCTION = Reproduction(
    name="004-lemma-2",
    title="Lemma 2: smooth variables make a smooth network",
    paper=PAPER_004,
    setting="Naive Bayes with three features; every pair of records, probabilities at their least and largest values.",
    says="If |ln p(x_i | parents) - ln p(y_i | parents)| <= L_i rho_i(x_i, y_i) for all i, then |ln p(x) - ln p(y)| <= "
    "max L_i times the sum of all rho_i.",
    finds="True but empty: where x_i = y_i and the parents differ, rho_i is 0 and the hypothesis asks for a variable "
    "that does not depend on its parents. It becomes useful if rho_i compares families, the variable with its parents: "
    "then the number of families that differ is a distance, and L = max L_i.",
    run=run,
)
