"""Neighbours are a parameter of the one theorem: what one record that is added, removed or replaced can reveal."""

from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.mechanism import both_promises, replacement_epsilon
from discreet.noise import Laplace, SharedRadiusLaplace, TreeLaplace, ZeroSumGaussian, ZeroSumLaplace
from discreet.privacy import Adjacency, PrivacyLoss, with_one_more
from discreet.tables import LaplaceTable

THREE = dc.Categories("x", levels=("a", "b", "c"), outside="a")
MANY = dc.Categories("x", levels=tuple(range(30)), outside=0)
ONE = Fraction(1)


@pytest.mark.parametrize(
    ("noise", "change"),
    [
        (ZeroSumLaplace((ONE / 2,), (3,)), [1, 0, 0]),
        (ZeroSumGaussian((Fraction(4),), (3,)), [1, 0, 0]),
        (SharedRadiusLaplace(ONE, (2, 3)), [1, 0, 1, 0, 0]),
        (TreeLaplace((1, 2), (ONE, ONE)), [1, 0, 0]),
    ],
    ids=lambda each: type(each).__name__,
)
def test_noise_that_keeps_a_total_hides_no_record_that_is_added(noise: Any, change: list[int]) -> None:
    lost = noise.privacy_loss(change)
    assert lost.epsilon == inf
    for figure in ("rho", "curve"):
        with pytest.raises(dc.DeclarationError, match="keeps the totals"):
            getattr(lost, figure)


def test_a_table_costs_what_two_randomised_responses_cost() -> None:
    """Pins of an independent computation with forty digits."""
    table, with_total = LaplaceTable(THREE, 1), LaplaceTable(THREE, 1, total="1/5")
    assert table.guarantee == dc.Guarantee(1, adjacency=Adjacency.ADD_OR_REMOVE)
    assert with_total.guarantee == dc.Guarantee(1, adjacency=Adjacency.ADD_OR_REMOVE)
    loss = dict(zip(table.privacy_loss().losses, table.privacy_loss().probabilities, strict=True))
    assert loss[ONE] == pytest.approx(0.73105857863000487925, abs=1e-15)
    assert float(table.rho) == pytest.approx(0.4621171572600097585, rel=2e-6)
    assert float(table.rho) >= 0.4621171572600097585
    assert table.privacy_loss().delta_at(Fraction(1, 2)) == pytest.approx(0.28764913664496792492, abs=1e-13)
    assert float(with_total.rho) == pytest.approx(0.32389276872917107164, rel=2e-6)
    assert float(with_total.rho) >= 0.32389276872917107164
    assert table.noise.variance[0] == pytest.approx(1.8413471884155846379, rel=1e-14)


def test_what_a_record_says_is_covered_by_the_computed_epsilon_of_a_replacement() -> None:
    table, with_total = LaplaceTable(THREE, 1), LaplaceTable(THREE, 1, total="1/5")
    assert replacement_epsilon(table) == 2
    assert replacement_epsilon(with_total) == Fraction(8, 5)
    assert replacement_epsilon(table, rows=3) == 6
    replaced: PrivacyLoss = table.noise.privacy_loss(np.array([1, 0, -1])).curve
    assert replaced.delta_at(1) == pytest.approx(0.33783471214704117418, abs=1e-13)
    assert both_promises(table) == "whether you are in the data: epsilon 1; what your record says: epsilon 2 (computed)"
    assert both_promises(dc.GeometricHistogram(THREE, 10, 1)) is None  # that 10 records are there is public


def test_a_number_of_records_of_its_own_is_measured_where_there_are_many_cells() -> None:
    few, many = LaplaceTable(THREE, 1), LaplaceTable(MANY, 1)
    assert few.total == 0
    assert many.total == Fraction(1, 5)
    assert many.noise == Laplace((Fraction(4, 5), Fraction(1, 5)), (30, 1))
    assert "total" not in repr(many)
    assert "total='0'" in repr(LaplaceTable(MANY, 1, total=0))


@pytest.mark.parametrize("total", ["1", "-0.1", "nan"])
def test_a_share_for_the_number_of_records_that_is_none_is_refused(total: str) -> None:
    with pytest.raises(dc.DeclarationError):
        LaplaceTable(THREE, 1, total=total)


def test_absent_records_make_all_data_sets_of_up_to_three_records() -> None:
    sets = with_one_more(np.eye(3, dtype=np.int64), 3, 10_000)
    assert (len(sets.tables), len(sets.pairs), sets.complete) == (20, 30, True)
    first, second = (sets.tables[side] for side in sets.pairs.T)
    assert (np.abs(first - second).sum(axis=1) == 1).all()


def test_the_largest_loss_over_all_small_data_sets_is_the_stated_one() -> None:
    """One record more or fewer loses at most 1, on all outputs; one replaced loses at most 2, and both are reached."""
    table = LaplaceTable(THREE, 1)
    tables = with_one_more(np.eye(3, dtype=np.int64), 3, 10_000).tables
    steps = np.arange(-2, 6)
    outputs = np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(-1, 3)
    logs = np.array([table.log_prob(outputs, counts) for counts in tables])
    lost = np.abs(logs[:, None] - logs[None]).max(axis=-1)
    moved, more = (
        np.abs(tables[:, None] - tables[None]).sum(axis=-1),
        tables.sum(axis=-1)[:, None] - tables.sum(axis=-1),
    )
    assert lost[moved == 1].max() == pytest.approx(1, abs=1e-12)
    assert lost[(moved == 2) & (more == 0)].max() == pytest.approx(2, abs=1e-12)


def test_counts_beyond_all_reason_are_clamped_and_not_refused() -> None:
    """An error, or a number that runs over, would tell of the number of records."""
    table = LaplaceTable(MANY, 1)
    counts = np.full(30, 2**60)
    found = table.sample(counts, dc.SeededBits(1))
    assert found[:-1] == pytest.approx(np.full(30, 2.0**40), rel=1e-9)
    assert found[-1] == pytest.approx(30 * 2.0**40, rel=1e-9)


def test_a_plan_is_for_the_same_neighbours_throughout() -> None:
    table = LaplaceTable(THREE, "0.1")
    assert dc.Plan([table, table]).guarantee.adjacency is Adjacency.ADD_OR_REMOVE
    with pytest.raises(dc.DeclarationError, match="same neighbours"):
        dc.Plan([table, dc.GeometricHistogram(THREE, 10, 1)])


def test_a_record_of_one_group_touches_no_other() -> None:
    """Parallel composition: with records added or removed the largest group counts, whoever belongs to which."""
    given = [LaplaceTable(THREE, epsilon).guarantee for epsilon in ("0.5", "0.2", "0.4")]
    found = dc.privacy.across_groups(given, Adjacency.ADD_OR_REMOVE)
    assert (found.epsilon, found.adjacency) == (Fraction(1, 2), Adjacency.ADD_OR_REMOVE)
    with pytest.raises(dc.DeclarationError, match="for others"):
        dc.privacy.across_groups(given)
