"""Arrays of the two types that everything here is made of: whole numbers that are counted, and floats."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

NumbersT = TypeVar("NumbersT", Counts, Floats)
"""Whole numbers, or real ones where a solver uses continuous coordinates."""


def groups(values: Counts) -> list[tuple[int, Counts]]:
    """Return each value that occurs with the places where it does."""
    order = np.argsort(values, kind="stable")
    found, starts = np.unique(values[order], return_index=True)
    parts = np.split(order, starts[1:])
    return [(int(value), part) for value, part in zip(found, parts, strict=True)]


def different_rows(rows: Counts) -> Counts:
    """Return all different rows, in lexicographic order: `np.unique(rows, axis=0)`, which sorts structures, slowly.

    Each row becomes one number, sum_j (x_j - min_j) prod_(i > j) (max_i - min_i + 1), as long as these are whole.

    >>> different_rows(np.array([[1, 0], [0, 5], [1, 0]]))
    array([[0, 5],
           [1, 0]])
    """
    if not rows.size:
        return np.asarray(np.unique(rows, axis=0))
    low, high = rows.min(axis=0), rows.max(axis=0)
    if np.log2(high - low.astype(np.float64) + 1).sum() > 62:
        return np.asarray(np.unique(rows, axis=0))
    strides = np.append(np.cumprod((high - low + 1)[:0:-1])[::-1], 1)
    _, first = np.unique((rows - low) @ strides, return_index=True)
    return np.asarray(rows[first])
