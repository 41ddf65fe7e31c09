"""What to expect of a regression before anything is spent, and a rehearsal of it on made-up records.

Around evenly spread records with moments A = X'X, noise (dA, db) moves the coefficients by about A^-1 (db - dA w). So
with coefficients w from the prior, of precision L, their spread is about

    ((sigma^2 A^-1 + A^-1 Cov(db - dA w) A^-1)^-1 + L I)^-1 ,

the first term from sampling, the second from privacy. If sigma is unknown the median of its prior is taken. The
approximation is good where the noise is small beside A; where it is not, the prior limits it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainccinv, ndtri

from discreet.arrays import Floats
from discreet.inference import RegressionPosterior
from discreet.inference.coefficients import INTERCEPT, feature_reaches
from discreet.inference.regression import read_regression
from discreet.mechanisms import Mechanism
from discreet.mechanisms.box_moments import NoisyMoments
from discreet.models.linear_regression import InverseGamma, LinearRegression
from discreet.models.moments import Bounds, Wholes
from discreet.randomness import SeededBits
from discreet.releases import simulate

_DRAWS, _BATCH = 4000, 50_000
_ROOM = 0.8  # made-up lines stay within this part of the target's range


@dataclass(frozen=True)
class ExpectedCoefficient:
    """How wide the interval of one coefficient will be, in the units of the table; and with exact moments."""

    name: str
    width: float
    non_private_width: float
    reach: float
    """How much the feature itself can vary: the width of its bounds, 1 for a level and for the intercept."""


def expected_coefficients(mechanism: NoisyMoments, level: float = 0.9) -> list[ExpectedCoefficient]:
    """Return the expected width of every coefficient's interval, for evenly spread records."""
    model, size = mechanism.model, mechanism.size
    generator, layout = np.random.default_rng(0), mechanism.model.layout
    inverse = np.linalg.inv(layout.unpack(layout.typical(size), size).squares)
    noise = layout.unpack(mechanism.real_noise(_DRAWS, generator), 0)
    weights = generator.standard_normal((_DRAWS, model.dimension)) / np.sqrt(float(model.prior_precision))
    moved = (noise.products - np.einsum("nij,nj->ni", noise.squares, weights)) @ inverse
    sampling = typical_variance(model) * inverse
    private = _widths(model, sampling + moved.T @ moved / _DRAWS, level)
    exact = _widths(model, sampling, level)
    reaches = feature_reaches(model)
    return [ExpectedCoefficient(*row) for row in zip(model.names, private, exact, reaches.values(), strict=True)]


def expected_effect(mechanism: NoisyMoments, level: float = 0.9) -> tuple[float, float]:
    """Return the mean width of the intervals of all effects, in units of the target; and with exact moments.

    An effect is a coefficient times how much its feature can vary. A model without features has its intercept.
    """
    found = expected_coefficients(mechanism, level)
    effects = [each for each in found if each.name != INTERCEPT] or found
    widths = [(each.reach * each.width, each.reach * each.non_private_width) for each in effects]
    private, exact = np.mean(widths, axis=0).tolist()
    return private, exact


def typical_variance(model: LinearRegression) -> float:
    """Return the variance of the noise in public units, or the median of its prior."""
    if isinstance(model.noise, InverseGamma):
        return float(float(model.noise.scale) / gammainccinv(float(model.noise.shape), 0.5))
    return float(model.noise) ** 2


def _widths(model: LinearRegression, spread: NDArray[np.floating[Any]], level: float) -> list[float]:
    """Return the widths of intervals, in units, of coefficients with this covariance before the prior is used."""
    covariance = np.linalg.inv(np.linalg.inv(spread) + float(model.prior_precision) * np.eye(model.dimension))
    jacobian = model.in_units(np.eye(model.dimension)) - model.in_units(np.zeros(model.dimension))
    deviations = np.sqrt(np.diag(jacobian.T @ covariance @ jacobian))
    return [float(2 * ndtri((1 + level) / 2) * deviation) for deviation in deviations]


def rehearsed_regression(mechanism: Mechanism, label: str, seed: int) -> tuple[RegressionPosterior, tuple[float, ...]]:
    """Publish moments of made-up records and read the release; return the reading and the truth of each row."""
    moments, truth = made_up_regression(mechanism, seed)
    return read_regression(simulate(mechanism, moments, SeededBits(seed), label)), truth


def made_up_regression(mechanism: Mechanism, seed: int) -> tuple[Wholes, tuple[float, ...]]:
    """Return the moments of made-up records with coefficients from the prior, and these coefficients."""
    model, generator = mechanism.model, np.random.default_rng(seed)
    w = generator.standard_normal(model.dimension) / np.sqrt(float(model.prior_precision))
    w *= min(1.0, _ROOM * np.sqrt(model.dimension) / np.abs(w).sum())
    sigma = min(np.sqrt(typical_variance(model)), (1 - _ROOM) / 2)
    parts = [min(_BATCH, mechanism.size - start) for start in range(0, mechanism.size, _BATCH)]
    moments = np.sum([_made_up_moments(model, part, w, sigma, generator) for part in parts], axis=0)
    return moments, tuple(model.in_units(w).tolist())


def _made_up_moments(
    model: LinearRegression, size: int, w: Floats, sigma: float, generator: np.random.Generator
) -> Wholes:
    """Return the moments of so many records with evenly spread features and coefficients w."""
    records: dict[str, list[Any]] = {
        each.name: _evenly(each, size, generator) for each in model.bounds if each.name != model.target
    }
    for column in model.features:
        if not isinstance(column, str):
            codes = generator.integers(len(column.levels), size=size)
            records[column.name] = [column.levels[code] for code in codes]
    target = model.ranges[model.target]
    line = model.design(records) @ w if records else np.full(size, w.sum())
    values = target.middle + target.half * (line + generator.normal(0, sigma, size))
    return model.rehearse(records | {model.target: values.tolist()})


def _evenly(bounds: Bounds, size: int, generator: np.random.Generator) -> list[float]:
    return list(generator.uniform(float(bounds.low), float(bounds.high), size).tolist())
