"""Appendix A.2, the mean of a count after noise and truncation."""

from discreet_papers.bounds_004 import published_truncated_mean, truncated_mean
from discreet_papers.papers import PAPER_004
from discreet_papers.pictures import axis, lines, with_level
from discreet_papers.reproduction import Outcome, Reproduction, Row

SIZE, SCALE, SHOWN = 50, 10.0, 45


def run(quick: bool) -> Outcome:
    """Evaluate both formulas; quick takes every fifth count."""
    rows: list[Row] = [
        {"count": k, "printed": published_truncated_mean(k, SIZE, SCALE), "exact": truncated_mean(k, SIZE, SCALE)}
        for k in range(0, SIZE + 1, 5 if quick else 1)
    ]
    at, beyond = next(row for row in rows if row["count"] == SHOWN), sum(row["printed"] > SIZE for row in rows)
    verdict = (
        f"For a true count of {SHOWN} the printed formula gives {at['printed']:.2f}, more than the largest possible "
        f"value {SIZE}; the mean is {at['exact']:.4f}. It leaves [0, n] for {beyond} of the {len(rows)} counts shown."
    )
    keys = {"as printed in appendix A.2": "printed", "exact": "exact"}
    shown = [{"x": row["count"], "y": row[key], "series": name} for name, key in keys.items() for row in rows]
    down = axis("mean of the truncated noisy count")
    chart = lines("A count of 50 records, noise of scale 10", shown, axis("true count"), down, points=False)
    return Outcome(rows, verdict, with_level(chart, SIZE, "n = 50, the largest possible value", left=True))


REPRODUCTION = Reproduction(
    name="004-mean-of-z",
    title="Appendix A.2: the mean of a truncated noisy count",
    paper=PAPER_004,
    setting=f"n = {SIZE} records, Laplace noise of scale b = {SCALE:g}, every true count.",
    says="E[Z] = da + (b/2) exp(-da/b) + ((n - b)/2) exp((da - n)/b).",
    finds="The term n P(Z = n) is added to the integral of P(Z > z) over [0, n], which contains it already. Without it "
    "the last term is -(b/2) exp((da - n)/b), and the mean is pulled towards the middle from both ends, as it must "
    "be by symmetry.",
    run=run,
)
