"""The posterior sampler of Zhang, Rubinstein and Dimitrakakis (2016) in its experiment: one naive Bayes classifier.

Tables are drawn from the posterior with every probability at least `least`, and several draws are averaged as appendix
C.2 says. The paper reads `least` as epsilon = 2 ln(1/least), whatever the number of nodes and draws; at record level it
is draws * 2 |I| ln((1 - least) / least). Here the law is what matters, so it is drawn in floats, all splits at once;
the library's own mechanism has the same law on a grid (see the tests).
"""

from functools import lru_cache
from math import exp, log

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, logsumexp

from discreet._core.arrays import Floats
from discreet_papers.reproduction import Row

Bits = NDArray[np.int64]

FEATURES, RECORDS, SIZE = 16, 1000, 50
NODES = FEATURES + 1
DATA_SETS, SPLITS, SPLITS_OF_MANY = 12, 25, 10  # averages of many draws vary little between splits
DRAWS = 50
CLAIMED_ONE, CLAIMED_MANY = "sampler, claimed epsilon, 1 draw", "sampler, claimed epsilon, 50 draws"
RECORD_ONE, RECORD_MANY = "sampler, record epsilon, 1 draw", "sampler, record epsilon, 50 draws in all"
CURVES = (CLAIMED_ONE, CLAIMED_MANY, RECORD_ONE, RECORD_MANY)


def claimed_least(epsilon: float) -> float | None:
    """Return e^(-epsilon / 2), the published rule; None where no probabilities are left."""
    least = exp(-epsilon / 2)
    return least if least < 0.5 else None


def record_least(epsilon: float, draws: int = 1, nodes: int = NODES) -> float:
    """Return the least probability with draws * 2 nodes ln((1 - w) / w) = epsilon."""
    return 1 / (1 + exp(epsilon / (2 * nodes * draws)))


def record_epsilon(least: float, draws: int = 1, nodes: int = NODES) -> float:
    """Return draws * 2 nodes ln((1 - w) / w).

    >>> round(record_epsilon(0.2), 3)
    47.134
    """
    return draws * 2 * nodes * log((1 - least) / least)


def truncated_beta(a: Floats, b: Floats, least: float, uniforms: Floats) -> Floats:
    """Return quantiles of Beta(a, b) restricted to [least, 1 - least], from the tail that keeps its digits."""
    flip = a < b
    high, low = np.where(flip, b, a), np.where(flip, a, b)  # most of the mass lies above: lower tails are small
    ends = betainc(high, low, least), betainc(high, low, 1 - least)
    found = np.clip(betaincinv(high, low, ends[0] + uniforms * (ends[1] - ends[0])), least, 1 - least)
    return np.asarray(np.where(flip, 1 - found, found))


@lru_cache(maxsize=DATA_SETS)
def data_set(number: int) -> tuple[Bits, Bits]:
    """Return the classes and the features of a made-up data set: a fair coin, and P(feature | class) uniform."""
    generator = np.random.default_rng(4000 + number)
    theta, y = generator.random((2, FEATURES)), generator.integers(0, 2, RECORDS)
    return y, (generator.random((RECORDS, FEATURES)) < theta[y]).astype(np.int64)


def scores(least: float, draws: int, number: int, split: int) -> tuple[float, float]:
    """Return accuracy and log-loss on the other records, of one split of one data set, with so many averaged draws."""
    y, x = data_set(number)
    generator = np.random.default_rng(100_000 * number + 100 * split)
    order = generator.permutation(RECORDS)
    train, test = order[:SIZE], order[SIZE:]
    totals = np.bincount(y[train], minlength=2)
    ones = np.stack([x[train][y[train] == c].sum(axis=0) for c in (0, 1)])
    zeros = totals[:, None] - ones
    uniforms = generator.random((draws, 2 * FEATURES + 1))
    a = np.concatenate([ones.ravel(), totals[1:]]) + 1.0
    b = np.concatenate([zeros.ravel(), totals[:1]]) + 1.0
    theta = truncated_beta(a, b, least, uniforms)
    logs = [
        _log_joint(theta[:, c * FEATURES : (c + 1) * FEATURES], theta[:, -1] if c else 1 - theta[:, -1], x[test])
        for c in (0, 1)
    ]
    averaged = np.stack([logsumexp(each, axis=1) for each in logs], axis=1)
    chances = averaged - logsumexp(averaged, axis=1, keepdims=True)
    own = chances[np.arange(len(test)), y[test]]
    return float((chances.argmax(axis=1) == y[test]).mean()), float(-own.mean())


def _log_joint(theta: Floats, own: Floats, x: Bits) -> Floats:
    """Return log theta_y prod_i theta_i^x (1 - theta_i)^(1 - x) for records (rows) and draws (columns)."""
    odds = np.log(theta) - np.log1p(-theta)
    return np.asarray(x @ odds.T + np.log1p(-theta).sum(axis=1) + np.log(own))


def least_of(curve: str, epsilon: float) -> float | None:
    """Return the least probability of a curve at an epsilon; None where the published rule leaves none."""
    if curve in (CLAIMED_ONE, CLAIMED_MANY):
        return claimed_least(epsilon)
    return record_least(epsilon, DRAWS if curve == RECORD_MANY else 1)


def accuracies(curve: str, epsilon: float, data_sets: int = DATA_SETS, splits: int = SPLITS) -> Floats | None:
    """Return (accuracy, log-loss) of every data set and split, axes (data sets, splits, 2); None if undefined.

    Where many draws are averaged, at most 10 splits are taken.
    """
    least, many = least_of(curve, epsilon), curve in (CLAIMED_MANY, RECORD_MANY)
    if least is None:
        return None
    draws, used = (DRAWS, min(splits, SPLITS_OF_MANY)) if many else (1, splits)
    return np.array([[scores(least, draws, n, s) for s in range(used)] for n in range(data_sets)])


def sampler_rows(epsilons: tuple[float, ...], data_sets: int = DATA_SETS, splits: int = SPLITS) -> list[Row]:
    """Return means and standard errors of all curves; errors are those of means over whole data sets."""
    rows: list[Row] = []
    for epsilon in epsilons:
        for curve in CURVES:
            found = accuracies(curve, epsilon, data_sets, splits)
            if found is None:
                continue
            means = found.mean(axis=1)
            (accuracy, loss), errors = means.mean(axis=0), means.std(axis=0, ddof=1) / np.sqrt(data_sets)
            row: Row = {"epsilon": epsilon, "method": curve, "accuracy": float(accuracy)}
            row |= {"accuracy_error": float(errors[0]), "log_loss": float(loss), "log_loss_error": float(errors[1])}
            rows.append(row | {"repeats": found.shape[0] * found.shape[1]})
    return rows
