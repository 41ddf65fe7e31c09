"""Theorem 1(i): under assumption 1 the posteriors of close data sets diverge little."""

from fractions import Fraction
from math import log

import numpy as np
from scipy.special import logsumexp

from discreet._core.arrays import Floats
from discreet.draws import categories_lipschitz
from discreet_papers.paper_002 import PAPER_002
from discreet_papers.pictures import axis, lines
from discreet_papers.reproduction import Outcome, Reproduction, Row

LEAST = 0.2
CONSTANT = categories_lipschitz(2, Fraction(1, 5))
SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_PLACES, _WEIGHTS = np.polynomial.legendre.leggauss(400)
THETA = 0.5 + (0.5 - LEAST) * _PLACES
"""Where integrals over theta in [0.2, 0.8] are evaluated."""


def odds() -> float:
    """Return L = ln(0.8 / 0.2): the largest log ratio of the likelihoods of two tosses."""
    return log((1 - LEAST) / LEAST)


def _log_terms(size: int) -> Floats:
    """Return, for every number k of heads, the logarithm of theta^k (1 - theta)^(n - k) times the weights."""
    heads = np.arange(size + 1)[:, None]
    return np.asarray(heads * np.log(THETA) + (size - heads) * np.log1p(-THETA) + np.log(_WEIGHTS))


def log_masses(size: int) -> Floats:
    """Return ln of the integral of theta^k (1 - theta)^(n - k) over [0.2, 0.8], up to a constant, for k = 0..n."""
    return np.asarray(logsumexp(_log_terms(size), axis=1))


def divergence(size: int) -> float:
    """Return the largest divergence between the posteriors of neighbours, uniform prior on [0.2, 0.8].

    KL(k || k + 1) = ln Z_(k+1) - ln Z_k - E_k logit theta, and KL(k + 1 || k) the same with the signs exchanged.
    """
    terms, masses = _log_terms(size), log_masses(size)
    means = np.exp(terms - masses[:, None]) @ (np.log(THETA) - np.log1p(-THETA))
    steps = np.diff(masses)
    return float(max((steps - means[:-1]).max(), (means[1:] - steps).max()))


def run(quick: bool) -> Outcome:
    """Compute the largest divergence over all counts by quadrature; quick takes fewer sizes."""
    printed, sharp = 2 * CONSTANT.constant, CONSTANT.divergence()
    rows: list[Row] = [
        {"records": size, "divergence": divergence(size), "bounded_range": sharp, "theorem": printed}
        for size in (SIZES[:7:3] if quick else SIZES)
    ]
    most = max(row["divergence"] for row in rows)
    verdict = (
        f"The largest divergence is {most:.4f}. The theorem allows 2 L = {printed:.4f}; a log ratio that lies in an "
        f"interval of length 2 L allows {sharp:.4f} at most."
    )
    keys = {"theorem 1(i): 2 L": "theorem", "any two laws of this range": "bounded_range", "exact": "divergence"}
    shown = [{"x": row["records"], "y": row[key], "series": name} for name, key in keys.items() for row in rows]
    across = axis("number of records", logarithmic=True, ticks=[row["records"] for row in rows])
    title = "Posteriors of neighbours, 0.2 <= theta <= 0.8"
    return Outcome(rows, verdict, lines(title, shown, across, axis("nats")))


REPRODUCTION = Reproduction(
    name="002-theorem-1-lipschitz",
    title="Theorem 1(i): robustness under assumption 1",
    paper=PAPER_002,
    setting="Tosses of a coin, uniform prior on 0.2 <= theta <= 0.8, so L = ln 4; one toss is replaced, all counts.",
    says="The divergence between the posteriors of x and y is at most 2 L rho(x, y).",
    finds="True. The printed proof averages the log ratio over the prior where the divergence asks for the posterior; "
    "as the ratio is bounded for every theta, the same steps work for the posterior. More is true: the log ratio lies "
    "in an interval of length R = 2 L rho, so the divergence is at most R^2 / 8.",
    run=run,
)
