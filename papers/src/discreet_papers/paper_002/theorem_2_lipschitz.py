"""Theorem 2(i): under assumption 1 one draw is (2L, 0)-private."""

import numpy as np

from discreet_papers.paper_002 import PAPER_002
from discreet_papers.paper_002.theorem_1_lipschitz import CONSTANT, SIZES, log_masses, odds
from discreet_papers.pictures import axis, lines, with_level
from discreet_papers.reproduction import Outcome, Reproduction, Row


def exact_epsilon(size: int) -> float:
    """Return the largest log ratio of the posterior densities of neighbours: |ln Z_k / Z_(k+1)| + L, at an end."""
    return float(np.abs(np.diff(log_masses(size))).max()) + odds()


def run(quick: bool) -> Outcome:
    """Compute the exact epsilon over all counts; quick takes fewer sizes."""
    printed = CONSTANT.epsilon()
    rows: list[Row] = [
        {"records": size, "exact_epsilon": exact_epsilon(size), "theorem": printed}
        for size in (SIZES[::3] if quick else SIZES)
    ]
    first, last = rows[0], rows[-1]
    verdict = (
        f"The exact epsilon of a draw rises from {first['exact_epsilon']:.4f} for {first['records']} record to "
        f"{last['exact_epsilon']:.4f} for {last['records']}, below 2 L = {printed:.4f} and as close as one likes."
    )
    shown = [{"x": row["records"], "y": row["exact_epsilon"], "series": "exact epsilon of one draw"} for row in rows]
    across = axis("number of records", logarithmic=True, ticks=[row["records"] for row in rows])
    chart = lines("A draw of 0.2 <= theta <= 0.8", shown, across, axis("epsilon"))
    return Outcome(rows, verdict, with_level(chart, printed, "theorem 2(i): 2 L", left=True))


REPRODUCTION = Reproduction(
    name="002-theorem-2-lipschitz",
    title="Theorem 2(i): privacy of one draw under assumption 1",
    paper=PAPER_002,
    setting="Tosses of a coin, uniform prior on 0.2 <= theta <= 0.8, so L = ln 4; one toss is replaced, all counts.",
    says="The posterior is (2 L, 0)-differentially private under rho: one draw from it costs epsilon = 2 L for each "
    "unit of distance.",
    finds="True, and for a coin it cannot be improved for all numbers of records at once: the cost is attained in the "
    "limit. In general 2 L can be replaced by the range of the log ratio of two likelihoods over theta, "
    "which is at most 2 L. The library draws from such posteriors with `PosteriorSampling.truncated`.",
    run=run,
)
