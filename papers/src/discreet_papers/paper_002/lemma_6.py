"""Lemma 6: the normal law with an unknown variance."""

from itertools import combinations
from math import exp

from scipy.stats import expon

from discreet.draws._lipschitz import normal_rate
from discreet_papers.paper_002 import PAPER_002
from discreet_papers.pictures import axis, lines
from discreet_papers.reproduction import Outcome, Reproduction, Row

PRIOR_RATE, SHOWN = 1.0, 10.0
CONSTANTS, QUICK_CONSTANTS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0), (0.1, 1.0, 10.0, 100.0)
PLACES = (-50.0, -2.0, -0.01, 0.0, 0.01, 1.0, 3.0, 50.0)


def slope(mean: float, precision: float) -> float:
    """Return the largest |ln p(x) - ln p(y)| / (|x^2 - y^2| + 2 |x - y|) over pairs of places."""
    return max(
        precision / 2 * abs((x - mean) ** 2 - (y - mean) ** 2) / (abs(x * x - y * y) + 2 * abs(x - y))
        for x, y in combinations(PLACES, 2)
    )


def run(quick: bool) -> Outcome:
    """Compare the prior mass of {1 / (2 variance) <= L} with what is asked; quick takes fewer L."""
    rows: list[Row] = []
    for constant in QUICK_CONSTANTS if quick else CONSTANTS:
        on_variance = float(expon.sf(1 / (2 * constant), scale=1 / PRIOR_RATE))
        on_precision = float(expon.cdf(2 * constant, scale=1 / PRIOR_RATE))
        row: Row = {"L": constant, "prior_on_variance": on_variance, "needed": 1 - exp(-PRIOR_RATE * constant)}
        rows.append(row | {"prior_on_precision": on_precision})
    at = next(row for row in rows if row["L"] == SHOWN)
    verdict = (
        f"At L = {SHOWN:g} the smooth parameters have the prior mass {at['prior_on_variance']:.5f}, and "
        f"{at['needed']:.5f} is needed. With the prior on the precision the mass is sufficient for every L, with "
        f"c = {normal_rate(PRIOR_RATE).rate:g} lambda."
    )
    keys = {"variance ~ Exp(1), as stated": "prior_on_variance", "at most, for c = 1": "needed"}
    keys["precision ~ Exp(1)"] = "prior_on_precision"
    shown = [{"x": row["L"], "y": 1 - row[key], "series": name} for name, key in keys.items() for row in rows]
    shown = [row for row in shown if row["y"] > 1e-6]
    across = axis("L", logarithmic=True, ticks=[row["L"] for row in rows])
    down = axis("prior mass outside", logarithmic=True, ticks=(1e-6, 1e-4, 1e-2, 1))
    return Outcome(rows, verdict, lines("Prior mass where the slope is above L", shown, across, down, least=1e-6))


REPRODUCTION = Reproduction(
    name="002-lemma-6",
    title="Lemma 6: a normal law with unknown variance",
    paper=PAPER_002,
    setting="lambda = 1, |mu| <= 1, rho(x, y) = |x^2 - y^2| + 2 |x - y|, L from 0.1 to 100.",
    says="The normal law with variance ~ Exp(lambda) satisfies assumption 2 with c = lambda.",
    finds="The constant of a parameter is 1 / (2 variance), so rough likelihoods are those with a *small* variance, to "
    "which an exponential prior on the variance gives a mass of about lambda / (2 L): it falls like 1 / L, and no c "
    "satisfies the assumption. If the precision is Exp(lambda) and |mu| <= 1, it holds, even with c = 2 lambda. For "
    "|mu| > 1 the constant grows with |mu|.",
    run=run,
)
