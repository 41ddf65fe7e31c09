"""The likelihood of drawn probabilities: noisy information about the counts behind them.

A published draw is not the posterior; taking it for the truth, or for one of the reader's own draws, ignores how it was
made. A row drawn from Dirichlet(alpha + tau k) has, as a function of the true counts k, the density

    Gamma(sum alpha + tau n) prod_x theta_x^(tau k_x) / Gamma(alpha_x + tau k_x),      n = sum_x k_x,

a product over cells but for a factor of the total; so it is read as noisy counts are. What is published is a cell of a
grid, stick by stick. Its middle stands for all of it but near zero and one: there cell j of a stick v ~ Beta(a, b) has
the mass ((j + 1)^a - j^a) / (a (j + 1/2)^(a - 1)) times that of its middle, and likewise with b from the other end.
That a is the shape of one cell's count, so this is a factor of the product. b is the shape of one count for the last
stick only; for an earlier one at the far end, a rare thing, its logarithm is made linear in b around what is expected.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from discreet._core.arrays import Counts, Floats
from discreet.mechanism import DrawnRows

Found = TypeVar("Found")

FINE_GRID = 16
"""From this many bits on, the density in the middle of a grid cell gives its mass, except at the ends."""

LINEAR = "read exactly, except that the mass in the outermost cells of a grid was taken as linear"
_NEGLIGIBLE = 1e-6  # negligible error of a log likelihood
_ROUNDS = 4


class RowKernel:
    """The likelihood of the draws of one row of probabilities, a product over the row's cells.

    `expected` are roughly the true counts of the row; they matter only where `is_linear`. A caller that knows all
    counts of the row at once leaves that part out (`linear` is False) and adds `log_far`.
    """

    def __init__(
        self, rows: DrawnRows, row: int, size: int, expected: Floats | None = None, linear: bool = True
    ) -> None:
        self.alpha, self.power, self.draws = rows.alpha, float(rows.power), rows.draws
        sticks = rows.sticks[:, row]
        self.theta = rows.probabilities[:, row]
        self._logs = np.log(self.theta).sum(axis=0)
        self._ends = StickEnds(sticks, rows.grid_bits)
        far = self._ends.far(self.alpha, self.power, size, expected) if linear else None
        self.is_linear = far is not None
        shift, self._slopes = (0.0, np.zeros(len(self.alpha))) if far is None else far
        jacobian = np.log1p(-np.cumsum(self.theta, axis=1)[:, :-2]).sum()  # from theta to sticks
        width = -self.draws * sticks.shape[1] * rows.grid_bits * np.log(2.0)
        self.log_constant = float(((self.alpha - 1) * self._logs).sum() + jacobian + width + shift)

    def __call__(self, indices: Counts, counts: Counts | Floats) -> Floats:
        """Return the log factor of given cells at given counts."""
        shapes = self.alpha[indices] + self.power * counts
        product = (self.power * self._logs[indices] + self._slopes[indices]) * counts - self.draws * gammaln(shapes)
        return np.asarray(product + self._ends.log_factors(indices, shapes))

    def log_far(self, counts: Counts) -> Floats:
        """Return the log factor of early sticks at the far end, for rows of all counts of the row."""
        return self._ends.log_far(self.alpha, self.power, counts)

    def log_total(self, totals: ArrayLike) -> Floats:
        """Return the log factor of the row's total."""
        return np.asarray(self.draws * gammaln(self.alpha.sum() + self.power * np.asarray(totals, dtype=float)))


class StickEnds:
    """How far the mass of the cells of drawn sticks is from what their middles say; axes of cells (draws, sticks)."""

    def __init__(self, cells: Counts, grid_bits: int) -> None:
        ends = (1 << grid_bits) - 1 - cells
        self._near = np.concatenate([cells, ends[:, -1:]], axis=1)  # the last cell has what the last stick leaves
        self._ends = ends[:, :-1]

    def log_factors(self, indices: Counts, shapes: Floats) -> Floats:
        """Return the sum over draws of the log factor of given cells (of the table) with given shapes."""
        return np.asarray(sum(log_end_factor(near[indices], shapes) for near in self._near))

    def log_far(self, alpha: Floats, power: float, counts: Counts) -> Floats:
        """Return the sum over draws and early sticks of the log factor of the far end, exactly."""
        shapes = np.cumsum((alpha + power * counts)[..., ::-1], axis=-1)[..., ::-1][..., 1:-1]
        return np.asarray(sum(log_end_factor(ends, shapes).sum(axis=-1) for ends in self._ends))

    def far(self, alpha: Floats, power: float, size: int, expected: Floats | None) -> tuple[float, Floats] | None:
        """Return a shift and each cell's slope by its count for early sticks at the far end, if there are any."""
        rests = np.cumsum(alpha[::-1])[::-1][1:-1]
        worst = np.maximum(*(abs(log_end_factor(self._ends, rests + more)) for more in (0.0, power * size)))
        if not (worst > _NEGLIGIBLE).any():
            return None
        counts = np.zeros(len(alpha)) if expected is None else expected
        shift, slopes = 0.0, np.zeros(len(alpha))
        for draw, stick in np.argwhere(worst > _NEGLIGIBLE):
            later = float(counts[stick + 1 :].sum())
            cell, shape, step = self._ends[draw, stick], float(rests[stick]) + power * later, 1e-6
            value = float(log_end_factor(cell, shape))
            slope = power * float(log_end_factor(cell, shape + step) - value) / step
            shift += value - slope * later
            slopes[stick + 1 :] += slope
        return shift, slopes


def until_settled(read: Callable[[Floats | None], tuple[Found, Floats]], is_linear: bool) -> Found:
    """Return what `read(expected counts)` gives; where factors were linearised, around its own result."""
    found, expected = read(None)
    for _ in range(_ROUNDS if is_linear else 0):
        found, following = read(expected)
        if np.abs(following - expected).max() < 1e-6 * (1 + np.abs(expected).max()):
            break
        expected = following
    return found


def log_end_factor(cells: Counts, shapes: Floats | float) -> Floats:
    """Return log ((1 + h)^a - (1 - h)^a) / (2 h a), h = 1 / (2 j + 1): the mass of cell j over that of its middle."""
    half = 1 / (2.0 * cells + 1)
    with np.errstate(divide="ignore"):
        width = 2 * np.arctanh(half)
    return np.asarray(shapes * np.log1p(half) + np.log(-np.expm1(-shapes * width)) - np.log(2 * half * shapes))


def coarse(rows: Sequence[DrawnRows]) -> str | None:
    """Return why drawn rows are no product over cells, or None if they are."""
    if any(each.least for each in rows):
        return (
            "the likelihood of truncated draws does not factor over cells, because what was cut off depends on whole "
            "rows"
        )
    if any(each.grid_bits < FINE_GRID for each in rows):
        return f"drawn probabilities can only be read from a grid of {FINE_GRID} bits or more"
    return None


class DrawnCells:
    """Draws of the probabilities of all cells."""

    classes: Counts | None = None  # two of them are hardly ever equal

    def __init__(self, rows: DrawnRows, size: int, expected: Floats | None) -> None:
        self._row = RowKernel(rows, 0, size, expected)
        self.is_linear = self._row.is_linear
        middle = np.clip(self._row.theta.mean(axis=0) * size, 0, size)
        self.low = self.high = middle.astype(np.int64)
        self.reach = float(np.sqrt(size)) / 20 + 0.1
        self.log_constant = self._row.log_constant + float(self._row.log_total(size))

    def __call__(self, indices: Counts, counts: Counts) -> Floats:
        """Return the log factor of given cells at given counts."""
        return self._row(indices, counts)
