"""Proposition III: the local sensitivity is smallest in the middle."""

import numpy as np

from discreet.choices._hellinger_sensitivity import line_local_sensitivities
from discreet_papers.paper_000 import PAPER_000
from discreet_papers.paper_000.proposition_1 import EQUAL, middles
from discreet_papers.pictures import axis, lines
from discreet_papers.reproduction import Outcome, Reproduction, Row

MOST, QUICK_MOST = 200, 60


def compare(size: int) -> Row:
    """Return the sensitivity in the middle, and the smallest elsewhere."""
    local = line_local_sensitivities(np.ones(2), size)
    middle = local[list(middles(size))].max()
    others = np.delete(local, middles(size))
    row: Row = {"size": size, "in_the_middle": float(middle), "least_elsewhere": float(others.min())}
    return row | {"strict": bool((others > middle * (1 + EQUAL)).all()), "at_the_edge": float(local[0])}


def run(quick: bool) -> Outcome:
    """Compare all counts with the middle for all sizes from two on."""
    rows = [compare(size) for size in range(2, (QUICK_MOST if quick else MOST) + 1)]
    failing = [str(row["size"]) for row in rows if not row["strict"]]
    last = rows[-1]
    verdict = (
        f"Of n = 2 to {last['size']} the strict inequality fails for n = {' and '.join(failing)}, where all "
        f"sensitivities are equal. At n = {last['size']} it is {last['in_the_middle']:.6f} in the middle and "
        f"{last['at_the_edge']:.6f} at the edge."
    )
    keys = {"in the middle": "in_the_middle", "least elsewhere": "least_elsewhere", "at the edge": "at_the_edge"}
    shown = [
        {"x": row["size"], "y": row[key], "series": name}
        for name, key in keys.items()
        for row in rows[: QUICK_MOST - 1]
    ]
    across, down = axis("records"), axis("local sensitivity")
    return Outcome(rows, verdict, lines("Prior beta(1, 1)", shown, across, down, points=False))


REPRODUCTION = Reproduction(
    name="000-proposition-3",
    title="Proposition III: the middle is least sensitive",
    paper=PAPER_000,
    setting="Prior beta(1, 1), every number of ones for 2 to 200 records; for odd n both middles count as x0.",
    says="The local sensitivity at any x other than x0 is larger than at x0.",
    finds="True for four records and more. With two or three records all sensitivities are equal, and with one there "
    "is nothing to compare. For another prior the middle is where alpha + x is nearest to beta + n - x, if that is "
    "among the counts.",
    run=run,
)
