"""Private regressions by others, written anew for `benchmarks/regression.py`, and what their epsilon means.

Ours promises epsilon when one record is *replaced*. AdaSSP and objective perturbation promise it when one record is
*added or removed*, so that a replacement costs them two such steps: what has (e, d) there has (2 e, d (1 + e^e)) here.
Both are run with e = epsilon / 2 and d = delta / (1 + e^(epsilon/2)). Features are x = (1, u) / sqrt(d), so
||x|| <= 1, and |y| <= 1.
"""

from math import exp, log, sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BOUND = 2.0
"""The declared bound on ||w|| of objective perturbation, in the units of ||x|| <= 1; the truth is about 1."""


def adassp(x: Floats, y: Floats, epsilon: float, delta: float, generator: np.random.Generator) -> Floats:
    """Return w by AdaSSP (Wang 2018): ridge with a private penalty, a third of the budget for each part."""
    e, small = epsilon / 2, delta / (1 + exp(epsilon / 2))
    d, root = x.shape[1], sqrt(log(6 / small))
    squares, scale = x.T @ x, root / (e / 3)
    least = float(np.linalg.eigvalsh(squares)[0])
    least = max(0.0, least + scale * generator.standard_normal() - log(6 / small) / (e / 3))
    penalty = max(0.0, sqrt(d * log(6 / small) * log(2 * d * d / 0.05)) / (e / 3) - least)
    upper = np.triu(generator.standard_normal((d, d)))
    noisy = squares + scale * (upper + np.triu(upper, 1).T)
    found = np.linalg.solve(noisy + penalty * np.eye(d), x.T @ y + scale * generator.standard_normal(d))
    return np.asarray(found, dtype=float)


def objective_perturbation(
    x: Floats, y: Floats, epsilon: float, generator: np.random.Generator, bound: float = BOUND
) -> Floats:
    """Return w by objective perturbation (Kifer, Smith and Thakurta 2012), pure, with half of e for either part.

    The least of sum (y - x'w)^2 / 2 + ridge |w|^2 / 2 + b'w over |w| <= B. One record has a gradient of at most 1 + B,
    hidden by b with density ~ e^(-e |b| / (2 (1 + B))), and changes the determinant by a factor of at most
    1 + 1/ridge = e^(e/2).
    """
    e, d = epsilon / 2, x.shape[1]
    ridge = 1 / (exp(e / 2) - 1)
    direction = generator.standard_normal(d)
    length = generator.gamma(d) * 2 * (1 + bound) / e
    linear = x.T @ y - length * direction / np.linalg.norm(direction)
    values, vectors = np.linalg.eigh(x.T @ x + ridge * np.eye(d))
    turned = vectors.T @ linear
    return np.asarray(vectors @ (turned / (values + _multiplier(values, turned, bound))))


def _multiplier(values: Floats, turned: Floats, bound: float) -> float:
    """Return the least number m >= 0 for which |turned / (values + m)| <= B, the bound."""
    low, high = 0.0, 0.0
    while np.linalg.norm(turned / (values + high)) > bound:
        low, high = high, 2 * high + 1
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if np.linalg.norm(turned / (values + middle)) > bound else (low, middle)
    return high
