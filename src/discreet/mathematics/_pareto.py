"""Importance weights whose largest ones are smoothed, and how far to trust them (Pareto-smoothed importance sampling).

Draws from one distribution stand for another when each has the weight target / proposal. A few large weights can spoil
that. The largest min(S / 5, 3 sqrt(S)) of S weights above 0 behave like a generalised Pareto distribution, whose
survival function is

    P(W > c + x) = (1 + k x / sigma)^(-1 / k),

so they are replaced by its quantiles, none above the largest that was drawn. The shape k says how many moments the
weights have: below .5 the variance is finite, and up to .7 means of practical sizes are still right (Vehtari, Simpson,
Gelman, Yao and Gabry, 2024). It is fitted by the mean over a profile of likelihoods (Zhang and Stephens, 2009), and
drawn towards 1/2 as if ten more draws had said so.
"""

from dataclasses import dataclass
from math import ceil, inf, sqrt

import numpy as np
from scipy.special import logsumexp, softmax

from discreet._core.arrays import Floats

MOST_SHAPE = 0.7
"""Weights with a larger shape are not to be trusted."""
_LEAST_TAIL = 5  # fewer numbers tell nothing about a tail


@dataclass(frozen=True)
class Smoothed:
    """Weights of draws that add up to 1, the shape of their tail, and the log of their mean before they did."""

    weights: Floats
    shape: float
    log_mean: float
    log_mean_error: float

    @property
    def effective_size(self) -> float:
        """Return how many draws of equal weight are worth as much, 1 / sum of squared weights (Kish); 0 of none."""
        return float(1 / np.square(self.weights).sum()) if self.weights.any() else 0.0


def smoothed(log_weights: Floats) -> Smoothed:
    """Return weights with a smoothed tail; draws that are impossible have -inf, and keep the weight 0.

    `log_mean_error` is the standard error of the log of the mean weight, from the spread of the weights.

    >>> smoothed(np.zeros(100)).effective_size
    100.0
    """
    logs = np.array(log_weights, dtype=float)
    count = len(logs)
    largest = logs.max(initial=-inf)
    if largest == -inf:
        return Smoothed(np.zeros(count), inf, -inf, inf)
    scaled = logs - largest
    order = np.argsort(scaled, kind="stable")
    possible = int(np.isfinite(scaled).sum())
    tail = ceil(min(possible / 5, 3 * sqrt(possible)))
    indices, cutoff = order[count - tail :], float(np.exp(scaled[order[max(0, count - tail - 1)]]))
    excess = np.exp(scaled[indices]) - cutoff
    shape = inf if tail < _LEAST_TAIL else -inf
    if tail >= _LEAST_TAIL and excess[-1] > 1e-12:  # else the largest weights are all alike
        shape, sigma = pareto_fit(excess)
        ranks = (np.arange(tail) + 0.5) / tail
        stretched = -sigma * np.log1p(-ranks) if shape == 0 else sigma * np.expm1(-shape * np.log1p(-ranks)) / shape
        with np.errstate(divide="ignore"):
            scaled[indices] = np.minimum(np.log(cutoff + stretched), 0.0)
    weights = np.asarray(softmax(scaled))
    log_mean = float(largest + logsumexp(scaled) - np.log(count))
    return Smoothed(weights, shape, log_mean, float(np.sqrt(max(0.0, np.square(weights).sum() - 1 / count))))


def pareto_fit(excess: Floats) -> tuple[float, float]:
    """Return shape and scale of a generalised Pareto distribution for rising numbers above 0.

    With theta = -k / sigma the likelihood is a function of theta alone once k(theta) = mean log(1 - theta x) is put in;
    theta is averaged over a grid with these likelihoods as weights.
    """
    x = np.maximum(excess, excess[-1] * 1e-12)
    count = len(x)
    points = 30 + int(sqrt(count))
    quarter = x[max(0, int(count / 4 + 0.5) - 1)]
    grid = (1 - np.sqrt(points / (np.arange(1, points + 1) - 0.5))) / (3 * quarter) + 1 / x[-1]
    shapes = np.log1p(-grid[:, None] * x).mean(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = count * (np.log(-grid / shapes) - shapes - 1)
    theta = float(softmax(np.where(np.isfinite(logs), logs, -inf)) @ grid)
    shape = float(np.log1p(-theta * x).mean())
    return (count * shape + 5) / (count + 10), -shape / theta
