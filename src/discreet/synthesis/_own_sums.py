"""Counts of single columns and of pairs from all tables that hold them: generalised least squares, in closed form.

Tables whose cells have independent noise of one variance split into orthogonal parts. With c_a(i) = k_a(i) - n / K_a
the deviation of a level, and c_ab what is left of a pair when both deviations are taken out,

    k_ab(i, j) = n / (K_a K_b) + c_a(i) / K_b + c_b(j) / K_a + c_ab(i, j).

A table S sees c_a through its sums over its other column b, if it has one, with the variance v_S K_b, so the best
estimate weighs tables by p_S = 1 / (v_S K_b), and in every direction has the variance 1 / p_a, p_a = sum_S p_S. c_ab is
seen by tables of both alone, with p_ab = sum_S 1 / v_S. The parts are independent, so

    Var k_ab(i, j) = (1 - 1/K_a) / (p_a K_b^2) + (1 - 1/K_b) / (p_b K_a^2) + (1 - 1/K_a)(1 - 1/K_b) / p_ab,

and Var n / (K_a K_b)^2 more where the number of records is secret, and read as the mean of all sums.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError
from discreet.synthesis._maximum_entropy import NoisyTable, together


@dataclass(frozen=True, eq=False)
class OwnSums:
    """Deviations of single columns and of pairs with their variances, and the number of records with its own."""

    levels: tuple[int, ...]
    size: float
    size_variance: float
    singles: tuple[tuple[Floats, float], ...]
    pairs: Mapping[tuple[int, ...], tuple[Floats, float]]

    @classmethod
    def of(cls, levels: Sequence[int], size: float, size_variance: float, tables: Sequence[NoisyTable]) -> "OwnSums":
        """Return them from noisy tables of one or two columns; every column must be in one of them."""
        merged = together(tables)
        sums = [np.zeros(count) for count in levels]
        weights = [0.0] * len(levels)
        pairs = {}
        for table in merged:
            values = table.values
            for axis, v in enumerate(table.columns):
                seen = values if values.ndim == 1 else values.sum(axis=1 - axis)
                weight = table.precision * levels[v] / values.size
                sums[v] += weight * (seen - seen.mean())
                weights[v] += weight
            if values.ndim == 2:
                rows, columns = values.mean(axis=1, keepdims=True), values.mean(axis=0, keepdims=True)
                pairs[table.columns] = values - rows - columns + values.mean(), 1 / table.precision
        singles = tuple((own / weight, 1 / weight) for own, weight in zip(sums, weights, strict=True))
        return cls(tuple(levels), size, size_variance, singles, pairs)

    def is_known(self, columns: Sequence[int]) -> bool:
        """Return whether a table of some columns was measured, or can be put together from what was."""
        return len(columns) == 1 or (len(columns) == 2 and tuple(sorted(columns)) in self.pairs)

    def table(self, columns: Sequence[int]) -> Floats:
        """Return the counts of one column or of a measured pair, with an axis for each in their order."""
        if len(columns) == 1:
            return self.size / self.levels[columns[0]] + self.singles[columns[0]][0]
        a, b = sorted(columns)
        found = self.size / (self.levels[a] * self.levels[b]) + self._pair(a, b)[0]
        found = found + self.singles[a][0][:, None] / self.levels[b] + self.singles[b][0][None] / self.levels[a]
        return found if (a, b) == tuple(columns) else found.T

    def _pair(self, a: int, b: int) -> tuple[Floats, float]:
        if (a, b) not in self.pairs:
            raise DeclarationError(f"The columns {a} and {b} were not measured together.")
        return self.pairs[a, b]

    def variance(self, columns: Sequence[int], weights: Floats | None = None) -> float:
        """Return the variance of a cell of such a table, or of the sum of its cells with some weights.

        Weights g have parts like counts: g = mean + g_a + g_b + g_ab, and a sum over cells of g k sees each part of k
        by its own part of g.
        """
        shape = [self.levels[v] for v in columns]
        if weights is None:
            weights = np.zeros(shape)
            weights[(0,) * len(shape)] = 1.0
        mean = float(weights.mean())
        total = self.size_variance * mean**2
        if len(columns) == 1:
            return total + float(np.square(weights - mean).sum()) * self.singles[columns[0]][1]
        rows, sums = weights.mean(axis=1), weights.mean(axis=0)
        for v, part in zip(columns, (rows, sums), strict=True):
            total += float(np.square(part - mean).sum()) * self.singles[v][1]
        left = weights - rows[:, None] - sums[None] + mean
        a, b = sorted(columns)
        return total + float(np.square(left).sum()) * self._pair(a, b)[1]

    def cell_variances(self, columns: Sequence[int]) -> Floats:
        """Return the variance of the share of every cell; they are alike but for the share of the number of records."""
        shares = self.table(columns) / self.size
        mean = 1 / shares.size
        apart = self.variance(columns) - self.size_variance * mean**2
        return np.asarray((apart + (shares - mean) ** 2 * self.size_variance) / self.size**2)

    def share_variance(self, columns: Sequence[int], weights: Floats) -> float:
        """Return the variance of a sum of cells with some weights as a share of the records, x / n.

        x = n m + d with m the mean weight, so x / n = m + d / n, and d has an error, independent of that of n, if any.
        """
        mean = float(weights.mean())
        apart = self.variance(columns, weights) - self.size_variance * mean**2
        share = float((self.table(columns) * weights).sum()) / self.size
        return (apart + (share - mean) ** 2 * self.size_variance) / self.size**2
