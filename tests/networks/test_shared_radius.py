"""Rows within a distance of the truth, against sums over all tables."""

from itertools import product

import numpy as np
import pytest

from discreet.mathematics import log_prior, log_prior_constant
from discreet.networks._shared_radius import DistanceRow


@pytest.mark.parametrize("noisy", [(10, 4, 9), (-2, 0, 3), (30, 1, 2)])
def test_weights_by_total_and_distance_are_sums_over_all_rows(noisy: tuple[int, ...]) -> None:
    size, most, alpha = 18, 8, np.array([0.5, 1.0, 2.0])
    row = DistanceRow(np.array(noisy), alpha, size, most)
    factors = np.exp(log_prior(alpha[:, None], np.arange(size + 1)))
    expected = np.zeros((size + 1, most + 1))
    for counts in product(range(size + 1), repeat=3):
        distance = sum(abs(own - seen) for own, seen in zip(counts, noisy, strict=True))
        if sum(counts) <= size and distance <= most:
            expected[sum(counts), distance] += np.prod([factors[level, own] for level, own in enumerate(counts)])
    for total in range(size + 1):
        parity, weights = row.distribution(total)
        constant = np.exp(row.log_scale[total] - _log_constant(float(alpha.sum()), total))
        assert weights * constant == pytest.approx(expected[total, parity::2], rel=1e-12, abs=1e-300)
        assert not expected[total, 1 - parity :: 2].any()


def _log_constant(strength: float, total: int) -> float:
    """Return what a row's scale holds besides its factors: the Dirichlet-multinomial constant of its total."""
    return float(log_prior_constant(strength, np.array([total]))[0])
