"""The Bayes remap: one conjugate posterior that stands for the whole release.

Among all Dirichlet(alpha + r), r whole counts that sum to the size, it is the one with the least expected Hellinger
distance to the posterior that the true counts would give. With two levels the geometric mechanism followed by this
remap attains the optimum over all epsilon-private mechanisms.
"""

import numpy as np
from numpy.typing import NDArray

from discreet.certificates import compositions
from discreet.certificates.enumeration import number_of_tables
from discreet.distributions import Dirichlet
from discreet.divergences import hellinger_rows
from discreet.inference.latent_counts import LatentCounts
from discreet.models import Categories

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
_MOST_TABLES = 20_000
_DRAWS = 2_000


def bayes_remap(latent: LatentCounts, model: Categories, means: Floats) -> Dirichlet:
    """Return the remap: exact for two levels or where all tables can be weighed, else over exact draws of tables."""
    tables, weights = _weighted_tables(latent, len(model.cells))
    alpha = model.concentration

    def loss(candidate: Counts) -> float:
        return float(weights @ hellinger_rows(alpha + candidate, alpha + tables))

    size = latent.total
    if len(model.cells) == 2:
        seen = tables[weights > 1e-12, 0]
        candidates = [np.array([k, size - k]) for k in range(int(seen.min()), int(seen.max()) + 1)]
        return Dirichlet(alpha + min(candidates, key=loss))
    best = _rounded(means * (size + alpha.sum()) - alpha, size)
    best_loss = loss(best)
    improved = True
    while improved:
        improved = False
        for candidate in _moves(best):
            if (candidate_loss := loss(candidate)) < best_loss - 1e-15:
                best, best_loss, improved = candidate, candidate_loss, True
                break
    return Dirichlet(alpha + best)


def _weighted_tables(latent: LatentCounts, cells: int) -> tuple[Counts, Floats]:
    if cells == 2:
        firsts, weights = latent.sum_of(np.array([0]))
        return np.column_stack([firsts, latent.total - firsts]), weights
    if number_of_tables(latent.total, cells) <= _MOST_TABLES:
        tables = np.array(list(compositions(latent.total, cells)))
        logs = latent.log_weights(tables)
        weights = np.exp(logs - logs.max())
        keep = weights > 1e-18
        return tables[keep], weights[keep] / weights[keep].sum()
    tables, repeats = np.unique(latent.draw(_DRAWS, np.random.default_rng(0)), axis=0, return_counts=True)
    return tables, repeats / _DRAWS


def _rounded(wanted: Floats, size: int) -> Counts:
    """Return whole counts >= 0 of the given sum near the wanted ones: largest remainders first."""
    floor = np.floor(np.maximum(wanted, 0)).astype(np.int64)
    order = np.argsort(floor - wanted)
    missing = size - int(floor.sum())
    for place in np.resize(order, abs(missing)) if missing else ():
        floor[place] += np.sign(missing)
    return (
        np.maximum(floor, 0) if floor.min() >= 0 else _rounded(np.maximum(floor, 0) * size / floor.clip(0).sum(), size)
    )


def _moves(table: Counts) -> list[Counts]:
    """Return the tables reached by moving one record from one cell to another."""
    moved = []
    for giver in np.flatnonzero(table):
        for taker in range(len(table)):
            if taker != giver:
                candidate = table.copy()
                candidate[giver] -= 1
                candidate[taker] += 1
                moved.append(candidate)
    return moved
