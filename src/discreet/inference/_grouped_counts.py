"""Counts of groups of cells, as the counts of a smaller table: sums of what is known about the cells.

If theta given the counts k is Dirichlet(a + k), the sums of theta over groups are Dirichlet with the summed parameters.
So a joint posterior of all cells is one of the groups too, and both say the same about every question.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError


class Pairs(NamedTuple):
    """Sums of either group, one pair for each entry, with their probabilities."""

    first: Counts
    second: Counts
    weights: Floats
    lost: float | None
    """The share of all pairs that is left out, at most; None if they were drawn."""
    draws: float | None = None
    """How many independent draws they are worth, if they were drawn."""


class JointCounts(Protocol):
    """The joint distribution of the counts of cells with a known total."""

    total: int

    @property
    def lost(self) -> float | None:
        """Return the share of the sum over all tables that was left out, at most; None if tables were drawn."""

    def sum_of(self, indices: Counts) -> tuple[Counts, Floats]:
        """Return the possible sums of some cells' counts, and their probabilities."""

    @property
    def draws(self) -> float | None:
        """Return how many independent draws the tables are worth; None if they were not drawn."""

    def pair_of_sums(self, one: Counts, two: Counts, /) -> Pairs:
        """Return the possible pairs of sums of two groups, and their probabilities."""

    def draw(self, count: int, generator: np.random.Generator) -> Counts:
        """Draw tables."""


class GroupedCounts:
    """The joint distribution of the sums of `counts` over groups of cells, which split the table."""

    def __init__(self, counts: JointCounts, groups: Sequence[Counts]) -> None:
        self.total, self._counts, self._groups = counts.total, counts, tuple(groups)
        self.lost, self.draws = counts.lost, counts.draws

    def _cells(self, indices: Counts) -> Counts:
        return np.concatenate([self._groups[int(index)] for index in indices])

    def sum_of(self, indices: Counts) -> tuple[Counts, Floats]:
        """Return the possible sums of some groups' counts, and their probabilities."""
        return self._counts.sum_of(self._cells(indices))

    def pair_of_sums(self, one: Counts, two: Counts) -> Pairs:
        """Return the possible pairs of sums of two disjoint sets of groups, and their probabilities."""
        return self._counts.pair_of_sums(self._cells(one), self._cells(two))

    def draw(self, count: int, generator: np.random.Generator) -> Counts:
        """Draw tables of the groups' counts from the joint posterior."""
        drawn = self._counts.draw(count, generator)
        return np.stack([drawn[:, group].sum(axis=1) for group in self._groups], axis=1)

    @cached_property
    def _distributions(self) -> list[tuple[Counts, Floats]]:
        return [self._counts.sum_of(group) for group in self._groups]

    @cached_property
    def first(self) -> Counts:
        """Return the first count of each group's window."""
        return np.array([counts[0] for counts, _ in self._distributions])

    @cached_property
    def marginals(self) -> Floats:
        """Return P(count of a group = first + step) for every group (rows) and step (columns)."""
        found = np.zeros(
            (len(self._distributions), 1 + max(int(counts[-1] - counts[0]) for counts, _ in self._distributions))
        )
        for row, (counts, weights) in zip(found, self._distributions, strict=True):
            row[counts - counts[0]] = weights
        return found

    def log_weights(self, tables: Counts) -> Floats:
        """Refuse the weights of whole tables, as the cells inside the groups are summed out one sum at a time."""
        raise DeclarationError(
            f"The {tables.shape[-1]} groups have no weights for whole tables. Nothing was computed. Ask the posterior "
            "of all cells."
        )
