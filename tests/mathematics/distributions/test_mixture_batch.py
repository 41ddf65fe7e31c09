"""Many mixtures of Betas at once, against one mixture after the other."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import betaincinv, expit, logit

from discreet.mathematics.distributions._mixture_batch import BetaRows, MixtureBatch, known_widths

Floats = NDArray[np.float64]


def noisy_cells(cells: int, size: int, rate: float, alpha: float, seed: int) -> BetaRows:
    """Return what Laplace noise leaves open about the cells of a made-up table."""
    generator = np.random.default_rng(seed)
    counts = generator.multinomial(size, generator.dirichlet(np.ones(cells)))
    reach = int(45 / rate) + 2
    first = np.clip(counts - reach, 0, size)
    steps = np.arange(2 * reach + 1)
    weights = np.exp(-rate * np.abs(first[:, None] + steps - counts[:, None]))
    weights[first[:, None] + steps > size] = 0
    weights /= weights.sum(axis=1, keepdims=True)
    return BetaRows.of(weights, alpha + first, size + cells * alpha)


@pytest.mark.parametrize(
    ("cells", "size", "rate", "alpha", "seed"),
    [(40, 100_000, 0.5, 1.0, 11), (3, 50, 0.2, 0.5, 12), (5, 7, 1.0, 2.0, 13), (30, 10**9, 0.5, 1.0, 14)],
)
def test_batch_equals_one_mixture_after_the_other(cells: int, size: int, rate: float, alpha: float, seed: int) -> None:
    batch = MixtureBatch([noisy_cells(cells, size, rate, alpha, seed)])
    rows = [batch.row(place) for place in range(cells)]
    assert batch.mean == pytest.approx([row.mean for row in rows], rel=1e-13)
    for found, wanted in zip(batch.variances, zip(*(row.variances for row in rows), strict=True), strict=True):
        assert found == pytest.approx(wanted, rel=1e-6)
    assert batch.mean_log == pytest.approx([row.mean_log for row in rows], rel=1e-12)
    assert batch.median == pytest.approx([row.median for row in rows], rel=1e-11)
    for found, wanted in zip(batch.intervals(0.9), zip(*(row.interval(0.9) for row in rows), strict=True), strict=True):
        assert found == pytest.approx(wanted, rel=1e-11)
    at = np.clip(batch.mean * 1.01, 1e-9, 1 - 1e-9)
    each = [float(row.cdf(x)) for row, x in zip(rows, at, strict=True)]
    assert batch.cdf(at) == pytest.approx(each, rel=1e-11, abs=1e-11)
    densities = [float(row.log_density(x)) for row, x in zip(rows, at, strict=True)]
    assert batch.log_density(at) == pytest.approx(densities, abs=1e-4 if size > 10**6 else 1e-8)
    shares = [row.summary(0.9)[-1] for row in rows]
    assert batch.privacy_shares(0.9) == pytest.approx(shares, abs=1e-9)


def test_ends_of_a_thousand_intervals_have_their_probability_to_all_digits_in_few_steps() -> None:
    batch = MixtureBatch([noisy_cells(1000, 100_000, 0.5, 1.0, 1)])
    ends, steps = batch.logit_quantiles([0.05, 0.95])
    assert steps.max() <= 12
    for end, wanted in zip(expit(ends), (0.05, 0.95), strict=True):
        assert np.abs(batch.cdf(end) - wanted).max() <= 2e-15


def test_a_mixture_that_starts_at_its_root_ends_in_one_step() -> None:
    symmetric = BetaRows.of(np.array([[0.25, 0.5, 0.25]]), np.array([9.0]), 20.0)
    ends, steps = MixtureBatch([symmetric]).logit_quantiles([0.5])
    assert ends[0, 0] == 0
    assert steps[0, 0] == 1


def test_uniform_law_has_the_ends_of_a_uniform_law() -> None:
    low, high = MixtureBatch([BetaRows.of(np.ones((1, 1)), np.ones(1), 2.0)]).intervals(0.9)
    assert [low[0], high[0]] == pytest.approx([0.05, 0.95], abs=1e-15)


@pytest.mark.parametrize(
    ("weights", "start", "total"),
    [
        ([1.0], 0.3, 0.8),
        ([0.2, 0.3, 0.5], 1.0, 4.0),
        ([0.0, 0.0, 1.0], 1.0, 4.0),
        ([0.2, 0.3, 0.5, 0.0, 0.0], 1.0, 4.0),
        ([0.5, 0.5], 99.5, 101.0),
        ([1.0], 1e6, 1e6 + 0.5),
        ([1.0], 0.5, 1e6),
        ([0.3, 0.7], 5e5, 1e6),
    ],
)
@pytest.mark.parametrize("probability", [1e-3, 0.05, 0.5, 0.95, 1 - 1e-9])
def test_odd_mixtures_have_the_quantiles_that_their_own_cdf_says(
    weights: list[float], start: float, total: float, probability: float
) -> None:
    batch = MixtureBatch([BetaRows.of(np.array([weights]), np.array([start]), total)])
    (found,), _ = batch.logit_quantiles([probability])
    assert found[0] == pytest.approx(float(batch.row(0).logit_quantile(probability)), rel=1e-9, abs=1e-9)


def test_far_tails_keep_their_digits() -> None:
    part = noisy_cells(4, 200, 0.3, 1.0, 5)
    batch = MixtureBatch([part])
    low, high = expit(batch.logit_quantiles([1e-12, 1e-9])[0])
    for end, wanted in ((low, 1e-12), (high, 1e-9)):
        found = [float(batch.row(place).cdf(x)) for place, x in enumerate(end)]
        assert found == pytest.approx([wanted] * 4, rel=1e-9)


def test_parts_of_several_priors_add_up() -> None:
    one, two = noisy_cells(6, 300, 0.3, 1.0, 3), noisy_cells(6, 300, 0.3, 0.25, 3)
    both = MixtureBatch(
        [BetaRows(0.4 * one.weights, one.start, one.total), BetaRows(0.6 * two.weights, two.start, two.total)]
    )
    x = np.full(6, 0.11)
    assert both.cdf(x) == pytest.approx(0.4 * MixtureBatch([one]).cdf(x) + 0.6 * MixtureBatch([two]).cdf(x), rel=1e-13)
    ends = both.intervals(0.8)
    assert both.cdf(ends[0]) == pytest.approx(np.full(6, 0.1), abs=1e-14)
    assert both.cdf(ends[1]) == pytest.approx(np.full(6, 0.9), abs=1e-14)
    assert both.row(2).interval(0.8).low == pytest.approx(ends[0][2], rel=1e-11)


def test_turned_mixtures_mirror_their_quantiles() -> None:
    part = noisy_cells(5, 90, 0.4, 0.7, 9)
    (plain,), _ = MixtureBatch([part]).logit_quantiles([0.3])
    (mirrored,), _ = MixtureBatch([part.turned]).logit_quantiles([0.7])
    assert plain == pytest.approx(-mirrored, rel=1e-12)


def test_a_part_of_a_negligible_share_is_left_out() -> None:
    part = noisy_cells(3, 60, 0.4, 1.0, 2)
    faint = BetaRows(1e-16 * part.weights, part.start, part.total)
    assert len(MixtureBatch([part, faint]).parts) == 1


def test_widths_that_are_looked_up_are_those_that_are_searched_for() -> None:
    a = 0.5 + np.arange(20_000.0)
    total = np.full(len(a), 25_000.0)
    wanted = betaincinv(a, total - a, 0.95) - betaincinv(a, total - a, 0.05)
    assert np.abs(known_widths(a, total, 0.9) / wanted - 1).max() < 1e-9


def test_looking_up_widths_does_not_search_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.mathematics.distributions import _mixture_batch as module

    asked = 0
    search = betaincinv

    def counted(a: Floats, b: Floats, tail: float) -> Floats:
        nonlocal asked
        asked += np.size(a)
        return np.asarray(search(a, b, tail))

    monkeypatch.setattr(module, "betaincinv", counted)
    known_widths(1.0 + np.arange(100_000.0), np.full(100_000, 200_002.0), 0.9)
    assert asked < 5_000


def test_quantiles_of_large_tables_are_those_of_their_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.mathematics.distributions import _mixture_batch as module

    part = noisy_cells(50, 10_000, 0.5, 1.0, 4)
    whole = MixtureBatch([part]).logit_quantiles([0.05, 0.6])[0]
    monkeypatch.setattr(module, "_BLOCK", 7 * part.weights.shape[1])
    assert MixtureBatch([part]).logit_quantiles([0.05, 0.6])[0] == pytest.approx(whole, rel=1e-14)
    assert logit(MixtureBatch([part]).quantile(0.05)) == pytest.approx(whole[0], rel=1e-12)
