"""The privacy loss of a mechanism: how well one output separates two neighbouring data sets.

For output distributions P and Q the loss of an output is L = ln P/Q. The distribution of L under P says all there is to
say about a pair: the pure epsilon is max L, delta(epsilon) = E[(1 - e^(epsilon - L))^+] is the hockey-stick divergence,
and losses of independent releases add (`added`). A mechanism states the distribution of a pair that dominates all of
its neighbours, both ways; of several possible changes the worst counts (`envelope`). Probabilities are balls until they
are stated, as floats that are rounded up.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain, pairwise, product
from math import expm1, fsum, gcd, inf, lcm, nextafter, prod

import numpy as np
from flint import arb, arb_poly, ctx

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, ball, exact, probability, rounded_up
from discreet.privacy._calibration import last_fitting

_ROUNDING = 1e-13  # relative; sums of a million floats, each within 2e-16
_FINE = 1e-4  # relative width of the steps over which the Renyi divergence is bounded
_SHARP, _CUTS = 1e-6, 16  # what a sharp zCDP parameter may lie above the true one, and parts into which a step is cut
_AT_ONCE = 2**22  # exponentials computed together


@dataclass(frozen=True)
class PrivacyLoss:
    """A privacy loss distribution: exact values, with upper bounds on their probabilities and on that of infinity."""

    losses: tuple[Fraction, ...]
    probabilities: tuple[float, ...]
    beyond: float = 0.0

    @classmethod
    def worst_case(cls, epsilon: Fraction) -> "PrivacyLoss":
        """Return the loss that dominates every pure epsilon mechanism: that of randomised response."""
        with ctx.workprec(128):
            chances = [1 / (1 + (sign * ball(epsilon)).exp()) for sign in (-1, 1)]
            return cls((epsilon, -epsilon), tuple(min(1.0, nextafter(float(p.upper()), inf)) for p in chances))

    @classmethod
    def from_curve(cls, epsilons: Sequence[float | Fraction], deltas: Sequence[float]) -> "PrivacyLoss":
        """Return a loss whose delta(epsilon) is nowhere below a privacy curve known at some points, from above.

        As a function of x = e^epsilon any such curve is convex and falls from 1 at x = 0, so the chords through its
        points lie above it, and so do chords that leave points out. The chords are the curve of the distribution with
        Q-mass (change of slope) at each x; these masses are enclosed by balls and rounded up, so that at a given point
        no more than a few units in the last place are added to what was given there.
        """
        heights = np.maximum.accumulate(np.asarray(deltas, dtype=float)[::-1])[::-1].tolist()
        losses = [Fraction(epsilon) for epsilon in epsilons]
        if len(losses) != len(heights) or any(one >= two for one, two in pairwise(losses)):
            raise DeclarationError("A privacy curve needs several increasing epsilons, and one delta for each.")
        with ctx.workprec(192):
            indices = [arb(0), *(ball(loss).exp() for loss in losses)]
            corners = _lower_hull(indices, [arb(1), *(arb(height) for height in heights)])
            slopes = [(h1 - h0) / (indices[j] - indices[i]) for (i, h0), (j, h1) in pairwise(corners)] + [arb(0)]
            kinks = zip(corners[1:], pairwise(slopes), strict=True)
            masses = {losses[i - 1]: (after - before) * indices[i] for (i, _), (before, after) in kinks}
            chances = tuple(max(0.0, nextafter(float(mass.upper()), inf)) for mass in masses.values())
        return cls(tuple(masses), chances, heights[-1])

    @classmethod
    def from_symmetric_curve(cls, epsilons: Sequence[Fraction], deltas: Sequence[float]) -> "PrivacyLoss":
        """Return a loss nowhere below a curve that is given for epsilon >= 0 and holds in both directions.

        Exchanging both distributions of a pair turns delta(epsilon) into delta(-epsilon) = 1 - (1 - delta(epsilon))
        e^-epsilon.
        """
        with ctx.workprec(128):
            pairs = list(zip(epsilons, deltas, strict=True))[:0:-1]
            mirrored = [1 - (1 - arb(delta)) * ball(-epsilon).exp() for epsilon, delta in pairs]
            upper = [min(1.0, nextafter(float(height.upper()), inf)) for height in mirrored]
        return cls.from_curve([*(-epsilon for epsilon, _ in pairs), *epsilons], [*upper, *deltas])

    @property
    def epsilon(self) -> Fraction | float:
        """Return the exact pure epsilon, the largest loss; infinite if a loss can be."""
        return max(self.losses) if not self.beyond else inf

    def delta_at(self, epsilon: Exact) -> float:
        """Return delta(epsilon), rounded up.

        >>> loss = PrivacyLoss((Fraction(1), Fraction(-1)), (0.7310585786300049, 0.2689414213699951))
        >>> round(loss.delta_at(0), 12)
        0.46211715726
        """
        allowed = exact(epsilon, "epsilon")
        pairs = zip(self.losses, self.probabilities, strict=True)
        total = fsum(p * -expm1(float(allowed - loss)) for loss, p in pairs if loss > allowed) + self.beyond
        return min(1.0, nextafter(total * (1 + _ROUNDING), 1.0)) if total else 0.0

    def epsilon_at(self, delta: Exact) -> Fraction | float:
        """Return a short decimal at least as large as the smallest epsilon whose delta is at most this one."""
        allowed = float(probability(delta, "delta"))
        if self.beyond > allowed:
            return inf
        highest = max(Fraction(0), *self.losses)
        if allowed == 0 or self.delta_at(0) <= allowed:
            return Fraction(0) if self.delta_at(0) <= allowed else highest
        found = last_fitting(lambda e: self.delta_at(Fraction(e)) <= allowed, float(highest), 0.0, 1e-9)
        return min(highest, rounded_up(found, 9))

    @cached_property
    def rho(self) -> Fraction:
        """Return an upper bound on the zCDP parameter, sup over orders a > 1 of D_a / a, rounded up.

        With t = a - 1 and K(t) = ln E e^(t L), D_a / a = K(t) / (t (1 + t)). K(t)/t increases, so on a step [s, t] this
        is at most K(t) / (t (1 + s)); beyond some order D_a / a <= epsilon / a decides.
        """
        if self.beyond:
            raise DeclarationError("A privacy loss that can be infinite has no zCDP parameter (rho).")
        losses = np.array([float(loss) for loss in self.losses])
        chances = np.array(self.probabilities)
        most, found, start = float(self.epsilon), 0.0, 0.0
        if most == 0:
            return Fraction(0)
        while found == 0.0 or most / (1 + start) > found:
            ends = (1 + start) * (1 + _FINE) ** np.arange(1, 2001) - 1
            starts = np.append(start, ends[:-1])
            found = max(found, float((_growth(ends[:, None] * losses, chances) / (ends * (1 + starts))).max()))
            start = float(ends[-1])
        return rounded_up(Fraction(found) * (1 + Fraction(1, 10**9)), 9)

    @cached_property
    def sharp_rho(self) -> Fraction:
        """Return the zCDP parameter within a millionth of it, rounded up: branch and bound over the orders.

        With g(t) = K(t)/t, which increases from g(0) = E[L], D_a / a = g(t) / (1 + t) is at most g(t) / (1 + s) on a
        step [s, t]. Steps that might beat the best order found are divided until none can, up to the millionth. (`rho`
        has fixed steps and lies up to 1e-4 above; what was charged by it stays unchanged.)
        """
        if self.beyond:
            raise DeclarationError("A privacy loss that can be infinite has no zCDP parameter (rho).")
        if not any(self.losses):
            return Fraction(0)
        edges = np.geomspace(2.0**-10, 2.0**10, 161)
        best = max(self._mean_loss, float((self._slopes(edges) / (1 + edges)).max()))
        while float(self.epsilon) / (1 + edges[-1]) > best:  # beyond the last order D_a <= epsilon decides
            edges = np.append(edges, edges[-1] * 2.0 ** np.arange(1, 11))
        starts, ends = np.append(0.0, edges[:-1]), edges
        while len(starts):
            slopes = self._slopes(ends)
            best = max(best, float((slopes / (1 + ends)).max()))
            may_win = slopes / (1 + starts) > best * (1 + _SHARP)
            cuts = np.linspace(starts[may_win], ends[may_win], _CUTS + 1)
            starts, ends = cuts[:-1].ravel(), cuts[1:].ravel()
        return rounded_up(Fraction(best) * (1 + Fraction(_SHARP) + Fraction(1, 10**9)), 9)

    @property
    def divergence(self) -> float:
        """Return the Kullback-Leibler divergence of the finite losses, rounded up."""
        return max(self._mean_loss, 0.0) * (1 + _ROUNDING)

    @cached_property
    def _mean_loss(self) -> float:
        """Return E[L], the Kullback-Leibler divergence."""
        return fsum(float(loss) * p for loss, p in zip(self.losses, self.probabilities, strict=True))

    def _slopes(self, orders: Floats) -> Floats:
        """Return K(t) / t for rows of t, few at a time."""
        losses, chances = np.array([float(loss) for loss in self.losses]), np.array(self.probabilities)
        pieces = np.array_split(orders, -(-orders.size * losses.size // _AT_ONCE))
        return np.concatenate([_growth(t[:, None] * losses, chances) / t for t in pieces])


def _growth(exponents: Floats, chances: Floats) -> Floats:
    """Return ln sum_i p_i e^(x_i) for rows of exponents; near zero through e^x - 1, which keeps all digits."""
    peaks = exponents.max(axis=1)
    with np.errstate(over="ignore", invalid="ignore"):
        small = np.log1p(np.expm1(exponents) @ chances)
    return np.where(peaks < 1, small, peaks + np.log(np.exp(exponents - peaks[:, None]) @ chances))


def _lower_hull(indices: Sequence[arb], heights: Sequence[arb]) -> list[tuple[int, arb]]:
    """Return the corners of the lower convex hull: numbers of points, and their heights.

    A chord between two points above a convex curve lies above the curve, so nothing is lost with the other points.
    """
    kept: list[tuple[int, arb]] = []
    for third, height in enumerate(heights):
        while len(kept) >= 2:
            (first, low), (second, middle) = kept[-2:]
            left, right = indices[second] - indices[first], indices[third] - indices[second]
            if not (middle - low) * right > (height - middle) * left:
                break
            kept.pop()
        kept.append((third, height))
    return kept


Atoms = Sequence[tuple[Fraction, arb]]
"""The values of a loss with their probabilities."""

_PRECISION = 192
_BETWEEN = 32  # points between two values where another loss takes the lead
_FEW = 2**12  # sums that are listed one by one
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
    lattice = [
        ([(int(gap / unit), chance) for gap, chance in each], n) for each, (_, n) in zip(gaps, used, strict=True)
    ]
    with ctx.workprec(_PRECISION):
        sums = prod(len(each) ** times for each, times in lattice)
        found = sums_one_by_one(lattice) if sums <= _FEW else sums_by_products(lattice)
        top = sum((high * times for high, (_, times) in zip(tops, used, strict=True)), Fraction(0))
        return stated([(top - place * unit, chance) for place, chance in sorted(found.items(), reverse=True)], beyond)


Lattice = Sequence[tuple[list[tuple[int, arb]], int]]
"""Parts on a lattice: whole places with their probabilities, and how often each part is repeated."""


def sums_one_by_one(parts: Lattice) -> dict[int, arb]:
    """Return the distribution of the sum of independent parts, one sum after the other: for few sums, far apart."""
    found = {0: arb(1)}
    for each, times in parts:
        for _ in range(times):
            longer: dict[int, arb] = {}
            for (place, own), (step, chance) in product(found.items(), each):
                longer[place + step] = longer.get(place + step, arb(0)) + own * chance
            found = longer
    return {place: chance for place, chance in found.items() if not chance.is_zero()}


def sums_by_products(parts: Lattice) -> dict[int, arb]:
    """Return the same by products of polynomials, whose coefficients fill the lattice."""
    whole = arb_poly([1])
    for each, times in parts:
        coefficients = [arb(0)] * (max(place for place, _ in each) + 1)
        for place, chance in each:
            coefficients[place] += chance
        whole *= arb_poly(coefficients) ** times
    return {place: chance for place, chance in enumerate(whole.coeffs()) if not chance.is_zero()}


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
