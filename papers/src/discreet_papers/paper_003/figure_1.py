"""Figure 1: the local sensitivity of the Hellinger distance of beta distributions."""

import numpy as np

from discreet.choices._hellinger_sensitivity import local_sensitivity
from discreet_papers.paper_003 import PAPER_003
from discreet_papers.pictures import axis, lines
from discreet_papers.reproduction import Outcome, Reproduction, Row

TOTALS, QUICK_TOTALS = (6, 12, 24, 48), (6, 24)


def run(quick: bool) -> Outcome:
    """Compute the sensitivity of beta(a, b) for all a + b of some totals, records on top of beta(1, 1)."""
    rows: list[Row] = []
    for total in QUICK_TOTALS if quick else TOTALS:
        for first in range(1, total):
            value = local_sensitivity(np.ones(2), np.array([first - 1, total - first - 1]))
            rows.append({"total": total, "first": first, "second": total - first, "local": value})
    middle = [row for row in rows if row["first"] == row["second"]]
    verdict = (
        "In the middle it is "
        + ", ".join(f"{row['local']:.6f} for beta({row['first']}, {row['second']})" for row in middle)
        + f"; at the edge beta(1, {rows[-1]['total'] - 1}) it is {rows[-1]['local']:.6f}."
    )
    shown = [{"x": row["first"] / row["total"], "y": row["local"], "series": f"a + b = {row['total']}"} for row in rows]
    across, down = axis("a / (a + b)"), axis("local sensitivity of the Hellinger distance")
    return Outcome(rows, verdict, lines("Records on top of the prior beta(1, 1)", shown, across, down, points=False))


REPRODUCTION = Reproduction(
    name="003-figure-1",
    title="Figure 1: local sensitivity of beta distributions",
    paper=PAPER_003,
    setting="beta(a, b) with whole a and b, reached from the prior beta(1, 1); the plotted range is not given.",
    says="The local sensitivity falls as the two parameters come closer to each other, and as they grow.",
    finds="True: for a given total it grows with the distance from the middle, because ln r is concave, where r(s) "
    "r(t) is the affinity of neighbours. The text then says that accuracy improves when the sensitivity goes larger; "
    "it is the other way round, as its next sentence has it.",
    run=run,
)
