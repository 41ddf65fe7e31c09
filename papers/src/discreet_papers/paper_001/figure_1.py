"""Figure 1: the sensitivity of the Hellinger distance over beta posteriors."""

import numpy as np

from discreet.choices._hellinger_sensitivity import global_sensitivity, line_local_sensitivities
from discreet_papers.paper_001 import PAPER_001
from discreet_papers.paper_003 import smooth_of
from discreet_papers.pictures import axis, lines
from discreet_papers.reproduction import Outcome, Reproduction, Row

SIZES, QUICK_SIZES = (10, 30, 100, 300), (10, 100)


def run(quick: bool) -> Outcome:
    """Compute the local sensitivity for every count; the smooth one for the largest size, at its usual epsilon."""
    sizes = QUICK_SIZES if quick else SIZES
    rows: list[Row] = []
    for size in sizes:
        local = line_local_sensitivities(np.ones(2), size)
        rows.extend({"size": size, "count": x, "local": float(value)} for x, value in enumerate(local))
    size = 100
    middle, edge = (next(r["local"] for r in rows if (r["size"], r["count"]) == (size, x)) for x in (size // 2, 0))
    smooth = smooth_of((1.0, 1.0), (50, 50), "1", "1e-8")
    verdict = (
        f"With {size} records the local sensitivity is {middle:.6f} in the middle and {edge:.6f} at the edge, which is "
        f"the global one, {global_sensitivity(np.ones(2), size):.6f}. With epsilon = 1 and delta = 1e-8 the smooth "
        f"sensitivity in the middle is {smooth:.6f}."
    )
    shown = [{"x": row["count"] / row["size"], "y": row["local"], "series": f"{row['size']} records"} for row in rows]
    across, down = axis("share of ones among the records"), axis("local sensitivity of the Hellinger distance")
    return Outcome(rows, verdict, lines("Prior beta(1, 1)", shown, across, down, points=False))


REPRODUCTION = Reproduction(
    name="001-figure-1",
    title="Figure 1: sensitivities over beta posteriors",
    paper=PAPER_001,
    setting="Prior beta(1, 1), all counts of 10 to 300 records; the range of the plot is not given.",
    says="The sensitivity of the Hellinger distance is largest at the edge and very low away from it, so a smooth "
    "sensitivity can be much below the global one.",
    finds="True, for every size. From four records on, the largest values are at both ends, one edge between "
    "neighbours each, and the smallest is in the middle. How much of the gap the smooth sensitivity can use depends on "
    "delta: with 100 records and delta = 1e-8 it still sees the edge from the middle.",
    run=run,
)
