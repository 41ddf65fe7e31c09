"""Lemma 1: the constants of many independent records."""

from fractions import Fraction
from itertools import product
from math import log

from discreet.draws import categories_lipschitz
from discreet.draws._lipschitz import product as product_rule
from discreet_papers.paper_002 import PAPER_002
from discreet_papers.reproduction import Outcome, Reproduction, Row

LEAST = Fraction(1, 5)
THETAS, SIZES, QUICK_SIZES = (0.2, 0.35, 0.5, 0.65, 0.8), (1, 2, 3, 4, 5, 6), (1, 2, 4)


def largest_slope(size: int) -> float:
    """Return the largest |ln p(x) - ln p(y)| / rho(x, y) over all pairs of n tosses and all theta of a list."""
    found = 0.0
    for theta in THETAS:
        logs = log(1 - theta), log(theta)
        for x, y in product(product((0, 1), repeat=size), repeat=2):
            distance = sum(a != b for a, b in zip(x, y, strict=True))
            if distance:
                found = max(found, abs(sum(logs[a] for a in x) - sum(logs[b] for b in y)) / distance)
    return found


def run(quick: bool) -> Outcome:
    """Compare all pairs of sequences; quick takes shorter ones."""
    one = categories_lipschitz(2, LEAST)
    rows: list[Row] = [
        {
            **{"records": size, "largest_slope": largest_slope(size), "library": product_rule(one).constant},
            **{"lemma": size * one.constant},
        }
        for size in (QUICK_SIZES if quick else SIZES)
    ]
    last = rows[-1]
    verdict = (
        f"For {last['records']} records the smallest constant is {last['largest_slope']:.4f}, the same as for one; the "
        f"lemma gives {last['lemma']:.4f}. The first line of its proof would make the distance of two sequences "
        f"{last['records']} times what it is."
    )
    return Outcome(rows, verdict)


REPRODUCTION = Reproduction(
    name="002-lemma-1",
    title="Lemma 1: from one record to many",
    paper=PAPER_002,
    setting="Sequences of tosses of a coin with 0.2 <= theta <= 0.8, every pair, rho = number of tosses that differ.",
    says="If one record has the constant L (or c), n independent records have n L (or c / n) under the sum of the "
    "distances, and k L (or c / k) if at most k records differ.",
    finds="True, with room: the sum of the distances grows with the records already, so L and c carry over unchanged. "
    "The equation in the proof has a factor n too many, and should be an inequality as log ratios may "
    "cancel. Without the factor the theorems say n times more about n records.",
    run=run,
)
