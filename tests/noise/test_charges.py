"""What releases cost among others: losses and zCDP parameters against their digits, and against slow twins."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import exp, tanh

import numpy as np
import pytest

import discreet as dc
from discreet.networks import CubeCounts, FamilyHistograms, JointHistograms, Network
from discreet.privacy import PrivacyLoss, pure_rho, zcdp_epsilon
from discreet.regression import BoxMoments, LaplaceMoments

ORDERS = (1.0001, 1.01, 1.5, 2.0, 4.0, 16.0, 200.0)


def roots(*levels: int) -> Network:
    names = [f"v{place}" for place in range(len(levels))]
    sizes = {name: tuple(range(count)) for name, count in zip(names, levels, strict=True)}
    return Network.from_edges(*names, levels=sizes, outside=0)


def naive_bayes(features: int, levels: int = 2) -> Network:
    names = [f"q{place}" for place in range(features)]
    sizes = {"y": (0, 1)} | dict.fromkeys(names, tuple(range(levels)))
    return Network.naive_bayes("y", names, sizes, outside=0)


def largest_divergence(p: np.ndarray, q: np.ndarray) -> float:
    """Return the largest D_a / a over some orders, both ways, from two laws as they are."""
    used = (p > 0) & (q > 0)
    pairs = ((np.log(p[used]), np.log(q[used])), (np.log(q[used]), np.log(p[used])))
    return max(float(np.logaddexp.reduce(a * s + (1 - a) * t)) / (a - 1) / a for s, t in pairs for a in ORDERS)


@pytest.mark.parametrize(
    ("levels", "epsilon", "chance"),
    [
        ((2,), 1, 0.731058579),
        ((3,), 1, 0.524724415),
        ((4,), 1, 0.467285191),
        ((4, 4, 4), 1, 0.423312642),
        ((4,) * 16, 1, 0.412265966),
        ((4, 4, 4), "0.1", 0.311716799),
    ],
)
def test_a_shared_radius_loses_epsilon_with_its_digits(levels: tuple[int, ...], epsilon: object, chance: float) -> None:
    loss = JointHistograms(roots(*levels), 100, epsilon).privacy_loss()  # type: ignore[arg-type]
    by_value = dict(zip(loss.losses, loss.probabilities, strict=True))
    assert by_value[max(by_value)] == pytest.approx(chance, abs=6e-10)


@pytest.mark.parametrize(
    ("mechanism", "rho"),
    [
        (lambda: JointHistograms(roots(4), 100, 1), 0.295381),
        (lambda: JointHistograms(roots(4, 4, 4), 100, 1), 0.267585),
        (lambda: JointHistograms(roots(*(4,) * 16), 100, 1), 0.260602),
        (lambda: CubeCounts(naive_bayes(16), 100, 1, class_share="0.1"), 0.311547),
    ],
)
def test_zcdp_parameters_have_their_digits(mechanism: Callable[[], dc.Mechanism], rho: float) -> None:
    assert float(mechanism().rho) == pytest.approx(rho, abs=1.5e-6)


def test_inside_a_class_costs_more_than_across_and_the_law_is_their_envelope() -> None:
    mechanism = CubeCounts(naive_bayes(16), 100, 1, class_share="0.1")
    inside, across = mechanism.quantities.changes()
    costs = [float(mechanism.noise.privacy_loss(change).rho) for change in (inside, across)]
    assert costs == pytest.approx([0.311547, 0.186331], abs=1.5e-6)
    for epsilon in ("0", "0.2", "0.5", "0.89", "0.95"):
        stated = mechanism.privacy_loss().delta_at(epsilon)
        each = [mechanism.noise.privacy_loss(change).curve.delta_at(epsilon) for change in (inside, across)]
        assert max(each) <= stated <= max(each) * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("features", [1, 2, 5, 16, 40])
def test_the_class_share_makes_the_error_of_log_odds_least(features: int) -> None:
    """16 Var(class) + 64 d Var(count), with the variances of the noise itself, over shares of a fine grid."""

    def error(share: object) -> float:
        mechanism = CubeCounts(naive_bayes(features), 1000, "0.1", class_share=share)  # type: ignore[arg-type]
        found = mechanism.count_deviations()
        return float(16 * found["class_sd"] ** 2 + 64 * features * found["count_sd"] ** 2)

    rule = CubeCounts(naive_bayes(features), 1000, "0.1").class_share
    assert error(rule) <= 1.002 * min(error(rule * Fraction(step, 20)) for step in range(8, 50, 2) if rule * step < 20)
    assert error(rule) < 0.999 * min(error(rule * Fraction(2, 3)), error(min(rule * Fraction(3, 2), Fraction(3, 4))))


def test_five_atoms_of_a_cube_have_their_digits() -> None:
    loss = CubeCounts(roots(2, 2), 10, "0.9").privacy_loss()  # rate 0.45, two numbers that both move by 2
    chances = [chance for _, chance in sorted(zip(loss.losses, loss.probabilities, strict=True), reverse=True)]
    assert chances == pytest.approx([0.5567079, 0.0883194, 0.0723172, 0.0563149, 0.2263406], abs=6e-8)


def test_a_box_costs_what_one_laplace_number_costs() -> None:
    model = dc.LinearRegression("y", ["x", "z"], {"x": (0, 1), "z": (0, 1), "y": (0, 1)}, noise="0.2", missing="middle")
    for epsilon in (0.1, 1.0, 3.0):
        mechanism = BoxMoments(model, 1000, epsilon)
        assert float(mechanism.rho) == pytest.approx(epsilon - 1 + exp(-epsilon), rel=1e-5)
        for share in (0.0, 0.3, 0.9):
            exact = 1 - exp((share - 1) * epsilon / 2)
            assert exact <= mechanism.privacy_loss().delta_at(share * epsilon) <= exact * (1 + 1e-4)


def test_a_box_on_real_draws_loses_what_is_stated() -> None:
    """D = 5 numbers that all move by G, 100,000 draws: delta at 0, 0.25 and 0.7 within four standard errors."""
    generator = np.random.default_rng(8)
    radii = generator.standard_gamma(6, size=100_000)
    noise = radii[:, None] * generator.uniform(-1, 1, size=(100_000, 5))
    loss = np.abs(noise + 1).max(axis=1) - np.abs(noise).max(axis=1)
    for epsilon in (0.0, 0.25, 0.7):
        found = np.maximum(0, 1 - np.exp(epsilon - loss))
        assert found.mean() == pytest.approx(1 - exp((epsilon - 1) / 2), abs=4 * found.std() / 100_000**0.5)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 4.0, 30.0])
def test_no_pure_mechanism_costs_more_than_epsilon_tanh(epsilon: float) -> None:
    stated = float(pure_rho(Fraction(epsilon)))
    assert stated == pytest.approx(epsilon * tanh(epsilon / 2), rel=1e-8)
    truth = 1 / (1 + exp(-epsilon))
    responses = np.array([truth, 1 - truth]), np.array([1 - truth, truth])
    if epsilon < 20:
        assert 0.999 * stated <= largest_divergence(*responses) <= stated
    generator = np.random.default_rng(3)
    for _ in range(200):
        ratios = generator.choice([-epsilon, epsilon, 0.0, epsilon / 3], size=6)
        q = generator.dirichlet(np.ones(6))
        p = q * np.exp(ratios)
        if (np.abs(np.log(p / p.sum() / q)) <= epsilon).all():
            assert largest_divergence(p / p.sum(), q) <= stated * (1 + 1e-9)


def test_a_sharp_rho_is_the_supremum_over_orders_and_hardly_above() -> None:
    generator = np.random.default_rng(5)
    for _ in range(20):
        size, count = float(generator.uniform(0.01, 6)), int(generator.integers(2, 9))
        values = [Fraction(float(v)) for v in np.linspace(-size, size, count)]
        chances = generator.dirichlet(np.full(count, 0.3))
        loss = PrivacyLoss(tuple(values), tuple(chances.tolist()))
        orders = 1 + np.exp(np.linspace(-18, 12, 40_001))
        grown = np.logaddexp.reduce(
            np.log(chances) + (orders - 1)[:, None] * np.array([float(v) for v in values]), axis=1
        )
        true = max(float((grown / ((orders - 1) * orders))[orders > 1.001].max()), loss._mean_loss)
        if true > 1e-6:
            assert true * (1 - 1e-9) <= float(loss.sharp_rho) <= true * (1 + 1e-5)


def test_three_values_with_a_small_chance_are_worst_at_a_higher_order() -> None:
    loss = PrivacyLoss((Fraction(3), Fraction(0), Fraction(-3)), (1e-6, 1 - 1e-6 - 1e-6 * exp(-3), 1e-6 * exp(-3)))
    assert float(loss.sharp_rho) > 1000 * loss._mean_loss
    assert float(loss.sharp_rho) <= float(loss.rho) <= float(loss.sharp_rho) * (1 + 2e-4)


def joint_noise(epsilon: float, reach: int) -> tuple[np.ndarray, np.ndarray]:
    """Return both laws of two tables with two and three cells, and one unit moved in each, by listing all noise."""
    width = range(-reach, reach + 1)
    rows = [((a, -a), (b, c, -b - c)) for a, b, c in product(width, width, width) if abs(b + c) <= reach]
    one = np.array([max(sum(map(abs, part)) for part in row) / 2 for row in rows])
    two = np.array([
        max(abs(a[0] - 1) + abs(a[1] + 1), abs(b[0] - 1) + abs(b[1]) + abs(b[2] + 1)) / 2 for a, b in rows
    ])  # fmt: skip
    weights = np.exp(-epsilon * one), np.exp(-epsilon * two)
    return weights[0] / weights[0].sum(), weights[1] / weights[0].sum()


def test_the_joint_law_is_that_of_listed_noise() -> None:
    p, q = joint_noise(1.5, 18)
    mechanism = JointHistograms(roots(2, 3), 4, "1.5")
    for epsilon in (0.0, 0.4, 1.0, 1.4):
        listed = float(np.maximum(0, p - exp(epsilon) * q).sum())
        assert mechanism.privacy_loss().delta_at(epsilon) == pytest.approx(listed, abs=1e-8)
    kl = float((p * np.log(p / q)).sum())
    assert float(mechanism.rho) == pytest.approx(kl, rel=1e-5)


def test_families_cost_the_sum_of_their_tables() -> None:
    mechanism = FamilyHistograms(naive_bayes(3, 3), 50, 2)
    tables = [
        dc.GeometricHistogram(dc.Categories("x", tuple(range(6)), outside=0), 50, part)
        for part in mechanism.family_epsilons
    ]
    assert float(mechanism.rho) == pytest.approx(sum(float(table.rho) for table in tables), rel=2e-4)
    assert mechanism.rho < sum((part**2 for part in mechanism.family_epsilons), Fraction(0)) * Fraction(4, 10)


def test_two_hundred_joint_releases_cost_less_than_their_epsilons_say() -> None:
    """Epsilon 0.1 each at delta 1e-6: zCDP 7.77 by epsilon^2 / 2, 5.8 at most by their exact loss."""
    after = JointHistograms(roots(4, 4, 4), 100, "0.1").rho * 200
    assert float(zcdp_epsilon(200 * Fraction(1, 200), "1e-6")) == pytest.approx(7.766, abs=1e-3)
    assert float(zcdp_epsilon(after, "1e-6")) == pytest.approx(5.754, abs=1e-3)


def test_independent_laplace_moments_share_epsilon() -> None:
    model = dc.LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, noise="0.2", missing="middle")
    mechanism = LaplaceMoments(model, 100, 1)
    assert mechanism.rho == Fraction(1, 2 * mechanism.space.length)
