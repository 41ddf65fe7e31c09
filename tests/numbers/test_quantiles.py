"""Quantiles at chosen places: sequences whose amounts are fixed, read by tests that hold wherever their edges lie."""

from fractions import Fraction
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dc
from discreet.noise import ZeroSumLaplace
from discreet.numbers import ChosenCounts, ChosenTable, why_table
from discreet.numbers._quantiles_inference import zero_sum_cuts
from discreet.numbers._quantiles_mechanisms import BetweenEdges

Floats = NDArray[np.float64]
HALF = Fraction(1, 2)
MEDIAN = dc.NumberQuantiles("x", (0, 1), ("0.5",), missing=0, steps=2**12)
FIVE = dc.NumberQuantiles("x", (0, 1), missing=0, steps=2**12)
WARD = dc.Column("ward", ("A", "B"), outside="B")


def counts_of(model: dc.NumberQuantiles, values: Floats) -> NDArray[np.int64]:
    return np.bincount(model._places_of(values), minlength=model.places)


def test_places_are_the_nearest_ones_and_whole_numbers_their_own() -> None:
    fine = dc.NumberQuantiles("x", (0, 8), ("0.5",), missing=3, steps=8)
    found = fine.rehearse({"x": [0, 0.4, 0.6, 7.9, 99, -3, None]})
    assert found.tolist() == [3, 1, 0, 1, 0, 0, 0, 0, 2]
    assert fine.edge_values([0, 1, 8, 9]).tolist() == [0.0, 0.5, 7.5, 8.0]
    whole = dc.NumberQuantiles("x", (1, 6), ("0.5",), is_whole=True, by=WARD)
    rows = whole.rehearse({"x": [1, 3, 6, 9, None], "ward": ["A", "A", "B", "B", "A"]})
    assert rows.tolist() == [1, 0, 1, 0, 0, 0, *[0] * 5, 2, 1]
    assert whole.edge_values([0, 1, 6]).tolist() == [1.0, 2.0, 7.0]


@pytest.mark.parametrize("backend", ["pandas", "polars", "duckdb"])
@pytest.mark.parametrize("gaps", [True, False])
def test_every_backend_counts_the_same_places(backend: str, gaps: bool) -> None:
    generator = np.random.default_rng(1)
    values = [None if each > 0.9 else float(12 * each - 1) for each in generator.random(500)]
    wards = [str(each) for each in generator.choice(["A", "B", "C"], 500)]
    model = dc.NumberQuantiles("x", (0, 8), ("0.5",), by=WARD, missing=None if gaps else 2, steps=64)
    plain = model.rehearse({"x": values, "ward": wards})
    assert plain.sum() == 500
    if backend == "duckdb":
        import duckdb
        import pandas

        given = pandas.DataFrame({"x": values, "ward": wards})
        connection = duckdb.connect()
        connection.register("given", given)
        connection.execute("CREATE TABLE kept AS SELECT * FROM given")
        frame: Any = connection.table("kept")
    else:
        library = pytest.importorskip(backend)
        frame = library.DataFrame({"x": values, "ward": wards})
    np.testing.assert_array_equal(model.rehearse(frame), plain)


def test_edges_follow_from_what_was_published_and_are_always_distinct() -> None:
    mechanism = ChosenCounts(MEDIAN, 10_000, 1)
    output = np.array([1500, 2499, 4900, 200, 4900, 4800, 300, 4900, 4000, 2000, 4000])
    around, near, far = mechanism.all_edges(output)
    assert around.tolist() == [[1500, 2500]]
    assert near.tolist() == [[1930, 2070]]  # the middle of 200 records in 1,000 places, 14 ranks before and behind it
    wide = 1000 * (70 + 2 * np.sqrt(2500 + 36**2)) / 200
    assert far.tolist() == [[int(np.floor(2000 - wide)), int(np.ceil(2000 + wide))]]
    for odd in ([0, 0, *output[2:]], [4096, 4096, *output[2:]], [7, 7, 0, 0, 10_000, *output[5:]]):
        for edges in mechanism.all_edges(np.array(odd)):
            assert (np.diff(edges, axis=-1) > 0).all()
            assert edges.min() >= 1
            assert edges.max() <= 4096


def test_all_steps_add_up_by_basic_and_zcdp_composition_and_no_law_is_convolved() -> None:
    for mechanism in (ChosenCounts(MEDIAN, 10_000, 2), ChosenTable(FIVE, 10_000, 2)):
        assert mechanism.guarantee.epsilon == 2
        assert sum(mechanism.shares) == 1
        change = np.zeros(sum(mechanism.noises[0].sizes), dtype=np.int64)
        change[:2] = 1, -1
        counted = sum(noise.privacy_loss(change).rho for noise in mechanism.noises)
        assert mechanism.rho == (2 * mechanism.rate) ** 2 / 8 + counted
        assert mechanism.privacy_loss().delta_at(1.9) > 0.8 * (1 - np.exp(-0.1)) * np.exp(2) / (1 + np.exp(2))
    grouped = ChosenCounts(dc.NumberQuantiles("x", (0, 1), ("0.5",), by=WARD), 10_000, 2)
    assert 4 * grouped.rate == grouped.shares[0] * 2  # a record that changes groups moves two choices


SMALL = dc.NumberQuantiles("x", (0, 3), ("0.5",), missing=0, is_whole=True)


class Louder(ChosenTable):
    """Chooses places by twice the rate that it says."""

    @cached_property
    def rate(self) -> Fraction:
        return 3 * self.epsilon


class Twice(ChosenCounts):
    """Spends on its last count what it has for all."""

    @cached_property
    def noises(self) -> tuple[ZeroSumLaplace, ...]:
        return (super().noises[0], ZeroSumLaplace((self.epsilon / 2,), (3,)))


@pytest.mark.parametrize(
    ("honest", "false", "model", "size", "epsilon"),
    [(ChosenTable, Louder, SMALL, 3, 1), (ChosenCounts, Twice, SMALL, 2, 20)],
)
def test_a_step_that_costs_more_than_it_says_is_caught(
    honest: Any, false: Any, model: dc.NumberQuantiles, size: int, epsilon: int
) -> None:
    dc.verify(honest(model, size, epsilon))
    with pytest.raises(dc.VerificationError):
        dc.verify(false(model, size, epsilon))


@pytest.mark.parametrize("cells", [3, 5])
def test_cuts_of_noise_that_adds_up_to_zero_are_those_of_a_sum_over_all_noise(cells: int) -> None:
    rate, reach = Fraction(6, 5), 12
    free = np.indices((2 * reach + 1,) * (cells - 1)).reshape(cells - 1, -1).T - reach
    noise = np.column_stack([free, -free.sum(axis=1)])
    weights = np.exp(-float(rate) * np.abs(noise).sum(axis=1))
    for index, cut in enumerate(zero_sum_cuts(rate, cells), 1):
        sums = noise[:, :index].sum(axis=1)
        for value in (0, 1, -3):
            assert float(cut.at(value)) == pytest.approx(float(weights[sums == value].sum() / weights.sum()), rel=1e-5)


def test_cuts_are_pinned() -> None:
    pins = {"0.5": (0.3316890906, 1.77848027), "0.3": (0.1998620417, 3.01513729), "0.15": (0.0999955480, 6.07206404)}
    for rate, (at_zero, sd) in pins.items():
        cut = zero_sum_cuts(Fraction(rate), 3)[0]
        assert float(cut.at(0)) == pytest.approx(at_zero, abs=1e-9)
        assert cut.sd == pytest.approx(sd, rel=1e-7)


@pytest.mark.parametrize(("model", "size", "seed"), [(MEDIAN, 10_000, 1), (FIVE, 10_000, 2), (FIVE, 1_000, 3)])
def test_the_quantile_is_held_where_one_record_lies_alone(model: dc.NumberQuantiles, size: int, seed: int) -> None:
    """The worst records there are: one at the median, all others far off. Of 150 releases .85 is 2 sd below 90 %."""
    counts = np.zeros(model.places, dtype=np.int64)
    counts[[10, 2000, 4090]] = size // 2 - 1, 1, size // 2
    mechanism = dc.suggest(model, size, 1).mechanism
    held = 0
    for output in mechanism.sample(np.tile(counts, (150, 1)), dc.SeededBits(seed)):
        row = dc.infer(release_of(mechanism, output)).quantile(HALF)[0]
        held += row.low <= float(model.edge_values(2000.5)) <= row.high
    assert held >= 0.85 * 150


def release_of(mechanism: Any, output: Any) -> Any:
    from discreet.release import Release

    return Release(mechanism, tuple(int(each) for each in output), "made up", simulated=True)


class NearOnly(ChosenCounts):
    """Has no edges as far off as sampling goes: wrong on purpose."""

    _places_do_for_both = True

    @property
    def targets(self) -> tuple[tuple[Fraction, int], ...]:
        return (self.share, -60), (self.share, 60)


def test_the_population_needs_edges_of_its_own_distance() -> None:
    """100,000 records of a smooth column: intervals of the population seldom run to a bound, but do without them."""
    size, runs = 100_000, 30
    generator, at_bound, held = np.random.default_rng(5), {ChosenCounts: 0, NearOnly: 0}, 0
    for number in range(runs):
        counts = counts_of(MEDIAN, generator.beta(2, 3, size))
        for kind in at_bound:
            mechanism = kind(MEDIAN, size, 1)
            output = mechanism.sample(counts, dc.SeededBits(number))
            row = dc.infer(
                release_of(ChosenCounts(MEDIAN, size, 1) if kind is ChosenCounts else mechanism, output)
            ).rows()[1]
            at_bound[kind] += row.low == 0 or row.high == 1
            held += kind is ChosenCounts and row.low <= 0.38572756813 <= row.high
    assert at_bound[ChosenCounts] <= 0.1 * runs
    assert at_bound[NearOnly] >= 0.8 * runs
    assert held >= 0.9 * runs


def test_a_smooth_median_is_located_far_better_than_by_cells() -> None:
    """60 data sets: the error is a few ranks, and intervals are narrower than a cell of 256."""
    size, generator, errors, widths, held = 10_000, np.random.default_rng(6), [], [], 0
    fine = dc.NumberQuantiles("x", (0, 1), ("0.5",), missing=0)
    mechanism = ChosenCounts(fine, size, 1)
    for number in range(60):
        values = np.clip(generator.lognormal(-1.8, 0.7, size), 0, 1)
        counts = counts_of(fine, values)
        row = dc.infer(release_of(mechanism, mechanism.sample(counts, dc.SeededBits(number)))).rows()[0]
        true = float(np.sort(values)[ceil(size / 2) - 1])
        errors.append(row.mean - true)
        widths.append(row.high - row.low)
        held += row.low <= true <= row.high
    assert float(np.sqrt(np.mean(np.square(errors)))) < 1.3 * 0.0001  # the exponential mechanism has about .0001
    assert float(np.median(widths)) < 0.002
    assert held >= 54


def test_one_rule_from_public_numbers_decides_and_says_why() -> None:
    def model(*shares: str, whole: bool = False, by: dc.Column | None = None) -> dc.NumberQuantiles:
        return dc.NumberQuantiles("x", (0, 200), shares, by=by, is_whole=whole)

    assert why_table(model("0.5"), 600, 1) is None
    assert "here it is 299.5" in str(why_table(model("0.5"), 599, 1))
    assert "300 records" in str(why_table(model("0.5", by=WARD), 1000, 1))
    assert "201 whole numbers" in str(why_table(model("0.5", whole=True), 10_000, 1))
    assert why_table(model("0.25", "0.5", "0.75"), 1800, 1) is None
    assert "for each quantile" in str(why_table(model("0.25", "0.5", "0.75"), 1799, 1))
    assert "chosen first" in dc.suggest(model("0.5"), 1000, 1).reason
    assert "declare cells" in dc.suggest(model("0.5"), 100, 1).reason
    assert "ask without cells" in dc.suggest(dc.NumberTable("x", (0, 200), 64), 10_000, 1).reason


@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        ("quantiles = [0.5]", "ChosenCounts"),
        ('ask = "quantiles"', "ChosenTable"),
        ('quantiles = [0.5]\nby = "ward"', "ChosenCounts"),
        ("quantiles = [0.5]\ncells = 32", "TreeTable"),
        ('ask = ["quantiles", "mean"]', "TreeTable"),
        ("quantiles = [0.05]", "TreeTable"),
        ('quantiles = [0.05]\nmechanism = "ChosenTable"', "ChosenTable"),
        ('quantiles = [0.5]\nmechanism = "TreeTable"', "TreeTable"),
    ],
)
def test_a_study_asks_and_gets_what_the_rule_says(keys: str, kind: str, tmp_path: Path) -> None:
    generator = np.random.default_rng(4)
    rows = [
        f"{x:.1f},{'A' if u < 0.5 else 'B'}"
        for x, u in zip(generator.gamma(4, 10, 4000), generator.random(4000), strict=True)
    ]
    (tmp_path / "x.csv").write_text("pay,ward\n" + "\n".join(rows) + "\n")
    (tmp_path / "s.toml").write_text(f"""
[data]
path = "x.csv"
size = 4000
[budget]
epsilon = "1"
ledger = "x.db"
[columns.pay]
bounds = [0, 128]
[columns.ward]
levels = ["A", "B"]
outside = "B"
[questions.q]
model = "number"
column = "pay"
{keys}
epsilon = "1"
""")
    asked = dc.Study(tmp_path / "s.toml")
    question = asked.question("q")
    assert type(question.mechanism).__name__ == kind
    if kind == "TreeTable":
        return
    release = asked.publish("q")
    assert asked.ledger().remaining.epsilon == 0
    read = dc.Release.from_json(release.to_json())
    assert read == release
    posterior = dc.infer(read)
    assert len(posterior.rows()) == 2 * len(question.model.quantiles) * len(question.model.groups)
    assert posterior.draws(7, 1)["quantile"].shape == (7, len(question.model.groups), 2 * len(question.model.quantiles))
    if not question.reason:
        return
    assert "chosen first" in question.reason
    values: dict[str, list[float]] = {"A": [], "B": []}
    for row in rows:
        value, group = row.split(",")
        values[group].append(float(value))
    for index, group in enumerate(question.model.groups):
        own = sorted(values[group[-1]] if group else values["A"] + values["B"])
        for place, share in enumerate(question.model.quantiles):
            line = posterior.rows(0.99)[2 * (index * len(question.model.quantiles) + place)]
            true = own[ceil(share * len(own)) - 1]
            assert line.low - 0.0005 <= true <= line.high + 0.0005


def test_what_cannot_be_asked_is_refused_in_words() -> None:
    table: Any = dc.NumberTable("x", (0, 1), 8)
    for ask, words in (
        (lambda: ChosenCounts(FIVE, 1000, 1), "Use ChosenTable"),
        (lambda: ChosenCounts(table, 1000, 1), "NumberQuantiles"),
        (lambda: dc.NumberQuantiles("x", (0, 3), is_whole=True), "ask for a table"),
        (lambda: dc.NumberQuantiles("x", (0, 1), steps=100), "power of two"),
        (lambda: dc.NumberQuantiles("x", (0, 2**21), is_whole=True), "steps apart"),
    ):
        with pytest.raises(dc.DeclarationError, match=words):
            ask()


def test_an_operator_counts_between_edges_as_one_by_one() -> None:
    edges = np.array([[2, 5], [1, 3]])
    model = dc.NumberQuantiles("x", (0, 6), ("0.5",), is_whole=True, by=WARD)
    counts = np.arange(model.length)
    found = BetweenEdges(model, edges).apply(counts)
    assert found.tolist() == [0 + 1, 2 + 3 + 4, 5 + 6, 7, 8 + 9, 10 + 11 + 12 + 13, 14]
    slow = np.array([BetweenEdges(model, edges).apply(row) for row in np.eye(model.length, dtype=np.int64)])
    np.testing.assert_array_equal(BetweenEdges(model, edges).transpose(np.arange(7)), slow @ np.arange(7))
