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

_INNER = 12  # of Newton's steps
_FLATTEST = 1e-60  # what a slope counts as at least, where the steepest cell has 1


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
        """Return the precisions, none below zero and `total` in sum, for which the sum of E is smallest.

        All tables that get any have the same slope, the price. That of one cell falls as (1 + c tau)^(-3/2), so
        slope^(-2/3) is nearly a straight line, on which Newton's steps find tau; so is the sum of tau, by price^(-2/3).
        """
        widest = float(self.deviations.max())
        if len(self.starts) == 1 or widest <= 0:
            return np.full(len(self.starts), total / len(self.starts))
        deltas, allowed = self.deviations / widest, total * widest**2  # in units in which the widest deviation is 1

        def slope(found: Floats, power: float) -> Floats:
            squares = 1 + found[self.which] * deltas**2 * (pi / 2)
            return np.maximum(np.add.reduceat(deltas ** (2 * power) / squares**power, self.starts), _FLATTEST)

        first = slope(np.zeros(len(self.starts)), 1.5)

        def best(raised: float) -> Floats:
            """Return tau of slope^(-2/3) = raised, zero where it is that flat at once."""
            found, worth = np.zeros(len(first)), first > raised**-1.5
            for _ in range(_INNER):
                slopes = slope(found, 1.5)
                bends = (pi / 2) * slopes ** (-5 / 3) * slope(found, 2.5)
                found = np.where(worth, np.maximum(found + (raised - slopes ** (-2 / 3)) / bends, 0.0), 0.0)
            return found

        from scipy.optimize import brentq  # slow to import, and for whoever plans or reads synthesis only

        low = float(first.max()) ** (-2 / 3)
        high = 2 * low
        while best(high).sum() < allowed:
            high *= 4
        found = best(float(brentq(lambda raised: float(best(raised).sum()) - allowed, low, high, rtol=1e-10)))
        sum_ = float(found.sum())
        steepest = first == first.max()
        return found * (total / sum_) if sum_ > 0 else np.where(steepest, total / steepest.sum(), 0.0)


def gain(losses: ExpectedLoss, precisions: Floats) -> Floats:
    """Return by how much measuring each table makes its expected loss smaller: E(0) - E(tau)."""
    return losses.at(np.zeros(len(precisions))) - losses.at(precisions)
