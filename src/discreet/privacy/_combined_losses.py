"""Combined privacy losses: those of independent numbers add; of several possible changes the worst counts.

Inside, probabilities are balls; only what is stated is a float, rounded up.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain, pairwise
from math import gcd, inf, lcm, nextafter

from flint import arb, arb_poly, ctx

from discreet.privacy._loss import PrivacyLoss

Atoms = Sequence[tuple[Fraction, arb]]
"""The values of a loss with their probabilities."""

_PRECISION = 192
_BETWEEN = 32  # points between two values where another loss takes the lead
_LONGEST = 2**16  # different values of a sum; beyond, values are rounded up to a coarser lattice


def upper_float(number: arb) -> float:
    """Return a float above everything that a ball holds."""
    return nextafter(float(number.upper()), inf)


def stated(atoms: Atoms, beyond: float = 0.0) -> PrivacyLoss:
    """Return the loss with these values, its probabilities rounded up."""
    chances = tuple(max(0.0, upper_float(chance)) for _, chance in atoms)
    return PrivacyLoss(tuple(loss for loss, _ in atoms), chances, beyond)


def atoms_of(loss: PrivacyLoss) -> Atoms:
    """Return the values of a stated loss."""
    return [(value, arb(chance)) for value, chance in zip(loss.losses, loss.probabilities, strict=True)]


def added(parts: Sequence[tuple[Atoms, int]], beyond: float = 0.0) -> PrivacyLoss:
    """Return the loss of independent parts, each repeated: losses add, their distribution is a product of polynomials.

    All values are multiples of a common unit, counted down from the largest; if there were too many of them, the unit
    is made coarser and values are rounded up to it. The largest loss stays exact.
    """
    used = [(atoms, times) for atoms, times in parts if times]
    if not used:
        return PrivacyLoss((Fraction(0),), (1.0,), beyond)
    tops = [max(value for value, _ in atoms) for atoms, _ in used]
    gaps = [[(top - value, chance) for value, chance in atoms] for (atoms, _), top in zip(used, tops, strict=True)]
    unit = _common_unit([gap for gap, _ in chain.from_iterable(gaps)])
    longest = (max(gap for gap, _ in each) * times for each, (_, times) in zip(gaps, used, strict=True))
    length = sum(longest, Fraction(0))
    unit = max(unit, length / _LONGEST)
    with ctx.workprec(_PRECISION):
        product = arb_poly([1])
        for each, (_, times) in zip(gaps, used, strict=True):
            coefficients = [arb(0)] * (int(max(gap for gap, _ in each) / unit) + 1)
            for gap, chance in each:
                coefficients[int(gap / unit)] += chance
            product *= arb_poly(coefficients) ** times
        top = sum((high * times for high, (_, times) in zip(tops, used, strict=True)), Fraction(0))
        found = [(top - index * unit, chance) for index, chance in enumerate(product.coeffs()) if not chance.is_zero()]
        return stated(found[::-1], beyond)


def _common_unit(numbers: Sequence[Fraction]) -> Fraction:
    """Return the largest number of which all these are whole multiples."""
    different = {number for number in numbers if number}
    if not different:
        return Fraction(1)
    scale = lcm(*(number.denominator for number in different))
    return Fraction(gcd(*(int(number * scale) for number in different)), scale)


def envelope(losses: Sequence[PrivacyLoss]) -> PrivacyLoss:
    """Return a loss whose delta(epsilon) is nowhere below that of any of these, and hardly above the largest of them.

    Each delta is convex and piecewise linear in e^epsilon with its kinks at the values of the loss, so comparing two
    at all values is comparing them everywhere. If one is the largest throughout it is returned as it is; where another
    takes the lead between two values, the curve is considered in between too.
    """
    different = list(dict.fromkeys(losses))
    if len(different) == 1:
        return different[0]
    indices = sorted({value for loss in different for value in loss.losses})
    curves = [[loss.delta_at(index) for loss in different] for index in indices]
    for index, loss in enumerate(different):
        if all(heights[index] == max(heights) for heights in curves):
            return loss
    leaders = [heights.index(max(heights)) for heights in curves]
    steps = [Fraction(step, _BETWEEN) for step in range(1, _BETWEEN)]
    pairs = zip(pairwise(indices), pairwise(leaders), strict=True)
    extra = [low + (high - low) * step for (low, high), (one, two) in pairs if one != two for step in steps]
    looked = sorted([*indices, *extra])
    return PrivacyLoss.from_curve(looked, [max(loss.delta_at(index) for loss in different) for index in looked])
