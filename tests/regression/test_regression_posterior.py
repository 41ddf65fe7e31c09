"""Reading noisy moments: exact where it can be checked, honest intervals, and better than the alternatives."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.special import logsumexp, ndtr, ndtri
from scipy.stats import chi2, invgamma, multivariate_normal

import discreet as dc
from discreet.draws import BallDraw
from discreet.regression import (
    BoxMoments,
    GaussianMoments,
    InverseGamma,
    LaplaceMoments,
    LinearRegression,
    read_regression,
)
from discreet.regression._likelihood import eliminated
from discreet.regression._solver import weighed
from pinned_regression import NAMES, both_ways, means, pinned_model, pinned_records, target_of


def test_the_likelihood_of_the_moments_is_the_stated_one_with_sigma_integrated() -> None:
    """Averaged over the normal number of sigma, e^log L is the integral over sigma^2 of the three stated densities."""
    generator, size = np.random.default_rng(1), 60
    model = pinned_model(noise=InverseGamma(2, "0.1"))
    _, data = pinned_records(size, generator)
    release = dc.simulate(BoxMoments(model, size, 5), model.rehearse(data), dc.SeededBits(1))
    target = target_of(release)
    normals = np.tile(0.3 * generator.standard_normal(target.normals), (4001, 1))
    normals[:, -1] = ndtri((np.arange(4001) + 0.5) / 4001)
    far, logs = target.evaluate(normals)
    assert not far.any()
    released, variances = target.states(normals)
    assert released[0] == pytest.approx(release.counts - target.generator.from_normals(normals[0, :-1]))
    natural = model.layout.unpack(released[0], size)
    rest = float(natural.total - natural.products @ np.linalg.solve(natural.squares, natural.products))

    def joint(variance: float) -> float:
        covariance = natural.squares @ natural.squares * 9 / 100 + variance * natural.squares
        density = multivariate_normal.pdf(natural.products, np.zeros(3), covariance)
        return float(density * chi2.pdf(rest / variance, size - 3) / variance * invgamma.pdf(variance, 2, scale=0.1))

    whole, _ = quad(joint, 0.005, 1, points=[float(np.median(variances))], limit=200, epsabs=0)
    mean, _ = quad(
        lambda variance: variance * joint(variance), 0.005, 1, points=[float(np.median(variances))], epsabs=0
    )
    assert np.exp(logs).mean() == pytest.approx(whole, rel=1e-3)
    assert (np.exp(logs) * variances).mean() / np.exp(logs).mean() == pytest.approx(mean / whole, rel=1e-3)


def test_what_is_possible_is_what_records_within_the_bounds_can_have() -> None:
    model, size = pinned_model(noise=InverseGamma(2, "0.1")), 40
    _, data = pinned_records(size, np.random.default_rng(2))
    release = dc.simulate(BoxMoments(model, size, 2), model.rehearse(data), dc.SeededBits(2))
    target = target_of(release)
    normals = np.random.default_rng(3).standard_normal((500, target.normals))
    far, logs = target.evaluate(normals)
    released = release.counts - target.generator.from_normals(normals[:, :-1])
    moments = model.layout.unpack(released, size)
    for a, b, total, depth, log in zip(moments.squares, moments.products, moments.total, far, logs, strict=True):
        whole = np.block([[3 * a, np.sqrt(3) * b[:, None]], [np.sqrt(3) * b[None, :], np.array([[total]])]])
        wrong = max(0.0, -float(np.linalg.eigvalsh(whole)[0]), float(whole.diagonal().max()) - size)
        assert depth == pytest.approx(wrong, abs=1e-6)
        assert np.isfinite(log) == (depth == 0)
    assert 0 < np.isfinite(logs).sum() < 500


def test_eigenvalues_are_computed_only_where_they_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the depth that particles may have, nothing is computed; up to it, depths are those of the full answer."""
    model, size = pinned_model(noise=InverseGamma(2, "0.1")), 40
    _, data = pinned_records(size, np.random.default_rng(2))
    release = dc.simulate(BoxMoments(model, size, 2), model.rehearse(data), dc.SeededBits(2))
    target = target_of(release)
    normals = np.random.default_rng(3).standard_normal((1500, target.normals))
    full, logs = target.evaluate(normals)
    counted, eigvalsh = [0], np.linalg.eigvalsh

    def counting(matrices: NDArray[np.float64]) -> NDArray[np.float64]:
        counted[0] += len(matrices)
        return np.asarray(eigvalsh(matrices))

    monkeypatch.setattr(np.linalg, "eigvalsh", counting)
    for deepest in (0.0, float(np.quantile(full, 0.3)), float(np.quantile(full, 0.7))):
        counted[0] = 0
        depths, own = target.evaluate(normals, deepest)
        inside = full <= deepest
        assert 0 < inside.sum() < 1500
        assert counted[0] == (inside & (full > 0)).sum()
        assert depths[inside].tobytes() == full[inside].tobytes()
        assert (depths[~inside] > deepest).all()
        assert own.tobytes() == logs.tobytes()


@pytest.mark.parametrize("mechanism", ["box", "Laplace", "Gaussian"])
def test_one_feature_is_read_as_a_fine_grid_reads_it(mechanism: str) -> None:
    """With one feature there are two moments; their posterior is summed on a grid, and w is a mixture of Gaussians."""
    model = LinearRegression(
        "y", ["a"], {"a": (-1, 1), "y": (-1, 1)}, 4, noise="0.3", intercept=False, missing="middle"
    )
    generator, size = np.random.default_rng(2), 200
    u = generator.uniform(-1, 1, size)
    data = {"a": u.tolist(), "y": np.clip(0.4 * u + generator.normal(0, 0.3, size), -1, 1).tolist()}
    law = {
        "box": BoxMoments(model, size, "0.5"),
        "Laplace": LaplaceMoments(model, size, "0.5"),
        "Gaussian": GaussianMoments(model, size, "0.5", "1e-4"),
    }[mechanism]
    release = dc.simulate(law, model.rehearse(data), dc.SeededBits(3))
    axis = np.linspace(0, 1, 1201)[1:-1]
    squares, products = np.meshgrid(size * axis, size * (2 * axis - 1), indexing="ij")
    scale = float(model.grid) ** 2
    noise = release.counts - np.stack([2 * squares * scale, products * scale], axis=-1)
    logs = law.log_kernel(noise) - law.log_normaliser
    spread = squares * (squares / 4 + 0.09)
    logs += -0.5 * np.log(2 * np.pi * spread) - products**2 / (2 * spread)
    logs = np.where(products**2 < squares * size, logs, -np.inf)
    cell = 2 * (size * scale * (axis[1] - axis[0])) * (2 * size * scale * (axis[1] - axis[0]))
    evidence = float(logsumexp(logs) + np.log(cell))
    weights = np.exp(logs - logsumexp(logs))
    centres = products / (squares + 0.09 * 4)
    mean = float((weights * centres).sum())
    square = float((weights * (centres**2 + 0.09 / (squares + 0.36))).sum())
    low = float((weights * ndtr((0.1 - centres) / np.sqrt(0.09 / (squares + 0.36)))).sum())
    for reading in both_ways(release, seed=4):
        coefficient = reading.coefficient(1)
        assert coefficient.mean == pytest.approx(mean, abs=4 * coefficient.standard_error)
        assert coefficient.sd == pytest.approx(np.sqrt(square - mean**2), rel=0.05)
        assert coefficient.below(0.1) == pytest.approx(low, abs=0.03)
        assert reading.log_evidence == pytest.approx(evidence, abs=4 * reading.log_evidence_error + 0.01)
        assert reading.r_hat < 1.05
        assert reading.effective_size >= 1000


def test_an_unknown_sigma_is_read_as_a_fine_grid_reads_it() -> None:
    """One feature and unknown noise: three moments and sigma^2, summed on a grid of all four."""
    model = LinearRegression(
        "y", ["a"], {"a": (-1, 1), "y": (-1, 1)}, 4, noise=InverseGamma(3, "0.2"), intercept=False, missing="middle"
    )
    generator, size = np.random.default_rng(21), 30
    u = generator.uniform(-1, 1, size)
    data = {"a": u.tolist(), "y": np.clip(0.4 * u + generator.normal(0, 0.3, size), -1, 1).tolist()}
    law = BoxMoments(model, size, 2)
    release = dc.simulate(law, model.rehearse(data), dc.SeededBits(22))
    axis = (np.arange(80) + 0.5) / 80
    square, product, total = np.meshgrid(size * axis, size * (2 * axis - 1), size * axis, indexing="ij")
    scale = float(model.grid) ** 2
    noise = law.log_kernel(release.counts - np.stack([2 * square, product, 2 * total], axis=-1) * scale)
    rest = total - product**2 / square
    found = []
    for variance in np.exp(np.linspace(np.log(0.01), np.log(2), 60)):
        spread = square * (square / 4 + variance)
        with np.errstate(invalid="ignore"):
            logs = noise - 0.5 * np.log(spread) - product**2 / (2 * spread)
            logs += chi2.logpdf(rest / variance, size - 1) - np.log(variance)
        logs += invgamma.logpdf(variance, 3, scale=0.2) + np.log(variance)
        weights = np.exp(np.where(rest > 0, logs, -np.inf))
        found.append(
            [weights.sum(), (weights * product / (square + 4 * variance)).sum(), weights.sum() * variance**0.5]
        )
    whole, mean, sigma = np.sum(found, axis=0)
    for reading in both_ways(release, seed=23):
        coefficient = reading.coefficient(1)
        assert coefficient.mean == pytest.approx(mean / whole, abs=4 * coefficient.standard_error + 0.003)
        assert reading.noise.mean == pytest.approx(sigma / whole, abs=4 * reading.noise.standard_error + 0.003)


def test_both_ways_of_reading_agree_where_the_weights_hold() -> None:
    generator, size = np.random.default_rng(24), 600
    _, data = pinned_records(size, generator)
    model = pinned_model(noise=InverseGamma(2, "0.08"))
    release = dc.simulate(BoxMoments(model, size, 1), model.rehearse(data), dc.SeededBits(24))
    one, two = both_ways(release, seed=25)
    for place in range(4):
        first, second = one.coefficient(place), two.coefficient(place)
        for value, error, other, its in (
            (first.mean, first.standard_error, second.mean, second.standard_error),
            (first.quantile(0.95), first.quantile_error(0.95), second.quantile(0.95), second.quantile_error(0.95)),
        ):
            assert value == pytest.approx(other, abs=4 * float(np.hypot(error, its)) + 1e-9)
    assert one.noise.mean == pytest.approx(
        two.noise.mean, abs=4 * (one.noise.standard_error + two.noise.standard_error)
    )
    assert one.log_evidence == pytest.approx(
        two.log_evidence, abs=4 * float(np.hypot(one.log_evidence_error, two.log_evidence_error))
    )


def test_noise_that_drowns_the_moments_is_tempered_and_said() -> None:
    generator, size = np.random.default_rng(26), 300
    _, data = pinned_records(size, generator)
    model = pinned_model()
    release = dc.simulate(BoxMoments(model, size, "0.1"), model.rehearse(data), dc.SeededBits(26))
    assert weighed(target_of(release), np.random.default_rng(0)) is None
    posterior = read_regression(release)
    assert "tempered on 16 islands" in posterior.method
    assert posterior.r_hat < 1.05
    again = read_regression(release)
    assert again.mean == posterior.mean
    assert (again.solution.released == posterior.solution.released).all()


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
