"""Numbers: stated digits of the tests, their coverage in hard cases, and what is said about each quantity."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.inference import PairNoise, Quantiles, pair_noise
from discreet.noise import Averaged, HasPrefixSums, ZeroSumBlocks
from discreet.numbers import _table_inference as number_tables
from discreet.numbers import suitable_cells
from discreet.numbers._edge_tests import DrawnTests, ExactTests
from discreet.numbers._table_inference import NumberTableSolution
from discreet.planning import suggest_per_unit

HALF = Fraction(1, 2)
SMALL = ZeroSumBlocks(Fraction(1, 5), Fraction(3, 10), (2, 2))
USUAL = ZeroSumBlocks(Fraction(1, 5), Fraction(3, 10), (8,) * 8)


def edges_of(values: Any, law: Any) -> ExactTests:
    return ExactTests(np.asarray(values), int(np.sum(values)), law.cut, law.single)


def test_tails_and_intervals_are_the_stated_ones() -> None:
    tests = edges_of([9, 3, 5, 3], SMALL)
    assert tests.tails(HALF, False)[0] == pytest.approx([0.3899764532, 0.9062782068, 0.9918431986])
    low, high = tests.tails(HALF, True)
    assert low == pytest.approx([0.4385463919, 0.8030850217, 0.9817330294])
    assert high == pytest.approx([0.6779898878, 0.3035448230, 0.0318174825])
    assert [tests.cells_left(HALF, level, False) for level in (0.9, 0.8)] == [(0, 2), (0, 1)]
    assert [tests.cells_left(HALF, level, True) for level in (0.9, 0.8)] == [(0, 2), (0, 2)]


def test_tails_are_what_listing_all_noise_gives() -> None:
    tests = edges_of([9, 3, 5, 3], SMALL)
    noise = np.array([[a, b, c] for a in range(-40, 41) for b in range(-40, 41) for c in range(-40, 41)])
    noise = np.column_stack([noise, -noise.sum(axis=1)])
    chances = np.exp(SMALL.log_prob(noise))
    for place, noisy in enumerate(np.cumsum([9, 3, 5])):
        below = noise[:, : place + 1].sum(axis=1)
        assert tests.tails(HALF, False)[0][place] == pytest.approx(chances[below <= noisy - 10].sum(), abs=1e-4)
        assert tests.tails(HALF, False)[1][place] == pytest.approx(chances[below >= noisy - 9].sum(), abs=1e-4)


def test_one_record_in_the_medians_cell_is_held_as_often_as_stated() -> None:
    counts = np.zeros(64, dtype=np.int64)
    counts[0], counts[30], counts[63] = 499, 1, 500
    rows = counts + USUAL.simulate(2000, np.random.default_rng(41)).astype(np.int64)
    held = [first <= 30 <= last for first, last in (edges_of(row, USUAL).cells_left(HALF, 0.9, False) for row in rows)]
    assert np.mean(held) >= 0.89


def test_draws_serve_as_well_as_the_laws_of_cuts() -> None:
    counts = np.random.default_rng(5).multinomial(1000, np.full(64, 1 / 64))
    noise = USUAL.simulate(4095, np.random.default_rng(6))
    exact, drawn = edges_of(counts, USUAL), DrawnTests(counts, noise, 1000)
    for sampled in (False, True):
        for one, two in zip(exact.tails(HALF, sampled), drawn.tails(HALF, sampled), strict=True):
            assert np.abs(one - two).max() < 0.05
        first, second = exact.share_below(20, 0.9, sampled), drawn.share_below(20, 0.9, sampled)
        assert (first.low, first.high) == pytest.approx((second.low, second.high), abs=0.006)


def test_the_guess_is_linear_inside_a_cell_and_in_the_middle_of_a_flat_stretch() -> None:
    edges = np.arange(5.0)
    assert edges_of([4, 4, 8, 4], SMALL).point(HALF, edges) == pytest.approx(2.25)
    assert edges_of([10, 0, 0, 10], SMALL).point(HALF, edges) == pytest.approx(2.0)


def test_one_number_among_two_ends_has_the_interval_of_its_law() -> None:
    found = Quantiles.of(pair_noise(2, 0.5, 1), 0.9).interval(300.0, 700.0)
    assert found.high - found.low == pytest.approx(2 * np.log(10) / 1000, rel=0.003)


@pytest.mark.parametrize("cells", [2, 3, 9])
def test_the_noise_of_two_ends_is_that_of_the_exact_sampler(cells: int) -> None:
    from discreet.noise import ZeroSumLaplace

    law = ZeroSumLaplace((Fraction(1, 2000),), (cells,))
    rows = law.sample(20_000, dc.SeededBits(31)) / 1000
    drawn = pair_noise(cells, 0.5, 2)
    for ratio in (0.1, 0.5, 0.8):
        own = PairNoise(rows[:, 0], rows[:, 1]).at(ratio)
        assert np.quantile(drawn.at(ratio), [0.05, 0.5, 0.95]) == pytest.approx(
            np.quantile(own, [0.05, 0.5, 0.95]), abs=0.2
        )


def test_a_ratio_that_noise_hides_may_be_anything_between_the_bounds() -> None:
    quantiles = Quantiles.of(pair_noise(3, 0.5, 3), 0.9)
    assert quantiles.interval(-3.0, 1.0)[1:3] == (0.0, 1.0)
    assert quantiles.interval(1.0, 1.0)[1:3] == (0.0, 1.0)
    high = quantiles.interval(500.0, -4.0)
    assert high.high == 1.0
    assert high.low > 0.98


def read(model: Any, kind: Any, data: Any, size: int, epsilon: Any, seed: int = 3) -> Any:
    return dc.infer(dc.simulate(kind(model, size, epsilon), model.rehearse(data), dc.SeededBits(seed)))


def test_a_mean_is_that_of_the_records_with_a_value() -> None:
    data = {"x": [20.0, 40.0, None, "?"] * 5000}
    model = dc.NumberSums("x", (0, 100), asks=("mean", "sum"))
    mean, law, total, of_all = read(model, dc.GeometricSums, data, 20_000, 2).rows(0.95)
    assert mean.low < 30 < mean.high < mean.low + 0.1
    assert law.low <= mean.low < mean.high <= law.high
    assert total.low < 300_000 < total.high
    assert of_all.high - of_all.low == pytest.approx(2 * 1.96 * np.sqrt(1e7 - 3e5**2 / 2e4), rel=0.1)
    constant = dc.NumberSums("x", (0, 100), missing=100)
    first, _ = read(constant, dc.GeometricSums, data, 20_000, 2).rows(0.95)
    assert first.low < 65 < first.high


def test_means_by_group_are_those_of_each_group() -> None:
    ward = dc.Column("ward", ("A", "B"), outside="A")
    data = {"x": [10.0, 90.0] * 4000, "ward": ["A", "B"] * 4000}
    posterior = read(dc.NumberSums("x", (0, 100), by=ward), dc.GeometricSums, data, 8000, 1)
    means = {row.given: row.mean for row in posterior.rows() if row.quantity.endswith("(these records)")}
    assert means == pytest.approx({"ward=A": 10, "ward=B": 90}, abs=0.5)
    assert posterior.known == pytest.approx({"ward=A": 4000, "ward=B": 4000}, abs=40)


def test_a_variance_is_read_from_its_own_sums() -> None:
    model = dc.NumberSums("x", (0, 100), asks=("variance",), missing=0)
    assert dc.GeometricSums(model, 10, 1).squares == HALF
    records, law = read(model, dc.GeometricSums, {"x": [40.0, 60.0] * 20_000}, 40_000, 1).rows(0.95)
    assert records.low < 100 < records.high < records.low + 5
    assert law.low < 100 < law.high


def test_quantiles_of_whole_numbers_are_whole_numbers() -> None:
    model = dc.NumberTable("x", (0, 9), 10, is_whole=True, missing=0, quantiles=("0.5",))
    assert model.count == 10
    first, law = read(model, dc.TreeTable, {"x": [3] * 600 + [7] * 400}, 1000, 2).rows()
    assert (first.low, first.mean, first.high) == (3, 3, 3)
    assert law.low == law.high == 3


def test_a_release_does_not_change_when_records_move_inside_their_cells() -> None:
    model = dc.NumberTable("x", (0, 100), 10, missing=0)
    one, two = ({"x": [start + 10 * place for place in range(10)]} for start in (0.5, 9.5))
    assert np.array_equal(model.rehearse(one), model.rehearse(two))


def test_values_beyond_the_bounds_count_in_the_outer_cells_and_gaps_in_one_of_their_own() -> None:
    model = dc.NumberTable("x", (0, 10), 2)
    assert model.rehearse({"x": [-5, 0, 4.9, 5, 10, 99, None, "no"]}).tolist() == [3, 3, 2]
    assert dc.NumberTable("x", (0, 10), 2, missing=7).rehearse({"x": [-5, None]}).tolist() == [1, 1]


def test_dates_are_days() -> None:
    model = dc.NumberTable("x", ("2026-01-01", "2026-12-31"), 12, quantiles=("0.5",), missing="2026-06-01")
    assert model.is_whole
    (row, _) = read(model, dc.TreeTable, {"x": ["2026-03-05"] * 900 + ["2026-09-01"] * 100}, 1000, 2).rows()
    day = (np.datetime64("2026-03-05") - np.datetime64("1970-01-01")).astype(int)
    assert row.low <= day <= row.high
    assert row.texts[0].startswith("2026-0")
    assert (row.unit, row.unit_text) == ("days from 1970-01-01", "date")
    mean = dc.NumberSums("x", ("2026-01-01", "2026-12-31"), missing="2026-06-01")
    (first, _) = read(mean, dc.GeometricSums, {"x": ["2026-03-05"] * 500 + ["2026-03-08"] * 500}, 1000, 20).rows()
    assert first.texts == ("2026-03-06",) * 3
    with pytest.raises(dc.DeclarationError, match="Dates have no sum"):
        dc.NumberSums("x", ("2026-01-01", "2026-12-31"), asks=("sum",))


def test_growing_edges_begin_and_end_at_the_bounds_and_grow() -> None:
    model = dc.NumberTable.growing("x", (0, 2_000_000), 2000, 64)
    widths = np.diff(model.edge_values)
    assert (model.count, model.edge_values[0], model.edge_values[-1]) == (64, 0, 2_000_000)
    assert (np.diff(widths[1:]) > 0).all()


def test_the_number_of_cells_follows_from_public_facts() -> None:
    assert [suitable_cells(n, "0.1") for n in (1000, 10_000, 100_000)] == [16, 64, 256]
    reason = dc.suggest(dc.NumberTable("x", (0, 1), 256), 100, 1).reason
    assert "16 cells would suit" in reason
    model = dc.NumberTable("x", (0, 1), 256, missing=0)
    assert "cells = 16 would give narrower" in suggest_per_unit(model, 1000, 1).reason
    assert "narrower" not in suggest_per_unit(model, 100_000, 10).reason


def test_steps_of_different_lengths_have_noise_of_different_widths_and_each_is_read_by_its_own() -> None:
    """The first step has 60 times the rate of the second: 400 releases, level 90 %, the median's cell is the second."""
    model = dc.NumberTable("x", (0, 100), edges=(0, 60, 61, 100), quantiles=("0.5",), missing=40)
    mechanism = dc.numbers.PathTable.per_unit(model, 400, "0.01")
    outputs = mechanism.sample(np.tile([0, 200, 200], (400, 1)), dc.SeededBits(7))
    left = [edges_of(each, mechanism.noise).cells_left(HALF, 0.9, False) for each in outputs]
    assert np.mean([first <= 1 <= last for first, last in left]) >= 0.9 - 3 * (0.9 * 0.1 / 400) ** 0.5


def test_wide_noise_along_a_path_is_read_by_draws_and_can_be_planned() -> None:
    model = dc.NumberTable("x", (0, 500), 256, quantiles=("0.5",), missing=0)
    mechanism = dc.numbers.PathTable(model, 2000, "0.1")
    found = dc.infer(dc.simulate(mechanism, model.rehearse({"x": [10, 400] * 1000}), dc.SeededBits(1)))
    assert "draws of noise" in found.method
    narrow = dc.numbers.PathTable(model, 2000, 10)
    assert "exact tests" in dc.infer(dc.simulate(narrow, model.rehearse({"x": [10] * 2000}), dc.SeededBits(1))).method


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: dc.NumberSums("x", (1, 0)),
        lambda: dc.NumberSums("x", (0, 1), asks=("median",)),
        lambda: dc.NumberSums("x", (0, 1), by="ward"),  # type: ignore[arg-type]
        lambda: dc.NumberSums("x", (0, 1), unit=3),
        lambda: dc.NumberTable("x", (0, 1), 1),
        lambda: dc.NumberTable("x", (0, 1), quantiles=("1.5",)),
        lambda: dc.NumberTable("x", (0, 1), edges=(0, "0.7", "0.2", 1)),
        lambda: dc.NumberTable("x", (0, 1), edges=(0, "0.5", 2)),
        lambda: dc.TreeTable(dc.NumberTable("x", (0, 1), 4), 10, 1, share=1),
        lambda: dc.GeometricSums(dc.NumberSums("x", (0, 1)), 10, 1, squares=0),
        lambda: dc.GeometricSums(dc.NumberSums("x", (0, 1)), 10, "1e-6"),
    ],
)
def test_what_cannot_be_is_refused_in_words(wrong: Any) -> None:
    with pytest.raises(dc.DeclarationError) as refusal:
        wrong()
    assert len(str(refusal.value).split()) > 4


def test_several_releases_of_the_same_sums_are_averaged_and_tell_more() -> None:
    model = dc.NumberSums("x", (0, 100), missing=0)
    sums = model.rehearse({"x": [20, 30, 70, 40] * 100})
    made = [
        dc.GeometricSums(model, 400, 1),
        dc.GeometricSums(model, 400, "0.5"),
        dc.numbers.MetricSums(model, 400, 1),
    ]
    releases = [dc.simulate(each, sums, dc.SeededBits(seed), f"{seed}") for seed, each in enumerate(made)]
    together, alone = dc.infer(*releases), [dc.infer(release) for release in releases]
    widths = [row.high - row.low for row in (posterior.rows(0.9)[0] for posterior in (together, *alone))]
    assert widths[0] < 0.9 * min(widths[1:])
    assert "average of 3 releases" in together.method
    row = together.rows(0.999)[0]
    assert row.low <= 40 <= row.high
    weights = np.array([each.rates[0] ** 2 for each in (posterior.solution for posterior in alone)])
    wanted = sum(w * posterior.solution.first for w, posterior in zip(weights / weights.sum(), alone, strict=True))
    assert np.allclose(together.solution.first, wanted)
    noise = together.solution.noise
    apart = [posterior.solution.noise.first.var() for posterior in alone]
    assert noise.first.var() == pytest.approx(float((weights / weights.sum()) ** 2 @ apart), rel=0.1)


def test_several_tables_of_the_same_cells_are_averaged_and_tell_more() -> None:
    asked = [
        dc.NumberTable("x", (0, 100), 16, missing=0, quantiles=("0.5",)),
        dc.NumberTable("x", (0, 100), 16, missing=0, asks=("distribution",)),
    ]
    counts = asked[0].rehearse({"x": [20, 33, 70, 45, 52] * 60})
    kinds = [
        dc.TreeTable(asked[0], 300, "0.3"),
        dc.TreeTable(asked[1], 300, "0.3"),
        dc.numbers.PathTable(asked[0], 300, 3),
    ]
    releases = [dc.simulate(each, counts, dc.SeededBits(seed), f"{seed}") for seed, each in enumerate(kinds)]
    together = dc.infer(*releases)
    assert "average of 3 releases" in together.method
    assert [row.quantity for row in together.rows()] == [row.quantity for row in dc.infer(releases[0]).rows()]
    assert np.all(together.solution.noise.variance < min(float(each.noise.variance.mean()) for each in kinds))
    row = together.rows(0.99)[0]
    assert row.low <= 45 <= row.high
    coarse = dc.TreeTable(dc.NumberTable("x", (0, 100), 8, missing=0), 300, 1)
    other = dc.simulate(coarse, coarse.model.rehearse({"x": [1] * 300}), dc.SeededBits(3), "other")
    with pytest.raises(dc.DeclarationError, match="do not publish the same counts"):
        dc.infer(releases[0], other)


def test_an_average_holds_the_truth_as_often_as_stated() -> None:
    """Two releases of one table, 300 times: the median's cell is held, through the noise of their average."""
    model = dc.NumberTable("x", (0, 8), 8, missing=0, quantiles=("0.5",))
    made = [dc.TreeTable(model, 40, epsilon) for epsilon in (1, 2)]
    counts = np.array([3, 2, 14, 1, 0, 1, 9, 10])  # 19 below, the 20th in the fourth cell
    noise = Averaged(tuple(each.noise for each in made))
    outputs = [each.sample(np.tile(counts, (300, 1)), dc.SeededBits(61 + i)) for i, each in enumerate(made)]
    held = 0
    for pair in zip(*outputs, strict=True):
        first, last = (
            NumberTableSolution(model, 40, noise.of(pair), noise).tests[0].cells_left(Fraction(1, 2), 0.9, False)
        )
        held += first <= 3 <= last
    assert held >= 0.85 * 300  # below, p is about 0.004


def test_noise_that_is_too_wide_for_laws_of_all_cuts_is_read_by_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    def table(cells: int, epsilon: str) -> dc.TreeTable:
        return dc.TreeTable(dc.NumberTable("x", (0, 100), cells, missing=0, quantiles=("0.5",)), 1000, epsilon)

    near, wide = table(256, "0.1").noise, table(256, "0.01").noise
    assert isinstance(near, HasPrefixSums)
    assert isinstance(wide, HasPrefixSums)
    assert near.cut_operations < number_tables.MOST_FOR_CUTS < wide.cut_operations
    mechanism = table(16, "0.2")
    release = dc.simulate(mechanism, mechanism.model.rehearse({"x": [20, 40, 60, 80, 41] * 200}), dc.SeededBits(5), "x")
    exact = dc.infer(release)
    assert "exact tests" in exact.method
    wanted = exact.rows(0.9)
    monkeypatch.setattr(number_tables, "MOST_FOR_CUTS", 1.0)
    drawn = dc.infer(release)
    assert "by rank" in drawn.method
    for one, two in zip(wanted, drawn.rows(0.9), strict=True):
        assert one.low - 6.25 <= two.low <= 41 <= two.high <= one.high + 6.25  # a cell more or less


def test_where_noise_hides_a_group_no_part_of_its_interval_is_called_privacy_or_sampling() -> None:
    ward = dc.Column("ward", ("A", "B"), outside="B")
    model = dc.NumberSums("x", (0, 100), by=ward)
    counts = model.rehearse({"x": [20, 33, 70, 45, 52] * 60, "ward": ["A"] * 300})
    found = dc.infer(dc.simulate(dc.GeometricSums(model, 300, 1), counts, dc.SeededBits(5))).rows()
    seen, hidden = (row for row in found if row.quantity.endswith("(population)"))
    assert 0 < (seen.share_due_to_privacy or 0) < 1
    assert (hidden.low, hidden.high, hidden.share_due_to_privacy) == (0, 100, None)
