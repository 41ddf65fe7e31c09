"""Lemma 3: waiting times with an exponential prior satisfy assumption 2 with c = lambda, exactly."""

from itertools import combinations
from math import exp, log

from scipy.stats import expon

from discreet.draws._lipschitz import exponential_rate
from discreet_papers.paper_002 import PAPER_002
from discreet_papers.reproduction import Outcome, Reproduction, Row

TIMES = (0.0, 0.1, 1.0, 3.0, 10.0)
PRIOR_RATES, CONSTANTS = (0.5, 1.0, 3.0), (0.1, 1.0, 5.0)


def slope(theta: float) -> float:
    """Return the largest |ln p(x) - ln p(y)| / |x - y| over pairs of waiting times, p(x) = theta e^(-theta x)."""
    logs = {time: log(theta) - theta * time for time in TIMES}
    return max(abs(logs[x] - logs[y]) / abs(x - y) for x, y in combinations(TIMES, 2))


def run(quick: bool) -> Outcome:
    """Compare the prior mass of the smooth parameters with what is asked; quick is no different."""
    rows: list[Row] = []
    for prior_rate in PRIOR_RATES:
        rate = exponential_rate(prior_rate).rate
        for constant in CONSTANTS:
            row: Row = {"prior_rate": prior_rate, "L": constant, "slope_at_L": slope(constant)}
            mass = float(expon.cdf(constant, scale=1 / prior_rate))
            rows.append(row | {"prior_mass": mass, "needed": 1 - exp(-rate * constant)})
    gap = max(abs(row["prior_mass"] - row["needed"]) for row in rows)
    off = max(abs(row["slope_at_L"] - row["L"]) for row in rows)
    verdict = f"The mass is what is needed, to {gap:.0e}: no larger c would do. The slope is theta, to {off:.0e}."
    return Outcome(rows, verdict)


REPRODUCTION = Reproduction(
    name="002-lemma-3",
    title="Lemma 3: exponential waiting times",
    paper=PAPER_002,
    setting="p(x) = theta e^(-theta x), theta ~ Exp(lambda), for three lambda and three L.",
    says="Assumption 2 holds with c = lambda and rho(x, y) = |x - y|.",
    finds="True, with equality: |ln p(x) - ln p(y)| = theta |x - y|, and P(theta > L) = e^(-lambda L). A draw needs "
    "bounded records besides to be private, as |x - y| has no bound; see `Exponential`.",
    run=run,
)
