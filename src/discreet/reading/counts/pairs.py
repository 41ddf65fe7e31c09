"""Pairs of sums of two disjoint groups of cells, as all laws of counts answer for them."""

from typing import NamedTuple

from discreet.arrays import Counts, Floats


class Pairs(NamedTuple):
    """Sums of either group, one pair for each entry, with their probabilities."""

    first: Counts
    second: Counts
    weights: Floats
    lost: float | None
    """The share of all pairs that is left out, at most; None if they were drawn."""
    draws: float | None = None
    """How many independent draws they are worth, if they were drawn."""
