"""One posterior draw on a grid: the exact law, the exact range of a record's influence, and what the paper prints."""

from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import chisquare, kstest

import discreet as dc
from discreet.draws import BallDraw, loss_range, published_bound
from discreet.mathematics.distributions._truncated_gaussian import TruncatedGaussian
from discreet.regression import InverseGamma, LinearRegression

Floats = NDArray[np.float64]


def model_of(features: int = 2, **changes: Any) -> LinearRegression:
    names = [f"x{number}" for number in range(features)]
    bounds = dict.fromkeys((*names, "y"), (-1, 1))
    declared: dict[str, Any] = {"noise": "0.5", "norm_bound": 1, "intercept": False, "grid": 8}
    return LinearRegression("y", names, bounds, **{"missing": "middle"} | declared | changes)


def made_up(size: int, features: int, seed: int, slope: float = 0.9) -> dict[str, list[float]]:
    generator = np.random.default_rng(seed)
    x = generator.uniform(-1, 1, (size, features))
    y = np.clip(slope * x[:, 0] + generator.normal(0, 0.3, size), -1, 1)
    return {f"x{number}": x[:, number].tolist() for number in range(features)} | {"y": y.tolist()}


@pytest.mark.parametrize(
    ("size", "steps", "slope", "epsilon"), [(30, 8, 0.9, 20), (200, 18, -0.4, 20), (30, 3, 1.0, "0.5")]
)
def test_draws_follow_the_exact_law(size: int, steps: int, slope: float, epsilon: Any) -> None:
    mechanism, draws = BallDraw(model_of(), size, epsilon, steps=steps), 300
    moments = mechanism.model.rehearse(made_up(size, 2, 1, slope))
    points = mechanism.outputs()
    chances = np.exp(mechanism.log_prob(points, moments))
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    drawn = mechanism.sample(np.tile(moments, (draws, 1)), dc.SeededBits(2))
    observed = np.array([(drawn == point).all(axis=1).sum() for point in points])
    assert observed.sum() == draws
    common = chances * draws >= 5
    bins = np.append(observed[common], draws - observed[common].sum())
    wanted = np.append(chances[common], 1 - chances[common].sum()) * draws
    assert chisquare(bins, wanted).pvalue > 1e-4


def test_a_fine_grid_agrees_with_the_continuous_posterior() -> None:
    size, draws, model = 400, 120, model_of(grid=2**15, prior_precision=4)
    mechanism = BallDraw(model, size, 100)
    moments = model.rehearse(made_up(size, 2, 3, slope=1.0))
    drawn = mechanism.sample(np.tile(moments, (draws, 1)), dc.SeededBits(4)) * (float(mechanism.spacing) * np.sqrt(2))
    natural = model.layout.unpack(moments, size)
    law = TruncatedGaussian(natural.squares / 0.25 + 4 * np.eye(2), natural.products / 0.25, 1.0)
    floats = law.sample(20_000, np.random.default_rng(5))
    for direction in (np.array([1.0, 0.0]), np.array([0.0, 1.0])):
        assert kstest(drawn @ direction, floats @ direction).pvalue > 1e-3


def largest_range(bound: float, variance: float, dimension: int, seed: int) -> float:
    """Maximise sup_w l - inf_w l over two records and two coefficient vectors, by numerical search."""
    generator = np.random.default_rng(seed)

    def into_ball(v: Floats, radius: float) -> Floats:
        return v * (radius / max(radius, float(np.linalg.norm(v))))

    def gap(point: Floats) -> float:
        y, t = np.clip(point[:2], -1, 1)
        x, z, high, low = np.split(point[2:], 4)
        x, z, high, low = into_ball(x, 1), into_ball(z, 1), into_ball(high, bound), into_ball(low, bound)

        def ratio(w: Floats) -> float:
            return float(((t - z @ w) ** 2 - (y - x @ w) ** 2) / (2 * variance))

        return ratio(high) - ratio(low)

    search: Any = minimize
    best = 0.0
    for _ in range(4):
        start = generator.normal(0, 1.5, 2 + 4 * dimension)
        options = {"maxiter": 6000, "maxfev": 6000, "fatol": 1e-9, "xatol": 1e-7, "adaptive": True}
        found = search(lambda p: -gap(p), start, method="Nelder-Mead", options=options)
        best = max(best, -found.fun)
    return best


@pytest.mark.parametrize("bound", [0.3, 1.0, 2.0])
def test_the_range_is_the_numerical_maximum(bound: float) -> None:
    stated = float(loss_range(Fraction(bound), Fraction(1, 4)))
    found = largest_range(bound, 0.25, 2, seed=7)
    assert found <= stated * (1 + 1e-9)
    assert found >= stated * 0.98


def test_the_range_has_the_stated_values() -> None:
    assert loss_range(Fraction(1, 2), Fraction(1, 4)) == 8
    assert loss_range(Fraction(1), Fraction(1)) == 4
    assert loss_range(Fraction(10), Fraction(1)) == 121  # the first setting of the second figure


def test_the_published_bound_is_too_small_for_one_record_and_too_large_for_many() -> None:
    """Zhang, Rubinstein and Dimitrakakis (2016), appendix D: n = 1, d = 1, |w| = 10 gives 31; the truth is 61.1."""
    assert published_bound(np.array([10.0]), 1, 1.0) == 31
    assert largest_range(10.0, 1.0, 1, seed=8) > 60
    assert published_bound(np.array([0.1, 0.1]), 1000, 1.0) > 1000 > loss_range(Fraction(1), Fraction(1))


@pytest.mark.parametrize("epsilon", ["0.4", "3", "100"])
def test_no_output_reveals_more_than_the_promised_epsilon(epsilon: str) -> None:
    mechanism = BallDraw(model_of(grid=8), 3, epsilon, steps=3)
    points = mechanism.outputs()
    corners = [(a, b, y) for a in (-1, 0, 1) for b in (-1, 1) for y in (-1, 0.5, 1)]
    rest = mechanism.model.rehearse({"x0": [0.5, -1], "x1": [1, 0.25], "y": [1, -1]})
    logs = np.array(
        [
            mechanism.log_prob(points, rest + mechanism.model.rehearse({"x0": [a], "x1": [b], "y": [y]}))
            for a, b, y in corners
        ]
    )
    worst = np.abs(logs[:, None] - logs[None, :]).max()
    assert 0.2 * float(mechanism.guarantee.epsilon) <= worst <= float(mechanism.guarantee.epsilon)


def test_tempering_spends_what_is_asked_and_never_more_than_the_range() -> None:
    assert BallDraw(model_of(), 10, 4).power == Fraction(1, 4)  # the range is 4 / 0.25
    full = BallDraw(model_of(), 10, 400)
    assert full.power == 1
    assert full.guarantee.epsilon == 16
    assert BallDraw(model_of(), 10, 4).rho == 2
    assert full.privacy_loss().delta_at(16) == 0


def test_many_features_are_drawn_exactly_too() -> None:
    model = model_of(14, grid=2**15, noise=1, norm_bound="0.1", prior_precision=10_000)
    mechanism = BallDraw(model, 500, 10)
    output = mechanism.sample(model.rehearse(made_up(500, 14, 9)), dc.SeededBits(10))
    mechanism.space.check(output)
    assert set(mechanism.coefficients(output)) == {"intercept", *(f"x{number}" for number in range(14))}


def test_few_records_and_collinear_features_can_be_drawn() -> None:
    model = model_of(3, grid=2**15)
    data = {"x0": [0.5], "x1": [0.5], "x2": [1.0], "y": [0.3]}
    mechanism = BallDraw(model, 1, 1)
    mechanism.space.check(mechanism.sample(model.rehearse(data), dc.SeededBits(11)))


def test_what_cannot_be_is_refused() -> None:
    mechanism = BallDraw(model_of(), 10, 1, steps=10)
    for output in ([1], [11, 11], [1, 2, 3]):
        with pytest.raises(dc.DocumentError):
            mechanism.space.check(np.array(output))
    for model in (model_of(norm_bound=None), model_of(noise=InverseGamma(1, 1)), "no model"):
        with pytest.raises(dc.DeclarationError, match="norm_bound and a known noise"):
            BallDraw(model, 10, 1)  # type: ignore[arg-type]
    with pytest.raises(dc.DeclarationError, match="fewer steps"):
        BallDraw(model_of(), 10, 1).outputs()
    with pytest.raises(dc.DeclarationError, match=r"positive semidefinite|not moments"):
        mechanism.sample(np.array([-(10**6), 0, -(10**6), 0, 0]), dc.SeededBits(1))
    with pytest.raises(dc.SecretError):
        mechanism.sample(model_of().statistics(made_up(10, 2, 1)), dc.SeededBits(1))  # type: ignore[arg-type]


def test_a_draw_is_made_of_its_public_fields() -> None:
    mechanism = BallDraw(model_of(), 10, 1, steps=10)
    assert BallDraw(**{field.name: getattr(mechanism, field.name) for field in fields(mechanism)}) == mechanism
    assert isinstance(mechanism, dc.Mechanism)


@pytest.mark.parametrize("steps", [2**16, 2**22, 2**26, 2**30])
def test_a_fine_grid_is_drawn_as_quickly_as_a_coarse_one(steps: int) -> None:
    """The rate at which draws are kept does not depend on the grid; here about one in ten is."""
    model = model_of(2, grid=2**15, prior_precision="0.1", noise="0.5")
    mechanism = BallDraw(model, 10, 1, steps=steps)
    matrix, shift = (np.array(part, dtype=float) for part in mechanism.quadratic(model.rehearse(made_up(10, 2, 1))))
    law = TruncatedGaussian(matrix, shift, float(mechanism.squared_radius) ** 0.5)
    assert law.acceptance(20_000, np.random.default_rng(3)) > 0.05


@pytest.mark.parametrize(("size", "steps"), [(1000, 4), (10**4, 16), (10**6, 64)])
def test_grids_that_could_keep_a_draw_waiting_are_refused_from_public_facts(size: int, steps: int) -> None:
    model = model_of(1, grid=2**15, noise="0.2")
    with pytest.raises(dc.DeclarationError, match="too coarse") as refusal:
        BallDraw(model, size, 100, steps=steps)
    enough = int(str(refusal.value).split("use ")[1].split()[0])
    mechanism = BallDraw(model, size, 100, steps=enough)
    with pytest.raises(dc.DeclarationError, match="too coarse"):
        BallDraw(model, size, 100, steps=enough * 2 // 3)
    for slope in (0.25, 0.375, 1.0):  # x = 1 or -1 in every record, y = slope x: the steepest law there is
        most = size * model.grid**2
        moments = np.array([2 * most, int(slope * most)])
        matrix, _ = mechanism.quadratic(moments)
        assert matrix[0][0] <= mechanism.steepest <= 8
        mechanism.space.check(mechanism.sample(moments, dc.SeededBits(1)))
