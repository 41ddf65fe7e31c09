"""Exact draws from finite distributions: uniform subsets and compositions, and weights known through enclosures."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate

import numpy as np
from flint import arb, ctx

from discreet.noise.randomness._samplers import IntArray, RandomBits, uniform_below


def subset(size: int, among: int, bits: RandomBits) -> IntArray:
    """Draw a uniform subset of `size` of the numbers 0, ..., among - 1, in increasing order.

    Uniform numbers are drawn until `size` different ones were seen; the larger half is drawn through its complement.
    """
    if 2 * size > among:
        left_out = subset(among - size, among, bits)
        return np.delete(np.arange(among, dtype=np.int64), left_out)
    seen = np.zeros(0, dtype=np.int64)
    while seen.size < size:
        seen = np.union1d(seen, uniform_below(among, size - seen.size, bits).astype(np.int64))
    return seen


def composition(total: int, parts: int, bits: RandomBits) -> IntArray:
    """Draw a uniform way to write `total` as an ordered sum of `parts` numbers >= 0: bars among stars."""
    bars = subset(parts - 1, total + parts - 1, bits)
    edges = np.concatenate(([-1], bars, [total + parts - 1]))
    return np.diff(edges) - 1


def bernoulli(probability: Callable[[], arb], bits: RandomBits, first: int | None = None) -> bool:
    """Draw an event of a probability that is known through enclosures at the working precision of the ball arithmetic.

    A uniform number is compared with it, 64 bits at a time, until the comparison is certain; its `first` 64 bits may
    have been drawn already.
    """
    drawn, length = 0, 0
    while True:
        word = int(bits.words(1)[0]) if first is None or length else first
        drawn, length = drawn << 64 | word, length + 64
        with ctx.workprec(2 * length + 64):
            scaled = probability() * arb(2) ** length
            if scaled >= drawn + 1:
                return True
            if scaled <= drawn:
                return False


class FiniteDistribution:
    """A distribution on {0, ..., k - 1} known through certified enclosures of its unnormalised weights.

    `weights()` is called at the working precision of the ball arithmetic and returns one ball for each outcome. A draw
    compares lazily extended random bits with the enclosed cumulative weights and is refined until it is decided, so the
    distribution that is sampled is the exact one, not that of any approximation.
    """

    def __init__(self, weights: Callable[[], Sequence[arb]]) -> None:
        self._weights = weights
        lower, upper = self._boundaries(63)
        self._lower, self._upper = np.array(lower, dtype=np.uint64), np.array(upper, dtype=np.uint64)

    def sample(self, count: int, bits: RandomBits) -> IntArray:
        """Draw `count` independent outcomes."""
        drawn = bits.words(count) >> np.uint64(1)
        least = np.searchsorted(self._upper, drawn, side="right")
        most = np.searchsorted(self._lower, drawn, side="right")
        for index in np.flatnonzero(least != most):
            least[index] = self._refined(int(drawn[index]), bits)
        return least.astype(np.int64)

    def _refined(self, drawn: int, bits: RandomBits, length: int = 63) -> int:
        drawn, length = drawn << 64 | int(bits.words(1)[0]), length + 64
        lower, upper = self._boundaries(length)
        least, most = bisect_right(upper, drawn), bisect_right(lower, drawn)
        return least if least == most else self._refined(drawn, bits, length)

    def _boundaries(self, length: int) -> tuple[list[int], list[int]]:
        """Return integers below and above 2^length times each inner boundary of the cumulative distribution."""
        with ctx.workprec(2 * length + 64):
            weights = self._weights()
            total, scale, running = sum(weights, arb(0)), arb(2) ** length, arb(0)
            lower, upper = [], []
            for weight in weights[:-1]:
                running += weight
                edge = running / total * scale
                lower.append(_integer(edge.lower().floor()))
                upper.append(_integer(edge.upper().ceil()))
        # The true boundaries never decrease, so neither do their enclosures.
        return list(accumulate(lower, max)), list(accumulate(reversed(upper), min))[::-1]


def _integer(ball: arb) -> int:
    number = ball.unique_fmpz()
    if number is None:
        raise ArithmeticError("the working precision does not hold a boundary")  # cannot happen at 2 * length + 64 bits
    return int(number)
