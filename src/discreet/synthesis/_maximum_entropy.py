"""The joint distribution of largest entropy that agrees with noisy tables, as far as their noise asks for it.

Of tables S with noisy counts y_S of precision tau_S (one over the variance), and with one-way readings m,

    p = argmin  sum_S tau_S |n p_S - y_S|^2 / 2 + L KL(p | prod_j m_j),

which is convex in p. Its solution factors over the tables, log p = const + sum_S theta_S, so it lives on a junction
tree. L is a number of records: noise that would move the fit by less is not followed. Steps of mirror descent,

    theta_S <- theta_S - a (n tau_S (n p_S - y_S) + L (theta_S - [S is one column] log m)),

are taken with a length a that halves where the objective rises and grows by a fifth where it falls.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet._core.arrays import Floats
from discreet.synthesis._junction_tree import Columns, Tree, TreeDistribution, summed

PENALTY = 100.0
"""L, the weight of independence in records."""
STEPS = 300
"""How many steps are taken at most."""
_LEAST_SHARE = 1e-4  # of a level in a one-way reading
_ENOUGH, _AT_LEAST = 1e-6, 50  # a relative fall of the objective after which it ends, and steps before that


@dataclass(frozen=True, eq=False)
class NoisyTable:
    """Noisy counts of some columns (by number, rising; one axis for each), and one over the variance of each cell."""

    columns: Columns
    values: Floats
    precision: float


def together(tables: Sequence[NoisyTable]) -> list[NoisyTable]:
    """Return one table for each set of columns: those that were measured several times, averaged by precision."""
    found: dict[Columns, NoisyTable] = {}
    for table in tables:
        before = found.get(table.columns)
        if before is not None:
            precision = before.precision + table.precision
            values = (before.precision * before.values + table.precision * table.values) / precision
            table = NoisyTable(table.columns, values, precision)
        found[table.columns] = table
    return list(found.values())


def nearest_shares(values: Floats, size: float, least: float = _LEAST_SHARE) -> Floats:
    """Return the shares closest to noisy counts in squares: none below zero, sum one; then none below `least`.

    With v in falling order, the largest k with v_k > t_k = (v_1 + ... + v_k - 1) / k gives max(v - t_k, 0).
    """
    shares = np.asarray(values, dtype=float) / size
    ordered = np.sort(shares)[::-1]
    levels = (np.cumsum(ordered) - 1) / np.arange(1, len(shares) + 1)
    found = np.maximum(shares - levels[np.flatnonzero(ordered > levels)[-1]], least)
    return np.asarray(found / found.sum())


def one_way_shares(levels: Sequence[int], size: float, tables: Sequence[NoisyTable]) -> list[Floats]:
    """Return the one-way readings m of all columns; a column of which no table was measured alone is taken as even."""
    known = {table.columns[0]: table for table in together(tables) if len(table.columns) == 1}
    even = [np.full(count, 1 / count) for count in levels]
    return [nearest_shares(known[v].values, size) if v in known else even[v] for v in range(len(levels))]


def maximum_entropy(
    levels: Sequence[int], size: float, tables: Sequence[NoisyTable], steps: int = STEPS, penalty: float = PENALTY
) -> TreeDistribution:
    """Return the fitted distribution. `size` is the number of records, `tables` are measured, one-way tables included.

    Work grows with the cells of the junction tree of all tables: see `discreet.synthesis.within`.
    """
    measured = together(tables)
    shares = one_way_shares(levels, size, measured)
    tree = Tree.over(levels, [table.columns for table in measured])
    targets: dict[Columns, Floats] = {(v,): np.log(own) for v, own in enumerate(shares)}
    theta: dict[Columns, Floats] = dict(targets)
    for table in measured:
        theta.setdefault(table.columns, np.zeros(table.values.shape))
    homes = {columns: tree.home(columns) for columns in theta}

    def evaluated(potentials: dict[Columns, Floats]) -> tuple[float, dict[Columns, Floats], list[Floats]]:
        """Return the objective, its slope by every n p_S, and the margins of all cliques."""
        margins, log_z = tree.calibrated(potentials)
        loss, divergence, slopes = 0.0, -log_z, dict[Columns, Floats]()
        fitted = {}
        for columns, values in potentials.items():
            home = homes[columns]
            assert home is not None, "every table lies in a clique"
            fitted[columns] = summed(margins[home], tree.cliques[home], columns)
            away = values - targets.get(columns, 0.0)
            divergence += float((fitted[columns] * away).sum())
            slopes[columns] = penalty * away
        for table in measured:
            missed = size * fitted[table.columns] - table.values
            loss += 0.5 * table.precision * float(np.square(missed).sum())
            slopes[table.columns] = slopes[table.columns] + size * table.precision * missed
        return loss + penalty * divergence, slopes, margins

    objective, slopes, margins = evaluated(theta)
    length = 0.5 / (size**2 * float(np.mean([table.precision for table in measured])))
    for step in range(steps):
        tried = {columns: values - length * slopes[columns] for columns, values in theta.items()}
        found = evaluated(tried)
        if not found[0] <= objective:
            length *= 0.5
            continue
        is_done = step > _AT_LEAST and objective - found[0] < _ENOUGH * abs(objective)
        theta, (objective, slopes, margins) = tried, found
        length *= 1.2
        if is_done:
            break
    return TreeDistribution(tree, tuple(margins))
