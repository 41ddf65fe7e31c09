"""How private draws from a posterior are: the certified curve of one and of several, and about it, to search with.

One draw has its exact curve: two cells, the two smallest priors of several cells, or the pairs that a family names.
Several draws are composed on a lattice; draws of a normal mean are one draw of smaller variance.

Kullback-Leibler divergences of neighbouring posteriors (Betas and Dirichlets, Gammas, normals) say about how private
they are, to search with.

Of a single parameter, two posteriors have a monotone ratio of densities. Then the draws that tell two distributions P
and Q apart best lie in a tail, and with x where ln p/q = epsilon

    delta(epsilon) = P(beyond x) - e^epsilon Q(beyond x).

Any interval that holds x gives a certified bound. Two normal distributions of one variance have the closed form, and
the mean of several draws from them is sufficient, which is normal again.
"""

from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import inf, log, sqrt

import numpy as np
from flint import arb, ctx
from numpy.typing import ArrayLike
from scipy.special import digamma

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import ball, rounded_up
from discreet.draws._composition import composed_curve, dominating_loss
from discreet.draws._loss import (
    TOLERANCE,
    Curve,
    Curves,
    certified_draw_delta,
    certified_two_cell_delta,
    posterior_draw_delta,
    upper_float,
)
from discreet.mathematics import log_gamma_ratio, root
from discreet.mathematics.distributions import CertifiedDistribution, CertifiedGamma, CertifiedNormal
from discreet.privacy import PrivacyLoss, last_fitting, raised_to_fit
from discreet.programs.families import BoundedFamily
from discreet.tables import Categories

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


def divergence_of(one: CertifiedDistribution, two: CertifiedDistribution) -> float:
    """Return the larger Kullback-Leibler divergence, both ways, of two Gamma, or two normal of one variance.

    Gamma: (a - c) psi(a) - ln Gamma(a)/Gamma(c) + c ln(b/d) + a (d - b) / b for shapes a, c and rates b, d. Normal:
    half the squared distance of the means, in standard deviations.
    """
    if isinstance(one, CertifiedNormal) and isinstance(two, CertifiedNormal) and one.variance == two.variance:
        return float((one.mean - two.mean) ** 2 / one.variance) / 2
    if not (isinstance(one, CertifiedGamma) and isinstance(two, CertifiedGamma)):
        raise DeclarationError(
            "The divergence is known for two Gamma distributions, or two normal distributions with the same variance."
        )
    return max(_gamma_divergence(one, two), _gamma_divergence(two, one))


def _gamma_divergence(one: CertifiedGamma, two: CertifiedGamma) -> float:
    a, c = float(one.shape), float(two.shape)
    shapes = float(log_gamma_ratio(np.asarray(a), c - a)) if c >= a else -float(log_gamma_ratio(np.asarray(c), a - c))
    gap = float((two.rate - one.rate) / one.rate)
    return float((a - c) * digamma(a) + shapes - c * np.log1p(gap) + a * gap)


_FARTHEST = 2000.0  # e^-2000 of the middle, or as many standard units away
_NEAR = 2.0**-50
_TINY = 1e-290
_STRIDE = 32.0  # e^32 times as far: much farther out two large numbers would cancel, and nothing be decided


def certified_pair_delta(epsilon: Fraction, first: CertifiedDistribution, second: CertifiedDistribution) -> float:
    """Return an upper bound on the delta of two distributions whose ratio of densities is monotone, both ways."""
    with ctx.workprec(192):
        if (
            isinstance(first, CertifiedNormal)
            and isinstance(second, CertifiedNormal)
            and first.variance == second.variance
        ):
            return max(0.0, upper_float(_normal_gap(ball(epsilon), first, second)))
        return max(0.0, *(upper_float(_tail_gap(epsilon, p, q)) for p, q in ((first, second), (second, first))))


def mean_of_draws(distribution: CertifiedNormal, draws: int) -> CertifiedNormal:
    """Return the distribution of the mean of several normal draws, which is sufficient for its mean."""
    return CertifiedNormal(distribution.mean, distribution.variance / draws)


def _normal_gap(allowed: arb, first: CertifiedNormal, second: CertifiedNormal) -> arb:
    """Return Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), mu the distance in standard deviations."""
    mu = abs(ball(second.mean - first.mean)) / ball(first.variance).sqrt()
    if not mu > 0:
        return arb(0)
    root = arb(2).sqrt()
    inner, outer = (allowed / mu - mu / 2) / root, (allowed / mu + mu / 2) / root
    return (inner.erfc() - allowed.exp() * outer.erfc()) / 2


def _tail_gap(epsilon: Fraction, one: CertifiedDistribution, other: CertifiedDistribution) -> arb:
    """Return a bound on sup_S P(S) - e^epsilon Q(S); S is the tail beyond the point where ln p/q is epsilon.

    Any point in an interval [x0, x1] that holds it gives P beyond the outer end minus e^epsilon Q beyond the inner one.
    """
    line = _LogRatio(one, other)
    falls = line.loss(-1.0) > line.loss(1.0)
    inner, outer = _crossing(epsilon, line, falls)
    if falls:
        return one.below(outer) - ball(epsilon).exp() * (other.below(inner) if inner is not None else 0)
    return one.above(outer) - ball(epsilon).exp() * (other.above(inner) if inner is not None else 0)


def _crossing(epsilon: Fraction, line: "_LogRatio", falls: bool) -> tuple[arb | None, arb]:
    """Return points inside and outside the tail where ln p/q > epsilon, as close as floats allow.

    The first is None where no point inside was found as far out as e^-2000: the second still bounds the tail.
    """
    sign, allowed = (-1.0 if falls else 1.0), ball(epsilon)
    outside, step = sign * -1.0, 1.0
    while not line.loss(outside) < allowed:
        outside, step = outside - sign * step, min(2 * step, _STRIDE)
    inside, step = outside, 1.0
    while not line.loss(inside) > allowed:
        inside, step = inside + sign * step, 2 * step
        if step > _FARTHEST:
            return None, line.position(outside if inside == outside else inside)
    root = line.about(allowed, min(inside, outside), max(inside, outside))
    width = _NEAR * (abs(root) + 2.0**-10)
    while not (line.loss(root + sign * width) > allowed and line.loss(root - sign * width) < allowed):
        width *= 4
    return line.position(root + sign * width), line.position(root - sign * width)


class _LogRatio:
    """The logarithm of the ratio of two densities, along a line that is mapped to their support."""

    def __init__(self, one: CertifiedDistribution, other: CertifiedDistribution) -> None:
        self._one, self._other, (low, high) = one, other, one.support
        self._is_unit, self._is_half = high is not None, low is not None
        middle = one.guess(0.5)
        self._middle = max(middle, _TINY) if self._is_half else middle  # of a tiny shape the median is below all floats
        self._high = one.guess(0.8413)

    def position(self, z: float) -> arb:
        """Return a point in the support from a number on the whole line: logit, logarithm, or standard units."""
        if self._is_unit:
            return 1 / (1 + (-arb(z)).exp())
        middle = arb(self._middle)
        return middle * arb(z).exp() if self._is_half else middle + arb(z) * (arb(self._high) - middle)

    def loss(self, z: float) -> arb:
        """Return ln p/q at a point, enclosed."""
        x = self.position(z)
        return self._one.log_density(x) - self._other.log_density(x)

    def about(self, allowed: arb, low: float, high: float) -> float:
        """Return about where ln p/q is so much."""
        return root(lambda z: float((self.loss(z) - allowed).mid()), low, high, absolute=1e-300, relative=1e-15)


Drawable = Categories | BoundedFamily
"""The models from whose posteriors parameters are drawn."""

SLACK = 1e-9
"""Draws must stay this far, in relative terms, below their stated delta: room for the rounding of a composed loss."""

_NEGLIGIBLE = 1e-3  # of a delta: where the curve of one draw is cut off
_MILLIONTH = 1e-6
_ROUGH = 1e-4  # how far the loss of one draw may lie above its curve, but at the stated epsilon
_LEAST_PART = 100  # no less than this part of the stated epsilon is charged: its loss is put on a lattice of such steps
_SAME = 1 - Fraction(1, 10**6)  # an epsilon that is less by a millionth counts as equal


def certified_delta(
    model: Drawable,
    size: int,
    power: Fraction,
    epsilon: Fraction,
    enough: float = 0.0,
    tolerance: float = TOLERANCE,
) -> float:
    """Return an upper bound on the delta of one draw over all neighbours; what is below `enough` counts."""
    if (chance := _tries(model)) is not None:
        first, second, tries = chance
        return certified_two_cell_delta(epsilon, first, second, size, power, enough, tolerance, tries)
    if not isinstance(model, Categories):
        return max(certified_pair_delta(epsilon, *pair) for pair in _pairs(model, size, power))
    smallest, second = sorted(Fraction(value) for value in model.prior)[:2]
    pairs = ((smallest, second), (second, smallest))
    return max(certified_draw_delta(epsilon, *pair, power) for pair in pairs)


@lru_cache(maxsize=32)
def certified_curve(model: Drawable, size: int, power: Fraction, draws: int, delta: Fraction) -> Curve:
    """Return an upper bound on the curve of `draws` draws, within a millionth; what is negligible is cut off."""
    enough = _NEGLIGIBLE * float(delta) / draws
    return _composed(
        model, size, power, draws, delta, lambda e: certified_delta(model, size, power, e, enough, _MILLIONTH)
    )


@lru_cache(maxsize=32)
def certified_loss(
    model: Drawable, size: int, power: Fraction, draws: int, epsilon: Fraction, delta: Fraction
) -> PrivacyLoss:
    """Return a loss that dominates `draws` draws, and has the certified delta at this epsilon."""
    negligible = float(delta) * (_NEGLIGIBLE if draws == 1 else 0.1)
    if draws > 1:
        return dominating_loss(certified_curve(model, size, power, draws, delta), negligible, epsilon).loss

    def curve(index: Fraction) -> float:
        tolerances = (0.0, TOLERANCE) if index == epsilon else (negligible, _ROUGH)
        return certified_delta(model, size, power, index, *tolerances)

    return dominating_loss(curve, negligible, epsilon).loss


@lru_cache(maxsize=256)
def least_epsilon(
    model: Drawable, size: int, power: Fraction, draws: int, epsilon: Fraction, delta: Fraction
) -> Fraction:
    """Return what draws cost at this delta: the least epsilon of six digits that is certified, never above `epsilon`.

    It is below the stated one where a power of 1 already costs less, or where somebody chose a smaller power.
    """
    allowed = float(delta) * (1 - SLACK)

    def fits(index: Fraction) -> bool:
        if draws == 1:
            return certified_delta(model, size, power, index, allowed) <= allowed
        return certified_curve(model, size, power, draws, delta)(index) <= allowed

    def about(index: Fraction) -> bool:
        return excess(model, size, float(power), draws, index, delta) <= 0 if draws == 1 else fits(index)

    return least_fitting(fits, epsilon, about)


def least_fitting(
    fits: Callable[[Fraction], bool], most: Fraction, about: Callable[[Fraction], bool] | None = None
) -> Fraction:
    """Return a number of six digits that fits, hardly above the least one, or `most`, which does; larger ones fit.

    It is sought by what is `about` true, if that is cheaper, and moved up until it is certain.
    """
    if not (about or fits)(most * _SAME):
        return most
    low, high = most / _LEAST_PART, most * _SAME
    near = Fraction(1, 10**7 + 1)  # high / low is at most 1 + 1e-7
    found = last_fitting(about or fits, high, low, near, lambda a, b: Fraction(sqrt(a * b)))
    return min(most, raised_to_fit(lambda each: each >= most or fits(each), found, Fraction(1, 10**6)))


def gaussian_rho(model: Drawable, size: int, power: Fraction, draws: int) -> Fraction | None:
    """Return draws mu^2 / 2 for normal draws that one record moves by mu standard deviations; else None.

    D_a = a mu^2 / 2 for every order (Gaussian Renyi divergence), so no delta is needed.
    """
    pairs = () if isinstance(model, Categories) else _means(_pairs(model, size, power), draws)
    squares = [(two.mean - one.mean) ** 2 / one.variance for one, two in pairs]
    return rounded_up(max(squares) / 2, 9) if squares else None


def exact_divergence(model: Drawable, size: int, power: Fraction) -> float:
    """Return the largest Kullback-Leibler divergence of one draw between neighbours, both ways."""
    if (chance := _tries(model)) is not None:
        first, second, tries = chance
        return largest_divergence((float(first), float(second)), size, float(power), tries)
    if isinstance(model, Categories):
        return largest_divergence(model.concentration.tolist(), size, float(power))
    return max(divergence_of(*pair) for pair in _pairs(model, size, power))


def excess(model: Drawable, size: int, power: float, draws: int, epsilon: Fraction, delta: Fraction) -> float:
    """Return ln(delta of the draws / stated delta), about, in floats: what is found by it is certified afterwards."""
    rounded = short_decimal(power, -1)
    a, b, tries, more = 0.0, 0.0, 1, 0.0
    if (chance := _tries(model)) is not None:
        a, b, tries = float(chance[0]), float(chance[1]), chance[2]
        more = (size - 1) * tries * power
    elif isinstance(model, Categories):
        a, b = sorted(model.prior)[:2]
    s, t = np.array([a, b + more, b, a + more]), np.array([b + more, a, a + more, b])

    def curves(allowed: Sequence[Fraction]) -> list[float]:
        if not a:  # no chance: balls
            return [certified_delta(model, size, rounded, each) for each in allowed]
        epsilons = np.array([float(each) for each in allowed])
        found: list[float] = posterior_draw_delta(epsilons[:, None], s, t, tries * power).max(axis=1).tolist()
        return found

    found = _composed(model, size, rounded, draws, delta, lambda allowed: curves([allowed])[0], curves)(epsilon)
    return log(found / (float(delta) * (1 - 2 * SLACK))) if found else -inf


def _composed(
    model: Drawable,
    size: int,
    power: Fraction,
    draws: int,
    delta: Fraction,
    single: Curve,
    several: Curves | None = None,
) -> Curve:
    if draws == 1:
        return single
    means = () if isinstance(model, Categories) else _means(_pairs(model, size, power), draws)
    if means:
        return lambda epsilon: max(certified_pair_delta(epsilon, *pair) for pair in means)
    return composed_curve(dominating_loss(single, _NEGLIGIBLE * float(delta) / draws, several=several), draws)


def _tries(model: Drawable) -> tuple[Fraction, Fraction, int] | None:
    """Return the prior of a chance and the tries of a record, one of two cells; None of all other parameters."""
    if not isinstance(model, Categories):
        return model.tries()
    first, second = sorted(Fraction(value) for value in model.prior)[:2]
    return (first, second, 1) if len(model.cells) == 2 else None


@lru_cache(maxsize=32)
def _pairs(
    model: BoundedFamily, size: int, power: Fraction
) -> tuple[tuple[CertifiedDistribution, CertifiedDistribution], ...]:
    return tuple(model.neighbours(size, power))


def _means(
    pairs: tuple[tuple[CertifiedDistribution, CertifiedDistribution], ...], draws: int
) -> tuple[tuple[CertifiedNormal, CertifiedNormal], ...]:
    """Return the distributions of the mean of several draws if all are normal with one variance, else None."""
    normal = [(one, two) for one, two in pairs if isinstance(one, CertifiedNormal) and isinstance(two, CertifiedNormal)]
    if len(normal) < len(pairs) or any(one.variance != two.variance for one, two in normal):
        return ()
    return tuple((mean_of_draws(one, draws), mean_of_draws(two, draws)) for one, two in normal)


def short_decimal(number: float | Fraction, direction: int, digits: int = 12) -> Fraction:
    """Return a short decimal next to a number: above it if the direction is 1, below it if it is -1."""
    context = Context(prec=digits, rounding=ROUND_CEILING if direction > 0 else ROUND_FLOOR)
    return Fraction(context.divide(Decimal(Fraction(number).numerator), Decimal(Fraction(number).denominator)))
