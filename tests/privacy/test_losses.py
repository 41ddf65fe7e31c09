"""Losses put together: sums of independent ones, envelopes, and the digits of the specified laws."""

from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest
from flint import arb

from discreet.noise import Cube, Gaussian, Laplace, SharedRadiusLaplace
from discreet.privacy import Atoms, PrivacyLoss, added, atoms_of, concentrated_loss, envelope, zcdp_epsilon
from discreet.privacy._loss import sums_by_products, sums_one_by_one


def two_points(size: str, chance: float) -> Atoms:
    return [(Fraction(size), arb(chance)), (-Fraction(size), arb(1 - chance))]


def test_losses_of_independent_parts_add_as_by_hand() -> None:
    parts = [(two_points("1/3", 0.7), 2), (two_points("1/2", 0.6), 1)]
    found = added(parts)
    by_hand: dict[Fraction, float] = {}
    singles = [parts[0][0], parts[0][0], parts[1][0]]
    for each in product(*singles):
        total, chance = sum(value for value, _ in each), float(np.prod([float(p) for _, p in each]))
        by_hand[Fraction(total)] = by_hand.get(Fraction(total), 0.0) + chance
    assert dict(zip(found.losses, found.probabilities, strict=True)) == pytest.approx(by_hand, rel=1e-14)
    assert list(found.losses) == sorted(found.losses)


def test_few_sums_one_by_one_are_those_of_products() -> None:
    parts = [([(0, arb(0.7)), (40_001, arb(0.3))], 3), ([(0, arb(0.2)), (7, arb(0.5)), (14, arb(0.3))], 2)]
    listed, multiplied = sums_one_by_one(parts), sums_by_products(parts)
    assert listed.keys() == multiplied.keys()
    assert all(listed[place].overlaps(multiplied[place]) for place in listed)
    assert [float(listed[place]) for place in listed] == pytest.approx([float(multiplied[place]) for place in listed])


def test_a_sum_of_too_many_values_is_rounded_up_and_keeps_its_largest() -> None:
    wide = [(Fraction(1), arb(0.5)), (Fraction(1, 10**7), arb(0.3)), (Fraction(-1), arb(0.2))]
    coarse = added([(wide, 2)])
    assert coarse.epsilon == 2
    exact = {a + b: 0.0 for (a, _), (b, _) in product(wide, wide)}
    for (a, p), (b, q) in product(wide, wide):
        exact[a + b] += float(p) * float(q)
    fine = PrivacyLoss(tuple(exact), tuple(exact.values()))
    for epsilon in (0, "0.1", "0.5", "1", "1.9"):
        assert fine.delta_at(epsilon) <= coarse.delta_at(epsilon) <= fine.delta_at(epsilon) + 1e-4


def test_the_envelope_lies_above_all_and_is_one_of_them_if_that_is_largest() -> None:
    strong, weak = PrivacyLoss.worst_case(Fraction(2)), PrivacyLoss.worst_case(Fraction(1))
    assert envelope([weak, strong, weak]) == strong
    rare = PrivacyLoss((Fraction(3), Fraction(0), Fraction(-3)), (0.1, 0.9 - 0.1 * exp(-3), 0.1 * exp(-3)))
    joined = envelope([weak, rare])
    for epsilon in np.linspace(-4, 4, 41):
        highest = max(weak.delta_at(float(epsilon)), rare.delta_at(float(epsilon)))
        assert highest <= joined.delta_at(float(epsilon)) * (1 + 1e-12) <= highest + 0.002


@pytest.mark.parametrize(
    ("epsilon", "tables", "chance"),
    [
        ("1", (2,), 0.731058579),
        ("1", (3,), 0.524724415),
        ("1", (4,), 0.467285191),
        ("1", (4, 4, 4), 0.423312642),
        ("1", (4,) * 16, 0.412265966),
        ("0.1", (4, 4, 4), 0.311716799),
    ],
)
def test_the_three_values_of_a_shared_radius_have_the_specified_digits(
    epsilon: str, tables: tuple[int, ...], chance: float
) -> None:
    change = np.concatenate([[1, *(0,) * (cells - 2), -1] for cells in tables])
    loss = SharedRadiusLaplace(Fraction(epsilon), tables).privacy_loss(change).curve
    assert loss.epsilon == Fraction(epsilon)
    found = dict(zip(loss.losses, loss.probabilities, strict=True))
    assert found[Fraction(epsilon)] == pytest.approx(chance, abs=1e-9)
    assert found[-Fraction(epsilon)] == pytest.approx(chance * exp(-float(epsilon)), abs=1e-9)


def test_fewer_tables_that_move_are_less_of_a_loss() -> None:
    law = SharedRadiusLaplace(Fraction(1), (3, 4, 2))
    moves = [(1, 0, 0), (1, 1, 0), (1, 1, 1)]
    units = [np.array([1, -1, 0]), np.array([1, 0, 0, -1]), np.array([1, -1])]
    changes = [np.concatenate([move * unit for move, unit in zip(each, units, strict=True)]) for each in moves]
    few, more, most = (law.privacy_loss(change).curve for change in changes)
    for epsilon in (0, "0.3", "0.9"):
        assert few.delta_at(epsilon) < more.delta_at(epsilon) < most.delta_at(epsilon)


def test_the_five_values_of_a_cube_have_the_specified_digits() -> None:
    loss = Cube((Fraction(45, 100),), (2,)).privacy_loss((2, 2)).curve
    pairs = sorted(zip(loss.losses, loss.probabilities, strict=True), reverse=True)
    assert [float(value) for value, _ in pairs] == pytest.approx([0.9, 0.45, 0, -0.45, -0.9])
    expected = [0.5567079, 0.0883194, 0.0723172, 0.0563149, 0.2263406]
    assert [chance for _, chance in pairs] == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("cells", [1, 5, 40])
def test_a_cube_that_moves_far_has_the_loss_of_laplace_noise_whatever_its_dimension(cells: int) -> None:
    step = 2**31
    loss = Cube((Fraction(1, step),), (cells,)).privacy_loss((step,) * cells).curve
    assert loss.epsilon == 1
    for epsilon in (0.0, 0.25, 0.5, 0.9):
        assert loss.delta_at(epsilon) == pytest.approx(1 - exp((epsilon - 1) / 2), abs=2e-6)
        assert loss.delta_at(epsilon) >= 1 - exp((epsilon - 1) / 2) - 1e-9


def test_a_laplace_number_that_moves_far_is_rounded_up_and_hardly() -> None:
    step = 10**6
    loss = Laplace((Fraction(1, step),), (1,)).privacy_loss((step,)).curve
    assert loss.epsilon == 1
    for epsilon in (0.0, 0.5, 0.9):
        assert 0 <= loss.delta_at(epsilon) - (1 - exp((epsilon - 1) / 2)) < 1e-3


def test_the_curve_of_a_zcdp_parameter_is_what_it_proves() -> None:
    loss = concentrated_loss(Fraction(1, 10))
    for epsilon in (Fraction(1, 2), Fraction(3, 2), Fraction(5, 2)):
        stated = loss.delta_at(epsilon)
        assert zcdp_epsilon("1/10", Fraction(stated) * Fraction(9, 10)) > epsilon
        assert zcdp_epsilon("1/10", Fraction(stated) * Fraction(101, 100)) <= epsilon


def test_losses_come_back_from_their_values() -> None:
    loss = Gaussian((Fraction(3),), (2,)).privacy_loss((1, -1)).curve
    assert [float(chance) for _, chance in atoms_of(loss)] == list(loss.probabilities)
