"""Exact draws from a Dirichlet distribution truncated to probabilities of at least w, by rejection.

Let theta_j be the probability with the largest shape, T = theta_j = 1 - S, and b = a_j - 1 >= 0. Then for any rate

    T^b <= C e^(-rate S),    C the largest T^b e^(rate S) for w <= T <= 1 - (m - 1) w,

so the other probabilities are proposed as independent Gamma(a_i, rate) numbers on [w, 1 - (m - 1) w], and a proposal is
kept with probability T^b e^(-rate S) / C if T >= w. The rate at which the mean of S is where that is largest makes the
number of proposals about sqrt(m), however the counts are; as b >= 0 all is smooth there. If all shapes are below one,
the density is multiplied by theta_1 + ... + theta_m = 1: a sum of m densities, each with one shape above one.

A Gamma number on an interval is drawn through y = ln(theta / w), whose density ~ e^(a y - c e^y) is log-concave for all
a > 0, below a constant and two tangents. Points are chosen with floats, on which nothing but speed depends. Numbers are
balls, functions of uniform bits that are drawn when they are needed; so distributions are exact.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, log, log1p

import numpy as np
from flint import arb, ctx

from discreet._core.arrays import Floats
from discreet._core.exact import ball
from discreet.mathematics import root
from discreet.mechanism import LazyUniform
from discreet.noise.randomness import FiniteDistribution, RandomBits

_ROOM = 128  # bits of working precision beyond those that were drawn
_HALVINGS = 50
_NEGLIGIBLE = 30.0  # e^-30 of the peak: where means stop to be integrated
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)


class TruncatedDirichlet:
    """Proposals for theta ~ Dirichlet(shapes) with every theta_i >= least, three cells or more."""

    def __init__(self, shapes: Sequence[Fraction], least: Fraction) -> None:
        largest = max(range(len(shapes)), key=shapes.__getitem__)
        self._shapes, self._lasts = shapes, [largest] if shapes[largest] >= 1 else list(range(len(shapes)))
        self._tilts = {shapes[last]: _Tilt(shapes, last, least) for last in self._lasts}
        self._choice = FiniteDistribution(self._weights) if len(self._lasts) > 1 else None

    def _weights(self) -> list[arb]:
        """Return the integral of what lies above each of several densities."""
        found = {shape: tilt.weight() for shape, tilt in self._tilts.items()}
        return [found[self._shapes[last]] for last in self._lasts]

    def propose(self, bits: RandomBits) -> "DirichletProposal":
        """Return a proposal that is to be kept with its `acceptance`."""
        last = self._lasts[0 if self._choice is None else int(self._choice.sample(1, bits)[0])]
        tilt = self._tilts[self._shapes[last]]
        others = [*self._shapes[:last], *self._shapes[last + 1 :]]
        return DirichletProposal(tilt, last, [tilt.distributions[shape].draw(bits) for shape in others])


class _Tilt:
    """The bound T^b <= C e^(-rate S), T the probability of cell `last`; the other distributions by shape."""

    def __init__(self, shapes: Sequence[Fraction], last: int, least: Fraction) -> None:
        most = 1 - (len(shapes) - 1) * least
        top = Fraction(log1p(float((most - least) / least)) * (1 + 1e-12))
        self.least, self._others = least, Counter([*shapes[:last], *shapes[last + 1 :]])
        self.power = shapes[last] - 1 if shapes[last] >= 1 else shapes[last]
        self.rate = _balanced_rate(self._others, self.power, least, most)
        self.level = min(max(self.power / self.rate, least), most)
        self.distributions = {shape: LogGamma(shape, self.rate * least, top) for shape in self._others}

    def weight(self) -> arb:
        """Return C times the normalisers of all Gamma numbers."""
        found = (ball(self.power) * ball(self.level).log() + ball(self.rate * (1 - self.level))).exp()
        for shape, times in self._others.items():
            found *= (self.distributions[shape].total() * ball(self.least) ** ball(shape)) ** times
        return found


@dataclass(frozen=True)
class DirichletProposal:
    """A vector of probabilities, known to as many digits as are drawn; the one of cell `last` is what others leave."""

    tilt: _Tilt
    last: int
    logs: list["LazyLog"]

    def theta(self) -> list[arb]:
        """Return enclosures of the probabilities, at the working precision."""
        found = [ball(self.tilt.least) * each.value().exp() for each in self.logs]
        found.insert(self.last, 1 - sum(found, arb(0)))
        return found

    def acceptance(self, left: arb) -> arb:
        """Return T^b e^(-rate S) / C for an enclosed T, zero if it is too small."""
        if left < ball(self.tilt.least):
            return arb(0)
        power, rate, level = (ball(number) for number in (self.tilt.power, self.tilt.rate, self.tilt.level))
        found = (power * (left / level).log() - rate * (left - level)).exp()
        return found if left > ball(self.tilt.least) else found.union(arb(0))

    def extend(self) -> None:
        """Draw further digits of all probabilities."""
        for each in self.logs:
            each.uniform.extend()


class LogGamma:
    """The density ~ e^(a y - c e^y) on 0 <= y <= top, drawn below a constant and two tangents."""

    def __init__(self, shape: Fraction, scale: Fraction, top: Fraction) -> None:
        self.shape, self._scale, self._top = shape, scale, top
        self._pieces = _pieces(float(shape), float(scale), float(top))
        self._choice = FiniteDistribution(lambda: [self._mass(piece) for piece in self._pieces])

    def draw(self, bits: RandomBits) -> "LazyLog":
        """Draw y by rejection; at least half of the proposals are kept."""
        while True:
            piece = self._pieces[int(self._choice.sample(1, bits)[0])]
            drawn = LazyLog(self, piece, LazyUniform(bits))
            if happens(lambda drawn=drawn: self._kept(drawn), bits, drawn.uniform.extend):  # type: ignore[misc]
                return drawn

    def _kept(self, drawn: "LazyLog") -> arb:
        """Return the density at y divided by what lies above it."""
        y, (height, slope) = drawn.value(), self.line(drawn.piece)
        return (self._log_density(y) - height - slope * (y - ball(drawn.piece.low))).exp()

    def _log_density(self, y: arb) -> arb:
        return ball(self.shape) * y - ball(self._scale) * y.exp()

    def line(self, piece: "_Piece") -> tuple[arb, arb]:
        """Return height and slope, at the low end of a piece, of a line above the logarithm of the density."""
        if piece.touch is None:
            return self._highest(), arb(0)
        touch = ball(piece.touch)
        slope = ball(self.shape) - ball(self._scale) * touch.exp()
        return self._log_density(touch) + slope * ball(piece.low - piece.touch), slope

    def _highest(self) -> arb:
        """Return the maximum: at zero, at the top, or where a = c e^y, whose value is never exceeded anywhere."""
        if self.shape <= self._scale:
            return self._log_density(arb(0))
        if ball(self.shape) >= ball(self._scale) * ball(self._top).exp():
            return self._log_density(ball(self._top))
        return ball(self.shape) * (ball(self.shape / self._scale).log() - 1)

    def _mass(self, piece: "_Piece") -> arb:
        (height, slope), width = self.line(piece), ball(piece.high - piece.low)
        return height.exp() * (width if piece.touch is None else (slope * width).expm1() / slope)

    def total(self) -> arb:
        """Return the integral of e^(a y - c e^y), (Gamma(a, c) - Gamma(a, c e^top)) / c^a."""
        shape, scale = ball(self.shape), ball(self._scale)
        upper = scale * ball(self._top).exp()
        return (scale.gamma_upper(shape) - upper.gamma_upper(shape)) / scale**shape


@dataclass(frozen=True)
class _Piece:
    """An interval on which a line lies above: the tangent at `touch`, or a constant."""

    low: Fraction
    high: Fraction
    touch: Fraction | None


@dataclass(frozen=True)
class LazyLog:
    """A number y with density ~ e^(slope y) on a piece, as a function of a uniform number."""

    distribution: LogGamma
    piece: _Piece
    uniform: LazyUniform

    def value(self) -> arb:
        """Return low + ln(1 + U (e^(slope width) - 1)) / slope, enclosed."""
        low, width = ball(self.piece.low), ball(self.piece.high - self.piece.low)
        if self.piece.touch is None:
            return low + self.uniform.enclosed * width
        _, slope = self.distribution.line(self.piece)
        return low + (self.uniform.enclosed * (slope * width).expm1()).log1p() / slope


def happens(probability: Callable[[], arb], bits: RandomBits, refine: Callable[[], None]) -> bool:
    """Draw an event whose probability is a function of numbers that `refine` makes better known."""
    uniform = LazyUniform(bits)
    while True:
        with ctx.workprec(uniform.length + _ROOM):
            decided = uniform.is_below(probability())
        if decided is not None:
            return decided
        uniform.extend()
        refine()


def _pieces(shape: float, scale: float, top: float) -> list[_Piece]:
    """Return where a constant and the tangents, at the points where the density is 1/e of its peak, are lowest."""
    peak = min(max(log(shape) - log(scale), 0.0), top)
    there = scale * exp(peak)

    def drop(distance: float) -> float:
        return there * expm1(distance) - shape * distance

    left, right = 0.0, top
    found = list[_Piece]()
    if drop(top - peak) > 1:
        touch = _halved(drop, top - peak)
        right = peak + max(0.0, touch - drop(touch) / (there * exp(touch) - shape))
        found.append(_Piece(Fraction(right), Fraction(top), Fraction(peak + touch)))
    if drop(-peak) > 1:
        touch = _halved(drop, -peak)
        left = peak + min(0.0, touch + drop(touch) / (shape - there * exp(touch)))
        found.append(_Piece(Fraction(0), Fraction(left), Fraction(peak + touch)))
    found.append(_Piece(Fraction(left), Fraction(right), None))
    return [piece for piece in found if piece.low < piece.high]


def _halved(drop: Callable[[float], float], far: float) -> float:
    """Return the distance at which the logarithm of the density is one below its peak."""
    near = 0.0
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        near, far = (near, middle) if drop(middle) > 1 else (middle, far)
    return far


def _balanced_rate(shapes: Counter[Fraction], power: Fraction, least: Fraction, most: Fraction) -> Fraction:
    """Return about the rate at which the mean of S is 1 - T for the T at which T^b e^(rate S) is largest."""
    values, times = np.array([float(shape) for shape in shapes]), np.array(list(shapes.values()))
    b, w, h = float(power), float(least), float(most)

    def excess(log_rate: float) -> float:
        rate = exp(log_rate)
        return float(times @ _means(values, rate, w, h)) - float(1 - Fraction(min(max(b / rate, w), h)))

    low, high = log(1e-3), log(2 * (float(values @ times) + times.sum()) / (h - w) + (b + 1) / w)
    found = root(excess, low, high, relative=1e-12) if excess(low) > 0 > excess(high) else low
    return Fraction(exp(found))


def _means(shapes: Floats, rate: float, least: float, most: float) -> Floats:
    """Return about the means of Gamma(shapes, rate) numbers on an interval."""
    scale, top = rate * least, log1p((most - least) / least)
    peaks = np.clip(np.log(shapes) - log(scale), 0.0, top)
    there = scale * np.exp(peaks)
    low, high = _edges(shapes, there, -peaks), _edges(shapes, there, top - peaks)
    points = ((low + high) / 2)[:, None] + ((high - low) / 2)[:, None] * _NODES
    weights = np.exp(shapes[:, None] * points - there[:, None] * np.expm1(points)) * _WEIGHTS
    thetas = least * np.exp(peaks[:, None] + points)
    return np.asarray((weights * thetas).sum(axis=1) / weights.sum(axis=1))


def _edges(shapes: Floats, there: Floats, ends: Floats) -> Floats:
    """Return the distances from the peaks at which densities are negligible, or the ends where they never are."""
    near, far = np.zeros_like(ends), ends
    for _ in range(_HALVINGS // 2):
        middle = (near + far) / 2
        out = there * np.expm1(middle) - shapes * middle > _NEGLIGIBLE
        near, far = np.where(out, near, middle), np.where(out, middle, far)
    return np.asarray(far)
