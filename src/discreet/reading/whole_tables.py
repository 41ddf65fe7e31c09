"""Fitted tables in whole numbers that add up, for printing: signed ones, or those of a made-up data set."""

from collections.abc import Mapping, Sequence
from itertools import chain, combinations

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.models.model import Model, columns_of_levels, tables_of
from discreet.reading.nearest import largest_remainders, nearest_counts

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
            place = both.index(axis)
            last = found[known] - found[both].sum(axis=place)
            following[both] = np.concatenate([found[both], np.expand_dims(last, place)], axis=place)
        found = following
    return found[every]


def subsets(length: int) -> list[tuple[int, ...]]:
    """Return all sets of axes but the empty one, small ones first."""
    return list(chain.from_iterable(combinations(range(length), count) for count in range(1, length + 1)))


def made_up_counts(model: Model, size: int, tables: Mapping[Names, Floats]) -> dict[Names, Counts]:
    """Return the tables of the maximal families of made-up records that follow fitted tables of all families.

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
