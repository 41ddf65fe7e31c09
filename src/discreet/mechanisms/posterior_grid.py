"""Exact draws on a grid: the cell in which a draw of a law lies, never a float.

For a law on the real line the cell of a draw is j = floor(2^g V). A uniform number U, of which more secure bits are
drawn only when they are needed, is compared with certified enclosures of the law's distribution function at grid
points; bits and precision grow until every comparison is decided. So the cell has exactly the law of a perfect draw
that is then rounded, and rounding a private draw costs no privacy.

How long this takes depends on the law, and so on the secret; see the threat model.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor, log

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from discreet.errors import DeclarationError
from discreet.exact import ball
from discreet.models.bounded_family import Law
from discreet.randomness import RandomBits

Counts = NDArray[np.int64]

FARTHEST = 2**62
"""On an infinite support the outermost cells, this many units from zero, hold all that lies beyond them."""

NEGLIGIBLE_BEYOND = 1e-9
"""A family is refused a grid beyond which draws may lie with more than this probability."""

_WORD = 64
_MOST_SUMMED = 14  # bits: normalisers of truncated draws are summed over at most this many cells


class GridLaw:
    """The law of floor(2^grid_bits V) for V with a given law, restricted to the cells first..last.

    >>> from discreet.models.bounded_family import BetaLaw
    >>> from discreet.randomness import SeededBits
    >>> GridLaw(BetaLaw(Fraction(3), Fraction(2)), grid_bits=4).sample(5, SeededBits(1)).tolist()
    [4, 4, 1, 12, 7]
    """

    def __init__(self, law: Law, grid_bits: int, first: int | None = None, last: int | None = None) -> None:
        low, high = law.support
        self._law, self._grid_bits = law, grid_bits
        self._first_end, self._last_end = _scaled(low, grid_bits), _scaled(high, grid_bits)
        lowest = -FARTHEST if self._first_end is None else self._first_end
        highest = FARTHEST if self._last_end is None else self._last_end - 1
        self.first = lowest if first is None else max(first, lowest)
        self.last = highest if last is None else min(last, highest)
        self._known: dict[tuple[int, int], tuple[int, int]] = {}

    @property
    def is_empty(self) -> bool:
        """Tell whether no cell is left."""
        return self.first > self.last

    def sample(self, count: int, bits: RandomBits) -> Counts:
        """Draw independent cells."""
        return np.array([self._draw(bits) for _ in range(count)], dtype=np.int64)

    def _draw(self, bits: RandomBits) -> int:
        """Find the cell j with C(j) <= U < C(j + 1), starting from a guess and doubling steps away from it."""
        uniform = LazyUniform(bits)
        start = self._guess(uniform.about)
        low, high, step = start, start + 1, 1
        while not self._reached(low, uniform):
            low, high, step = max(self.first, low - step), low, 2 * step
        while self._reached(high, uniform):
            low, high, step = high, min(self.last + 1, high + step), 2 * step
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._reached(middle, uniform) else (low, middle)
        return low

    def _guess(self, probability: float) -> int:
        whole = 0.0, 1.0
        ends = [self._float_below(edge) for edge in (self.first, self.last + 1)]
        low, high = ends if ends[1] > ends[0] else whole
        guess = self._law.guess(low + probability * (high - low)) * 2.0**self._grid_bits
        return int(min(max(guess, self.first), self.last)) if np.isfinite(guess) else self.first

    def _float_below(self, edge: int) -> float:
        """Return about P(V < edge), for the guess only."""
        if self._outside(edge) is not None:
            return float(self._outside(edge) or 0)
        with ctx.workprec(_WORD):
            return float(self._law.below(self._place(edge)).mid())

    def _outside(self, edge: int) -> int | None:
        """Return 0 or 1 at an edge of the support, None inside."""
        if edge <= (-FARTHEST if self._first_end is None else self._first_end):
            return 0
        return 1 if edge >= (FARTHEST + 1 if self._last_end is None else self._last_end) else None

    def _place(self, edge: int) -> arb:
        return ball(Fraction(edge, 1 << self._grid_bits))

    def _reached(self, edge: int, uniform: "LazyUniform") -> bool:
        """Tell whether C(edge) <= U, C the distribution function within the allowed cells."""
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
            return enclosing_integers(self.mass(self.first, edge) / self.mass(self.first, self.last + 1), length)

    def mass(self, low: int, high: int) -> arb:
        """Return P(low <= 2^g V < high), enclosed: a difference of whichever tails are the smaller ones."""
        if self._outside(low) == 0:
            return self._below(high)
        if self._outside(high) == 1:
            return self._above(low)
        below = self._below(high)
        return below - self._below(low) if below < arb(0.5) else self._above(low) - self._above(high)

    def _below(self, edge: int) -> arb:
        end = self._outside(edge)
        return self._law.below(self._place(edge)) if end is None else arb(end)

    def _above(self, edge: int) -> arb:
        end = self._outside(edge)
        return self._law.above(self._place(edge)) if end is None else arb(1 - end)


def beyond(law: Law, reach: Fraction) -> float:
    """Return about the probability that a law with an infinite support puts beyond -reach and reach."""
    low, high = law.support
    with ctx.workprec(_WORD):
        left = law.below(ball(-reach)) if low is None else arb(0)
        right = law.above(ball(reach)) if high is None else arb(0)
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

    def compared(self, below: int, above: int) -> bool | None:
        """Tell whether a threshold between below / 2^length and above / 2^length is at most the number, if decided."""
        if above <= self._number:
            return True
        return False if below > self._number else None

    def is_below(self, probability: arb) -> bool | None:
        """Tell whether the number is below an enclosed probability, if that is decided."""
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


class Truncation:
    """Probabilities of m cells that are all at least `least`, on a grid of broken sticks.

    A vector of grid cells counts if every theta within it has all theta_i >= least. The set is fixed and public, so a
    draw restricted to it is a draw from the posterior under a truncated prior, exactly. Sticks are drawn one after the
    other, each within what the earlier ones leave, with probability Z_i; the vector is kept with probability
    prod_i Z_i / max Z_i, else all is drawn again. With two cells nothing is ever rejected.
    """

    def __init__(self, cells: int, least: Fraction, grid_bits: int) -> None:
        self._cells, self._least, self._grid_bits = cells, least, grid_bits

    def _range(self, place: int, left: Fraction) -> tuple[int, int]:
        """Return the first and last cell of a stick when at least `left` of the whole is left for it."""
        share, unit = self._least / left, 1 << self._grid_bits
        return ceil(share * unit), floor((1 - (self._cells - 1 - place) * share) * unit) - 1

    @property
    def is_empty(self) -> bool:
        """Tell whether no vector of cells counts: look at the most even one."""
        left = Fraction(1)
        for place in range(self._cells - 1):
            first, last = self._range(place, left)
            if first > last:
                return True
            left *= 1 - Fraction(first + 1, 1 << self._grid_bits)
        return left < self._least

    def sample(self, laws: Sequence[Law], count: int, bits: RandomBits) -> Counts:
        """Draw independent vectors of cells, given the laws of the sticks."""
        drawn: list[list[int]] = []
        known: dict[tuple[int, int, int], GridLaw] = {}  # of this call only: nothing about a secret is kept
        while len(drawn) < count:
            grids, cells = self._proposal(laws, known, bits)
            if len(cells) == len(laws) and self._accepted(laws, grids, bits):
                drawn.append(cells)
        return np.array(drawn, dtype=np.int64)

    def _proposal(
        self, laws: Sequence[Law], known: dict[tuple[int, int, int], GridLaw], bits: RandomBits
    ) -> tuple[list[GridLaw], list[int]]:
        """Return each stick's restricted law and its cell; fewer cells if nothing was left for the next stick."""
        left, grids, cells = Fraction(1), list[GridLaw](), list[int]()
        for place, law in enumerate(laws):
            ends = self._range(place, left)
            grids.append(known.setdefault((place, *ends), GridLaw(law, self._grid_bits, *ends)))
            if grids[-1].is_empty:
                break
            cells.append(int(grids[-1].sample(1, bits)[0]))
            left *= 1 - Fraction(cells[-1] + 1, 1 << self._grid_bits)
        return grids, cells

    def _accepted(self, laws: Sequence[Law], grids: Sequence[GridLaw], bits: RandomBits) -> bool:
        """Accept with probability prod_i Z_i / max Z_i; Z_i grows with what is left, at most 1 - (i - 1) least."""
        if len(laws) == 1:
            return True
        uniform = LazyUniform(bits)
        while True:
            with ctx.workprec(uniform.length + _WORD):
                decided = uniform.is_below(self._ratio(laws, grids))
            if decided is not None:
                return decided
            uniform.extend()

    def _ratio(self, laws: Sequence[Law], grids: Sequence[GridLaw]) -> arb:
        ratio = arb(1)
        for place, (law, grid) in enumerate(zip(laws, grids, strict=True)):
            widest = GridLaw(law, self._grid_bits, *self._range(place, 1 - place * self._least))
            ratio *= grid.mass(grid.first, grid.last + 1) / widest.mass(widest.first, widest.last + 1)
        return ratio

    def holds(self, cells: Counts) -> NDArray[np.bool_]:
        """Tell which vectors of cells (last axis) count, in exact arithmetic."""
        flat = np.asarray(cells).reshape(-1, self._cells - 1)
        return np.array([self._holds([int(c) for c in row]) for row in flat]).reshape(np.asarray(cells).shape[:-1])

    def _holds(self, cells: Sequence[int]) -> bool:
        left = Fraction(1)
        for place, cell in enumerate(cells):
            first, last = self._range(place, left)
            if not first <= cell <= last:
                return False
            left *= 1 - Fraction(cell + 1, 1 << self._grid_bits)
            if left <= 0:
                return False
        return True

    def log_normaliser(self, laws: Sequence[Law]) -> float:
        """Return the logarithm of the untruncated probability of all vectors that count, summed cell by cell.

        With two cells this is one difference; with more it is offered for small grids only.
        """
        if self._cells > 2 and self._grid_bits * (self._cells - 2) > _MOST_SUMMED:
            raise DeclarationError(
                f"The likelihood of a truncated draw of {self._cells} cells needs a sum over "
                f"2^{self._grid_bits * (self._cells - 2)} cells of the grid; at most 2^{_MOST_SUMMED} are summed."
            )
        return log(self._summed(laws, 0, Fraction(1)))

    def _summed(self, laws: Sequence[Law], place: int, left: Fraction) -> float:
        first, last = self._range(place, left)
        unit, law = 2.0**-self._grid_bits, laws[place]
        if first > last:
            return 0.0
        if place == len(laws) - 1:
            return float(np.exp(law.log_mass(np.float64(first * unit), np.float64((last + 1) * unit))))
        cells = np.arange(first, last + 1)
        masses = np.exp(law.log_mass(cells * unit, (cells + 1) * unit))
        rests = (left * (1 - Fraction(int(cell) + 1, 1 << self._grid_bits)) for cell in cells)
        return float(sum(m * self._summed(laws, place + 1, rest) for m, rest in zip(masses, rests, strict=True)))
