"""Lemma 5: the Binomial law under a Beta prior."""

from math import inf, lgamma, pi, sqrt

import numpy as np
from scipy.special import betainc, expit

from discreet.draws import bernoulli_rate
from discreet_papers.paper_002 import PAPER_002
from discreet_papers.pictures import axis, lines
from discreet_papers.reproduction import Outcome, Reproduction, Row

PRIORS, QUICK_PRIORS = (1, 2, 5, 10, 20, 50, 100), (1, 2, 10, 100)
TRIALS = (1, 2, 5, 10)


def largest_rate(prior: float) -> float:
    """Return the largest c with P(|logit theta| <= L) >= 1 - e^(-c L) on a grid of L, theta ~ Beta(a, a)."""
    lengths = np.geomspace(1e-4, 20, 400)
    outside = 2 * betainc(prior, prior, expit(-lengths))
    seen = outside > 0  # far out it is too small for a float
    return float((-np.log(outside[seen]) / lengths[seen]).min())


def least_slope(trials: int) -> float:
    """Return the smallest Lipschitz constant that any theta has for numbers of successes, looked for on a grid."""
    heads = np.arange(trials + 1)
    ways = np.array([lgamma(trials + 1) - lgamma(k + 1) - lgamma(trials - k + 1) for k in heads])
    gaps = np.abs(heads[:, None] - heads) + np.eye(trials + 1)
    found = inf
    for logit in np.linspace(-3, 3, 61):  # 0 is among them
        logs = ways + heads * logit
        found = min(found, float((np.abs(logs[:, None] - logs) / gaps).max()))
    return found


def run(quick: bool) -> Outcome:
    """Compute the constants of yes/no records; quick takes fewer priors."""
    rows: list[Row] = []
    for prior in QUICK_PRIORS if quick else PRIORS:
        row: Row = {"prior": prior, "c": bernoulli_rate(prior).rate, "c_by_search": largest_rate(prior)}
        rows.append(row | {"root": sqrt(prior / pi), "linear": 0.5 * prior})
    one, last = rows[0], rows[-1]
    least = {trials: least_slope(trials) for trials in TRIALS}
    verdict = (
        f"For yes/no records c = {one['c']:g} at Beta(1, 1) and {last['c']:.5f} at Beta({last['prior']}, "
        f"{last['prior']}), where growth in proportion would give {last['linear']:g}. For Binomial numbers of n trials "
        f"no theta has a constant below ln n: {', '.join(f'{value:.4f} for n = {n}' for n, value in least.items())}."
    )
    keys = {"c in proportion to a": "linear", "c": "c", "sqrt(a / pi)": "root"}
    shown = [{"x": row["prior"], "y": row[key], "series": name} for name, key in keys.items() for row in rows]
    ticks = [row["prior"] for row in rows]
    across = axis("a of the prior Beta(a, a)", logarithmic=True, ticks=ticks)
    down = axis("c", logarithmic=True, ticks=(0.5, 1, 2, 5, 10, 20, 50))
    return Outcome(rows, verdict, lines("How concentrated a Beta prior is on smooth coins", shown, across, down))


REPRODUCTION = Reproduction(
    name="002-lemma-5",
    title="Lemma 5: the Binomial law under a Beta prior",
    paper=PAPER_002,
    setting=f"Beta(a, a) priors, yes/no records; and numbers of successes in {', '.join(map(str, TRIALS))} trials.",
    says="The Binomial law with a prior Beta(a, a), a > 1, satisfies assumption 2 with c = O(a) and "
    "rho(x, y) = |x - y|.",
    finds="For yes/no records the largest c is Gamma(a + 1/2) / (sqrt(pi) Gamma(a)), the density of |logit theta| at "
    "zero, which grows like sqrt(a / pi): a bound O(a) is not wrong, but c is not in proportion to a. For the number "
    "of successes in n >= 2 trials the binomial coefficients add ln n, so that no theta has a constant below ln n "
    "and assumption 2, which is about every L >= 0, fails. Records are best counted one by one.",
    run=run,
)
