"""Appendix A: the constants omega and kappa of theorem 1(ii), with certified digits."""

from math import exp

import numpy as np
from flint import arb, ctx

from discreet.draws._lipschitz import KAPPA, OMEGA
from discreet_papers.paper_002 import PAPER_002
from discreet_papers.pictures import axis, lines, with_level
from discreet_papers.reproduction import Outcome, Reproduction, Row

BITS, DIGITS = 192, 30
PRINTED = {"omega": "1.25643", "kappa": "4.91081"}


def certified() -> dict[str, arb]:
    """Return omega = -W(-1/(2 sqrt e)) - 1/2, on the branch -1, and kappa = (2 omega + 1)^2 / (2 omega), as balls."""
    with ctx.workprec(BITS):
        omega = -(-1 / (2 * arb("0.5").exp())).lambertw(-1) - arb("0.5")
        return {"omega": omega, "kappa": (2 * omega + 1) ** 2 / (2 * omega)}


def series_bound(width: float) -> float:
    """Return 2 u / (1 - e^-u)^2: what equation (17) gives for pieces of width u / c, times c / rho."""
    return 2 * width / (1 - exp(-width)) ** 2


def run(quick: bool) -> Outcome:
    """Compute both constants as balls; quick is no different, it takes a moment."""
    found, used = certified(), {"omega": OMEGA, "kappa": KAPPA}
    rows: list[Row] = [
        {
            **{"constant": name, "printed": PRINTED[name], "certified": value.str(DIGITS, radius=False)},
            **{"library": repr(used[name]), "error_of_the_library": abs(float(value - arb(used[name])))},
        }
        for name, value in found.items()
    ]
    widths = np.linspace(0.4, 4, 73)
    bounds = np.array([series_bound(float(width)) for width in widths])
    convex = bool((np.diff(bounds, 2) > 0).all())
    verdict = (
        f"omega = {found['omega'].str(15, radius=False)} and kappa = {found['kappa'].str(15, radius=False)}: all "
        f"printed digits are right. On a grid of widths the bound is {'convex' if convex else 'not convex'}, as stated."
    )
    pairs = zip(widths.tolist(), bounds.tolist(), strict=True)
    shown = [{"x": width, "y": bound, "series": "2 u / (1 - exp(-u))^2"} for width, bound in pairs]
    title = "The bound of equation (17), by the width of its pieces"
    chart = lines(title, shown, axis("width u"), axis("bound"), points=False)
    return Outcome(rows, verdict, with_level(chart, KAPPA, "kappa"))


REPRODUCTION = Reproduction(
    name="002-constants",
    title="Appendix A: omega and kappa",
    paper=PAPER_002,
    setting=f"Ball arithmetic with {BITS} bits; omega is a value of Lambert's W function.",
    says="omega = 1.25643 is the positive solution of e^omega = 2 omega + 1, and kappa = 2 omega / (1 - e^-omega)^2 = "
    "4.91081 is the smallest value that the bound of equation (17) takes.",
    finds="Both are right. With the equation of omega, kappa is also (2 omega + 1)^2 / (2 omega). The theorem for "
    "which they are computed does not hold, see 002-theorem-1-stochastic, so the library keeps them for comparison.",
    run=run,
)
