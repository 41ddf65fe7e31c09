"""Numbers and days inside bands, by a declared rule that looks at no record.

A column with bands says only in which band a record lies. Where synthetic records are to hold numbers, the rule puts
one inside the band: spread evenly over it, or its middle. If both edges of a band are whole numbers, only whole numbers
are used; days are whole numbers, too. A band ends before its upper edge, except the last, which includes it.
"""

from itertools import pairwise
from math import ceil, floor, log10
from typing import Any

import numpy as np

from discreet._core.arrays import Counts
from discreet._core.errors import DeclarationError
from discreet.records import Column, day_text

RULES = ("names", "spread", "middle")
"""How bands are written: by name, or as a number inside."""
_DIGITS = 6  # of numbers that need not be whole, relative to the width of their band


def numbers_inside(column: Column, codes: Counts, rule: str, generator: np.random.Generator) -> list[Any]:
    """Return a number, or a day as text, for each record's band; None for what lies in no band."""
    if rule not in RULES[1:]:
        raise DeclarationError(
            f"numbers must be one of {', '.join(map(repr, RULES))}; got {rule!r}. Nothing was drawn."
        )
    bands = list(pairwise(column.edges))
    found: list[Any] = [None] * len(codes)
    for band, (low, high) in enumerate(bands):
        inside = np.flatnonzero(codes == band)
        is_last = band == len(bands) - 1
        if low.is_integer() and high.is_integer():
            top = int(high) if is_last else int(high) - 1
            middle = floor((low + top) / 2)
            drawn = generator.integers(int(low), top + 1, size=len(inside)) if rule == "spread" else None
            values: list[Any] = [middle] * len(inside) if drawn is None else drawn.tolist()
        else:
            places = max(0, _DIGITS - ceil(log10(high - low)))
            marks = generator.random(len(inside)) if rule == "spread" else np.full(len(inside), 0.5)
            rounded = np.floor((low + marks * (high - low)) * 10**places) / 10**places
            values = np.where(rounded < low, low, rounded).tolist()
        if column.dates:
            values = [day_text(value) for value in values]
        for index, value in zip(inside.tolist(), values, strict=True):
            found[index] = value
    return found
