"""How strongly a choice may follow its scores: the largest scale, found by comparing all neighbours.

A choice draws P(c | x) ~ e^(k u_c(x)). Between neighbours x and y the log ratio of candidate c is

    k (u_c(x) - u_c(y)) - (ln Z_x - ln Z_y),     Z_x = sum_c e^(k u_c(x)),

so it is largest or smallest where the score changes most, up or down, and epsilon(k) is a maximum over pairs of two
numbers each. It need not increase with k everywhere: a scale is searched for, and the one found is checked against
epsilon.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import log

import numpy as np
from scipy.special import logsumexp

from discreet._core.arrays import Counts, Floats
from discreet._core.exact import rounded_down
from discreet.privacy import DIGITS, compositions, last_fitting, number_of_tables

MOST_SCORES = 10_000_000
"""The most data sets times candidates, and pairs times candidates, that are computed."""
_CHUNK = 2**20
_UNIT = 2.0**-53


@dataclass(frozen=True, eq=False)
class ScoreChanges:
    """Scores in [0, 1] of all candidates (columns) for all data sets (rows), and which of these are neighbours.

    `error` bounds the absolute error of a score.
    """

    scores: Floats
    pairs: Counts
    error: float

    @cached_property
    def _changes(self) -> tuple[Floats, Floats]:
        """Return the largest increase and the largest decrease of a score, for each pair."""
        step = max(1, _CHUNK // self.scores.shape[1])
        parts = [self.pairs[start : start + step] for start in range(0, len(self.pairs), step)]
        gaps = [self.scores[part[:, 0]] - self.scores[part[:, 1]] for part in parts]
        return np.concatenate([gap.max(axis=1) for gap in gaps]), np.concatenate([gap.min(axis=1) for gap in gaps])

    @cached_property
    def range(self) -> float:
        """Return an upper bound on the largest width of a pair's changes: largest rise plus largest fall."""
        rises, falls = self._changes
        return float((rises - falls).max()) + 4 * self.error

    def epsilon(self, scale: float) -> float:
        """Return an upper bound on the largest |ln P/Q| of any pair and candidate."""
        totals = logsumexp(scale * self.scores, axis=1)
        gaps = totals[self.pairs[:, 0]] - totals[self.pairs[:, 1]]
        rises, falls = self._changes
        found = max(float((scale * rises - gaps).max()), float((gaps - scale * falls).max()))
        candidates = self.scores.shape[1]
        return found + 4 * scale * (self.error + 4 * _UNIT) + 64 * _UNIT * (1 + scale + log(candidates))

    def largest_scale(self, epsilon: Fraction, proved: Fraction) -> Fraction:
        """Return a scale of six digits whose epsilon is at most this one, about the largest; or a `proved` one."""
        low, high = float(proved), 2 * float(proved)
        while self.epsilon(high) <= epsilon and high < 2.0**40 * float(proved):
            low, high = high, 2 * high
        found = rounded_down(last_fitting(lambda scale: self.epsilon(scale) <= epsilon, low, high, 1e-8), DIGITS)
        return found if found > proved and self.epsilon(float(found)) <= epsilon else proved


def can_list(size: int, cells: int, candidates: int) -> bool:
    """Return whether the scores of all tables and all their neighbours can be computed."""
    pairs = cells * (cells - 1) // 2
    return number_of_tables(size, cells, MOST_SCORES) * candidates * pairs <= MOST_SCORES


def all_tables(size: int, cells: int) -> tuple[Counts, Counts]:
    """Return all tables of `size` records, and all pairs of neighbours by their indices, each pair once."""
    tables = np.array(list(compositions(size, cells)), dtype=np.int64)
    codes = tables @ (size + 1) ** np.arange(cells - 1, -1, -1, dtype=object)
    pairs = []
    for i in range(cells):
        for j in range(i + 1, cells):
            givers = np.flatnonzero(tables[:, j] > 0)
            step = (size + 1) ** (cells - 1 - i) - (size + 1) ** (cells - 1 - j)
            pairs.append(np.column_stack([givers, np.searchsorted(codes, codes[givers] + step)]))
    return tables, np.concatenate(pairs)


def score_error(powers: Floats, logs: Floats) -> float:
    """Return a bound on the absolute error of softmax(powers @ logs): every step is right to a few units."""
    terms = powers.shape[-1] + 4
    return float(4 * terms * _UNIT * (1 + (np.abs(powers) @ np.abs(logs)).max()))
