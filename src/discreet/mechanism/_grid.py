"""Exact draws on a grid: the cell in which a draw of a distribution lies, never a float.

For a distribution on the real line the cell of a draw is j = floor(2^g V). A uniform number U, of which more secure
bits are drawn only when they are needed, is compared with certified enclosures of its distribution function at grid
points; bits and precision grow until every comparison is decided. So the cell has exactly the distribution of a perfect
draw that is then rounded, and rounding a private draw costs no privacy.

How many comparisons that takes, and how long each of them takes, is decided by public facts, but for comparisons so
close that 64 more bits are drawn; see the threat model.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from math import ceil, floor

import numpy as np
from flint import arb, ctx

from discreet._core.arrays import Counts
from discreet._core.exact import ball
from discreet.mathematics.distributions import CertifiedBeta, CertifiedDistribution
from discreet.noise.randomness import RandomBits

FARTHEST = 2**62
"""On an infinite support the outermost cells, this many units from zero, hold all that lies beyond them."""

MOST_GRID_BITS = 50
"""Beyond, the middle of the last cell, as a float, would be one, and probabilities zero."""
NEGLIGIBLE_BEYOND = 1e-9
"""A family is refused a grid beyond which draws may lie with more than this probability."""

_WORD = 64
_SURE_BITS = 44  # leading bits of a quantile on which floats agree with the truth


class GridDistribution:
    """The distribution of floor(2^grid_bits V) for V with a given distribution, restricted to the cells first..last.

    >>> from discreet.mathematics.distributions import CertifiedBeta
    >>> from discreet.noise.randomness import SeededBits
    >>> GridDistribution(CertifiedBeta(Fraction(3), Fraction(2)), grid_bits=4).sample(5, SeededBits(1)).tolist()
    [4, 4, 1, 12, 7]
    """

    def __init__(
        self, distribution: CertifiedDistribution, grid_bits: int, first: int | None = None, last: int | None = None
    ) -> None:
        low, high = distribution.support
        self._distribution, self._grid_bits = distribution, grid_bits
        self._first_end, self._last_end = _scaled(low, grid_bits), _scaled(high, grid_bits)
        lowest = -FARTHEST if self._first_end is None else self._first_end
        highest = FARTHEST if self._last_end is None else self._last_end - 1
        self.first = lowest if first is None else max(first, lowest)
        self.last = highest if last is None else min(last, highest)
        self._known: dict[tuple[int, int], tuple[int, int]] = {}
        self._whole: dict[int, arb] = {}

    @property
    def is_empty(self) -> bool:
        """Return whether no cell is left."""
        return self.first > self.last

    def sample(self, count: int, bits: RandomBits) -> Counts:
        """Draw independent cells."""
        return np.array([self._draw(bits) for _ in range(count)], dtype=np.int64)

    def _draw(self, bits: RandomBits) -> int:
        """Find the cell j with C(j) <= U < C(j + 1): halve a window around a guess, which hardly ever misses it.

        How wide the window is follows from how large the guess is: floats know about 44 bits of it.
        """
        uniform = LazyUniform(bits)
        start = self._guess(uniform.about)
        half = max(2, 1 << max(0, abs(start).bit_length() - _SURE_BITS))
        low, high, step = max(self.first, start - half), min(self.last + 1, start + half), half
        while not self._reached(low, uniform):
            low, high, step = max(self.first, low - step), low, 2 * step
        while self._reached(high, uniform):
            low, high, step = high, min(self.last + 1, high + step), 2 * step
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._reached(middle, uniform) else (low, middle)
        return low

    def _guess(self, probability: float) -> int:
        low, high = self._float_ends
        guess = self._distribution.guess(low + probability * (high - low)) * 2.0**self._grid_bits
        return int(min(max(guess, self.first), self.last)) if np.isfinite(guess) else self.first

    @cached_property
    def _float_ends(self) -> tuple[float, float]:
        low, high = (self._float_below(edge) for edge in (self.first, self.last + 1))
        return (low, high) if high > low else (0.0, 1.0)

    def _float_below(self, edge: int) -> float:
        """Return about P(V < edge), for the guess only."""
        if self._outside(edge) is not None:
            return float(self._outside(edge) or 0)
        with ctx.workprec(_WORD):
            return float(self._distribution.below(self._place(edge)).mid())

    def _outside(self, edge: int) -> int | None:
        """Return 0 or 1 at an edge of the support, None inside."""
        if edge <= (-FARTHEST if self._first_end is None else self._first_end):
            return 0
        return 1 if edge >= (FARTHEST + 1 if self._last_end is None else self._last_end) else None

    def _place(self, edge: int) -> arb:
        return ball(Fraction(edge, 1 << self._grid_bits))

    def _reached(self, edge: int, uniform: "LazyUniform") -> bool:
        """Return whether C(edge) <= U, C the distribution function within the allowed cells."""
        if edge <= self.first or edge > self.last:
            return edge <= self.first
        while True:
            length = uniform.length
            if (edge, length) not in self._known:
                self._known[edge, length] = self._enclosed(edge, length)
            decided = uniform.compared(*self._known[edge, length])
            if decided is not None:
                return decided
            uniform.extend()

    def _enclosed(self, edge: int, length: int) -> tuple[int, int]:
        """Return whole numbers below and above 2^length C(edge)."""
        with ctx.workprec(length + _WORD):
            if length not in self._whole:
                self._whole[length] = self.mass(self.first, self.last + 1)
            return enclosing_integers(self.mass(self.first, edge) / self._whole[length], length)

    def mass(self, low: int, high: int) -> arb:
        """Return P(low <= 2^g V < high), enclosed: differences of both tails are made, the sharper one counts."""
        if self._outside(low) == 0:
            return self._below(high)
        if self._outside(high) == 1:
            return self._above(low)
        left, right = self._below(high) - self._below(low), self._above(low) - self._above(high)
        return left if left.rad() < right.rad() else right

    def _below(self, edge: int) -> arb:
        end = self._outside(edge)
        return self._distribution.below(self._place(edge)) if end is None else arb(end)

    def _above(self, edge: int) -> arb:
        end = self._outside(edge)
        return self._distribution.above(self._place(edge)) if end is None else arb(1 - end)


_MOST_STICKS = 20  # of more, even two cells for each are too many outputs to list


def coarser(grid_bits: int, sticks: int) -> Iterator[Mapping[str, object]]:
    """Yield grids of few bits, the finest first, as fields of a mechanism; none if there are too many sticks."""
    for bits in range(min(6, grid_bits) if sticks <= _MOST_STICKS else 0, 0, -1):
        yield {"grid_bits": bits}


def likely_cells(distributions: Sequence[CertifiedDistribution], grid_bits: int) -> tuple[int, int]:
    """Return the first and the last cell of a grid; of an infinite one, of those that hold all but about 1e-13."""
    grid, unit = GridDistribution(distributions[0], grid_bits), 2.0**grid_bits
    if None not in distributions[0].support:
        return grid.first, grid.last
    ends = [
        int(np.floor(distribution.guess(chance) * unit))
        for distribution in distributions
        for chance in (1e-13, 1 - 1e-13)
    ]
    return max(grid.first, min(ends)), min(grid.last, max(ends) + 1)


def grid_points(ends: Sequence[tuple[int, int]], most: int) -> Counts | None:
    """Return all rows of cells between these first and last ones, or nothing if there are more than `most`."""
    number = 1
    for first, last in ends:
        number *= last - first + 1
        if number > most:
            return None
    axes = np.meshgrid(*(np.arange(first, last + 1) for first, last in ends), indexing="ij")
    return np.stack(axes, axis=-1).reshape(number, len(ends))


def beyond(distribution: CertifiedDistribution, reach: Fraction) -> float:
    """Return about the probability that a distribution with an infinite support puts beyond -reach and reach."""
    low, high = distribution.support
    with ctx.workprec(_WORD):
        left = distribution.below(ball(-reach)) if low is None else arb(0)
        right = distribution.above(ball(reach)) if high is None else arb(0)
        return float((left + right).mid())


class LazyUniform:
    """A uniform number in [0, 1) whose bits are drawn when they are needed."""

    def __init__(self, bits: RandomBits) -> None:
        self._bits, self._number, self.length = bits, 0, 0
        self.extend()

    def extend(self) -> None:
        """Draw 64 more bits."""
        self._number, self.length = self._number << _WORD | int(self._bits.words(1)[0]), self.length + _WORD

    @property
    def about(self) -> float:
        """Return the number as a float, for guesses only."""
        return (self._number + 0.5) / 2.0**self.length

    @property
    def enclosed(self) -> arb:
        """Return a ball that holds the number."""
        return arb(self._number).union(arb(self._number + 1)) / arb(2) ** self.length

    def compared(self, below: int, above: int) -> bool | None:
        """Return whether a threshold in (below, above) / 2^length is at most the number, if that is decided."""
        if above <= self._number:
            return True
        return False if below > self._number else None

    def is_below(self, probability: arb) -> bool | None:
        """Return whether the number is below an enclosed probability, if that is decided."""
        reached = self.compared(*enclosing_integers(probability, self.length))
        return None if reached is None else not reached


def enclosing_integers(share: arb, length: int) -> tuple[int, int]:
    """Return whole numbers below and above 2^length times a share of one; the whole range if it is not known yet."""
    if not share.is_finite():
        return 0, 1 << length
    scaled = share * arb(2) ** length
    below, above = scaled.lower().floor().unique_fmpz(), scaled.upper().ceil().unique_fmpz()
    low = 0 if below is None else max(0, int(below))
    return low, 1 << length if above is None else min(1 << length, int(above))


def _scaled(end: int | None, grid_bits: int) -> int | None:
    return None if end is None else end << grid_bits


def stick_distributions(shapes: Sequence[Fraction], largest: Fraction) -> tuple[CertifiedBeta, ...]:
    """Return the distributions of the sticks of a Dirichlet draw: v_i ~ Beta(a_i, a_(i+1) + ... + a_m), independent.

    `largest` is a public bound on the sum of all shapes. It is what the work of each stick is measured by.
    """
    rests = np.cumsum(np.array(shapes[::-1], dtype=object))[::-1]
    return tuple(CertifiedBeta(shape, rest, largest) for shape, rest in zip(shapes[:-1], rests[1:], strict=True))


def truncated_range(cells: int, least: Fraction, grid_bits: int) -> tuple[int, int]:
    """Return the first and last cell of a stick that leaves at least `least` for each cell, itself included."""
    unit = 1 << grid_bits
    return ceil(least * unit), floor((1 - (cells - 1) * least) * unit) - 1


def truncated_stick(cells: int, least: Fraction, grid_bits: int) -> tuple[float, float]:
    """Return the least and the largest value of such a stick, which is all that there is with two cells."""
    first, last = truncated_range(cells, least, grid_bits)
    return first * 2.0**-grid_bits, (last + 1) * 2.0**-grid_bits
