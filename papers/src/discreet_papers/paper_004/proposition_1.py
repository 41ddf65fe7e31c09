"""Proposition 1: how large the largest noise is, by the union bound and exactly."""

from discreet_papers.bounds_004 import integer_noise_quantile, noise_bound, noise_exceedance, noise_quantile
from discreet_papers.papers import PAPER_004
from discreet_papers.pictures import axis, lines
from discreet_papers.reproduction import Outcome, Reproduction, Row

VARIABLES, ROWS, EPSILON = 17, 33, 1.0
DELTAS, QUICK_DELTAS = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9), (0.05, 0.5, 0.9)


def run(quick: bool) -> Outcome:
    """Compute bound, exact quantiles and the exact probability that the bound is exceeded."""
    rows: list[Row] = []
    for delta in QUICK_DELTAS if quick else DELTAS:
        setting = (VARIABLES, ROWS, EPSILON, delta)
        bound = noise_bound(*setting)
        row: Row = {"delta": delta, "bound": bound, "exact_quantile": noise_quantile(*setting)}
        row["integer_quantile"] = integer_noise_quantile(*setting)
        rows.append(row | {"chance_beyond_bound": noise_exceedance(VARIABLES, ROWS, EPSILON, bound)})
    at = next(row for row in rows if row["delta"] == 0.05)
    verdict = (
        f"At delta = 0.05 the bound is {at['bound']:.3f}; the exact quantile is {at['exact_quantile']:.3f}, and "
        f"{at['integer_quantile']} for integer noise. The bound is exceeded with probability "
        f"{at['chance_beyond_bound']:.4f}."
    )
    return Outcome(rows, verdict, _chart(rows))


def _chart(rows: list[Row]) -> dict[str, object]:
    keys = {"Proposition 1": "bound", "exact quantile": "exact_quantile"}
    shown = [{"x": row["delta"], "y": row[key], "series": name} for name, key in keys.items() for row in rows]
    across = axis("delta, on a logarithmic scale", logarithmic=True, ticks=[row["delta"] for row in rows])
    down = axis("largest noise in any of 66 counts")
    return lines("Naive Bayes, 16 features, epsilon = 1", shown, across, down)


REPRODUCTION = Reproduction(
    name="004-proposition-1",
    title="Proposition 1: the largest noise in any update",
    paper=PAPER_004,
    setting="Naive Bayes with 16 features: |I| = 17 variables, m = 33 rows, 2m = 66 counts; epsilon = 1.",
    says="With probability at least 1 - delta no count is moved by more than (2 |I| / epsilon) ln(2m / delta).",
    finds="True, and nearly exact for small delta. The last line of the proof asks for z to be at most this value; "
    "the inequality there needs it to be at least that. The quantile itself has a closed form, because the noises "
    "are independent. At delta near 1 the union bound gives away more.",
    run=run,
)
