"""Pinned regressions: a model with three features, its made-up records, and how their releases are read."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

import discreet as dc
from discreet.inference import Problem
from discreet.regression import LinearRegression, RegressionPosterior
from discreet.regression._inference import MomentSolution
from discreet.regression._likelihood import MomentTarget
from discreet.regression._solver import tempered, weighed

NAMES = ("a", "b", "c")
SIGMA, PRIOR_SD = 0.2, 0.3


def pinned_model(**changes: Any) -> LinearRegression:
    """Three features, sigma = 0.2, prior sd 0.3 in public units, no intercept."""
    declared: dict[str, Any] = {"prior_precision": Fraction(100, 9), "noise": "0.2", "intercept": False}
    return LinearRegression(
        "y", NAMES, dict.fromkeys((*NAMES, "y"), (-1, 1)), **{"missing": "middle"} | declared | changes
    )


def pinned_records(size: int, generator: np.random.Generator) -> tuple[NDArray[np.float64], dict[str, Any]]:
    """Draw coefficients from the prior and records with evenly spread features; both in public units."""
    w = generator.normal(0, PRIOR_SD, 3)
    u = generator.uniform(-1, 1, (size, 3))
    y = np.clip(u @ w / np.sqrt(3) + generator.normal(0, SIGMA, size), -1, 1)
    return w / np.sqrt(3), dict(zip((*NAMES, "y"), (*u.T.tolist(), y.tolist()), strict=True))


def target_of(*releases: dc.Release) -> MomentTarget:
    problem = Problem.of(releases)
    return MomentTarget(problem.model, problem.size, problem.measurements)


def both_ways(*releases: dc.Release, seed: int) -> tuple[MomentSolution, MomentSolution]:
    """Read by weighted draws of the noise, and by tempered particles."""
    generator, target = np.random.default_rng(seed), target_of(*releases)
    found = weighed(target, generator)
    assert found is not None
    return found, tempered(target, generator, Problem.of(releases))


def means(posterior: RegressionPosterior) -> NDArray[np.float64]:
    return np.array([posterior.mean[name] for name in NAMES])
