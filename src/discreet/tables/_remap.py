"""The Bayes remap: one conjugate posterior that stands for the whole release.

Among all Dirichlet(alpha + r), with r whole counts that sum to the size, it minimises the expected Hellinger distance
to the posterior that the true counts would give. In all cases computed, the geometric mechanism of a
proportion followed by this remap attains the optimum of a linear program over all epsilon-private mechanisms.
"""

from collections.abc import Callable, Iterator

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet.inference import GroupedCounts, LatentCounts, WeightedTables
from discreet.mathematics import hellinger_rows
from discreet.mathematics.distributions import Dirichlet
from discreet.privacy import compositions, number_of_tables

_MOST_TABLES = 2_000  # up to this number, every table is weighted and every candidate tried
_DRAWS = 400
_STARTS = 2


def weighted_tables(latent: LatentCounts | WeightedTables | GroupedCounts, cells: int) -> tuple[Counts, Floats]:
    """Return tables of true counts with their posterior probabilities: all of them if few, else exact draws."""
    if cells == 2:
        firsts, weights = latent.sum_of(np.array([0]))
        return np.column_stack([firsts, latent.total - firsts]), weights
    if number_of_tables(latent.total, cells, _MOST_TABLES) <= _MOST_TABLES:
        tables = np.array(list(compositions(latent.total, cells)))
        logs = latent.log_weights(tables)
        weights = np.exp(logs - logs.max())
        return tables, weights / weights.sum()
    tables, repeats = np.unique(latent.draw(_DRAWS, np.random.default_rng(0)), axis=0, return_counts=True)
    return tables, repeats / repeats.sum()


def bayes_remap(tables: Counts, weights: Floats, alpha: Floats, mean_counts: Floats) -> Dirichlet:
    """Return the remap for weighted tables of true counts.

    Where there are few tables all candidates are tried; otherwise records are moved from cell to cell, from several
    starts, until no move is better, which finds a local optimum.
    """
    size = int(tables[0].sum())
    few = tables.shape[1] == 2 and len(tables) <= _MOST_TABLES
    exhaustive = few or len(tables) == number_of_tables(size, tables.shape[1], _MOST_TABLES)

    def loss(candidate: Counts) -> float:
        return float(weights @ hellinger_rows(alpha + candidate, alpha + tables))

    if exhaustive:
        return Dirichlet(alpha + min(_all_candidates(tables, weights), key=loss))
    likeliest = tables[np.argsort(-weights)[:_STARTS]]
    spread = int(np.sqrt(np.max(weights @ (tables - mean_counts) ** 2)))
    found = [_descend(start, loss, max(1, spread)) for start in (_rounded(mean_counts, size), *likeliest)]
    return Dirichlet(alpha + min(found, key=loss))


def _all_candidates(tables: Counts, weights: Floats) -> Counts:
    if tables.shape[1] > 2:
        return tables
    seen = tables[weights > 1e-12, 0]
    firsts = np.arange(int(seen.min()), int(seen.max()) + 1)
    return np.column_stack([firsts, int(tables[0].sum()) - firsts])


def _descend(start: Counts, loss: Callable[[Counts], float], stride: int) -> Counts:
    """Move records from cell to cell while that helps: many at a time at first, finally one by one."""
    best, best_loss = start, loss(start)
    while stride:
        improved = False
        for candidate in _moves(best, stride):
            if (candidate_loss := loss(candidate)) < best_loss - 1e-15:
                best, best_loss, improved = candidate, candidate_loss, True
                break
        stride = stride if improved else stride // 2
    return best


def _moves(table: Counts, stride: int) -> Iterator[Counts]:
    """Yield the tables reached by moving some records from one cell to another."""
    for giver in np.flatnonzero(table >= stride):
        for taker in range(len(table)):
            if taker != giver:
                candidate = table.copy()
                candidate[giver] -= stride
                candidate[taker] += stride
                yield candidate


def _rounded(wanted: Floats, size: int) -> Counts:
    """Return whole counts >= 0 with the given sum, close to those wanted: largest remainders first."""
    floor = np.floor(wanted).astype(np.int64)
    missing = size - int(floor.sum())
    floor[np.argsort(floor - wanted)[:missing]] += 1
    return floor
