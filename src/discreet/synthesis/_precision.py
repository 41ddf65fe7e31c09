"""How much each table should be measured: the precision that makes the expected loss smallest.

If the cells of a table deviate from a reference r by s in all, spread over them as sqrt(r), and a cell is read with
noise of precision tau, the mean absolute error that is left after reading is

    delta_c = s sqrt(r_c) / sum sqrt(r),      E(tau; s) = sum_c delta_c / sqrt(1 + tau delta_c^2 pi / 2):

a deviation N(0, v) has mean |deviation| = sqrt(2 v / pi) = delta, and read with noise N(0, 1 / tau) its posterior
variance is v / (1 + v tau). E falls and is convex in tau, so the best way to share out a sum of precisions is where all
slopes are equal. Of s a noisy score z = s + N(0, v_s) is known; with s ~ Exp(mean of all scores) before that,

    s | z ~ N(z - v_s / mean, v_s), s >= 0.
"""

from collections.abc import Sequence
from math import pi, sqrt

import numpy as np
from scipy.special import erfcx

from discreet._core.arrays import Floats

_STEPS, _INNER = 60, 50  # of the bisections


def expected_scores(noisy: Floats, variance: float) -> Floats:
    """Return E[s | z] of all scores: that of a normal distribution cut off at 0.

    E = m + sd phi(m / sd) / Phi(m / sd), and phi(x) / Phi(x) = sqrt(2 / pi) / erfcx(-x / sqrt 2).
    """
    deviation = sqrt(variance)
    scale = max(float(np.mean(noisy)), deviation / sqrt(len(noisy)))
    means = np.asarray(noisy, dtype=float) - variance / scale
    return np.asarray(means + deviation * sqrt(2 / pi) / erfcx(-means / (deviation * sqrt(2))))


class ExpectedLoss:
    """E(tau; s) of many tables, with their references r and deviations s."""

    def __init__(self, references: Sequence[Floats], scores: Floats) -> None:
        roots = [np.sqrt(np.asarray(each, dtype=float).ravel()) for each in references]
        self.starts = np.cumsum([0, *(len(each) for each in roots[:-1])])
        self.which = np.repeat(np.arange(len(roots)), [len(each) for each in roots])
        every = np.concatenate(roots)
        sums = np.maximum(np.add.reduceat(every, self.starts), 1e-12)
        self.deviations = every * (np.asarray(scores, dtype=float) / sums)[self.which]

    def at(self, precisions: Floats) -> Floats:
        """Return E of every table."""
        squares = 1 + precisions[self.which] * self.deviations**2 * (pi / 2)
        return np.asarray(np.add.reduceat(self.deviations / np.sqrt(squares), self.starts))

    def slopes(self, precisions: Floats) -> Floats:
        """Return -dE/dtau = (pi / 4) sum_c delta_c^3 (1 + tau delta_c^2 pi / 2)^(-3/2)."""
        squares = 1 + precisions[self.which] * self.deviations**2 * (pi / 2)
        return np.asarray(np.add.reduceat((pi / 4) * self.deviations**3 / squares**1.5, self.starts))

    def shared(self, total: float) -> Floats:
        """Return the precisions, none below zero and `total` in sum, for which the sum of E is smallest."""
        first = self.slopes(np.zeros(len(self.starts)))
        if not first.any():
            return np.full(len(first), total / len(first))

        def best(price: float) -> Floats:
            """Return tau with slope `price`, zero where it is less at once."""
            low, high = np.zeros(len(first)), np.full(len(first), total)
            for _ in range(_INNER):
                middle = (low + high) / 2
                steep = self.slopes(middle) > price
                low, high = np.where(steep, middle, low), np.where(steep, high, middle)
            return np.where(first > price, low, 0.0)

        low, high = float(first.max()) * 1e-30, float(first.max())
        for _ in range(_STEPS):
            middle = sqrt(low * high)
            low, high = (middle, high) if best(middle).sum() > total else (low, middle)
        found = best(high)
        sum_ = float(found.sum())
        return (
            found * (total / sum_)
            if sum_ > 0
            else np.where(first == first.max(), total / (first == first.max()).sum(), 0.0)
        )


def gain(losses: ExpectedLoss, precisions: Floats) -> Floats:
    """Return by how much measuring each table makes its expected loss smaller: E(0) - E(tau)."""
    return losses.at(np.zeros(len(precisions))) - losses.at(precisions)
