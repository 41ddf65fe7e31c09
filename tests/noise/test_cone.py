"""Cone noise: the body holds every record, the theorem holds by integration, and the sampler draws the stated law."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray
from scipy.stats import chisquare, ks_2samp

import discreet as dc
from cone_twin import density, laplace_by_integration
from discreet.noise import Cone, MomentBody, simulated_noise
from discreet.noise._moment_body import LazyMatrix, is_positive
from discreet.noise.randomness._lazy import LazyUniforms, decided, rounded

Floats = NDArray[np.float64]
GRID = 2**15


def usual(coordinates: int, epsilon: Fraction = Fraction(1), unit: int = GRID**2) -> Cone:
    """Return noise on the whole upper triangle of vv', v = (1, u, y): sigma unknown, only numbers."""
    places = [(i, j) for i in range(coordinates) for j in range(i + 1) if i]
    terms = tuple(((i, j, Fraction(unit)),) for i, j in places)
    return Cone(epsilon, MomentBody((True, *[False] * (coordinates - 1))), terms)


# The body


@pytest.mark.parametrize("coordinates", [2, 3, 5, 7])
def test_the_body_holds_the_products_of_every_record(coordinates: int) -> None:
    generator = np.random.default_rng(coordinates)
    wholes = [generator.integers(-9, 10, coordinates), *generator.choice([-9, 9], (5, coordinates))]
    for v in [*wholes, *generator.integers(-9, 10, (20, coordinates))]:
        matrix = [[int(a) * int(b) for b in v] for a in v]
        assert MomentBody((False,) * coordinates).holds(matrix, 81)
        signed = [9 if v[0] >= 0 else -9, *v[1:]]
        matrix = [[int(a) * int(b) for b in signed] for a in signed]
        assert MomentBody((True, *[False] * (coordinates - 1))).holds(matrix, 81)


@pytest.mark.parametrize("coordinates", [2, 3, 5])
def test_the_hull_with_0_holds_every_record_none_and_means_of_both(coordinates: int) -> None:
    generator = np.random.default_rng(coordinates)
    body = MomentBody((True, *[False] * (coordinates - 1)), holds_zero=True)
    zero = np.zeros((coordinates, coordinates), dtype=int)
    assert body.holds(zero.tolist(), 81)
    for _ in range(20):
        v = np.append(9, generator.integers(-9, 10, coordinates - 1))
        for part in (1, 2, 3):
            assert body.holds((part * np.outer(v, v)).tolist(), 3 * 81)
        above = 2 * np.outer(v, v)
        assert not body.holds(above.tolist(), 81)
        above[0, 0] = 81  # half as many records as the other sums say
        assert not body.holds(above.tolist(), 3 * 81) or not v[1:].any()
    assert not body.holds((zero - np.eye(coordinates, dtype=int)).tolist(), 81)
    assert not body.holds((zero + np.diag([0] * (coordinates - 1) + [1])).tolist(), 81)


def test_the_body_refuses_what_no_record_has() -> None:
    body = MomentBody((True, False, False))
    assert not body.holds([[9, 3, 0], [3, 0, 0], [0, 0, 0]], 9)  # x = 1/3, x^2 rounded to 0: not positive
    assert not body.holds([[9, 0, 0], [0, 10, 0], [0, 0, 0]], 9)  # beyond the bound
    assert not body.holds([[9, -4, -4], [-4, 9, -4], [-4, -4, 9]], 9)  # positive, but 1 + a + b + c < 0
    assert is_positive([[Fraction(9), Fraction(-4), Fraction(-4)], [Fraction(-4), Fraction(9), Fraction(-4)],
                        [Fraction(-4), Fraction(-4), Fraction(9)]])  # fmt: skip


def test_the_exact_sign_of_a_matrix_is_that_of_its_eigenvalues() -> None:
    generator = np.random.default_rng(5)
    for _ in range(60):
        half = generator.integers(-3, 4, (4, generator.integers(1, 5)))
        matrix = half @ half.T - generator.integers(0, 2) * np.diag(generator.integers(0, 3, 4))
        exact = is_positive([[Fraction(int(entry)) for entry in row] for row in matrix])
        assert exact == (np.linalg.eigvalsh(matrix).min() > -1e-9)


@pytest.mark.parametrize(("coordinates", "pins"), [(5, (14.748, 12.772, 8.078)), (16, (88.09, 83.32, 36.36))])
def test_standard_deviations_before_the_cuts_are_those_of_the_formulas(
    coordinates: int, pins: tuple[float, float, float]
) -> None:
    """With k = 2 (2D+1)(2D+2)/eps^2; k/(m+3), k (m+1)/(m+3)^2, k ((m+1)/(m+5) - ((m+1)/(m+3))^2)."""
    body = MomentBody((True, *[False] * (coordinates - 1)))
    m, d = coordinates, body.dimension
    k = 2 * (2 * d + 1) * (2 * d + 2)
    variances = (k / (m + 3), k * (m + 1) / (m + 3) ** 2, k * ((m + 1) / (m + 5) - ((m + 1) / (m + 3)) ** 2))
    assert np.sqrt(variances) == pytest.approx(pins, rel=5e-4)
    generator = np.random.default_rng(1)
    drawn = body.from_normals(generator.standard_normal((8000, body.normals)))
    first, products = drawn[:, 0, 1:], drawn[:, 1:, 1:][:, *np.triu_indices(m - 1, 1)]
    squares = np.diagonal(drawn, axis1=1, axis2=2)[:, 1:]
    for values, variance in zip((first, products, squares), variances, strict=True):
        assert values.var(axis=0).mean() * k == pytest.approx(variance, rel=0.05)
        assert values.mean(axis=0) == pytest.approx(0 if values is not squares else (m + 1) / (m + 3), abs=0.02)


def test_the_exact_matrices_are_uniform_correlations_with_the_stated_diagonal() -> None:
    """Before the cuts: a_ii = V^(2/(m+1)), and a correlation of m = 2 is uniform on [-1, 1]."""
    body, bits = MomentBody((True, False)), dc.SeededBits(3)
    drawn = []
    for _ in range(1500):
        matrix = LazyMatrix(body, LazyUniforms(body.normals, bits))
        rows = decided(matrix.enclosed, [matrix.uniforms])
        drawn.append([float(rows[1][0].mid()), float(rows[1][1].mid())])
    product_, square = np.array(drawn).T
    for uniform in (square**1.5, (product_ / np.sqrt(square) + 1) / 2):
        assert chisquare(np.histogram(uniform, 20, (0, 1))[0]).pvalue > 1e-4


# The theorem, by integration


def test_in_one_dimension_it_is_laplace_noise() -> None:
    u = np.linspace(-8, 8, 33)
    assert laplace_by_integration(u, 1.3) == pytest.approx(0.325 * np.exp(-0.65 * np.abs(u)), rel=2e-3)


def largest_loss(pairs: list[tuple[Floats, Floats]], points: Floats) -> float:
    """Return the largest |ln f(u - t' + t) - ln f(u)| at epsilon 1 over pairs of statistics and points u."""
    own = np.log(density(points[:, 0], points[:, 1], 1.0))
    moved = [points - (second - first) for first, second in pairs]
    return max(float(np.abs(np.log(density(to[:, 0], to[:, 1], 1.0)) - own).max()) for to in moved)


def test_no_two_records_cost_more_than_epsilon_in_two_dimensions() -> None:
    generator = np.random.default_rng(2)
    corners = [np.array([x * x, x * y], dtype=float) for x, y in product((-1, 0, 1), repeat=2)]
    inside = [np.array([x * x, x * y]) for x, y in generator.uniform(-1, 1, (6, 2))]
    pairs = list(combinations([*corners[::2], *inside], 2))
    points = np.concatenate([generator.uniform(-5, 5, (40, 2)), generator.uniform(-15, 15, (10, 2))])
    found = largest_loss(pairs, points)
    assert 0.95 < found <= 1 + 1e-6


def test_a_record_outside_the_body_costs_more_than_epsilon() -> None:
    """On a grid of thirds x = 1/3 has the square 1/9, rounded to 0: (0, 1/3) is outside, and the promise breaks."""
    points = np.stack(np.meshgrid(np.linspace(-9, 9, 13), np.linspace(-9, 9, 13)), axis=-1).reshape(-1, 2)
    outside, other = np.array([0.0, 1 / 3]), np.array([1.0, -1.0])
    assert largest_loss([(np.array([1 / 9, 1 / 3]), other)], points) <= 1 + 1e-6
    assert largest_loss([(outside, other)], points) > 1.02


# The sampler


def test_bits_are_extended_and_never_drawn_anew() -> None:
    uniforms = LazyUniforms(3, dc.SeededBits(1))
    before = uniforms.enclosed()
    uniforms.extend()
    after = uniforms.enclosed()
    assert all(new in old for old, new in zip(before, after, strict=True))
    assert all(new.rad() < old.rad() / 2**100 for old, new in zip(before, after, strict=True))
    asked: list[int] = []

    def question() -> bool | None:
        asked.append(uniforms.length)
        return None if len(asked) < 3 else True

    assert decided(question, [uniforms])
    assert asked == [256, 512, 1024]
    assert all(new in old for old, new in zip(before, uniforms.enclosed(), strict=True))


def test_a_rounding_is_decided_only_where_the_whole_ball_agrees() -> None:
    assert rounded(arb(2.5, 1e-9)) is None
    assert rounded(arb(2.4999, 1e-9)) == 2
    assert rounded(arb(-2.5001, 1e-9)) == -3
    assert rounded(arb("nan")) is None


def test_in_one_dimension_the_draws_are_rounded_laplace_noise() -> None:
    law = Cone(Fraction(3, 2), MomentBody((True, True)), (((1, 0, Fraction(1)),),))
    drawn = law.sample(6000, dc.SeededBits(8)).ravel()
    rate, steps = 0.75, np.arange(-5, 6)
    chances = np.where(
        steps == 0, 1 - np.exp(-rate / 2), np.exp(-rate * (np.abs(steps) - 0.5)) * (1 - np.exp(-rate)) / 2
    )
    bins = [int((drawn == step).sum()) for step in steps]
    expected = np.append(chances, 1 - chances.sum()) * len(drawn)
    assert chisquare([*bins, len(drawn) - sum(bins)], expected).pvalue > 1e-4


@pytest.mark.parametrize(("coordinates", "draws", "seed"), [(3, 1200, 31), (5, 600, 32), (9, 200, 33)])
def test_exact_draws_follow_the_generator_that_readers_use(coordinates: int, draws: int, seed: int) -> None:
    """Every number by itself, and jointly: the distance in units of the spread, and some directions."""
    law = usual(coordinates)
    exact = law.sample(draws, dc.SeededBits(seed)) / GRID**2
    floats = simulated_noise(law, 8000, np.random.default_rng(seed)) / GRID**2
    directions = np.random.default_rng(1).normal(size=(exact.shape[1], 8))
    both = [np.column_stack([each, each @ directions, np.abs(each).max(axis=1), (each**2).sum(axis=1)])
            for each in (exact, floats)]  # fmt: skip
    least = min(ks_2samp(one, two).pvalue for one, two in zip(both[0].T, both[1].T, strict=True))
    assert least > 1e-4 / both[0].shape[1]


@pytest.mark.parametrize(("coordinates", "pins"), [(3, (6.29, 5.16, 3.87, 2.4)), (5, (13.4, 11.9, 8.3, 2.6))])
def test_noise_of_records_that_may_be_left_out_is_hardly_wider(
    coordinates: int, pins: tuple[float, float, float, float]
) -> None:
    """Of a first moment, a product, a square and the count; the first three without gaps, by the same draws."""
    fixed = (True, *[False] * (coordinates - 1))
    places = [(1, 0), (2, 1), (1, 1), (0, 0)]
    terms = tuple(((i, j, Fraction(GRID**2)),) for i, j in places)
    open_, closed = (Cone(Fraction(1), MomentBody(fixed, zero), terms) for zero in (True, False))
    spreads = np.sqrt(open_.variance) / GRID**2
    assert np.sqrt(closed.variance[:3]) / GRID**2 == pytest.approx(pins[:3], rel=0.03)
    assert np.sqrt(closed.variance[3]) < 1  # the number of records is known
    assert spreads[3] == pytest.approx(pins[3], rel=0.05)
    assert (spreads[:3] < np.array([1.04, 1.04, 1.12]) * np.sqrt(closed.variance[:3]) / GRID**2).all()


def test_exact_draws_of_the_hull_with_0_follow_the_generator_and_are_uniform() -> None:
    body, bits = MomentBody((True, False, True), holds_zero=True), dc.SeededBits(35)
    drawn = []
    for _ in range(1500):
        matrix = body.draw(bits)
        rows = decided(matrix.enclosed, [matrix.uniforms])
        drawn.append([[float(entry.mid()) for entry in row] + [0.0] * (2 - i) for i, row in enumerate(rows)])
    exact = np.array(drawn)
    assert np.array_equal(exact[:, 0, 0], exact[:, 2, 2])
    uniform = exact[:, 0, 0] ** body.dimension  # the part with A_00 <= s is s times the whole
    assert chisquare(np.histogram(uniform, 20, (0, 1))[0]).pvalue > 1e-4
    floats = body.from_normals(body.draw_normals(8000, np.random.default_rng(35)))
    for i, j in ((0, 0), (1, 0), (1, 1), (2, 0), (2, 1)):
        assert ks_2samp(exact[:, i, j], floats[:, i, j]).pvalue > 1e-4 / 5


def test_drawn_matrices_keep_the_cuts_and_normals_that_break_them_are_impossible() -> None:
    law, generator = usual(5), np.random.default_rng(6)
    normals = generator.standard_normal((2000, law.normals))
    noise = law.from_normals(normals)
    both = [law.body.keeps_cuts(law.body.from_normals(half)) for half in np.split(normals[:, :-1], 2, axis=1)]
    assert (np.isnan(noise).any(axis=1) == ~(both[0] & both[1])).all()
    assert 0.5 < both[0].mean() < 0.68  # .59 by the specification
    assert np.isfinite(simulated_noise(law, 500, generator)).all()


def test_cuts_of_floats_are_those_of_the_definition() -> None:
    body, generator = MomentBody((True, False, False, True)), np.random.default_rng(4)
    for matrix in body.from_normals(generator.standard_normal((200, body.normals))):
        entries = [[Fraction(float(entry)) for entry in row] for row in matrix]
        slow = all(
            1 + p * entries[i][j] + q * entries[j][k] + p * q * entries[i][k] >= 0
            for i, j, k in combinations(range(4), 3)
            for p, q in product((1, -1), repeat=2)
        )
        assert slow == bool(body.keeps_cuts(matrix))


def test_what_needs_a_density_is_refused_in_words() -> None:
    law = usual(3)
    zero = np.zeros(5)
    for ask in (law.log_kernel, law.slope):
        with pytest.raises(dc.DeclarationError, match="no density in closed form"):
            ask(zero)
    for cost in ("epsilon", "rho", "curve"):
        with pytest.raises(dc.DeclarationError, match="no density in closed form"):
            getattr(law.privacy_loss(zero), cost)
    with pytest.raises(dc.DeclarationError, match="no density"):
        _ = law.log_normaliser
