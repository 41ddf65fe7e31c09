"""How well counts fit what was published: the log likelihood in whole numbers, and its slope for real ones.

Counts are those of the cells of the model's tables, axes (cells, chains). The slope need not be exact: samplers follow
it, and decide by the likelihood itself.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.mechanisms.evidence import Normalised
from discreet.mechanisms.quantities import Measurement
from discreet.models.model import Model, tables_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_PART = 512  # columns of a matrix computed at a time


class Fit(ABC):
    """What published outputs say about counts."""

    sharpness: float = 0.0
    """About how much one record can change the log likelihood of a single number."""
    normalised: Normalised | None = None
    """What knows the likelihood roughly and may be refined; nothing where it is known."""

    @property
    def parts(self) -> "tuple[Fit, ...]":
        """Return the fits of which it is the sum."""
        return (self,)

    @abstractmethod
    def log_likelihood(self, counts: Counts) -> Floats:
        """Return log P(outputs | counts) of each chain."""

    @abstractmethod
    def slope(self, counts: Floats) -> Floats:
        """Return about the derivative by each count (cells, chains)."""

    @abstractmethod
    def directions(self, counts: Floats) -> tuple[Floats, Floats]:
        """Return sums of cells (rows) about which something is known near some counts, and how much (information)."""


class MeasuredFit(Fit):
    """Measured numbers z = A k + u of any laws, all in one product with the matrix A."""

    def __init__(self, measurements: Sequence[Measurement], cells: int) -> None:
        self._measurements = tuple(measurements)
        self._matrix = linear_map(
            lambda counts: np.concatenate([np.asarray(each.of.apply(counts)) for each in measurements], axis=-1), cells
        )
        self.sharpness = float(np.sqrt(max(measurement.information.max() for measurement in measurements)))
        ends = np.cumsum([0, *(measurement.of.length for measurement in measurements)])
        self._places = [slice(low, high) for low, high in pairwise(ends)]

    def _noise(self, counts: Counts | Floats) -> list[Floats]:
        numbers = (self._matrix @ counts).T
        pairs = zip(self._measurements, self._places, strict=True)
        return [measurement.values - numbers[:, place] for measurement, place in pairs]

    def log_likelihood(self, counts: Counts) -> Floats:
        """Return the sum of the laws' log probabilities."""
        pairs = zip(self._measurements, self._noise(counts), strict=True)
        return np.asarray(sum(measurement.noise.log_prob(noise) for measurement, noise in pairs))

    def slope(self, counts: Floats) -> Floats:
        """Return A' of the laws' slopes."""
        pairs = zip(self._measurements, self._noise(counts), strict=True)
        slopes = np.concatenate([-measurement.noise.slope(noise) for measurement, noise in pairs], axis=-1)
        return np.asarray(self._matrix.T @ slopes.T)

    def directions(self, counts: Floats) -> tuple[Floats, Floats]:
        information = np.concatenate([measurement.information for measurement in self._measurements])
        return self._matrix.toarray().astype(float), information


class SummedFit(Fit):
    """Several outputs together."""

    def __init__(self, parts: Sequence[Fit]) -> None:
        self._parts = tuple(parts)
        self.sharpness = max(part.sharpness for part in parts)

    @property
    def parts(self) -> tuple[Fit, ...]:
        return self._parts

    def log_likelihood(self, counts: Counts) -> Floats:
        return np.asarray(sum(part.log_likelihood(counts) for part in self._parts))

    def slope(self, counts: Floats) -> Floats:
        return np.asarray(sum(part.slope(counts) for part in self._parts))

    def directions(self, counts: Floats) -> tuple[Floats, Floats]:
        """Return the directions of all parts."""
        found = [part.directions(counts) for part in self._parts]
        return np.concatenate([rows for rows, _ in found]), np.concatenate([known for _, known in found])


class MarginFit(Fit):
    """What outputs about margins say about the counts of the tables around them."""

    def __init__(self, fit: Fit, margins: "csr_array") -> None:
        self._fit, self._margins, self.sharpness = fit, margins, fit.sharpness

    def log_likelihood(self, counts: Counts) -> Floats:
        return self._fit.log_likelihood(self._margins @ counts)

    def slope(self, counts: Floats) -> Floats:
        """Return the slope by each margin, at every count that is in it."""
        return np.asarray(self._margins.T @ self._fit.slope(self._margins @ counts))

    def directions(self, counts: Floats) -> tuple[Floats, Floats]:
        rows, known = self._fit.directions(self._margins @ counts)
        return np.asarray(rows @ self._margins), known


def margins_of(model: Model, around: Model) -> "csr_array":
    """Return the matrix of 0 and 1 from the counts of a model's tables to those of tables that are margins of them."""
    from scipy.sparse import csr_array, vstack

    sizes = [prod(len(column.levels) for column in table) for table in tables_of(around)]
    starts, parts = np.cumsum([0, *sizes]), []
    for table in tables_of(model):
        place = next(n for n, each in enumerate(tables_of(around)) if set(table) <= set(each))
        wide = tables_of(around)[place]
        codes = np.unravel_index(np.arange(sizes[place]), [len(column.levels) for column in wide])
        shape = [len(column.levels) for column in table]
        rows = np.ravel_multi_index([codes[wide.index(column)] for column in table], shape)
        columns = starts[place] + np.arange(sizes[place])
        ones = np.ones(len(rows), dtype=np.int64)
        parts.append(csr_array((ones, (rows, columns)), shape=(prod(shape), int(starts[-1]))))
    return csr_array(vstack(parts))


def linear_map(apply: Callable[[Counts], Counts], cells: int) -> "csr_array":
    """Return the matrix of a linear function of rows of counts."""
    from scipy.sparse import csr_array, hstack

    parts = []
    for first in range(0, cells, _PART):
        units = np.zeros((min(_PART, cells - first), cells), dtype=np.int64)
        units[np.arange(len(units)), first + np.arange(len(units))] = 1
        parts.append(csr_array(np.asarray(apply(units)).T))
    return csr_array(hstack(parts))
