"""Drawn rows of probabilities as evidence about counts, in floats and for many counts at once.

A row drawn from Dirichlet(alpha + tau k) by breaking a stick says P(cells of its sticks | k): stick i is Beta(a, b), a
the shape of its own cell and b that of all later ones. On a fine grid a cell has the mass of its middle but near zero
and one, where the factors of `drawn` make up for it; on a coarse one it is a difference of distribution functions. If
no probability may be below w, what was cut off depends on the counts: the likelihood is divided by P(all theta_i >= w),
one integral for each further level.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy.special import betainc, betaln, polygamma, psi

from discreet.arrays import Counts, Floats
from discreet.mechanisms.evidence import DrawnRows
from discreet.mechanisms.posterior_grid import broken_sticks
from discreet.mechanisms.tables import FamilyTables
from discreet.mechanisms.truncation import Truncation
from discreet.models import Categories
from discreet.models.network import Network
from discreet.reading.counts.fits import Fit, linear_map
from discreet.reading.drawn import FINE_GRID, log_end_factor

MOST_LEVELS = 3
"""Truncated rows of more levels are not read: their integrals are nested."""

_NODES, _FEW_NODES = 40, 10  # of each integral over a stick; fewer for slopes
_REACH = 9.0  # standard deviations that an integral goes through


class DrawnFit(Fit):
    """Draws of all rows of one table."""

    def __init__(self, rows: DrawnRows, model: Network | Categories) -> None:
        self._rows, self._levels = rows, len(rows.alpha)
        cells = rows.count * self._levels
        if isinstance(model, Network):
            tables = FamilyTables(model, (rows.names,))
            self._matrix = linear_map(tables.apply, model.cells)
        else:
            self._matrix = linear_map(lambda counts: counts, cells)
        units = (rows.sticks + 0.5) / 2.0**rows.grid_bits
        self._units = np.asarray(units, dtype=float)
        self._logs = np.log(np.maximum(broken_sticks(self._units), 1e-300)).sum(axis=0)  # (rows, levels)
        self._truncation = Truncation(self._levels, Fraction(rows.least).limit_denominator(2**60), rows.grid_bits)

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

    def _log_kept(self, shapes: Floats, nodes: int = _NODES) -> Floats:
        """Return log P(all theta >= least) of every row, (rows, chains)."""
        if self._levels == 2:
            first, last = self._truncation.ends
            return log_mass(shapes[:, 0], shapes[:, 1], first, last)
        return np.log(np.maximum(chance_above(shapes.swapaxes(0, 1), self._rows.least, nodes), 1e-300))

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
        found, kept = np.empty_like(shapes), self._log_kept(shapes, _FEW_NODES)
        for level in range(self._levels):
            moved, step = shapes.copy(), 1e-3 * (1 + shapes[:, level])
            moved[:, level] += step
            found[:, level] = (self._log_kept(moved, _FEW_NODES) - kept) / step
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
        integrals = float(_NODES) ** (levels - 2) if each.least else 0.0
        found += each.count * (100.0 * levels * each.draws + 200.0 * integrals)
    return found


def drawn_refusal(rows: Sequence[DrawnRows]) -> str | None:
    """Tell why drawn rows cannot be read in floats, or nothing if they can."""
    if any(each.least and len(each.alpha) > MOST_LEVELS for each in rows):
        return f"truncated draws of more than {MOST_LEVELS} levels are not read, as what was cut off is a long integral"
    if any(each.least and len(each.alpha) > 2 and each.grid_bits < FINE_GRID for each in rows):
        return f"truncated draws of several levels are read from a grid of {FINE_GRID} bits or more"
    return None


def log_mass(a: Floats, b: Floats, low: Floats | float, high: Floats | float) -> Floats:
    """Return log P(low <= Beta(a, b) <= high), from the nearer end; far out by the slope of the log density."""
    upper = np.asarray(low) > a / (a + b)
    with np.errstate(divide="ignore", invalid="ignore"):
        below = betainc(a, b, high) - betainc(a, b, low)
        above = betainc(b, a, 1 - np.asarray(low)) - betainc(b, a, 1 - np.asarray(high))
        found = np.where(upper, above, below)
        logs = np.log(found)
        edge = np.where(upper, low, high)
        slope = np.abs((a - 1) / edge - (b - 1) / (1 - edge))
        density = (a - 1) * np.log(edge) + (b - 1) * np.log1p(-edge) - betaln(a, b)
        far = density + np.log(-np.expm1(-slope * (np.asarray(high) - low))) - np.log(slope)
    return np.where(found > 1e-290, logs, far)


def chance_above(shapes: Floats, least: float | Floats, nodes: int = _NODES) -> Floats:
    """Return P(all theta_i >= least) for Dirichlet shapes, axes (levels, ...): one integral for each level beyond two.

    P_m(w) = int_w^(1 - (m-1) w) Beta(t; a_1, a_2 + ... + a_m) P_(m-1)(w / (1 - t)) dt.
    """
    levels, w = len(shapes), np.asarray(least, dtype=float)
    a, b = shapes[0], shapes[1:].sum(axis=0)
    if levels == 2:
        inside = np.clip(w, 0.0, 0.5)
        return np.asarray(np.where(w < 0.5, betainc(a, b, 1 - inside) - betainc(a, b, inside), 0.0))
    mean, sd = a / (a + b), np.sqrt(a * b / (a + b + 1)) / (a + b)
    low, high = np.maximum(w, mean - _REACH * sd), np.minimum(1 - (levels - 1) * w, mean + _REACH * sd)
    wide = np.maximum(high - low, 0.0)
    points, weights = np.polynomial.legendre.leggauss(nodes)
    axes = (1,) * wide.ndim
    t = np.clip(low + wide * (points.reshape(-1, *axes) + 1) / 2, 1e-300, 1 - 1e-16)
    density = np.exp((a - 1) * np.log(t) + (b - 1) * np.log1p(-t) - betaln(a, b))
    later = np.broadcast_to(shapes[1:, None], (levels - 1, len(t), *shapes.shape[1:]))
    rest = chance_above(later, w / (1 - t), nodes)
    return np.asarray((weights.reshape(-1, *axes) * density * rest).sum(axis=0) * wide / 2)
