"""The exact privacy of one draw from a conjugate posterior, and of several.

Neighbouring Dirichlet posteriors differ in two cells, and the ratio of their densities depends only on the share that
one cell has of the two. So one draw of theta ~ Dirichlet(alpha + tau k) tells neighbours apart exactly as well as one
draw of that share does, Beta(s, t + tau) against Beta(s + tau, t), and its privacy curve is

    D(s, t; epsilon, tau) = I_x(s, t + tau) - e^epsilon I_x(s + tau, t),
    logit x = (ln B(s + tau, t) - ln B(s, t + tau) - epsilon) / tau.

D falls as s or t grow: multiplying the share by an independent Beta(s + t + tau, r) turns t into t + r. Hence with
three or more cells the worst neighbours have empty cells with the two smallest priors, whatever the number of records;
with two cells all n pairs are compared. Other families with one parameter have a curve of the same kind, two tails of
two laws. What a guarantee rests on is computed with balls and rounded up.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from heapq import heappop, heappush
from math import ceil, exp, inf, log2, nextafter, sqrt
from typing import Any

import numpy as np
from flint import arb, ctx
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaln, expit, gammainc, gammaincc, ndtr

from discreet.certificates.privacy_loss import PrivacyLoss
from discreet.errors import DeclarationError
from discreet.exact import ball
from discreet.models.bounded_family import Law, incomplete_beta
from discreet.special import log_gamma_ratio

Floats = NDArray[np.float64]
Curve = Callable[[Fraction], float]

_NOTHING = 2.0**-200  # a delta below this is not worth more digits
_POINTS = 160  # where a curve is evaluated before chords are drawn through it
_HALVINGS = 70


def posterior_draw_delta(epsilon: ArrayLike, alpha: ArrayLike, beta: ArrayLike, power: ArrayLike = 1.0) -> Any:
    """Return D(alpha, beta; epsilon, power) to about twelve digits; arrays are taken element by element.

    The form above is used where x <= 1/2; elsewhere, with y = 1 - x, it would cancel, and
    D = e^epsilon I_y(t, s + tau) - I_y(t + tau, s) - (e^epsilon - 1) is used.

    >>> round(posterior_draw_delta(epsilon=1.0, alpha=1.0, beta=10.0), 14)
    0.17578412079894
    """
    given = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (epsilon, alpha, beta, power)))
    allowed, s, t, tau = given
    if not ((s > 0) & (t > 0) & (tau > 0)).all():
        raise DeclarationError("alpha, beta and power must be above 0.")
    logit = (log_gamma_ratio(s, tau) - log_gamma_ratio(t, tau) - allowed) / tau
    x, y = expit(logit), expit(-logit)
    lower = betainc(s, t + tau, x) - np.exp(allowed) * betainc(s + tau, t, x)
    upper = np.exp(allowed) * betainc(t, s + tau, y) - betainc(t + tau, s, y) - np.expm1(allowed)
    found = np.maximum(0.0, np.where(logit <= 0, lower, upper))
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
        raise DeclarationError("The order of a Renyi divergence is above 1.")
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
    """Return the exact delta of one draw of an exponential rate: Gamma(shape) laws whose rates have this ratio > 1."""
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
    """Return an upper bound on D(alpha, beta; epsilon, power), within 2^-40 of it in relative terms."""
    precision = 128
    while True:
        with ctx.workprec(precision):
            s, t, tau, allowed = (ball(number) for number in (alpha, beta, power, epsilon))
            logs = (s + tau).lgamma() - s.lgamma() - (t + tau).lgamma() + t.lgamma()
            x = 1 / (1 + ((allowed - logs) / tau).exp())
            first = incomplete_beta(alpha, beta + power, x)
            found = first - allowed.exp() * incomplete_beta(alpha + power, beta, x)
            if _is_sharp(found):
                return max(0.0, upper_float(found))
        precision *= 2


def _is_sharp(found: arb) -> bool:
    return bool(found.is_finite()) and (found.rel_accuracy_bits() >= 40 or upper_float(abs(found)) < _NOTHING)


def certified_two_cell_delta(
    epsilon: Fraction, alpha: Fraction, beta: Fraction, size: int, power: Fraction, enough: float = 0.0
) -> float:
    """Return an upper bound on D over all neighbouring counts in two cells, both ways; what is below `enough` counts.

    A block of counts k0..k1 is bounded by D(alpha + k0 tau, beta + (n - 1 - k1) tau), as D falls in both. The block
    with the largest bound is split until it is a single count: then no other can be worse.
    """

    def bound(first: int, last: int) -> float:
        s, t = alpha + first * power, beta + (size - 1 - last) * power
        return max(certified_draw_delta(epsilon, s, t, power), certified_draw_delta(epsilon, t, s, power))

    blocks = [(-bound(0, size - 1), 0, size - 1)]
    while True:
        found, first, last = heappop(blocks)
        if first == last or -found <= enough:
            return -found
        middle = (first + last) // 2
        for part in ((first, middle), (middle + 1, last)):
            heappush(blocks, (-bound(*part), *part))


def certified_pair_delta(epsilon: Fraction, first: Law, second: Law) -> float:
    """Return an upper bound on the delta of two laws whose ratio of densities is monotone, both ways."""
    with ctx.workprec(192):
        return max(0.0, *(upper_float(_tail_gap(epsilon, p, q)) for p, q in ((first, second), (second, first))))


def _tail_gap(epsilon: Fraction, one: Law, other: Law) -> arb:
    """Return a bound on sup_S P(S) - e^epsilon Q(S); S is the tail beyond the place where ln p/q is epsilon.

    Any place in an interval [x0, x1] that holds it gives P beyond the outer end minus e^epsilon Q beyond the inner one.
    """
    near, far = _place(one, -1.0), _place(one, 1.0)
    falls = _loss(one, other, near) > _loss(one, other, far)
    inner, outer = _crossing(epsilon, one, other, falls)
    if falls:
        return one.below(outer) - ball(epsilon).exp() * (other.below(inner) if inner is not None else 0)
    return one.above(outer) - ball(epsilon).exp() * (other.above(inner) if inner is not None else 0)


def _crossing(epsilon: Fraction, one: Law, other: Law, falls: bool) -> tuple[arb | None, arb]:
    """Return places inside and outside the tail where ln p/q > epsilon, as close as floats allow.

    The first is None where no place inside was found as far out as e^-2000: the second still bounds the tail.
    """
    sign, allowed = (-1.0 if falls else 1.0), ball(epsilon)
    outside, step = sign * -1.0, 1.0
    while not _loss(one, other, _place(one, outside)) < allowed:
        outside, step = outside - sign * step, 2 * step
    inside, step = outside, 1.0
    while not _loss(one, other, _place(one, inside)) > allowed:
        inside, step = inside + sign * step, 2 * step
        if step > 2000:
            return None, _place(one, outside if inside == outside else inside)
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        loss = _loss(one, other, _place(one, middle))
        inside, outside = (middle if loss > allowed else inside), (middle if loss < allowed else outside)
    return _place(one, inside), _place(one, outside)


def _loss(one: Law, other: Law, x: arb) -> arb:
    return one.log_density(x) - other.log_density(x)


def _place(law: Law, z: float) -> arb:
    """Return a place in the support from a number on the whole line: logit, logarithm, or standard units."""
    low, high = law.support
    if high is not None:
        return 1 / (1 + (-arb(z)).exp())
    middle = arb(law.guess(0.5))
    return middle * arb(z).exp() if low is not None else middle + arb(z) * (arb(law.guess(0.8413)) - middle)


def dominating_loss(curve: Curve, epsilon: Fraction, negligible: float) -> PrivacyLoss:
    """Return a loss that dominates a symmetric privacy curve, given by certified values.

    Chords are drawn through the curve up to where it is negligible, `epsilon` among the places; below zero
    delta(-e) = 1 - x (1 - delta(e)), x = e^-e, as both directions are in the curve.
    """
    farthest = epsilon + 1
    while curve(farthest) > negligible and farthest < 500:
        farthest += max(Fraction(1), farthest / 4)
    steps = max(1, round(_POINTS * epsilon / farthest))
    places = [epsilon * place / steps for place in range(steps + 1)] if epsilon else [Fraction(0)]
    rest = max(2, _POINTS - steps)
    places += [epsilon + (farthest - epsilon) * place / rest for place in range(1, rest + 1)]
    heights = [curve(place) for place in places]
    points = np.array([float(place) for place in places])
    mirrored = np.minimum(1.0, -np.expm1(-points) + np.exp(-points) * heights)
    return PrivacyLoss.from_curve(
        np.concatenate([-points[:0:-1], points]).tolist(), np.concatenate([mirrored[:0:-1], heights]).tolist()
    )


def composed_delta(loss: PrivacyLoss, times: int, epsilon: Fraction) -> float:
    """Return an upper bound on delta(epsilon) of `times` independent releases with a loss that dominates each."""
    return composed_curve(loss, times)(epsilon)


def composed_curve(loss: PrivacyLoss, times: int, steps: int = 20_000) -> Curve:
    """Return an upper bound on the privacy curve of `times` independent releases with a loss that dominates each.

    Losses are rounded up to a grid, so they can only grow; the law of their sum is a power of a Fourier transform,
    whose rounding error, at most 16 u N^(1/2) log2 N for each release with u = 2^-53, is added.
    """
    if times == 1:
        return loss.delta_at
    losses, chances = np.array([float(value) for value in loss.losses]), np.array(loss.probabilities)
    width = float(np.ptp(losses)) / steps
    places = np.ceil((losses - losses.min()) / width - 1e-9).astype(int)
    length = 1 << ceil(log2(times * (int(places.max()) + 1) + 1))
    law = np.maximum(0.0, np.fft.irfft(np.fft.rfft(np.bincount(places, chances), length) ** times, length))
    sums = times * (float(losses.min()) + 1e-9 * width) + width * np.arange(length)
    lost = 16 * 2.0**-53 * sqrt(length) * times * log2(length) + times * loss.beyond

    def curve(epsilon: Fraction) -> float:
        above = slice(int(np.searchsorted(sums, float(epsilon))), None)
        total = float(law[above] @ -np.expm1(float(epsilon) - sums[above]))
        return min(1.0, total * (1 + 1e-9) + lost)

    return curve


def last_that_fits(fits: Callable[[float], bool], fitting: float, failing: float) -> float:
    """Return the number closest to `failing` that still fits, by halving on a logarithmic scale to twelve digits."""
    if not fits(fitting):
        raise DeclarationError("No draw from this posterior has the asked guarantee: raise epsilon or delta.")
    if fits(failing):
        return failing
    while abs(failing / fitting - 1) > 1e-12:
        middle = sqrt(fitting * failing)
        fitting, failing = (middle, failing) if fits(middle) else (fitting, middle)
    return fitting
