"""Laplace noise on a star of paths: each group is a path of cells, joined by its middle cell to one hub.

A unit is carried from cell to cell of its row, over steps with the rates r_i; to another group it goes over the middle
of both rows and the hub between them, where nothing is counted. With U_i the noise in all cells from an end of the row
up to and including the cell i on its way to the middle, and U_m that of the whole group,

    P(u) = prod over groups and i of tanh(r_i/2) e^(-r_i |U_i|).

u and U determine each other in whole numbers, so the U are independent discrete Laplace numbers; the hub, which holds
what all groups together have too much or too little, is not published. A record that moves changes every U on its way
by 1 and no other, as in `transport`.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts, Floats, NumbersT
from discreet._core.errors import DeclarationError
from discreet.noise._laplace import Laplace
from discreet.noise._noise import Noise
from discreet.noise._structure import Joint, Structure
from discreet.noise._tree_laplace import rho_of_moves
from discreet.noise.randomness import RandomBits
from discreet.privacy import PrivacyLoss


@dataclass(frozen=True)
class StarOfPathsLaplace(Noise):
    """Linked rows of cells: rates `steps` between neighbours, and `spokes` between each middle cell and a common hub.

    >>> StarOfPathsLaplace((Fraction(1), Fraction(1)), Fraction(3), 2).privacy_loss([1, 0, 0, 0, 0, -1]).epsilon
    Fraction(8, 1)
    """

    steps: tuple[Fraction, ...]
    spokes: Fraction
    groups: int

    def __post_init__(self) -> None:
        if not self.steps or min(*self.steps, self.spokes) <= 0 or self.groups < 2:
            raise DeclarationError(
                "Linked rows must be two or more in number, with two or more cells each and rates above 0."
            )

    @property
    def cells(self) -> int:
        """Return the number of cells of a row."""
        return len(self.steps) + 1

    @property
    def middle(self) -> int:
        """Return the cell by which a row is linked to the hub."""
        return self.cells // 2

    @property
    def blocks(self) -> tuple[int, ...]:
        return (self.groups * self.cells,)

    @cached_property
    def edges(self) -> Laplace:
        """Return the distribution of the flow: from each cell towards the middle, and from there to the hub."""
        rates = (*self.steps[: self.middle], self.spokes, *self.steps[self.middle :])
        return Laplace(rates * self.groups, (1,) * (self.groups * self.cells))

    def _rows(self, values: NumbersT) -> NumbersT:
        shaped: NumbersT = np.asarray(values).reshape(*np.shape(values)[:-1], self.groups, self.cells)
        return shaped

    def carried(self, noise: NumbersT) -> NumbersT:
        """Return U, the flow out of every cell, in the order of the cells."""
        rows, m = self._rows(noise), self.middle
        low, high = np.cumsum(rows[..., :m], axis=-1), np.cumsum(rows[..., :m:-1], axis=-1)[..., ::-1]
        found: NumbersT = np.concatenate([low, rows.sum(axis=-1, keepdims=True), high], axis=-1)
        return found.reshape(np.shape(noise))

    def delivered(self, carried: NumbersT) -> NumbersT:
        """Return u: the noise in each cell after these flows."""
        rows, m = self._rows(carried), self.middle
        found = np.array(rows)
        found[..., 1 : m + 1] -= rows[..., :m]
        found[..., m:-1] -= rows[..., m + 1 :]
        return found.reshape(np.shape(carried))

    @cached_property
    def structure(self) -> Structure:
        return Joint(self.blocks)

    def sample(self, rows: int, bits: RandomBits) -> Counts:
        """Draw all flows; no draw is rejected."""
        return self.delivered(self.edges.sample(rows, bits))

    def simulate(self, rows: int, generator: np.random.Generator) -> Floats:
        """Draw rows of whole numbers by seeded floats, for readers."""
        shares = -np.expm1(-self.edges.number_rates)
        drawn = [generator.geometric(shares, (rows, len(shares))) for _ in range(2)]
        return self.delivered((drawn[0] - drawn[1]).astype(float))

    def log_kernel(self, noise: ArrayLike) -> Floats:
        """Return -sum r_i |U_i|."""
        return self.edges.log_kernel(self.carried(np.asarray(noise)))

    @property
    def log_normaliser(self) -> float:
        """Return -sum ln tanh(r_i/2)."""
        return self.edges.log_normaliser

    def _around(self, values: Floats) -> Floats:
        """Return for every cell the sum of the values of its own way and of those that lead to it."""
        rows, m = self._rows(values), self.middle
        found = np.array(rows)
        found[..., 1 : m + 1] += rows[..., :m]
        found[..., m:-1] += rows[..., m + 1 :]
        return np.asarray(found.reshape(values.shape))

    @cached_property
    def variance(self) -> Floats:
        """Return the sum of the variances of the ways at each cell."""
        return self._around(self.edges.variance)

    @cached_property
    def decay_length(self) -> Floats:
        """Return about one over the smallest rate at each cell: the sum over its ways."""
        return self._around(1 / self.edges.number_rates)

    def slope(self, noise: ArrayLike) -> Floats:
        """Return for each cell the slopes of all ways from it to the hub, added up."""
        values = np.asarray(noise, dtype=float)
        rows, m = self._rows(self.edges.slope(self.carried(values))), self.middle
        low, high = np.cumsum(rows[..., m::-1], axis=-1)[..., ::-1], np.cumsum(rows[..., m:], axis=-1)
        return np.asarray(np.concatenate([low, high[..., 1:]], axis=-1).reshape(values.shape))

    def _epsilon(self, change: Counts) -> Fraction:
        """Return sum r_i |C_i|, the distance over which a change is carried."""
        return self.edges._epsilon(self.carried(change))

    def _rho(self, change: Counts) -> Fraction:
        """Return the sum of the zCDP parameters of all ways that move."""
        return rho_of_moves(self.edges, self.carried(change))

    def _curve(self, change: Counts) -> PrivacyLoss:
        """Return the exact loss: the losses of all ways that move add up."""
        return self.edges.privacy_loss(self.carried(change)).curve
