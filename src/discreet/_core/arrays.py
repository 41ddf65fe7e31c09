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
