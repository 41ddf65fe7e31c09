"""Algorithm 3 and corollary 4: the published Delta is no bound on how far a density moves."""

from math import log

import numpy as np
from scipy.stats import beta

from discreet.choices._maximum_posterior import published_epsilon, published_sensitivity
from discreet_papers.papers import PAPER_004
from discreet_papers.pictures import axis, lines
from discreet_papers.reproduction import Outcome, Reproduction, Row

WIDTHS, NODES = (0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001), (1, 2, 5)


def change_with_many_records(nodes: int, records: int, least: float) -> tuple[float, float]:
    """Return how far the density moves when one of many records, half of them yes in every node, changes everywhere.

    The second number is the published Delta, sqrt(p ln((1 - least) / least)). The density is a product of Beta
    densities, restricted to entries above `least`; the largest change is looked for where all parameters are equal.
    """
    theta = np.linspace(0.3, 0.7, 40_001)
    half = records // 2
    laws = beta(1 + half, 1 + records - half), beta(half, 2 + records - half)
    densities = [(law.pdf(theta) / (law.cdf(1 - least) - law.cdf(least))) ** nodes for law in laws]
    return float(np.abs(densities[0] - densities[1]).max()), published_sensitivity(log((1 - least) / least), nodes)


def run(quick: bool) -> Outcome:
    """Compute Delta, the true change of the density and the true epsilon, for one record."""
    rows: list[Row] = []
    for nodes in NODES[:2] if quick else NODES:
        for width in WIDTHS:
            stated = published_sensitivity(log((0.5 + width) / (0.5 - width)), nodes)
            true = published_epsilon(1.0, width, nodes)
            rows.append({"nodes": nodes, "half_width": width, "delta": stated, "true_epsilon": true})
            rows[-1]["true_change"] = 2 * stated * true
    at = next(row for row in rows if row["nodes"] == 1 and row["half_width"] == 0.01)
    many, stated = change_with_many_records(5, 1000, 0.1)
    verdict = (
        f"For one yes/no record and theta within 0.5 +- 0.01 the published Delta is {at['delta']:.4f}, the density "
        f"moves by {at['true_change']:.4f}, and what is claimed to be epsilon = 1 is {at['true_epsilon']:.5f}. Five "
        f"nodes and 1000 records: the density moves by {many:.2g}, Delta is {stated:.2f}."
    )
    shown = [{"x": r["half_width"], "y": r["true_epsilon"], "series": f"{r['nodes']} node(s)"} for r in rows]
    across = axis("half width of the parameter's range", logarithmic=True, ticks=WIDTHS[::-1])
    down = axis("true epsilon where 1 is claimed", logarithmic=True, ticks=(1, 10, 100, 1000, 10**5, 10**7, 10**10))
    return Outcome(rows, verdict, lines("Algorithm 3 as published", shown, across, down))


REPRODUCTION = Reproduction(
    name="004-algorithm-3",
    title="Algorithm 3 and corollary 4: the maximum of the posterior by the exponential mechanism",
    paper=PAPER_004,
    setting="One record of p yes/no variables without arrows, uniform prior on 1/2 +- h, claimed epsilon = 1: exact.",
    says="With Delta = sqrt(L r) the mechanism that draws theta in proportion to exp(epsilon u / (2 Delta)), u the "
    "posterior density, is epsilon-differentially private.",
    finds="Not private as claimed. The square root comes from Pinsker's inequality, which bounds chances of sets. "
    "A density can move by any amount, the more the narrower the range, the more nodes and the more records. "
    "Sound are finitely many parameters with u the posterior probability and Delta = tanh(R / 4) "
    "(`NetworkMaximum`), a tempered truncated draw, and the maximum of noisy counts, which is the best of them.",
    run=run,
)
