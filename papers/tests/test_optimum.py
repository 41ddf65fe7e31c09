"""The floor under all private mechanisms, and bounds of the papers' mechanism: digits, feasibility and slow twins."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import discreet as dc
from discreet.choices import HellingerCalibrated, PermuteAndFlip
from discreet.choices._hellinger_sensitivity import normaliser_bound
from discreet.choices._posterior_distances import Tables
from discreet_papers.exact_sums.accuracy import accuracy
from discreet_papers.optimum import Optimum, can_optimise, minimax_optimum, optimum
from discreet_papers.tail_bounds import (
    counted_tail_bound,
    least_normaliser,
    size_only_tail_bound,
    tail_bound_for_all_data,
    tail_probability,
)
from uncalibrated_hellinger import HellingerGlobal, HellingerReciprocal, HellingerSmooth


def model_of(*prior: float) -> dc.Categories:
    return dc.Categories("x", levels=tuple(range(len(prior))), prior=prior, outside=0)


COIN, DIE = model_of(1, 1), model_of(1, 1, 1)


@pytest.mark.parametrize(
    ("prior", "size", "epsilon", "expected"),
    [
        ((1, 1), 5, "1", 0.187714),
        ((1, 1), 10, "1", 0.174606),
        ((1, 1), 20, "1", 0.147664),
        ((1, 1), 30, "1", 0.129866),
        ((1, 1), 10, "0.5", 0.312393),
        ((7, 4), 10, "1", 0.121730),
        ((1, 1, 1), 10, "1", 0.350691),
    ],
)
def test_the_optimum_has_the_specified_digits(
    prior: tuple[float, ...], size: int, epsilon: str, expected: float
) -> None:
    found = optimum(model_of(*prior), size, epsilon)
    assert found.value == pytest.approx(expected, abs=1e-6)
    assert found.floor == pytest.approx(found.value, abs=1e-7)
    assert found.floor <= found.value


def test_the_minimax_optimum_has_the_specified_digits() -> None:
    found = minimax_optimum(COIN, 10, 1)
    assert found.value == pytest.approx(0.182669, abs=1e-6)
    assert found.floor == pytest.approx(found.value, abs=1e-7)
    assert optimum(COIN, 10, 1).value < found.value < 0.19647812053624  # the geometric's worst case


def violation(found: Optimum, epsilon: float, delta: float) -> float:
    """Return by how much the largest hockey-stick divergence of neighbours exceeds delta."""
    apart = np.abs(found.tables[:, None] - found.tables).sum(axis=2) == 2
    gaps = np.maximum(0.0, found.law[:, None] - np.exp(epsilon) * found.law[None]).sum(axis=2)
    return float(gaps[apart].max() - delta)


@pytest.mark.parametrize("solve", [optimum, minimax_optimum])
@pytest.mark.parametrize(("prior", "size"), [((1, 1), 7), ((2, 1), 6), ((1, 1, 1), 4), ((2, 1, 1), 3)])
@pytest.mark.parametrize("delta", ["0", "0.02"])
def test_the_optimal_law_is_a_private_mechanism(solve: Any, prior: tuple[float, ...], size: int, delta: str) -> None:
    found = solve(model_of(*prior), size, "0.8", delta)
    assert found.law.sum(axis=1) == pytest.approx(1, abs=1e-7)
    assert found.law.min() >= -1e-9
    assert violation(found, 0.8, float(delta)) <= 1e-6
    assert found.floor <= found.value + 1e-9
    assert found.floor == pytest.approx(found.value, abs=1e-6)


@pytest.mark.parametrize(("prior", "size"), [((1, 1), 6), ((1, 1, 1), 3), ((2, 1, 1), 2)])
@pytest.mark.parametrize("delta", [0.0, 0.03])
def test_symmetry_changes_nothing(prior: tuple[float, ...], size: int, delta: float) -> None:
    """The slow twin: one variable for every pair and every slack, dense, without classes."""
    model, growth = model_of(*prior), np.exp(1.0)
    tables = Tables(model.concentration, size)
    number, distances = len(tables.all), tables.distances(tables.all)
    apart = np.abs(tables.all[:, None] - tables.all).sum(axis=2) == 2
    pairs = list(zip(*np.nonzero(apart), strict=True))
    width = number**2 + len(pairs) * number
    rows, limits = [], []
    for place, ((k, other), r) in enumerate(product(pairs, range(number))):
        row = np.zeros(width)
        row[k * number + r], row[other * number + r], row[number**2 + place] = 1, -growth, -1
        rows.append(row)
        limits.append(0.0)
    for place in range(len(pairs)):
        row = np.zeros(width)
        row[number**2 + place * number : number**2 + (place + 1) * number] = 1
        rows.append(row)
        limits.append(delta)
    sums = np.zeros((number, width))
    for k in range(number):
        sums[k, k * number : (k + 1) * number] = 1
    costs = np.zeros(width)
    costs[: number**2] = (np.exp(model.log_evidence(tables.all))[:, None] * distances).ravel()
    twin = linprog(costs, A_ub=np.array(rows), b_ub=limits, A_eq=sums, b_eq=np.ones(number), method="highs")
    assert optimum(model, size, 1, delta).value == pytest.approx(twin.fun, abs=1e-8)


@pytest.mark.parametrize(
    "mechanism",
    [
        dc.GeometricHistogram(COIN, 12, 1),
        dc.GeometricHistogram(DIE, 5, 1),
        HellingerCalibrated(COIN, 12, 1),
        PermuteAndFlip(COIN, 12, 1),
        HellingerCalibrated(DIE, 5, 1),
    ],
    ids=lambda mechanism: f"{type(mechanism).__name__}-{len(mechanism.model.cells)}",
)
def test_no_mechanism_is_below_the_floor(mechanism: Any) -> None:
    found = accuracy(mechanism).remapped_hellinger
    assert found is not None
    assert found >= optimum(mechanism.model, mechanism.size, 1).floor


@pytest.mark.parametrize(("prior", "epsilon"), [((1, 1), "1"), ((7, 4), "1"), ((1, 1), "0.5"), ((0.5, 0.5), "2")])
def test_a_remapped_geometric_proportion_is_optimal(prior: tuple[float, ...], epsilon: str) -> None:
    model = model_of(*prior)
    found = accuracy(dc.GeometricHistogram(model, 10, epsilon)).remapped_hellinger
    assert found == pytest.approx(optimum(model, 10, epsilon).value, abs=1e-6)


def test_more_delta_and_more_epsilon_lower_the_floor() -> None:
    by_delta = [optimum(COIN, 10, 1, delta).floor for delta in ("0", "1e-3", "1e-2", "0.1")]
    by_epsilon = [optimum(COIN, 10, epsilon).floor for epsilon in ("0.1", "0.5", "1", "3")]
    assert by_delta == sorted(by_delta, reverse=True)
    assert by_epsilon == sorted(by_epsilon, reverse=True)
    assert optimum(COIN, 10, 1, "1e-8").value == pytest.approx(by_delta[0], abs=1e-6)


def test_large_programs_are_refused_with_words() -> None:
    assert can_optimise(COIN, 100)
    assert not can_optimise(COIN, 1000)
    assert not can_optimise(model_of(*[1] * 8), 2)
    with pytest.raises(dc.DeclarationError, match="have more"):
        optimum(COIN, 1000, 1)
    for epsilon, delta in (("0", "0"), ("1", "1"), ("x", "0")):
        with pytest.raises(dc.DeclarationError):
            optimum(COIN, 5, epsilon, delta)


SMOOTH = HellingerSmooth(COIN, 400, 1, "1e-8")


def test_the_corrected_tail_is_far_above_the_one_with_twice_the_exponent() -> None:
    """With 400 records, distance 0.5: the true tail is 1.05e-3, and below 1e-6 with the printed exponent epsilon/S."""
    table = np.array([200, 200])
    assert tail_probability(SMOOTH, table, 0.5) == pytest.approx(1.05e-3, abs=5e-6)
    distances = SMOOTH.tables.distances(table[None])[0]
    weights = np.exp(-2 * SMOOTH.scales(table[None])[0] * distances)
    assert weights[distances >= 0.5].sum() / weights.sum() < 1e-6


@pytest.mark.parametrize(
    "mechanism",
    [
        HellingerSmooth(COIN, 30, 1, "1e-8"),
        HellingerSmooth(DIE, 12, 2, "1e-3"),
        HellingerGlobal(model_of(0.5, 3), 20, 1),
        HellingerCalibrated(COIN, 20, 1),
    ],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_every_bound_is_above_the_exact_tail(mechanism: Any) -> None:
    for table in mechanism.tables.all[:: max(1, len(mechanism.tables.all) // 9)]:
        for distance in (0.0, 0.2, 0.5, 0.9):
            exact = tail_probability(mechanism, table, distance)
            counted = counted_tail_bound(mechanism, table, distance)
            assert exact <= min(1.0, counted) * (1 + 1e-9)
            assert counted <= size_only_tail_bound(mechanism, table, distance) * (1 + 1e-9)
            assert size_only_tail_bound(mechanism, table, distance) <= tail_bound_for_all_data(mechanism, distance) * (
                1 + 1e-9
            )


@pytest.mark.parametrize(
    ("gamma", "size", "cells", "expected"),
    [
        (0.0231910018784999068, 8, 2, 2.46214063550197518),
        (0.0208523788548366267, 100, 2, 2.48331311158024032),
        (None, 30, 3, 6.05974450941083515),
    ],
)
def test_the_normaliser_bound_has_the_golden_digits(
    gamma: float | None, size: int, cells: int, expected: float
) -> None:
    """At epsilon = 1 and delta = 1e-8, without the cap."""
    if gamma is None:
        gamma = float(HellingerSmooth(DIE, 30, 1, "1e-8").gamma().mid())
    assert normaliser_bound(1, gamma, size, cells) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("mechanism", [HellingerSmooth(COIN, 50, 1, "1e-8"), HellingerSmooth(DIE, 12, 1, "1e-8")])
def test_no_data_set_has_a_smaller_normaliser(mechanism: HellingerSmooth) -> None:
    least = np.exp(mechanism.log_normalisers(mechanism.tables.all)).min()
    assert least_normaliser(mechanism) <= least
    assert least / least_normaliser(mechanism) < 2.5


def test_bounds_refuse_what_they_do_not_hold_for() -> None:
    for made in (dc.choices.HellingerReciprocal, HellingerReciprocal):  # both versions have the one name
        with pytest.raises(dc.DeclarationError, match="not for HellingerReciprocal"):
            least_normaliser(made(COIN, 10, 1))
    with pytest.raises(dc.DeclarationError, match="is not one"):
        tail_probability(PermuteAndFlip(COIN, 10, 1), (5, 5), 0.5)
    for counts, distance in (((5, 6), 0.5), ((5, 5), 1.5), ((5, 5), float("nan"))):
        with pytest.raises(dc.DeclarationError):
            tail_probability(HellingerGlobal(COIN, 10, 1), counts, distance)
