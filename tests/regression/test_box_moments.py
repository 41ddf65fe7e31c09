"""BoxMoments draws from the cube law that it states, and no record is worth more than epsilon."""

from dataclasses import fields
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

import discreet as dc
from discreet.inference import why_unreadable
from discreet.noise import cube_radius
from discreet.noise.randomness._samplers import wide_geometric
from discreet.regression import BoxMoments, GaussianMoments, LaplaceMoments, LinearRegression, NoisyMoments


def tiny(features: tuple[str, ...] = ("x",), grid: int = 8) -> LinearRegression:
    return LinearRegression(
        "y",
        features,
        dict.fromkeys((*features, "y"), (-1, 1)),
        noise="0.2",
        intercept=False,
        grid=grid,
        missing="middle",
    )


def all_records(model: LinearRegression) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the moments of every record there is on the grid of a model with one feature."""
    places = range(-model.grid, model.grid + 1)
    rows = [(2 * a * a, a * b) for a, b in product(places, places)]
    values = [value / model.grid for value in places]
    first = model.rehearse({"x": [values[3]], "y": [values[5]]})
    assert tuple(first) == rows[3 * len(values) + 5]  # the enumeration is the model's own
    return np.unique(np.array(rows), axis=0)


KINDS = [BoxMoments, LaplaceMoments]


@pytest.mark.parametrize(("kind", "epsilon", "far"), [(BoxMoments, 20, 300), (LaplaceMoments, 40, 350)])
def test_probabilities_sum_to_one(kind: type[NoisyMoments], epsilon: int, far: int) -> None:
    mechanism = kind(tiny(), size=2, epsilon=epsilon)
    axis = np.arange(-far, far + 1)
    outputs = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    total = np.exp(mechanism.log_prob(outputs, np.zeros(2, dtype=np.int64))).sum()
    assert total == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_no_output_reveals_more_than_the_promised_epsilon(kind: type[NoisyMoments]) -> None:
    mechanism = kind(tiny(), size=2, epsilon="0.7")
    records = all_records(mechanism.model)
    shifts = np.unique((records[:, None] - records[None, :]).reshape(-1, 2), axis=0)
    reach = mechanism.model.layout.reach
    assert np.abs(shifts).max() == reach
    axis = np.arange(-2 * reach, 2 * reach + 1, 16)
    outputs = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    own = mechanism.log_kernel(outputs)
    worst = max(float(np.abs(mechanism.log_kernel(outputs - shift) - own).max()) for shift in shifts)
    assert worst <= 0.7 * (1 + 1e-12)
    assert kind is LaplaceMoments or worst >= 0.7 * (1 - 1e-12)  # no noise is wasted


def test_samples_follow_the_stated_likelihood() -> None:
    mechanism = BoxMoments(tiny(), size=2, epsilon=200)  # a little noise, so that single outputs are frequent
    draws = 40_000
    moments = mechanism.model.rehearse({"x": [0.5, 1], "y": [0.25, -1]})
    drawn = mechanism.sample(np.tile(moments, (draws, 1)), dc.SeededBits(7))
    seen, observed = np.unique(drawn, axis=0, return_counts=True)
    expected = np.exp(mechanism.log_prob(seen, moments)) * draws
    common = expected >= 10
    assert common.sum() >= 9
    bins = np.append(observed[common], draws - observed[common].sum())
    assert chisquare(bins, np.append(expected[common], draws - expected[common].sum())).pvalue > 1e-4


def test_wide_noise_has_the_radius_and_the_uniform_shares_of_the_cube() -> None:
    mechanism = BoxMoments(tiny(("a", "b", "c"), 2**15), size=10, epsilon=1)
    noise, cells = mechanism.noise.sample(4000, dc.SeededBits(8)), 9
    largest = np.abs(noise).max(axis=1) * float(mechanism.rate)
    assert kstest(largest, "gamma", args=(cells,)).pvalue > 1e-4  # max|u| has density ~ r^(D-1) e^-r
    assert noise.std(axis=0) == pytest.approx(mechanism.scale, rel=0.06)
    others = np.sort(np.abs(noise), axis=1)[:, :-1] / np.abs(noise).max(axis=1, keepdims=True)
    assert kstest(others.ravel(), "uniform").pvalue > 1e-4


def test_real_noise_has_the_same_scale() -> None:
    for mechanism in all_kinds(tiny(("a", "b"), 2**15)):
        drawn = mechanism.real_noise(40_000, np.random.default_rng(2))
        assert drawn.std(axis=0) == pytest.approx(mechanism.scale, rel=0.04)


def eulerian_numbers(order: int) -> list[int]:
    """Return the Eulerian numbers of type B by their recurrence."""
    row = [1]
    for n in range(1, order + 1):
        padded = [0, *row, 0]
        row = [(2 * (n - k) + 1) * padded[k] + (2 * k + 1) * padded[k + 1] for k in range(n + 1)]
    return row


def test_the_radius_of_a_cube_starts_by_eulerian_numbers_of_type_b() -> None:
    assert cube_radius(Fraction(1), 2).starts == [1, 6, 1]
    for order in (1, 2, 3, 5, 9):
        numbers = cube_radius(Fraction(1), order).starts
        assert numbers == eulerian_numbers(order)
        powers = [(2 * r + 1) ** order for r in range(order + 1)]
        for _ in range(order + 1):  # multiply the series by (1 - x)
            powers = [power - before for power, before in zip(powers, [0, *powers], strict=False)]
        assert powers == numbers
        assert sum(numbers) == 2**order * int(np.prod(range(1, order + 1)))


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(7, 5), Fraction(1, 1000), Fraction(3, 2**40)])
def test_wide_geometrics_follow_their_law(rate: Fraction) -> None:
    drawn = wide_geometric(rate, 20_000, dc.SeededBits(9))
    q = np.exp(-float(rate))
    edges = np.unique(np.ceil(-np.log1p(-np.arange(1, 20) / 20) / float(rate)).astype(np.int64))
    observed = np.histogram(drawn, bins=[0, *edges, 2**62])[0]
    below = np.append(-np.expm1(-float(rate) * np.append(0, edges).astype(float)), 1)
    assert chisquare(observed, np.diff(below) * len(drawn)).pvalue > 1e-4
    assert drawn.min() >= 0
    assert q < 1


def all_kinds(model: LinearRegression, size: int = 50) -> list[NoisyMoments]:
    return [
        BoxMoments(model, size, "1/3"),
        LaplaceMoments(model, size, "1/3"),
        GaussianMoments(model, size, "1/3", "1e-6"),
    ]


@pytest.mark.parametrize("mechanism", all_kinds(tiny()), ids=lambda mechanism: type(mechanism).__name__)
def test_a_mechanism_is_made_of_its_public_fields(mechanism: NoisyMoments) -> None:
    values = {field.name: getattr(mechanism, field.name) for field in fields(mechanism)}
    assert type(mechanism)(**values) == mechanism
    assert isinstance(mechanism, dc.Mechanism)
    assert mechanism.privacy_loss().delta_at(mechanism.epsilon) <= float(mechanism.guarantee.delta)
    assert mechanism.rho > 0


@pytest.mark.parametrize("mechanism", all_kinds(tiny()), ids=lambda mechanism: type(mechanism).__name__)
def test_secret_statistics_are_not_sampled_outside_publish(mechanism: NoisyMoments) -> None:
    secret = mechanism.model.statistics({"x": [0.5] * 50, "y": [0.1] * 50})
    with pytest.raises(dc.SecretError):
        mechanism.sample(secret, dc.SeededBits(1))  # type: ignore[arg-type]
    with pytest.raises(dc.SecretError):
        dc.simulate(mechanism, secret, dc.SeededBits(1))


@pytest.mark.parametrize("mechanism", all_kinds(tiny()), ids=lambda mechanism: type(mechanism).__name__)
def test_outputs_that_cannot_be_are_refused(mechanism: NoisyMoments) -> None:
    mechanism.space.check(np.array([-5, 7]))
    for output in ([1], [1, 2, 3], [2**62, 0]):
        with pytest.raises(dc.DocumentError):
            mechanism.space.check(np.array(output))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("size", "epsilon", "words"),
    [(1, 1, "more records than"), (0, 1, "size"), (2.5, 1, "size"), (9, 0, "epsilon"), (9, "nan", "epsilon"),
     (9, "1e-7", "epsilon"), (2**60, 1, "size")],
)  # fmt: skip
def test_nonsense_is_refused_with_words(kind: type[NoisyMoments], size: Any, epsilon: Any, words: str) -> None:
    with pytest.raises(dc.DeclarationError, match=words):
        kind(tiny(), size, epsilon)


def test_noise_that_would_leave_64_bits_is_refused() -> None:
    with pytest.raises(dc.DeclarationError, match="Choose a smaller grid"):
        BoxMoments(tiny(grid=2**15), 100, "1e-5")
    assert BoxMoments(tiny(grid=2**10), 100, "1e-5").guarantee.epsilon == Fraction(1, 10**5)
    with pytest.raises(dc.DeclarationError, match="LinearRegression"):
        BoxMoments(dc.Categories("x", levels=("a", "b"), outside="a"), 100, 1)  # type: ignore[arg-type]


def test_more_moments_than_can_be_read_are_refused_before_they_cost_anything() -> None:
    names = [f"x{number}" for number in range(24)]
    model = LinearRegression("y", names, dict.fromkeys((*names, "y"), (0, 1)), missing="middle")
    for kind in (BoxMoments, LaplaceMoments):
        assert "operations" in (why_unreadable(kind(model, 1000, 1)) or "")
        assert why_unreadable(kind(model, 10**6, 1)) is None
