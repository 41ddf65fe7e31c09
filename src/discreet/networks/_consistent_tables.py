"""Noisy tables made to agree: the best linear estimate of the true ones, for any measured cells and contrasts.

A table splits into orthogonal effects, one for each set S of its variables: what the margin on S says beyond all
smaller margins. Tables agree on every margin that they share exactly if they have the same effects there, and nothing
else links effects. A measured part is a table whose axes hold cells or contrasts; an effect is seen by every part that
has all of its variables and no contrast of any other.
The noise is equally large in all directions of a part (apart from its known total), with variance c, and variance c R
in the effect S of the margin, where R is how many cells of the part fall on one of S. So generalised least squares
with all constraints is a separate weighted mean for each effect,

    e_S = sum_f w_f e_S(f) / sum_f w_f,   w_f = 1 / (c_f R),   over the parts f that see S;   e_0 = n,

without a matrix to solve. Fitted tables may have negative cells, as unbiased estimates do; `infer` knows that counts
are not negative, and this is its quick companion.

The nearest non-negative counts with the right sum.

Fitted tables in whole numbers that add up, for printing: signed ones, or those of a simulated data set.

Tables of releases made to agree by least squares.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, combinations
from math import prod, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet.inference import Problem
from discreet.mechanism import HasConditionals, Measurement, Model, columns_of_levels, conditionals_of, tables_of
from discreet.networks._families import Family
from discreet.noise import preserved
from discreet.release import Release


def nearest_counts(values: Floats, total: float) -> Floats:
    """Return the nearest vector, in Euclidean distance, without negative entries and with this sum.

    It is max(0, values - t) with t such that the sum is right (Held, Wolfe and Crowder, 1974).
    """
    falling = np.sort(values)[::-1]
    shifts = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    last = int(np.flatnonzero(falling - shifts >= 0)[-1]) if (falling - shifts >= 0).any() else 0
    return np.asarray(np.maximum(0.0, values - shifts[last]))


def largest_remainders(values: Floats, total: int) -> NDArray[np.int64]:
    """Return whole numbers near these, with this sum: all are rounded down, then those cut most get one back.

    Values that do not sum to the total are shifted evenly first.

    >>> largest_remainders(np.array([1.4, 2.4, 0.2]), 4).tolist()
    [2, 2, 0]
    """
    moved = values + (total - values.sum()) / len(values)
    found = np.floor(moved + 1e-9).astype(np.int64)
    missing = total - int(found.sum())
    found[np.argsort(found - moved, kind="stable")[:missing]] += 1
    return np.asarray(found)


Names = tuple[str, ...]

_TIE = 1e-7  # margins that agree to rounding errors are rounded the same way


def signed_table(margins: Mapping[tuple[int, ...], Floats], size: int) -> Counts:
    """Return a table of whole numbers from its margins, of which all but the last level of each axis are rounded.

    `margins` has the fitted margin for each set of axes. The last level of an axis is what is left, axis by axis; so
    tables whose margins agree still do.
    """
    found: dict[tuple[int, ...], Counts] = {(): np.array(size)}
    for axes, margin in margins.items():
        found[axes] = np.floor(margin[tuple(slice(-1) for _ in axes)] + 0.5 + _TIE).astype(np.int64)
    every = max(found, key=len)
    for axis in every:
        following = {}
        for known in [axes for axes in found if axis not in axes]:
            both = tuple(sorted((*known, axis)))
            index = both.index(axis)
            last = found[known] - found[both].sum(axis=index)
            following[both] = np.concatenate([found[both], np.expand_dims(last, index)], axis=index)
        found = following
    return found[every]


def subsets(length: int) -> list[tuple[int, ...]]:
    """Return all sets of axes but the empty one, small ones first."""
    return list(chain.from_iterable(combinations(range(length), count) for count in range(1, length + 1)))


def simulated_counts(model: Model, size: int, tables: Mapping[Names, Floats]) -> dict[Names, Counts]:
    """Return the tables of the maximal families of simulated records that follow fitted tables of all families.

    Records get their levels one variable after the other: in each row as many of each level as the fitted row says,
    spread evenly over the records that differ in other variables.
    """
    codes, sizes = np.zeros((1, 0), dtype=np.int64), np.array([size])
    names = [column.name for column in columns_of_levels(model)]
    for family, fitted in tables.items():
        above = [names.index(name) for name in family[:-1]]
        table, shape = fitted.reshape(-1, fitted.shape[-1]), fitted.shape[:-1]
        rows = np.ravel_multi_index(tuple(codes[:, above].T), shape) if above else np.zeros(len(codes), dtype=np.int64)
        split = np.zeros((len(codes), table.shape[1]), dtype=np.int64)
        for row in np.unique(rows):
            inside = np.flatnonzero(rows == row)
            total = int(sizes[inside].sum())
            wanted = largest_remainders(nearest_counts(table[row], float(total)), total)
            split[inside] = _shared(wanted, sizes[inside].tolist())
        groups, levels = np.nonzero(split)
        codes, sizes = np.column_stack([codes[groups], levels]), split[groups, levels]
    found = {}
    for columns in tables_of(model):
        counted: Counts = np.zeros([len(column.levels) for column in columns], dtype=np.int64)
        np.add.at(counted, tuple(codes[:, names.index(column.name)] for column in columns), sizes)
        found[tuple(column.name for column in columns)] = counted
    return found


def _shared(wanted: Counts, sizes: Sequence[int]) -> Counts:
    """Return how many of each level each group gets, as evenly as whole numbers allow; all are used in the end."""
    left, found = wanted.copy(), []
    for size in sizes:
        total = int(left.sum())
        share = np.asarray(left * (size / max(1, total)), dtype=float)
        part = largest_remainders(share, size) if total else np.zeros_like(left)
        found.append(part)
        left = left - part
    return np.array(found)


@dataclass(frozen=True, eq=False)
class NoisyPart:
    """A measured part of a table with axes `names`, and the variance of its noise in every direction.

    An axis holds all cells of its variable, or its normed Helmert contrasts where `cells` is False.
    """

    names: Names
    values: Floats
    variance: float
    cells: tuple[bool, ...]

    @classmethod
    def table(cls, names: Sequence[str], values: Floats, variance: float) -> "NoisyPart":
        """Return a whole table of cells."""
        return cls(tuple(names), values, variance, (True,) * len(names))


@dataclass(frozen=True, eq=False)
class ConsistentTables:
    """Tables that agree on every margin and add up to the size; `effects` holds coefficients and variances by set."""

    model: Model
    size: int
    effects: Mapping[Names, tuple[Floats, float]]

    def table(self, *names: str) -> Floats:
        """Return the fitted counts of some variables of one family, axes in the order in which they are named."""
        ordered = _ordered(self.model, names)
        known = all(inside in self.effects for inside, _, _ in _parts(self.model, ordered))
        if len(ordered) < len(names) or not names or not known:
            raise DeclarationError(
                "Consistent tables are known for the variables of one family (a variable with its parents), each "
                f"named once; got {', '.join(map(repr, names)) or 'none'}."
            )
        coefficients = np.zeros([_columns(self.model)[name] for name in ordered])
        coefficients[(0,) * len(ordered)] = self.size / sqrt(coefficients.size)
        for inside, index, rest in _parts(self.model, ordered):
            coefficients[index] = self.effects[inside][0] / sqrt(rest)
        return _turned(coefficients, backwards=True).transpose([ordered.index(name) for name in names])

    def standard_error(self, *names: str) -> float:
        """Return the standard deviation of the fitted noise in each cell of such a table, the same in all of them.

        An effect's coefficients, prod_(i in S) (K_i - 1) of them, are spread evenly over all prod_i K_i cells.
        """
        ordered = _ordered(self.model, names)
        shape = self.table(*names).shape
        total = 0.0
        for inside, _, rest in _parts(self.model, ordered):
            total += self.effects[inside][0].size / prod(shape) * self.effects[inside][1] / rest
        return sqrt(total)

    @cached_property
    def tables(self) -> dict[Family, Floats]:
        """Return the fitted table of every maximal family, or the one table of categories."""
        families = [tuple(column.name for column in columns) for columns in tables_of(self.model)]
        return {family: self.table(*family) for family in families}

    def signed_counts(self) -> dict[Family, Counts]:
        """Return tables of whole numbers that agree on every margin and add up to the size, for printing.

        They may be negative, as the fitted ones may.
        """
        found = {}
        for names in self.tables:
            margins = {axes: self.table(*(names[axis] for axis in axes)) for axes in subsets(len(names))}
            found[names] = signed_table(margins, self.size)
        return found

    def counts(self) -> dict[Family, Counts]:
        """Return tables of synthetic records: whole numbers, none negative, that agree and add up to the size."""
        if len(self.tables) == 1:  # there is nothing to agree with
            ((names, table),) = self.tables.items()
            flat = nearest_counts(table.ravel(), float(self.size))
            return {names: largest_remainders(flat, self.size).reshape(table.shape)}
        return simulated_counts(self.model, self.size, {family: self.table(*family) for family in self._families})

    @property
    def _families(self) -> tuple[Family, ...]:
        return tuple(family for family, _ in conditionals_of(self.model))

    def mean_tables(self) -> dict[str, Floats]:
        """Return (prior + count) / (their total) in every row, axes (parents..., levels): counts taken at face value.

        A row with negative counts is first replaced by the nearest row without any, of the same total.
        """
        means: dict[str, Floats] = {}
        if not isinstance(self.model, HasConditionals):
            raise DeclarationError(
                "Only a network has rows of conditional probabilities; this is a table of categories."
            )
        for family, prior in self.model.conditionals:
            fitted = self.table(*family)
            rows = fitted.reshape(-1, fitted.shape[-1])
            rows = np.stack([r if r.min() >= 0 else nearest_counts(r, max(0.0, float(r.sum()))) for r in rows])
            shapes = rows + np.array(prior)
            means[family[-1]] = (shapes / shapes.sum(axis=1, keepdims=True)).reshape(fitted.shape)
        return means


def fit(model: Model, size: int, parts: Sequence[NoisyPart]) -> ConsistentTables:
    """Return the weighted mean of every effect over all parts that see it."""
    sums: dict[Names, tuple[Floats, float]] = {}
    for part in parts:
        ordered = _ordered(model, part.names)
        order = [part.names.index(name) for name in ordered]
        cells = tuple(part.cells[index] for index in order)
        turned = _turned(part.values.transpose(order), cells)
        for inside, index, rest in _parts(model, ordered, cells):
            weight = 1 / (part.variance * rest)
            seen = weight * sqrt(rest) * turned[index]
            before = sums.get(inside)
            sums[inside] = (seen, weight) if before is None else (before[0] + seen, before[1] + weight)
    return ConsistentTables(model, size, {names: (seen / weight, 1 / weight) for names, (seen, weight) in sums.items()})


def noisy_parts(measurements: Sequence[Measurement], size: int) -> list[NoisyPart] | None:
    """Return all measured cells and contrasts with the variance of their noise; None if anything else was measured.

    Noise that sums to zero over a block of m numbers has m / (m - 1) times a number's variance in all other directions.
    Before anything was drawn the values are zero, which leaves the variances as they will be.
    """
    found: list[NoisyPart] = []
    rows: dict[tuple[Names, tuple[bool, ...]], dict[int, NoisyPart]] = {}  # parts about single levels, to be joined
    for measurement in measurements:
        variances, parts = _in_every_direction(measurement), measurement.of.parts
        if parts is None:
            return None
        values = measurement.values if measurement.values.size else np.zeros(measurement.of.length)
        for part in parts:
            norms = _norms(part.cells, part.indices.shape) * part.scale
            numbers = (values[part.indices] - part.offset * size) / norms
            variance = float((variances[part.indices] / norms**2).mean())
            noisy = NoisyPart(part.names, np.asarray(numbers), variance, part.cells)
            if part.level is None:
                found.append(noisy)
            else:
                rows.setdefault((part.names, part.cells), {})[part.level] = noisy
    return found + [_joined(levels) for levels in rows.values()]


def _joined(levels: Mapping[int, NoisyPart]) -> NoisyPart:
    """Return parts about each level of the first column as one part of the whole table."""
    ordered = [levels[level] for level in sorted(levels)]
    values = np.concatenate([part.values for part in ordered])
    return NoisyPart(ordered[0].names, values, float(np.mean([p.variance for p in ordered])), ordered[0].cells)


def _in_every_direction(measurement: Measurement) -> Floats:
    distribution = measurement.noise
    more = [
        m / (m - 1) if keeps else 1.0
        for m, keeps in zip(distribution.blocks, preserved(distribution.structure), strict=True)
    ]
    return np.asarray(distribution.variance * np.repeat(more, distribution.blocks))


def _norms(cells: tuple[bool, ...], shape: tuple[int, ...]) -> Floats:
    """Return the length of each contrast, prod sqrt(a (a + 1)) over axes that hold contrasts a = 1, 2, ..."""
    norms = np.ones(shape)
    for axis, (is_cells, length) in enumerate(zip(cells, shape, strict=True)):
        if not is_cells:
            steps = np.arange(1.0, length + 1)
            norms = norms * np.sqrt(steps * (steps + 1)).reshape([-1 if a == axis else 1 for a in range(len(shape))])
    return norms


def _columns(model: Model) -> dict[str, int]:
    """Return how many levels each column has, in the order of the model."""
    return {column.name: len(column.levels) for column in columns_of_levels(model)}


def _ordered(model: Model, names: Sequence[str]) -> Names:
    """Return names in the order of the model's columns."""
    wanted = set(names)
    return tuple(name for name in _columns(model) if name in wanted)


def _parts(
    model: Model, ordered: Names, cells: tuple[bool, ...] | None = None
) -> Iterator[tuple[Names, tuple[slice | int, ...], int]]:
    """Yield, for each set of variables whose effect a part sees, its names, the effect's index, and the other cells."""
    levels, axes = _columns(model), range(len(ordered))
    shape, full = [levels[name] for name in ordered], cells or (True,) * len(ordered)
    for inside in chain.from_iterable(combinations(axes, count) for count in range(1, len(ordered) + 1)):
        if all(full[axis] or axis in inside for axis in axes):
            indices = [slice(1, None) if axis in inside else 0 for axis in axes]
            index = tuple(where if full[axis] else slice(None) for axis, where in zip(axes, indices, strict=True))
            rest = prod(shape[axis] for axis in axes if axis not in inside)
            yield tuple(ordered[axis] for axis in inside), index, rest


def _turned(table: Floats, cells: tuple[bool, ...] | None = None, backwards: bool = False) -> Floats:
    """Return the coefficients of a table in an orthonormal basis of effects: the mean first on each axis of cells."""
    for axis, levels in enumerate(table.shape):
        if cells is None or cells[axis]:
            basis = _basis(levels).T if backwards else _basis(levels)
            table = np.moveaxis(np.tensordot(basis, table, (1, axis)), 0, axis)
    return table


@lru_cache(maxsize=256)
def _basis(levels: int) -> Floats:
    """Return Helmert's contrasts as rows, after the constant one: row k has 1 in k places, then -k, over its length."""
    found = np.tril(np.ones((levels, levels)), -1) - np.diag(np.arange(levels))
    found[0] = 1
    return np.asarray(found / np.sqrt((found**2).sum(axis=1, keepdims=True)))


def consistent_tables(*releases: Release) -> ConsistentTables:
    """Return the best linear unbiased estimate of all tables, from one release or several of the same tables.

    It works for measured cells and contrasts with noise of any distribution; choices and draws measure nothing.
    """
    problem = Problem.of(releases)
    parts = noisy_parts(problem.measurements, problem.size) if problem.is_measured else None
    if parts is None:
        raise DeclarationError(
            f"Consistent tables are computed from noisy cells and contrasts of tables; {problem.label!r} holds "
            "something else. Nothing was computed. Read it with infer."
        )
    return fit(problem.model, problem.size, parts)
