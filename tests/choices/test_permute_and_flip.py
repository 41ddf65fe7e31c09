"""Permute-and-flip: its closed law against all orders of the candidates, its calibration, and its exact coins."""

from fractions import Fraction
from itertools import permutations, product
from math import exp, expm1, lgamma, log, sqrt

import numpy as np
import pytest
from flint import arb, arb_poly, ctx

import discreet as dc
from discreet.choices import PermuteAndFlip
from discreet.choices._permute_and_flip import flip_log_prob, flip_points
from discreet.inference import Problem, why_unreadable
from discreet.noise.randomness._samplers import SeededBits
from discreet.release import mechanism_document, read_mechanism
from discreet.tables._enumeration import EnumerationSolver
from uncalibrated_hellinger import HellingerGlobal

COIN = dc.Categories("coin", levels=("heads", "tails"), outside="heads")
THREE = dc.Categories("x", levels=("a", "b", "c"), prior=(1, 2, 0.5), outside="a")


def law_of_all_orders(mechanism: PermuteAndFlip, table: tuple[int, ...]) -> dict[object, float]:
    """Go through the candidates in every order, with distances and sensitivity from Gamma functions alone."""
    alpha, size = mechanism.model.concentration, mechanism.size
    tables = [row for row in product(range(size + 1), repeat=len(alpha)) if sum(row) == size]

    def distance(one: tuple[int, ...], two: tuple[int, ...]) -> float:
        parts = zip(alpha, one, two, strict=True)
        logs = sum(lgamma(a + (i + j) / 2) - (lgamma(a + i) + lgamma(a + j)) / 2 for a, i, j in parts)
        return float(sqrt(max(0.0, -expm1(logs))))

    near = [(x, y) for x in tables for y in tables if sum(abs(i - j) for i, j in zip(x, y, strict=True)) == 2]
    scale = float(mechanism.strength().mid()) / max(distance(x, y) for x, y in near)
    chances = {row: exp(-scale * distance(table, row)) for row in tables}
    law, orders = dict.fromkeys(tables, 0.0), list(permutations(tables))
    for order in orders:
        left = 1.0
        for row in order:
            law[row] += left * chances[row] / len(orders)
            left *= 1 - chances[row]
    return law  # type: ignore[return-value]


@pytest.mark.parametrize("scale", [None, "1.25"])
def test_the_law_is_that_of_all_orders(scale: str | None) -> None:
    mechanism = PermuteAndFlip(COIN, 5, "2.5", scale)
    law = law_of_all_orders(mechanism, (2, 3))
    rows = np.array(list(law))
    assert np.exp(mechanism.log_prob(rows, np.array([2, 3]))) == pytest.approx(list(law.values()), rel=1e-12)


@pytest.mark.parametrize(("model", "size", "epsilon"), [(COIN, 4, "1"), (COIN, 5, "0.2"), (THREE, 2, "3")])
def test_the_scale_is_the_largest_that_keeps_epsilon(model: dc.Categories, size: int, epsilon: str) -> None:
    """All orders of all candidates for all data sets; the largest |ln P/Q| is epsilon to six digits, never above."""
    mechanism = PermuteAndFlip(model, size, epsilon)
    laws = {tuple(row): law_of_all_orders(mechanism, tuple(row)) for row in mechanism.tables.all.tolist()}
    near = [(x, y) for x in laws for y in laws if sum(abs(i - j) for i, j in zip(x, y, strict=True)) == 2]
    found = max(abs(log(laws[x][r] / laws[y][r])) for x, y in near for r in laws)
    assert (1 - 1e-5) * float(epsilon) < found <= float(epsilon)
    with pytest.raises(dc.DeclarationError, match="does not give epsilon"):
        PermuteAndFlip(model, size, epsilon, mechanism.scale * Fraction(100_002, 100_000))


def balls_of_log_law(mechanism: PermuteAndFlip, table: tuple[int, ...], rows: list[list[int]]) -> list[arb]:
    """Return enclosures of ln P(r | table): the integral of a product of polynomials, all in balls of 1,000 bits."""
    alpha = [arb(float(value)) for value in mechanism.model.concentration]

    def distance(one: tuple[int, ...] | list[int], two: tuple[int, ...] | list[int]) -> arb:
        parts = [(a + i, a + j) for a, i, j in zip(alpha, one, two, strict=True)]
        logs = sum((((a + b) / 2).lgamma() - (a.lgamma() + b.lgamma()) / 2 for a, b in parts), arb(0))
        return arb(0) if list(one) == list(two) else (-logs.expm1()).sqrt()

    corner = [mechanism.size, *[0] * (len(alpha) - 1)]  # equal priors: the largest step is into an empty cell
    step = [mechanism.size - 1, 1, *[0] * (len(alpha) - 2)]
    scale = arb(mechanism.scale.numerator) / mechanism.scale.denominator / distance(corner, step)
    chances = [(-scale * distance(table, row)).exp() for row in rows]
    found = []
    for place, chance in enumerate(chances):
        product_of_misses = arb_poly([1])
        for other in (*chances[:place], *chances[place + 1 :]):
            product_of_misses *= arb_poly([1, -other])
        found.append((chance * product_of_misses.integral()(arb(1))).log())
    return found


@pytest.mark.parametrize(("size", "epsilon"), [(40, "20"), (60, "1"), (12, "300")])
def test_what_floats_do_to_the_law_is_within_its_bound(size: int, epsilon: str) -> None:
    """The loss of every pair is off by some units, and by no more than what is added to it before it is promised."""
    mechanism = PermuteAndFlip(COIN, size, epsilon)
    found = mechanism.compared(mechanism.scale)
    worst, rows = int(found.losses.argmax()), mechanism.tables.all.tolist()
    first, second = (tuple(each[worst].tolist()) for each in (found.first, found.second))
    with ctx.workprec(1000):
        one, two = (balls_of_log_law(mechanism, table, rows) for table in (first, second))
        balls = [p - q for p, q in zip(one, two, strict=True)]
        floats = mechanism.log_probs_of(np.array(first)) - mechanism.log_probs_of(np.array(second))
        errors = [abs(arb(float(loss)) - ball) for loss, ball in zip(floats, balls, strict=True)]
        assert any(error > 0 for error in errors)
        assert all(error < found.error for error in errors)
        assert all(abs(ball) < float(mechanism.epsilon) for ball in balls)
    assert found.epsilon >= float(found.losses.max()) + found.error
    assert found.error < 1e-9 * float(mechanism.epsilon)  # and it costs next to nothing


@pytest.mark.parametrize(("size", "gain"), [(10, 1.2638), (50, 1.5683), (100, 1.7061)])
def test_what_calibration_gains_over_the_proof(size: int, gain: float) -> None:
    mechanism = PermuteAndFlip(COIN, size, 1)
    assert float(mechanism.scale) * 2 == pytest.approx(gain, abs=5e-4)
    assert mechanism.guarantee.evidence is dc.privacy.Evidence.ENUMERATED
    assert float(mechanism.rho) < 0.25  # any pure epsilon = 1 could cost .4621


def test_beyond_comparison_the_scale_is_that_of_the_proof() -> None:
    mechanism = PermuteAndFlip(COIN, 700, 1)
    assert mechanism.scale == Fraction(1, 2)
    assert mechanism.guarantee.evidence is dc.privacy.Evidence.PROVED
    assert "about half of epsilon may be unused" in mechanism.guarantee.reason
    with pytest.raises(dc.DeclarationError, match="does not give epsilon"):
        PermuteAndFlip(COIN, 700, 1, "0.6")


def test_a_document_keeps_its_scale() -> None:
    for scale in (None, "0.5"):
        mechanism = PermuteAndFlip(COIN, 10, 1, scale)
        assert read_mechanism(mechanism_document(mechanism)) == mechanism
        assert mechanism.scale == Fraction(scale or "0.631939")


@pytest.mark.parametrize(("size", "wanted"), [(10, 0.3923), (50, 0.5975), (100, 0.6791)])
def test_it_is_a_little_better_than_the_exponential_mechanism(size: int, wanted: float) -> None:
    table = np.array([size // 2, size // 2])
    errors = []
    for mechanism in (PermuteAndFlip(COIN, size, 1, "0.5"), HellingerGlobal(COIN, size, 1)):
        law = np.exp(mechanism.log_prob(mechanism.tables.all, table))
        errors.append(float(law @ mechanism.tables.distances(table[None])[0]))
    assert errors[0] == pytest.approx(wanted, abs=6e-5)
    assert errors[0] < errors[1]


def test_a_large_table_sums_to_one() -> None:
    mechanism = PermuteAndFlip(COIN, 900, 1)
    assert np.exp(mechanism.log_probs_of(np.array([450, 450]))).sum() == pytest.approx(1, abs=1e-11)


def test_too_many_candidates_are_refused() -> None:
    with pytest.raises(dc.DeclarationError, match="at most 2000"):
        PermuteAndFlip(COIN, 2_000, 1)


def test_a_coin_that_its_first_bits_leave_open_is_decided() -> None:
    mechanism, table = PermuteAndFlip(COIN, 5, 1, "0.5"), np.array([2, 3])
    lower, _ = mechanism._bounds(table, 63)
    outcomes = {mechanism._refined(table, 0, int(lower[0]), 63, SeededBits(seed)) for seed in range(12)}
    assert outcomes == {True, False}
    assert mechanism._refined(table, 0, int(lower[0]) - 1, 63, SeededBits(1))
    assert not mechanism._refined(table, 0, int(lower[0]) + 1, 63, SeededBits(1))


def test_few_points_give_the_integrals_of_many_candidates_to_all_digits() -> None:
    chances = np.sort(np.random.default_rng(11).random(300) ** 3)[::-1]
    chances[0] = 1.0
    nodes, weights = np.polynomial.legendre.leggauss(len(chances) // 2 + 1)
    misses = 1 - (nodes[:, None] + 1) / 2 * chances
    whole = np.log(chances) + np.log((weights / 2 * misses.prod(axis=1)) @ (1 / misses))
    assert flip_points(len(chances)) < len(nodes)
    np.testing.assert_allclose(flip_log_prob(np.log(chances)), whole, atol=1e-12)
    some = np.array([0, 7, 299])
    np.testing.assert_array_equal(flip_log_prob(np.log(chances), some), flip_log_prob(np.log(chances))[some])
    assert np.exp(flip_log_prob(np.zeros(1_500))).sum() == pytest.approx(1, abs=1e-11)


def test_all_that_can_be_ordered_can_be_read_alone_and_what_is_read_together_is_counted() -> None:
    wide = PermuteAndFlip(dc.Categories("x", levels=("a", "b", "c"), outside="a"), 60, 1)
    assert why_unreadable(wide) is None
    one = Problem.before(wide)
    many = Problem(wide.model, wide.size, one.observed * 9)
    assert EnumerationSolver().cost(many).rejection is not None
