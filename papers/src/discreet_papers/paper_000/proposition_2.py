"""Proposition II: which neighbour the local sensitivity comes from."""

import numpy as np

from discreet.choices._hellinger_sensitivity import line_local_sensitivities
from discreet_papers.paper_000 import PAPER_000
from discreet_papers.paper_000.proposition_1 import edges, middles
from discreet_papers.pictures import axis, lines
from discreet_papers.reproduction import Outcome, Reproduction, Row

MOST, QUICK_MOST, SHOWN = 200, 60, 9


def exceptions(size: int) -> Row:
    """Return how often the statement fails, and the two edges beside the middle."""
    found, local, x = edges(size), line_local_sensitivities(np.ones(2), size), np.arange(size)
    up = x[x >= middles(size)[-1]]  # H(x, x + 1) is edge x, H(x, x - 1) is edge x - 1
    down = 1 + x[x < middles(size)[0]]
    wrong = ~np.isclose(local[up], found[up], rtol=1e-12), ~np.isclose(local[down], found[down - 1], rtol=1e-12)
    row: Row = {"size": size, "exceptions": int(wrong[0].sum() + wrong[1].sum())}
    middle = size // 2
    return row | {"below_the_middle": float(found[middle - 1]), "above_the_middle": float(found[middle])}


def run(quick: bool) -> Outcome:
    """Compare the local sensitivity with the named edge for all sizes."""
    rows = [exceptions(size) for size in range(2, (QUICK_MOST if quick else MOST) + 1)]
    five = next(row for row in rows if row["size"] == 5)
    verdict = (
        f"For n = 2 to {rows[-1]['size']} there are {sum(row['exceptions'] for row in rows)} exceptions where the "
        f"named neighbour exists. For n = 5 and x0 = 2 the two distances that the proof equates are "
        f"{five['below_the_middle']:.8f} and {five['above_the_middle']:.8f}."
    )
    found, local = edges(SHOWN), line_local_sensitivities(np.ones(2), SHOWN)
    shown = [{"x": x, "y": float(value), "series": "local sensitivity"} for x, value in enumerate(local)]
    shown += [{"x": x, "y": float(value), "series": "H(BI(x), BI(x + 1))"} for x, value in enumerate(found)]
    shown += [{"x": x + 1, "y": float(value), "series": "H(BI(x), BI(x - 1))"} for x, value in enumerate(found)]
    across, down = axis("ones x"), axis("Hellinger distance", zero=False)
    return Outcome(rows, verdict, lines(f"{SHOWN} records, prior beta(1, 1)", shown, across, down))


REPRODUCTION = Reproduction(
    name="000-proposition-2",
    title="Proposition II: the local sensitivity is an edge",
    paper=PAPER_000,
    setting="Prior beta(1, 1), every number of ones for 2 to 200 records.",
    says="The local sensitivity at x is H(BI(x), BI(x + 1)) for x >= x0 and H(BI(x), BI(x - 1)) for x <= x0.",
    finds="True where that neighbour exists. At x = n and x = 0 it does not, and the sensitivity is that of the only "
    "edge there is. For odd n the two middles are one on each side: at the lower one it is the edge below. The last "
    "line of the proof, that both edges at x0 are equal, holds for even n only. The library uses a closed form for any "
    "prior and any number of cells.",
    run=run,
)
