"""Truncated draws of four and six levels, read by chains, against all tables of three records."""

from itertools import product

import numpy as np
import pytest
from kept_results import IS_FULL

import discreet as dc
from discreet.inference import Problem, fit_of


@pytest.mark.parametrize(
    ("levels", "epsilon", "error"), [("abcd", 4, 0.0029), *([("abcdef", 9, 0.0024)] if IS_FULL else [])]
)
def test_a_truncated_draw_is_read_as_all_tables_say(levels: str, epsilon: int, error: float) -> None:
    """Means within 4 of the largest Monte Carlo error that the reading states.

    The likelihood of every table is held against exact sums in tests/inference/test_truncated_rows.py.
    """
    model = dc.Categories("ward", levels=tuple(levels), outside="a", prior=1)
    release = dc.simulate(
        dc.PosteriorSampling.truncated(model, size=3, epsilon=epsilon),
        [2, 1, *[0] * (len(levels) - 2)],
        dc.SeededBits(5),
    )
    tables = np.array([table for table in product(range(4), repeat=len(levels)) if sum(table) == 3])
    logs = fit_of(Problem.of([release])).log_likelihood(tables.T)  # under this prior all tables are as likely
    weights = np.exp(logs - logs.max())
    wanted = weights @ (1 + tables) / weights.sum() / (3 + len(levels))
    posterior = dc.infer(release).table
    print(posterior.method)
    found = [row.mean for row in posterior.rows(0.9)][: len(levels)]
    print([f"{mean:.4f} ({exact:.4f})" for mean, exact in zip(found, wanted, strict=True)])
    assert np.abs(np.array(found) - wanted).max() < 4 * error
