"""The most probable parameter, privately: three forms that keep their promise.

The maximum of a posterior cannot be published as it is. Zhang, Rubinstein and Dimitrakakis (2016), algorithm 3, draw
theta with density ~ e^(epsilon u / (2 Delta)), u the posterior *density* and Delta = sqrt(L r). That Delta bounds
probabilities of sets, not densities: in an example with claimed epsilon = 1 the true one is 5 (`published_epsilon`).
Sound are

- `MaximumPosterior`: finitely many parameters, u = posterior *probability*, Delta = tanh(R / 4);
- `tempered_maximum`: a draw from the truncated posterior with the likelihood raised to the power epsilon / R;
- `maximum_of_noisy_counts`: the maximum of the posterior of noisy counts, which costs nothing more.

The distribution, its proof and its calibration are those of `posterior_choice`.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import log, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact
from discreet.choices._choice_scale import ScoreChanges, all_tables, can_list
from discreet.choices._posterior_choice import CalibratedChoice, PosteriorChoice
from discreet.draws import PosteriorSampling
from discreet.tables import Categories


@dataclass(frozen=True, init=False, repr=False)
class TableChoice(PosteriorChoice[Categories]):
    """A choice among all vectors of `resolution`-ths without a zero."""

    model: Categories

    def __init__(self, model: Categories, size: int, epsilon: Exact, resolution: int = 20) -> None:
        if not isinstance(model, Categories):
            raise DeclarationError(f"MaximumPosterior works for a Categories model; got a {type(model).__name__}.")
        super().__init__(model, size, epsilon, resolution)

    @cached_property
    def _row_levels(self) -> tuple[int, ...]:
        """Return the number of cells: there is one row."""
        return (len(self.model.cells),)

    @property
    def _node_levels(self) -> tuple[int, ...]:
        return self._row_levels

    def _powers(self, counts: Counts) -> NDArray[np.object_]:
        """Return alpha - 1 + k exactly, for rows of counts."""
        return np.asarray(np.array([Fraction(value) - 1 for value in self.model.prior]) + counts.astype(object))

    def _checked(self, counts: Counts) -> Counts:
        tables = self.model.counts(counts)
        if (tables.sum(axis=-1) != self.size).any():
            raise DeclarationError(f"The counts must add up to the public size {self.size}.")
        return tables

    def parameters(self, output: Counts) -> Floats:
        """Return theta = c / resolution."""
        return np.asarray(output) / self.resolution


@dataclass(frozen=True, init=False, repr=False)
class MaximumPosterior(TableChoice, CalibratedChoice[Categories], kind="MaximumPosterior", version=2):
    """A parameter near the maximum of the posterior (MAP), chosen by the exponential mechanism: pure epsilon-DP.

    The candidates are all vectors of `resolution`-ths without a zero. The output is a vector of whole numbers c >= 1
    with sum `resolution`, which stands for theta = c / resolution, drawn with

        P(c | k) ~ e^(scale u_c(k)),     u = posterior probability among the candidates.

    If the scale is left out, it is the largest that keeps epsilon over all neighbours, where these can be compared;
    else it is epsilon / (2 Delta), Delta = tanh(R / 4) = (M - 1) / (M + 1), M = resolution - m + 1 the largest c, R = 2
    ln M.

    >>> coin = Categories("coin", levels=("heads", "tails"), outside="heads")
    >>> round(float(MaximumPosterior(coin, size=10, epsilon=1).scale), 3)
    4.216
    """

    scale: Fraction

    def __init__(
        self, model: Categories, size: int, epsilon: Exact, resolution: int = 20, scale: Exact | None = None
    ) -> None:
        super().__init__(model, size, epsilon, resolution)
        self._calibrate(scale)

    @cached_property
    def _compared(self) -> ScoreChanges | None:
        listed = can_list(self.size, self.space.length, self._number)
        return _changes(TableChoice(self.model, self.size, 1, self.resolution)) if listed else None


@lru_cache(maxsize=8)
def _changes(choice: TableChoice) -> ScoreChanges:
    """Compare the scores of all neighbours once for all epsilons."""
    return choice.changes(*all_tables(choice.size, choice.space.length))


def tempered_maximum(model: Categories, size: int, epsilon: Exact, least: Exact) -> PosteriorSampling:
    """Return a draw from prior * likelihood^(epsilon / R) with every probability at least `least`: pure epsilon-DP."""
    return PosteriorSampling.truncated(model, size=size, epsilon=epsilon, least=least)


def maximum_of_noisy_counts(model: Categories, noisy: ArrayLike) -> Floats:
    """Return the maximum of Dirichlet(alpha + z), z noisy counts cut off at zero: post-processing of a release."""
    weights = np.maximum(0.0, model.concentration + np.maximum(0, np.asarray(noisy)) - 1)
    return weights / weights.sum() if weights.sum() > 0 else np.full(len(weights), 1 / len(weights))


def utility_bound(epsilon: float, sensitivity: float, gap: float, share: float) -> float:
    """Return a bound on the chance of a utility more than 2 t below the best, when a `share` is within t of it.

    e^(-epsilon t / (2 Delta)) / mu(S_t); the published exponent epsilon t misses the factor 2 Delta.
    """
    return min(1.0, float(np.exp(-epsilon * gap / (2 * sensitivity))) / share)


def published_sensitivity(constant: float, distance: float = 1.0) -> float:
    """Return sqrt(L r), the published Delta of algorithm 3, which does not bound a posterior density."""
    return sqrt(constant * distance)


def published_epsilon(claimed: float, half_width: float, nodes: int = 1) -> float:
    """Return the true epsilon of the published mechanism for one record of yes/no nodes, theta in 1/2 +- half_width.

    With p nodes without arrows and a uniform prior the densities of an all-yes and an all-no record are
    prod_i theta_i / h and prod_i (1 - theta_i) / h, so they differ by up to ((1/2 + h)/h)^p - ((1/2 - h)/h)^p, whereas
    L r = p ln((1/2 + h) / (1/2 - h)); both distributions have the same normaliser, by symmetry.

    >>> round(published_epsilon(1.0, 0.01), 5)
    4.99967
    """
    constant = log((0.5 + half_width) / (0.5 - half_width))
    gap = ((0.5 + half_width) / half_width) ** nodes - ((0.5 - half_width) / half_width) ** nodes
    return claimed / (2 * published_sensitivity(constant, nodes)) * gap
