"""How private draws from a posterior are: the certified curve of one and of several, and about it, to search with.

One draw has its exact curve: two cells, the two smallest priors of several cells, or the pairs that a family names.
Several draws are composed on a lattice; draws of a normal mean are one draw of smaller variance.
"""

from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import inf, log, sqrt

import numpy as np

from discreet.certificates import PrivacyLoss
from discreet.certificates.calibration import last_fitting, raised_to_fit
from discreet.certificates.posterior_composition import composed_curve, dominating_loss
from discreet.certificates.posterior_divergences import largest_divergence, law_divergence
from discreet.certificates.posterior_draw import (
    TOLERANCE,
    Curve,
    Curves,
    certified_draw_delta,
    certified_two_cell_delta,
    posterior_draw_delta,
)
from discreet.certificates.posterior_pairs import certified_pair_delta, mean_of_draws
from discreet.exact import rounded_up
from discreet.mathematics.distributions.certified import CertifiedDistribution, CertifiedNormal
from discreet.models import Categories
from discreet.models.bounded_family import BoundedFamily

Drawable = Categories | BoundedFamily
"""The models from whose posteriors parameters are drawn."""

SLACK = 1e-9
"""Draws must stay this far, in relative terms, below their stated delta: room for the rounding of a composed loss."""

_NEGLIGIBLE = 1e-3  # of a delta: where the curve of one draw is cut off
_MILLIONTH = 1e-6
_ROUGH = 1e-4  # how far the loss of one draw may lie above its curve, but at the stated epsilon
_LEAST_PART = 100  # no less than this part of the stated epsilon is charged: its loss is put on a lattice of such steps
_SAME = 1 - Fraction(1, 10**6)  # an epsilon that is less by a millionth is not told apart


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

    def curve(place: Fraction) -> float:
        tolerances = (0.0, TOLERANCE) if place == epsilon else (negligible, _ROUGH)
        return certified_delta(model, size, power, place, *tolerances)

    return dominating_loss(curve, negligible, epsilon).loss


@lru_cache(maxsize=256)
def least_epsilon(
    model: Drawable, size: int, power: Fraction, draws: int, epsilon: Fraction, delta: Fraction
) -> Fraction:
    """Return what draws cost at this delta: the least epsilon of six digits that is certified, never above `epsilon`.

    It is below the stated one where a power of 1 already costs less, or where somebody chose a smaller power.
    """
    allowed = float(delta) * (1 - SLACK)

    def fits(place: Fraction) -> bool:
        if draws == 1:
            return certified_delta(model, size, power, place, allowed) <= allowed
        return certified_curve(model, size, power, draws, delta)(place) <= allowed

    def about(place: Fraction) -> bool:
        return excess(model, size, float(power), draws, place, delta) <= 0 if draws == 1 else fits(place)

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
    """Return draws mu^2 / 2 for draws of a normal law that one record moves by mu standard deviations; else None.

    D_a = a mu^2 / 2 for every order (Gaussian Renyi divergence), so no delta is needed.
    """
    pairs = () if isinstance(model, Categories) else _means(_pairs(model, size, power), draws)
    squares = [(two.mean - one.mean) ** 2 / one.variance for one, two in pairs]
    return rounded_up(max(squares) / 2, 9) if squares else None


def exact_divergence(model: Drawable, size: int, power: Fraction) -> float:
    """Return the largest Kullback-Leibler divergence between the laws of one draw for neighbours, both ways."""
    if (chance := _tries(model)) is not None:
        first, second, tries = chance
        return largest_divergence((float(first), float(second)), size, float(power), tries)
    if isinstance(model, Categories):
        return largest_divergence(model.concentration.tolist(), size, float(power))
    return max(law_divergence(*pair) for pair in _pairs(model, size, power))


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
        places = np.array([float(each) for each in allowed])
        found: list[float] = posterior_draw_delta(places[:, None], s, t, tries * power).max(axis=1).tolist()
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
    """Return the laws of the mean of several draws if all pairs are normal laws of one variance, else nothing."""
    normal = [(one, two) for one, two in pairs if isinstance(one, CertifiedNormal) and isinstance(two, CertifiedNormal)]
    if len(normal) < len(pairs) or any(one.variance != two.variance for one, two in normal):
        return ()
    return tuple((mean_of_draws(one, draws), mean_of_draws(two, draws)) for one, two in normal)


def short_decimal(number: float | Fraction, direction: int, digits: int = 12) -> Fraction:
    """Return a short decimal next to a number: above it if the direction is 1, below it if it is -1."""
    context = Context(prec=digits, rounding=ROUND_CEILING if direction > 0 else ROUND_FLOOR)
    return Fraction(context.divide(Decimal(Fraction(number).numerator), Decimal(Fraction(number).denominator)))
