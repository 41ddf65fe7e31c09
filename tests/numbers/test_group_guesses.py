"""Guesses of the means of groups: drawn towards each other as far as noise goes, and never out of their intervals."""

import numpy as np
import pytest

import discreet as dc
from discreet._core.arrays import Floats
from discreet.numbers import GeometricSums, NumberSums, NumberSumsPosterior

SIZES = np.array([600, 250, 100, 30, 12, 8])
CENTRES = np.array([30.0, 34.0, 28.0, 31.0, 36.0, 29.0])
COLUMN = dc.Column("group", tuple(range(6)), outside=0)
MODEL = NumberSums("x", (0, 100), by=COLUMN)


def solved(centres: Floats, epsilon: str, seed: int) -> tuple[NumberSumsPosterior, Floats]:
    group = np.repeat(np.arange(6), SIZES)
    sums = MODEL.rehearse({"x": centres[group], "group": group})
    release = dc.simulate(GeometricSums(MODEL, int(SIZES.sum()), epsilon), sums, dc.SeededBits(seed))
    posterior = dc.infer(release)
    return posterior, np.array([row.mean for row in posterior.rows()[::2]])


def test_groups_that_are_alike_are_guessed_better_than_from_their_own_ends() -> None:
    ours, own = [], []
    for seed in range(40):
        posterior, points = solved(CENTRES, "0.5", seed)
        alone = [
            100 * posterior.solution.record_mean(index, posterior.solution.quantiles(0.9)).point for index in range(6)
        ]
        ours.append(points - CENTRES)
        own.append(np.array(alone) - CENTRES)
    assert np.mean(np.square(ours)) < 0.5 * np.mean(np.square(own))


def test_a_group_that_is_unlike_all_others_is_moved_by_one_deviation_of_its_noise_at_most() -> None:
    centres = np.where(np.arange(6) == 2, 95.0, 30.0)
    for seed in range(10):
        posterior, points = solved(centres, "2", seed)
        solution = posterior.solution
        first, second = solution.first[2]
        position = solution.first[:, 0].sum() / solution.first.sum()
        deviation = 100 * np.std(solution.noise.at(position)) / (first + second)
        assert abs(points[2] - 100 * first / (first + second)) <= deviation * 1.0001


def test_where_noise_is_small_guesses_are_the_published_ratios() -> None:
    posterior, points = solved(CENTRES, "900", 3)
    first = posterior.solution.first
    assert points == pytest.approx(100 * first[:, 0] / first.sum(axis=1), abs=0.02)


def test_guesses_lie_in_their_intervals_which_are_as_before() -> None:
    for seed in range(20):
        posterior, _ = solved(CENTRES, "0.1", seed)
        solution = posterior.solution
        for row in posterior.rows():
            assert row.low <= row.mean <= row.high
        own = [solution.record_mean(index, solution.quantiles(0.9)) for index in range(6)]
        assert [(row.low, row.high) for row in posterior.rows()[::2]] == pytest.approx(
            [(100 * each.low, 100 * each.high) for each in own]
        )
