"""Naive Bayes read through noise: exact, for any number of classes.

The only link between the classes is that their counts sum to n. So P(n_1, ..., n_C | z) ~ prod_y f_y(n_y) W_y(n_y),
where f_y holds the prior and the noise of the class counts, and W_y(n_y) = P(what was released about class y | n_y).
Given the class counts the classes are independent, and so the chance of the next record is a sum over states of one
class at a time:

    P(y, x | z) = sum_s P(s | z) (a_y + n_y) / (a + n) prod_i E[theta_i(x_i | y) | s].
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Counts, Floats
from discreet.errors import DiscreetError
from discreet.reading.counts.row_counts import RowCounts, log_prior_constant, log_prior_factors
from discreet.reading.counts.states import States, blocks, likely, log_chances, represented
from discreet.reading.counts.table_counts import Split, TableCounts

Bools = NDArray[np.bool_]

_NEGLIGIBLE = 42.0  # class counts this many factors e below the sum of all are left out
_MOST_COUNTS = 128  # of a class, and of its records with some feature: where more are likely, ranges are merged
_COARSE = 2.0  # factors e by which a class's weight may change between two counts of the first look


class ClassReading(Protocol):
    """What a release says about the features of one class, given the class count."""

    @property
    def levels(self) -> tuple[int, ...]:
        """Return how many levels each feature has."""

    @property
    def steepness(self) -> float:
        """Return by how much the log weight changes at most from one class count to the next; 0 if all are at hand."""

    def log_weights(self, counts: Counts) -> Floats:
        """Return log W_y(n_y) for each of some class counts."""

    def states(self, chances: Floats) -> States:
        """Return the states of this class, given the probability of every class count."""

    def laws_inside(self, feature: int, inside: Bools, counts: Counts) -> list[Floats]:
        """Return for each class count the law, on 0, ..., n_y, of how many records have one of some levels."""

    def draw(self, totals: Counts, generator: np.random.Generator) -> list[Counts]:
        """Draw for every feature a table of counts with a row for each class count."""


class ProductClass:
    """The features of one class, read through noise that is independent between cells.

    `log_factors[i]` holds for feature i the log factor of each level (rows) and count (columns): prior and noise.
    """

    steepness = 0.0

    def __init__(self, log_factors: Sequence[Floats], alpha: Sequence[Floats], centre: float) -> None:
        self.alpha, self.size, self._log_factors = alpha, log_factors[0].shape[1] - 1, log_factors
        self._rows = [RowCounts(factors, centre) for factors in log_factors]

    @property
    def levels(self) -> tuple[int, ...]:
        """Return how many levels each feature has."""
        return tuple(len(alpha) for alpha in self.alpha)

    @cached_property
    def _all_log_weights(self) -> Floats:
        pairs = zip(self._rows, self.alpha, strict=True)
        return np.asarray(sum(row.log_sums + log_prior_constant(alpha, self.size) for row, alpha in pairs))

    def log_weights(self, counts: Counts) -> Floats:
        """Return log prod_i sum_k DirichletMultinomial(k | n_y) prod_x g(z_ix - k_x) for each class count."""
        return np.asarray(self._all_log_weights[counts])

    def states(self, chances: Floats) -> States:
        """Return one state for each likely class count."""
        counts, shares = represented(chances, len(chances))
        features = [
            (alpha[:, None] + row.means[:, counts]).T / (alpha.sum() + counts)[:, None]
            for row, alpha in zip(self._rows, self.alpha, strict=True)
        ]
        return States(shares, counts.astype(float), features)

    def laws_inside(self, feature: int, inside: Bools, counts: Counts) -> list[Floats]:
        """Return for each class count the law of how many records have one of some levels."""
        middle = int(counts[len(counts) // 2])
        return laws_inside(self._log_factors[feature], inside, counts, self._rows[feature].means[:, middle])

    def draw(self, totals: Counts, generator: np.random.Generator) -> list[Counts]:
        """Draw for every feature a table of counts with a row for each class count."""
        return [row.draw(totals, generator) for row in self._rows]


class NaiveBayesCounts(TableCounts):
    """The joint posterior of class counts and of each class's feature counts.

    `alpha` is the prior of the class, `log_class` the log kernel of what was released about the class counts
    themselves (rows: classes, columns: counts; zero if nothing was), `log_constant` all that does not depend on counts.
    """

    method = "read exactly"

    def __init__(
        self, classes: Sequence[ClassReading], alpha: Floats, log_class: Floats, log_constant: float = 0.0
    ) -> None:
        self.classes, self.alpha, self.size = tuple(classes), alpha, log_class.shape[1] - 1
        factors = log_class + log_prior_factors(alpha, self.size)
        self._log_factors = self._weighed(factors)
        self._row = RowCounts(self._log_factors, float(self.size))
        self.log_evidence = float(
            self._row.log_sums[self.size] + log_prior_constant(alpha, self.size)[self.size] + log_constant
        )
        if not np.isfinite(self.log_evidence):
            raise DiscreetError(
                "The release lies so far from all possible counts that it cannot be read: noise gets there with a "
                "probability below 1e-20. Nothing was read; check that the document is what was published."
            )

    def _weighed(self, factors: Floats) -> Floats:
        """Return the log weight of every class count, -inf where it is proved to be negligible."""
        kept = self._worth_weighing(factors)
        result = np.full_like(factors, -np.inf)
        for row, reading, counts in zip(result, self.classes, kept, strict=True):
            row[counts] = reading.log_weights(counts)
        return result + factors

    def _worth_weighing(self, factors: Floats) -> list[Counts]:
        """Look at few counts of each class first; drop those whose upper bound is negligible against a lower bound."""
        every = np.arange(self.size + 1)
        if len(self.classes) == 1:
            return [every[-1:]]
        if not any(reading.steepness for reading in self.classes):
            return [every] * len(self.classes)
        upper, lower = factors.copy(), factors.copy()
        for reading, above, below in zip(self.classes, upper, lower, strict=True):
            step = max(1, int(_COARSE / reading.steepness)) if reading.steepness else 1
            nearest = np.minimum((every + step // 2) // step * step, self.size)
            looked = np.unique(nearest)
            seen = reading.log_weights(looked)[np.searchsorted(looked, nearest)]
            slack = reading.steepness * np.abs(every - nearest)
            above += seen + slack
            below += seen - slack
        most, least = RowCounts(upper, float(self.size)), RowCounts(lower, float(self.size))
        floor = least.log_sums[self.size] - _NEGLIGIBLE - np.log(self.size + 1.0)
        with np.errstate(divide="ignore"):
            bounds = np.log(most.marginals(self.size)) + most.log_sums[self.size]
        return [np.flatnonzero(bound >= floor) for bound in bounds]

    @cached_property
    def class_chances(self) -> Floats:
        """Return P(n_y = k | z) for each class (rows) and k (columns)."""
        return self._row.marginals(self.size)

    @cached_property
    def states(self) -> list[States]:
        """Return the states of each class."""
        return [reading.states(chances) for reading, chances in zip(self.classes, self.class_chances, strict=True)]

    @cached_property
    def class_means(self) -> Floats:
        """Return the expected probability of every class."""
        expected = self.class_chances @ np.arange(self.size + 1.0)
        return np.asarray((self.alpha + expected) / (self.alpha.sum() + self.size))

    def feature_means(self, feature: int) -> Floats:
        """Return the expected probability of each level of a feature (columns) in each class (rows)."""
        return np.stack([states.chances @ states.features[feature] for states in self.states])

    def means(self) -> list[Floats]:
        """Return the expected probabilities of every variable: the class, if there is one, then the features."""
        own = [self.class_means[None]] if len(self.classes) > 1 else []
        return [*own, *(self.feature_means(feature) for feature in range(len(self.classes[0].levels)))]

    def split(self, place: int, row: int, inside: Bools) -> Split:
        """Return the law of one row of a variable's table: of the class, if there is one, or of a feature."""
        first = 0 if len(self.classes) == 1 else 1
        return self.class_split(inside) if place < first else self.feature_split(place - first, row, inside)

    def class_split(self, inside: Bools) -> Split:
        """Return the law of how many records belong to one of some classes."""
        means = self.class_chances @ np.arange(self.size + 1.0)
        (law,) = laws_inside(self._log_factors, inside, np.array([self.size]), means)
        return _split(law)

    def feature_split(self, feature: int, place: int, inside: Bools) -> Split:
        """Return the law of (n_y, k), k the records of one class whose feature has one of some levels.

        It is exact where at most 128 class counts are likely and 128 values of k for each. Beyond, ranges of neighbours
        are merged, with the exact probability of all of them.
        """
        counts, shares = represented(self.class_chances[place], _MOST_COUNTS)
        splits = [_split(law) for law in self.classes[place].laws_inside(feature, inside, counts)]
        return Split(
            np.concatenate([share * each.chances for share, each in zip(shares, splits, strict=True)]),
            np.concatenate([each.inside for each in splits]),
            np.concatenate([each.outside for each in splits]),
        )

    def log_joint(self, codes: Counts) -> Floats:
        """Return log P(y, x | z) for rows of feature codes (rows) and each class (columns)."""
        columns = []
        for alpha, states in zip(self.alpha, self.states, strict=True):
            own = (alpha + states.totals) / (self.alpha.sum() + self.size)
            columns.append(log_chances(np.log(states.chances * own), states.features, codes))
        return np.stack(columns, axis=1)

    def tables(self, count: int, generator: np.random.Generator) -> list[Counts]:
        """Draw tables (draws, rows, levels) of every variable: the class, if there is one, then the features."""
        totals, features = self.draw(count, generator)
        return features if len(self.classes) == 1 else [totals[:, None, :], *features]

    def draw(self, count: int, generator: np.random.Generator) -> tuple[Counts, list[Counts]]:
        """Draw class counts (one row a draw), and for every feature tables (draws, classes, levels)."""
        totals = self._row.draw(np.full(count, self.size), generator)
        parts = [reading.draw(column, generator) for reading, column in zip(self.classes, totals.T, strict=True)]
        return totals, [np.stack(tables, axis=1) for tables in zip(*parts, strict=True)]


def laws_inside(log_factors: Floats, inside: Bools, totals: Counts, centres: Floats) -> list[Floats]:
    """Return for each total of a row the law, on 0, ..., total, of the counts inside: P(k) ~ f_in(k) f_out(total - k).

    `centres` says around which counts of the levels all that matters happens.
    """
    parts = [RowCounts(log_factors[where], float(centres[where].sum())).log_sums for where in (inside, ~inside)]
    logs = [parts[0][: total + 1] + parts[1][total::-1] for total in totals.tolist()]
    return [np.exp(each - each.max()) for each in logs]


def _split(law: Floats) -> Split:
    """Return a law of counts inside as pairs, the mean of a range where more than 128 of them are likely."""
    chances = law / law.sum()
    counts = likely(chances)
    starts = blocks(chances[counts], _MOST_COUNTS)
    shares = np.add.reduceat(chances[counts], starts)
    means = np.add.reduceat(chances[counts] * counts, starts) / shares
    return Split(shares / shares.sum(), means, len(law) - 1 - means)
