"""What is measured: public sums A k of the secret counts, and how far one record can move them.

A is known from what it is of: the cells of a table, the tables of families, parity counts, contrasts, moments. Records
add up, so a replaced record moves A k by A e_x - A e_y for two records x and y, and one that is added or removed by
A e_x or -A e_x, whatever the others are; the noise that is added must hide every such change. A `Measurement` is what
was published of them: z = A k + u.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts, Floats, NumbersT
from discreet.mechanism._model import Model
from discreet.noise import Noise, by_block, information_of, log_terms, preserved, starts


@dataclass(frozen=True, eq=False)
class Part:
    """Numbers that belong to one table: `indices` are their indices, with an axis for each of `names`.

    An axis holds the cells of its column (`cells` is True there) or its Helmert contrasts h_1, h_2, ... (see
    `contrasts`). A number is `scale` times a cell or contrast of the table's margin, plus `offset` times the number of
    records. Of a part that is about one `level` of its first column alone, that axis has length one.
    """

    names: tuple[str, ...]
    cells: tuple[bool, ...]
    indices: Counts
    scale: float = 1.0
    offset: float = 0.0
    level: int | None = None


@dataclass(frozen=True)
class Cost:
    """What the likelihood of one row of counts costs: about how many operations, and numbers that are held for it."""

    operations: float
    numbers: float = 1.0
    refusal: str | None = None
    """Why the likelihood cannot be computed in numbers at all; None if it can."""


class Quantities(ABC):
    """A public matrix A of whole numbers, as an operator."""

    model: Model
    """The model whose counts are measured."""

    @property
    @abstractmethod
    def blocks(self) -> tuple[int, ...]:
        """Return how many numbers each table, block or other unit has, in the order in which they are published."""

    @property
    def length(self) -> int:
        """Return how many numbers are measured."""
        return sum(self.blocks)

    @abstractmethod
    def apply(self, counts: NumbersT) -> NumbersT:
        """Return A k for one or many rows of counts, whole or real."""

    @abstractmethod
    def changes(self) -> tuple[Counts, ...] | None:
        """Return changes that stand for all that one replaced record can do; None if there are too many to list.

        Every A e_x - A e_y has the numbers of each block of the noise of one of these in another order or with other
        signs, or smaller ones, or none in some blocks. No distribution of noise has a larger loss for such a change.
        """

    def additions(self) -> tuple[Counts, ...] | None:
        """Return numbers A e_x that stand for all that one added record can do, as `changes` do; None if not stated.

        A record that is removed does the same with other signs.
        """
        return None

    def are_kept_by(self, noise: Noise) -> bool:
        """Return whether no replaced record changes a total that the noise preserves: only then do its weights hold."""
        if not any(preserved(noise.structure)):
            return True
        listed = self.changes()
        return listed is not None and all(noise.privacy_loss(change).is_hidden for change in listed)

    def most(self, weights: Sequence[Fraction], blocks: Sequence[int], power: int) -> Fraction:
        """Return the largest sum_i w_i |c_i|^power over all changes c, exactly; each of `blocks` has one weight."""
        listed = self.changes()
        if listed is None:
            raise NotImplementedError("quantities whose changes are too many to list say how to maximise over them")
        found = []
        for change in listed:
            steps = by_block(np.abs(change).astype(object) ** power, blocks)  # Python's whole numbers
            found.append(sum((weight * own.sum() for weight, own in zip(weights, steps, strict=True)), Fraction(0)))
        return max(found)

    def pieces(self) -> "tuple[Quantities, ...]":
        """Return the same numbers as single tables, or as other units that stand alone, in the same order."""
        return (self,)

    @property
    def parts(self) -> tuple[Part, ...] | None:
        """Return which numbers are cells or contrasts of which table; None if they are anything else."""
        return None

    @property
    def single_cells(self) -> Counts | None:
        """Return which single count each number is, if each is one."""
        return None

    @property
    def per_record(self) -> int:
        """Return the largest absolute value of a number that one record can have."""
        return 1

    @property
    def tables(self) -> tuple[tuple[str, ...], ...] | None:
        """Return the columns of each table if the numbers are the cells of tables, block by block; else None."""
        return None

    @abstractmethod
    def transpose(self, values: NumbersT) -> NumbersT:
        """Return A' v for one or many rows of numbers: how a slope by measured numbers is one by counts."""


def unit_moves(blocks: Sequence[int]) -> Counts:
    """Return the change where in every block one unit moves from the last number to the first."""
    change = np.zeros(sum(blocks), dtype=np.int64)
    first = starts(blocks)
    change[first], change[first + np.array(blocks) - 1] = 1, -1
    return change


@dataclass(frozen=True, eq=False)
class Measurement:
    """z = A k + u: `values` are the noisy numbers, `of` what they measure, `noise` the distribution of u."""

    of: Quantities
    values: Counts
    noise: Noise

    def log_terms(self, numbers: ArrayLike, indices: ArrayLike | None = None) -> Floats:
        """Return log g(value - number) of single measured numbers, if the noise is a product; see `noise.structure`.

        The sum over all numbers, less the noise's `log_normaliser`, is the log likelihood.
        """
        values = self.values if indices is None else self.values[np.asarray(indices)]
        return log_terms(self.noise.structure, values - np.asarray(numbers), indices)

    def log_likelihood(self, counts: ArrayLike) -> Floats:
        """Return log P(values | counts) for rows of counts."""
        return self.noise.log_prob(self.values - self.of.apply(np.asarray(counts)))

    @property
    def cost(self) -> Cost:
        """Return what the likelihood of one row of counts costs."""
        return Cost(50.0 * self.of.length, 4.0 * self.of.length)

    def slope(self, counts: ArrayLike) -> Floats:
        """Return about the derivative of `log_likelihood` by each count, for rows of real counts."""
        noise = self.values - self.of.apply(np.asarray(counts, dtype=float))
        return np.asarray(self.of.transpose(-self.noise.slope(noise)))

    @property
    def information(self) -> Floats:
        """Return about the Fisher information of each measured number."""
        return information_of(self.noise)
