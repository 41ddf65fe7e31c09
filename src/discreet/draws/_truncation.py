"""Truncated draws: probabilities that are all at least `least`, on a grid of broken sticks.

The cells of the grid that count are public and fixed, so excluding the others truncates the prior and alters no draw. A
draw ends soon for all counts; where that could fail, `Truncation.refusal` says so from public facts, before anything is
drawn.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import log, prod

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from discreet._core.arrays import Counts
from discreet._core.errors import DeclarationError
from discreet.draws._truncated_dirichlet import DirichletProposal, TruncatedDirichlet
from discreet.mathematics.distributions import CertifiedBeta, CertifiedDistribution
from discreet.mechanism import MOST_GRID_BITS, GridDistribution, LazyUniform, truncated_range
from discreet.noise.randomness import FiniteDistribution, RandomBits

_WORD = 64
MOST_SUMMED_BITS = 14
"""Normalisers of truncated draws are summed over at most two to this power cells of the grid."""

_MOST_LISTED = 12  # bits: grids of at most this many cells are listed
_MOST_MOVED = 3  # of the logarithm of a density


class Truncation:
    """Probabilities of m cells that are all at least `least`, on a grid of broken sticks.

    A vector of grid cells counts if every theta within it has all theta_i >= least. The set is fixed and public, so a
    draw restricted to it is a draw from the posterior under a truncated prior, exactly. With two cells that is a stick
    on an interval, on small grids a choice from a list; else `TruncatedDirichlet` draws probabilities until their
    sticks lie in cells that count.
    """

    def __init__(self, cells: int, least: Fraction, grid_bits: int) -> None:
        self._cells, self._least, self._grid_bits = cells, least, grid_bits

    def _range(self, index: int, left: Fraction) -> tuple[int, int]:
        """Return the first and last cell of a stick when at least `left` of the whole is left for it."""
        return truncated_range(self._cells - index, self._least / left, self._grid_bits)

    @property
    def is_empty(self) -> bool:
        """Return whether no vector of cells counts, by looking at the most even one."""
        left = Fraction(1)
        for index in range(self._cells - 1):
            first, last = self._range(index, left)
            if first > last:
                return True
            left *= 1 - Fraction(first + 1, 1 << self._grid_bits)
        return left < self._least

    def refusal(self, concentration: Fraction, smallest: Fraction) -> str | None:
        """Return why draws might not end soon, from public facts: the sum of all shapes and the smallest of the prior.

        All theta with theta_i >= w + d, d = m 2^-g, lie in cells that count. Moving the simplex theta_i >= w into that
        one changes a density by at most (1 - t)^(concentration + m), t = d / (1/m - w), and e^(-t / w) more where
        shapes are below one; so at least e^-3 or so of all draws with theta_i >= w lie in cells that count.
        """
        if self._cells == 2 or self._is_listed:
            return None
        moved = Fraction(self._cells, 1 << self._grid_bits) / (Fraction(1, self._cells) - self._least)
        if moved * (concentration + self._cells + (1 / self._least if smallest < 1 else 0)) <= _MOST_MOVED:
            return None
        return (
            f"A grid of {self._grid_bits} bits is too coarse for probabilities of at least {float(self._least):.6g} "
            "with so many records. Use more grid_bits or a larger least."
        )

    @property
    def _is_listed(self) -> bool:
        return self._grid_bits * (self._cells - 1) <= _MOST_LISTED

    def sample(self, distributions: Sequence[CertifiedBeta], count: int, bits: RandomBits) -> Counts:
        """Draw independent vectors of cells, given the distributions of the sticks."""
        if self._cells == 2:
            return GridDistribution(distributions[0], self._grid_bits, *self._range(0, Fraction(1))).sample(
                count, bits
            )[:, None]
        if self._is_listed:
            return self._from_list(distributions, count, bits)
        distribution = TruncatedDirichlet(
            [*(distribution.a for distribution in distributions), distributions[-1].b], self._least
        )
        drawn: list[list[int]] = []
        while len(drawn) < count:
            cells = self._kept(distribution.propose(bits), bits)
            if cells is not None and self._holds(cells):
                drawn.append(cells)
        return np.array(drawn, dtype=np.int64)

    def _from_list(self, distributions: Sequence[CertifiedBeta], count: int, bits: RandomBits) -> Counts:
        """Draw from the list of all vectors that count, with the masses of their cells."""
        unit = 1 << self._grid_bits
        listed = [cells for cells in product(range(unit), repeat=self._cells - 1) if self._holds(cells)]

        def weights() -> list[arb]:
            masses = [
                [GridDistribution(distribution, self._grid_bits).mass(cell, cell + 1) for cell in range(unit)]
                for distribution in distributions
            ]
            return [prod((m[cell] for m, cell in zip(masses, cells, strict=True)), start=arb(1)) for cells in listed]

        return np.array(listed, dtype=np.int64)[FiniteDistribution(weights).sample(count, bits)]

    def _kept(self, proposal: DirichletProposal, bits: RandomBits) -> list[int] | None:
        """Return the cells of the sticks of a proposal if it is kept; digits are drawn until all is sure."""
        uniform = LazyUniform(bits)
        while True:
            with ctx.workprec(uniform.length + 2 * _WORD):
                theta = proposal.theta()
                kept = uniform.is_below(proposal.acceptance(theta[proposal.last]))
                if kept is False:
                    return None
                cells = self._stick_cells(theta) if kept else None
                if cells is not None:
                    return cells
            uniform.extend()
            proposal.extend()

    def _stick_cells(self, theta: Sequence[arb]) -> list[int] | None:
        """Return floor(2^g theta_i / (1 - theta_1 - ... - theta_(i-1))) for all sticks, if that is known."""
        left, found = arb(1), list[int]()
        for share in theta[:-1]:
            cell = (share / left * (1 << self._grid_bits)).floor().unique_fmpz()
            if cell is None:
                return None
            found.append(int(cell))
            left -= share
        return found

    def holds(self, cells: Counts) -> NDArray[np.bool_]:
        """Return which vectors of cells (last axis) count, in exact arithmetic."""
        if self._cells == 2:
            first, last = self._range(0, Fraction(1))
            return np.asarray((cells[..., 0] >= first) & (cells[..., 0] <= last))
        flat = np.asarray(cells).reshape(-1, self._cells - 1)
        return np.array([self._holds([int(c) for c in row]) for row in flat]).reshape(np.asarray(cells).shape[:-1])

    def _holds(self, cells: Sequence[int]) -> bool:
        left = Fraction(1)
        for index, cell in enumerate(cells):
            first, last = self._range(index, left)
            if not first <= cell <= last:
                return False
            left *= 1 - Fraction(cell + 1, 1 << self._grid_bits)
            if left <= 0:
                return False
        return True

    def log_normaliser(self, distributions: Sequence[CertifiedDistribution]) -> float:
        """Return the logarithm of the untruncated probability of all vectors that count, summed cell by cell.

        With two cells this is one difference; with more it is offered for small grids only.
        """
        if self._cells > 2 and self._grid_bits * (self._cells - 2) > MOST_SUMMED_BITS:
            raise DeclarationError(
                f"The likelihood of a truncated draw of {self._cells} cells needs a sum over "
                f"2^{self._grid_bits * (self._cells - 2)} cells of the grid; sums of at most 2^{MOST_SUMMED_BITS} are "
                "computed."
            )
        if self._cells == 2:
            grid = GridDistribution(distributions[0], self._grid_bits, *self._range(0, Fraction(1)))
            with ctx.workprec(2 * _WORD):
                return float(grid.mass(grid.first, grid.last + 1).log().mid())
        return log(self._summed(distributions, 0, Fraction(1)))

    def _summed(self, distributions: Sequence[CertifiedDistribution], index: int, left: Fraction) -> float:
        first, last = self._range(index, left)
        unit, distribution = 2.0**-self._grid_bits, distributions[index]
        if first > last:
            return 0.0
        if index == len(distributions) - 1:
            return float(np.exp(distribution.log_mass(np.float64(first * unit), np.float64((last + 1) * unit))))
        cells = np.arange(first, last + 1)
        masses = np.exp(distribution.log_mass(cells * unit, (cells + 1) * unit))
        rests = (left * (1 - Fraction(int(cell) + 1, 1 << self._grid_bits)) for cell in cells)
        return float(
            sum(m * self._summed(distributions, index + 1, rest) for m, rest in zip(masses, rests, strict=True))
        )


def enough_grid_bits(fewest: int, cells: int, least: Fraction, prior: Sequence[Fraction], added: Fraction) -> int:
    """Return the fewest grid bits with which truncated draws end soon, for any counts that add up to `added`."""
    if least * cells >= 1:
        return fewest  # refused elsewhere
    total = sum(prior, added)
    tried = range(fewest, MOST_GRID_BITS)
    fits = (bits for bits in tried if Truncation(cells, least, bits).refusal(total, min(prior)) is None)
    return next(fits, MOST_GRID_BITS)
