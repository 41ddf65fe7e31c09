"""How well counts fit what was published: the log likelihood in whole numbers, and its slope for real ones.

Counts are those of the cells of the model's tables, axes (cells, chains). The slope need not be exact: samplers follow
it, and decide by the likelihood itself.

Evidence is measurements, draws or a choice, and each is one class here, for many counts at once. A choice is read by
the weights of its candidates. A row drawn from Dirichlet(alpha + tau k) by breaking a stick says P(cells of its sticks
| k): stick i is Beta(a, b), a the shape of its own cell and b that of all later ones. On a fine grid a cell has the
mass of its middle but near zero and one, where the factors of `drawn` make up for it; on a coarse one it is a
difference of distribution functions. If no probability may be below w, what was cut off depends on the counts: the
likelihood is divided by P(all theta_i >= w), which `kept_mass` computes.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaln, polygamma, psi

from discreet._core.arrays import Counts, Floats
from discreet.inference._drawn import FINE_GRID, log_end_factor
from discreet.inference._problem import Observed, Problem
from discreet.inference._truncated_mass import chance_slopes, log_chance_above, log_mass
from discreet.mechanism import Choice, DrawnRows, Measurement, Model, Normalised, sized, tables_of, truncated_stick
from discreet.noise import has_density
from discreet.records import Column

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Tables = Sequence[tuple[Column, ...]]
"""Tables of counts by their columns, one after another."""

_PART = 512  # columns of a matrix computed at a time


class Fit(ABC):
    """What published outputs say about counts."""

    sharpness: float = 0.0
    """About how much one record can change the log likelihood of a single number."""
    normalised: Normalised | None = None
    """What knows the likelihood roughly and may be refined; None where it is known."""

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
    """Measured numbers z = A k + u of any distributions, all in one product with the matrix A."""

    def __init__(self, measurements: Sequence[Measurement], cells: int) -> None:
        self._measurements = tuple(measurements)
        self._matrix = linear_map(
            lambda counts: np.concatenate([np.asarray(each.of.apply(counts)) for each in measurements], axis=-1), cells
        )
        self.sharpness = float(np.sqrt(max(measurement.information.max() for measurement in measurements)))
        ends = np.cumsum([0, *(measurement.of.length for measurement in measurements)])
        self._slices = [slice(low, high) for low, high in pairwise(ends)]

    def _noise(self, counts: Counts | Floats) -> list[Floats]:
        numbers = (self._matrix @ counts).T
        pairs = zip(self._measurements, self._slices, strict=True)
        return [measurement.values - numbers[:, index] for measurement, index in pairs]

    def log_likelihood(self, counts: Counts) -> Floats:
        """Return the sum of the distributions' log probabilities."""
        pairs = zip(self._measurements, self._noise(counts), strict=True)
        return np.asarray(sum(measurement.noise.log_prob(noise) for measurement, noise in pairs))

    def slope(self, counts: Floats) -> Floats:
        """Return A' of the distributions' slopes."""
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


def margins_of(tables: Tables, around: Tables) -> "csr_array":
    """Return the matrix of 0 and 1 from the counts of some tables to those of tables that are margins of them."""
    from scipy.sparse import csr_array, vstack

    sizes = [prod(len(column.levels) for column in table) for table in around]
    starts, parts = np.cumsum([0, *sizes]), []
    for table in tables:
        index = next(n for n, each in enumerate(around) if set(table) <= set(each))
        wide = around[index]
        codes = np.unravel_index(np.arange(sizes[index]), [len(column.levels) for column in wide])
        shape = [len(column.levels) for column in table]
        rows = np.ravel_multi_index([codes[wide.index(column)] for column in table], shape)
        columns = starts[index] + np.arange(sizes[index])
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


_INTEGRAL = 30_000.0  # operations for what truncation leaves of a row of three or four levels
_ADDED = 80_000.0  # and for every further level


class DrawnFit(Fit):
    """Draws of all rows of one table."""

    def __init__(self, rows: DrawnRows, tables: Tables) -> None:
        self._rows, self._levels = rows, len(rows.alpha)
        columns = {column.name: column for table in tables for column in table}
        self._matrix = margins_of((tuple(columns[name] for name in rows.names),), tables)
        self._units = rows.units
        self._logs = np.log(np.maximum(rows.probabilities, 1e-300)).sum(axis=0)  # (rows, levels)
        self._ends = truncated_stick(2, Fraction(rows.least).limit_denominator(2**60), rows.grid_bits)

    def _shapes(self, counts: Counts | Floats) -> Floats:
        """Return alpha + tau k with the axes (rows, levels, chains)."""
        own = np.asarray(self._matrix @ counts).reshape(self._rows.count, self._levels, counts.shape[-1])
        return np.asarray(self._rows.alpha[:, None] + self._rows.power * own)

    def log_likelihood(self, counts: Counts) -> Floats:
        """Return the sum over draws, rows and sticks of the log mass of their cells."""
        shapes = self._shapes(counts)
        later = np.cumsum(shapes[:, ::-1], axis=1)[:, ::-1]
        own, rest = shapes[:, :-1], later[:, 1:]
        bits, logs = self._rows.grid_bits, np.zeros(shapes.shape[-1])
        for cells, units in zip(self._rows.sticks, self._units, strict=True):
            if bits < FINE_GRID:
                low = cells[..., None] / 2.0**bits
                logs += log_mass(own, rest, low, low + 2.0**-bits).sum(axis=(0, 1))
                continue
            v = units[..., None]
            masses = (own - 1) * np.log(v) + (rest - 1) * np.log1p(-v) - betaln(own, rest) - bits * np.log(2.0)
            ends = (1 << bits) - 1 - cells
            masses = masses + log_end_factor(cells[..., None], own) + log_end_factor(ends[..., None], rest)
            logs += masses.sum(axis=(0, 1))
        if self._rows.least:
            logs -= self._rows.draws * self._log_kept(shapes).sum(axis=0)
        return logs

    def _log_kept(self, shapes: Floats) -> Floats:
        """Return log P(all theta >= least) of every row, (rows, chains)."""
        if self._levels == 2:
            return log_mass(shapes[:, 0], shapes[:, 1], *self._ends)
        return log_chance_above(shapes.swapaxes(0, 1), self._rows.least)

    def slope(self, counts: Floats) -> Floats:
        """Return tau (log theta - its mean given the counts) of every draw."""
        shapes, draws = self._shapes(np.maximum(counts, 0.0)), self._rows.draws
        means = psi(shapes) - psi(shapes.sum(axis=1, keepdims=True))
        if self._rows.least:
            means = means + self._kept_slopes(shapes)
        own = self._logs[..., None] - draws * means
        return np.asarray(self._matrix.T @ (self._rows.power * own).reshape(-1, counts.shape[-1]))

    def _kept_slopes(self, shapes: Floats) -> Floats:
        """Return about the derivative of log P(all theta >= least) by every shape."""
        if self._levels > 2:
            return chance_slopes(shapes.swapaxes(0, 1), self._rows.least).swapaxes(0, 1)
        found, kept = np.empty_like(shapes), self._log_kept(shapes)
        for level in range(self._levels):
            moved, step = shapes.copy(), 1e-3 * (1 + shapes[:, level])
            moved[:, level] += step
            found[:, level] = (self._log_kept(moved) - kept) / step
        return found

    def directions(self, counts: Floats) -> tuple[Floats, Floats]:
        """Return the cells of the table, and for each about tau^2 times the variance of log theta."""
        shapes = self._shapes(np.maximum(counts, 0.0)[:, None])[..., 0]
        variances, least = polygamma(1, np.maximum(shapes, 0.5)), self._rows.least
        if least:
            variances = np.minimum(variances, np.log((1 - (self._levels - 1) * least) / least) ** 2 / 12)
        known = self._rows.draws * self._rows.power**2 * variances
        return self._matrix.toarray().astype(float), np.asarray(known.ravel())


def drawn_operations(rows: Sequence[DrawnRows]) -> float:
    """Return about how many operations the likelihood of one row of counts takes."""
    found = 0.0
    for each in rows:
        levels = len(each.alpha)
        kept = _INTEGRAL + _ADDED * max(levels - 4, 0) if each.least and levels > 2 else 200.0
        found += each.count * (100.0 * levels * each.draws + kept)
    return found


def drawn_refusal(rows: Sequence[DrawnRows]) -> str | None:
    """Return why drawn rows cannot be read in floats, or None if they can."""
    if any(each.least and len(each.alpha) > 2 and each.grid_bits < FINE_GRID for each in rows):
        return f"truncated draws of several levels can only be read from a grid of {FINE_GRID} bits or more"
    return None


class ChoiceFit(Fit):
    """A candidate whose probability is known at once for any counts; no slope is known."""

    sharpness = 2.0  # single coordinates are rotated, too

    def __init__(self, choice: Choice) -> None:
        self._choice = choice

    def log_likelihood(self, counts: Counts) -> Floats:
        """Return the log chance of the candidate."""
        distinct, indices = np.unique(counts.T, axis=0, return_inverse=True)
        return np.asarray(self._choice.log_likelihood(distinct)[indices.ravel()])

    def slope(self, counts: Floats) -> Floats:
        return np.zeros(counts.shape)

    def directions(self, counts: Floats) -> tuple[Floats, Floats]:
        return np.zeros((0, len(counts))), np.zeros(0)


class NearFit(ChoiceFit):
    """A candidate whose probability is known roughly, and better once `normalised` has been refined."""

    normalised: Normalised

    def __init__(self, choice: Choice, normalised: Normalised) -> None:
        super().__init__(choice)
        self.normalised = normalised

    def log_likelihood(self, counts: Counts) -> Floats:
        distinct, indices = np.unique(counts.T, axis=0, return_inverse=True)
        return self.normalised.log_prob(self._choice.candidate, distinct)[indices.ravel()]


def fit_of(problem: Problem) -> Fit:
    """Return what all outputs say about the cells of the problem's tables."""
    parts: list[Fit] = []
    for observed in problem.observed:
        model = observed.mechanism.model if observed.is_margin else problem.model
        found = _fits(observed, model, problem.size)
        margins = margins_of(tables_of(model), tables_of(problem.model)) if observed.is_margin else None
        parts += found if margins is None else [MarginFit(each, margins) for each in found]
    return parts[0] if len(parts) == 1 else SummedFit(parts)


def _fits(observed: Observed, model: Model, size: int) -> list[Fit]:
    """Return what an output says about the cells of a model's own tables."""
    cells = sum(prod(len(column.levels) for column in table) for table in tables_of(model))
    if (choice := choice_of(observed)) is not None:
        near = choice.near_sums()
        return [ChoiceFit(choice) if near is None else NearFit(choice, near)]
    if observed.draw is not None:
        return [DrawnFit(rows, tables_of(model)) for rows in observed.draw.rows]
    return [MeasuredFit(observed.measurements, cells)]


def choice_of(observed: Observed) -> Choice | None:
    """Return the choice among candidates, if an output is one."""
    return observed.evidence if isinstance(observed.evidence, Choice) else None


def near_sums(observed: Observed) -> Normalised | None:
    """Return an approximation of the likelihood of a choice, if there is no other way."""
    choice = choice_of(observed)
    return None if choice is None else choice.near_sums()


def unreadable(observed: Observed) -> str | None:
    """Return why an output has no likelihood that chains can ask for, or None if it has one."""
    if any(not has_density(measurement.noise.structure) for measurement in observed.measurements):
        return "its noise has no density"
    if observed.draw is not None:
        return drawn_refusal(observed.draw.rows) if observed.draw.rows else "its draws are not rows of probabilities"
    return None if observed.measurements else observed.likelihood_refusal


def rough(observed: Observed) -> str | None:
    """Return why the likelihood of a choice is known only roughly, or None if it is known."""
    return None if near_sums(observed) is None else too_many(observed)


def too_many(observed: Observed) -> str:
    """Say that candidates are too many."""
    cells, size = observed.mechanism.space.length, sized(observed.mechanism).size
    return (
        f"the likelihood is a sum over all candidates of {size} records in {cells} cells, too many to evaluate "
        "repeatedly: ask for fewer cells or records, or publish noisy counts, which can be read at any size"
    )


def operations_of(observed: Observed) -> float:
    """Return about how many operations the likelihood of one row of counts takes."""
    if observed.draw is not None:
        return drawn_operations(observed.draw.rows)
    return sum(cost.operations for cost in observed.costs)
