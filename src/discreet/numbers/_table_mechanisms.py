"""Noisy tables of an ordered column: with an ordinary promise (TreeTable), or one for each unit of it.

The two under a metric, PathTable and GroupPaths, promise more about values that are close than about others.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement
from math import isqrt
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts, NumbersT
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact, exact_text, positive, whole
from discreet._core.fields import Checked, Converted, Number, Whole, computed, converted, frozen
from discreet.mechanism import Additive, MetricMechanism, Model, Quantities, Sized, accepted, noise_epsilon
from discreet.noise import BlockLaplace, StarOfPathsLaplace, TreeLaplace, ZeroSumBlocks, starts
from discreet.numbers._bounded_number import of_public_number, require_secret_persons
from discreet.numbers._table_model import NumberTable
from discreet.privacy import Adjacency, GroupLines, Line


@dataclass(frozen=True)
class NumberTableCells(Quantities):
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

    def additions(self) -> tuple[Counts, ...]:
        """Return one unit more in a cell of a block of each size."""
        first = dict(zip(reversed(self.sizes), reversed(starts(self.sizes).tolist()), strict=True))
        added = np.zeros((len(first), self.length), dtype=np.int64)
        added[np.arange(len(first)), list(first.values())] = 1
        return tuple(added)

    def _moved(self, one: int, two: int) -> Counts:
        change = np.zeros(self.length, dtype=np.int64)
        change[one], change[two] = 1, -1
        return change


def _share(made: "TreeTable | BlockTable", given: Exact | None) -> Fraction:
    part = usual_share(made.model.count) if given is None else exact(given, "share")
    if not 0 < part < 1:
        raise DeclarationError(
            f"share, the part of epsilon spent on blocks, must lie between 0 and 1; got {exact_text(part)}."
        )
    return part


def _blocks(made: "TreeTable | BlockTable", given: int | None) -> int:
    most = made.model.count
    return usual_blocks(most) if given is None else whole(given, "blocks", 1, most)


@frozen(repr=False)
class TreeTable(Additive[NumberTable], Sized[NumberTable], kind="TreeTable", version=1):
    """A table of numbers with noise on blocks and on cells: pure epsilon-DP under replacement of one record.

    Cells lie in blocks of neighbours. With epsilon_1 + epsilon_2 = epsilon,

        P(u) ~ e^(-(epsilon_1/2) sum_B |u(B)| - (epsilon_2/2) sum_i |u_i|),   sum u = 0.

    A record that moves from one block to another changes two block sums and two cells by 1 and costs at most epsilon;
    one that moves inside its block costs at most epsilon_2. That is pure epsilon-differential privacy, and tight. Every
    block's own sum is held near zero, so that the number of records below an edge has less noise than from a histogram,
    the more so the more cells there are. In groups whose sizes are not public nothing is tied: each block is drawn by
    itself.

    `share` is the part of epsilon spent on blocks, and `blocks` is their number in each group. If left out, both are
    chosen to suit the number of cells.

    >>> table = TreeTable(NumberTable("age", bounds=(0, 100), cells=64), size=1000, epsilon=1)
    >>> table.blocks, table.share, table.guarantee.epsilon
    (8, Fraction(2, 5), Fraction(1, 1))
    """

    model: Checked[NumberTable] = computed(of_public_number(NumberTable, "publishes the table of a NumberTable; got a"))
    size: Whole = converted(whole)
    epsilon: Number = converted(noise_epsilon)
    share: Converted[Exact | None, Fraction] = computed(_share, default=None)
    blocks: Converted[int | None, int] = computed(_blocks, default=None)

    @property
    def derived_fields(self) -> Collection[str]:
        """Leave out what was not chosen explicitly."""
        usual = {"share": usual_share(self.model.count), "blocks": usual_blocks(self.model.count)}
        return [name for name, value in usual.items() if getattr(self, name) == value]

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Return the size of every block: as equal as can be, and one for records without a value."""
        return sizes_of(self.model, self.blocks)

    @property
    def reason(self) -> str:
        who = self.model.protects.removeprefix("one ")
        return f"noise on blocks and cells: a {who} moves two of each by 1 (triangle inequality)"

    @cached_property
    def quantities(self) -> NumberTableCells:
        return NumberTableCells(self.model, self.sizes)

    @cached_property
    def noise(self) -> ZeroSumBlocks | BlockLaplace:
        """Return noise on blocks and cells; tied to the public number of records where there are no groups."""
        outer = self.share * self.epsilon / 2
        distribution = ZeroSumBlocks if self.model.by is None else BlockLaplace
        return distribution(outer, self.epsilon / 2 - outer, self.sizes)

    def checked(self, counts: ArrayLike) -> Counts:
        """Return simulated counts as an array; they must add up to the public size."""
        return self.model.numbers(counts, len(self.model.cells), self.size)

    def small_instance_fields(self, model: Model) -> Iterator[Mapping[str, object]]:
        yield {} if model == self.model else {"blocks": 2}


def sizes_of(model: NumberTable, blocks: int) -> tuple[int, ...]:
    """Return the size of every block: as equal as can be, and one for records without a value, group by group."""
    own = tuple(len(each) for each in np.array_split(np.arange(model.count), blocks))
    return (own + ((1,) if model.leaves_gaps_out else ())) * len(model.groups)


@dataclass(frozen=True)
class FreeCells(NumberTableCells):
    """All cells of a table of numbers, in blocks whose noise is independent."""

    @property
    def blocks(self) -> tuple[int, ...]:
        return self.sizes


@frozen(repr=False)
class BlockTable(Additive[NumberTable], kind="BlockTable", version=1):
    """A table of numbers of a secret number of records: pure epsilon-DP if one is added or removed.

    Cells lie in blocks of neighbours. With epsilon_1 + epsilon_2 = epsilon,

        P(u) ~ e^(-epsilon_1 sum_B |u(B)| - epsilon_2 sum_i |u_i|),

    independent over blocks, as no total is public. An added record changes one block sum and one cell by 1, so that it
    costs epsilon, and that is tight. `share` is the part of epsilon spent on blocks, and `blocks` is their number in
    each group, chosen as for a TreeTable if they are left out.

    >>> table = BlockTable(NumberTable("age", bounds=(0, 100), cells=64), epsilon=1)
    >>> table.blocks, table.share, table.epsilon_for(Adjacency.REPLACE_ONE)
    (8, Fraction(2, 5), Fraction(2, 1))
    """

    neighbours: ClassVar[Adjacency] = Adjacency.ADD_OR_REMOVE

    model: Checked[NumberTable] = computed(accepted(NumberTable, "publishes the table of a NumberTable; got a"))
    epsilon: Number = converted(noise_epsilon)
    share: Converted[Exact | None, Fraction] = computed(_share, default=None)
    blocks: Converted[int | None, int] = computed(_blocks, default=None)

    def __post_init__(self) -> None:
        require_secret_persons(self, self.model)

    @property
    def derived_fields(self) -> Collection[str]:
        """Leave out what was not chosen explicitly."""
        usual = {"share": usual_share(self.model.count), "blocks": usual_blocks(self.model.count)}
        return [name for name, value in usual.items() if getattr(self, name) == value]

    @property
    def reason(self) -> str:
        who = self.model.protects.removeprefix("one ")
        return f"noise on blocks and cells: a {who} adds 1 to one of each (triangle inequality)"

    @cached_property
    def quantities(self) -> FreeCells:
        return FreeCells(self.model, sizes_of(self.model, self.blocks))

    @cached_property
    def noise(self) -> BlockLaplace:
        """Return noise on blocks and cells, independent over blocks."""
        outer = self.share * self.epsilon
        return BlockLaplace(outer, self.epsilon - outer, self.quantities.sizes)

    def checked(self, counts: ArrayLike) -> Counts:
        """Return simulated counts as an array, clamped where they are beyond all reason."""
        return np.minimum(self.model.numbers(counts, len(self.model.cells)), 2**40)

    def small_instance_fields(self, model: Model) -> Iterator[Mapping[str, object]]:
        yield {} if model == self.model else {"blocks": 2}


def usual_blocks(cells: int) -> int:
    """Return how many blocks suit a number of cells: about as many as a block has cells."""
    return max(1, isqrt(cells - 1) + 1) if cells > 2 else cells


def usual_share(cells: int) -> Fraction:
    """Return the part of epsilon for blocks with the least noise below edges, found by exact covariances."""
    return Fraction(2 if cells <= 24 else 3 if cells <= 48 else 4 if cells <= 160 else 5, 10)


@dataclass(frozen=True)
class HungCells(NumberTableCells):
    """All cells of a table of numbers, group by group."""

    def changes(self) -> tuple[Counts, ...]:
        """Return a unit that moves between two ends of rows: every other way lies inside one of these."""
        own, both = self.model.count - 1, (0, self.model.count - 1)
        across = [(end, self.model.count + other) for end in both for other in both if end <= other]
        return tuple(self._moved(*ends) for ends in [(0, own), *across])


def _model(given: NumberTable, _: str) -> NumberTable:
    if not isinstance(given, NumberTable) or given.by is None:
        raise DeclarationError("GroupPaths publishes a NumberTable with groups (`by`); use PathTable for one without.")
    if given.leaves_gaps_out or given.persons is not None:
        raise DeclarationError(
            "Metric privacy needs a distance between any two records. Declare `missing`, the number that missing "
            "values count as, and count records rather than persons."
        )
    return given


def _between(made: "GroupPaths", given: Exact | None) -> Fraction:
    return made.model.edges[-2] - made.model.edges[0] if given is None else positive(given, "between")


@frozen(repr=False)
class GroupPaths(MetricMechanism[NumberTable], Additive[NumberTable], kind="GroupPaths", version=1):
    """A table of numbers by groups, with metric privacy: `epsilon` holds for any change, however large.

    Inside a group a record that moves from x_a to x_b is |x_a - x_b| away. To another group its way goes to the middle
    cell of its row, from there to that of the other by a declared distance, and on: |x_a - x_m| + between + |x_m -
    x_b|. The middle cells are joined to a hub, so the distance is that of a tree, and tree-metric Laplace noise has

        ln P(z | k) - ln P(z | k') <= epsilon_per_unit W(k, k')

    for data sets at ANY distance W, by the triangle inequality, with equality at z = k. A distance that adds up values
    and groups, |x_a - x_b| + between, is no tree, and no exact sampler of its noise is known; so this way is taken, and
    said. For any change whatever it is epsilon = epsilon_per_unit times the longest way, which an ordinary ledger is
    charged.

    `between` is the distance between two groups, measured at the middle of their rows; left out, it is the distance
    between the bounds.

    >>> from discreet.records import Column
    >>> ward = Column("ward", ("A", "B"), outside="B")
    >>> ages = NumberTable("age", bounds=(0, 100), cells=101, is_whole=True, missing=40, by=ward)
    >>> table = GroupPaths.per_unit(ages, size=1000, epsilon_per_unit="0.1", between=20)
    >>> table.guarantee.epsilon, table.guarantee.metric.at(("A", 40), ("B", 55)).epsilon
    (Fraction(12, 1), Fraction(7, 2))
    """

    model: Checked[NumberTable] = converted(_model)
    size: Whole = converted(whole)
    epsilon: Number = converted(noise_epsilon)
    between: Converted[Exact | None, Fraction] = computed(_between, default=None)

    @classmethod
    def per_unit(
        cls, model: NumberTable, size: int, epsilon_per_unit: Exact, between: Exact | None = None
    ) -> "GroupPaths":
        """Return the mechanism with this epsilon for each unit of the column."""
        diameter = cls(model, size, 1, between).metric.diameter
        return cls(model, size, positive(epsilon_per_unit, "epsilon_per_unit") * diameter, between)

    @cached_property
    def metric(self) -> GroupLines:
        """Return the metric: the distance between cells, along their rows."""
        by = self.model.by
        assert by is not None
        inside = Line(self.model.column, self.model.edges[:-1], self.model.bounds.missing, self.model.bounds.dates)
        return GroupLines(inside, by, self.between)

    @property
    def epsilon_per_unit(self) -> Fraction:
        return self.epsilon / self.metric.diameter

    @property
    def reason(self) -> str:
        return "noise in the shape of transport along rows that hang together (triangle inequality, at any distance)"

    @cached_property
    def quantities(self) -> HungCells:
        return HungCells(self.model, (len(self.model.cells),))

    @cached_property
    def noise(self) -> StarOfPathsLaplace:
        """Return one rate for each step from a cell to the next, and half of that between groups for each row."""
        steps = np.diff(np.array(self.model.edges[:-1], dtype=object))
        rates = tuple(self.epsilon_per_unit * step for step in steps)
        return StarOfPathsLaplace(rates, self.epsilon_per_unit * self.between / 2, len(self.model.groups))

    def checked(self, counts: ArrayLike) -> Counts:
        """Return simulated counts as an array; they must add up to the public size."""
        return self.model.numbers(counts, len(self.model.cells), self.size)

    def small_instance_fields(self, model: Model) -> Iterator[Mapping[str, object]]:
        """Yield a small instance with the same distance between groups."""
        yield {}


@dataclass(frozen=True)
class OrderedCells(NumberTableCells):
    """All cells of a table of numbers, in their order."""

    def changes(self) -> tuple[Counts, ...]:
        """Return a unit that moves from one end to the other: it crosses every edge that any other move crosses."""
        return (self._moved(0, self.length - 1),)


@frozen(repr=False)
class PathTable(MetricMechanism[NumberTable], Additive[NumberTable], kind="PathTable", version=1):
    """A table of numbers with metric privacy: `epsilon` holds for any change, even from one bound to the other.

    Cells lie at positions x_i, a record that moves from x_a to x_b is |x_a - x_b| away. Noise in the shape of
    transport,

        P(u) = prod_i tanh(r_i/2) e^(-r_i |u_0 + ... + u_i|),   r_i = epsilon_per_unit (x_(i+1) - x_i),

    has ln P(z | k) - ln P(z | k') <= epsilon_per_unit W(k, k') for data sets at ANY distance W, by the triangle
    inequality, with equality at z = k: no smaller number holds. That is definition 2 of Dimitrakakis, Nelson,
    Mitrokotsa and Rubinstein (2014), with delta = 0. For any change of one record whatever it is epsilon =
    epsilon_per_unit times the diameter, which is what an ordinary ledger is charged. It is another promise than an
    ordinary one, not a better one: at equal ordinary epsilon a TreeTable has far less noise. It is for columns where a
    precise value harms and a rough one does not.

    >>> ages = NumberTable("age", bounds=(0, 100), cells=101, is_whole=True, missing=40)
    >>> table = PathTable.per_unit(ages, size=1000, epsilon_per_unit="0.1")
    >>> table.guarantee.epsilon, table.guarantee.metric.at(35, 38).epsilon
    (Fraction(10, 1), Fraction(3, 10))
    """

    model: Checked[NumberTable] = computed(of_public_number(NumberTable, "publishes the table of a NumberTable; got a"))
    size: Whole = converted(whole)
    epsilon: Number = converted(noise_epsilon)

    def __post_init__(self) -> None:
        if self.model.leaves_gaps_out or self.model.by is not None or self.model.persons is not None:
            raise DeclarationError(
                "Metric privacy needs a distance between any two records. Declare `missing`, the number that missing "
                "values count as, and count records rather than persons. For a table with groups use GroupPaths, which "
                "declares how far apart they are."
            )

    @classmethod
    def per_unit(cls, model: NumberTable, size: int, epsilon_per_unit: Exact) -> "PathTable":
        """Return the mechanism with this epsilon for each unit of the column."""
        per_unit = positive(epsilon_per_unit, "epsilon_per_unit")
        return cls(model, size, per_unit * (model.edges[-2] - model.edges[0]))

    @property
    def metric(self) -> Line:
        """Return the metric: the distance between the values at which cells begin."""
        return Line(self.model.column, self.model.edges[:-1], self.model.bounds.missing, self.model.bounds.dates)

    @property
    def epsilon_per_unit(self) -> Fraction:
        return self.epsilon / self.metric.diameter

    @property
    def reason(self) -> str:
        return "noise in the shape of transport along the column (triangle inequality, at any distance)"

    @cached_property
    def quantities(self) -> OrderedCells:
        return OrderedCells(self.model, (self.model.count,))

    @cached_property
    def noise(self) -> TreeLaplace:
        """Return one rate for each step from a cell to the next."""
        steps = np.diff(np.array(self.model.edges[:-1], dtype=object))
        return TreeLaplace.path([self.epsilon_per_unit * step for step in steps])

    def checked(self, counts: ArrayLike) -> Counts:
        """Return simulated counts as an array; they must add up to the public size."""
        return self.model.numbers(counts, len(self.model.cells), self.size)
