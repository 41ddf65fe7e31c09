"""Definition 2 and remark 1: privacy under a pseudo-metric, and when it is the usual privacy."""

from math import log

import numpy as np

from discreet.draws import gaussian_delta
from discreet.privacy import MetricGuarantee
from discreet_papers.paper_002 import PAPER_002
from discreet_papers.paper_002.theorem_1_lipschitz import log_masses, odds
from discreet_papers.pictures import axis, lines
from discreet_papers.reproduction import Outcome, Reproduction, Row

RECORDS, MU, EPSILON = 6, 0.5, 1.0
STEPS = (0.0, 0.1, 0.3)  # the chance of one event under three data sets in a row, each (ln 2, 0.1) from the next


def pure_epsilon(distance: int) -> float:
    """Return the exact epsilon of a draw of the coin of theorem 1(i) when `distance` of its records differ."""
    masses = log_masses(RECORDS)
    steps = np.abs(masses[distance:] - masses[:-distance])
    return float(steps.max()) + distance * odds()


def holds_in_two_steps() -> tuple[bool, bool, bool]:
    """Tell whether (ln 2, 0.1) holds for the first step, for the second, and for both at distance 2."""
    promise = MetricGuarantee(repr(log(2)), "0.1")
    first, second, third = (np.array([chance, 1 - chance]) for chance in STEPS)
    return promise.holds(first, second, 1), promise.holds(second, third, 1), promise.holds(first, third, 2)


def run(quick: bool) -> Outcome:
    """Compute what holds at each distance, exactly; quick is no different, it takes a moment."""
    rows: list[Row] = []
    for distance in range(1, RECORDS):
        row: Row = {"records_that_differ": distance}
        row |= {"pure_epsilon": pure_epsilon(distance), "pure_allowed": distance * pure_epsilon(1)}
        row |= {"variation": gaussian_delta(0, distance * MU), "variation_allowed": distance * gaussian_delta(0, MU)}
        row |= {"delta": gaussian_delta(distance * EPSILON, distance * MU)}
        rows.append(row | {"delta_allowed": distance * gaussian_delta(EPSILON, MU)})
    worst, steps = rows[-1], holds_in_two_steps()
    verdict = (
        f"With epsilon or delta zero the promise at distance 1 carries over to every distance. With both above zero it "
        f"does not: at distance {worst['records_that_differ']} delta is {worst['delta']:.5f}, and "
        f"{worst['records_that_differ']} times that of one record is {worst['delta_allowed']:.5f}. Chances "
        f"{', '.join(f'{chance:g}' for chance in STEPS)} keep (ln 2, 0.1) from each to the next "
        f"({steps[0]}, {steps[1]}) and break it in two steps ({steps[2]})."
    )
    keys = {"exact delta at epsilon rho": "delta", "delta rho, as definition 2 asks": "delta_allowed"}
    shown = [{"x": r["records_that_differ"], "y": r[key], "series": name} for name, key in keys.items() for r in rows]
    title = "A draw of a normal mean that is (1, delta)-private: several records"
    return Outcome(rows, verdict, lines(title, shown, axis("records that differ"), axis("delta")))


REPRODUCTION = Reproduction(
    name="002-definition-2",
    title="Definition 2 and remark 1: privacy under a distance",
    paper=PAPER_002,
    setting="Draws from the posterior of six tosses of a coin with 0.2 <= theta <= 0.8, and draws of a normal mean as "
    "private as telling Normal(0, 1) from Normal(1/2, 1); 1 to 5 records differ.",
    says="P(B | x) <= e^(epsilon rho) P(B | y) + delta rho for all events and data sets. With rho the number of "
    "records that differ this is analogous to the usual definition, and equivalent to it if epsilon or delta is zero.",
    finds="As stated. The definition asks for more than the usual one when both are above zero, as the paper says in a "
    "footnote: delta then grows faster than rho. The library states such guarantees with `MetricGuarantee`, and for "
    "groups of rows with `Guarantee.for_rows`.",
    run=run,
)
