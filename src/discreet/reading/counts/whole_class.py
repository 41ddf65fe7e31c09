"""One class of a naive Bayes network with the factors of every count 0, ..., n at hand, as drawn tables need.

A drawn table says where the shares of a row lie, and so about every count in proportion to the number of records: there
is no window whose width does not grow with it.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.mathematics.dirichlet_multinomial import log_prior_constant
from discreet.reading.counts.class_reading import Bools, ClassReading
from discreet.reading.counts.row_counts import RowCounts
from discreet.reading.counts.states import States, represented
from discreet.reading.counts.windows import Windowed


class WholeClass(ClassReading):
    """The features of one class: `log_factors[i]` holds prior and likelihood of each level (rows) and count (columns).

    `log_totals` are log factors of the class count itself, and `centre` is near the class count.
    """

    def __init__(
        self, log_factors: Sequence[Floats], alpha: Sequence[Floats], centre: float, log_totals: Floats | float = 0.0
    ) -> None:
        self.alpha, self.size, self._log_factors = alpha, log_factors[0].shape[1] - 1, log_factors
        self._rows, self._log_totals = [RowCounts(factors, centre) for factors in log_factors], log_totals

    @property
    def levels(self) -> tuple[int, ...]:
        return tuple(len(alpha) for alpha in self.alpha)

    @cached_property
    def log_weights(self) -> Windowed:
        """Return log prod_i sum_k DirichletMultinomial(k | t) prod_x K_ix(k_x) for each class count."""
        pairs = zip(self._rows, self.alpha, strict=True)
        sums = sum(
            row.log_sums + log_prior_constant(float(alpha.sum()), np.arange(self.size + 1)) for row, alpha in pairs
        )
        return Windowed(0, np.asarray(sums + self._log_totals))

    def states(self, chances: Windowed) -> States:
        counts, shares = represented(chances, len(chances.values))
        features = [
            (alpha[:, None] + row.means[:, counts]).T / (alpha.sum() + counts)[:, None]
            for row, alpha in zip(self._rows, self.alpha, strict=True)
        ]
        return States(shares, counts.astype(float), features)

    def laws_inside(self, feature: int, inside: Bools, counts: Counts) -> list[Windowed]:
        middle = int(counts[len(counts) // 2])
        return laws_inside(self._log_factors[feature], inside, counts, self._rows[feature].means[:, middle])

    def draw(self, totals: Counts, generator: np.random.Generator) -> list[Counts]:
        return [row.draw(totals, generator) for row in self._rows]


def laws_inside(log_factors: Floats, inside: Bools, totals: Counts, centres: Floats) -> list[Windowed]:
    """Return for each total of a row the law, on 0, ..., total, of the counts inside: P(k) ~ f_in(k) f_out(total - k).

    `centres` says around which counts of the levels all that matters happens.
    """
    parts = [RowCounts(log_factors[where], float(centres[where].sum())).log_sums for where in (inside, ~inside)]
    logs = [parts[0][: total + 1] + parts[1][total::-1] for total in totals.tolist()]
    return [Windowed(0, np.exp(each - each.max())) for each in logs]
