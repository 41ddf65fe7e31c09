"""Arrays of the two types that everything here is made of: whole numbers that are counted, and floats."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

NumbersT = TypeVar("NumbersT", Counts, Floats)
"""Whole numbers, or real ones where a solver uses continuous coordinates."""
