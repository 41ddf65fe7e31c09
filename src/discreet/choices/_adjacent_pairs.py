"""Exact privacy of distributions P(r | x) = e^(-c(x) H(x, r)) / Z(x) over all pairs of neighbouring data sets.

H is the Hellinger distance of posteriors and c(x) > 0 any scale. Every pair of neighbours is compared on every
candidate, both ways: the largest |ln P/Q| is the pure epsilon, and sum_r max(0, P(r) - e^epsilon Q(r)) is
delta(epsilon). With two cells it takes about n^1.5 steps and O(n) memory; with more, tables that only permute cells of
equal prior are considered once. What is stated is an upper bound: the error of the floats is added to it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet.choices._posterior_distances import (
    UNIT,
    Block,
    Tables,
    line_blocks,
    line_error,
    line_log_probs,
    log_normaliser,
)
from discreet.privacy import PrivacyLoss, number_of_tables

Scales = Callable[[Counts], Floats]
"""The scale c(x) of each table (rows)."""

MOST_RECORDS_OF_TWO_CELLS = 10_000
MOST_COMPARISONS = 60_000_000  # most tables times candidates, for three and more cells


@dataclass(frozen=True, eq=False)
class AdjacentPairs:
    """What was found for pairs of neighbours (`first`, `second`: rows of counts).

    `losses` holds the largest |ln P/Q| of each pair, `deltas` a row for each of `epsilons` with the larger of the two
    hockey-stick divergences of each pair. `error` bounds the floating-point error of any ln P/Q.
    """

    first: Counts
    second: Counts
    losses: Floats
    epsilons: tuple[float, ...]
    deltas: Floats
    error: float

    @property
    def epsilon(self) -> float:
        """Return an upper bound on the pure epsilon."""
        return nextafter(float(self.losses.max()) + self.error, inf)

    @property
    def worst_pair(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the pair with the largest loss."""
        worst = int(self.losses.argmax())
        first, second = (tuple(int(count) for count in rows[worst]) for rows in (self.first, self.second))
        return first, second

    def delta(self, number: int) -> float:
        """Return an upper bound on delta at the given number of `epsilons`; 0 if no loss is above it.

        On the outputs where P > e^epsilon Q both sides have probability at most 1, so an error of a logarithm counts
        at most twice.
        """
        if self.epsilon <= self.epsilons[number]:
            return 0.0
        return min(1.0, float(self.deltas[number].max()) + 2.1 * self.error + 64 * UNIT)


def can_compare(size: int, cells: int) -> bool:
    """Return whether all pairs of neighbours can be compared in a few seconds."""
    if cells == 2:
        return size <= MOST_RECORDS_OF_TWO_CELLS
    return number_of_tables(size, cells, MOST_COMPARISONS) ** 2 <= MOST_COMPARISONS


def compare_neighbours(
    alpha: Floats, size: int, scales: Scales, scale_error: float, epsilons: Sequence[float] = ()
) -> AdjacentPairs:
    """Compare all pairs of neighbours; `scale_error` bounds the relative error of the scales."""
    if not can_compare(size, len(alpha)):
        raise DeclarationError(
            f"{size} records in {len(alpha)} cells are too many for comparing all neighbouring tables. The limit is "
            f"{MOST_RECORDS_OF_TWO_CELLS} records with two cells, or {int(MOST_COMPARISONS**0.5)} tables with more."
        )
    if len(alpha) == 2:
        return _compare_line(alpha, size, scales(Tables(alpha, size).all), scale_error, tuple(epsilons))
    return _compare_tables(Tables(alpha, size), scales, scale_error, tuple(epsilons))


def compare_pairs(
    alpha: Floats, first: Counts, second: Counts, scales: Scales, error: float, epsilons: Sequence[float] = ()
) -> Callable[[float], AdjacentPairs]:
    """Return a function of a factor on all scales that compares only these pairs, with a given error of ln P/Q."""
    tables = Tables(alpha, int(first[0].sum()))
    sides = [(tables.distances(rows), scales(rows)[:, None]) for rows in (first, second)]

    def compare(factor: float) -> AdjacentPairs:
        logs = [-factor * scale * distances for distances, scale in sides]
        p, q = (side - log_normaliser(side) for side in logs)
        losses, deltas = pair_losses(p, q, tuple(epsilons))
        return AdjacentPairs(first, second, losses, tuple(epsilons), deltas, error)

    return compare


def pair_losses(p: Floats, q: Floats, epsilons: tuple[float, ...], far: Floats | None = None) -> tuple[Floats, Floats]:
    """Return the largest |ln P/Q| of each row and the deltas; `far` is how many times the last column is repeated."""
    with np.errstate(invalid="ignore"):
        gaps = p - q
    losses = np.maximum(np.fmax.reduce(gaps, axis=1), -np.fmin.reduce(gaps, axis=1))  # NaN: no such candidate
    deltas = np.zeros((len(epsilons), len(p)))
    rows = np.flatnonzero(losses > min(epsilons, default=np.inf))
    if rows.size:
        one, two = np.exp(p[rows]), np.exp(q[rows])
        if far is not None:
            one[:, -1] *= far[rows]
            two[:, -1] *= far[rows]
        for number, epsilon in enumerate(epsilons):
            grown = np.exp(epsilon)
            sums = [np.maximum(0.0, a - grown * b).sum(axis=1) for a, b in ((one, two), (two, one))]
            deltas[number, rows] = np.maximum(*sums)
    return losses, deltas


def _compare_line(
    alpha: Floats, size: int, scales: Floats, scale_error: float, epsilons: tuple[float, ...]
) -> AdjacentPairs:
    """Compare x and x + 1 for all x, or for half of them if the other half is their mirror image."""
    losses, deltas, error = np.empty(size), np.empty((len(epsilons), size)), 0.0
    mirrored = alpha[0] == alpha[1] and bool((np.abs(scales - scales[::-1]) <= scale_error * scales).all())
    half = (size + 1) // 2 if mirrored else size
    for block in line_blocks(alpha, size, half):
        part = slice(block.start, block.start + len(block.distances) - 1)
        losses[part], deltas[:, part] = _compare_block(block, scales, size, epsilons)
        error = max(error, line_error(block.width))
    losses[half:], deltas[:, half:] = losses[: size - half][::-1], deltas[:, : size - half][:, ::-1]
    indices = np.arange(size)
    first, second = (np.column_stack([x, size - x]) for x in (indices, indices + 1))
    return AdjacentPairs(
        first, second, losses, epsilons, deltas, _loss_error(scales.max(), 2 * scale_error + error, size)
    )


def _compare_block(block: Block, scales: Floats, size: int, epsilons: tuple[float, ...]) -> tuple[Floats, Floats]:
    """Compare the rows x and x + 1 of a block: the candidate x + o stands one column apart; the far ones come last."""
    logs, far, _ = line_log_probs(block, scales, size)
    p, q = logs[:-1, 1:], logs[1:, :-1]
    missing = size + 1 - np.isfinite(p).sum(axis=1)
    far_p, far_q = (np.where(missing > 0, side, -np.inf) for side in (far[:-1], far[1:]))
    return pair_losses(np.column_stack([p, far_p]), np.column_stack([q, far_q]), epsilons, missing.astype(float))


def _loss_error(scale: float, relative: float, candidates: int) -> float:
    """Return a bound on the error of ln P/Q, given the relative errors of c H and log Z of either distribution."""
    return float(4 * scale * (relative + 4 * UNIT) + (16 + 2 * np.log2(candidates + 1.0)) * 4 * UNIT)


def _compare_tables(tables: Tables, scales: Scales, scale_error: float, epsilons: tuple[float, ...]) -> AdjacentPairs:
    parts, largest = [], 0.0
    for table, neighbours in _neighbourhoods(tables):
        rows = np.vstack([table, neighbours])
        scale = scales(rows)
        logs = -scale[:, None] * tables.distances(rows)
        logs -= log_normaliser(logs)
        losses, deltas = pair_losses(np.broadcast_to(logs[0], logs[1:].shape), logs[1:], epsilons)
        parts.append((np.broadcast_to(table, neighbours.shape), neighbours, losses, deltas.T))
        largest = max(largest, float(scale.max()))
    first, second, losses, deltas = (np.concatenate(column) for column in zip(*parts, strict=True))
    error = _loss_error(largest, scale_error + 64 * UNIT, len(tables.all))
    return AdjacentPairs(first, second, losses, epsilons, deltas.T, error)


def _neighbourhoods(tables: Tables) -> Iterator[tuple[Counts, Counts]]:
    """Yield one table of each class with its neighbours, each unordered pair of classes from one side only."""
    cells = len(tables.alpha)
    moves = np.array([np.eye(cells, dtype=np.int64)[i] - np.eye(cells, dtype=np.int64)[j]
                      for i in range(cells) for j in range(cells) if i != j])  # fmt: skip
    for table in tables.representatives[0]:
        neighbours = table + moves
        neighbours = neighbours[(neighbours >= 0).all(axis=1)]
        here = int(tables.indices(table[None])[0])
        neighbours = neighbours[tables.indices(tables.canonical(neighbours)) >= here]
        if len(neighbours):
            yield table, neighbours


def dominating_loss(epsilons: Sequence[Fraction], deltas: Sequence[float]) -> PrivacyLoss:
    """Return a privacy loss whose delta(epsilon) is at least any curve below the given points.

    delta is a convex function of x = e^epsilon, so straight lines between points lie above it. Pairs are taken both
    ways, so delta(-epsilon) = 1 - e^-epsilon + e^-epsilon delta(epsilon). A kink of slope s at x is a loss ln x of
    probability s x. The points must begin at 0 and end where delta is 0.
    """
    return PrivacyLoss.from_symmetric_curve(epsilons, deltas)
