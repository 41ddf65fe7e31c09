"""The privacy of one draw of a single parameter: two laws whose ratio of densities is monotone.

Then the draws that tell two laws P and Q apart best lie in a tail, and with x where ln p/q = epsilon

    delta(epsilon) = P(beyond x) - e^epsilon Q(beyond x).

Any interval that holds x gives a certified bound. Two normal laws of one variance have the closed form, and several
draws from them tell no more than their mean does, which is normal again.
"""

from fractions import Fraction

from flint import arb, ctx

from discreet.certificates.posterior_draw import upper_float
from discreet.exact import ball
from discreet.mathematics.digits import root
from discreet.mathematics.distributions.certified import CertifiedDistribution, CertifiedNormal

_FARTHEST = 2000.0  # e^-2000 of the middle, or as many standard units away
_NEAR = 2.0**-50
_TINY = 1e-290
_STRIDE = 32.0  # e^32 times as far: much farther out two large numbers would cancel, and nothing be decided


def certified_pair_delta(epsilon: Fraction, first: CertifiedDistribution, second: CertifiedDistribution) -> float:
    """Return an upper bound on the delta of two laws whose ratio of densities is monotone, both ways."""
    with ctx.workprec(192):
        if (
            isinstance(first, CertifiedNormal)
            and isinstance(second, CertifiedNormal)
            and first.variance == second.variance
        ):
            return max(0.0, upper_float(_normal_gap(ball(epsilon), first, second)))
        return max(0.0, *(upper_float(_tail_gap(epsilon, p, q)) for p, q in ((first, second), (second, first))))


def mean_of_draws(law: CertifiedNormal, draws: int) -> CertifiedNormal:
    """Return the law of the mean of several draws of a normal law, which says all that they say about its mean."""
    return CertifiedNormal(law.mean, law.variance / draws)


def _normal_gap(allowed: arb, first: CertifiedNormal, second: CertifiedNormal) -> arb:
    """Return Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), mu the distance in standard deviations."""
    mu = abs(ball(second.mean - first.mean)) / ball(first.variance).sqrt()
    if not mu > 0:
        return arb(0)
    root = arb(2).sqrt()
    inner, outer = (allowed / mu - mu / 2) / root, (allowed / mu + mu / 2) / root
    return (inner.erfc() - allowed.exp() * outer.erfc()) / 2


def _tail_gap(epsilon: Fraction, one: CertifiedDistribution, other: CertifiedDistribution) -> arb:
    """Return a bound on sup_S P(S) - e^epsilon Q(S); S is the tail beyond the place where ln p/q is epsilon.

    Any place in an interval [x0, x1] that holds it gives P beyond the outer end minus e^epsilon Q beyond the inner one.
    """
    line = _Line(one, other)
    falls = line.loss(-1.0) > line.loss(1.0)
    inner, outer = _crossing(epsilon, line, falls)
    if falls:
        return one.below(outer) - ball(epsilon).exp() * (other.below(inner) if inner is not None else 0)
    return one.above(outer) - ball(epsilon).exp() * (other.above(inner) if inner is not None else 0)


def _crossing(epsilon: Fraction, line: "_Line", falls: bool) -> tuple[arb | None, arb]:
    """Return places inside and outside the tail where ln p/q > epsilon, as close as floats allow.

    The first is None where no place inside was found as far out as e^-2000: the second still bounds the tail.
    """
    sign, allowed = (-1.0 if falls else 1.0), ball(epsilon)
    outside, step = sign * -1.0, 1.0
    while not line.loss(outside) < allowed:
        outside, step = outside - sign * step, min(2 * step, _STRIDE)
    inside, step = outside, 1.0
    while not line.loss(inside) > allowed:
        inside, step = inside + sign * step, 2 * step
        if step > _FARTHEST:
            return None, line.place(outside if inside == outside else inside)
    root = line.about(allowed, min(inside, outside), max(inside, outside))
    width = _NEAR * (abs(root) + 2.0**-10)
    while not (line.loss(root + sign * width) > allowed and line.loss(root - sign * width) < allowed):
        width *= 4
    return line.place(root + sign * width), line.place(root - sign * width)


class _Line:
    """The logarithm of the ratio of two densities, along a line that is mapped to their support."""

    def __init__(self, one: CertifiedDistribution, other: CertifiedDistribution) -> None:
        self._one, self._other, (low, high) = one, other, one.support
        self._is_unit, self._is_half = high is not None, low is not None
        middle = one.guess(0.5)
        self._middle = max(middle, _TINY) if self._is_half else middle  # of a tiny shape the median is below all floats
        self._high = one.guess(0.8413)

    def place(self, z: float) -> arb:
        """Return a place in the support from a number on the whole line: logit, logarithm, or standard units."""
        if self._is_unit:
            return 1 / (1 + (-arb(z)).exp())
        middle = arb(self._middle)
        return middle * arb(z).exp() if self._is_half else middle + arb(z) * (arb(self._high) - middle)

    def loss(self, z: float) -> arb:
        """Return ln p/q at a place, enclosed."""
        x = self.place(z)
        return self._one.log_density(x) - self._other.log_density(x)

    def about(self, allowed: arb, low: float, high: float) -> float:
        """Return about where ln p/q is so much."""
        return root(lambda z: float((self.loss(z) - allowed).mid()), low, high, absolute=1e-300, relative=1e-15)
