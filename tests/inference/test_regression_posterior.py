"""Reading noisy moments: exact where it can be checked, honest intervals, and better than the alternatives."""

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy.special import logsumexp
from scipy.stats import chi2, multivariate_normal

import discreet as dc
from discreet.as_published.regression_points import adaptive_ridge, plug_in_regression
from discreet.inference import RegressionPosterior
from discreet.inference.regression import read_regression
from discreet.mechanisms.ball_draw import BallDraw
from discreet.mechanisms.box_moments import BoxMoments
from discreet.mechanisms.gaussian_moments import GaussianMoments
from discreet.mechanisms.laplace_moments import LaplaceMoments
from discreet.models.linear_regression import InverseGamma, LinearRegression
from discreet.reading import Case
from discreet.reading.engines.moments import rounds
from discreet.reading.ensemble import Ensemble
from discreet.reading.moments import FreshNoise, MomentDensity, eliminated

NAMES = ("a", "b", "c")
SIGMA, PRIOR_SD = 0.2, 0.3


def pinned_model(**changes: Any) -> LinearRegression:
    """Three features, sigma = 0.2, prior sd 0.3 in public units, no intercept."""
    declared: dict[str, Any] = {"prior_precision": Fraction(100, 9), "noise": "0.2", "intercept": False}
    return LinearRegression("y", NAMES, dict.fromkeys((*NAMES, "y"), (-1, 1)), **declared | changes)


def pinned_records(size: int, generator: np.random.Generator) -> tuple[NDArray[np.float64], dict[str, Any]]:
    """Draw coefficients from the prior and records with evenly spread features; both in public units."""
    w = generator.normal(0, PRIOR_SD, 3)
    u = generator.uniform(-1, 1, (size, 3))
    y = np.clip(u @ w / np.sqrt(3) + generator.normal(0, SIGMA, size), -1, 1)
    return w / np.sqrt(3), dict(zip((*NAMES, "y"), (*u.T.tolist(), y.tolist()), strict=True))


def density_of(release: dc.Release) -> MomentDensity:
    case = Case.of([release])
    return MomentDensity(case.model, case.size, case.measurements)


def means(posterior: RegressionPosterior) -> NDArray[np.float64]:
    return np.array([posterior.mean[name] for name in NAMES])


def test_the_prior_of_the_moments_is_the_stated_density() -> None:
    generator, size = np.random.default_rng(1), 60
    model = pinned_model(noise=InverseGamma(2, "0.1"))
    _, data = pinned_records(size, generator)
    moments = model.rehearse(data).astype(float)
    release = dc.simulate(BoxMoments(model, size, 5), moments.astype(np.int64), dc.SeededBits(1))
    density = density_of(release)
    natural = model.layout.unpack(moments, size)
    states = [np.append(moments, np.log(variance)) for variance in (0.02, 0.05)]
    found = density.log_density(np.array(states)) - density.log_proposal(np.array(states))
    kernel = density.log_proposal(np.array(states))
    direct = []
    for variance in (0.02, 0.05):
        covariance = natural.squares @ natural.squares * 9 / 100 + variance * natural.squares
        rest = float(natural.total - natural.products @ np.linalg.solve(natural.squares, natural.products))
        log = multivariate_normal.logpdf(natural.products, np.zeros(3), covariance)
        log += chi2.logpdf(rest / variance, size - 3) - np.log(variance)
        direct.append(log - 2 * np.log(variance) - 0.1 / variance)
    assert (found + kernel)[1] - (found + kernel)[0] == pytest.approx(direct[1] - direct[0], rel=1e-9)


def test_one_feature_is_read_as_a_fine_grid_reads_it() -> None:
    """With one feature there are two moments; their posterior is summed on a grid, and w is a mixture of Gaussians."""
    model = LinearRegression("y", ["a"], {"a": (-1, 1), "y": (-1, 1)}, 4, noise="0.3", intercept=False)
    generator, size = np.random.default_rng(2), 200
    u = generator.uniform(-1, 1, size)
    data = {"a": u.tolist(), "y": np.clip(0.4 * u + generator.normal(0, 0.3, size), -1, 1).tolist()}
    mechanism = BoxMoments(model, size, "0.5")
    release = dc.simulate(mechanism, model.rehearse(data), dc.SeededBits(3))
    axis = np.linspace(0, 1, 1201)[1:-1]
    squares, products = np.meshgrid(size * axis, size * (2 * axis - 1), indexing="ij")
    scale = float(model.grid) ** 2
    noise = release.counts - np.stack([2 * squares * scale, products * scale], axis=-1)
    logs = mechanism.log_kernel(noise)
    spread = squares * (squares / 4 + 0.09)
    logs += -0.5 * np.log(spread) - products**2 / (2 * spread)
    weights = np.exp(np.where(products**2 < squares * size, logs, -np.inf) - logsumexp(logs))
    weights /= weights.sum()
    centres = products / (squares + 0.09 * 4)
    mean = float((weights * centres).sum())
    square = float((weights * (centres**2 + 0.09 / (squares + 0.36))).sum())
    posterior = read_regression(release, seed=4)
    assert posterior.r_hat < 1.05
    assert posterior.mean["a"] == pytest.approx(mean, abs=0.02)
    assert posterior.sd["a"] == pytest.approx(np.sqrt(square - mean**2), rel=0.08)


def test_almost_no_noise_gives_the_posterior_of_the_records() -> None:
    generator, size = np.random.default_rng(5), 5000
    _, data = pinned_records(size, generator)
    model = pinned_model()
    release = dc.simulate(BoxMoments(model, size, 10_000), model.rehearse(data), dc.SeededBits(6))
    natural = model.layout.unpack(model.rehearse(data), size)
    covariance = np.linalg.inv(natural.squares / 0.04 + np.eye(3) * 100 / 9)
    posterior = read_regression(release)
    exact = covariance @ natural.products / 0.04 / np.sqrt(3)
    assert means(posterior) == pytest.approx(exact, abs=2e-4)
    exact_sd = np.sqrt(np.diagonal(covariance) / 3)
    assert [posterior.sd[name] for name in NAMES] == pytest.approx(exact_sd.tolist(), rel=0.05)


def test_the_box_beats_independent_noise_and_one_posterior_draw() -> None:
    """N = 10,000, epsilon = 1: rmse at most 0.7 of Laplace, read as carefully, and at most 0.2 of one draw."""
    generator, size, repeats = np.random.default_rng(20261115), 10_000, 12
    model = pinned_model()
    bounded = pinned_model(norm_bound=1, grid=2**15)
    mechanisms = [kind(model, size, 1) for kind in (BoxMoments, LaplaceMoments)]
    draw, bits = BallDraw(bounded, size, 1), dc.SeededBits(20261115)
    errors: list[list[float]] = [[], [], []]
    for repeat in range(repeats):
        truth, data = pinned_records(size, generator)
        moments = model.rehearse(data)
        for place, mechanism in enumerate(mechanisms):
            release = dc.simulate(mechanism, moments, bits)
            errors[place] += list(means(read_regression(release, seed=repeat)) - truth)
        for _ in range(2):
            drawn = draw.coefficients(draw.sample(moments, bits))
            errors[2] += [drawn[name] - value for name, value in zip(NAMES, truth, strict=True)]
    box, laplace, single = (float(np.sqrt(3 * np.mean(np.square(error)))) for error in errors)
    print(f"\nrmse: box {box:.4f}, Laplace {laplace:.4f}, one draw {single:.4f}")
    assert box <= 0.7 * laplace
    assert box <= 0.2 * single


def test_unknown_noise_is_learnt_and_levels_and_units_come_back() -> None:
    ward = dc.Column("ward", ("A", "B"), outside="A")
    bounds = {"age": (0, 100), "y": (0, 200)}
    model = LinearRegression("y", ["age", ward], bounds, prior_precision="0.1")
    generator, size = np.random.default_rng(7), 20_000
    age, place = generator.uniform(0, 100, size), generator.integers(2, size=size)
    y = 60 + 0.5 * age + 10 * place + generator.normal(0, 8, size)
    data = {"age": age.tolist(), "ward": ["AB"[p] for p in place], "y": y.tolist()}
    release = dc.simulate(BoxMoments(model, size, 2), model.rehearse(data), dc.SeededBits(8))
    posterior = read_regression(release)
    for name, truth in (("intercept", 60), ("age", 0.5), ("ward=B", 10)):
        assert posterior.mean[name] == pytest.approx(truth, abs=4 * posterior.sd[name])
    assert posterior.noise.mean == pytest.approx(8, abs=4 * posterior.noise.sd)
    (forecast,) = posterior.predict({"age": [40], "ward": ["B"]})
    assert forecast.mean == pytest.approx(90, abs=2)
    assert forecast.high - forecast.low == pytest.approx(2 * 1.645 * 8, rel=0.15)
    assert "ward=B" in str(posterior)
    assert posterior.coefficient("age").mean == pytest.approx(posterior.mean["age"], abs=posterior.sd["age"])


def test_a_reading_repeats_and_draws_have_the_right_shape() -> None:
    generator = np.random.default_rng(9)
    _, data = pinned_records(2000, generator)
    model = pinned_model()
    release = dc.simulate(GaussianMoments(model, 2000, 1, "1e-6"), model.rehearse(data), dc.SeededBits(9))
    first, second = (read_regression(release, seed=3) for _ in range(2))
    assert first.mean == second.mean
    assert (first.draws(50, seed=1)["coefficient"] == second.draws(50, seed=1)["coefficient"]).all()
    assert first.draws(50, seed=1)["coefficient"].shape == (50, 4)
    level = first.interval(0.5)["a"].width
    assert 0 < level < first.interval(0.95)["a"].width
    with pytest.raises(dc.DeclarationError, match="no coefficient 'z'"):
        first.coefficient("z")


def test_two_releases_say_more_than_one() -> None:
    generator, size = np.random.default_rng(10), 3000
    _, data = pinned_records(size, generator)
    model = pinned_model()
    bits, moments = dc.SeededBits(10), model.rehearse(data)
    releases = [dc.simulate(BoxMoments(model, size, 1), moments, bits, f"release {k}") for k in range(2)]
    alone = np.mean([sum(read_regression(release).sd.values()) for release in releases])
    assert sum(read_regression(*releases).sd.values()) < 0.9 * alone


def test_constant_and_collinear_features_leave_the_prior_where_the_data_are_silent() -> None:
    generator, size = np.random.default_rng(11), 5000
    _, data = pinned_records(size, generator)
    model = pinned_model()
    for changed in (data | {"c": [0.0] * size}, data | {"c": data["a"]}):
        release = dc.simulate(BoxMoments(model, size, 5), model.rehearse(changed), dc.SeededBits(11))
        posterior = read_regression(release)
        assert 3 * posterior.sd["b"] < posterior.sd["c"] <= 1.1 * PRIOR_SD / np.sqrt(3)


def test_a_reader_may_bring_another_prior() -> None:
    generator, size = np.random.default_rng(12), 1000
    _, data = pinned_records(size, generator)
    model = pinned_model()
    release = dc.simulate(BoxMoments(model, size, 1), model.rehearse(data), dc.SeededBits(12))
    firm = read_regression(release, model=pinned_model(prior_precision=10_000))
    assert max(abs(value) for value in firm.mean.values()) < 0.02
    with pytest.raises(dc.DeclarationError, match="columns, bounds and grid"):
        read_regression(release, model=pinned_model(grid=1024))


def test_plugging_noisy_moments_in_is_too_sure_of_itself() -> None:
    generator, size = np.random.default_rng(13), 2000
    _, data = pinned_records(size, generator)
    model = pinned_model()
    release = dc.simulate(BoxMoments(model, size, 1), model.rehearse(data), dc.SeededBits(13))
    plugged, aware = plug_in_regression(release), read_regression(release)
    assert all(plugged[name][1] < 0.6 * aware.sd[name] for name in NAMES)
    ridge = adaptive_ridge(release)
    assert all(abs(ridge[name]) < 1 for name in NAMES)


def test_a_release_that_says_nothing_gives_the_prior() -> None:
    generator, size = np.random.default_rng(14), 100
    _, data = pinned_records(size, generator)
    model = pinned_model()
    release = dc.simulate(BoxMoments(model, size, "0.01"), model.rehearse(data), dc.SeededBits(14))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.LittleInformationWarning)
        posterior = read_regression(release)
    assert [posterior.sd[name] for name in NAMES] == pytest.approx([PRIOR_SD / np.sqrt(3)] * 3, rel=0.15)


def test_what_cannot_be_read_is_refused() -> None:
    categories = dc.GeometricHistogram(dc.Categories("x", levels=("a", "b"), outside="a"), 10, 1)
    counted = dc.simulate(categories, [5, 5], dc.SeededBits(1))
    with pytest.raises(dc.DeclarationError, match="no noisy moments"):
        read_regression(counted)
    with pytest.raises(dc.DeclarationError, match="one or more releases"):
        read_regression()
    one, other = (
        dc.simulate(BoxMoments(pinned_model(), size, 1), np.zeros(9, dtype=np.int64), dc.SeededBits(1))
        for size in (9, 8)
    )
    with pytest.raises(dc.DeclarationError, match="same records"):
        read_regression(one, other)


def test_a_single_draw_is_refused_with_the_reason() -> None:
    model = pinned_model(norm_bound=1)
    _, data = pinned_records(100, np.random.default_rng(70))
    draw = dc.simulate(BallDraw(model, 100, 4), model.rehearse(data), dc.SeededBits(70))
    with pytest.raises(dc.DeclarationError, match="a draw of the coefficients does not tell how far"):
        dc.infer(draw)


def test_elimination_agrees_with_eigenvalues() -> None:
    generator = np.random.default_rng(80)
    roots, b = generator.normal(size=(40, 6, 6)), generator.normal(size=(40, 6))
    matrices = roots @ np.swapaxes(roots, 1, 2)
    matrices[:7] -= 3 * np.eye(6)
    positive = np.linalg.eigvalsh(matrices)[:, 0] > 0
    assert 0 < positive.sum() < 40
    logs, explained = eliminated(matrices, b)
    assert (np.isfinite(logs) == positive).all()
    assert (np.isfinite(explained) == positive).all()
    assert logs[positive] == pytest.approx(np.linalg.slogdet(matrices[positive])[1], rel=1e-9)
    direct = [v @ np.linalg.solve(a, v) for a, v in zip(matrices[positive], b[positive], strict=True)]
    assert explained[positive] == pytest.approx(direct, rel=1e-9)


def test_the_work_and_the_memory_of_a_reading_have_an_end() -> None:
    """16 coordinates have 152 moments, sigma, and 308 walkers: all rounds are made. Longer chains are thinned."""
    assert rounds(64, 3) == rounds(308, 16) == [100, 200, 400, 800, 1600]
    assert rounds(1642, 40) == [100]
    generator = np.random.default_rng(81)
    model, size = pinned_model(), 1000
    _, data = pinned_records(size, generator)
    density = density_of(dc.simulate(BoxMoments(model, size, 5), model.rehearse(data), dc.SeededBits(82)))
    start = density.start(64, generator)
    every, third = (
        Ensemble(density.log_density, start.copy(), FreshNoise(density), np.random.default_rng(83)).run(30, step)
        for step in (1, 3)
    )
    assert third.shape == (10, 64, 9)
    assert (third == every[2::3]).all()


def test_what_cannot_be_read_or_predicted_is_refused_in_words() -> None:
    model, size = pinned_model(), 400
    _, data = pinned_records(size, np.random.default_rng(90))
    release = dc.simulate(BoxMoments(model, size, 20), model.rehearse(data), dc.SeededBits(91))
    with pytest.raises(dc.DeclarationError, match="part of its model"):
        release.with_prior(2)
    with pytest.raises(dc.DeclarationError, match="reader's model"):
        read_regression(release, model="x")  # type: ignore[arg-type]
    with pytest.raises(dc.DeclarationError, match="given twice"):
        read_regression(release, release)
    posterior = read_regression(release)
    row = {"a": [0.5], "b": [0.1], "c": [-1.0]}
    assert posterior.predict(pd.DataFrame(row)) == posterior.predict(pl.DataFrame(row)) == posterior.predict(row)
    for rows in ({"a": [0.5, 0.6], "b": [0.1], "c": [0.0]}, {"a": 0.5, "b": 0.1, "c": 0.0}, 5, None, [1, 2]):
        with pytest.raises(dc.SourceError):
            posterior.predict(rows)
    with pytest.raises(dc.DeclarationError, match="no column 'b', 'c'"):
        posterior.predict({"a": [0.5]})
