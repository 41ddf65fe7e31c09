"""Weighted draws in groups: means, errors and worth are those of the slow, obvious computations."""

import numpy as np
import pytest

from discreet.mathematics import Grouped, systematic


def test_single_draws_have_the_error_of_a_weighted_mean() -> None:
    generator = np.random.default_rng(31)
    weights = generator.exponential(size=500)
    weights /= weights.sum()
    values = generator.normal(size=(500, 2))
    grouped = Grouped(weights, 500)
    for column in range(2):
        mean = sum(w * v for w, v in zip(weights, values[:, column], strict=True))
        square = sum((w * (v - mean)) ** 2 for w, v in zip(weights, values[:, column], strict=True))
        assert grouped.mean(values)[column] == pytest.approx(mean)
        assert grouped.error(values)[column] == pytest.approx(np.sqrt(square * 500 / 499))


def test_groups_have_the_error_of_their_means() -> None:
    values = np.random.default_rng(32).normal(size=(8, 50)).cumsum(axis=1)
    grouped = Grouped.equal(400, 8)
    assert grouped.error(values.ravel()) == pytest.approx(values.mean(axis=1).std(ddof=1) / np.sqrt(8))


def test_the_stated_error_is_that_of_repeated_runs() -> None:
    """Chains of 16 groups with correlation .9, 200 runs: the spread of the means is what each run says, within 10 %."""
    generator = np.random.default_rng(33)
    means, errors, sizes = [], [], []
    for _ in range(200):
        steps = generator.normal(size=(16, 200))
        chains = np.empty_like(steps)
        chains[:, 0] = steps[:, 0]
        for t in range(1, 200):
            chains[:, t] = 0.9 * chains[:, t - 1] + np.sqrt(1 - 0.81) * steps[:, t]
        grouped = Grouped.equal(3200, 16)
        means.append(float(grouped.mean(chains.ravel())))
        errors.append(float(grouped.error(chains.ravel())))
        sizes.append(grouped.effective_size(chains.ravel()))
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.std(means), rel=0.1)
    assert np.median(sizes) == pytest.approx(3200 / 19, rel=0.15)  # (1 + .9) / (1 - .9) = 19 draws for one


def test_r_hat_tells_groups_that_differ_in_place_or_in_width() -> None:
    generator = np.random.default_rng(34)
    same = generator.normal(size=(16, 400))
    grouped = Grouped.equal(6400, 16)
    assert grouped.r_hat(same.reshape(-1, 1)) < 1.005
    assert grouped.r_hat((same + np.arange(16)[:, None] * 0.1).reshape(-1, 1)) > 1.05
    assert grouped.r_hat((same * np.where(np.arange(16) < 2, 6, 1)[:, None]).reshape(-1, 1)) > 1.05
    assert grouped.r_hat(np.ones((6400, 1))) == 1.0
    assert grouped.effective_size(np.ones((6400, 1))) == 6400
    assert grouped.bulk_size(np.ones((6400, 1))) == 6400


def test_a_group_of_which_no_draw_counts_agrees_with_none() -> None:
    weights = np.repeat([1 / 48, 0.0], [48, 16])  # the last of four groups has no weight
    assert Grouped(weights, 4).r_hat(np.random.default_rng(4).standard_normal((64, 2))) == np.inf


def test_worth_of_ranks_and_tails_of_independent_draws_is_their_number() -> None:
    grouped = Grouped.equal(5000, 5000)
    values = np.random.default_rng(35).standard_cauchy(size=(5000, 1))
    assert grouped.bulk_size(values) == pytest.approx(5000, rel=0.01)
    assert grouped.tail_size(values) == pytest.approx(5000, rel=0.01)


def test_systematic_places_come_as_often_as_weights_ask() -> None:
    generator = np.random.default_rng(36)
    weights = np.array([0.05, 0.4, 0.0, 0.55])
    places = systematic(weights, 100, generator)
    assert np.bincount(places, minlength=4).tolist() == [5, 40, 0, 55]
    counts = np.bincount(Grouped(weights, 4).chosen(1001, generator), minlength=4)
    assert np.abs(counts - 1001 * weights).max() <= 1
