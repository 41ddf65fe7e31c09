"""TreeTable: the cells of an ordered column and blocks of them, as one consistent noisy table.

Cells lie in blocks of neighbours. With epsilon_1 + epsilon_2 = epsilon,

    P(u) ~ e^(-(epsilon_1/2) sum_B |u(B)| - (epsilon_2/2) sum_i |u_i|),   sum u = 0.

A record that moves from one block to another changes two block sums and two cells by 1 and costs at most epsilon; one
that moves inside its block costs at most epsilon_2. That is pure epsilon-differential privacy, and tight. Every block's
own sum is held near zero, so that the number of records below an edge has less noise than from a histogram, the more so
the more cells there are. In groups whose sizes are not public nothing is tied: each block is drawn by itself.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement
from math import isqrt

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Counts, NumbersT
from discreet.errors import DeclarationError
from discreet.exact import Exact, exact, exact_text, whole
from discreet.fields import Checked, Converted, Number, Whole, computed, converted, frozen
from discreet.mechanisms.additive import Additive, noise_epsilon
from discreet.mechanisms.mechanism import accepted
from discreet.mechanisms.quantities import Quantities
from discreet.models.model import Model
from discreet.models.number_table import NumberTable
from discreet.noise import BlockLaplace, ZeroSumBlocks
from discreet.noise.laplace_kernel import starts


@dataclass(frozen=True)
class NumberCells(Quantities):
    """All cells of a table of numbers, in blocks of these sizes."""

    model: NumberTable
    sizes: tuple[int, ...]

    @property
    def blocks(self) -> tuple[int, ...]:
        """Return all cells, in one block: they add up to the number of records."""
        return (sum(self.sizes),)

    def apply(self, counts: NumbersT) -> NumbersT:
        return np.asarray(counts)

    def transpose(self, values: NumbersT) -> NumbersT:
        return np.asarray(values)

    @property
    def single_cells(self) -> Counts:
        return np.arange(self.length)

    def changes(self) -> tuple[Counts, ...]:
        """Return one unit that moves between blocks of any two sizes, and inside a block of each size."""
        first = dict(zip(reversed(self.sizes), reversed(starts(self.sizes).tolist()), strict=True))
        last = dict(zip(self.sizes, starts(self.sizes).tolist(), strict=True))
        pairs = [(first[one], last[two]) for one, two in combinations_with_replacement(sorted(first), 2)]
        pairs += [(start, start + 1) for size, start in first.items() if size > 1]
        return tuple(self._moved(one, two) for one, two in pairs if one != two)

    def _moved(self, one: int, two: int) -> Counts:
        change = np.zeros(self.length, dtype=np.int64)
        change[one], change[two] = 1, -1
        return change


def _share(made: "TreeTable", given: Exact | None) -> Fraction:
    part = usual_share(made.model.count) if given is None else exact(given, "share")
    if not 0 < part < 1:
        raise DeclarationError(
            f"share, the part of epsilon spent on blocks, must lie between 0 and 1; got {exact_text(part)}."
        )
    return part


def _blocks(made: "TreeTable", given: int | None) -> int:
    most = made.model.count
    return usual_blocks(most) if given is None else whole(given, "blocks", 1, most)


@frozen(repr=False)
class TreeTable(Additive[NumberTable], kind="TreeTable", version=1):
    """A table of numbers with noise on blocks and on cells: pure epsilon-DP under replacement of one record.

    `share` is the part of epsilon spent on blocks, and `blocks` is their number in each group. If left out, both are
    chosen to suit the number of cells.

    >>> table = TreeTable(NumberTable("age", bounds=(0, 100), cells=64), size=1000, epsilon=1)
    >>> table.blocks, table.share, table.guarantee.epsilon
    (8, Fraction(2, 5), Fraction(1, 1))
    """

    model: Checked[NumberTable] = computed(accepted(NumberTable, "publishes the table of a NumberTable; got a"))
    size: Whole = converted(whole)
    epsilon: Number = converted(noise_epsilon)
    share: Converted[Exact | None, Fraction] = computed(_share, default=None)
    blocks: Converted[int | None, int] = computed(_blocks, default=None)

    @property
    def unsaid(self) -> Collection[str]:
        """Leave out what was not chosen explicitly."""
        usual = {"share": usual_share(self.model.count), "blocks": usual_blocks(self.model.count)}
        return [name for name, value in usual.items() if getattr(self, name) == value]

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Return the size of every block: as equal as can be, and one for records without a value."""
        own = tuple(len(each) for each in np.array_split(np.arange(self.model.count), self.blocks))
        return (own + ((1,) if self.model.leaves_gaps_out else ())) * len(self.model.groups)

    @property
    def reason(self) -> str:
        who = self.model.protects.removeprefix("one ")
        return f"noise on blocks and cells: a {who} moves two of each by 1 (triangle inequality)"

    @cached_property
    def quantities(self) -> NumberCells:
        return NumberCells(self.model, self.sizes)

    @cached_property
    def noise(self) -> ZeroSumBlocks | BlockLaplace:
        """Return noise on blocks and cells; tied to the public number of records where there are no groups."""
        outer = self.share * self.epsilon / 2
        law = ZeroSumBlocks if self.model.by is None else BlockLaplace
        return law(outer, self.epsilon / 2 - outer, self.sizes)

    def checked(self, counts: ArrayLike) -> Counts:
        """Return made-up counts as an array; they must add up to the public size."""
        return self.model.numbers(counts, len(self.model.cells), self.size)

    def twin_fields(self, model: Model) -> Iterator[Mapping[str, object]]:
        yield {} if model == self.model else {"blocks": 2}


def usual_blocks(cells: int) -> int:
    """Return how many blocks suit a number of cells: about as many as a block has cells."""
    return max(1, isqrt(cells - 1) + 1) if cells > 2 else cells


def usual_share(cells: int) -> Fraction:
    """Return the part of epsilon for blocks with the least noise below edges, found by exact covariances."""
    return Fraction(2 if cells <= 24 else 3 if cells <= 48 else 4 if cells <= 160 else 5, 10)
