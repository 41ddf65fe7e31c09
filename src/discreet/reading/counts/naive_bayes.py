"""Naive Bayes read through noise: exact, for any number of classes.

The only link between the classes is that their counts sum to n. So P(n_1, ..., n_C | z) ~ prod_y f_y(n_y) W_y(n_y),
where f_y holds the prior and the noise of the class counts, and W_y(n_y) = P(what was released about class y | n_y).
Given the class counts the classes are independent, and so the chance of the next record is a sum over states of one
class at a time:

    P(y, x | z) = sum_s P(s | z) (a_y + n_y) / (a + n) prod_i E[theta_i(x_i | y) | s].

Class counts live on windows. What lies beyond these, and the errors of what lies within, have proved bounds; windows
are widened, and cut into parts with a tilt each, until the bounds of both are met.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.errors import DiscreetError
from discreet.mathematics.dirichlet_multinomial import log_prior_constant
from discreet.reading.counts import splits
from discreet.reading.counts.class_reading import Bools, ClassReading, OwnFactor
from discreet.reading.counts.row_windows import TOO_FAR
from discreet.reading.counts.splits import split_by_totals
from discreet.reading.counts.states import States, log_chances, represented
from discreet.reading.counts.table_counts import Split, TableCounts
from discreet.reading.counts.windows import Windowed
from discreet.reading.known_sum import KnownSum, TotalLaw

BEYOND = 1e-14
"""The share of the posterior that windows of class counts may leave out."""
_ERROR = 1e-11  # allowed relative error of the evidence, in all
_ROUNDS = 12  # rounds of widening and cutting


class ClassCounts:
    """Weights of all class counts on their windows, and bounds on what lies beyond these."""

    def __init__(self, classes: Sequence[ClassReading], own: Sequence[OwnFactor]) -> None:
        self._classes, self._own = classes, own
        rows = [each.log_weights.values + f(each.log_weights) for each, f in zip(classes, own, strict=True)]
        self.first = np.array([each.log_weights.first for each in classes])
        self.last = np.array([each.log_weights.last for each in classes])
        self.logs = np.full((len(rows), max(map(len, rows))), -np.inf)
        for line, row in zip(self.logs, rows, strict=True):
            line[: len(row)] = row

    @property
    def tilts(self) -> tuple[float, float]:
        """Return the tilts between which all that lies beyond the windows is bounded."""
        steepest = min(each.steepest(f) for each, f in zip(self._classes, self._own, strict=True))
        return -steepest, steepest

    def log_outside(self, tilt: Floats) -> Floats:
        """Return for each class (columns) the log of a bound on what lies beyond its window, for every tilt."""
        pairs = list(zip(self._classes, self._own, strict=True))
        return np.array([[each.log_outside(by, f) for each, f in pairs] for by in tilt.tolist()])

    def known(self, size: int) -> KnownSum:
        """Return the class counts given that they sum to n."""
        return KnownSum(self.logs[None], self.first[None], TotalLaw.known(size), outside=self)

    def laws(self, known: KnownSum) -> list[Windowed]:
        """Return P(n_y = t | z) of every class on its window."""
        widths = (self.last - self.first + 1).tolist()
        triples = zip(self.first.tolist(), known.marginals[0], widths, strict=True)
        return [Windowed(first, row[:width]) for first, row, width in triples]


class NaiveBayesCounts(TableCounts):
    """The joint posterior of class counts and of each class's feature counts.

    `own` holds the prior of each class and what was released about its count, `log_constant` all that does not depend
    on counts. `error` bounds the relative error of the evidence.
    """

    method = "read exactly"

    def __init__(
        self, classes: Sequence[ClassReading], own: Sequence[OwnFactor], size: int, log_constant: float = 0.0
    ) -> None:
        self.alpha, self.size = np.array([each.alpha for each in own]), size
        self.classes, self._row, self.class_chances, self.error = _certified(list(classes), own, size)
        constant = float(log_prior_constant(float(self.alpha.sum()), np.array([size]))[0])
        self.log_evidence = float(self._row.log_sums[0]) + constant + log_constant

    @cached_property
    def states(self) -> list[States]:
        """Return the states of each class."""
        return [reading.states(chances) for reading, chances in zip(self.classes, self.class_chances, strict=True)]

    @cached_property
    def _expected(self) -> Floats:
        """Return the expected count of every class."""
        return np.array([chances.values @ chances.counts for chances in self.class_chances])

    @cached_property
    def class_means(self) -> Floats:
        """Return the expected probability of every class."""
        return np.asarray((self.alpha + self._expected) / (self.alpha.sum() + self.size))

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
        counts, law = self._row.marginal(inside.astype(np.int64))
        return split_by_totals([1.0], [Windowed(int(counts[0]), law)], [self.size])

    def feature_split(self, feature: int, place: int, inside: Bools) -> Split:
        """Return the law of (n_y, k), k the records of one class whose feature has one of some levels.

        It is exact where at most 128 class counts are likely and 128 values of k for each. Beyond, ranges of neighbours
        are merged, with the exact probability of all of them.
        """
        counts, shares = represented(self.class_chances[place], splits.MOST_COUNTS)
        return split_by_totals(shares, self.classes[place].laws_inside(feature, inside, counts), counts.tolist())

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
        """Draw class counts (one row per draw), and for every feature tables (draws, classes, levels)."""
        totals = self._row.draw(np.full(count, self.size), generator)
        parts = [reading.draw(column, generator) for reading, column in zip(self.classes, totals.T, strict=True)]
        return totals, [np.stack(tables, axis=1) for tables in zip(*parts, strict=True)]


Certified = tuple[list[ClassReading], KnownSum, list[Windowed], float]


def _certified(classes: list[ClassReading], own: Sequence[OwnFactor], size: int) -> Certified:
    """Return readings with windows wide and fine enough, their sums, P(n_y = t | z), and the error that is left.

    A weight hidden by rounding is replaced by an upper bound, which can be far too large: only where weights are known
    does a total in their tail show that windows are too narrow. So cutting comes before widening.
    """
    for _ in range(_ROUNDS):
        counts = ClassCounts(classes, own)
        if not np.isfinite(counts.logs).any(axis=1).all():
            break
        row = counts.known(size)
        if row.outside_share <= BEYOND:
            chances = counts.laws(row)
            errors = [float(law.values @ each.errors) for law, each in zip(chances, classes, strict=True)]
            if sum(errors) > _ERROR:
                pairs = zip(classes, errors, strict=True)
                classes = [each.finer() if error > _ERROR / len(classes) else each for each, error in pairs]
                continue
            if row.lost[0] <= BEYOND:
                return classes, row, _known(chances, classes), float(row.errors[0]) + sum(errors)
        wider = [each.wider() for each in classes]
        if all(_ends(new) == _ends(old) for new, old in zip(wider, classes, strict=True)):
            break
        classes = wider
    raise DiscreetError(TOO_FAR)


def _ends(reading: ClassReading) -> tuple[int, int]:
    return reading.log_weights.first, reading.log_weights.last


def _known(chances: Sequence[Windowed], classes: Sequence[ClassReading]) -> list[Windowed]:
    """Return laws of class counts without those that rounding hides, which are proved to be negligible."""
    found = []
    for law, reading in zip(chances, classes, strict=True):
        values = np.where(reading.errors < 1, law.values, 0.0)
        found.append(Windowed(law.first, values / values.sum()))
    return found
