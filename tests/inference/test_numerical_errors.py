"""Rows that were not drawn say how far they may be off, and slow twins agree with them to within that."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.inference import EventPosterior, WeightedTables, why_unreadable
from discreet.mathematics.distributions._dirichlet import BetaMixture, MergedMixture
from discreet.programs.families import _inference as families
from discreet.records import text_of as text_of_level
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
    likelihoods = np.exp([float(release.mechanism.log_prob(release.counts, table)) for table in tables])
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
    assert WeightedTables.listed(np.array([[1, 2]]), np.zeros(1)).lost == 0


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


FROZEN = Path(__file__).parents[1] / "documents" / "before-house" / "releases"


def every_row(posterior: Any) -> Iterator[Any]:
    """Yield all rows of a posterior, and those of events, rates and pooled rates where it knows such."""
    yield from posterior.rows()
    if isinstance(posterior, EventPosterior):
        names = [(column.name, f"{column.name}={text_of_level(column.levels[0])}") for column in posterior.columns]
        yield posterior.chance(names[0][1])
        if len(names) > 1:
            yield posterior.chance(names[0][1], names[1][1])
            yield from posterior.rates(names[0][1], names[1][0])
        if isinstance(posterior, dc.tables.CategoriesPosterior):
            yield from posterior.table.rows()
            yield posterior.table.chance(names[0][1])
            if len(names) > 1:
                yield posterior.table.chance(names[0][1], names[1][1])


@pytest.mark.parametrize("path", sorted(FROZEN.glob("*.json")), ids=lambda path: path.stem)
def test_every_row_states_a_numerical_or_a_monte_carlo_error(path: Path) -> None:
    release = dc.Release.from_json(path.read_text("utf-8"))
    if why_unreadable(release.mechanism) is not None:
        return  # it was published without a reading
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for row in every_row(dc.infer(release)):
            stated = [each for each in (row.numerical_error, row.monte_carlo_error) if each is not None]
            assert len(stated) == 1, row
            assert 0 <= stated[0] < np.inf, row


def test_pooled_rates_state_the_error_of_their_draws() -> None:
    wards = dc.Categories(
        ("ward", "fall"), levels={"ward": ("A", "B", "C"), "fall": ("no", "yes")}, outside={"ward": "A", "fall": "no"}
    )
    release = dc.simulate(dc.GeometricHistogram(wards, 120, 2), [30, 6, 38, 2, 39, 5], dc.SeededBits(8))
    for row in dc.infer(release).pooled("fall=yes", "ward").rows():
        assert row.monte_carlo_error == pytest.approx(row.sd / np.sqrt(4_000), rel=1e-9)


def test_a_conditional_is_within_its_stated_error_of_a_sum_over_all_tables() -> None:
    """Three sums of 40 records, all tables listed; uniform priors of the three shares, as own sums have."""
    model = dc.Categories("smoker", levels=LEVELS, prior=1, outside="never")
    size, places = 40, (0, 2)
    release = dc.simulate(dc.GeometricHistogram(model, size, 1), [22, 3, 15], dc.SeededBits(3), "made up")
    tables = np.array([(i, j, size - i - j) for i in range(size + 1) for j in range(size + 1 - i)])
    likelihoods = np.exp([float(release.mechanism.log_prob(release.counts, table)) for table in tables])
    twin = BetaMixture(likelihoods / likelihoods.sum(), *(1.0 + tables[:, place] for place in places))
    posterior: Any = dc.infer(release, prior=1)
    found = posterior.distributions.between(*(np.array([place]) for place in places))
    stated = found.numerical_error()
    assert 0 < stated < 1e-9
    assert (found.mean, *found.interval()) == pytest.approx((twin.mean, *twin.interval()), abs=stated)


def test_more_pairs_of_sums_than_can_be_listed_state_the_error_of_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    model = dc.Categories("smoker", levels=LEVELS, prior=1, outside="never")
    release = dc.simulate(dc.GeometricHistogram(model, 400, "0.1"), [220, 30, 150], dc.SeededBits(3), "made up")
    exact: Any = dc.infer(release, prior=1)
    wanted = exact.distributions.between(np.array([0]), np.array([2]))
    monkeypatch.setattr("discreet.inference._latent_counts._MOST_PAIRS", 10)
    drawn = exact.distributions.between(np.array([0]), np.array([2]))
    assert drawn.numerical_error() is None
    assert wanted.monte_carlo_error is None
    assert abs(drawn.mean - wanted.mean) < 5 * drawn.monte_carlo_error  # one in two million by chance


def test_ranges_of_counts_that_were_merged_state_how_much_longer_ones_would_change() -> None:
    counts = np.arange(600, dtype=np.float64)
    weights = np.exp(-0.5 * ((counts - 250) / 60.0) ** 2)
    weights /= weights.sum()
    every = BetaMixture(weights, 1 + counts, 601 - counts)
    shares, *sums = (own.reshape(-1, 8).sum(axis=1) for own in (weights, weights * every.a, weights * every.b))
    merged = MergedMixture(shares, *(own / shares for own in sums), weight_error=0.0)
    stated = merged.numerical_error()
    assert stated is not None
    assert 1e-9 < stated < 0.01
    assert (merged.mean, *merged.interval()) == pytest.approx((every.mean, *every.interval()), abs=stated)
