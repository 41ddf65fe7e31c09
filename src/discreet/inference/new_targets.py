"""New targets for the records of a regression: the moments that they would have under draws of its parameters.

Given X'X = A, coefficients w and noise e with variance s per record, X'e ~ N(0, s A), so that with A = R R' and
standard normal numbers x

    X'y = A w + sqrt(s) R x,    y'y = w'A w + 2 w'X'e + s (x'x + chi-square(n - d)).
"""

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.models.linear_regression import LinearRegression


def new_targets(
    model: LinearRegression,
    size: int,
    released: Floats,
    coefficients: Floats,
    variance: Floats,
    generator: np.random.Generator,
) -> Counts:
    """Draw released moments of new targets (whole numbers, one row per draw); coefficients are in the table's units."""
    moments = model.layout.unpack(released, size)
    offset = model.in_units(np.zeros(model.dimension))
    weights = np.linalg.solve((model.in_units(np.eye(model.dimension)) - offset).T, (coefficients - offset).T).T
    values, vectors = np.linalg.eigh(moments.squares)
    normals = generator.standard_normal(weights.shape)
    deviation = np.sqrt(variance)[:, None]
    noise = deviation * np.einsum("nij,nj->ni", vectors, np.sqrt(np.maximum(values, 0.0)) * normals)
    lines = np.einsum("nij,nj->ni", moments.squares, weights)
    rest = generator.chisquare(max(size - model.dimension, 1), size=len(weights))
    left = variance * (np.square(normals).sum(axis=1) + rest)
    total = (weights * (lines + 2 * noise)).sum(axis=1) + left
    return np.rint(model.layout.with_target(released, lines + noise, total)).astype(np.int64)
