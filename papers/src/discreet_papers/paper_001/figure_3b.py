"""Figure 3b: the probability of each posterior against its distance from the truth; the code serves 3c as well."""

import numpy as np

from discreet.choices._posterior_distances import Tables
from discreet_papers import as_published
from discreet_papers.paper_001 import PAPER_001
from discreet_papers.paper_003 import DistanceLaw, laplace_law, model_of, smooth_law
from discreet_papers.pictures import axis, lines
from discreet_papers.reproduction import Outcome, Reproduction, Row

SIZE = 600
SHOWN = 0.5
"""Distances up to which the chart reaches; beyond, every probability is near zero on its scale."""


def probabilities(cells: int, size: int) -> tuple[dict[str, DistanceLaw], list[Row]]:
    """Return the three laws, and along the line from balanced data to one cell the probability of each posterior."""
    prior, counts = (1.0,) * cells, (size // cells,) * cells
    law = smooth_law(prior, counts, "1", "1e-8")
    laws, rows = {"exponential mechanism": law}, list[Row]()
    steps = np.arange(size // cells // (cells - 1))
    line = np.array(counts) + steps[:, None] * np.array([cells - 1] + [-1] * (cells - 1))
    tables = Tables(np.ones(cells), size)
    distances = tables.distances(np.array([counts]))[0][tables.indices(line)]
    chances = {"exponential mechanism": law.chances[tables.indices(line)]}
    for sensitivity in (min(cells, 3) - 1, cells):
        noise = as_published.RoundedLaplace(model_of(prior), size, 1, sensitivity, cells - 1)
        name = f"Laplace, scale {sensitivity}/epsilon"
        laws[name] = laplace_law(noise, counts)
        chances[name] = np.exp(noise.log_prob(line, np.array(counts)))
    for name, chance in chances.items():
        pairs = zip(distances, chance, strict=True)
        rows.extend({"mechanism": name, "distance": float(h), "probability": float(p)} for h, p in pairs)
    return laws, rows


def outcome(cells: int, size: int) -> Outcome:
    """Return rows, chart and verdict."""
    laws, rows = probabilities(cells, size)
    at_zero = {row["mechanism"]: row["probability"] for row in rows if row["distance"] == 0}
    words = [
        f"{name}: {at_zero[name]:.4g} at the truth, {law.within(0.1):.4f} within 0.1, {law.within(0.3):.4f} within 0.3"
        for name, law in laws.items()
    ]
    near = [row for row in rows if row["distance"] <= SHOWN]
    shown = [{"x": row["distance"], "y": row["probability"], "series": row["mechanism"]} for row in near]
    across, down = axis("Hellinger distance from the true posterior"), axis("probability of one posterior")
    title = f"{cells} dimensions, {size} balanced records, epsilon = 1, delta = 1e-8"
    return Outcome(rows, "; ".join(words) + ".", lines(title, shown, across, down, points=False))


def run(quick: bool) -> Outcome:
    """Compute exact probabilities; quick is no different."""
    return outcome(2, SIZE)


REPRODUCTION = Reproduction(
    name="001-figure-3b",
    title="Figure 3b: probabilities in two dimensions",
    paper=PAPER_001,
    setting="Prior beta(1, 1), balanced data, epsilon = 1, delta = 1e-8. The number of records is not given; with 600 "
    "the mechanism is beyond the crossing of figure 2a.",
    says="Shows the probability of each posterior against its distance from the true one.",
    finds="All three fall with the distance. The exponential mechanism falls exponentially in the Hellinger distance, "
    "which saturates at one, so a little probability is left for every far candidate; the Laplace mechanisms fall "
    "exponentially in counts and leave none.",
    run=run,
)
