"""How many draws from a posterior it takes to tell two neighbouring data sets apart.

Theorem 3 of Dimitrakakis, Nelson, Mitrokotsa and Rubinstein (2014) says that data at distance
rho >= 3 ln(1/delta) / (4 L n) can be told apart after n draws. Its inequalities run the other way: that is a condition
without which its own method fails, not one under which any method works. What holds is a lower bound: whoever decides
between two data sets with both errors at most delta needs

    n >= (1 - 2 delta) ln((1 - delta) / delta) / KL(posterior || neighbouring posterior)

draws: by data processing, n KL is at least the divergence of the two decisions, which is that of two coins with
probabilities 1 - delta and delta.
"""

from collections.abc import Sequence
from math import ceil, log

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma

from discreet.arrays import Floats
from discreet.errors import DeclarationError
from discreet.mathematics.digits import log_gamma_ratio
from discreet.models.bounded_family import GammaLaw, Law, NormalLaw

_MANY = 100_000  # up to this many counts, all are compared; beyond, those near both ends


def neighbour_divergence(alpha: ArrayLike, beta: ArrayLike, power: float = 1.0) -> float:
    """Return the larger Kullback-Leibler divergence of Beta(s, t + tau) and Beta(s + tau, t), s = alpha, t = beta.

    KL = [ln Gamma(s + tau)/Gamma(s) - tau psi(s)] - [ln Gamma(t + tau)/Gamma(t) - tau psi(t + tau)], and the same with
    s and t exchanged. Neighbouring Dirichlet posteriors that differ in two cells have the same divergence.
    """
    s, t, tau = np.asarray(alpha, dtype=float), np.asarray(beta, dtype=float), float(power)
    return float(np.max([_divergence(s, t, tau), _divergence(t, s, tau)]))


def _divergence(s: Floats, t: Floats, tau: float) -> Floats:
    return np.asarray(log_gamma_ratio(s, tau) - tau * digamma(s) - log_gamma_ratio(t, tau) + tau * digamma(t + tau))


def largest_divergence(prior: Sequence[float], size: int, power: float = 1.0, tries: int = 1) -> float:
    """Return the largest divergence between neighbouring posteriors of `size` records.

    For two cells all counts are compared, where a record may hold several `tries`; for more, the two smallest priors
    with empty cells are the worst, as a divergence can only shrink when a draw is coarsened.
    """
    first, second = sorted(float(value) for value in prior)[:2]
    if len(prior) > 2:
        return neighbour_divergence(first, second, power)
    rest = (size - 1) * tries
    counts = np.arange(rest + 1) if rest < _MANY else np.unique(np.geomspace(1, rest + 1, _MANY).astype(np.int64)) - 1
    counts = np.unique([*counts, *(rest - counts)])
    return neighbour_divergence(first + counts * power, second + (rest - counts) * power, tries * power)


def law_divergence(one: Law, two: Law) -> float:
    """Return the larger Kullback-Leibler divergence, both ways, of two Gamma laws, or two normal laws of one variance.

    Gamma: (a - c) psi(a) - ln Gamma(a)/Gamma(c) + c ln(b/d) + a (d - b) / b for shapes a, c and rates b, d. Normal:
    half the squared distance of the means, in standard deviations.
    """
    if isinstance(one, NormalLaw) and isinstance(two, NormalLaw) and one.variance == two.variance:
        return float((one.mean - two.mean) ** 2 / one.variance) / 2
    if not (isinstance(one, GammaLaw) and isinstance(two, GammaLaw)):
        raise DeclarationError(
            "The divergence is known for two Gamma distributions, or two normal distributions with the same variance."
        )
    return max(_gamma_divergence(one, two), _gamma_divergence(two, one))


def _gamma_divergence(one: GammaLaw, two: GammaLaw) -> float:
    a, c = float(one.shape), float(two.shape)
    shapes = float(log_gamma_ratio(np.asarray(a), c - a)) if c >= a else -float(log_gamma_ratio(np.asarray(c), a - c))
    gap = float((two.rate - one.rate) / one.rate)
    return float((a - c) * digamma(a) + shapes - c * np.log1p(gap) + a * gap)


def draws_needed(divergence: float, error: float, beyond: float = 0.0) -> int:
    """Return how many draws, at least, give both errors of the best test at most `error`.

    If the divergence holds except on an event of probability `beyond` in each draw, n draws avoid that event except
    with probability n `beyond`, and the errors of the test grow by no more than that.

    >>> draws_needed(2.0e-6, 0.05)
    1324998
    """
    if not 0 < error < 0.5 or divergence <= 0:
        raise DeclarationError("The error must lie between 0 and 1/2, and the divergence must be above 0.")

    def suffices(draws: int) -> bool:
        chance = error + draws * beyond
        return chance >= 0.5 or draws * divergence >= (1 - 2 * chance) * log((1 - chance) / chance)

    high = max(1, ceil((1 - 2 * error) * log((1 - error) / error) / divergence))
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def published_distance(constant: float, draws: int, error: float) -> float:
    """Return 3 ln(1/delta) / (4 L n), the distance from which theorem 3 claims that data sets can be told apart."""
    return 3 * log(1 / error) / (4 * constant * draws)
