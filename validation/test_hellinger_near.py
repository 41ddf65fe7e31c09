"""Hellinger choices among more tables than any list holds, read at 1e5 records in 10 levels.

Balanced records have the largest scale, so the chosen table is near them. Then two readings compete: the truth is near
the choice, or it is a table whose choice tells nothing. Summed over all true tables near the choice P(r | k) is about
1, as the law is nearly the same for all of them, so with a uniform prior over |R| tables the near part of the evidence
is about 1/|R|. Coverage is measured where made-up studies are drawn from the prior.
"""

import warnings
from math import comb, exp, log

import numpy as np
import pytest
from kept_results import repeats

import discreet as dc
from discreet.choices import HellingerReciprocal


@pytest.mark.parametrize("epsilon", [1, 4, 20])
def test_evidence_at_a_hundred_thousand_records_in_ten_levels(epsilon: int) -> None:
    model = dc.Categories("x", levels=tuple(range(10)), prior=1, outside=0)
    mechanism = HellingerReciprocal(model, 100_000, epsilon)
    release = dc.simulate(mechanism, [10_000] * 10, dc.SeededBits(3))
    posterior = dc.infer(release)
    sums, weights = posterior.solutions[0].counts.sum_of(np.array([0]))
    near = float(weights[np.abs(sums - release.output[0]) < 600].sum())
    found = near * exp(posterior.log_evidence + log(comb(100_009, 9)))
    print(f"epsilon {epsilon}: near share {near:.3f}, near evidence times |R| {found:.3f}; {posterior.method}")
    assert 0.8 < found < 1.15
    assert near > {1: 0.4, 4: 0.7, 20: 0.95}[epsilon]


def test_intervals_cover_where_studies_come_from_the_prior() -> None:
    """90 % intervals of all shares; a run has 5 of them that hang together, so about 2.2 deviations around .9."""
    model = dc.Categories("x", levels=tuple(range(5)), prior=3, outside=0)
    mechanism = HellingerReciprocal(model, 5_000, 6)
    covered, runs = [], repeats(8, 200)
    for run in range(runs):
        generator = np.random.default_rng([230, run])
        truth = generator.dirichlet(np.full(5, 3.0))
        release = dc.simulate(mechanism, generator.multinomial(5_000, truth), dc.SeededBits(5_000 + run))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows = dc.infer(release, prior="declared").rows(0.9)
        covered.append(np.mean([row.low <= share <= row.high for row, share in zip(rows, truth, strict=True)]))
    print(f"coverage {np.mean(covered):.3f} in {runs} studies of 5,000 records in 5 levels")
    assert np.mean(covered) > 0.9 - 3.5 * np.sqrt(0.09 / runs)
