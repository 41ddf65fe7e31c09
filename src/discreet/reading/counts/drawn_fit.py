"""Drawn rows of probabilities as evidence about counts, in floats and for many counts at once.

A row drawn from Dirichlet(alpha + tau k) by breaking a stick says P(cells of its sticks | k): stick i is Beta(a, b), a
the shape of its own cell and b that of all later ones. On a fine grid a cell has the mass of its middle but near zero
and one, where the factors of `drawn` make up for it; on a coarse one it is a difference of distribution functions. If
no probability may be below w, what was cut off depends on the counts: the likelihood is divided by P(all theta_i >= w),
which `kept_mass` computes.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy.special import betaln, polygamma, psi

from discreet.arrays import Counts, Floats
from discreet.mechanisms.evidence import DrawnRows
from discreet.mechanisms.posterior_grid import truncated_stick
from discreet.reading.counts.fits import Fit, Tables, margins_of
from discreet.reading.counts.kept_mass import chance_slopes, log_chance_above, log_mass
from discreet.reading.drawn import FINE_GRID, log_end_factor

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
    """Tell why drawn rows cannot be read in floats, or nothing if they can."""
    if any(each.least and len(each.alpha) > 2 and each.grid_bits < FINE_GRID for each in rows):
        return f"truncated draws of several levels can only be read from a grid of {FINE_GRID} bits or more"
    return None
