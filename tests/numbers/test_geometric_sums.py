"""GeometricSums costs what it declares: every pair of records is compared, the slow and obvious way."""

from fractions import Fraction
from itertools import product
from math import floor, log
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dc
from discreet.release import mechanism_document

GROUPS = dc.Column("g", ("a", "b"), outside="a")


def one_column(unit: int, asks: tuple[str, ...] = ("mean",)) -> dc.NumberSums:
    return dc.NumberSums("x", (0, 1), asks, missing=0, unit=unit)


def moves(unit: int) -> set[tuple[int, int]]:
    """Return how far places and squared distances from the middle move, for every pair of records."""
    places = [(a, floor(Fraction((2 * a - unit) ** 2, unit) + Fraction(1, 2))) for a in range(unit + 1)]
    return {(abs(a - c), abs(b - d)) for (a, b), (c, d) in product(places, repeat=2)}


@pytest.mark.parametrize("unit", [2, 4, 8, 64])
@pytest.mark.parametrize("share", ["1/1000", "1/10", "1/5", "1/2", "9/10"])
def test_the_largest_loss_of_all_pairs_of_records_is_the_declared_epsilon(unit: int, share: str) -> None:
    mechanism = dc.GeometricSums(one_column(unit), 5, "7/5", squares=share)
    first, second = mechanism.noise.rates
    assert max(2 * first * place + 2 * second * square for place, square in moves(unit)) == Fraction(7, 5)
    assert second / (first + second) == Fraction(share)
    assert mechanism.guarantee.epsilon == Fraction(7, 5)


@pytest.mark.parametrize("unit", [2, 4, 8, 64])
def test_listed_changes_are_above_those_of_all_pairs_of_records(unit: int) -> None:
    listed = [
        (int(change[0]), int(change[2])) for change in dc.GeometricSums(one_column(unit), 5, 1).quantities.changes()
    ]
    assert all(any(place <= p and square <= s for p, s in listed) for place, square in moves(unit))


@pytest.mark.parametrize(("asks", "gain"), [(("mean",), 1 / 0.8), (("variance",), 1 / 0.78125)])
def test_on_the_grid_of_real_records_the_gain_is_that_of_real_numbers(asks: tuple[str, ...], gain: float) -> None:
    """The largest (1 - s) d + 4 s d (1 - d) is .8 at s = 1/5 and d = 1, .78125 at s = 1/2 and d = 5/8."""
    model = one_column(2**16, asks)
    mechanism = dc.GeometricSums(model, 100, 1)
    assert mechanism.guarantee.epsilon == 1
    for part, share in zip(mechanism.parts, (1 - mechanism.squares, mechanism.squares), strict=True):
        assert float(part / share) == pytest.approx(gain, abs=1e-4)  # 1 if the two parts were to add up to epsilon


@pytest.mark.parametrize(
    "model", [dc.NumberSums("x", (0, 1), unit=4), dc.NumberSums("x", (0, 1), by=GROUPS, missing=0, unit=4)]
)
def test_between_groups_and_into_gaps_a_record_moves_wholly_and_costs_the_sum(model: dc.NumberSums) -> None:
    mechanism = dc.GeometricSums(model, 3, 1, squares="1/2")
    values = [0.0, 0.25, 0.5, 0.75, 1.0, *(["gap"] if model.leaves_gaps_out else [])]
    rows = [model.rehearse({"x": [value], "g": [group]}) for value in values for group in "ab"]
    rates = np.repeat([float(rate) for rate in mechanism.noise.rates], mechanism.noise.sizes)
    assert max(float(rates @ np.abs(one - two)) for one, two in product(rows, repeat=2)) == pytest.approx(1)
    assert mechanism.parts == (Fraction(1, 2), Fraction(1, 2))


def losses_of(rate: float, step: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the losses of one number with noise ~ e^(-rate |u|) that moves by `step`, listing the noise."""
    noise = np.arange(-int(40 / rate) - step, int(40 / rate) + step + 1)
    chances = np.exp(-rate * np.abs(noise))
    counted = np.bincount(np.abs(noise + step) - np.abs(noise) + step, chances / chances.sum())
    return rate * (np.arange(len(counted), dtype=float) - step), np.asarray(counted, dtype=float)


@pytest.mark.parametrize("share", ["1/10", "1/2"])
def test_the_stated_loss_and_rho_are_above_those_of_all_pairs_of_records(share: str) -> None:
    """With 64 steps several moves are put together; every pair's own law is listed here and compared."""
    mechanism = dc.GeometricSums(one_column(64), 5, 2, squares=share)
    rates, loss, rho = [2 * float(rate) for rate in mechanism.noise.rates], mechanism.privacy_loss(), mechanism.rho
    assert loss.epsilon == 2
    assert float(rho) <= 2 * np.tanh(1) + 1e-8
    for place, square in sorted(moves(64))[::7]:
        (one, p), (two, q) = losses_of(rates[0], place), losses_of(rates[1], square)
        both, chances = np.add.outer(one, two).ravel(), np.multiply.outer(p, q).ravel()
        for epsilon in (0.0, 0.3, 1.0, 1.7):
            true = float((chances * -np.expm1(np.minimum(0, epsilon - both))).sum())
            assert true <= loss.delta_at(epsilon) + 1e-12
        for order in (1.01, 2.0, 8.0):
            assert log(float(chances @ np.exp((order - 1) * both))) / (order - 1) / order <= float(rho) * (1 + 1e-9)


def test_a_document_states_its_version_and_its_share_of_squares() -> None:
    document = mechanism_document(dc.GeometricSums(one_column(2**16), 100, 1))
    assert (document["version"], document["squares"]) == (2, "0.2")


def test_a_fifth_is_the_largest_share_that_costs_the_places_nothing() -> None:
    model = one_column(2**16)
    assert dc.GeometricSums(model, 100, 1).parts == (Fraction(1), Fraction(1, 4))
    assert dc.GeometricSums(model, 100, 1, squares="21/100").parts[0] < 1


@pytest.mark.parametrize(
    ("facts", "parts", "words"),
    [
        ({}, ("17/20", "3/20"), "values get 85 % of epsilon, and their spread 15 %"),
        (
            {"missing": 0},
            ("1", "1/4"),
            "100 % of epsilon, and their spread 25 %, because no record can",
        ),
        (
            {"missing": 0, "asks": ("variance",)},
            ("16/25", "16/25"),
            "64 % of epsilon, and their spread 64 %, because",
        ),
    ],
)
def test_a_suggestion_says_what_values_and_their_spread_get(
    facts: dict[str, Any], parts: tuple[str, ...], words: str
) -> None:
    """Without gaps both get more than a whole together: each part is what a whole move costs in that kind alone."""
    found = dc.suggest(dc.NumberSums("x", (0, 100), **facts), 1000, 2)
    assert isinstance(found.mechanism, dc.GeometricSums)
    assert found.mechanism.parts == tuple(2 * Fraction(part) for part in parts)
    assert words in found.reason
