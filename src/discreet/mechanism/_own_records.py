"""A reader's own records of the same population: they are added to the prior, exactly.

Given the parameters, own records and those behind a release are independent. So the posterior given both is that of the
release under the prior which own records have turned into a posterior already:

    rows of probabilities:  Dirichlet(alpha + own counts), each row with counts of its own;
    a regression:           w ~ N(M^-1 b / sigma^2, M^-1),  M = l I + A / sigma^2,  A = X'X and b = X'y of own records.

No privacy is spent, and nothing protects own records: a posterior that holds them is as confidential as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts
from discreet._core.errors import DeclarationError, SecretError
from discreet.mechanism._model import Model
from discreet.records import Column, Statistics, as_source


@dataclass(frozen=True, eq=False)
class Informed:
    """A model whose prior holds own records; several where the strength of the prior is to be learnt.

    `log_weights` say how likely own records are under each of them, and `records` how many there are.
    """

    models: tuple[Model, ...]
    log_weights: tuple[float, ...]
    records: int


class CountedTables(Protocol):
    """A model whose statistics are counts of the cells of some tables."""

    @property
    def tables(self) -> tuple[tuple[Column, ...], ...]:
        """Return the columns of each table."""

    def counts(self, counts: ArrayLike, /) -> Counts:
        """Return counts of all cells, after checking them."""


def own_counts(model: CountedTables, own: object) -> Counts:
    """Return own records as counts of a model's cells: they are given as such, or as anything that holds records."""
    refuse_statistics(own)
    if are_counts(own):
        counts = model.counts(np.asarray(own))
        if counts.ndim != 1:
            raise DeclarationError("own must be one row of counts, or records. Nothing was read.")
        return counts
    tables = as_source(own).count_families(model.tables)
    return np.concatenate([table.ravel() for table in tables]).astype(np.int64)


def are_counts(own: object) -> bool:
    """Return whether these are whole numbers, not records."""
    if isinstance(own, np.ndarray):
        return own.dtype.kind in "iu"
    if not isinstance(own, Sequence) or isinstance(own, str | bytes):
        return False
    return len(own) > 0 and all(isinstance(value, Integral) for value in own)


def refuse_statistics(own: object) -> None:
    """Refuse secret statistics where a reader's own records are asked for."""
    if isinstance(own, Statistics):
        raise SecretError(
            "Statistics are secret and may only go to discreet.publish. Nothing was read. Pass your own records, as "
            "a frame, a file or lists, or their counts."
        )
