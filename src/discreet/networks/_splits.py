"""How many records of a row are inside an event and how many are not: distributions of counts as a list of pairs."""

from collections.abc import Sequence

import numpy as np

from discreet._core.arrays import Floats
from discreet.inference import LOST, Split, Windowed
from discreet.networks._class_states import DROPPED, blocks, likely

MOST_COUNTS = 128
"""Where more totals of a row are likely, or more counts inside for one of them, ranges of neighbours are merged."""


def split_by_totals(
    shares: Sequence[float] | Floats, distributions: Sequence[Windowed], totals: Sequence[int]
) -> Split:
    """Return the pairs of all totals of a row, each with its share and the distribution of the counts inside."""
    parts = [_split(distribution, total) for distribution, total in zip(distributions, totals, strict=True)]
    has_gaps = bool((np.diff(np.sort(totals)) > 1).any())  # a total of a range stands for all of it
    return Split(
        np.concatenate([share * part.chances for share, part in zip(shares, parts, strict=True)]),
        np.concatenate([part.inside for part in parts]),
        np.concatenate([part.outside for part in parts]),
        LOST + 2 * DROPPED + max(part.lost for part in parts),
        has_gaps or any(part.is_merged for part in parts),
    )


def _split(distribution: Windowed, total: int) -> Split:
    """Return a distribution of counts inside as pairs, the mean of a range where more than 128 of them are likely."""
    chances = distribution.values / distribution.values.sum()
    indices = likely(chances)
    starts = blocks(chances[indices], MOST_COUNTS)
    shares = np.add.reduceat(chances[indices], starts)
    means = distribution.first + np.add.reduceat(chances[indices] * indices, starts) / shares
    left_out = max(0.0, 1 - float(shares.sum()))
    return Split(shares / shares.sum(), means, total - means, left_out, len(starts) < len(indices))
