"""Lemma 4: the Laplace law, in the two readings that its notation allows."""

from itertools import combinations
from math import exp

from scipy.stats import expon

from discreet.draws._lipschitz import laplace_location, laplace_rate
from discreet_papers.paper_002 import PAPER_002
from discreet_papers.reproduction import Outcome, Reproduction, Row

PLACES = (-4.0, -1.0, 0.0, 0.5, 2.0, 6.0)
SCALE, PRIOR_RATE = 2.0, 1.5
CONSTANTS = (0.1, 0.4, 0.5, 1.0, 2.0)
CENTRE, INVERSE_SCALE = "unknown centre, scale 2", "unknown inverse scale ~ Exp(1.5)"


def slope(centre: float, scale: float) -> float:
    """Return the largest |ln p(x) - ln p(y)| / |x - y| over pairs of places, p(x) ~ e^(-|x - centre| / scale)."""
    return max(abs(abs(x - centre) - abs(y - centre)) / scale / abs(x - y) for x, y in combinations(PLACES, 2))


def run(quick: bool) -> Outcome:
    """Compare the prior mass of the smooth parameters with what is asked; quick is no different."""
    least, rate = laplace_location(SCALE).constant, laplace_rate(PRIOR_RATE).rate
    rows: list[Row] = []
    for constant in CONSTANTS:
        rows.append({"reading": CENTRE, "L": constant, "prior_mass": float(constant >= least)})
        mass = float(expon.cdf(constant, scale=1 / PRIOR_RATE))
        rows.append({"reading": INVERSE_SCALE, "L": constant, "prior_mass": mass})
    rows = [row | {"needed": 1 - exp(-rate * row["L"])} for row in rows]
    steepest = max(slope(centre, SCALE) for centre in (-1.0, 0.3, 2.0))
    verdict = (
        f"Unknown centre: the slope is {steepest:g} = 1/s for every centre, so assumption 1 holds with L = {least:g}; "
        f"assumption 2 asks for mass below L = {least:g} too, where there is none. Unknown inverse scale: the mass is "
        "exactly what is needed."
    )
    return Outcome(rows, verdict)


REPRODUCTION = Reproduction(
    name="002-lemma-4",
    title="Lemma 4: the Laplace law",
    paper=PAPER_002,
    setting=f"Scale s = {SCALE:g}, and inverse scale ~ Exp({PRIOR_RATE:g}); slopes between {len(PLACES)} places.",
    says="Laplace(theta) with a prior Laplace(mu, s, lambda), s >= L, satisfies assumption 2 with c = lambda and "
    "rho(x, y) = |x - y|.",
    finds="The paper does not say which parameter theta is, nor what the prior with three parameters is. With an "
    "unknown centre and a scale s, assumption 1 holds with L = 1/s under any prior. With a known centre and an "
    "inverse scale theta ~ Exp(lambda), assumption 2 holds with c = lambda, with equality. The library has both.",
    run=run,
)
