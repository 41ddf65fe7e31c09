"""The exact privacy of one draw from a conjugate posterior.

Neighbouring Dirichlet posteriors differ in two cells, and the ratio of their densities depends only on the share that
one cell has of the two. So one draw of theta ~ Dirichlet(alpha + tau k) distinguishes neighbours exactly as well as one
draw of that share does, Beta(s, t + tau) against Beta(s + tau, t), and its privacy curve is

    D(s, t; epsilon, tau) = I_x(s, t + tau) - e^epsilon I_x(s + tau, t),
    logit x = (ln B(s + tau, t) - ln B(s, t + tau) - epsilon) / tau.

D falls as s or t grow: multiplying the share by an independent Beta(s + t + tau, r) turns t into t + r. Hence with
three or more cells the worst neighbours have empty cells with the two smallest priors, whatever the number of records;
with two cells all n pairs are compared. Other families with one parameter have a curve of the same kind, two tails of
two distributions. What a guarantee rests on is computed with balls and rounded up.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from heapq import heappop, heappush
from math import exp, floor, inf, nextafter, sqrt
from typing import Any

import numpy as np
from flint import arb, ctx
from numpy.typing import ArrayLike
from scipy.special import betainc, betaln, expit, gammainc, gammaincc, ndtr

from discreet._core.errors import DeclarationError
from discreet._core.exact import ball
from discreet.mathematics import log_gamma_ratio

Curve = Callable[[Fraction], float]
Curves = Callable[[Sequence[Fraction]], list[float]]

_NOTHING = 2.0**-200  # a delta below this is not worth more digits
TOLERANCE = 2.0**-40
_MODERATE = 100
_MANY = 60  # the sum of parameters from which on a series is tried: balls take 500 times as long there as below
_TERMS = 256, 4096, 50_000  # how many terms it has, from few to many
_UNEVEN = 20  # and their ratio: there a tail of 1e-20 would take many digits
_LARGE, _LARGEST = 4.0, 600.0  # of epsilon, in floats, where x > 1/2 and elsewhere
_SMALLEST = -40.0  # the logarithm of (s + t + tau) x below which one term of a series is enough


def posterior_draw_delta(epsilon: ArrayLike, alpha: ArrayLike, beta: ArrayLike, power: ArrayLike = 1.0) -> Any:
    """Return D(alpha, beta; epsilon, power) to about eleven digits; arrays are taken element by element.

    The form above is used where x <= 1/2; elsewhere, with y = 1 - x, it would cancel, and
    D = e^epsilon I_y(t, s + tau) - I_y(t + tau, s) - (e^epsilon - 1) is used. Where x is so small that it would vanish
    although x^s does not, D = x^s / B(s, t + tau) (1/s - 1/(s + tau)) by the first term of both series. Where
    e^epsilon is so large that floats would lose the difference, balls are used.

    >>> round(posterior_draw_delta(epsilon=1.0, alpha=1.0, beta=10.0), 14)
    0.17578412079894
    """
    given = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (epsilon, alpha, beta, power)))
    allowed, s, t, tau = given
    if not ((s > 0) & (t > 0) & (tau > 0) & np.isfinite(given).all(axis=0)).all():
        raise DeclarationError("alpha, beta and power must be above 0, and all numbers must be finite.")
    logit = (log_gamma_ratio(s, tau) - log_gamma_ratio(t, tau) - allowed) / tau
    tiny = logit < _SMALLEST - np.log(s + t + tau)
    lost = ~tiny & (allowed > np.where(logit > 0, _LARGE, _LARGEST))
    bounded = np.where(lost | tiny, 0.0, allowed)
    x, y = expit(logit), expit(-logit)
    lower = betainc(s, t + tau, x) - np.exp(bounded) * betainc(s + tau, t, x)
    upper = np.exp(bounded) * betainc(t, s + tau, y) - betainc(t + tau, s, y) - np.expm1(bounded)
    first = np.exp(np.where(tiny, s * logit - betaln(s, t + tau), 0.0)) * tau / (s * (s + tau))
    found = np.select([tiny, logit <= 0], [first, lower], upper)
    for index in map(tuple, np.argwhere(lost)):
        found[index] = certified_draw_delta(*(Fraction(float(values[index])) for values in given))
    found = np.maximum(0.0, found)
    return float(found) if found.ndim == 0 else found


def two_cell_delta(epsilon: float, alpha: float, beta: float, size: int, power: float = 1.0) -> float:
    """Return the largest D over all neighbouring counts of `size` records in two cells, both ways, in floats."""
    counts = np.arange(size)
    s, t = alpha + counts * power, beta + (size - 1 - counts) * power
    both = posterior_draw_delta(epsilon, s, t, power), posterior_draw_delta(epsilon, t, s, power)
    return float(np.max(both))


def renyi_divergence(order: float, alpha: float, beta: float, power: float = 1.0) -> float:
    """Return the Renyi divergence of Beta(s, t + tau) from Beta(s + tau, t), s = alpha, t = beta, tau = power.

    [ln B(s + tau - order tau, t + order tau) - order ln B(s, t + tau) + (order - 1) ln B(s + tau, t)] / (order - 1):
    infinite from the order 1 + s / tau on, so that an untruncated draw has no zCDP parameter.
    """
    if order <= 1:
        raise DeclarationError("The order of a Renyi divergence must be above 1.")
    if (order - 1) * power >= alpha:
        return inf
    mixed = betaln(alpha + power - order * power, beta + order * power)
    ends = betaln(alpha, beta + power), betaln(alpha + power, beta)
    return float((mixed - order * ends[0] + (order - 1) * ends[1]) / (order - 1))


def gamma_poisson_delta(epsilon: float, shape: float, step: float) -> float:
    """Return the exact delta of one draw of a Poisson rate whose records lie in 0..step (times the power).

    P(s, x) - e^epsilon P(s + step, x) with x = (Gamma(s + step) / Gamma(s) e^-epsilon)^(1/step), P the regularised
    lower incomplete Gamma function, and the same for the upper tails.
    """
    ratio = float(log_gamma_ratio(shape, step))
    low, high = exp((ratio - epsilon) / step), exp((ratio + epsilon) / step)
    below = gammainc(shape, low) - exp(epsilon) * gammainc(shape + step, low)
    above = gammaincc(shape + step, high) - exp(epsilon) * gammaincc(shape, high)
    return float(max(0.0, below, above))


def exponential_delta(epsilon: float, shape: float, ratio: float) -> float:
    """Return the exact delta of one draw of an exponential rate: Gamma(shape), with rates of this ratio > 1."""
    low, high = (shape * np.log(ratio) - epsilon) / (ratio - 1), (shape * np.log(ratio) + epsilon) / (ratio - 1)
    below = gammainc(shape, ratio * low) - exp(epsilon) * gammainc(shape, low) if low > 0 else 0.0
    above = gammaincc(shape, high) - exp(epsilon) * gammaincc(shape, ratio * high)
    return float(max(0.0, below, above))


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Return the exact delta of telling Normal(0, 1) from Normal(mu, 1): Phi(mu/2 - e/mu) - e^e Phi(-mu/2 - e/mu)."""
    return float(ndtr(mu / 2 - epsilon / mu) - exp(epsilon) * ndtr(-mu / 2 - epsilon / mu))


def upper_float(number: arb) -> float:
    """Return a float at least as large as a ball."""
    return nextafter(float(number.upper()), inf) if number.is_finite() else inf


@lru_cache(maxsize=4096)
def certified_draw_delta(epsilon: Fraction, alpha: Fraction, beta: Fraction, power: Fraction) -> float:
    """Return an upper bound on D(alpha, beta; epsilon, power), within 1e-10 of it in relative terms.

    As above the tails are taken at the smaller of x and y = 1 - x; what cancels costs more digits, no accuracy. Large
    and uneven parameters have a series of their own.
    """
    is_slow = alpha + beta > _MANY or alpha > _UNEVEN * beta
    if is_slow and (bound := _by_series(epsilon, alpha, beta, power)) is not None:
        return bound
    precision = 128
    while True:
        with ctx.workprec(precision):
            found = _enclosed(*(ball(number) for number in (epsilon, alpha, beta, power)))
            if _is_sharp(found):
                return max(0.0, upper_float(found))
        precision *= 2


def _by_series(epsilon: Fraction, alpha: Fraction, beta: Fraction, power: Fraction) -> float | None:
    """Return an upper bound on D by a series of positive terms, or None if it has too many.

    Both tails have the same x and s + t + tau = S, and at x their densities differ by the factor e^epsilon, so
    D = x^s (1 - x)^(t + tau) / B(s, t + tau) sum_n (S)_n x^n [1 / (s)_(n+1) - 1 / (s + tau)_(n+1)], with rising
    factorials (a)_n. What comes before the sum is enclosed by a ball. In the sum, x is rounded up; each factor and each
    logarithm is right to a few units u = 2^-53, so that N terms are right to 16 N u. The rest is a geometric series.
    """
    with ctx.workprec(128):
        s, t, tau = (ball(number) for number in (alpha, beta, power))
        x = 1 / (1 + (-_logit(ball(epsilon), s, t, tau)).exp())
        above = upper_float(x)
        front = (
            s * x.log() + (t + tau) * (-x).log1p() - s.lgamma() - (t + tau).lgamma() + (s + t + tau).lgamma()
        ).exp()
    start, total, step = float(alpha), float(alpha + beta + power), float(power)
    for number in _TERMS:
        indices = np.arange(float(number))
        ratio = (total + number) * above / (start + 1 + number)
        terms = np.cumprod(np.append(1.0, (total + indices[:-1]) * above / (start + 1 + indices[:-1]))) / start
        if ratio < 1 and terms[-1] / (1 - ratio) <= 1e-12 * terms[0]:
            gaps = -np.expm1(np.cumsum(np.log1p(-step / (start + step + indices))))
            found = float(terms @ gaps) + float(terms[-1]) / (1 - ratio)
            with ctx.workprec(128):
                return upper_float(front * arb(found) * arb(1 + 16 * number * 2.0**-53))
    return None


def _enclosed(allowed: arb, s: arb, t: arb, tau: arb) -> arb:
    logit = _logit(allowed, s, t, tau)
    y = 1 / (1 + logit.exp())
    if logit > 0 and (s + t + tau) * y < 2 * t + _MODERATE:  # else both tails at y are nearly 1, and all would cancel
        first, second = y.beta_lower(t, s + tau, regularized=True), y.beta_lower(t + tau, s, regularized=True)
        return allowed.exp() * first - second - allowed.expm1()
    x = 1 / (1 + (-logit).exp())
    first, second = x.beta_lower(s, t + tau, regularized=True), x.beta_lower(s + tau, t, regularized=True)
    return first - allowed.exp() * second


def _logit(allowed: arb, s: arb, t: arb, tau: arb) -> arb:
    return ((s + tau).lgamma() - s.lgamma() - (t + tau).lgamma() + t.lgamma() - allowed) / tau


def _is_sharp(found: arb) -> bool:
    return bool(found.is_finite()) and (found.rel_accuracy_bits() >= 40 or upper_float(abs(found)) < _NOTHING)


def certified_two_cell_delta(
    epsilon: Fraction,
    alpha: Fraction,
    beta: Fraction,
    size: int,
    power: Fraction,
    enough: float = 0.0,
    tolerance: float = TOLERANCE,
    tries: int = 1,
) -> float:
    """Return an upper bound on D over all neighbouring counts in two cells, both ways; what is below `enough` counts.

    A record holds this many `tries`, which it may move all at once; the others have k of their (n - 1) tries in the
    first cell. A block k0..k1 is bounded by D(alpha + k0 tau, beta + (rest - k1) tau), as D falls in both. Beginning
    with the ends, where the largest D is found, the block with the largest bound is split until no block can be worse
    than a count that was looked at, but for a share of it that is tolerated.
    """
    rest, step = (size - 1) * tries, tries * power

    def bound(first: int, last: int) -> float:
        s, t = alpha + first * power, beta + (rest - last) * power
        return max(certified_draw_delta(epsilon, s, t, step), certified_draw_delta(epsilon, t, s, step))

    worst = max(bound(0, 0), bound(rest, rest))
    blocks = [(-bound(1, rest - 1), 1, rest - 1)] if rest > 1 else []
    while blocks and -blocks[0][0] > max(enough, worst * (1 + tolerance)):
        _, first, last = heappop(blocks)
        middle = _between(first, last, rest + 1)
        for part in ((first, middle), (middle + 1, last)):
            if part[0] == part[1]:
                worst = max(worst, bound(*part))
            else:
                heappush(blocks, (-bound(*part), *part))
    return max(worst, -blocks[0][0]) if blocks else worst


def _between(first: int, last: int, size: int) -> int:
    """Return where to split a block: in the middle of the odds (k + 1) : (n - k), as D changes fast near the ends."""
    odds = sqrt((first + 1) / (size - first) * ((last + 1) / (size - last)))
    return min(max(first, floor((odds * size - 1) / (1 + odds))), last - 1)
