"""The most probable tables of a network, privately, in the forms that keep their promise.

- `NetworkMaximum`: finitely many networks, drawn with P ~ e^(scale u), u the posterior *probability*;
- `tempered_network_maximum`: a draw from the truncated posterior with the likelihood to the power epsilon / R;
- `maximum_of_noisy_tables`: the maximum of the posterior of noisy tables, which costs nothing more.

The published Delta = sqrt(L r) bounds probabilities of sets, not densities; see `maximum_posterior.published_epsilon`.
The distribution, its proof and its calibration are those of `posterior_choice`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact
from discreet.choices._choice_scale import MOST_SCORES, ScoreChanges
from discreet.choices._posterior_choice import CalibratedChoice, PosteriorChoice
from discreet.draws import NetworkSampling
from discreet.networks import Network
from discreet.privacy import neighbouring, number_of_pairs

_MOST_PAIRS = 100_000  # of neighbours that are listed


@dataclass(frozen=True, init=False, repr=False)
class NetworkChoice(PosteriorChoice[Network]):
    """A choice among all tables whose rows are vectors of `resolution`-ths without a zero."""

    model: Network

    def __init__(self, model: Network, size: int, epsilon: Exact, resolution: int = 6) -> None:
        if not isinstance(model, Network):
            raise DeclarationError(f"NetworkMaximum works for a Network; got a {type(model).__name__}.")
        super().__init__(model, size, epsilon, resolution)

    @cached_property
    def _row_levels(self) -> list[int]:
        shapes = (self.model.shape(family) for family in self.model.families)
        return [shape[-1] for shape in shapes for _ in range(prod(shape[:-1]))]

    @property
    def _node_levels(self) -> list[int]:
        return [len(variable.levels) for variable in self.model.variables]

    def _powers(self, counts: Counts) -> NDArray[np.object_]:
        """Return alpha - 1 + k exactly for every cell of every table, in the order of the output."""
        parts = []
        for variable, prior in zip(self.model.variables, self.model.prior, strict=True):
            table = self.model.table(variable.name, counts)
            alpha = np.array([Fraction(value) - 1 for value in prior], dtype=object)
            parts.append((table.astype(object) + alpha).reshape(*counts.shape[:-1], -1))
        return np.concatenate(parts, axis=-1)

    def _checked(self, counts: Counts) -> Counts:
        tables = self.model.counts(counts)
        families = self.model.split(tables)
        if any((t.reshape(*tables.shape[:-1], -1).sum(axis=-1) != self.size).any() for t in families):
            raise DeclarationError(f"The counts of every family must add up to the public size {self.size}.")
        return tables

    def parameters(self, output: Counts) -> dict[str, Floats]:
        """Return the tables P(variable | parents) by name, axes (parents..., levels)."""
        shapes = [self.model.shape(family) for family in self.model.families]
        parts = np.split(np.asarray(output) / self.resolution, np.cumsum([prod(shape) for shape in shapes])[:-1])
        named = zip(self.model.families, parts, shapes, strict=True)
        return {family[-1]: part.reshape(shape) for family, part, shape in named}


@dataclass(frozen=True, init=False, repr=False)
class NetworkMaximum(NetworkChoice, CalibratedChoice[Network], kind="NetworkMaximum", version=2):
    """Tables of a network near the maximum of the posterior (MAP), by the exponential mechanism: pure epsilon-DP.

    The output holds, for each variable and each row of its table, whole numbers c >= 1 with sum `resolution`, which
    stand for theta = c / resolution. All combinations of rows are candidates, so this works for small networks; for
    larger ones use `tempered_network_maximum` or noisy counts. If the scale is left out, it is chosen as for
    `MaximumPosterior`.
    """

    scale: Fraction

    def __init__(
        self, model: Network, size: int, epsilon: Exact, resolution: int = 6, scale: Exact | None = None
    ) -> None:
        super().__init__(model, size, epsilon, resolution)
        self._calibrate(scale)

    @cached_property
    def _compared(self) -> ScoreChanges | None:
        pairs = number_of_pairs(prod(self._node_levels), self.size, MOST_SCORES)
        listed = pairs <= _MOST_PAIRS and pairs * self._number <= MOST_SCORES
        return _changes(NetworkChoice(self.model, self.size, 1, self.resolution)) if listed else None


@lru_cache(maxsize=8)
def _changes(choice: NetworkChoice) -> ScoreChanges:
    """Compare the scores of all neighbours once for all epsilons."""
    rows, _ = choice.model.contributions(MOST_SCORES)
    sets = neighbouring(rows, choice.size, most=MOST_SCORES)
    return choice.changes(sets.tables, sets.pairs)


def tempered_network_maximum(model: Network, size: int, epsilon: Exact, least: Exact) -> NetworkSampling:
    """Return a draw from prior * likelihood^(epsilon / R) with every probability at least `least`: pure epsilon-DP."""
    return NetworkSampling.truncated(model, size=size, epsilon=epsilon, least=least)


def maximum_of_noisy_tables(model: Network, tables: Mapping[str, ArrayLike]) -> dict[str, Floats]:
    """Return the maximum of Dirichlet(alpha + z) for every row, z noisy tables cut off at zero: post-processing."""
    found = {}
    for family, prior in zip(model.families, model.prior, strict=True):
        noisy = np.asarray(tables[family[-1]], dtype=float)
        if noisy.shape != model.shape(family):
            raise DeclarationError(f"The table of {family[-1]!r} must have the shape {model.shape(family)}.")
        weights = np.maximum(0.0, np.array(prior) + np.maximum(0.0, noisy) - 1)
        totals = weights.sum(axis=-1, keepdims=True)
        found[family[-1]] = np.where(totals > 0, weights / np.where(totals > 0, totals, 1.0), 1 / len(prior))
    return found
