"""What to expect of a regression before anything is spent.

Around evenly spread records with moments A = X'X, noise (dA, db) moves the coefficients by about A^-1 (db - dA w). So
with coefficients w from the prior, of precision L, their spread is about

    ((sigma^2 A^-1 + A^-1 Cov(db - dA w) A^-1)^-1 + L I)^-1 ,

the first term from sampling, the second from privacy. If sigma is unknown the median of its prior is taken. The
approximation is good where the noise is small beside A; where it is not, the prior limits it.
"""

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats
from discreet.errors import DeclarationError
from discreet.inference.coefficients import INTERCEPT
from discreet.mechanisms import Mechanism
from discreet.models.linear_regression import LinearRegression
from discreet.reading import Case
from discreet.reading.engines.moments import MomentsEngine

_DRAWS = 4000


@dataclass(frozen=True)
class ExpectedCoefficient:
    """How wide the interval of one coefficient will be, in the units of the table; and with exact moments."""

    name: str
    width: float
    non_private_width: float
    reach: float
    """How much the feature itself can vary: the width of its bounds, 1 for a level and for the intercept."""


def expected_coefficients(mechanism: Mechanism, level: float = 0.9) -> list[ExpectedCoefficient]:
    """Return the expected width of every coefficient's interval, for evenly spread records."""
    case = Case.before(mechanism)
    if (why := MomentsEngine().unsuited(case)) is not None:
        raise DeclarationError(
            f"The accuracy of coefficients is forecast for noisy moments of a regression only: {why}."
        )
    model, size = mechanism.model, mechanism.size
    generator, layout = np.random.default_rng(0), mechanism.model.layout
    inverse = np.linalg.inv(layout.unpack(layout.typical(size), size).squares)
    noise = layout.unpack(case.measurements[0].noise.simulate(_DRAWS, generator), 0)
    weights = generator.standard_normal((_DRAWS, model.dimension)) / np.sqrt(float(model.prior_precision))
    moved = (noise.products - np.einsum("nij,nj->ni", noise.squares, weights)) @ inverse
    sampling = model.typical_variance * inverse
    private = _widths(model, sampling + moved.T @ moved / _DRAWS, level)
    exact = _widths(model, sampling, level)
    return [ExpectedCoefficient(*row) for row in zip(model.names, private, exact, model.row_scales, strict=True)]


def expected_effect(mechanism: Mechanism, level: float = 0.9) -> tuple[float, float]:
    """Return the mean width of the intervals of all effects, in units of the target; and with exact moments.

    An effect is a coefficient times how much its feature can vary. A model without features has its intercept.
    """
    found = expected_coefficients(mechanism, level)
    effects = [each for each in found if each.name != INTERCEPT] or found
    widths = [(each.reach * each.width, each.reach * each.non_private_width) for each in effects]
    private, exact = np.mean(widths, axis=0).tolist()
    return private, exact


def _widths(model: LinearRegression, spread: Floats, level: float) -> list[float]:
    """Return the widths of intervals, in units, of coefficients with this covariance before the prior is used."""
    precision = np.linalg.inv(spread) + float(model.prior_precision) * np.eye(model.dimension)
    covariance = np.asarray(np.linalg.inv(precision), dtype=float)
    return [width for _, width in model.coefficient_rows(np.zeros(model.dimension), covariance, level)]
