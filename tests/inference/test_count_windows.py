"""Windows, tilts and low frequencies of a table's counts: certificates against slow sums, and what they refuse."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dc
from discreet.inference import MOST_WAVES, CellWeights, CellWindows, LatentCounts, Problem
from discreet.inference import _known_sum as known_sum
from discreet.inference import _latent_counts as latent_counts
from discreet.mathematics import log_prior
from discreet.tables._solver import TablesSolver

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


def laplace(noisy: Counts, rate: float, alpha: float) -> CellWeights:
    return CellWeights(np.full(len(noisy), alpha), lambda places, counts: -rate * np.abs(noisy[places] - counts))


def gaussian(noisy: Counts, variance: float, alpha: float) -> CellWeights:
    return CellWeights(
        np.full(len(noisy), alpha), lambda places, counts: -((noisy[places] - counts) ** 2) / (2 * variance)
    )


def read(weights: CellWeights, noisy: Counts, reach: float, total: int) -> LatentCounts:
    return LatentCounts(weights, noisy, noisy, reach, total)


def made_up(cells: int, total: int, rate: float, seed: int) -> Counts:
    generator = np.random.default_rng(seed)
    counts = generator.multinomial(total, generator.dirichlet(np.ones(cells)))
    noise = np.rint(generator.laplace(scale=1 / rate, size=cells)).astype(np.int64)
    return np.asarray(counts + noise - np.rint(noise.mean()).astype(np.int64))


def slow_marginals(weights: CellWeights, total: int) -> tuple[Floats, float]:
    """Sum over all counts 0, ..., n of every cell by plain convolution: no windows, no tilt, no transform."""
    cells = np.arange(len(weights.alpha))
    logs = weights(cells[:, None], np.arange(total + 1)[None, :])
    peaks = logs.max(axis=1)
    tables = np.exp(logs - peaks[:, None])
    found = np.empty_like(tables)
    for cell in cells:
        others = np.ones(1)
        for other in cells:
            if other != cell:
                others = np.convolve(others, tables[other])[: total + 1]
        found[cell] = tables[cell] * others[::-1]
    total_weight = found[0].sum()
    return found / found.sum(axis=1, keepdims=True), float(np.log(total_weight) + peaks.sum())


def on_all_counts(counts: LatentCounts) -> Floats:
    found = np.zeros((len(counts.first), counts.total + 1))
    for row, first, law in zip(found, counts.first, counts.marginals, strict=True):
        kept = law[: counts.total + 1 - first]
        row[first : first + len(kept)] = kept
    return found


@pytest.mark.parametrize("alpha", [0.05, 0.7, 1.0, 3.5, 400.0])
@pytest.mark.parametrize(
    ("noisy", "rate"),
    [([40, 220, 40], 0.5), ([-200, 300, 190], 0.5), ([-350, -20, 640], 1.0), ([5, 0, 7, 290], 2.0)],
)
def test_windows_give_what_a_sum_over_all_counts_gives(noisy: list[int], rate: float, alpha: float) -> None:
    values = np.array(noisy)
    weights = laplace(values, rate, alpha)
    counts = read(weights, values, 1 / rate, 300)
    wanted, log_sum = slow_marginals(weights, 300)
    assert np.abs(on_all_counts(counts) - wanted).max() < 2e-13
    assert counts.log_sum == pytest.approx(log_sum, abs=1e-11)


@pytest.mark.parametrize("noisy", [[-900, 2000, 1000, 400], [900, 2000, 1000, 400], [5, 0, 7, 2900]])
def test_windows_that_a_strong_prior_leaves_no_good_tilt_are_widened(noisy: list[int]) -> None:
    """The prior rises faster than the noise falls: where the bound holds, rounding hides the total."""
    values = np.array(noisy)
    for rate in (0.05, 0.2, 0.3):
        strong = laplace(values, rate, 400.0)
        counts = read(strong, values, 1 / rate, 3000)
        assert counts.lost < 1e-11
        wide = LatentCounts(strong, np.zeros(4, dtype=np.int64), np.full(4, 3000), 1 / rate, 3000)
        assert counts.log_sum == pytest.approx(wide.log_sum, abs=1e-9)
        assert np.abs(on_all_counts(counts) - on_all_counts(wide)).max() < 1e-12


@pytest.mark.parametrize("alpha", [0.3, 1.0, 2.0])
def test_gaussian_windows_give_what_a_sum_over_all_counts_gives(alpha: float) -> None:
    values = np.array([-60, 150, 180, 31])
    weights = gaussian(values, 400.0, alpha)
    counts = read(weights, values, 5.0, 300)
    wanted, log_sum = slow_marginals(weights, 300)
    assert np.abs(on_all_counts(counts) - wanted).max() < 2e-13
    assert counts.log_sum == pytest.approx(log_sum, abs=1e-11)


@pytest.mark.parametrize("alpha", [0.05, 1.0, 3.5])
@pytest.mark.parametrize("margin", [2.0, 5.0, 12.0])
def test_what_narrow_windows_lose_is_at_most_what_they_say(
    monkeypatch: pytest.MonkeyPatch, alpha: float, margin: float
) -> None:
    monkeypatch.setattr(latent_counts, "MARGIN", margin)
    monkeypatch.setattr(latent_counts, "LOST", np.inf)
    values = made_up(4, 300, 0.5, 8)
    weights = laplace(values, 0.5, alpha)
    counts = read(weights, values, 2.0, 300)
    lost = -np.expm1(counts.log_sum - slow_marginals(weights, 300)[1])
    assert -1e-13 <= lost <= counts.lost
    assert counts.lost > 1e-9  # these windows are narrow indeed


def test_windows_are_widened_until_they_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    values = made_up(4, 300, 0.5, 8)
    weights = laplace(values, 0.5, 0.4)
    usual = read(weights, values, 2.0, 300)
    monkeypatch.setattr(latent_counts, "MARGIN", 3.0)
    widened = read(weights, values, 2.0, 300)
    assert max(usual.known.lost[0], widened.known.lost[0]) <= 1e-12
    assert np.abs(on_all_counts(widened) - on_all_counts(usual)).max() < 1e-12


def test_no_window_and_no_transform_grows_with_the_number_of_records() -> None:
    sizes = []
    for total in (10**4, 10**6, 10**9, 10**12):
        values = np.array([total // 2, total // 3, total - total // 2 - total // 3])
        counts = read(laplace(values, 0.5, 2.0), values, 2.0, total)
        sizes.append((counts.marginals.shape, counts.known._circle.length, counts.known._wide.length))
        assert counts.lost <= 1e-12
    assert len(set(sizes)) == 1


def test_a_circle_that_is_too_short_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    values = made_up(400, 4000, 0.5, 3)
    weights = laplace(values, 0.5, 1.0)
    usual = read(weights, values, 2.0, 4000)
    monkeypatch.setattr(known_sum, "FOLDED", 5.0)
    short = read(weights, values, 2.0, 4000)
    assert short.known._circle.length < usual.known._circle.length
    off = np.abs(short.marginals - usual.marginals).max()
    assert 1e-12 < off < short.lost
    assert usual.lost < 1e-12


def by_full_transform(counts: LatentCounts) -> Floats:
    """Leave each cell out of the product of whole transforms."""
    weights, length = counts.known.tilted.weights[0], 8 * counts.known._wide.length
    spectra = np.fft.rfft(weights, length, axis=1)
    before = np.cumprod(np.concatenate([np.ones((1, spectra.shape[1])), spectra[:-1]]), axis=0)
    after = np.cumprod(np.concatenate([np.ones((1, spectra.shape[1])), spectra[:0:-1]]), axis=0)[::-1]
    behind = (counts.known._rest[0] - np.arange(weights.shape[1])) % length
    joint = weights * np.maximum(0, np.fft.irfft(before * after, length, axis=1)[:, behind])
    return np.asarray(joint / joint.sum(axis=1, keepdims=True))


@pytest.mark.parametrize(("cells", "rate"), [(64, 0.5), (65, 0.5), (1000, 0.5), (300, 0.05)])
def test_low_frequencies_give_what_all_frequencies_give(cells: int, rate: float) -> None:
    values = made_up(cells, 100_000, rate, cells)
    counts = read(laplace(values, rate, 1.5), values, 1 / rate, 100_000)
    assert np.abs(counts.marginals - by_full_transform(counts)).max() < 1e-15
    known = counts.known
    circle, mass = known._circle, float(known.mass[0])
    law = np.fft.irfft(np.fft.rfft(known.tilted.weights[0], 2**19, axis=1).prod(axis=0), 2**19)
    assert mass == pytest.approx(law[known._rest[0]], rel=1e-12)
    if cells > 64:
        assert circle.count < circle.length / 4
        assert np.max(circle.left_out) <= 1e-16 * mass


@pytest.mark.parametrize("cells", [3, 10, 64])
def test_few_cells_are_read_by_whole_transforms(cells: int) -> None:
    values = made_up(cells, 1000, 0.5, cells)
    counts = read(laplace(values, 0.5, 1.0), values, 2.0, 1000)
    assert counts.known._circle.count == counts.known._circle.length // 2 + 1


@pytest.mark.parametrize("known", [3, 70, 97])
def test_sums_of_many_cells_are_those_of_whole_transforms_whatever_else_is_known(known: int) -> None:
    values = made_up(100, 20_000, 0.3, 77)

    def log_kernel(places: Counts, counts: Counts) -> Floats:
        rates = np.where(places < known, 40.0, 0.3)
        return np.asarray(-rates * np.abs(values[places] - counts))

    counts = read(CellWeights(np.ones(100), log_kernel), values, 1 / 0.3, 20_000)
    for places in (np.arange(80), np.arange(20, 100), np.arange(5), np.arange(95, 100), np.arange(0, 100, 3)):
        sums = counts.known
        length = sums._wide.length
        wanted = np.fft.irfft(np.fft.rfft(sums.tilted.weights[0, places], length, axis=1).prod(axis=0), length)
        assert (
            np.abs(sums._distribution_of(np.isin(np.arange(100), places).astype(int)) - np.maximum(0, wanted)).max()
            < 1e-14
        )
    assert np.abs(counts.marginals - by_full_transform(counts)).max() < 1e-14


def test_cells_that_share_a_noisy_count_are_read_as_if_they_did_not() -> None:
    """Sixty cells, twelve different noisy counts: the bound on the evidence, own sums and their intervals."""
    generator = np.random.default_rng(60)
    z = generator.integers(-6, 6, 60)
    size = 400
    z[0] += size - int(z.sum())
    model = dc.Categories("x", levels=tuple(range(60)), outside=0, prior=0.3)
    release = dc.Release(dc.GeometricHistogram(model, size, "0.6"), tuple(z.tolist()), "ties", simulated=True)
    problem = Problem.of([release])
    counts, bounds = TablesSolver().solve(problem).counts, TablesSolver().log_bounds
    different = model.with_prior(tuple(0.3 * (1 + 1e-13 * cell) for cell in range(60)))  # so no two cells are alike
    assert bounds([problem]) == pytest.approx(bounds([Problem.of([release], different.prior)]), abs=1e-9)
    twins = [np.flatnonzero(z == value) for value in np.unique(z)]
    for twin in twins:
        np.testing.assert_allclose(counts.marginals[twin], counts.marginals[twin[:1]].repeat(len(twin), 0), atol=1e-12)
    posterior = dc.infer(release, prior="none")
    together = posterior.rows(0.9)
    for cell in range(60):
        law = posterior.probability(cell)
        assert (together[cell].low, together[cell].high) == pytest.approx(tuple(law.interval(0.9)), abs=1e-12)
        assert posterior.cell_distributions.row(cell).mean == pytest.approx(law.mean, abs=1e-12)


def test_a_bound_on_what_is_left_out_holds() -> None:
    values = made_up(200, 20_000, 0.5, 5)
    counts = read(laplace(values, 0.5, 1.0), values, 2.0, 20_000)
    circle = counts.known._circle
    product = np.abs(np.fft.rfft(counts.known.tilted.weights[0], circle.length, axis=1).prod(axis=0))
    assert circle.count < len(product)
    assert 2 / circle.length * product[circle.count :].sum() <= np.max(circle.left_out) + 1e-300


def test_evidence_is_at_most_its_bound() -> None:
    for alpha in (0.01, 0.3, 1.0, 10.0):
        values = made_up(30, 2000, 0.5, 6)
        counts = read(laplace(values, 0.5, alpha), values, 2.0, 2000)
        assert counts.log_sum <= counts.known.log_bound[0]


@pytest.mark.parametrize("alpha", [0.02, 0.5, 1.0, 7.0])
def test_priors_by_running_sums_are_those_of_gamma_functions(alpha: float) -> None:
    first = np.array([0, 3, 10**6, 10**12])
    windows = CellWindows(
        lambda places, counts: np.zeros(np.broadcast(places, counts).shape), first, first + 5000, 10**13
    )
    found = windows.log_weights(np.full(4, alpha))
    wanted = log_prior(np.full((4, 1), alpha), first[:, None] + np.arange(5001))
    assert np.abs(found - wanted).max() < 1e-10


@pytest.mark.parametrize("kind", [laplace, gaussian])
def test_windows_shared_by_priors_hold_the_weights_and_bound_the_mass_outside(kind: Callable[..., CellWeights]) -> None:
    """Against Gamma functions and sums over all counts; twice, as nothing may change what priors share."""
    noisy, total, rows = np.array([-3, 0, 4, 4, 40, 58]), 60, np.arange(6)
    first, last = np.clip(noisy - 12, 0, 40), np.clip(noisy + 9, 5, total)
    shared = CellWindows(kind(noisy, 0.7, 1.0).log_kernel, first, last, total)
    steps, own = np.arange(shared.width), np.linspace(0.3, 3, 6)
    inside = (np.arange(total + 1) >= first[:, None]) & (np.arange(total + 1) <= last[:, None])
    for alpha in (np.full(6, 0.02), np.ones(6), own, np.full(6, 7.0), np.full(6, 400.0), own / 5) * 2:
        weights = CellWeights(alpha, kind(noisy, 0.7, 1.0).log_kernel)
        slow = weights(rows[:, None], first[:, None] + steps)
        slow[first[:, None] + steps > last[:, None]] = -np.inf
        np.testing.assert_allclose(shared.log_weights(alpha), slow, atol=1e-10)
        products, scales = shared.weights(alpha)
        np.testing.assert_allclose(products, np.exp(slow - scales[:, None]), rtol=1e-10)
        for tilt in (-0.2, 0.0, 0.2):
            bounds = np.exp(shared.beyond(alpha).log_outside(np.array(tilt)) + tilt * first)
            everything = np.exp(weights(rows[:, None], np.arange(total + 1)[None, :]) + tilt * np.arange(total + 1))
            assert (bounds >= (everything * ~inside).sum(axis=1) * (1 - 1e-12)).all()
            assert bounds.min() < np.inf


def test_many_waves_are_left_for_whole_transforms(monkeypatch: pytest.MonkeyPatch) -> None:
    values = made_up(150, 20_000, 0.5, 5)
    usual = read(laplace(values, 0.5, 1.0), values, 2.0, 20_000)
    monkeypatch.setattr(known_sum, "MOST_WAVES", 10)
    whole = read(laplace(values, 0.5, 1.0), values, 2.0, 20_000)
    assert whole.known._circle.count == whole.known._circle.length // 2 + 1
    assert np.abs(whole.marginals - usual.marginals).max() < 1e-15
    assert whole.log_sum == pytest.approx(usual.log_sum, abs=1e-12)
    (sums, chances), (others, wanted) = whole.sum_of(np.arange(100)), usual.sum_of(np.arange(100))
    assert sums @ chances == pytest.approx(others @ wanted, abs=1e-9)


def test_windows_too_wide_for_waves_and_transforms_are_refused_before_anything_is_drawn() -> None:
    model = dc.Categories("x", levels=tuple(range(300)), prior=1, outside=0)
    wide = dc.GeometricHistogram(model, size=10**6, epsilon="0.001")
    assert TablesSolver().cost(Problem.before(wide)).rejection is not None


@pytest.mark.parametrize("waves", [MOST_WAVES, 1], ids=["few frequencies", "whole transforms"])
@pytest.mark.parametrize("alpha", [1.0, 0.1])
@pytest.mark.parametrize("cells", [7, 64, 65, 200])
def test_equal_cells_are_worked_out_once_and_read_as_each_by_itself(
    cells: int, alpha: float, waves: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_sum, "MOST_WAVES", waves)
    generator = np.random.default_rng([19, cells])
    counts = generator.multinomial(40 * cells, generator.dirichlet(np.full(cells, 0.3)))
    noisy = counts + np.rint(generator.laplace(scale=3, size=cells)).astype(np.int64)
    noisy[:2] = -30, -30  # far below what is possible, twice
    weights, total = laplace(noisy, 0.3, alpha), int(counts.sum())
    alone = LatentCounts(weights, noisy, noisy, 1 / 0.3, total)
    shared = LatentCounts(weights, noisy, noisy, 1 / 0.3, total, noisy)
    assert len(shared.known.times) == len(np.unique(noisy)) < cells == len(alone.known.times)
    np.testing.assert_array_equal(shared.first, alone.first)
    np.testing.assert_allclose(shared.marginals, alone.marginals, rtol=1e-10, atol=1e-14)
    assert shared.log_sum == pytest.approx(alone.log_sum, abs=1e-11)
    assert shared.known.log_bound == pytest.approx(alone.known.log_bound, abs=1e-10)
    group = generator.permutation(cells)[: cells // 2 + 1]
    for one, two in zip(shared.sum_of(group), alone.sum_of(group), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-15)
    first, second = (each.draw(20, np.random.default_rng(1)) for each in (shared, alone))
    np.testing.assert_array_equal(first, second)


def test_a_release_with_ties_is_read_by_kinds_of_cells() -> None:
    model = dc.Categories("x", levels=tuple(range(80)), prior=0.5, outside=0)
    noisy = np.tile([3, 0, -1, 7], 20)
    release = dc.Release(
        dc.GeometricHistogram(model, size=180, epsilon=1), tuple(noisy.tolist()), "ties", simulated=True
    )
    found = dc.infer(release).solutions[0].counts
    assert isinstance(found, LatentCounts)
    assert len(found.known.times) == 4
    alone = LatentCounts(laplace(noisy, 0.5, 0.5), noisy, noisy, 2.0, 180)
    steps = np.arange(found.marginals.shape[1])
    np.testing.assert_allclose(found.marginals @ steps, alone.marginals @ steps)
