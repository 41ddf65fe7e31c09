"""Whole-number outputs around given ones: the window on which noisy numbers are compared."""

from collections.abc import Sequence
from math import prod

import numpy as np

from discreet._core.arrays import Counts

SIGNS = 2
"""Outputs this far beyond the possible ones meet every combination of signs of the noise."""


def window(centres: Counts, widest: int, most: int, tied: Sequence[slice] = ()) -> Counts | None:
    """Return all rows between the centres' extremes, less and plus a margin, or None if even a narrow one has too many.

    The margin is the largest up to `widest` with at most `most` rows. Numbers that are `tied` keep the sum that they
    have in the first centre: all but the last of them are free.
    """
    low, high = centres.min(axis=0), centres.max(axis=0)
    free = [index for index in range(centres.shape[1]) if index not in {tie.stop - 1 for tie in tied}]
    if not free:
        return None
    spans = [int(high[index] - low[index]) + 1 for index in free]
    margin = _largest_margin(spans, widest, most)
    if margin < min(SIGNS, widest):
        return None
    axes = [np.arange(low[index] - margin, high[index] + margin + 1) for index in free]
    rows = np.empty((prod(map(len, axes)), centres.shape[1]), dtype=np.int64)
    rows[:, free] = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(len(rows), len(free))
    for tie in tied:
        rows[:, tie.stop - 1] = centres[0, tie].sum() - rows[:, tie.start : tie.stop - 1].sum(axis=1)
    return rows


def _largest_margin(spans: Sequence[int], widest: int, most: int) -> int:
    """Return the largest margin with at most `most` rows; -1 if there is none."""
    low, high = -1, widest
    while low < high:
        margin, rows = (low + high + 1) // 2, 1
        for span in spans:
            rows *= span + 2 * margin
            if rows > most:
                break
        low, high = (margin, high) if rows <= most else (low, margin - 1)
    return low
