"""What is read of many columns at once: intervals of what was measured, a model and bought bounds for the rest."""

from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.synthesis import GaussianPairTables, PairGaussians, Synthesis, SynthesisPosterior

COLUMNS = [
    dc.Column("sex", ("f", "m"), outside="m"),
    dc.Column.banded("age", (0, 18, 65, 100), "other"),
    dc.Column("ward", ("A", "B", "C", "D"), outside="A"),
    dc.Column("fall", ("no", "yes"), outside="no"),
    dc.Column.banded("admitted", ("2026-01-01", "2026-02-01", "2026-12-31"), "other"),
]
MODEL = Synthesis(COLUMNS)
N = 4000


def records(size: int, seed: int) -> np.ndarray:
    """Return codes of records in which falls depend on age and ward, and age on ward."""
    g = np.random.default_rng(seed)
    ward = g.choice(4, size, p=(0.4, 0.3, 0.2, 0.1))
    age = np.where(g.random(size) < 0.3 + 0.15 * ward, 2, g.integers(0, 2, size))
    fall = (g.random(size) < 0.05 + 0.1 * (age == 2) + 0.1 * (ward == 3)).astype(int)
    return np.column_stack([g.integers(0, 2, size), age, ward, fall, g.choice(2, size, p=(0.7, 0.3))])


COUNTS = MODEL.counts_of(records(N, 1))


def read(mechanism: Any, counts: np.ndarray = COUNTS, seed: int = 3) -> SynthesisPosterior:
    found = dc.infer(dc.simulate(mechanism, counts, dc.SeededBits(seed)))
    assert isinstance(found, SynthesisPosterior)
    return found


@pytest.fixture(scope="module")
def posterior() -> SynthesisPosterior:
    return read(PairGaussians(MODEL, N, 2, "1e-6", cells=40))


def test_intervals_of_counts_hold_the_truth_nine_times_in_ten() -> None:
    """Forty releases of the same records: levels, and cells of measured pairs, whichever these are."""
    mechanism = PairGaussians(MODEL, N, 1, "1e-6", rounds=1)
    ones, pairs = MODEL.one_way(COUNTS), MODEL.split(COUNTS)
    hits: dict[str, list[bool]] = {"one": [], "two": []}
    for seed in range(40):
        found = read(mechanism, seed=seed)
        for number, column in enumerate(COLUMNS):
            for row, true in zip(found.counts(column.name), ones[number].tolist(), strict=True):
                hits["one"].append(row.low <= true <= row.high)
        for index, (a, b) in enumerate(MODEL.pairs):
            if (a, b) in found.sums.pairs:
                rows = found.counts(COLUMNS[a].name, COLUMNS[b].name)
                hits["two"] += [r.low <= t <= r.high for r, t in zip(rows, pairs[index].ravel().tolist(), strict=True)]
    assert len(hits["two"]) > 2000
    for each in hits.values():
        assert (
            0.86 < np.mean(each) < 0.96
        )  # cells of one table depend on each other; empty cells have no lower end to miss


def test_a_pair_that_was_measured_has_an_interval_and_others_are_by_the_model_only(posterior: Any) -> None:
    assert posterior.is_measured("ward")
    measured = posterior.measured_pairs()
    assert ("age", "ward") in measured
    row = posterior.chance("age=65 to 100, ward=A")
    assert 0 < row.low < row.mean < row.high < 0.5
    assert "model" not in row.quantity
    left = next((a, b) for a in range(5) for b in range(a + 1, 5) if (COLUMNS[a].name, COLUMNS[b].name) not in measured)
    a, b = (COLUMNS[number] for number in left)
    row = posterior.chance(f"{a.name}={a.levels[0]}, {b.name}={b.levels[0]}")
    assert row.quantity.endswith("(by the model only)")
    assert (row.low, row.high) == (0, 1)
    triple = posterior.chance("ward=A, fall=yes, sex=f")
    assert (triple.low, triple.high) == (0, 1)
    assert triple.mean == pytest.approx(float(posterior.joint.margin((0, 2, 3))[0, 0, 1]), abs=1e-12)
    margin = posterior.margin("age", "ward")
    assert len(margin.rows()) == 16
    assert sum(row.mean for row in margin.rows()) == pytest.approx(1, abs=0.02)
    with pytest.raises(dc.DeclarationError, match="no column 'x'"):
        posterior.margin("x")
    with pytest.raises(dc.DeclarationError, match="by the model only"):
        posterior.margin(a.name, b.name).draws(10)


def test_rates_in_groups_come_from_draws_of_measured_tables(posterior: Any) -> None:
    rows = posterior.rates("fall=yes", "age")
    known = [each for each in rows if "model" not in each.quantity]
    true = MODEL.split(COUNTS)[MODEL.pairs.index((1, 3))]
    for row, counts in zip(rows, true.tolist(), strict=True):
        assert row.records_low is not None
        if row in known and sum(counts) > 500:
            assert row.low - 0.02 < counts[1] / sum(counts) < row.high + 0.02
    assert posterior.draws(50, 1)["ward"].shape == (50, 4)
    drawn = posterior.draws(4000, 2)["ward"]
    rows = [row for row in posterior.rows() if row.quantity.startswith("ward=")]
    for level, row in enumerate(rows):
        low, high = np.quantile(drawn[:, level], (0.05, 0.95))
        assert (low, high) == pytest.approx((row.low, row.high), abs=0.1 * (row.high - row.low))


def test_the_map_of_dependence_finds_what_depends(posterior: Any) -> None:
    rows = posterior.dependence()
    assert len(rows) == 10
    assert {row.quantity for row in rows[:2]} >= {"age and ward"}
    true = MODEL.split(COUNTS)
    ones = MODEL.one_way(COUNTS)
    hits = 0
    for index, (a, b) in enumerate(MODEL.pairs):
        exact = np.abs(true[index] / N - np.outer(ones[a], ones[b]) / N**2).sum() / 2
        row = next(r for r in rows if r.quantity == f"{COLUMNS[a].name} and {COLUMNS[b].name}")
        hits += row.low - 0.01 <= exact <= row.high + 0.01  # of readings, not of exact products
    assert hits >= 7


def test_a_bought_check_bounds_the_model_where_nothing_was_measured() -> None:
    """Of 60 releases, nine in ten bounds of unmeasured pairs hold; without a check there is none."""
    mechanism = PairGaussians(MODEL, N, 2, "1e-6", rounds=1, cells=24, check="1/10")
    true, kept = MODEL.split(COUNTS), []
    for seed in range(60):
        found = read(mechanism, seed=seed)
        fitted, bounds = found.joint.pairs(), found.bounds()
        assert set(bounds) == {
            (COLUMNS[a].name, COLUMNS[b].name) for a, b in MODEL.pairs if (a, b) not in found.sums.pairs
        }
        for index, (a, b) in enumerate(MODEL.pairs):
            if (COLUMNS[a].name, COLUMNS[b].name) in bounds:
                off = np.abs(true[index] / N - fitted[a, b]).sum() / 2
                kept.append(off <= bounds[COLUMNS[a].name, COLUMNS[b].name])
    assert len(kept) > 200
    assert 0.83 < np.mean(kept) < 0.97
    left, right = next(iter(bounds))
    firsts = {column.name: column.levels[0] for column in COLUMNS}
    row = found.chance(f"{left}={firsts[left]}, {right}={firsts[right]}")
    assert row.high - row.low <= 2 * bounds[left, right] + 1e-12
    assert not read(PairGaussians(MODEL, N, 2, "1e-6")).bounds()


def test_prediction_and_records_follow_the_model(posterior: Any) -> None:
    chances = posterior.predict_proba([{"age": 80, "ward": "D"}, {"age": 30}], target="fall")
    assert chances.shape == (2, 2)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert chances[0, 1] > chances[1, 1]
    joint = posterior.joint.margin((1, 2, 3))[2, 3]
    assert chances[0, 1] == pytest.approx(joint[1] / joint.sum())
    with pytest.raises(dc.DeclarationError, match="Name the column to predict"):
        posterior.predict([{}])
    made = posterior.records(5000, seed=4)
    found = MODEL.split(made.counts)
    for pair, table in zip(MODEL.pairs, found, strict=True):
        assert np.abs(table / 5000 - posterior.joint.pairs()[pair]).sum() / 2 < 0.03
    table = made.table
    bands = [column.code(value) for column, value in zip([COLUMNS[1]] * 5000, table["age"], strict=True)]
    assert bands == made.codes[:, 1].tolist()
    assert all(isinstance(value, int) for value, code in zip(table["age"], bands, strict=True) if code < 3)
    days = [COLUMNS[4].code(value) for value in table["admitted"]]
    assert days == made.codes[:, 4].tolist()
    assert set(table["sex"]) == {"f", "m"}
    assert posterior.records(50, seed=4).table == posterior.records(50, seed=4).table
    assert set(posterior.records(500, 1, "names").table["age"]) <= set(COLUMNS[1].levels)
    assert posterior.synthesize(20, 1)["ward"] == posterior.records(20, 1, "names").table["ward"]
    with pytest.raises(dc.DeclarationError, match="numbers must be one of"):
        posterior.records(5, 1, "median")


def test_where_the_number_of_records_is_secret_shares_and_it_are_read_together() -> None:
    mechanism = GaussianPairTables(MODEL, 1, "1e-6")
    sizes, hits = [], []
    for seed in range(30):
        found = read(mechanism, seed=seed)
        assert found.about == "about "
        sizes.append((found.solution.size - N) / found.solution.size_variance**0.5)
        true = np.concatenate(MODEL.one_way(COUNTS)) / N
        for row, share in zip(found.rows(), true.tolist(), strict=True):
            hits.append(row.low <= share <= row.high)
    assert 0.7 < np.std(sizes) < 1.35
    assert abs(np.mean(sizes)) < 4 / 30**0.5
    assert np.mean(hits) > 0.95  # intervals for the population, held against these very records


def test_an_empty_table_and_one_record_can_be_published_and_read() -> None:
    for size in (0, 1):
        counts = MODEL.counts_of(records(size, 1))
        found = read(GaussianPairTables(MODEL, 1, "1e-6"), counts)
        assert all(0 <= row.low <= row.high <= 1 for row in found.rows())
        assert len(found.records(3, 1)) == 3


def test_two_releases_of_the_same_records_are_read_together() -> None:
    mechanism = PairGaussians(MODEL, N, 1, "1e-6")
    one, two = (dc.simulate(mechanism, COUNTS, dc.SeededBits(seed), str(seed)) for seed in (1, 2))
    both: Any = dc.infer(one, two)
    widths = [posterior.rows()[0].high - posterior.rows()[0].low for posterior in (dc.infer(one), both)]
    assert widths[1] < widths[0]
    assert both.sums.singles[0][1] == pytest.approx(
        1 / sum(1 / dc.infer(each).sums.singles[0][1] for each in (one, two)), rel=1e-9
    )


@pytest.mark.parametrize(("epsilon", "words"), [("0.1", "so small an"), ("1", ""), ("3", "so large an")])
def test_a_suggestion_says_where_another_library_is_closer(epsilon: str, words: str) -> None:
    reason = dc.suggest(MODEL, 5000, epsilon, "1e-6").reason
    assert words in reason
    assert ("AIM" in reason) == bool(words)
