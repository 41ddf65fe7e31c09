"""The posterior as a finite mixture over class counts: given a state, all features are independent."""

from dataclasses import dataclass

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet.inference import Windowed

DROPPED = 1e-13  # probability that is left out at either end of the class counts
_MOST_NUMBERS = 1_000_000  # numbers held at once when records are classified


@dataclass(frozen=True, eq=False)
class ClassStates:
    """The probability of each state, its (mean) class count, and for each feature the probability of every level.

    `features[i][s, x]` is E[theta_i(x) | state s]: what the next record of this class would show.
    """

    chances: Floats
    totals: Floats
    features: list[Floats]


def likely(chances: Floats) -> Counts:
    """Return the indices that hold all but a negligible share of the probability, without impossible ones between.

    With little noise only every second class count may be possible.
    """
    below, above = np.cumsum(chances), np.cumsum(chances[::-1])[::-1]
    return np.flatnonzero((below > DROPPED) & (above > DROPPED) & (chances > 0))


def represented(chances: Windowed, most: int) -> tuple[Counts, Floats]:
    """Return the likely counts with their probabilities; beyond `most` of them, the mean count of ranges."""
    indices = likely(chances.values)
    starts = blocks(chances.values[indices], most)
    shares = np.add.reduceat(chances.values[indices], starts)
    means = np.add.reduceat(chances.values[indices] * indices, starts) / shares
    return chances.first + np.rint(means).astype(np.int64), shares / shares.sum()


def blocks(chances: Floats, most: int) -> Counts:
    """Return where blocks of consecutive states begin: one each while there are few, at most this many ranges beyond.

    What is lost by merging grows with p w^2 for a range of width w, so widths ~ p^(-1/3) lose least.
    """
    if len(chances) <= most:
        return np.arange(len(chances))
    reached = np.cumsum(np.cbrt(chances))
    numbers = np.minimum((most * reached / reached[-1]).astype(np.int64), most - 1)
    return np.flatnonzero(np.diff(numbers, prepend=-1))


def log_chances(log_weights: Floats, features: list[Floats], codes: Counts) -> Floats:
    """Return log sum_s e^(log_weights[s]) prod_i features[i][s, x_i] for records x, given as rows of codes.

    A code below 0 is not known: summed over all its levels, that feature is a factor of 1.
    The product over features is a product of two matrices: which levels a record has, and logarithms.
    """
    logs = np.log(np.concatenate(features, axis=1))
    starts = np.cumsum([0, *(feature.shape[1] for feature in features[:-1])])
    result = np.empty(len(codes))
    chunk = max(1, _MOST_NUMBERS // max(logs.shape))
    for first in range(0, len(codes), chunk):
        part = codes[first : first + chunk]
        shown = np.zeros((len(part), logs.shape[1]))
        np.put_along_axis(shown, np.maximum(part, 0) + starts, (part >= 0).astype(float), axis=1)
        found = shown @ logs.T
        found += log_weights
        peaks = found.max(axis=1)
        found -= peaks[:, None]
        np.exp(found, out=found)
        result[first : first + chunk] = peaks + np.log(found.sum(axis=1))
    return result
