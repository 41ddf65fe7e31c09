"""Sticks of several rows at once, each with a Beta law of its own: what `sticks` does for rows that share one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats
from discreet.reading.counts.sticks import Stick


@dataclass(frozen=True)
class RowSticks:
    """One stick for each row (the first axis) of totals and normal numbers."""

    rows: tuple[Stick, ...]

    def whole(self, totals: Floats, x: Floats) -> tuple[Floats, Floats | float]:
        """Return whole numbers between 0 and the totals, and their log weights."""
        found = [stick.whole(own, at) for stick, own, at in zip(self.rows, totals, x, strict=True)]
        weights = [np.broadcast_to(np.asarray(logs, dtype=float), counts.shape) for counts, logs in found]
        return np.stack([counts for counts, _ in found]), np.stack(weights)

    def share(self, x: Floats, totals: Floats) -> tuple[Floats, Floats]:
        """Return r and its derivative by x, T ~ N r."""
        found = [stick.share(at, own) for stick, at, own in zip(self.rows, x, totals, strict=True)]
        return np.stack([r for r, _ in found]), np.stack([slope for _, slope in found])

    def normal(self, share: Floats, totals: float) -> Floats:
        """Return x for a share of about so many records."""
        return np.stack([stick.normal(own, totals) for stick, own in zip(self.rows, share, strict=True)])


def stick_of(alpha: Sequence[Sequence[float]], level: int) -> Stick | RowSticks:
    """Return the stick of a level against all that follow, from the Dirichlet parameters of every row."""
    sticks = tuple(Stick(row[level], sum(row[level + 1 :])) for row in alpha)
    return sticks[0] if len(set(sticks)) == 1 else RowSticks(sticks)
