"""The setting of figure 1: made-up records, split into few for training and many for testing, and how to score.

The class is a fair coin and every P(feature | class) is uniform on (0, 1), drawn anew in each repeat; the paper does
not say how its data were made. All repeats are arrays, so that a curve can classify all of them at once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

import discreet as dc
from discreet._core.arrays import Floats
from discreet.noise.randomness._samplers import RandomBits

FEATURES = tuple(f"x{number}" for number in range(1, 17))
NETWORK = dc.Network.naive_bayes("y", FEATURES, dict.fromkeys(["y", *FEATURES], (0, 1)), outside=0)
SIZE, TEST = 50, 1000
RELEASES = 8  # of each repeat, where all repeats are classified at once

Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Splits:
    """Repeats: counts (repeats, features, classes, levels), test records (repeats, records, features) and classes."""

    counts: Codes
    test: Codes
    truth: Codes

    def __len__(self) -> int:
        return len(self.counts)

    def first(self, repeats: int) -> "Splits":
        """Return the first so many repeats."""
        return Splits(self.counts[:repeats], self.test[:repeats], self.truth[:repeats])

    def rows(self, repeat: int) -> dict[str, list[int]]:
        """Return the test records of one repeat by column, as the library reads them."""
        return {name: self.test[repeat, :, place].tolist() for place, name in enumerate(FEATURES)}


@dataclass(frozen=True)
class Curve:
    """A way to classify: accuracy and log-loss of every repeat at an epsilon, array (repeats, 2)."""

    name: str
    scores: Callable[[Splits, str], Floats]


def averaged(one: Callable[[Splits, str, RandomBits], Floats]) -> Callable[[Splits, str], Floats]:
    """Return the mean scores of several releases of each repeat: the same records, noise drawn anew."""

    def of(records: Splits, epsilon: str) -> Floats:
        return np.asarray(np.mean([one(records, epsilon, dc.SeededBits(seed)) for seed in range(RELEASES)], axis=0))

    return of


@lru_cache(maxsize=2)
def splits(repeats: int) -> Splits:
    """Draw repeats, the same ones every time; the first ones do not depend on how many there are."""
    drawn = [_one(np.random.default_rng(1000 * repeat)) for repeat in range(repeats)]
    counts, test, truth = (np.stack(parts) for parts in zip(*drawn, strict=True))
    return Splits(counts, test, truth)


def _one(generator: np.random.Generator) -> tuple[Codes, Codes, Codes]:
    theta = generator.random((2, len(FEATURES)))
    (y, x), (truth, test) = (_records(size, theta, generator) for size in (SIZE, TEST))
    tables = [np.bincount(2 * y + column, minlength=4).reshape(2, 2) for column in x.T]
    return np.array(tables), test, truth


def _records(size: int, theta: Floats, generator: np.random.Generator) -> tuple[Codes, Codes]:
    y = generator.integers(0, 2, size)
    return y, (generator.random((size, len(FEATURES))) < theta[y]).astype(np.int64)


def predictive(classes: Floats, tables: Floats, test: Codes) -> Floats:
    """Return P(y = 1 | x) from counts that are taken for true, under uniform priors, as appendix C.1 derives it.

    `classes` is (repeats, 2), `tables` (repeats, features, 2, 2). Each factor is alpha^x beta^(1-x) / (alpha + beta)
    of the posterior Beta(alpha, beta) of its row.
    """
    shapes = tables + 1.0
    logs = np.log(shapes / shapes.sum(axis=3, keepdims=True))
    odds = logs[:, :, 1] - logs[:, :, 0]  # of class 1 against class 0, for each level of each feature
    start = np.log((classes[:, 1] + 1.0) / (classes[:, 0] + 1.0)) + odds[:, :, 0].sum(axis=1)
    return _chance(start[:, None] + np.einsum("rtf,rf->rt", test.astype(float), odds[:, :, 1] - odds[:, :, 0]))


def _chance(log_odds: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(log_odds / 2)))


def scores(chances: Floats, truth: Codes) -> Floats:
    """Return accuracy, with the threshold at 1/2, and the mean of -log P(true class), for each repeat."""
    correct = (chances > 0.5) == (truth == 1)
    own = np.clip(np.where(truth == 1, chances, 1 - chances), 1e-300, 1)
    return np.stack([correct.mean(axis=1), -np.log(own).mean(axis=1)], axis=1)


def plug_in_scores(records: Splits, named: dict[str, Floats]) -> Floats:
    """Return the scores of tables (repeats, ...) by variable that are taken for true."""
    tables = np.stack([named[name] for name in FEATURES], axis=1)
    return scores(predictive(named["y"], tables, records.test), records.truth)
