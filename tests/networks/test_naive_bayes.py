"""The engines of naive Bayes against slow and obvious sums over all tables."""

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import betabinom

import discreet as dc
from discreet._core.errors import DiscreetError
from discreet.inference import NoisyRow, Windowed, whole_row
from discreet.mathematics import log_prior, log_prior_constant
from discreet.mathematics.distributions._dirichlet import BetaMixture
from discreet.networks import _splits as splits
from discreet.networks._class import (
    ClassFactor,
    RowMemory,
    WholeClass,
    WindowedClass,
    class_windows,
    distributions_inside,
)
from discreet.networks._class_states import blocks, likely, represented
from discreet.networks._consistent_tables import nearest_counts
from discreet.networks._cube import CubeClass, CubeKernel, cube_classes
from discreet.networks._measured import class_factors
from discreet.networks._naive_bayes import NaiveBayesCounts
from discreet.networks._shared_radius import DistanceRow
from discreet.privacy import compositions
from known_sum_twin import ConvolvedRow


def enumerated(factors: np.ndarray, total: int) -> tuple[np.ndarray, np.ndarray]:
    """All counts of a total, and their log weights."""
    counts = np.array(list(compositions(total, len(factors))))
    return counts, np.array([sum(f[k] for f, k in zip(factors, row, strict=True)) for row in counts])


@pytest.mark.parametrize(("levels", "centre"), [(1, 6.0), (2, 0.0), (2, 3.0), (3, 6.0), (4, 2.0)])
def test_a_row_of_counts_is_what_summing_over_all_counts_gives(levels: int, centre: float) -> None:
    factors = np.random.default_rng(levels).normal(scale=3, size=(levels, 7))
    row, twin = whole_row(factors, centre), ConvolvedRow(factors, centre)
    assert (row.errors < 1e-14).all()
    for total in range(7):
        counts, logs = enumerated(factors, total)
        assert row.log_sums[total] == pytest.approx(logsumexp(logs), abs=1e-12)
        assert twin.log_sums[total] == pytest.approx(logsumexp(logs), abs=1e-12)
        weights = np.exp(logs - logsumexp(logs))
        np.testing.assert_allclose(row.means_given[:, total], weights @ counts, atol=1e-12)
        np.testing.assert_allclose(twin.means[:, total], weights @ counts, atol=1e-12)
        marginals = twin.marginals(total)
        for level in range(levels):
            np.testing.assert_allclose(marginals[level], np.bincount(counts[:, level], weights, 7), atol=1e-12)


def test_rows_keep_their_digits_far_from_where_the_factors_peak() -> None:
    steps = np.arange(2001)
    factors = np.stack([-2.0 * np.abs(steps - 1500), -2.0 * np.abs(steps - 1400)])
    row = whole_row(factors, centre=700.0)
    for total in (400, 700, 1000):
        assert row.log_sums[total] == pytest.approx(
            logsumexp(factors[0, : total + 1] + factors[1, total::-1]), rel=1e-13
        )


def test_drawn_rows_follow_the_exact_law() -> None:
    factors = np.random.default_rng(5).normal(size=(3, 5))
    counts, logs = enumerated(factors, 4)
    drawn = whole_row(factors, 4.0).draw(np.full(60_000, 4), np.random.default_rng(6))
    seen = np.array([(drawn == row).all(axis=1).mean() for row in counts])
    np.testing.assert_allclose(seen, np.exp(logs - logsumexp(logs)), atol=4 * 0.5 / np.sqrt(60_000))


def test_prior_factors_are_the_dirichlet_multinomial_law() -> None:
    alpha = np.array([0.4, 1.0, 2.5])
    row = whole_row(log_prior(alpha[:, None], np.arange(30 + 1)), 15.0)
    np.testing.assert_allclose(
        row.log_sums + log_prior_constant(float(alpha.sum()), np.arange(30 + 1)), 0.0, atol=1e-12
    )


ALPHA = np.array([[1, 2.0], [0.5, 1.5], [40, 40]])


def cube_class(noisy: np.ndarray, rate: float, alpha: np.ndarray, size: int) -> CubeClass:
    """One class with the weights of all class counts."""
    kernel = CubeKernel(noisy, rate, alpha, size)
    return CubeClass(kernel, Windowed(0, np.array([kernel.log_weight(t) for t in range(size + 1)])), (0, size))


def cube_counts(
    classes: list[tuple[np.ndarray, float, np.ndarray]], noisy: list[int], rate: float, size: int
) -> NaiveBayesCounts:
    """All classes, with class counts that were seen through Laplace noise of a rate."""
    kernels, seen = [CubeKernel(z, own, alpha, size) for z, own, alpha in classes], laplace(noisy, rate)
    own = class_factors([1.0] * len(noisy), [seen])
    return NaiveBayesCounts(cube_classes(kernels, seen, own, size), own, size)


def laplace(noisy: list[int], rate: float) -> NoisyRow:
    """Cells that were seen through Laplace noise of a rate."""
    values = np.array(noisy)
    return NoisyRow(
        lambda counts: -rate * np.abs(values[:, None] - counts),
        values,
        np.full(len(values), 1 / rate),
        np.full(len(values), rate**2 / 2),
    )


@pytest.mark.parametrize("noisy", [(3, -2, 0), (9, 1, 1), (0, 0, 0), (-5, 6, -30)])
@pytest.mark.parametrize("rate", [0.05, 0.4, 3.0])
def test_a_class_read_through_cube_noise_is_a_sum_over_all_counts(noisy: tuple[int, ...], rate: float) -> None:
    z, size = np.array(noisy), 6
    reading = cube_class(z, rate, ALPHA, size)
    for count in range(size + 1):
        tables = np.array(list(itertools.product(range(count + 1), repeat=3)))
        prior = np.prod([betabinom.pmf(tables[:, i], count, ALPHA[i, 1], ALPHA[i, 0]) for i in range(3)], axis=0)
        weights = prior * np.exp(-rate * np.abs(z - (2 * tables - count)).max(axis=1))
        assert reading.log_weights.values[count] == pytest.approx(np.log(weights.sum()), abs=1e-11)
        states = reading.states(Windowed(0, np.eye(size + 1)[count]))
        yes = [float(states.chances @ feature[:, 1]) for feature in states.features]
        wanted = (ALPHA[:, 1] + weights @ tables / weights.sum()) / (ALPHA.sum(axis=1) + count)
        np.testing.assert_allclose(yes, wanted, atol=1e-12)


def test_counts_drawn_through_cube_noise_follow_their_law() -> None:
    z, rate, count, draws = np.array([3, -2, 0]), 0.4, 4, 40_000
    tables = np.array(list(itertools.product(range(count + 1), repeat=3)))
    prior = np.prod([betabinom.pmf(tables[:, i], count, ALPHA[i, 1], ALPHA[i, 0]) for i in range(3)], axis=0)
    weights = prior * np.exp(-rate * np.abs(z - (2 * tables - count)).max(axis=1))
    drawn = cube_class(z, rate, ALPHA, 6).draw(np.full(draws, count), np.random.default_rng(8))
    codes = sum(table[:, 1] * 5**place for place, table in enumerate((drawn[2], drawn[1], drawn[0])))
    seen = np.bincount(np.asarray(codes), minlength=125) / draws
    np.testing.assert_allclose(seen, weights / weights.sum(), atol=4 * 0.5 / np.sqrt(draws))


@pytest.mark.parametrize("noisy", [(3, -2, 0), (9, 1, 1), (-5, 6, -30)])
@pytest.mark.parametrize("rate", [0.05, 0.4, 3.0])
def test_one_feature_of_a_class_read_through_cube_noise_has_the_law_that_a_sum_over_all_counts_gives(
    noisy: tuple[int, ...], rate: float
) -> None:
    z, size = np.array(noisy), 6
    reading = cube_class(z, rate, ALPHA, size)
    for count in range(size + 1):
        tables = np.array(list(itertools.product(range(count + 1), repeat=3)))
        prior = np.prod([betabinom.pmf(tables[:, i], count, ALPHA[i, 1], ALPHA[i, 0]) for i in range(3)], axis=0)
        weights = prior * np.exp(-rate * np.abs(z - (2 * tables - count)).max(axis=1))
        for feature in range(3):
            wanted = np.bincount(tables[:, feature], weights / weights.sum(), count + 1)
            (yes,) = reading.distributions_inside(feature, np.array([False, True]), np.array([count]))
            (no,) = reading.distributions_inside(feature, np.array([True, False]), np.array([count]))
            np.testing.assert_allclose(yes.values / yes.values.sum(), wanted[yes.first : yes.last + 1], atol=1e-13)
            assert wanted[: yes.first].sum() + wanted[yes.last + 1 :].sum() < 1e-13
            np.testing.assert_array_equal(no.values, yes.values[::-1])
            assert (no.first, no.last) == (count - yes.last, count - yes.first)


@pytest.mark.parametrize("inside", [(True, False, False), (False, True, True), (True, False, True)])
def test_levels_inside_an_event_have_the_law_that_a_sum_over_all_counts_gives(inside: tuple[bool, ...]) -> None:
    factors, where = np.random.default_rng(10).normal(scale=3, size=(3, 7)), np.array(inside)
    laws = distributions_inside(factors, where, np.array([0, 4, 6]), np.full(3, 2.0))
    for total, law in zip((0, 4, 6), laws, strict=True):
        counts, logs = enumerated(factors, total)
        wanted = np.bincount(counts[:, where].sum(axis=1), np.exp(logs - logsumexp(logs)), total + 1)
        assert law.first == 0
        np.testing.assert_allclose(law.values / law.values.sum(), wanted, atol=1e-13)


def test_a_split_of_a_class_is_the_joint_law_of_both_counts() -> None:
    """Three classes of five records, one feature of three levels: against all class counts and all tables."""
    size, generator = 5, np.random.default_rng(11)
    factors, log_class = generator.normal(size=(3, 3, size + 1)), generator.normal(size=(3, size + 1))
    alpha, inside = np.array([0.5, 1.0, 2.0]), np.array([True, False, True])
    classes = [WholeClass([f], [alpha], 2.0, own) for f, own in zip(factors, log_class, strict=True)]
    counts = NaiveBayesCounts(classes, [ClassFactor(1.0)] * 3, size)
    rows = [[enumerated(f, n) for n in range(size + 1)] for f in factors]
    constant = log_prior_constant(float(alpha.sum()), np.arange(size + 1))
    joint, both = np.zeros((size + 1, size + 1)), np.zeros(size + 1)
    for totals in compositions(size, 3):
        weight = np.exp(sum(log_class[y, n] + constant[n] + logsumexp(rows[y][n][1]) for y, n in enumerate(totals)))
        tables, logs = rows[1][totals[1]]
        np.add.at(joint, (totals[1], tables[:, inside].sum(axis=1)), weight * np.exp(logs - logsumexp(logs)))
        both[totals[0] + totals[2]] += weight
    split, whole = counts.feature_split(0, 1, inside), counts.class_split(inside)
    found = np.zeros_like(joint)
    np.add.at(
        found, (np.rint(split.inside + split.outside).astype(int), np.rint(split.inside).astype(int)), split.chances
    )
    np.testing.assert_allclose(found, joint / joint.sum(), atol=1e-12)
    np.testing.assert_allclose(np.bincount(np.rint(whole.inside).astype(int), whole.chances), both / both.sum())
    np.testing.assert_allclose(whole.inside + whole.outside, size)


def test_merging_many_counts_changes_the_law_of_a_probability_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """400 records and more than 60,000 pairs of likely counts: their ranges against every pair by itself."""
    generator = np.random.default_rng(12)
    classes = [(generator.integers(-70, 70, 6), 0.09, np.ones((6, 2))) for _ in range(2)]
    counts = cube_counts(classes, [150, 250], 0.01, 400)
    yes, x = np.array([False, True]), np.linspace(0.02, 0.98, 25)
    merged = counts.feature_split(0, 1, yes)
    monkeypatch.setattr(splits, "MOST_COUNTS", 1000)
    every = counts.feature_split(0, 1, yes)
    assert len(merged.chances) <= 128**2
    assert len(every.chances) > 60_000
    found, wanted = (BetaMixture(s.chances, 1 + s.inside, 1 + s.outside).cdf(x) for s in (merged, every))
    np.testing.assert_allclose(found, wanted, atol=5e-4)


@pytest.mark.parametrize("size", [10**3, 10**6, 10**9])
def test_with_uniform_priors_cube_noise_is_read_as_its_closed_form_says(size: int) -> None:
    """P(k in an interval) is its length over n_y + 1: nothing to sum, and nothing to lose digits in."""
    generator = np.random.default_rng(41)
    noisy, rate = 2 * generator.integers(0, size, 16) - size + generator.integers(-60, 60, 16), 0.45
    radii = max(0, int(np.abs(noisy).max()) - size) + np.arange(3_000)
    low = np.maximum(0, -((radii[:, None] - noisy - size) // 2))
    high = np.minimum(size, (noisy + size + radii[:, None]) // 2)
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(0, high - low + 1) / (size + 1)).sum(axis=1) - rate * radii
    wanted = logsumexp(logs) + np.log(-np.expm1(-rate))
    assert CubeKernel(noisy, rate, np.ones((16, 2)), size).log_weight(size) == pytest.approx(wanted, rel=1e-14)


def test_reading_cube_noise_weighs_as_many_class_counts_at_any_number_of_records() -> None:
    names, weighed = [f"x{number}" for number in range(6)], []
    network = dc.Network.naive_bayes("y", names, dict.fromkeys(["y", *names], (0, 1)), outside=0)
    for size in (10**5, 10**9):
        table = np.tile([size // 10, size // 5, size // 2, size - size // 10 - size // 5 - size // 2], 6)
        found = dc.infer(dc.simulate(dc.CubeCounts(network, size, 2), table, dc.SeededBits(42))).solutions[0].counts
        assert isinstance(found, NaiveBayesCounts)
        weighed.append([len(law.values) for law in found.class_chances])
    np.testing.assert_allclose(weighed[0], weighed[1], rtol=0.1)


def test_an_output_that_no_noise_can_have_made_is_refused_and_not_computed_for_ever() -> None:
    with pytest.raises(DiscreetError, match="which 10 records and this noise reach"):
        CubeKernel(np.array([10**9, 0]), 0.5, np.ones((2, 2)), 10)


def test_a_class_weight_is_never_steeper_than_stated() -> None:
    reading = cube_class(np.array([30, -8, 3, -1]), 0.7, np.array([[1, 1], [0.2, 3], [9, 9], [1, 5.0]]), 60)
    steps = np.diff(reading.log_weights.values)
    assert np.abs(steps).max() <= reading.kernel.rate + 1e-12


def test_class_counts_that_are_left_out_are_negligible() -> None:
    size, rate = 400, 0.9
    generator = np.random.default_rng(3)
    classes = [(generator.integers(-90, 90, 5), rate, np.ones((5, 2))) for _ in range(3)]
    kernel = -0.1 * np.abs(np.array([[90], [250], [60]]) - np.arange(size + 1.0))
    weights = np.stack([cube_class(*each, size).log_weights.values for each in classes])
    full = ConvolvedRow(kernel + log_prior(np.ones((3, 1)), np.arange(size + 1)) + weights, float(size))
    counts = cube_counts(classes, [90, 250, 60], 0.1, size)
    constant = log_prior_constant(float(np.ones(3).sum()), np.arange(size + 1))[size]
    assert counts.log_evidence == pytest.approx(full.log_sums[size] + constant, abs=1e-12)
    for found, wanted in zip(counts.class_chances, full.marginals(size), strict=True):
        np.testing.assert_allclose(found.values, wanted[found.first : found.last + 1], atol=1e-14)
    assert sum(len(each.values) for each in counts.class_chances) < 1_100  # of 1,203: some are left out


def test_windows_of_class_counts_are_wide_enough_before_every_count_is_weighed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here the first windows are wide enough at the best tilt, and not at that of the sums; a coarse look is cheap."""
    generator, asked = np.random.default_rng(1), list[int]()
    classes = [(2 * generator.integers(0, k + 1, 6) - k + generator.integers(-20, 20, 6), k) for k in (480, 720)]
    usual = CubeKernel._radii

    def noted(kernel: CubeKernel, count: int) -> object:
        asked.append(count)
        return usual(kernel, count)

    monkeypatch.setattr(CubeKernel, "_radii", noted)
    counts = cube_counts([(noisy, 0.5, np.ones((6, 2))) for noisy, _ in classes], [510, 690], 0.1, 1200)
    assert counts.error <= 1e-14
    assert len(asked) < 1_300  # of 2,402


def test_merging_many_states_changes_predictions_little() -> None:
    """2,000 records, 300 likely class counts and more: ranges of them against every state by itself."""
    generator = np.random.default_rng(4)
    size, rate, features = 2000, 0.3, 6
    classes = [(generator.integers(-700, 700, features), rate, np.ones((features, 2))) for _ in range(2)]
    counts = cube_counts(classes, [900, 1100], 0.02, size)
    codes = np.array(list(itertools.product((0, 1), repeat=features)))
    merged = counts.log_joint(codes)
    finest = np.zeros_like(merged)
    for y, reading in enumerate(counts.classes):
        assert isinstance(reading, CubeClass)
        chances = counts.class_chances[y]
        likely_counts = likely(chances.values)
        assert len(likely_counts) > 300
        parts = []
        for place in likely_counts:
            count = int(chances.first + place)
            radii = reading.kernel.radii(count)
            yes = (1 + np.nan_to_num(reading._means(count, radii.radii).T)) / (2 + count)
            own = radii.log_weights - logsumexp(radii.log_weights) + np.log(chances.values[place])
            own = own + np.log((1 + count) / (2 + size))
            shown = codes @ np.log(yes).T + (1 - codes) @ np.log(1 - yes).T
            parts.append(logsumexp(shown + own, axis=1))
        finest[:, y] = logsumexp(parts, axis=0)
    assert np.abs(merged - finest).max() < 2e-4


def test_one_thousand_yes_no_features_are_read_without_underflow() -> None:
    generator = np.random.default_rng(7)
    classes = [(generator.integers(-400, 400, 1000), 4.5, np.ones((1000, 2))) for _ in range(2)]
    counts = cube_counts(classes, [15, 25], 0.05, 40)
    joint = counts.log_joint(generator.integers(0, 2, (3, 1000)))
    assert np.isfinite(counts.log_evidence)
    assert np.isfinite(joint).all()


def test_independent_noise_and_exact_counts_agree_when_there_is_hardly_any_noise() -> None:
    tables = [np.array([[7, 3], [2, 8]]), np.array([[6, 4], [1, 9]])]
    alpha = [np.array([1.0, 2.0])] * 2
    rows = [[[laplace(table[y].tolist(), 60.0)] for table in tables] for y in range(2)]
    windows = class_windows(rows, [], 20)
    classes = [WindowedClass(RowMemory(own, 20), alpha, window) for own, window in zip(rows, windows, strict=True)]
    counts = NaiveBayesCounts(classes, [ClassFactor(1.0)] * 2, 20)
    np.testing.assert_allclose(counts.class_means, [0.5, 0.5], atol=1e-12)
    np.testing.assert_allclose(counts.feature_means(0), [[8 / 13, 5 / 13], [3 / 13, 10 / 13]], atol=1e-12)
    by_hand = np.log(0.5 * np.array([8 / 13 * 6 / 13, 3 / 13 * 11 / 13]))
    np.testing.assert_allclose(counts.log_joint(np.array([[0, 1]]))[0], by_hand, atol=1e-12)


@pytest.mark.parametrize("noisy", [(2, 1), (-3, 9, 1), (1, 1, 1, 2)])
def test_distances_of_a_row_are_what_enumeration_finds(noisy: tuple[int, ...]) -> None:
    size, most = 5, 14
    alpha = np.linspace(0.5, 2.0, len(noisy))
    row = DistanceRow(np.array(noisy), alpha, size, most)
    factors = log_prior(alpha[:, None], np.arange(size + 1))
    for total in range(size + 1):
        counts, logs = enumerated(factors, total)
        distances = np.abs(counts - np.array(noisy)).sum(axis=1)
        parity, law = row.distribution(total)
        found = np.zeros(most + 1)
        found[parity::2] = law
        wanted = np.bincount(distances, np.exp(logs), most + 1)[: most + 1]
        scale = np.exp(row.log_scale[total] - log_prior_constant(float(alpha.sum()), np.arange(size + 1))[total])
        np.testing.assert_allclose(found * scale, wanted, atol=1e-12)


def test_the_nearest_counts_are_the_nearest() -> None:
    generator = np.random.default_rng(9)
    for _ in range(20):
        values = generator.normal(scale=5, size=4)
        found = nearest_counts(values, 6.0)
        assert found.min() >= 0
        assert found.sum() == pytest.approx(6.0)
        others = generator.dirichlet(np.ones(4), size=2000) * 6
        assert ((found - values) ** 2).sum() <= ((others - values) ** 2).sum(axis=1).min() + 1e-9


def test_few_values_have_a_block_each_and_many_share() -> None:
    assert blocks(np.array([0.2, 0.5, 0.3]), 4).tolist() == [0, 1, 2]
    assert len(blocks(np.full(1000, 0.001), 50)) == 50
    counts, shares = represented(Windowed(0, np.full(1000, 0.001)), 50)
    assert shares.sum() == pytest.approx(1.0)
    assert counts @ shares == pytest.approx(499.5, abs=0.5)


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_a_release_with_hardly_any_noise_is_read_too(seed: int) -> None:
    """With little noise the parity of a class count shows, so every second count is impossible."""
    names = [f"x{number}" for number in range(16)]
    network = dc.Network.naive_bayes("y", names, dict.fromkeys(["y", *names], (0, 1)), outside=0)
    generator = np.random.default_rng(seed)
    y, x = generator.integers(0, 2, 50), generator.integers(0, 2, (50, 16))
    counts = np.concatenate([np.bincount(2 * y + x[:, i], minlength=4) for i in range(16)])
    release = dc.simulate(dc.CubeCounts(network, 50, "90"), counts, dc.SeededBits(seed))
    chances = dc.infer(release).predict_proba({name: x[:5, i].tolist() for i, name in enumerate(names)})
    assert chances.sum(axis=1) == pytest.approx(np.ones(5))


@pytest.mark.parametrize("noise", [-4, -6])
def test_an_empty_cell_with_noise_below_zero_is_read_at_many_records(noise: int) -> None:
    """Once windows that were wide for rounding's sake made bounds too flat, and what was paid for was not read."""
    levels = {"fall": (0, 1), "ward": ("n", "s", "other")}
    network = dc.Network.naive_bayes("fall", ["ward"], levels, outside={"fall": 0, "ward": "other"})
    mechanism = dc.FamilyHistograms(network, 100_000, "1")
    output = (33_500 - noise, 33_220, noise, 16_700, 16_580, 0)
    release = dc.Release(mechanism, output, "falls", dc.Unit(), simulated=True)
    rows = dc.infer(release).rows(0.9)
    assert rows[0].mean == pytest.approx(0.6672, abs=1e-4)
