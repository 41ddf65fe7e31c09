"""Windows against direct sums over all counts: equal where both can be had, and never wrong about what is left out."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import logsumexp

import discreet as dc
from discreet.inference import CellWindows, NoisyRow, Problem, RowWindows
from discreet.inference import _known_sum as known_sum
from discreet.inference._row_windows import known_row
from discreet.mathematics import log_prior, log_prior_constant, log_prior_windows
from discreet.networks import NetworkCounts
from discreet.networks._class import ClassFactor, RowMemory, WindowedClass
from discreet.networks._naive_bayes import NaiveBayesCounts, NaiveBayesSolver, whole, windowed
from discreet.networks._simulate import counts_of, simulated_records, simulated_tables
from discreet_papers import as_published
from known_sum_twin import ConvolvedRow


def laplace(noisy: list[int], rate: float) -> NoisyRow:
    values = np.array(noisy)
    rates = np.full(len(values), rate)
    return NoisyRow(lambda k: -rate * np.abs(values[:, None] - k), values, 1 / rates, rates**2 / 2)


def gaussian(noisy: list[int], variance: float) -> NoisyRow:
    values = np.array(noisy)
    variances = np.full(len(values), variance)
    return NoisyRow(
        lambda k: -np.square(values[:, None] - k) / (2 * variance), values, np.sqrt(variances) / 4, 1 / variances
    )


def whole_row(alpha: np.ndarray, seen: list[NoisyRow], size: int, centre: float) -> ConvolvedRow:
    """Return the slow twin: every count of every cell, convolved directly."""
    counts = np.broadcast_to(np.arange(size + 1), (len(alpha), size + 1))
    return ConvolvedRow(
        log_prior(alpha[:, None], np.arange(size + 1)) + sum(each.log_kernel(counts) for each in seen), centre
    )


ROWS: dict[str, tuple[float, list[NoisyRow], int]] = {
    "three levels": (1.0, [laplace([120, 60, 30], 0.2)], 400),
    "a prior below one": (0.5, [laplace([120, 60, 3], 0.2)], 400),
    "a prior above one": (3.0, [laplace([120, -20, 90], 0.4)], 400),
    "far below zero": (1.0, [laplace([150, -300, 40], 0.5)], 400),  # 150 scales: a window at -300 would be empty
    "far above all records": (0.5, [laplace([150, 40, 1_000], 0.5)], 400),
    "two releases that differ": (1.0, [laplace([100, 60, 50], 0.3), laplace([130, 30, 60], 0.1)], 400),
    "Gaussian noise": (2.0, [gaussian([100, 60, 50], 30.0)], 400),
    "Gaussian and Laplace": (0.7, [gaussian([100, 60, 50], 90.0), laplace([110, 70, 40], 0.3)], 400),
    "two levels, little noise": (1.0, [laplace([110, 90], 4.0)], 300),
    "17 levels": (1.0, [laplace(list(range(4, 21)), 0.8)], 400),
    "70 levels": (0.5, [laplace([3] * 40 + [0] * 30, 0.9)], 300),
    "one level": (1.0, [laplace([190], 0.5)], 400),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_on_windows_is_what_direct_sums_over_all_counts_give(name: str) -> None:
    share, seen, size = ROWS[name]
    alpha = np.full(len(seen[0].values), share)
    totals = np.arange(180, 230)
    row, twin = RowWindows(alpha, seen, size, 180, 229, parts=10), whole_row(alpha, seen, size, 205.0)
    wanted = twin.log_sums[totals] + log_prior_constant(float(alpha.sum()), np.arange(size + 1))[totals]
    sound = row.errors < 1e-10  # elsewhere the row itself says that it does not know
    assert sound.sum() >= 35
    np.testing.assert_allclose(row.log_weights[sound], wanted[sound], rtol=1e-13, atol=2e-10)
    means = (alpha[:, None] + twin.means[:, totals]).T / (alpha.sum() + totals)[:, None]
    np.testing.assert_allclose(row.probabilities[sound], means[sound], atol=1e-10)
    best = row.errors < 1e-13
    np.testing.assert_allclose(row.log_weights[best], wanted[best], rtol=2e-14, atol=1e-12)


@pytest.mark.parametrize("name", ["three levels", "far below zero", "Gaussian noise", "17 levels"])
def test_the_law_inside_and_the_draws_of_a_row_are_those_of_direct_sums(name: str) -> None:
    share, seen, size = ROWS[name]
    levels = len(seen[0].values)
    alpha, inside, draws = np.full(levels, share), np.arange(levels) < 1 + levels // 3, 20_000
    row, twin = RowWindows(alpha, seen, size, 180, 229, parts=3), whole_row(alpha, seen, size, 205.0)
    counts = np.broadcast_to(np.arange(size + 1), (levels, size + 1))
    factors = log_prior(alpha[:, None], np.arange(size + 1)) + sum(each.log_kernel(counts) for each in seen)
    parts = [ConvolvedRow(factors[where], 100.0).log_sums for where in (inside, ~inside)]
    logs = parts[0][:211] + parts[1][210::-1]
    wanted = np.exp(logs - logsumexp(logs))
    law = row.distribution_inside(inside, 210)
    np.testing.assert_allclose(law.values, wanted[law.first : law.last + 1], atol=1e-12)
    assert wanted[: law.first].sum() + wanted[law.last + 1 :].sum() < 1e-12
    drawn = row.draw(np.full(draws, 210), np.random.default_rng(21))
    assert (drawn.sum(axis=1) == 210).all()
    marginals = twin.marginals(210)
    mean = marginals @ np.arange(size + 1)
    spread = np.sqrt(marginals @ np.arange(size + 1) ** 2 - mean**2)
    assert (np.abs(drawn.mean(axis=0) - mean) <= 4.5 * spread / np.sqrt(draws) + 1e-9).all()
    seen_law = np.bincount(drawn[:, inside].sum(axis=1), minlength=211)[:211] / draws
    np.testing.assert_allclose(np.cumsum(seen_law), np.cumsum(wanted), atol=1.95 / np.sqrt(draws))  # Kolmogorov, 1e-3


@pytest.mark.parametrize("alpha", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("tilt", [-0.25, 0.0, 0.2])
def test_what_windows_leave_out_is_never_more_than_its_bound(alpha: float, tilt: float) -> None:
    size = 2_000
    for noise in (laplace([900, -30, 2_100, 5], 0.3), gaussian([900, 10, 1_990, 3], 60.0)):
        windows = CellWindows.around([noise], size, margin=6.0)
        counts = np.arange(size + 1)
        logs = log_prior_windows(np.full(4, alpha), np.zeros(4, dtype=np.int64), size + 1)
        logs = (
            logs + noise.log_kernel(np.broadcast_to(counts, (4, size + 1))) + tilt * (counts - windows.first[:, None])
        )
        outside = (counts < windows.first[:, None]) | (counts > windows.last[:, None])
        assert outside.any(axis=1).all()
        lost = logsumexp(np.where(outside, logs, -np.inf), axis=1)
        bound = windows.beyond(np.full(4, alpha)).log_outside(np.array(tilt))
        assert (bound >= lost - 1e-9).all()
        assert alpha != 1 or tilt != 0 or (bound <= lost + 1).all()  # and not far above


def test_windows_that_are_too_narrow_say_so_and_are_widened() -> None:
    alpha, seen, size = np.ones(3), [laplace([3_000, 3_000, 3_000], 0.05)], 10_000
    narrow = known_row(CellWindows.around(seen, size, margin=4.0), alpha, 8_950, 9_050)
    assert narrow.errors.min() > 1e-3
    twin = whole_row(alpha, seen, size, 9_000.0).log_sums[8_950:9_051]
    assert (np.abs(np.expm1(narrow.log_sums - twin)) <= narrow.errors).all()
    assert (np.abs(narrow.log_sums - twin) > 1e-6).all()
    wide = RowWindows(alpha, seen, size, 8_950, 9_050)
    assert wide.errors.max() < 1e-14


def test_a_total_far_from_the_tilt_is_not_known_until_the_range_is_cut() -> None:
    """Gaussian noise of 3.5 in a total, and totals up to 100 away: e^-400 lies far below what one tilt shows."""
    alpha, seen, size = np.ones(3), [gaussian([500, 300, 200], 4.0)], 2_000
    once, often = (RowWindows(alpha, seen, size, 1_000, 1_100, parts) for parts in (1, 16))
    twin = whole_row(alpha, seen, size, 1_070.0)
    wanted = twin.log_sums[1_000:1_101] + log_prior_constant(float(alpha.sum()), np.arange(size + 1))[1_000:1_101]
    assert once.errors.max() == 1.0
    assert often.errors.max() < 1e-9
    np.testing.assert_allclose(often.log_weights, wanted, atol=1e-8)


def test_what_lies_beyond_a_window_of_class_counts_is_never_more_than_its_bound() -> None:
    size, rng = 1_500, np.random.default_rng(22)
    for share, own_alpha in ((0.4, 0.3), (1.0, 1.0), (2.5, 4.0)):
        alpha = [np.full(3, share)] * 4
        features = [[laplace(rng.integers(200, 260, 3).tolist(), 0.1)] for _ in alpha]
        own = ClassFactor(own_alpha, lambda t: -0.02 * np.abs(t - 600))
        narrow, every = (
            WindowedClass(RowMemory(features, size), alpha, window, 20) for window in ((650, 750), (0, size))
        )
        logs = every.log_weights.values + own(every.log_weights)
        for tilt in (-0.05, 0.0, 0.05):
            tilted = logs + tilt * (np.arange(size + 1) - 650)
            lost = logsumexp(np.concatenate([tilted[:650], tilted[751:]]))
            assert narrow.log_outside(tilt, own) >= lost - 1e-6
            assert tilt != 0 or narrow.log_outside(tilt, own) <= lost + 80


def test_of_many_cells_low_frequencies_are_enough_and_of_few_cells_all_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(23)
    for cells, few in ((3, False), (10, False), (64, False), (65, True), (300, True)):
        noisy, alpha, size = rng.integers(0, 40, cells), np.ones(cells), 30_000
        windows = CellWindows.around([laplace(noisy.tolist(), 0.3)], size)
        total = int(noisy.sum()) + 9
        sums = known_row(windows, alpha, total - 20, total + 20)
        assert (sums._circle.count < sums._circle.length // 2 + 1) is few
        with monkeypatch.context() as patched:
            patched.setattr(known_sum, "MOST_WAVES", 0)
            slow = known_row(windows, alpha, total - 20, total + 20)
            np.testing.assert_allclose(sums.log_sums, slow.log_sums, rtol=1e-13)
            np.testing.assert_allclose(sums.marginals, slow.marginals, atol=1e-14)
            np.testing.assert_allclose(sums.means_given, slow.means_given, rtol=1e-10)


def network(classes: int, levels: int, features: int = 4) -> dc.Network:
    names = [f"x{place}" for place in range(features)]
    domains = {"y": tuple(range(classes))} | {name: tuple(range(levels)) for name in names}
    return dc.Network.naive_bayes("y", names, domains, outside=0)


def released(mechanism: NetworkCounts, seed: int) -> dc.Release:
    counts = mechanism.model.simulate(mechanism.size, np.random.default_rng(seed)).statistics
    return dc.simulate(mechanism, counts, dc.SeededBits(seed))


KINDS: dict[str, Callable[[dc.Network, int, str], NetworkCounts]] = {
    "histograms": lambda net, size, eps: dc.FamilyHistograms(net, size, eps),
    "updates": lambda net, size, eps: as_published.LaplaceUpdates(net, size, eps),
    "Gaussians": lambda net, size, eps: dc.networks.FamilyGaussians(net, size, eps, "1e-6"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("classes", "levels", "size", "epsilon", "prior"),
    [(2, 3, 300, "1", 1), (3, 2, 2_000, "2", 0.5), (5, 3, 600, "1", 2), (2, 20, 900, "4", 1), (2, 2, 40, "30", 0.5)],
)
def test_naive_bayes_on_windows_is_read_as_by_direct_sums_over_all_counts(
    kind: str, classes: int, levels: int, size: int, epsilon: str, prior: float
) -> None:
    mechanism = KINDS[kind](network(classes, levels), size, epsilon)
    problem = Problem.of([released(mechanism, 5)], None if prior == 1 else prior)
    compare(windowed(problem), whole(problem))


def test_two_releases_are_read_together_as_by_direct_sums() -> None:
    net = network(3, 3)
    releases = [
        released(dc.FamilyHistograms(net, 500, 1), 6),
        released(dc.networks.FamilyGaussians(net, 500, 1, "1e-6"), 6),
        released(as_published.LaplaceUpdates(net, 500, "0.3"), 6),
    ]
    problem = Problem.of(releases)
    compare(windowed(problem), whole(problem))


def test_seventy_levels_are_read_as_by_direct_sums() -> None:
    problem = Problem.of([released(dc.FamilyHistograms(network(2, 70, 2), 1_500, 8), 7)])
    compare(windowed(problem), whole(problem))


def test_weights_that_rounding_hides_are_cut_finer_and_not_taken_for_an_impossible_release() -> None:
    """Wide windows of a class with few records: on one tilt most weights are hidden. It was refused once."""
    net, generator = network(3, 3), np.random.default_rng([347, 12])
    records = simulated_records(net, simulated_tables(net, generator), 500, generator)
    release = dc.simulate(dc.FamilyHistograms(net, 500, 2), counts_of(net, records), dc.SeededBits(34_700_012))
    problem = Problem.of([release])
    compare(windowed(problem), whole(problem))


def test_windows_that_begin_at_zero_are_widened_at_their_other_end() -> None:
    alpha, size, flat = [np.ones(2)] * 2, 120, ClassFactor(1.0, lambda t: np.zeros(np.shape(t)))
    features = [[[laplace([30, 20], 1.0)], [laplace([10, 40], 1.0)]], [[laplace([40, 30], 1.0)]] * 2]
    narrow, every = (
        NaiveBayesCounts(
            [
                WindowedClass(RowMemory(rows, size), alpha, (0, last), parts)
                for rows, last in zip(features, ends, strict=True)
            ],
            [flat, flat],
            size,
        )
        for ends, parts in (((52, 72), 1), ((size, size), 16))
    )
    assert all(chances.last > last for chances, last in zip(narrow.class_chances, (52, 72), strict=True))
    assert narrow.log_evidence == pytest.approx(every.log_evidence, abs=1e-11)
    np.testing.assert_allclose(narrow.class_means, every.class_means, atol=1e-12)


def compare(fast: NaiveBayesCounts, slow: NaiveBayesCounts) -> None:
    assert fast.error < 1e-11
    with np.errstate(over="ignore"):  # where the twin's weights underflow, far from all that matters
        wanted = slow.means()
    assert fast.log_evidence == pytest.approx(slow.log_evidence, rel=1e-13, abs=1e-11)
    np.testing.assert_allclose(fast.class_means, slow.class_means, atol=1e-12)
    for one, two in zip(fast.means(), wanted, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-12)
    for law, full in zip(fast.class_chances, slow.class_chances, strict=True):
        np.testing.assert_allclose(law.values, full.values[law.first : law.last + 1], atol=1e-12)
    levels = fast.classes[0].levels
    codes = np.random.default_rng(8).integers(0, levels, (200, len(levels)))
    np.testing.assert_allclose(fast.log_joint(codes), slow.log_joint(codes), atol=2e-11)
    inside = np.arange(levels[0]) == 1
    ours, theirs = fast.feature_split(0, 1, inside), slow.feature_split(0, 1, inside)
    assert ours.chances @ ours.inside == pytest.approx(theirs.chances @ theirs.inside, rel=1e-9)


def test_reading_naive_bayes_takes_the_same_windows_and_states_at_any_number_of_records() -> None:
    """What is held, not how long it takes: ten thousand records or a thousand million."""
    sizes = {}
    for size in (10**4, 10**9):
        mechanism = dc.FamilyHistograms(network(2, 3, 16), size, 1)
        rng = np.random.default_rng(9)
        halves = np.array([size * 2 // 5, size - size * 2 // 5])
        table = [rng.multinomial(own, [0.3, 0.3, 0.4]) for _ in range(16) for own in halves]
        problem = Problem.of([dc.simulate(mechanism, np.concatenate(table), dc.SeededBits(9))])
        assert NaiveBayesSolver().rejection(problem) is None
        found = windowed(problem)
        sizes[size] = [len(each.values) for each in found.class_chances], [len(s.chances) for s in found.states]
    (small, few), (large, many) = sizes.values()
    assert small == large
    np.testing.assert_allclose(few, many, rtol=0.1)
