"""The model of whole records that is fitted to what was measured, by one public rule.

Where the junction tree of all measured tables has at most as many cells as can be held, it is the distribution of
largest entropy on that tree (`maximum_entropy`). Where it has more, as when all pairs were measured, it is an average
of mixtures of latent classes (`latent_classes`). Which of the two depends on the measured tables alone.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet.synthesis._junction_tree import cells_of, triangulated
from discreet.synthesis._latent_classes import ClassMixture, latent_classes
from discreet.synthesis._maximum_entropy import NoisyTable, maximum_entropy

MOST_CELLS = 400_000
"""The most cells of a junction tree that is fitted."""


class Joint(Protocol):
    """A joint distribution of all columns, which are numbers here, with levels that are numbers."""

    @property
    def levels(self) -> tuple[int, ...]:
        """Return the number of levels of each column."""

    @property
    def words(self) -> str:
        """Say what kind of model it is."""

    def margin(self, columns: Sequence[int]) -> Floats:
        """Return the joint table of some columns, its axes in their order."""

    def pairs(self) -> dict[tuple[int, ...], Floats]:
        """Return the joint tables of all pairs of columns."""

    def log_prob(self, records: Counts) -> Floats:
        """Return log p of records, rows of codes of all columns."""

    def sample(self, count: int, generator: np.random.Generator) -> Counts:
        """Draw records, as rows of codes of all columns."""

    def conditional(self, target: int, records: Counts) -> Floats:
        """Return P(target | what is known of each record), for rows of codes of all columns."""


def joint_of(levels: Sequence[int], size: float, tables: Sequence[NoisyTable]) -> Joint:
    """Return the model for some noisy tables."""
    cliques = triangulated(levels, [table.columns for table in tables])
    if cells_of(levels, cliques) <= MOST_CELLS:
        return maximum_entropy(levels, size, tables)
    found: ClassMixture = latent_classes(levels, size, tables)
    return found
