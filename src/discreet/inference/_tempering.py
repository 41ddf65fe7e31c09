"""Particles in standard normal coordinates, moved step by step to a posterior (sequential Monte Carlo), on islands.

A landscape gives each point x of a space with the prior N(0, I) its depth, 0 where x is possible, and its log
likelihood; where the prior itself does not reach, the depth is infinite. Particles start from the prior. First only
those below a falling depth are kept, until all are possible; then the likelihood is raised to a rising power, from 0
to 1. At each stage the kept ones are drawn again in proportion to their weights, and then move, leaving

    N(x; 0, I) 1[depth(x) <= t] L(x)^p

as it is: by x' = sqrt(1 - h^2) x + h e with fresh normal e, whose distribution is that of the prior (preconditioned
Crank-Nicolson: Cotter and others, 2013), and by the difference of two others of the island (ter Braak, 2006), which
knows the shape of the population. h and the size of differences are set so that a quarter of the moves is taken, and
stay as they are once p = 1. The mean weights of all stages multiply to the evidence. Islands share thresholds and step
sizes and no ancestors, so what they differ by estimates the Monte Carlo error.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from discreet._core.arrays import Floats
from discreet._core.progress import StepCounter
from discreet.mathematics import systematic

ISLANDS, EACH = 16, 64
"""How many islands there are, and how many particles live on each."""
_KEPT, _LEAST_KEPT = 0.5, 0.1  # shares that a stage keeps of all particles, and at least of each island
_GOAL = 0.25  # target share of accepted moves
_LEAST_MOVES, _MOST_MOVES = 3, 8
_FORGOTTEN = 0.5  # moves go on until the correlation with where they began is below this
_USUAL = 2.38 / np.sqrt(2)


class Landscape(Protocol):
    """What particles live in."""

    @property
    def normals(self) -> int:
        """Return the number of coordinates."""

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        """Draw rows from the prior."""

    def evaluate(self, normals: Floats, deepest: float) -> tuple[Floats, Floats]:
        """Return the depth of every row, 0 if it is possible, and its log likelihood, -inf if it is not.

        Depths beyond `deepest` need not be right as long as they are beyond it.
        """


@dataclass
class Particles:
    """Particles, island by island, with depth and log likelihood, under the threshold and the power of their stage."""

    landscape: Landscape
    generator: np.random.Generator
    most_evaluations: float
    threshold: float = np.inf
    power: float = 0.0
    step: float = 0.5
    stretch: float = 1.0
    adapting: bool = True
    evaluations: float = 0.0
    log_evidences: Floats = field(default_factory=lambda: np.zeros(ISLANDS))

    def __post_init__(self) -> None:
        self.normals = self.landscape.draw(ISLANDS * EACH, self.generator)
        self.depths, self.logs = self._evaluated(self.normals)

    def _evaluated(self, normals: Floats) -> tuple[Floats, Floats]:
        self.evaluations += len(normals) / (ISLANDS * EACH)
        return self.landscape.evaluate(normals, self.threshold)

    @property
    def is_spent(self) -> bool:
        """Return whether as many evaluations were made as are allowed."""
        return self.evaluations >= self.most_evaluations

    def temper(self) -> bool:
        """Go through all stages. Return whether the last was reached with the evaluations that are allowed."""
        with StepCounter("Tempering, at most", int(self.most_evaluations)) as steps:
            while self.power < 1 and not self.is_spent:
                self._resample(self._deeper() if self.threshold > 0 else self._warmer())
                self._mix()
                steps.done(int(self.evaluations))
        return self.power == 1

    def _deeper(self) -> Floats:
        """Lower the threshold, and return the log weights: 0 for particles below it."""
        by_island = np.quantile(self.depths.reshape(ISLANDS, EACH), _LEAST_KEPT, axis=1, method="higher")
        following = max(float(np.quantile(self.depths, _KEPT, method="higher")), float(by_island.max()))
        self.threshold = min(self.threshold, following)
        return np.where(self.depths <= self.threshold, 0.0, -np.inf)

    def _warmer(self) -> Floats:
        """Raise the power so that half of the particles' worth is left, and return the logs of the weights."""
        relative = self.logs - self.logs.max()
        low, high = self.power, 1.0
        if worth((high - self.power) * relative) < len(relative) / 2:
            for _ in range(50):
                middle = (low + high) / 2
                is_enough = worth((middle - self.power) * relative) >= len(relative) / 2
                low, high = (middle, high) if is_enough else (low, middle)
            high = low
        weights = (high - self.power) * self.logs
        self.power = high
        return np.asarray(weights)

    def _resample(self, log_weights: Floats) -> None:
        indices = np.arange(ISLANDS * EACH).reshape(ISLANDS, EACH)
        for number, island in enumerate(indices):
            own = log_weights[island]
            self.log_evidences[number] += float(logsumexp(own)) - np.log(EACH)
            indices[number] = island[systematic(np.exp(own - own.max()), EACH, self.generator)]
        kept = indices.ravel()
        self.normals, self.depths, self.logs = self.normals[kept], self.depths[kept], self.logs[kept]

    def _mix(self) -> None:
        """Move until the starting points are mostly forgotten."""
        start = self.normals.copy()
        for move in range(_MOST_MOVES):
            self.move()
            spread = np.maximum(self.normals.var(axis=0), 1e-300)
            correlation = 1 - float(np.mean(np.square(self.normals - start).mean(axis=0) / (2 * spread)))
            if move + 1 >= _LEAST_MOVES and correlation < _FORGOTTEN:
                return

    def move(self) -> None:
        """Propose a fresh direction for every particle, then a difference for each half of every island."""
        fresh = self.generator.standard_normal(self.normals.shape)
        everybody = np.arange(len(self.normals))
        proposed = np.sqrt(1 - self.step**2) * self.normals + self.step * fresh
        self.step = self._adapted(self.step, self._accept(everybody, proposed, np.zeros(len(proposed))), 0.99)
        order = np.argsort(self.generator.random((ISLANDS, EACH)), axis=1) + EACH * np.arange(ISLANDS)[:, None]
        one, two = order[:, : EACH // 2], order[:, EACH // 2 :]
        for movers, others in ((one, two), (two, one)):
            self.stretch = self._adapted(self.stretch, self._differ(movers, others), 4.0)

    def _differ(self, movers: NDArray[np.intp], others: NDArray[np.intp]) -> float:
        first = self.generator.integers(others.shape[1], size=movers.shape)
        second = (first + self.generator.integers(1, others.shape[1], size=movers.shape)) % others.shape[1]
        island, who = np.arange(ISLANDS)[:, None], movers.ravel()
        gaps = self.normals[others[island, first].ravel()] - self.normals[others[island, second].ravel()]
        proposed = self.normals[who] + self.stretch * _USUAL / np.sqrt(self.normals.shape[1]) * gaps
        return self._accept(who, proposed, -(np.square(proposed) - np.square(self.normals[who])).sum(axis=1) / 2)

    def _adapted(self, size: float, taken: float, most: float) -> float:
        return float(np.clip(size * np.exp(0.5 * (taken - _GOAL)), 1e-5, most)) if self.adapting else size

    def _accept(self, who: NDArray[np.intp], proposed: Floats, log_prior: Floats) -> float:
        """Accept or reject the proposals; return the share accepted."""
        depths, logs = self._evaluated(proposed)
        chances = np.where(depths <= self.threshold, log_prior, -np.inf)
        if self.power > 0:
            possible = np.isfinite(logs)
            chances[possible] += self.power * (logs[possible] - self.logs[who[possible]])
        taken = np.log(self.generator.random(len(who))) < chances
        indices = who[taken]
        self.normals[indices], self.depths[indices], self.logs[indices] = proposed[taken], depths[taken], logs[taken]
        return float(taken.mean())

    def walk(self, rounds: int, moves: int) -> Iterator[Floats]:
        """Yield the particles after this many moves each, with the present step sizes: draws of the posterior."""
        self.adapting = False
        for _ in range(rounds):
            for _ in range(moves):
                self.move()
            yield self.normals.copy()

    @property
    def log_evidence(self) -> tuple[float, float]:
        """Return the log of the mean evidence of all islands, and its standard error."""
        largest = float(self.log_evidences.max())
        scaled = np.exp(self.log_evidences - largest)
        mean = float(scaled.mean())
        return largest + float(np.log(mean)), float(scaled.std(ddof=1)) / (mean * np.sqrt(ISLANDS))


def worth(log_weights: Floats) -> float:
    """Return how many particles of equal weight are worth as much."""
    weights = np.exp(log_weights - log_weights.max())
    return float(weights.sum() ** 2 / np.square(weights).sum())
