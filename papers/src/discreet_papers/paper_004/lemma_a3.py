"""Lemma A.3: a bound on the divergence of one row, and the function that stands for the divergence in its proof."""

from itertools import product

import numpy as np

from discreet_papers.bounds_004 import (
    divergence,
    published_divergence,
    published_divergence_bound,
    published_last_step,
)
from discreet_papers.papers import PAPER_004
from discreet_papers.pictures import axis, lines, with_level
from discreet_papers.reproduction import Outcome, Reproduction, Row

PRIOR, COUNTS, SIZE, SECOND = (2.0, 2.0), (10.0, 15.0), 50, 9.0
PRIORS, SIZES = ((2.0, 2.0), (2.0, 5.0), (5.0, 5.0), (10.0, 3.0)), (10, 50, 200)


def grid(steps: int) -> tuple[int, int, int]:
    """Return the number of points looked at, and at how many the divergence and f_ij exceed the lemma's bound."""
    points = beyond = own = 0
    for prior, size in product(PRIORS, SIZES):
        noisy = np.linspace(0, size, steps)
        for first, share in product(np.linspace(0, size, 6).round(), (0, 0.5, 1)):
            where = prior, (float(first), float(round((size - first) * share))), noisy[:, None], noisy[None, :]
            bound = published_divergence_bound(*where)
            points += bound.size
            beyond += int((divergence(*where) > bound + 1e-9).sum())
            own += int((published_divergence(*where) > bound + 1e-9).sum())
    return points, beyond, own


def run(quick: bool) -> Outcome:
    """Evaluate the three functions along a line through one example, and count exceptions on a grid."""
    rows: list[Row] = []
    for z in range(0, SIZE + 1, 2):
        where = PRIOR, COUNTS, float(z), SECOND
        row: Row = {"first_noisy_count": z, "divergence": float(divergence(*where))}
        row["printed_function"] = float(published_divergence(*where))
        rows.append(row | {"lemma_bound": float(published_divergence_bound(*where))})
    at = next(row for row in rows if row["first_noisy_count"] == 12)
    points, beyond, own = grid(6 if quick else 21)
    left, right = published_last_step(PRIOR[0], COUNTS[0])
    verdict = (
        f"KL(Beta(12, 17) || Beta(14, 11)) = {at['divergence']:.5f}, the function in the proof is "
        f"{at['printed_function']:.4f}. On a grid of {points:,} points the divergence exceeds the lemma's bound at "
        f"{beyond / points:.0%} and the function itself does at {own / points:.0%}. The last step of the proof would "
        f"need {left:.2f} <= {right:.2f}."
    )
    keys = {"divergence": "divergence", "function f in the proof": "printed_function", "lemma A.3": "lemma_bound"}
    shown = [{"x": r["first_noisy_count"], "y": r[key], "series": name} for name, key in keys.items() for r in rows]
    across, down = axis("first noisy count Z1 (Z2 = 9)"), axis("nats")
    title = "From Beta(12, 17) to Beta(2 + Z1, 2 + Z2): the divergence and what stands for it"
    return Outcome(rows, verdict, with_level(lines(title, shown, across, down, points=False), 0, "zero"))


REPRODUCTION = Reproduction(
    name="004-lemma-a3",
    title="Lemma A.3: the divergence of one row",
    paper=PAPER_004,
    setting="Prior Beta(2, 2), true counts (10, 15), n = 50; and a grid over four priors, three sizes, counts and Z.",
    says="The divergence f of a row is at most da ln(alpha + da) + db ln(beta + db) - Z1 ln(alpha + da - 1) "
    "- Z2 ln(beta + db - 1).",
    finds="In the function that the proof bounds, the logarithms of the Gamma functions have the opposite sign and the "
    "terms of alpha + beta are missing, so it is not the divergence: it falls without end as Z grows, and so does the "
    "bound, while a divergence is never negative. The last step of the proof also drops terms that are not negative. "
    "The library uses the closed form of the divergence.",
    run=run,
)
