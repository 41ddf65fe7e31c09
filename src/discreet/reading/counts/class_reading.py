"""One class of a naive Bayes network: the weights of its count, and its features given the count."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Counts, Floats
from discreet.mathematics.dirichlet_multinomial import log_prior_windows
from discreet.reading.counts.states import States
from discreet.reading.counts.windows import Windowed

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class OwnFactor:
    """What else weights a class count: its prior P_a(t), and the concave log kernel of what was observed of it."""

    alpha: float
    log_kernel: Callable[[Counts], Floats] = np.zeros_like

    def __call__(self, window: Windowed) -> Floats:
        """Return the log factor at the counts of a window."""
        prior = log_prior_windows(np.array([self.alpha]), np.array([window.first]), len(window.values))[0]
        return np.asarray(prior + self.log_kernel(window.counts))

    def beyond(self, edge: int, side: int) -> tuple[float, float]:
        """Return logs of a start and a ratio: j steps beyond an edge the factor is at most start + j ratio."""
        here, following = (float(each) for each in self.log_kernel(np.array([edge, edge + side])))
        prior = float(log_prior_windows(np.array([self.alpha]), np.array([edge]), 1)[0, 0])
        if side > 0:
            return here + prior, following - here + max(0.0, float(np.log((self.alpha + edge) / (edge + 1))))
        return here + max(0.0, prior), following - here


class ClassReading(ABC):
    """What a release says about the features of one class, given the class count.

    A reading that weights every class count that matters has nothing beyond its window, and no errors.
    """

    @property
    @abstractmethod
    def levels(self) -> tuple[int, ...]:
        """Return how many levels each feature has."""

    @property
    @abstractmethod
    def log_weights(self) -> Windowed:
        """Return log W_y(t) = log P(what was released about class y | t) for class counts t, up to a constant."""

    @abstractmethod
    def states(self, chances: Windowed) -> States:
        """Return the states of this class, given the probability of every class count."""

    @abstractmethod
    def laws_inside(self, feature: int, inside: Bools, counts: Counts) -> list[Windowed]:
        """Return for each class count the law of how many records have one of some levels."""

    @abstractmethod
    def draw(self, totals: Counts, generator: np.random.Generator) -> list[Counts]:
        """Draw for every feature a table of counts with a row for each class count."""

    @property
    def errors(self) -> Floats:
        """Return a bound on the relative error of each weight."""
        return np.zeros(len(self.log_weights.values))

    def steepest(self, own: OwnFactor) -> float:
        """Return the largest tilt of the class counts at which what lies beyond the window is bounded."""
        return float("inf")

    def log_outside(self, tilt: float, own: OwnFactor) -> float:
        """Return the log of a bound on sum W(t) f(t) e^(tilt (t - first)) over all class counts beyond the window."""
        return -float("inf")

    def wider(self) -> "ClassReading":
        """Return the same class on a wider window, if there is one."""
        return self

    def finer(self) -> "ClassReading":
        """Return the same class with smaller errors, if there are any."""
        return self
