"""A bound on the privacy loss that needs no enumeration, for any number of records and cells.

Take distributions P(r | x) ~ e^(-c(x) H(x, r)), H <= 1 a metric. For neighbours x, x' at distance h with scales c, c':

    |ln P(r | x) / P(r | x')| <= 2 min(c, c') h + |c - c'|.

Proof. Let c <= c'. Then c' H' - c H = c (H' - H) + (c' - c) H' lies between -c h and c h + (c' - c), by the triangle
inequality and 0 <= H' <= 1. The ratio of the normalisers is an average of e^(c' H' - c H) or of its inverse, so its
logarithm lies between the same two bounds, with the opposite sign in the loss. The two together span at most
2 c h + (c' - c). QED
"""

from fractions import Fraction
from math import ceil, floor, log10

from flint import arb

from discreet._core.exact import ball

_DIGITS = 6


def pair_bound(scale: float, other_scale: float, distance: float) -> float:
    """Return 2 min(c, c') h + |c - c'| for one pair of neighbours.

    >>> pair_bound(2.0, 2.5, 0.25)
    1.5
    """
    return 2 * min(scale, other_scale) * distance + abs(scale - other_scale)


def smooth_bound(strength: arb, gamma: arb, least: arb) -> arb:
    """Return 2 t + (t/least)(1 - e^-gamma), for c = t/S, S >= least smooth: S(x) <= e^gamma S(x') for neighbours.

    min(c, c') h <= t because S is at least the distance to every neighbour.
    """
    return 2 * strength + strength / least * (1 - (-gamma).exp())


def varying_bound(strength: arb, least: arb, most: arb) -> arb:
    """Return 2 t + t/least - t/most, for c = t/S with S between `least` and `most` and at least every distance."""
    return 2 * strength + strength / least - strength / most


def rounded_up(number: arb | float) -> Fraction:
    """Return a number of six digits that is at least the given one, so that all machines state the same.

    >>> rounded_up(0.4253525818)
    Fraction(425353, 1000000)
    """
    upper = Fraction(float(number.upper())) if isinstance(number, arb) else Fraction(number)
    decimals = _DIGITS - 1 - floor(log10(float(upper)))
    unit = Fraction(10) ** decimals
    rounded = Fraction(ceil(upper * unit)) / unit
    return rounded if not isinstance(number, arb) or ball(rounded) >= number else rounded + 1 / unit
