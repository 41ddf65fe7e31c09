"""Theorem 1, first part: how far the divergence of the private posterior lies above its mean."""

import numpy as np

from discreet_papers.bounds_004 import (
    Pair,
    deviation,
    divergence,
    divergence_exceedance,
    divergence_range,
    mean_divergence,
    published_deviation,
    published_ranges,
)
from discreet_papers.papers import PAPER_004
from discreet_papers.pictures import axis, lines
from discreet_papers.reproduction import Outcome, Reproduction, Row

PRIOR, SIZE, DELTA = (2.0, 2.0), 50, 0.05
WORST: Pair = (50.0, 0.0)
EPSILONS, QUICK_EPSILONS = (0.001, 0.01, 0.03, 0.1, 0.2, 0.5, 1.0), (0.001, 0.1, 1.0)
NAIVE_BAYES: list[Pair] = [(25.0, 25.0), *([(20.0, 5.0), (5.0, 20.0)] * 16)]
DRAWS, QUICK_DRAWS = 20_000, 2_000


def simulated(epsilon: float, draws: int) -> Row:
    """Return thresholds and the share of draws beyond them, for the 33 rows of naive Bayes with 16 features."""
    generator, scale = np.random.default_rng(5), 34 / epsilon
    total, mean = np.zeros(draws), 0.0
    for counts in NAIVE_BAYES:
        first, second = (np.clip(k + generator.laplace(0, scale, draws), 0, SIZE) for k in counts)
        total += divergence(PRIOR, counts, first, second)
        mean += mean_divergence(PRIOR, counts, SIZE, scale)
    printed = mean + published_deviation([published_ranges(PRIOR, SIZE)["theorem 1"]] * len(NAIVE_BAYES), DELTA)
    proved = mean + deviation([divergence_range(PRIOR, counts, SIZE) for counts in NAIVE_BAYES], DELTA)
    beyond = [float((total >= threshold).mean()) for threshold in (printed, proved)]
    return _row(33, epsilon, mean, (printed, beyond[0]), (proved, beyond[1]))


def exact(epsilon: float) -> Row:
    """Return the same for one row with all 50 records on one side, by quadrature instead of draws."""
    setting = PRIOR, WORST, SIZE, 2 / epsilon
    mean = mean_divergence(*setting)
    printed = mean + published_deviation([published_ranges(PRIOR, SIZE)["theorem 1"]], DELTA)
    proved = mean + deviation([divergence_range(PRIOR, WORST, SIZE)], DELTA)
    beyond = (divergence_exceedance(*setting, threshold) for threshold in (printed, proved))
    return _row(1, epsilon, mean, (printed, next(beyond)), (proved, next(beyond)))


def run(quick: bool) -> Outcome:
    """Compute one row exactly for several epsilon, and draw from a whole network once."""
    single = [exact(epsilon) for epsilon in (QUICK_EPSILONS if quick else EPSILONS)]
    whole = simulated(1.0, QUICK_DRAWS if quick else DRAWS)
    first = single[0]
    verdict = (
        f"For one row with counts (50, 0) and epsilon = {first['epsilon']:g} the printed threshold "
        f"{first['printed_threshold']:.1f} is exceeded with probability {first['beyond_printed']:.3f}, where at most "
        f"{DELTA:g} is allowed. With squares it is {first['proved_threshold']:.1f}, exceeded with probability "
        f"{first['beyond_proved']:.3f}. In naive Bayes with 16 features at epsilon = 1 the mean is "
        f"{whole['mean']:.1f}; the printed threshold is exceeded in {whole['beyond_printed']:.3f} of the draws, the "
        f"other in {whole['beyond_proved']:.3f}."
    )
    keys = {"with the printed threshold": "beyond_printed", "with squared constants": "beyond_proved"}
    shown = [{"x": r["epsilon"], "y": r[key], "series": name} for name, key in keys.items() for r in single]
    shown += [{"x": r["epsilon"], "y": DELTA, "series": f"allowed: delta = {DELTA:g}"} for r in single]
    across = axis("epsilon, on a logarithmic scale", logarithmic=True, ticks=[row["epsilon"] for row in single])
    chart = lines("One row, n = 50, counts (50, 0)", shown, across, axis("probability that the threshold is exceeded"))
    return Outcome([*single, whole], verdict, chart)


def _row(rows: int, epsilon: float, mean: float, printed: tuple[float, float], proved: tuple[float, float]) -> Row:
    return {
        "rows": rows,
        "epsilon": epsilon,
        "mean": mean,
        "printed_threshold": printed[0],
        "beyond_printed": printed[1],
        "proved_threshold": proved[0],
        "beyond_proved": proved[1],
    }


REPRODUCTION = Reproduction(
    name="004-theorem-1-deviation",
    title="Theorem 1: how far the divergence lies above its mean",
    paper=PAPER_004,
    setting=f"Prior Beta(2, 2), n = {SIZE}, delta = {DELTA:g}; one row exactly, by quadrature, and the 33 rows of "
    "naive Bayes by simulation.",
    says="With probability at least 1 - delta the divergence is at most its mean plus sqrt(-(1/2) ln(delta) sum c), "
    "c = (2n + 1) ln[(alpha + n + 1) + (beta + n + 1)].",
    finds="McDiarmid's inequality, which lemma A.1 states correctly, has the sum of the squares of the constants; the "
    "squares were lost on the way to the theorem. The constant is printed in three different forms. The divergence "
    "is convex in the noisy counts, so the smallest constant is its largest value at the four corners of [0, n]^2. "
    "The bound so corrected holds; it is wide, and says something only when many rows are added up.",
    run=run,
)
