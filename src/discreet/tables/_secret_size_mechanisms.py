"""Tables of counts whose number of records is secret too: one record may be added or removed.

An added record moves one cell by 1 and the number of records n by 1, so with independent two-sided geometric noise

    P(z | k) = tanh(r/2)^m tanh(s/2) e^(-r sum_i |z_i - k_i| - s |z_T - n|),      r + s = epsilon,

is pure epsilon-DP, and tight: the loss is a sum of two randomised responses. The number of records needs no number of
its own, as it is the sum of the cells; but the noise of that sum grows with the square root of their number. With few
cells it is left out (s = 0); with more than 20 a fifth of epsilon is spent on it. Then the standard deviation of n is
7.1 / epsilon whatever the number of cells, and that of a cell 1.25 times what it would be.
"""

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts, NumbersT
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact, exact_text
from discreet.mechanism import MOST_RECORDS, Additive, Quantities, noise_epsilon
from discreet.noise import Laplace
from discreet.privacy import Adjacency
from discreet.tables._mechanisms import TableCells
from discreet.tables._model import Categories

FEW_CELLS = 20
"""Up to so many cells the number of records has no noise of its own: the sum of the cells tells enough of it."""
TOTAL_SHARE = Fraction(1, 5)
"""The share of epsilon that is spent on the number of records where there are more cells."""
_LARGEST_COUNT = 2**40  # counts of cells are clamped there: of a million cells the sum still fits into 64 bits


@dataclass(frozen=True)
class NumberOfRecords(Quantities):
    """The number of records, as the sum of all cells of a table."""

    model: Categories

    @property
    def blocks(self) -> tuple[int, ...]:
        return (1,)

    def apply(self, counts: NumbersT) -> NumbersT:
        sums: NumbersT = np.minimum(np.asarray(counts).sum(axis=-1, keepdims=True), MOST_RECORDS)
        return sums

    def transpose(self, values: NumbersT) -> NumbersT:
        return np.repeat(np.asarray(values), len(self.model.cells), axis=-1)

    def changes(self) -> tuple[Counts, ...]:
        """Return nothing: a replaced record leaves the number of records as it is."""
        return (np.zeros(1, dtype=np.int64),)

    def additions(self) -> tuple[Counts, ...]:
        return (np.ones(1, dtype=np.int64),)


@dataclass(frozen=True)
class CellsAndNumber(Quantities):
    """All cells of a table, and after them the number of records."""

    model: Categories

    @property
    def blocks(self) -> tuple[int, ...]:
        return (len(self.model.cells), 1)

    def pieces(self) -> tuple[Quantities, ...]:
        return (TableCells(self.model), NumberOfRecords(self.model))

    def apply(self, counts: NumbersT) -> NumbersT:
        return np.concatenate([piece.apply(counts) for piece in self.pieces()], axis=-1)

    def transpose(self, values: NumbersT) -> NumbersT:
        cells, number = self.pieces()
        return cells.transpose(np.asarray(values)[..., :-1]) + number.transpose(np.asarray(values)[..., -1:])

    def changes(self) -> tuple[Counts, ...]:
        """Return one unit that moves from one cell to another, beside the same number of records."""
        cells, number = self.pieces()
        return tuple(np.concatenate([a, b]) for a in cells.changes() or () for b in number.changes() or ())

    def additions(self) -> tuple[Counts, ...]:
        """Return one unit more in a cell and in the number of records."""
        cells, number = self.pieces()
        return tuple(np.concatenate([a, b]) for a in cells.additions() or () for b in number.additions() or ())


@dataclass(frozen=True, init=False, repr=False)
class LaplaceTable(Additive[Categories], kind="LaplaceTable", version=1):
    """A noisy table of counts of a secret number of records: pure epsilon-DP if one is added or removed.

    `total` is the share of epsilon that is spent on the number of records itself.

    >>> smoking = Categories("smoking", levels=("never", "former", "current"), outside="never")
    >>> table = LaplaceTable(smoking, epsilon="0.5")
    >>> table.guarantee
    Guarantee(epsilon=0.5, delta=0, add or remove one record, proved: discrete Laplace noise of scale 1/epsilon)
    >>> table.epsilon_for(Adjacency.REPLACE_ONE)
    Fraction(1, 1)
    """

    neighbours: ClassVar[Adjacency] = Adjacency.ADD_OR_REMOVE

    model: Categories
    epsilon: Fraction
    total: Fraction

    def __init__(self, model: Categories, epsilon: Exact, total: Exact | None = None) -> None:
        if not isinstance(model, Categories):
            raise DeclarationError(f"LaplaceTable publishes counts of Categories; got {type(model).__name__}.")
        share = self.usual_total(model) if total is None else exact(total, "total")
        if not 0 <= share < 1:
            raise DeclarationError(
                "total is the share of epsilon that is spent on the number of records: at least 0, which leaves it "
                f"out, and less than 1; got {exact_text(share)}."
            )
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "epsilon", noise_epsilon(epsilon, "epsilon"))
        object.__setattr__(self, "total", share)
        for rate in self.noise.rates:
            noise_epsilon(rate, "epsilon times its share")

    @classmethod
    def usual_total(cls, model: Categories) -> Fraction:
        """Return the share that suits a number of cells."""
        return Fraction(0) if len(model.cells) <= FEW_CELLS else TOTAL_SHARE

    @property
    def derived_fields(self) -> Collection[str]:
        return ("total",) if self.total == self.usual_total(self.model) else ()

    @property
    def reason(self) -> str:
        if not self.total:
            return "discrete Laplace noise of scale 1/epsilon"
        return f"discrete Laplace noise on cells and on their number, which takes {exact_text(self.total)} of epsilon"

    @cached_property
    def quantities(self) -> Quantities:
        return CellsAndNumber(self.model) if self.total else TableCells(self.model)

    @cached_property
    def noise(self) -> Laplace:
        """Return independent noise; an added record costs the rate of one cell and that of the number of records."""
        rates = ((1 - self.total) * self.epsilon, self.total * self.epsilon)
        return Laplace(rates[: len(self.quantities.blocks)], self.quantities.blocks)

    @property
    def rho(self) -> Fraction:
        """Return r tanh(r/2) + s tanh(s/2), rounded up: the zCDP parameter of two randomised responses."""
        return self.privacy_loss().sharp_rho

    def checked(self, counts: ArrayLike) -> Counts:
        """Return simulated counts as an array, clamped where they are beyond all reason."""
        return np.minimum(self.model.counts(counts), _LARGEST_COUNT)
