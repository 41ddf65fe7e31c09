"""Lemma 2: how far the empirical law of n draws is from the true one, on a small partition."""

from math import floor, lgamma, log, log2, sqrt

import numpy as np

from discreet_papers.paper_002 import PAPER_002
from discreet_papers.reproduction import Outcome, Reproduction, Row

DRAWS, QUICK_DRAWS = (20, 40, 100), (20, 40)
LAWS = {1: ((1,),), 2: ((10, 10), (1, 19), (5, 15)), 3: ((7, 7, 6), (1, 1, 18)), 4: ((5, 5, 5, 5), (2, 3, 5, 10))}
"""For each number of parts, laws whose chances are multiples of 1/20."""
MANY = 20


def most_parts(delta: float) -> int:
    """Return the largest partition that the lemma allows: log2 of 1 / sqrt(delta), rounded down."""
    return floor(log2(sqrt(1 / delta)) + 1e-12)


def beyond(expected: tuple[int, ...], delta: float) -> float:
    """Return P(l1 distance > sqrt(3 ln(1/delta) / n)), exactly, for n draws with these expected counts.

    n times the distance is sum_i |k_i - e_i|, a whole number; its law is built up part by part.
    """
    draws = sum(expected)
    law = np.zeros((draws + 1, 2 * draws + 1))  # by draws used so far and by distance so far
    law[0, 0] = 1.0
    for mean in expected:
        grown = np.zeros_like(law)
        for count in range(draws + 1):
            step, weight = abs(count - mean), np.exp(count * log(mean) - mean - lgamma(count + 1))
            grown[count:, step:] += weight * law[: draws + 1 - count, : 2 * draws + 1 - step]
        law = grown
    chances = law[draws] / law[draws].sum()  # Poisson numbers, given their sum
    return float(chances[np.arange(2 * draws + 1) > sqrt(3 * draws * log(1 / delta))].sum())


def run(quick: bool) -> Outcome:
    """Enumerate; quick takes fewer numbers of draws."""
    rows: list[Row] = []
    for draws in QUICK_DRAWS if quick else DRAWS:
        for parts, laws in LAWS.items():
            delta = 4.0**-parts
            chance = max(beyond(tuple(draws // MANY * k for k in law), delta) for law in laws)
            rows.append({"draws": draws, "parts": parts, "allowed": True, "delta": delta, "chance_beyond": chance})
    outside = beyond((1,) * MANY, 0.05)
    worst = max(rows, key=lambda row: row["chance_beyond"] / row["delta"])
    rows.append({"draws": MANY, "parts": MANY, "allowed": False, "delta": 0.05, "chance_beyond": outside})
    verdict = (
        f"Never beyond: at most {worst['chance_beyond'] / worst['delta']:.1%} of delta in the cases allowed. The "
        f"condition matters: with {MANY} parts, where delta = 0.05 allows {most_parts(0.05)}, it is {outside:.3f}."
    )
    return Outcome(rows, verdict)


REPRODUCTION = Reproduction(
    name="002-lemma-2",
    title="Lemma 2: the empirical law of the draws",
    paper=PAPER_002,
    setting="Laws on 1 to 4 parts with the largest delta that the lemma allows for them, 20 to 100 draws, enumerated.",
    says="On a partition into at most log2(1 / sqrt(delta)) parts, the l1 distance between the empirical law of n "
    "draws and the true law is at most sqrt(3 ln(1/delta) / n), with probability at least 1 - delta.",
    finds="True, by the inequality of Weissman and others, and far from tight for two parts. As delta must be at most "
    "1/16 for a partition into two parts, the lemma is silent for a larger delta: one part tells nothing.",
    run=run,
)
