"""Sums and tables of a number of a secret number of records, each clever step beside a slow and obvious one."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.inference import Problem, solve
from discreet.noise import Cube
from discreet.numbers import BlockTable, CubeSums, LaplaceSums, PersonRows, Persons
from discreet.numbers._free_ends import CubeEnds, LaplaceEnds, SummedNoise, number_behind
from discreet.privacy import Adjacency

GROUP = dc.Column("g", ("a", "b"), outside="a")
BY_GROUP = dc.NumberSums("x", (0, 10), ("mean", "sum", "variance"), by=GROUP)


def test_variances_of_cubes_are_those_that_were_computed_elsewhere() -> None:
    assert Cube((Fraction(1),), (2,)).variance[0] == pytest.approx(3.9028093341437567, rel=1e-12)
    assert Cube((Fraction(1),), (3,)).variance[0] == pytest.approx(6.5896002699053728, rel=1e-12)
    assert np.exp(Cube((Fraction(1),), (2,)).log_normaliser) == pytest.approx(8.3653887536623386, rel=1e-12)
    mean = CubeSums(BY_GROUP, 1).noise.variance[0] / BY_GROUP.unit**2
    assert mean == pytest.approx(20 / 3, rel=1e-4)  # (d + 2)(d + 3) / 3, d = 2


def test_tails_of_laplace_ends_are_those_that_were_computed_elsewhere() -> None:
    found = LaplaceEnds.tail(np.array([0.25, 0.5]), np.ones(2))
    assert found == pytest.approx([0.14712866275955042, 0.13533528323661269], rel=1e-12)
    points = LaplaceEnds(2.0, 1.0).quantiles(0.9).high[[32, 64]]
    assert 2 * points == pytest.approx([1.8146162103914042, 1.6359060301781469], rel=1e-12)


@pytest.mark.parametrize("ratio", [0.0, 0.1, 0.35, 0.5, 0.8])
def test_tails_of_cube_ends_are_those_of_a_plain_sum(ratio: float) -> None:
    """P(D > x) = E P(c V_1 + V_2 > 2 x / R), over a fine grid of radii and of V_1."""
    radii, v = (np.arange(3000) + 0.5) / 60, (np.arange(2000) + 0.5) / 1000 - 1
    density = radii**3 * np.exp(-radii) / 6 / 60
    for distance in (0.2, 1.0, 4.0):
        over = np.clip((1 - (2 * distance / radii[:, None] - (1 - 2 * ratio) * v)) / 2, 0, 1).mean(axis=1)
        found = float(CubeEnds.tail(np.array([ratio]), np.array([distance]))[0])
        assert found == pytest.approx(float(density @ over), rel=2e-4)


@pytest.mark.parametrize("ends", [LaplaceEnds(2.0, 0.5), CubeEnds(2.0)])
def test_drawn_noise_has_the_quantiles_that_are_computed(ends: Any) -> None:
    places, squares = ends.drawn(100_001)
    known = ends.quantiles(0.9)
    for index in (0, 32, 64, 128):
        drawn = places.at(float(known.ratios[index]))
        assert float((drawn > known.high[index]).mean()) == pytest.approx(0.05, abs=0.004)
    rate = getattr(ends, "square_rate", ends.rate)
    assert float(np.std(squares.first) * rate) == pytest.approx(float(np.std(places.first) * ends.rate), rel=0.03)


def test_the_number_of_records_has_the_posterior_of_a_plain_sum() -> None:
    """Two groups of cubes and the records without a value: densities convolved one by one on a fine grid."""
    grid = np.arange(-2000, 2001) / 16
    cube = (1 + np.abs(grid) + grid**2 / 2) * np.exp(-np.abs(grid)) / 6
    laplace = np.exp(-np.abs(grid)) / 2
    both = np.convolve(np.convolve(cube, cube, "same"), laplace, "same")
    noisy, rate = 7.3, 0.5
    counts = np.arange(0, 120)
    weights = np.interp((noisy - counts) * rate, grid, both)
    weights /= weights.sum()
    found = number_behind([(noisy, SummedNoise(rate, laplace=1, cubes=2))])
    assert found.mean == pytest.approx(float(weights @ counts), rel=1e-3)
    assert found.first == 0
    assert found.probabilities[0] == pytest.approx(weights[0], rel=1e-3)


def test_the_number_from_one_whole_sum_is_that_computed_elsewhere() -> None:
    """Of z = (3, -1) and noise of the rate 1, in whole numbers: flat beforehand on 0, 1, 2, ..."""
    table = BlockTable(dc.NumberTable("x", (0, 2), 2, missing=0), 1, blocks=2)
    release = dc.Release(table, (3, -1), "seen", simulated=True)
    posterior: Any = dc.infer(release)
    number = posterior.number_of_records
    assert number.probabilities[2 - number.first] == pytest.approx(0.30555931429974158, rel=1e-9)
    assert number.mean == pytest.approx(2.3382500549532547, rel=1e-9)


def measured_slowly(model: Any, values: list[float | None], groups: list[str]) -> list[float]:
    """Add up n, high - low and far - near of every group record by record, and records without a value."""
    found = {name: [0.0, 0.0, 0.0] for name in ("a", "b")}
    gap = 0
    for value, group in zip(values, groups, strict=True):
        if value is None:
            gap += 1
            continue
        place = min(max(value / 10, 0.0), 1.0)
        square = (2 * place - 1) ** 2
        for at, part in enumerate((1.0, 2 * place - 1, 2 * square - 1)):
            found[group][at] += part
    return [*found["a"], *found["b"], float(gap)]


def test_what_is_measured_is_the_sum_over_records() -> None:
    values = [0.0, 2.5, None, 10.0, 30.0, -2.0, 5.0]
    groups = ["a", "b", "a", "b", "b", "a", "b"]
    counts = BY_GROUP.rehearse({"x": values, "g": groups})
    measured = CubeSums(BY_GROUP, 1).measured(counts) / BY_GROUP.unit
    assert measured == pytest.approx(measured_slowly(BY_GROUP, values, groups), abs=1e-3)


def test_transposed_quantities_are_the_same_matrix() -> None:
    quantities = CubeSums(BY_GROUP, 1).quantities
    generator = np.random.default_rng(11)
    counts, values = generator.integers(0, 9, len(BY_GROUP.cells)), generator.normal(size=quantities.length)
    assert float(quantities.apply(counts) @ values) == pytest.approx(float(counts @ quantities.transpose(values)))


@pytest.mark.parametrize("kind", [CubeSums, LaplaceSums])
def test_intervals_of_a_mean_hold_any_records_none_included(kind: Any) -> None:
    """1200 releases of 0, 1 and 20 records: a nominal 90 % interval of what the mean of these is; four sd is .035."""
    model = dc.NumberSums("x", (0, 10), missing=0)
    mechanism: Any = kind(model, 1)
    for values in ([], [2.0], [1.0, 9.0] * 10):
        counts = model.rehearse({"x": values})
        outputs = mechanism.sample(np.tile(counts, (1200, 1)), dc.SeededBits(len(values) + 5))
        held = []
        for output in outputs:
            solution: Any = solve(Problem.of([dc.Release(mechanism, tuple(map(int, output)), "drawn", simulated=True)]))
            found = solution.in_units(solution.record_mean(0, solution.quantiles(0.9)))
            held.append(found.low <= (np.mean(values) if values else 5.0) <= found.high)
        assert np.mean(held) >= 0.865


def test_both_promises_are_computed() -> None:
    for mechanism in (CubeSums(BY_GROUP, 1), LaplaceSums(BY_GROUP, 1), BlockTable(dc.NumberTable("x", (0, 4)), 1)):
        assert mechanism.pure_epsilon == 1
        assert mechanism.epsilon_for(Adjacency.REPLACE_ONE) == 2


def test_rows_without_an_id_are_nobody() -> None:
    """Together they would be one person, whom another row without an id would change: that is two at once."""
    model = dc.NumberSums("x", (0, 10), missing=0, persons=Persons("id", rule="largest"))
    with_some = model.rehearse({"id": ["p", None, "p", None, ""], "x": [1.0, 9.0, 2.0, 8.0, 7.0]})
    assert (with_some == model.rehearse({"id": ["p", "p"], "x": [1.0, 2.0]})).all()
    rows = dc.WeightedSums("x", (0, 10), rows=PersonRows("id", None, 3))
    with_some = rows.rehearse({"id": ["p", None, "p"], "x": [1.0, 9.0, 2.0]})
    assert (with_some == rows.rehearse({"id": ["p", "p"], "x": [1.0, 2.0]})).all()


def test_nobody_is_cut_off_and_nobody_filled_up() -> None:
    model = dc.NumberSums("x", (0, 10), missing=0, persons=Persons("id", rule="mean"))
    for persons in (0, 1, 40):
        counts = model.rehearse({"id": [f"p{n}" for n in range(persons)], "x": [1.0] * persons})
        assert counts[:2].sum() == persons * model.unit


def test_a_person_may_be_divided_among_groups() -> None:
    model = dc.WeightedSums("x", (0, 10), by=GROUP, rows=PersonRows("id", None, 4))
    counts = model.rehearse({"id": ["p"] * 3, "x": [10.0, 0.0, 10.0], "g": ["a", "b", "b"]})
    assert counts[: model.ends] / model.unit == pytest.approx([0.25, 0, 0.25, 0.25, 0.25], abs=1e-4)
    assert counts[: model.ends].sum() == model.unit
    with pytest.raises(dc.DeclarationError, match="publishes no sums"):
        CubeSums(model, 1)


def test_numbers_of_persons_are_public_or_secret_as_the_mechanism_has_it() -> None:
    for rule in ("total", "largest"):
        bounds = {"row_bounds": (0, 5)} if rule == "total" else {}
        public, secret = (Persons("id", size, rule, **bounds) for size in (9, None))
        with pytest.raises(dc.DeclarationError, match="takes the number of persons as public"):
            dc.GeometricSums(dc.NumberSums("x", (0, 9), missing=0, persons=secret), 9, 1)
        with pytest.raises(dc.DeclarationError, match="takes the number of persons as public"):
            dc.TreeTable(dc.NumberTable("x", (0, 9), missing=0, persons=secret), 9, 1)
        kinds: Any = ((CubeSums, dc.NumberSums), (LaplaceSums, dc.NumberSums), (BlockTable, dc.NumberTable))
        for kind, model in kinds:
            with pytest.raises(dc.DeclarationError, match="keeps the number of persons secret"):
                kind(model("x", (0, 9), missing=0, persons=public), 1)


def test_overflow_is_clamped_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    many = np.array([[2**60, 2**60, 2**45]], dtype=np.int64), 2**45
    monkeypatch.setattr("discreet.records._batch_source.BatchSource.sum_groups", lambda *_: many)
    model = dc.NumberSums("x", (0, 1), missing=0)
    counts = model.rehearse({"x": [1.0]})
    assert counts.tolist() == [2**53, 0, 2**53, 0]
    assert CubeSums(model, 1).measured(counts).tolist() == [2**53] * 3


def test_draws_and_further_records_follow_what_was_published() -> None:
    generator = np.random.default_rng(5)
    data = {"x": generator.gamma(2, 2, 400).tolist(), "g": ["a", "b", "b", "b"] * 100}
    release = dc.simulate(CubeSums(BY_GROUP, 2), BY_GROUP.rehearse(data), dc.SeededBits(8))
    posterior: Any = dc.infer(release)
    assert posterior.about == "about "
    assert abs(posterior.number_of_records.mean - 400) < 20
    drawn = posterior.draws_by_key(4000, seed=1)
    for row, key in zip(posterior.rows(), posterior.keys(), strict=True):
        if "mean" in row.quantity:
            assert float(np.median(drawn[key])) == pytest.approx(row.mean, abs=0.15 * (row.high - row.low))
    sample = posterior.sample(200, 1)
    assert np.isfinite(posterior.log_likelihoods(sample)[0]).all()
    further = posterior.replicate(sample, generator)
    assert further.shape == (200, len(release.output))
    assert float(np.median(further[:, [0, 3]].sum(axis=1))) / BY_GROUP.unit == pytest.approx(400, rel=0.05)
    assert dc.Release.from_json(release.to_json()) == release


def test_several_releases_of_a_secret_number_are_not_averaged() -> None:
    counts = BY_GROUP.rehearse({"x": [1.0], "g": ["a"]})
    two = [dc.simulate(CubeSums(BY_GROUP, 1), counts, dc.SeededBits(seed)) for seed in (1, 2)]
    with pytest.raises(dc.DeclarationError, match="one release"):
        dc.infer(*two)


class NoGap(CubeSums):
    """Wrong on purpose: records without a value have no noise, so it shows that there is one more."""

    def log_prob(self, output: Any, counts: Any) -> Any:
        noise = np.asarray(output) - self.measured(counts)
        logs = Cube(self.noise.rates[:1], (3,)).log_prob(noise[..., :3])
        return np.where(noise[..., 3] == 0, logs, -np.inf)


class Louder(CubeSums):
    """Wrong on purpose: noise of half the scale."""

    def log_prob(self, output: Any, counts: Any) -> Any:
        return CubeSums(self.model, 2 * self.epsilon).log_prob(output, counts)


class OneSided(CubeSums):
    """Wrong on purpose: the number of records is never made smaller."""

    def log_prob(self, output: Any, counts: Any) -> Any:
        noise = np.asarray(output) - self.measured(counts)
        return np.where(noise[..., 0] >= 0, super().log_prob(output, counts), -np.inf)


class KeepsTotal(CubeSums):
    """Wrong on purpose: the number of records is published exactly, as noise that keeps the total would."""

    def log_prob(self, output: Any, counts: Any) -> Any:
        noise = np.asarray(output) - self.measured(counts)
        return np.where(noise[..., 0] == 0, super().log_prob(output, counts), -np.inf)


class OnlyParity(CubeSums):
    """Wrong on purpose: whether the number of records is even is published exactly."""

    def log_prob(self, output: Any, counts: Any) -> Any:
        noise = np.asarray(output) - self.measured(counts)
        even = noise[..., 0] % (2 * self.model.unit) == 0
        return np.where(even, super().log_prob(output, counts), -np.inf)


@pytest.mark.parametrize("wrong", [NoGap, Louder, OneSided, KeepsTotal, OnlyParity])
def test_noise_that_does_not_hide_a_record_is_found(wrong: Any) -> None:
    model = dc.NumberSums("x", (0, 1), missing=None if wrong is NoGap else 0, unit=2)
    with pytest.raises(dc.VerificationError):
        dc.verify(wrong(model, 2))


class ClosedBlock(BlockTable):
    """Wrong on purpose: noise inside blocks keeps their sums, so the number of records in a block is published."""

    def log_prob(self, output: Any, counts: Any) -> Any:
        noise = np.asarray(output) - self.measured(counts)
        kept = np.add.reduceat(noise, np.cumsum([0, *self.noise.sizes[:-1]]), axis=-1)
        return np.where((kept == 0).all(axis=-1), super().log_prob(output, counts), -np.inf)


class LouderTable(BlockTable):
    """Wrong on purpose: noise of half the scale."""

    def log_prob(self, output: Any, counts: Any) -> Any:
        return BlockTable(self.model, 2 * self.epsilon, self.share, self.blocks).log_prob(output, counts)


@pytest.mark.parametrize("wrong", [ClosedBlock, LouderTable])
def test_a_table_that_does_not_hide_a_record_is_found(wrong: Any) -> None:
    with pytest.raises(dc.VerificationError):
        dc.verify(wrong(dc.NumberTable("x", (0, 2), 2, missing=0), 1))


def test_the_loss_of_a_unit_that_is_added_is_that_of_all_outputs() -> None:
    """Of a block of two cells: every table of noise within 40, one by one."""
    table = BlockTable(dc.NumberTable("x", (0, 2), 2, missing=0), "1.5", blocks=1)
    outputs = np.stack(np.meshgrid(np.arange(-40, 42), np.arange(-40, 42), indexing="ij"), axis=-1).reshape(-1, 2)
    without, with_one = (table.log_prob(outputs, np.array(counts)) for counts in ([0, 0], [1, 0]))
    for epsilon in (0.0, 0.4, 1.0, 1.4):
        slow = float((np.exp(with_one) * -np.expm1(np.minimum(0, epsilon + without - with_one))).sum())
        assert float(table.privacy_loss().delta_at(epsilon)) == pytest.approx(slow, abs=1e-7)
