"""How long regressions take to read, and what the readings are worth: CPU seconds of one reading, beside the goal.

Evenly spread features, unknown sigma, an intercept. The effective size is the least over all coefficients and sigma.
Where the noise is large beside the moments, particles are tempered. The last rows have many coordinates.
"""

import warnings
from time import process_time

import numpy as np
import polars as pl
from figures import record

import discreet as dc
from discreet.regression import BoxMoments, ConeMoments, LinearRegression, NoisyMoments

GOAL = "  (goal: 1,000 within 3 s)"
CASES: tuple[tuple[type[NoisyMoments], int, int, str, str], ...] = (
    (BoxMoments, 3, 10_000, "1", ""),
    (BoxMoments, 12, 10_000, "1", GOAL),
    (ConeMoments, 12, 10_000, "1", ""),
    (BoxMoments, 14, 5_000, "1", ""),
    (BoxMoments, 8, 1_000, "1", ""),
    (ConeMoments, 8, 1_000, "1", ""),
    (BoxMoments, 24, 100_000, "1", ""),
    (ConeMoments, 24, 100_000, "1", ""),
)


def release_of(kind: type[NoisyMoments], features: int, size: int, epsilon: str) -> dc.Release[LinearRegression]:
    generator, names = np.random.default_rng(features), [f"x{number}" for number in range(features)]
    model = LinearRegression("y", names, dict.fromkeys((*names, "y"), (-1, 1)), missing="middle")
    u = generator.uniform(-1, 1, (size, features))
    y = u @ generator.normal(0, 0.3, features) / np.sqrt(features) + generator.normal(0, 0.2, size)
    records = pl.DataFrame(dict(zip((*names, "y"), (*u.T, y), strict=True)))
    return dc.simulate(kind(model, size, epsilon), model.rehearse(records), dc.SeededBits(features))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for kind, features, size, epsilon, goal in CASES:
        release = release_of(kind, features, size, epsilon)
        start = process_time()
        posterior = dc.infer(release, patience=4)  # the longest are refused otherwise
        posterior.rows()
        spent = process_time() - start
        words = f"{kind.__name__}, {features} features, n = {size:,}, epsilon {epsilon}"
        worth = f"effective size {posterior.effective_size:.0f}, tails {posterior.solution.tail_size:.0f}"
        print(
            f"{words}: {spent:.2f} CPU s, {worth}, R-hat {posterior.r_hat:.3f}{goal}\n  {posterior.method}", flush=True
        )
        record(
            words,
            spent,
            "CPU s",
            f"worth {posterior.effective_size:.0f} independent draws",
            goal.strip(" ()"),
            bool(goal) and spent > 3,
        )
