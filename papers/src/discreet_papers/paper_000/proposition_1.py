"""Proposition I: distances between neighbouring posteriors on both sides of the middle."""

import numpy as np
from numpy.typing import NDArray

from discreet.mathematics import log_r
from discreet_papers.paper_000 import PAPER_000
from discreet_papers.pictures import axis, lines
from discreet_papers.reproduction import Outcome, Reproduction, Row

MOST, QUICK_MOST, SHOWN = 200, 60, 20
EQUAL = 1e-12


def edges(size: int) -> NDArray[np.float64]:
    """Return H(BI(x), BI(x + 1)) for x = 0, ..., n - 1 under the prior beta(1, 1): H^2 = 1 - r(1 + x) r(n - x)."""
    logs = log_r(np.arange(1.0, size + 1))
    return np.asarray(np.sqrt(-np.expm1(logs + logs[::-1])))


def middles(size: int) -> tuple[int, ...]:
    """Return x0: n/2, or both numbers beside it."""
    return (size // 2,) if size % 2 == 0 else (size // 2, size // 2 + 1)


def exceptions(size: int) -> Row:
    """Return how often each half and the corrected second half fail."""
    found, x = edges(size), np.arange(size - 1)  # x + 2 must be a count
    rises, falls = found[1:] > found[:-1] * (1 + EQUAL), found[1:] < found[:-1] * (1 - EQUAL)
    above, below = x >= middles(size)[0], x <= middles(size)[-1]
    row: Row = {"size": size, "first_half": int((above & ~rises).sum()), "second_half": int((below & ~falls).sum())}
    mirrored = x + 2 <= middles(size)[-1]  # H(x + 2, x + 1) < H(x + 1, x) seen from x + 2
    return row | {"second_half_mirrored": int((mirrored & ~falls).sum())}


def run(quick: bool) -> Outcome:
    """Compare all neighbouring edges for all sizes."""
    rows = [exceptions(size) for size in range(2, (QUICK_MOST if quick else MOST) + 1)]
    first, second, mirrored = (sum(row[key] for row in rows) for key in list(rows[0])[1:])
    verdict = (
        f"For n = 2 to {rows[-1]['size']} the first half has {first} exceptions, the second half as printed {second}, "
        f"and the mirror image of the first half {mirrored}."
    )
    shown = [{"x": x, "y": float(value), "series": f"n = {n}"} for n in (SHOWN, 10) for x, value in enumerate(edges(n))]
    across, down = axis("ones x"), axis("Hellinger distance between BI(x) and BI(x + 1)")
    return Outcome(rows, verdict, lines("Neighbouring posteriors under beta(1, 1)", shown, across, down))


REPRODUCTION = Reproduction(
    name="000-proposition-1",
    title="Proposition I: distances grow away from the middle",
    paper=PAPER_000,
    setting="Prior beta(1, 1), every number of ones for 2 to 200 records; x0 is n/2, or either number beside it.",
    says="H(BI(x), BI(x + 1)) < H(BI(x + 1), BI(x + 2)) for all x >= x0, and > for all x <= x0; shown by induction.",
    finds="The first half is true. The second holds only for x < n/2 - 1: at x0 itself both halves would contradict "
    "each other, and for even n the two edges beside the middle are equal. What is meant is the mirror image, "
    "H(BI(x), BI(x - 1)) < H(BI(x - 1), BI(x - 2)) for x <= x0, which is true. One line proves both: the logarithm of "
    "the affinity is ln r(1 + x) + ln r(n - x), and ln r is strictly concave. The printed induction drops a factor.",
    run=run,
)
