"""What a private regression is compared with: noisy moments taken for true, and a ridge that covers the noise.

Both give a point quickly. Neither gives an interval that covers what it says: read a release with `infer`.
"""

import numpy as np

from discreet._core.errors import DeclarationError
from discreet.inference import Problem
from discreet.noise import simulated_noise
from discreet.regression._likelihood import MomentTarget, coefficients_given, eliminated
from discreet.regression._moments import Moments
from discreet.regression._solver import MomentsSolver
from discreet.release import Release


def plug_in_regression(release: Release) -> dict[str, tuple[float, float]]:
    """Return mean and standard deviation of each coefficient as if the noisy moments were exact: for comparison only.

    Directions in which the noisy X'X is not positive are given the prior alone.
    """
    target = _target(release)
    moments = release.model.layout.unpack(release.counts, target.size)
    variance = _plugged_variance(target, moments)
    means, roots = coefficients_given(release.model, moments, np.array(variance))
    model = release.model
    jacobian = model.in_units(np.eye(model.dimension)) - model.in_units(np.zeros(model.dimension))
    deviations = np.sqrt(np.square(jacobian.T @ roots).sum(axis=1))
    return dict(zip(model.names, zip(model.in_units(means).tolist(), deviations.tolist(), strict=True), strict=True))


def _target(release: Release) -> MomentTarget:
    """Return the moments behind a release that measured them."""
    problem = Problem.of((release,))
    if (why := MomentsSolver().unsuited(problem)) is not None:
        raise DeclarationError(f"{release.label!r} holds no noisy moments that could be read: {why}.")
    return MomentTarget(problem.model, problem.size, problem.measurements)


def _plugged_variance(target: MomentTarget, moments: Moments) -> float:
    if target.model.noise_prior is None:
        return target.model.typical_variance
    rest = float(moments.total - eliminated(moments.squares, moments.products)[1])
    return min(1.0, max(rest / (target.size - target.model.dimension), 1e-4))


def adaptive_ridge(release: Release, failure: float = 0.05) -> dict[str, float]:
    """Return ridge coefficients with a penalty that covers the noise, by the rule of AdaSSP (Wang 2018).

    The penalty is max(0, r - lowest eigenvalue of the noisy X'X), r the (1 - failure) quantile of the noise's norm.
    """
    target, model = _target(release), release.model
    layout = model.layout
    noise = layout.unpack(simulated_noise(target.measured[0].noise, 2000, np.random.default_rng(0)), 0)
    reach = float(np.quantile(np.abs(np.linalg.eigvalsh(noise.squares)).max(axis=-1), 1 - failure))
    moments = layout.unpack(release.counts, target.size)
    lowest = float(np.linalg.eigvalsh(moments.squares)[0])
    penalty = max(0.0, reach - lowest)
    w = np.linalg.solve(moments.squares + penalty * np.eye(model.dimension), moments.products)
    return dict(zip(model.names, model.in_units(w).tolist(), strict=True))
