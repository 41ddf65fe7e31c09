"""What else is known of measured numbers: parts that belong to one table, and their likelihood with its cost."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Counts, Floats, NumbersT
from discreet.noise import NoiseLaw

if TYPE_CHECKING:
    from discreet.mechanisms.quantities import Quantities


@dataclass(frozen=True, eq=False)
class Part:
    """Numbers that belong to one table: `places` says where each stands, with an axis for each of `names`.

    An axis holds the cells of its column (`cells` is True there) or its Helmert contrasts h_1, h_2, ... (see
    `contrasts`). A number is `scale` times a cell or contrast of the table's margin, plus `offset` times the number of
    records. Of a part that is about one `level` of its first column alone, that axis has one place.
    """

    names: tuple[str, ...]
    cells: tuple[bool, ...]
    places: Counts
    scale: float = 1.0
    offset: float = 0.0
    level: int | None = None


class NumbersOfTables(ABC):
    """What may be known of public sums of counts: whether they are cells or contrasts of tables, and how large."""

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


@dataclass(frozen=True)
class Cost:
    """What the likelihood of one row of counts costs: about how many operations, and numbers that are held for it."""

    operations: float
    numbers: float = 1.0
    refusal: str | None = None
    """Why the likelihood cannot be computed in numbers at all; None if it can."""


class MeasuredNumbers:
    """z = A k + u, as samplers and lists of tables ask for it."""

    of: "Quantities"
    values: Counts
    noise: NoiseLaw

    def log_likelihood(self, counts: ArrayLike) -> Floats:
        """Return log P(values | counts) for rows of counts."""
        return self.noise.log_probability(self.values - self.of.apply(np.asarray(counts)))

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
        return self.noise.information
