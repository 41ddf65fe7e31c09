"""Chains start near the published draws: from the prior some would never reach them.

Draws of a row of m records with shares s follow Dirichlet(alpha + tau m s), so s lies about sqrt(s (1 - s) / (tau m))
from a draw. Chains start twice as far apart, at m = size / rows.
"""

from collections.abc import Callable, Sequence

import numpy as np

from discreet._core.arrays import Floats
from discreet.inference._problem import Problem
from discreet.mechanism import DrawnRows, conditionals_of

Start = Callable[[int, np.random.Generator], Sequence[Floats]]


def around_draws(problem: Problem) -> Start | None:
    """Return where chains may start, if the rows of every variable were drawn."""
    parts = [
        rows for each in problem.observed if each.draw is not None and not each.is_margin for rows in each.draw.rows
    ]
    found = {rows.names: rows for rows in parts}
    tables = [names for names, _ in conditionals_of(problem.model)] or list(found)  # without a graph there is one table
    return _Around([found[names] for names in tables], problem.size) if found and set(tables) <= set(found) else None


class _Around:
    def __init__(self, rows: Sequence[DrawnRows], size: int) -> None:
        self._shapes = []
        for own in rows:
            shares = own.probabilities.mean(axis=0)
            self._shapes.append(0.5 + own.power * own.draws * size / own.count / 4 * shares)

    def __call__(self, count: int, generator: np.random.Generator) -> list[Floats]:
        """Return shares of the levels, axes (rows, levels, chains), of every variable."""
        drawn = [generator.standard_gamma(shapes[..., None], (*shapes.shape, count)) for shapes in self._shapes]
        return [own / own.sum(axis=1, keepdims=True) for own in drawn]
