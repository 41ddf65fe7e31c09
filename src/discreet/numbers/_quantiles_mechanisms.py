"""ChosenCounts and ChosenTable: places near some quantiles are chosen, then the records between them are counted.

Both are sequences: what each step may cost is fixed in advance, where it counts follows from what the steps before it
published. A step holds its share of epsilon for every history, so the shares add up to epsilon, and so do the zCDP
parameters; all of it is charged before the first draw.

The first step chooses places by the ranks of records (`RankChoice`). A record that is replaced inside its group moves
one choice and one that changes groups two of them, so in groups the rate is half: 2 b or 4 b is the share of this step.
A rank is r = max(1, ceil(p n)) + s, where n is the number of records of the group that have a value, which moves it by
1 at most when a record comes or goes, in the direction of the records below: the distance from it moves by 1 at most.

Every other step counts the records between edges in all groups, and those without a value, as one table with noise that
keeps the total, as `GeometricHistogram` does: one record moves one unit. Edges are computed from published numbers by
additions, products, quotients and square roots of floats, which are rounded alike on every machine.

`ChosenCounts` is for one quantile. Two places are chosen at ranks r - t and r + t; the records before, between and
behind them are counted; and from these counts follow two edges near the quantile, at which the same is done again with
the largest share. `ChosenTable` is for several. One place is chosen for each, all together, and the records are counted
once, between two edges around every place.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, prod, sqrt

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts, Floats, NumbersT, different_rows
from discreet._core.errors import DeclarationError
from discreet._core.exact import whole
from discreet._core.fields import Checked, Number, Whole, computed, converted, frozen
from discreet.mechanism import Measurement, Model, OutputSpace, Quantities, Sized, noise_epsilon
from discreet.noise import ZeroSumLaplace
from discreet.noise.randomness import RandomBits
from discreet.numbers._bounded_number import of_public_number
from discreet.numbers._quantiles_model import NumberQuantiles
from discreet.numbers._rank_choice import RankChoice
from discreet.privacy import Guarantee, PrivacyLoss

_REACH = 24.0  # e^-24 is the weight of noise that is listed, where there is room
_MOST_LISTED = 64  # tables of all data sets that are looked at, for each output that may be listed
_MOST_BY_SQUARE = Fraction(1, 8)
"""A loss that lies in a range of length e has the zCDP parameter e^2/8 at most."""


@dataclass(frozen=True, eq=False)
class BetweenEdges(Quantities):
    """How many records of every group lie between edges (a row for each group), and how many have no value."""

    model: NumberQuantiles
    edges: Counts
    locates: bool = True
    """Whether these counts say where a quantile is, and not only how far off it may be in the population."""
    part: float = 1.0
    """What claims by these counts may go wrong for the records, as a part of what may go wrong in all steps."""
    sampled_part: float = 1.0
    """The same for the population."""

    @property
    def blocks(self) -> tuple[int, ...]:
        """Return all counts, in one block: they add up to the number of records."""
        return (len(self.edges) * (self.edges.shape[1] + 1) + self.model.leaves_gaps_out,)

    @cached_property
    def _cell_of_place(self) -> Counts:
        """Return the number of the cell that each single count belongs to."""
        cells, places = self.edges.shape[1] + 1, np.arange(self.model.places)
        own = [index * cells + np.searchsorted(row, places, side="right") for index, row in enumerate(self.edges)]
        return np.concatenate([*own, [self.length - 1] * self.model.leaves_gaps_out]).astype(np.int64)

    def apply(self, counts: NumbersT) -> NumbersT:
        """Return the sums of all places between two edges."""
        rows = np.asarray(counts)
        starts = np.searchsorted(self._cell_of_place, np.arange(self.length))
        sums: NumbersT = np.add.reduceat(rows, starts, axis=-1)
        return sums

    def transpose(self, values: NumbersT) -> NumbersT:
        """Return for every place the number of its cell."""
        return np.asarray(values)[..., self._cell_of_place]

    def changes(self) -> tuple[Counts, ...]:
        """Return that one unit moves."""
        return (_one_moves(self.length),)


def _one_moves(cells: int) -> Counts:
    """Return the change where one unit moves from the last cell to the first."""
    change = np.zeros(cells, dtype=np.int64)
    change[[0, -1]] = 1, -1
    return change


def _distinct(edges: Floats, places: int) -> Counts:
    """Return rising edges between 1 and P - 1 near some numbers, of which each row has fewer than P."""
    count = edges.shape[-1]
    offsets = np.arange(count)
    rising = np.clip(np.sort(edges, axis=-1), 1, places - 1).astype(np.int64)
    pushed = np.maximum.accumulate(rising - offsets, axis=-1) + offsets
    return np.asarray(np.minimum(pushed, places - count + offsets))


class ChosenPlaces(Sized[NumberQuantiles]):
    """A choice of places by rank, then counts between edges that follow from what was published."""

    epsilon: Fraction

    @property
    @abstractmethod
    def targets(self) -> tuple[tuple[Fraction, int], ...]:
        """Return p and s of every rank r = max(1, ceil(p n)) + s at which a place is chosen."""

    @property
    @abstractmethod
    def shares(self) -> tuple[Fraction, ...]:
        """Return the parts of epsilon: of the choice, then of every step that counts."""

    @property
    @abstractmethod
    def edges(self) -> tuple[int, ...]:
        """Return how many edges every step that counts has in each group."""

    @property
    @abstractmethod
    def uses(self) -> tuple[tuple[bool, float, float], ...]:
        """Return what every step that counts is used for, as `BetweenEdges` says."""

    @abstractmethod
    def next_edges(self, places: Floats, tables: list[Floats]) -> Floats:
        """Return about where the next step counts, from rows of chosen places and of tables that were published.

        Axes are rows, groups, and then places or cells.
        """

    @cached_property
    def rate(self) -> Fraction:
        """Return b of the choice in each group."""
        return self.shares[0] * self.epsilon / (2 * self._moved)

    @property
    def _moved(self) -> int:
        """Return how many choices one replaced record takes part in."""
        return 1 if self.model.by is None else 2

    @cached_property
    def noises(self) -> tuple[ZeroSumLaplace, ...]:
        """Return the noise of every step that counts."""
        rates = (share * self.epsilon / 2 for share in self.shares[1:])
        return tuple(ZeroSumLaplace((rate,), (cells,)) for rate, cells in zip(rates, self._cells, strict=True))

    @cached_property
    def _cells(self) -> tuple[int, ...]:
        return tuple(len(self.model.groups) * (count + 1) + self.model.leaves_gaps_out for count in self.edges)

    @property
    def per_group(self) -> float:
        """Return how many records a group has, if all have as many."""
        return self.size / len(self.model.groups)

    @property
    def guarantee(self) -> Guarantee:
        """Return epsilon, the sum of all steps."""
        why = f"{len(self.shares)} steps fixed in advance: a choice by rank, then counts where it leads to (basic)"
        return Guarantee(self.epsilon, reason=why)

    def privacy_loss(self) -> PrivacyLoss:
        """Return the loss of the worst mechanism with this epsilon: losses of adaptive steps are not convolved."""
        return PrivacyLoss.worst_case(self.epsilon)

    @property
    def rho(self) -> Fraction:
        counted = sum((noise.privacy_loss(_one_moves(sum(noise.sizes))).rho for noise in self.noises), Fraction(0))
        return self._moved * (2 * self.rate) ** 2 * _MOST_BY_SQUARE + counted

    @cached_property
    def _chosen(self) -> int:
        return len(self.model.groups) * len(self.targets)

    @property
    def space(self) -> OutputSpace:
        """Return a place for every rank in each group, and the counts of all steps."""
        return OutputSpace(self._chosen + sum(self._cells), self._why_impossible)

    def _why_impossible(self, output: Counts) -> str | None:
        places, *tables = self._split(output)
        if (places < 0).any() or (places >= self.model.places).any():
            return f"The output names a place that is none of 0 to {self.model.places - 1}."
        for table, noise in zip(tables, self.noises, strict=True):
            if int(table.sum()) != self.size:
                return f"The counts of a step must add up to {self.size} records; they add up to {int(table.sum())}."
            if np.abs(table).max() > self.size + 10**6 * (1 + float(noise.decay_length.max())):
                return "The output holds numbers too large to be read."
        return None

    def _split(self, output: Counts) -> list[Counts]:
        """Return the chosen places and the counts of every step, for rows of outputs."""
        return np.split(np.asarray(output), np.cumsum((self._chosen, *self._cells[:-1])), axis=-1)

    def _grouped(self, table: Counts, edges: int) -> Floats:
        """Return the counts of a step with so many edges by groups."""
        own = table[..., : len(self.model.groups) * (edges + 1)]
        return own.reshape(*table.shape[:-1], len(self.model.groups), -1).astype(float)

    def all_edges(self, output: Counts) -> list[Counts]:
        """Return the edges of every step (rows, groups, edges), for rows of outputs."""
        places, *tables = self._split(output)
        ordered = np.sort(places.reshape(*places.shape[:-1], len(self.model.groups), -1), axis=-1).astype(float)
        grouped = [self._grouped(table, count) for table, count in zip(tables, self.edges, strict=True)]
        return [_distinct(self.next_edges(ordered, grouped[:index]), self.model.places) for index in range(len(tables))]

    def _below(self, row: Counts) -> Counts:
        """Return how many records of each group (rows) lie below every place, from 0 to all of them."""
        own = row[: len(self.model.groups) * self.model.places].reshape(len(self.model.groups), -1)
        return np.pad(np.cumsum(own, axis=1), ((0, 0), (1, 0)))

    def _choices(self, below: Counts) -> list[RankChoice]:
        """Return the choice of each group."""
        shift = max(abs(s) for _, s in self.targets)
        found = []
        for own in below:
            number = int(own[-1])
            ranks = np.array([max(1, ceil(share * number)) + s for share, s in self.targets])
            found.append(RankChoice(self.rate, own, ranks, self.size + shift + 2))
        return found

    def _counted(self, below: Counts, edges: Counts) -> Counts:
        """Return the table of one data set between edges (rows, groups, edges)."""
        ends = np.pad(edges, [(0, 0)] * (edges.ndim - 1) + [(1, 1)])
        ends[..., -1] = self.model.places
        at = below[np.arange(len(below))[:, None], ends]
        cells = np.diff(at, axis=-1).reshape(*edges.shape[:-2], -1)
        gaps = self.size - cells.sum(axis=-1, keepdims=True)
        return np.concatenate([cells, gaps], axis=-1) if self.model.leaves_gaps_out else cells

    def _checked(self, counts: ArrayLike) -> Counts:
        return self.model.numbers(counts, self.model.length, self.size)

    def sample(self, counts: Counts, bits: RandomBits) -> Counts:
        """Draw all steps for each row of simulated counts; secret statistics must go through `publish`."""
        rows = self._checked(counts)
        below = [self._below(row) for row in rows.reshape(-1, rows.shape[-1])]
        outputs = np.array([np.concatenate([choice.sample(bits) for choice in self._choices(own)]) for own in below])
        for index, noise in enumerate(self.noises):
            edges = self.all_edges(self._padded(outputs))[index]
            tables = np.array([self._counted(own, places) for own, places in zip(below, edges, strict=True)])
            outputs = np.concatenate([outputs, tables + noise.sample(len(outputs), bits)], axis=1)
        return outputs.reshape(*rows.shape[:-1], -1)

    def _padded(self, outputs: Counts) -> Counts:
        """Return outputs of the first steps with zeros for those that are still to come."""
        return np.pad(outputs, [(0, 0)] * (outputs.ndim - 1) + [(0, self.space.length - outputs.shape[-1])])

    def log_prob(self, output: ArrayLike, counts: ArrayLike) -> Floats:
        """Return log P(output | counts): of the choice in every group, and of all noise."""
        return self._log_prob(np.asarray(output), np.asarray(counts), with_choice=True)

    def log_prob_of_counts(self, output: ArrayLike, counts: ArrayLike) -> Floats:
        """Return log P(counts published | places published, counts): what is measured, wherever that is."""
        return self._log_prob(np.asarray(output), np.asarray(counts), with_choice=False)

    def _log_prob(self, found: Counts, rows: Counts, with_choice: bool) -> Floats:
        shape = np.broadcast_shapes(found.shape[:-1], rows.shape[:-1])
        outputs = np.broadcast_to(found, (*shape, found.shape[-1]))
        tables = rows.reshape(-1, rows.shape[-1])
        which = np.broadcast_to(np.arange(len(tables)).reshape(rows.shape[:-1]), shape)
        logs = np.zeros(shape)
        for index, row in enumerate(tables):
            logs[which == index] = self._log_prob_of(outputs[which == index], row, with_choice)
        return logs

    def _log_prob_of(self, outputs: Counts, row: Counts, with_choice: bool) -> Floats:
        below = self._below(row)
        places, *tables = self._split(outputs)
        logs = np.zeros(len(outputs))
        if with_choice:
            parts = np.split(places, len(self.model.groups), axis=-1)
            logs += sum(choice.log_prob(own) for choice, own in zip(self._choices(below), parts, strict=True))
        for table, edges, noise in zip(tables, self.all_edges(outputs), self.noises, strict=True):
            logs += noise.log_prob(table - self._counted(below, edges))
        return logs

    def measured(self, counts: Counts) -> Counts:
        """Return the places of the records of these ranks, and what is counted from there, without noise."""
        rows = np.asarray(counts)
        return np.array([self._undisturbed(row) for row in rows.reshape(-1, rows.shape[-1])]).reshape(
            *rows.shape[:-1], -1
        )

    def _undisturbed(self, row: Counts) -> Counts:
        below = self._below(row)
        nearest = [np.searchsorted(choice.below[1:], choice.ranks) for choice in self._choices(below)]
        output = np.clip(np.concatenate(nearest), 0, self.model.places - 1)
        for index in range(len(self.noises)):
            output = np.concatenate([output, self._counted(below, self.all_edges(self._padded(output))[index])])
        return output

    def evidence(self, output: Counts) -> tuple[Measurement, ...]:
        """Return the counts of all steps, between the edges that follow from the output itself.

        How likely the places are is left out: that what was counted there holds for every place is all that is used.
        """
        given = np.asarray(output)
        values = given if len(given) == self.space.length else np.zeros(self.space.length, dtype=np.int64)  # not drawn
        tables = self._split(values)[1:]
        return tuple(
            Measurement(BetweenEdges(self.model, edges, *uses), table, noise)
            for edges, uses, table, noise in zip(self.all_edges(values), self.uses, tables, self.noises, strict=True)
        )

    def outputs_for(self, counts: Counts, most: int) -> Counts | None:
        """Return all places, each with the tables that are likely between the edges that follow, for any data set."""
        rows = different_rows(np.asarray(counts).reshape(-1, self.model.length))
        for decay in np.geomspace(_REACH, 0.5, 40):
            reaches = [int(decay / float(noise.rates[0])) for noise in self.noises]
            sizes = [float(2 * reach + 1) ** (cells - 1) for reach, cells in zip(reaches, self._cells, strict=True)]
            if self.model.places**self._chosen * prod(sizes) > most:
                continue
            found = self._listed(rows, reaches, most)
            if found is not None:
                return found
        return None

    def _listed(self, rows: Counts, reaches: list[int], most: int) -> Counts | None:
        """Return all places with all tables whose noise is at most so much, unless there are too many."""
        found = np.indices((self.model.places,) * self._chosen).reshape(self._chosen, -1).T
        for index, (reach, cells) in enumerate(zip(reaches, self._cells, strict=True)):
            free = np.indices((2 * reach + 1,) * (cells - 1)).reshape(cells - 1, -1).T - reach
            near = np.column_stack([free, -free.sum(axis=1)])
            if len(found) * len(rows) * len(near) > _MOST_LISTED * most:
                return None
            edges = self.all_edges(self._padded(found))[index]
            tables = np.stack([self._counted(self._below(row), edges) for row in rows], axis=1)
            together = (tables[:, :, None] + near).reshape(len(found), -1, cells)
            kept = [different_rows(own) for own in together]
            found = np.concatenate([np.repeat(found, [len(own) for own in kept], axis=0), np.concatenate(kept)], axis=1)
            if len(found) > most:
                return None
        return found

    def small_instance_fields(self, model: Model) -> Iterator[Mapping[str, object]]:
        """Yield nothing to change but the model and the size."""
        yield {}


_AWAY, _NEAR = 60, 14
"""Of `ChosenCounts`: how many ranks times epsilon the chosen places, and the last edges, are from the quantile."""
_FAR, _FAR_NOISE = 70, 36
"""How many ranks times epsilon the edges for the population are farther out, and the standard deviation of noise."""


def _deviation(size: float, share: Fraction) -> float:
    """Return the standard deviation of how many of a sample lie below a quantile of the population."""
    return sqrt(size * float(share) * (1 - float(share)))


@frozen(repr=False)
class ChosenCounts(ChosenPlaces, kind="ChosenCounts"):
    """Two places around one quantile, and counts there and inside: pure epsilon-DP under replacement of one record.

    >>> median = NumberQuantiles("income", bounds=(0, 200_000), quantiles=("0.5",), missing=0)
    >>> ChosenCounts(median, size=1000, epsilon=1).guarantee.epsilon
    Fraction(1, 1)
    """

    model: Checked[NumberQuantiles] = computed(
        of_public_number(NumberQuantiles, "publishes a quantile of NumberQuantiles; got a")
    )
    size: Whole = converted(whole)
    epsilon: Number = converted(noise_epsilon)

    def __post_init__(self) -> None:
        if len(self.model.quantiles) > 1:
            raise DeclarationError(
                f"ChosenCounts publishes one quantile; {len(self.model.quantiles)} are asked. Use ChosenTable, which "
                "chooses the places of all of them together."
            )

    @cached_property
    def shares(self) -> tuple[Fraction, ...]:
        """Return 15 % each for the choice and for counts there, and the rest near the quantile, less 5 % for sampling.

        Where sampling goes less far than noise, the places are a little farther out, and do for both.
        """
        far = () if self._places_do_for_both else (Fraction(1, 20),)
        around = Fraction(3, 20)
        return (around, around, 1 - 2 * around - sum(far), *far)

    @cached_property
    def _places_do_for_both(self) -> bool:
        return _deviation(self.per_group, self.share) * float(self.epsilon) <= 20

    @property
    def edges(self) -> tuple[int, ...]:
        """Return two edges in every step."""
        return (2,) * (len(self.shares) - 1)

    @property
    def uses(self) -> tuple[tuple[bool, float, float], ...]:
        if self._places_do_for_both:
            return (True, 0.15, 0.9), (True, 0.85, 0.1)
        return (True, 0.15, 0.05), (True, 0.85, 0.0), (False, 0.0, 0.95)

    @property
    def share(self) -> Fraction:
        """Return the quantile."""
        return self.model.quantiles[0]

    @cached_property
    def targets(self) -> tuple[tuple[Fraction, int], ...]:
        """Return ranks t = 60/epsilon, in groups twice that, before and behind; fewer if records are few."""
        away, part = _AWAY * self._moved / float(self.epsilon), float(self.share)
        if self._places_do_for_both:
            away += 2 * _deviation(self.per_group, self.share)
        low, high = (max(1, ceil(min(away, 0.7 * room * self.per_group))) for room in (part, 1 - part))
        return (self.share, -low), (self.share, high)

    def next_edges(self, places: Floats, tables: list[Floats]) -> Floats:
        """Return the places; then edges near the quantile, and such as lie as far off as sampling goes.

        With z_0, z_1, z_2 records before, between and behind the places e_1 and e_2, evenly between them, the quantile
        is at e_1 + (e_2 - e_1) (p z - z_0) / z_1, z = z_0 + z_1 + z_2, and d ranks are (e_2 - e_1) d / z_1 places. The
        first edges are d = 14/epsilon ranks off; the others 70/epsilon and two standard deviations of sampling and
        noise.
        """
        outer: Floats = places + np.array([0.0, 1.0])
        if not tables:
            return outer
        ends = _distinct(outer, self.model.places).astype(float)
        first, width, table = ends[..., 0], ends[..., 1] - ends[..., 0], tables[0]
        inner = np.maximum(table[..., 1], 1.0)
        wanted = float(self.share) * table.sum(axis=-1) - table[..., 0]
        middle = first + width * np.clip(wanted / inner, 0.0, 1.0)
        rate = float(self.epsilon)
        spread = _deviation(self.per_group, self.share) ** 2 + (_FAR_NOISE / rate) ** 2
        ranks = _NEAR / rate if len(tables) == 1 else _FAR / rate + 2 * sqrt(spread)
        half = np.minimum(width * ranks / inner, float(self.model.places))
        edges: Floats = np.stack([np.floor(middle - half), np.ceil(middle + half)], axis=-1)
        return edges


@frozen(repr=False)
class ChosenTable(ChosenPlaces, kind="ChosenTable"):
    """One place near each of several quantiles, and a table between them: pure epsilon-DP under replacement.

    >>> deciles = NumberQuantiles("income", bounds=(0, 200_000), missing=0)
    >>> ChosenTable(deciles, size=10_000, epsilon=1).guarantee.epsilon
    Fraction(1, 1)
    """

    model: Checked[NumberQuantiles] = computed(
        of_public_number(NumberQuantiles, "publishes quantiles of NumberQuantiles; got a")
    )
    size: Whole = converted(whole)
    epsilon: Number = converted(noise_epsilon)

    @cached_property
    def shares(self) -> tuple[Fraction, ...]:
        """Return 30 % for the choice, or 40 % of many quantiles, and 10 % for edges as far out as sampling goes.

        Where sampling goes less far than noise, sqrt(n) epsilon < 36, one table does for both.
        """
        chosen = Fraction(3 if len(self.model.quantiles) <= 12 else 4, 10)
        far = (Fraction(1, 10),) if sqrt(self.per_group) * float(self.epsilon) > 36 else ()
        return (chosen, 1 - chosen - sum(far), *far)

    @property
    def edges(self) -> tuple[int, ...]:
        """Return two edges for each quantile."""
        return (2 * len(self.model.quantiles),) * (len(self.shares) - 1)

    @property
    def uses(self) -> tuple[tuple[bool, float, float], ...]:
        return ((True, 1.0, 1.0),) if len(self.shares) == 2 else ((True, 0.95, 0.1), (False, 0.05, 0.9))

    @cached_property
    def targets(self) -> tuple[tuple[Fraction, int], ...]:
        """Return the ranks of the quantiles themselves."""
        return tuple((share, 0) for share in self.model.quantiles)

    def next_edges(self, places: Floats, tables: list[Floats]) -> Floats:
        """Return two edges around each place v_j, h_j before and behind it.

        h_j = D/epsilon sqrt(s_j s_(j+1)), where s_j is how many places there are to a rank between v_(j-1) and v_j;
        outermost, the bounds stand for the missing neighbour, and count no more than four times as much as the other.
        For the population, D/epsilon has 2.5 standard deviations of sampling more.
        """
        shares = self.model.quantiles
        ranks = np.diff([0.0, *(float(each) for each in shares), 1.0]) * self.per_group
        ends = np.pad(places, [(0, 0)] * (places.ndim - 1) + [(1, 1)])
        ends[..., -1] = self.model.places
        per_rank = np.diff(ends, axis=-1) / np.maximum(ranks, 1.0)
        if len(shares) > 1:
            per_rank[..., 0] = np.minimum(per_rank[..., 0], 9 * per_rank[..., 1])
            per_rank[..., -1] = np.minimum(per_rank[..., -1], 9 * per_rank[..., -2])
        wide = np.full(len(shares), (31.5 if len(shares) <= 5 else 42) / float(self.epsilon * self.shares[1]))
        if tables:
            wide += [2.5 * _deviation(self.per_group, share) for share in shares]
        half = np.minimum(wide * np.sqrt(per_rank[..., :-1] * per_rank[..., 1:]), float(self.model.places))
        return np.concatenate([np.floor(places - half), np.ceil(places + 1 + half)], axis=-1)
