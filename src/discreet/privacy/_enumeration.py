"""Exhaustive enumeration: compare a mechanism on every pair of neighbouring data sets.

Only the mechanism's stated likelihood is used, so an error in a proof or a formula would show here. All statistics are
sums over records. What one record can add to them is a list of rows, its contributions; take any sum of n - 1 of these
for the other records, add one row or another, and a pair of neighbours is found. Outputs of noisy numbers are compared
on a `window` of whole numbers around the possible ones.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb, prod

import numpy as np

from discreet._core.arrays import Counts, Floats, different_rows


@dataclass(frozen=True, eq=False)
class DataSets:
    """Statistics of data sets (`tables`, one row each) and pairs of neighbours among them, each pair once.

    `complete` says whether these are all pairs; otherwise the other records were chosen, see `neighbouring`.
    """

    tables: Counts
    pairs: Counts
    complete: bool


def number_of_tables(size: int, cells: int, most: int) -> int:
    """Return how many tables of counts there are, C(size + cells - 1, cells - 1), or a number above `most`."""
    few = min(size, cells - 1)
    if few > most.bit_length():  # C(n, k) >= 2^k for k <= n/2
        return most + 1
    return comb(size + cells - 1, few)


def number_of_pairs(contributions: int, size: int, most: int) -> int:
    """Return a bound on the pairs of neighbours (other records times pairs of rows), or a number above `most`."""
    return number_of_tables(size - 1, contributions, most) * max(1, contributions * (contributions - 1) // 2)


def neighbouring(contributions: Counts, size: int, most: int) -> DataSets:
    """Return all pairs of neighbours among `size` records, or as many other records as `most` pairs allow.

    If there are too many, the other n - 1 records are all alike: the first row, the last, and rows in between.
    """
    rows = len(contributions)
    complete = number_of_pairs(rows, size, most) <= most
    others = _sums(contributions, size - 1) if complete else _alike(contributions, size - 1, most)
    tables = different_rows((others[:, None] + contributions).reshape(-1, contributions.shape[1]))
    index = {row.tobytes(): number for number, row in enumerate(tables)}
    first, second = np.triu_indices(rows, 1)
    numbers = np.array([[index[row.tobytes()] for row in other + contributions] for other in others])
    pairs = np.sort(np.stack([numbers[:, first], numbers[:, second]], axis=-1).reshape(-1, 2), axis=1)
    return DataSets(tables, different_rows(pairs), complete)


def with_one_more(contributions: Counts, most_records: int, most: int) -> DataSets:
    """Return all pairs of data sets of at most so many records that differ in one record that only one of them has.

    A record that is absent adds nothing, so they are data sets of exactly that many records, some of them absent.
    """
    absent = np.zeros((1, contributions.shape[1]), dtype=np.int64)
    sets = neighbouring(np.concatenate([contributions, absent]), most_records, most)
    first, second = (sets.tables[own] for own in sets.pairs.T)
    steps = second - first
    added = {row.tobytes() for row in np.concatenate([contributions, -contributions])}
    return DataSets(sets.tables, sets.pairs[[step.tobytes() in added for step in steps]], sets.complete)


def _sums(contributions: Counts, records: int) -> Counts:
    """Return all different sums of this many rows."""
    found = np.zeros((1, contributions.shape[1]), dtype=np.int64)
    for _ in range(records):
        found = different_rows((found[:, None] + contributions).reshape(-1, contributions.shape[1]))
    return found


def _alike(contributions: Counts, records: int, most: int) -> Counts:
    """Return sums of equal rows, for as many rows as leave no more than `most` pairs, but at least one."""
    rows = len(contributions)
    number = min(rows, max(1, 2 * most // max(1, rows * (rows - 1))))
    chosen = np.unique(np.linspace(0, rows - 1, number).astype(np.int64))
    return np.asarray(contributions[chosen] * records)


LogLikelihood = Callable[[Counts, Counts], Floats]
Pair = tuple[tuple[int, ...], tuple[int, ...]]

_CHUNK = 2**21  # comparisons made at once
_LARGE = 30.0  # larger epsilons are compared in logarithms; e^30 times what underflows is still nothing


@dataclass(frozen=True, eq=False)
class Enumeration:
    """What was found by comparing neighbours on a list of outputs: log P(output | data set), a row for each data set.

    Everything found is a lower bound on the true value, as with any list of outputs, up to the rounding of floats.
    `delta_at` is an upper bound, because it counts all probability outside the list as lost.
    """

    data_sets: DataSets
    log_probs: Floats

    @property
    def pairs(self) -> int:
        """Return how many pairs of neighbours were compared; each counts once, and is compared both ways."""
        return len(self.data_sets.pairs)

    @property
    def outputs(self) -> int:
        """Return the number of outputs on which they were compared."""
        return int(self.log_probs.shape[1])

    @cached_property
    def missing(self) -> float:
        """Return the largest probability, over data sets, that the listed outputs leave out."""
        return float(max(0.0, (1 - self._probs.sum(axis=1)).max()))

    @cached_property
    def _probs(self) -> Floats:
        return np.exp(self.log_probs)

    @cached_property
    def _losses(self) -> Floats:
        """Return the largest |ln P/Q| of each pair; infinite if an output is possible for only one of the two."""
        found = []
        for first, second in self._both(self.log_probs):
            with np.errstate(invalid="ignore"):
                gaps = np.abs(np.where(first == second, 0.0, first - second))
            found.append(gaps.max(axis=1, initial=0.0))
        return np.concatenate(found) if found else np.zeros(1)

    @property
    def epsilon(self) -> float:
        """Return the largest |ln P/Q| that was found."""
        return float(self._losses.max())

    @property
    def worst_pair(self) -> Pair:
        """Return the pair with the largest loss."""
        if not len(self.data_sets.pairs):
            return (), ()
        rows = self.data_sets.tables[self.data_sets.pairs[int(self._losses.argmax())]]
        first, second = (tuple(int(count) for count in row) for row in rows)
        return first, second

    def delta_found(self, epsilon: float) -> float:
        """Return the largest sum over listed outputs of max(0, P - e^epsilon Q), both ways."""
        return max(self._excesses(epsilon), default=0.0)

    def _excesses(self, epsilon: float) -> Iterator[float]:
        """Yield the largest such sum of some pairs at a time, in logarithms where e^epsilon is large."""
        for first, second in self._both(self._probs if epsilon <= _LARGE else self.log_probs):
            for p, q in ((first, second), (second, first)):
                if epsilon <= _LARGE:
                    lost = np.maximum(p - np.exp(epsilon) * q, 0.0)
                else:
                    with np.errstate(invalid="ignore"):
                        lost = np.exp(p) * -np.expm1(np.where(np.isneginf(p), 0.0, np.minimum(0.0, epsilon + q - p)))
                yield float(lost.sum(axis=1).max())

    def delta_at(self, epsilon: float) -> float:
        """Return an upper bound on delta(epsilon) over these pairs: what is outside the list counts as lost."""
        return min(1.0, self.delta_found(epsilon) + self.missing)

    def divergence(self, order: float) -> float:
        """Return the largest Renyi divergence of this order above 1 that was found, both ways.

        D_a = ln sum P^a Q^(1-a) / (a - 1); each term left out would add to the sum.
        """
        largest = 0.0
        for first, second in self._both(self.log_probs):
            for p, q in ((first, second), (second, first)):
                with np.errstate(invalid="ignore"):
                    terms = np.where(np.isneginf(p), -np.inf, order * p + (1 - order) * q)
                peaks = terms.max(axis=1)
                if np.isposinf(peaks).any():
                    return float("inf")
                sums = peaks + np.log(np.exp(terms - peaks[:, None]).sum(axis=1))
                largest = max(largest, float(sums.max()) / (order - 1))
        return largest

    def _both(self, rows: Floats) -> Iterator[tuple[Floats, Floats]]:
        """Yield the distributions of both sides, many pairs at a time."""
        pairs, step = self.data_sets.pairs, max(1, _CHUNK // max(1, self.outputs))
        for start in range(0, len(pairs), step):
            part = pairs[start : start + step]
            yield rows[part[:, 0]], rows[part[:, 1]]


def compare(log_prob: LogLikelihood, data_sets: DataSets, outputs: Counts) -> Enumeration:
    """Compare neighbours on the given outputs (rows)."""
    rows = [np.asarray(log_prob(outputs, table), dtype=float) for table in data_sets.tables]
    return Enumeration(data_sets, np.stack(rows))


def enumerate_neighbours(log_prob: LogLikelihood, size: int, cells: int, outputs: Counts) -> Enumeration:
    """Compare all neighbouring counts of `size` records in `cells` cells on the given outputs (rows)."""
    cell = np.eye(cells, dtype=np.int64)
    return compare(log_prob, neighbouring(cell, size, most=2**62), outputs)


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to write a total as an ordered sum of numbers >= 0.

    >>> list(compositions(2, 2))
    [(0, 2), (1, 1), (2, 0)]
    """
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


def all_tables(size: int, cells: int) -> Counts:
    """Return every table of `size` records, in the order of `compositions`."""
    if cells == 2:
        return np.column_stack([np.arange(size + 1), size - np.arange(size + 1)])
    return np.array(list(compositions(size, cells)))


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
