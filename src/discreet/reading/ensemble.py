"""An ensemble of walkers that samples any density it can evaluate, and says how well it did.

Three moves take turns. A walker jumps to an independent proposal; or it stretches its line to one of the other half
(Goodman and Weare 2010); or it moves by the difference of two of them (ter Braak and Vrugt 2008). Each move leaves the
density unchanged, and none needs tuning. R-hat compares the walkers with each other and with themselves at other times;
the effective size says how many independent draws the chains are worth.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats

_WIDEST = 2.0  # the stretch factor lies between 1/2 and 2
_CROSSING = 0.1  # how often a difference is taken in full, so that walkers can change places


class Proposal(Protocol):
    """A law from which independent states can be drawn, with its log density up to a constant."""

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        """Draw states (rows)."""

    def log_density(self, states: Floats) -> Floats:
        """Return the log density of states (rows), up to a constant."""


@dataclass
class Ensemble:
    """Walkers with the values of their log density; rows of `states` are walkers."""

    log_density: Callable[[Floats], Floats]
    states: Floats
    proposal: Proposal
    generator: np.random.Generator

    def __post_init__(self) -> None:
        self.values = self.log_density(self.states)

    def run(self, steps: int, every: int = 1) -> Floats:
        """Make so many steps of all walkers; return the states after each (or every few): steps x walkers x numbers."""
        chain = np.empty((steps // every, *self.states.shape))
        for step in range(steps):
            self._independent()
            move = self._stretch if step % 2 else self._difference
            one, two = np.array_split(self.generator.permutation(len(self.states)), 2)
            move(one, two)
            move(two, one)
            if (step + 1) % every == 0:
                chain[step // every] = self.states
        return chain

    def _accept(self, walkers: NDArray[np.intp], proposed: Floats, log_correction: Floats) -> None:
        values = self.log_density(proposed)
        chances = values - self.values[walkers] + log_correction
        keep = np.log(self.generator.random(len(walkers))) < chances
        self.states[walkers[keep]], self.values[walkers[keep]] = proposed[keep], values[keep]

    def _independent(self) -> None:
        proposed = self.proposal.draw(len(self.states), self.generator)
        correction = self.proposal.log_density(self.states) - self.proposal.log_density(proposed)
        self._accept(np.arange(len(self.states)), proposed, correction)

    def _stretch(self, walkers: NDArray[np.intp], others: NDArray[np.intp]) -> None:
        """Propose x' = a + z (x - a) with density of z ~ 1/sqrt(z) on [1/2, 2]; correct by z^(dimension - 1)."""
        root = np.sqrt(_WIDEST)
        factors = (1 / root + self.generator.random(len(walkers)) * (root - 1 / root)) ** 2
        anchors = self.states[self.generator.choice(others, len(walkers))]
        proposed = anchors + factors[:, None] * (self.states[walkers] - anchors)
        self._accept(walkers, proposed, (self.states.shape[1] - 1) * np.log(factors))

    def _difference(self, walkers: NDArray[np.intp], others: NDArray[np.intp]) -> None:
        """Propose x' = x + g (a - b) with g about 2.38/sqrt(2 dimension); symmetric, so nothing to correct."""
        first = self.generator.integers(len(others), size=len(walkers))
        second = (first + self.generator.integers(1, len(others), size=len(walkers))) % len(others)
        usual = 2.38 / np.sqrt(2 * self.states.shape[1]) * np.exp(self.generator.normal(0, 0.3, size=len(walkers)))
        size = np.where(self.generator.random(len(walkers)) < _CROSSING, 1.0, usual)
        gaps = self.states[others[first]] - self.states[others[second]]
        self._accept(walkers, self.states[walkers] + size[:, None] * gaps, np.zeros(len(walkers)))
