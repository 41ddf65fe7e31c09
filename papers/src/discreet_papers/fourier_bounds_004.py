"""The bounds of Zhang, Rubinstein and Dimitrakakis (2016) for algorithms 2 and 3: as printed, and as they hold.

Algorithm 2 adds Laplace noise of scale b = 2 |N| / epsilon to |N| unnormalised Fourier coefficients, and 4 t |N|^2 /
epsilon = 2 t |N| b to the first of them. A cell of the table over all k variables is 2^-k times the sum of all
coefficients with signs, so no cell falls below zero if the sum of |noise|, which is b times a Gamma(|N|) number, stays
below the increment. A cell of a marginal over s variables is 2^-s times a sum over 2^s of the coefficients.
"""

from math import exp, log

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaincc, gammainccinv

from discreet._core.arrays import Floats
from discreet_papers import as_published


def published_stealth(t: float) -> float:
    """Return corollary 3's probability that no cell is below zero, 1 - e^-t."""
    return 1 - exp(-t)


def stealth_bound(coefficients: int, t: float) -> float:
    """Return P(Gamma(|N|) <= 2 t |N|): a lower bound for every table, every graph with so many coefficients, every t.

    >>> stealth_bound(34, 1.0) > published_stealth(1.0), stealth_bound(34, 0.2) < published_stealth(0.2)
    (True, True)
    """
    return float(gammainc(coefficients, 2 * t * coefficients))


def sure_increment(coefficients: int, epsilon: float, chance: float) -> float:
    """Return what must be added to the first coefficient so that no cell is below zero with at least this chance.

    (2 |N| / epsilon) times the quantile of Gamma(|N|), whatever the records.
    """
    return 2 * coefficients / epsilon * float(gammainccinv(coefficients, 1 - chance))


def needed_t(mechanism: as_published.FourierUpdates, outputs: NDArray[np.int64]) -> Floats:
    """Return for rows of outputs the least t at which no cell of any marginal is below zero."""
    tables = mechanism.tables(outputs).values()
    lead = np.asarray(outputs).shape[:-1]
    lowest = [table[0].size * table.reshape(*lead, -1).min(axis=-1) for table in tables]
    return np.asarray(-np.min(lowest, axis=0) / mechanism.increment(1.0))


def needed_t_of_naive_bayes(mechanism: as_published.FourierUpdates, noise: NDArray[np.int64]) -> Floats:
    """Return the least t at which no cell of the table over *all* variables is below zero, from noise on empty tables.

    Given the class y = +-1 the features are separate: the lowest cell is n_0 + y n_Y - sum_i |n_i + y n_Yi|.
    """
    coefficients = 2 * np.asarray(noise)
    places = {block: 1 + place for place, block in enumerate(mechanism.basis.blocks)}
    target = str(mechanism.model.target)
    features = [variable.name for variable in mechanism.model.variables[1:]]
    own = coefficients[:, [places[name,] for name in features]]
    both = coefficients[:, [places[target, name] for name in features]]
    lowest = [
        coefficients[:, 0] + y * coefficients[:, places[target,]] - np.abs(own + y * both).sum(axis=1) for y in (1, -1)
    ]
    return np.asarray(-np.min(lowest, axis=0) / mechanism.increment(1.0))


def published_table_error(coefficients: int, parents: int, epsilon: float, delta: float, t: float = 0.0) -> float:
    """Return theorem 3's bound on the l1 error of a marginal, (4 |N| / epsilon)(2^parents log(|N| / delta) + t |N|).

    >>> round(published_table_error(34, 1, 1.0, 0.05))
    1774
    """
    return 4 * coefficients / epsilon * (2.0**parents * log(coefficients / delta) + t * coefficients)


def table_error(coefficients: int, parents: int, epsilon: float, delta: float, t: float = 0.0) -> float:
    """Return a smaller bound: the error is at most the sum of 2^(parents+1) of the |noises|, a Gamma number.

    >>> round(table_error(34, 1, 1.0, 0.05))
    527
    """
    quantile = float(gammainccinv(2 ** (parents + 1), delta))
    return 2 * coefficients / epsilon * quantile + 4 * t * coefficients**2 / epsilon


def kept_run_epsilon(epsilon: float) -> float:
    """Return the true epsilon of a noisy count of 0 or 1 that is published only if it is not negative: real noise.

    epsilon + ln(P(kept | 1) / P(kept | 0)), with P(kept | k) = 1 - e^(-epsilon k) / 2.

    >>> round(kept_run_epsilon(1.0), 5)
    1.48988
    """
    return epsilon + log((1 - exp(-epsilon) / 2) / 0.5)


def kept_integer_run_epsilon(epsilon: float) -> float:
    """Return the same for integer noise, epsilon + ln(1 + p - p^2), p = e^-epsilon: P(u >= -k) = 1 - p^(k+1)/(1+p)."""
    p = exp(-epsilon)
    return epsilon + log(1 + p - p * p)


def published_maximum_bound(epsilon: float, distance: float, mass: float) -> float:
    """Return lemma 4 as printed, e^(-epsilon t) / prior(S_t), for P(utility below the best by more than 2 t)."""
    return exp(-epsilon * distance) / mass


def maximum_bound(epsilon: float, sensitivity: float, distance: float, mass: float) -> float:
    """Return lemma 4 as it holds, e^(-epsilon t / (2 Delta)) / prior(S_t), Delta the sensitivity of the utility."""
    return exp(-epsilon * distance / (2 * sensitivity)) / mass


def stealth_range_holds(coefficients: int, t: float) -> bool:
    """Tell whether corollary 3 follows from the sum of |noise|: Q(|N|, 2 t |N|) <= e^-t; for t >= 1 it always does."""
    return float(gammaincc(coefficients, 2 * t * coefficients)) <= exp(-t)
