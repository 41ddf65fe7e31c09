"""The near part of Hellinger normalisers against certified sums and against lists of all candidates."""

import warnings
from math import comb, log

import numpy as np
import pytest

import discreet as dc
from discreet.certificates.enumeration import compositions
from discreet.certificates.hellinger_moments import hellinger_moments
from discreet.mechanisms import HellingerGlobal, HellingerReciprocal, HellingerSmooth
from discreet.mechanisms.hellinger_near import NearSums, log_near, rough_log_near
from discreet.reading import why_unreadable


def categories(cells: int) -> dc.Categories:
    return dc.Categories("x", levels=tuple(range(cells)), prior=1, outside=0)


@pytest.mark.parametrize(
    ("table", "scale"),
    [([150, 150, 150, 150], 15.0), ([2_000, 600, 300, 100], 40.0), ([1_000, 0, 3], 60.0), ([500, 20, 10, 5, 1], 8.0)],
)
def test_the_near_part_is_what_certified_sums_leave_beside_the_uniform_part(table: list[int], scale: float) -> None:
    counts, alpha = np.array(table), np.ones(len(table))
    uniform = log(comb(int(counts.sum()) + len(table) - 1, len(table) - 1)) - scale
    certified = hellinger_moments(alpha, counts, scale).log_normaliser.middle
    assert np.logaddexp(uniform, log_near(alpha, counts, scale)) == pytest.approx(certified, abs=1e-4)


def test_candidates_that_are_spread_evenly_give_nearly_all_of_the_near_part() -> None:
    """A hundred thousand records in ten cells, where the rough formula alone is off by a thousandth."""
    counts, scale = np.full(10, 10_000), 80.0
    rough = rough_log_near(1.0 + counts[None], np.array([scale]))[0]
    assert rough == pytest.approx(log_near(np.ones(10), counts, scale), abs=2e-3)


@pytest.mark.parametrize("kind", [HellingerGlobal, HellingerReciprocal])
def test_refined_likelihoods_are_those_of_a_list_of_all_candidates(kind: type) -> None:
    """Of 40 records in three cells single candidates matter, so that the rough part is off by far more."""
    mechanism = kind(categories(3), 40, 4)
    tables = np.array(list(compositions(40, 3)))
    near = NearSums(np.ones(3), 40, mechanism.scales, mechanism.distances)
    output = np.array([20, 12, 8])
    exact = mechanism.log_likelihood(output, tables)
    rough = np.abs(near.log_likelihood(output, tables) - exact).max()
    assert rough > 0.05
    near.refine(tables[::17])
    assert np.abs(near.log_likelihood(output, tables) - exact).max() < 0.05
    assert np.abs(near.errors(tables[5::97])).max() < 0.05


@pytest.mark.parametrize("kind", [HellingerGlobal, HellingerReciprocal])
def test_a_hundred_thousand_records_in_ten_levels_can_be_read(kind: type) -> None:
    assert why_unreadable(kind(categories(10), 100_000, 1)) is None
    assert why_unreadable(HellingerSmooth(categories(10), 100_000, 1, "1e-8")) is None


def test_a_choice_that_tells_nothing_is_read_as_the_prior() -> None:
    """Under the global sensitivity nearly all of 1e39 candidates are alike: P(r | k) = 1/|R| but for 1e-30."""
    mechanism = HellingerGlobal(categories(10), 100_000, 1)
    release = dc.simulate(mechanism, [10_000] * 10, dc.SeededBits(1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.LittleInformationWarning)
        posterior = dc.infer(release)
    assert posterior.log_evidence == pytest.approx(-log(comb(100_009, 9)), abs=0.05)
    assert posterior.mean[0] == pytest.approx(0.1, abs=0.01)
    assert "weighted draws" in posterior.method
