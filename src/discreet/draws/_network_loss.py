"""The privacy of draws from the posterior of a network: one universal pair for each node, composed.

One record changed changes at most one family cell of each node. Where the parents stay the same, one row goes from
Dirichlet(a + tau e_x) to Dirichlet(a + tau e_y); where they differ, one row loses tau in a cell and another gains it.
A Dirichlet row is a vector of independent Gamma numbers divided by their sum, so both are coarser than the pair

    Gamma(s + tau) x Gamma(s)   against   Gamma(s) x Gamma(s + tau),      s the smallest prior parameter of the node:

a larger parameter only adds an independent Gamma number to each side. The loss of that pair is tau ln(g / g'), a
function of g / (g + g'), so the pair is equivalent to Beta(s + tau, s) against Beta(s, s + tau), and its curve is
D(s, s) of `posterior_draw`, whatever the graph and the number of records. Nodes and draws are independent: losses add.

A node without parents has one row, in which the record stays: its curve is that of a table, which is smaller. With two
levels it is the largest of D(a + k tau, b + (n - 1 - k) tau) over the counts k of n records, with more D of the two
smallest parameters.

Each loss is put on a lattice by chords, which lie above the convex curve; sums of lattice losses need no more rounding.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, log2, sqrt

import numpy as np
from flint import acb, arb, ctx
from numpy.typing import ArrayLike

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import ball
from discreet.draws._loss import (
    Curve,
    certified_draw_delta,
    certified_two_cell_delta,
    posterior_draw_delta,
    upper_float,
)
from discreet.privacy import PrivacyLoss, last_fitting

_POINTS, _FEW_POINTS = 400, 100  # points of a curve on either side of zero; fewer for a row with two levels
_LONGEST = 2**22  # most numbers in the distribution of a sum
_FARTHEST = 600.0  # e^600 is still a float
_LARGE = 1000  # prior parameter from which on curves are integrated
_LARGEST = Fraction(10**9)  # the curve of this one is used for larger ones
_MOST_RECORDS = 10**6  # records of a row with two levels; more would lower its curve by some millionths
_DIGITS = 160  # bits of working precision there
_NEGLIGIBLE = 60.0  # nats: e^-60 of a density is negligible
_TOLERANCE = 1e-6  # relative accuracy of the curve of a row with two levels
_SEARCH = 30  # bisections to find where a curve is negligible


@dataclass(frozen=True, order=True)
class NodeCurve:
    """The curve of a node: D(first, second) and back, or of one row with two levels that holds `size` records."""

    first: Fraction
    second: Fraction
    size: int | None = None

    @classmethod
    def universal(cls, smallest: Fraction) -> "NodeCurve":
        """Return the curve that holds for every node with this smallest parameter."""
        return cls(smallest, smallest)

    def at_most(self) -> "NodeCurve":
        """Return a curve nowhere below it that takes bounded work: D decreases in both parameters, also in records."""
        size = None if self.size is None else min(self.size, _MOST_RECORDS)
        return NodeCurve(min(self.first, _LARGEST), min(self.second, _LARGEST), size)

    def certified(self, epsilon: Fraction, power: Fraction) -> float:
        """Return an upper bound on the curve."""
        if self.size is not None:
            return certified_two_cell_delta(epsilon, self.first, self.second, self.size, power, tolerance=_TOLERANCE)
        if self.first == self.second:
            return _certified(epsilon, self.first, power)
        pairs = ((self.first, self.second), (self.second, self.first))
        return max(certified_draw_delta(epsilon, *pair, power) for pair in pairs)

    def about(self, epsilon: ArrayLike, power: float) -> Floats:
        """Return the curve from floats, of two cells at both ends, where it is largest."""
        more = 0.0 if self.size is None else (self.size - 1) * power
        first, second = float(self.first), float(self.second)
        ends = ((first, second + more), (second + more, first), (second, first + more), (first + more, second))
        found = [np.asarray(posterior_draw_delta(epsilon, *end, power)) for end in dict.fromkeys(ends)]
        return np.asarray(np.max(found, axis=0))


@dataclass(frozen=True)
class _Node:
    """A node's curve, the distance beyond which it is negligible, and how many independent such losses there are."""

    curve: NodeCurve
    reach: float
    times: int


@dataclass(frozen=True)
class ComposedCurve:
    """An upper bound on a privacy curve; `rounding` is what was added to delta for the rounding of transforms."""

    curve: Curve
    rounding: float

    def __call__(self, epsilon: Fraction) -> float:
        """Return the bound on delta."""
        return self.curve(epsilon)


def composed_draws(nodes: Mapping[NodeCurve, int], power: Fraction, delta: Fraction) -> ComposedCurve:
    """Return a certified upper bound on the privacy curve of a network's draws.

    `nodes` says for each curve how many independent losses there are with it: nodes times draws.
    The bound is sharp at deltas near the given one.
    """
    return _certified_sum(tuple(nodes.items()), power, float(delta))


@lru_cache(maxsize=4)
def _certified_sum(nodes: tuple[tuple[NodeCurve, int], ...], power: Fraction, delta: float) -> ComposedCurve:
    """Return the sum, kept for callers that search with it and then certify what they found."""
    return _composed(dict(nodes), power, delta, certified=True)


def composed_draws_about(nodes: Mapping[NodeCurve, int], power: Fraction, delta: Fraction) -> ComposedCurve:
    """Return the same curve from floats, to search with; what is found is certified afterwards."""
    return _composed(nodes, power, float(delta), certified=False)


def least_epsilon(curve: ComposedCurve, delta: Fraction, most: Fraction = Fraction(10_000)) -> float:
    """Return about the least epsilon at which a curve is at most delta."""
    if curve.rounding >= delta:
        raise DeclarationError(
            f"A delta of {float(delta):.3g} cannot be certified: the rounding errors of Fourier transforms alone take "
            f"{curve.rounding:.2g}, whatever epsilon is. State a larger delta, or a least probability."
        )
    if curve(most) > delta:
        raise DeclarationError(
            f"These draws have no epsilon below {most} at the stated delta. Raise delta or the prior's parameters."
        )
    return last_fitting(lambda epsilon: curve(Fraction(epsilon)) <= delta, float(most), 0.0, 1e-9)


def _composed(nodes: Mapping[NodeCurve, int], power: Fraction, delta: float, certified: bool) -> ComposedCurve:
    total = sum(nodes.values())
    losses = Counter[NodeCurve]()
    for curve, times in nodes.items():
        losses[curve.at_most()] += times
    found = [_Node(curve, _reach(curve, float(power), delta / (1000 * total)), n) for curve, n in losses.items()]
    step = max(min(node.reach for node in found) / _POINTS, sum(2 * n.reach * n.times for n in found) / _LONGEST)
    length, beyond, sums, parts = 1, 0.0, 0, list[tuple[Floats, int]]()
    for node in found:
        distribution, middle, lost = _on_lattice(node, power, step, certified)
        length, beyond, sums = (
            length + node.times * len(distribution),
            beyond + node.times * lost,
            sums + node.times * middle,
        )
        parts.append((distribution, node.times))
    return _summed(parts, 1 << ceil(log2(length)), step, sums, beyond)


def _reach(curve: NodeCurve, power: float, negligible: float) -> float:
    """Return about where the curve of one loss falls below what is negligible."""
    low, high = 0.0, 1.0
    while curve.about(high, power) > negligible and high < _FARTHEST:
        low, high = high, min(2 * high, _FARTHEST)
    for _ in range(_SEARCH):
        middle = (low + high) / 2
        far = curve.about(middle, power) <= negligible
        low, high = (low, middle) if far else (middle, high)
    return high


def _on_lattice(node: _Node, power: Fraction, step: float, certified: bool) -> tuple[Floats, int, float]:
    """Return a distribution on multiples of the step dominating a node's loss, the index of zero, and the mass beyond.

    The curve is symmetric: delta(-e) = 1 - e^-e (1 - delta(e)). It is evaluated at every k-th point of the lattice
    only, where its reach allows that.
    """
    stride = max(1, int(node.reach / (_POINTS if node.curve.size is None else _FEW_POINTS) / step))
    count = max(1, ceil(node.reach / step / stride))
    indices = np.arange(count + 1) * stride
    points = indices * step
    if certified:
        heights = np.array([node.curve.certified(Fraction(point), power) for point in points.tolist()])
    else:
        heights = node.curve.about(points, float(power))
    mirrored = np.minimum(1.0, -np.expm1(-points) + np.exp(-points) * heights)
    curve = np.concatenate([mirrored[:0:-1], heights])
    loss = PrivacyLoss.from_curve(np.concatenate([-points[:0:-1], points]).tolist(), curve.tolist())
    where = np.rint(np.array([float(value) for value in loss.losses]) / step).astype(int) + indices[-1]
    distribution = np.bincount(where, np.array(loss.probabilities), minlength=2 * indices[-1] + 1)
    return distribution.astype(float), int(indices[-1]), loss.beyond


def _certified(epsilon: Fraction, prior: Fraction, power: Fraction) -> float:
    """Return an upper bound on D(s, s; epsilon, tau)."""
    if prior < _LARGE:
        return certified_draw_delta(epsilon, prior, prior, power)
    return integrated_draw_delta(epsilon, prior, power)


@lru_cache(maxsize=4096)
def integrated_draw_delta(epsilon: Fraction, prior: Fraction, power: Fraction) -> float:
    """Return an upper bound on D(s, s; epsilon, tau) by certified quadrature: its time does not grow with s.

    With z the logit of the share, D is the integral of p(z) (1 - e^(epsilon + tau z)) over z < -epsilon / tau,
    p(z) = e^(-tau z / 2) (2 cosh(z / 2))^-(2 s + tau) / B(s, s + tau). As ln p is concave, what lies below a point is
    at most p there divided by the slope of ln p.
    """
    with ctx.workprec(_DIGITS):
        s, tau, allowed = ball(prior), ball(power), ball(epsilon)
        both = 2 * s + tau
        log_scale = s.lgamma() + (s + tau).lgamma() - both.lgamma() + both * arb(2).log()

        def density(z: acb, analytic: bool) -> acb:
            log_p = -tau * z / 2 - both * (z / 2).cosh().log(analytic=analytic) - log_scale
            return -log_p.exp() * (allowed + tau * z).expm1()

        high, low = -allowed / tau, ball(_far_below(float(prior), float(power), float(epsilon)))
        inside = acb.integral(density, acb(low), acb(high), rel_tol=arb(2) ** -45).real
        slope = -tau / 2 - (s + tau / 2) * (low / 2).tanh()
        beyond = (-tau * low / 2 - both * (low / 2).cosh().log() - log_scale).exp() / slope
        return upper_float(inside + beyond) if slope > 0 else 1.0


def _far_below(prior: float, power: float, epsilon: float) -> Fraction:
    """Return a point at which p is about e^-60 of what it is where the integral ends."""
    end, distance = -epsilon / power, 1 / sqrt(prior)

    def log_density(z: float) -> float:
        return -power * z / 2 - (2 * prior + power) * float(np.log1p(2 * np.sinh(z / 4) ** 2))

    while log_density(end) - log_density(end - distance) < _NEGLIGIBLE:
        distance *= 1.25
    return Fraction(end - distance)


def _summed(parts: list[tuple[Floats, int]], length: int, step: float, middle: int, beyond: float) -> ComposedCurve:
    """Return the curve of a sum of lattice losses, through Fourier transforms.

    Rounding errors are at most 16 u N^(1/2) log2 N for each loss, u = 2^-53, and are added to delta; a millionth of a
    step is added to every sum, for the rounding of its points.
    """
    transform = np.ones(length // 2 + 1, dtype=complex)
    for distribution, times in parts:
        transform *= np.fft.rfft(distribution, length) ** times
    distribution = np.maximum(0.0, np.fft.irfft(transform, length))
    sums = step * (np.arange(length) - middle + 1e-6)
    rounding = 16 * 2.0**-53 * sqrt(length) * log2(length) * sum(times for _, times in parts)

    def curve(epsilon: Fraction) -> float:
        above = slice(int(np.searchsorted(sums, float(epsilon))), None)
        total = float(distribution[above] @ -np.expm1(float(epsilon) - sums[above]))
        return min(1.0, total * (1 + 1e-9) + rounding + beyond)

    return ComposedCurve(curve, rounding)
