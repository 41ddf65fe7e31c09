"""Rows that were not drawn say how far they may be off, and slow twins agree with them to within that."""

from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.mathematics.distributions import BetaMixture
from discreet.reading import families
from discreet.reading.counts.enumerated import EnumeratedCounts
from frozen_documents import text_of

LEVELS = ("never", "former", "current")
FALLS = dc.Column("falls", ("no", "yes"), outside="no")
WARD = dc.Column("ward", ("A", "B", "C"), outside="A")
AGE = dc.Column("age", ("young", "old"), outside="young")


def ends(row: Any) -> tuple[float, float, float]:
    return row.mean, row.low, row.high


@pytest.mark.parametrize("name", ["draw-binomial", "rate-truncation"])
def test_a_family_on_four_times_as_many_cells_is_within_the_stated_error(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = dc.Release.from_json(text_of("before-house", name))
    (row,) = dc.infer(release).rows()
    monkeypatch.setattr(families, "CELLS", 4 * families.CELLS)
    (slow,) = dc.infer(release).rows()
    assert row.numerical_error is not None
    assert slow.numerical_error is not None
    assert slow.numerical_error < row.numerical_error / 3
    assert ends(row) == pytest.approx(ends(slow), abs=row.numerical_error)


def test_cells_agree_with_a_sum_over_all_tables_to_within_the_stated_error() -> None:
    model, size = dc.Categories("smoker", levels=LEVELS, prior=1, outside="never"), 40
    release = dc.simulate(dc.GeometricHistogram(model, size, 1), [22, 3, 15], dc.SeededBits(3), "made up")
    tables = np.array(
        [(i, j, size - i - j) for i in range(size + 1) for j in range(size + 1 - i)]
    )  # all alike, at first
    likelihoods = np.exp([float(release.mechanism.log_likelihood(release.counts, table)) for table in tables])
    weights = likelihoods / likelihoods.sum()
    for place, row in enumerate(dc.infer(release).rows()):
        twin = BetaMixture(weights, 1.0 + tables[:, place], 2.0 + size - tables[:, place])
        assert row.numerical_error is not None
        assert 0 < row.numerical_error < 1e-10
        assert ends(row) == pytest.approx((twin.mean, *twin.interval()), abs=row.numerical_error)


def test_what_windows_leave_out_is_stated() -> None:
    law = BetaMixture(np.array([0.3, 0.7]), np.array([4.0, 5.0]), np.array([9.0, 8.0]), weight_error=1e-6)
    without = BetaMixture(np.array([0.3 - 1e-6, 0.7 + 1e-6]), law.a, law.b)
    stated = law.numerical_error()
    assert stated is not None
    assert (law.mean, *law.interval()) == pytest.approx((without.mean, *without.interval()), abs=stated)
    assert stated < 1e-5
    assert without.numerical_error() is None
    assert EnumeratedCounts.lost == 0


def test_many_cells_state_the_error_that_each_one_states() -> None:
    model = dc.Categories("age", levels=range(12), prior=1, outside=0)
    counts = [5, 9, 0, 14, 3, 8, 1, 0, 22, 4, 7, 7]
    release = dc.simulate(dc.GeometricHistogram(model, sum(counts), 1), counts, dc.SeededBits(4), "made up")
    posterior: Any = dc.infer(release)
    together, single = posterior.rows(), [posterior.some_rows([place])[0] for place in range(12)]
    for one, two in zip(together, single, strict=True):
        assert one.numerical_error == pytest.approx(two.numerical_error, rel=1e-6)


def test_drawn_rows_state_a_monte_carlo_error_alone() -> None:
    table = dc.Logistic("falls ~ ward + age", columns=[WARD, AGE, FALLS]).table
    counts = [150, 40, 120, 60, 130, 30, 90, 70, 140, 20, 100, 50]
    release = dc.simulate(dc.GeometricHistogram(table, sum(counts), 2), counts, dc.SeededBits(5), "made up")
    for row in dc.infer(release).rows():
        assert row.monte_carlo_error is not None
        assert row.numerical_error is None


def test_an_event_states_the_error_of_its_share() -> None:
    model = dc.Categories("smoker", levels=LEVELS, prior=1, outside="never")
    release = dc.simulate(dc.GeometricHistogram(model, 40, 1), [22, 3, 15], dc.SeededBits(3), "made up")
    found = dc.infer(release).chance("never").numerical_error
    assert found is not None
    assert 0 < found < 1e-10
