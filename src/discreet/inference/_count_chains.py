"""Chains through normal coordinates of all tables: they follow smooth slopes, and decide by the whole numbers.

The distribution of the coordinates q is e^(-q.q/2) times the weight of the map to whole numbers times P(outputs |
counts). A chain starts with a random velocity and goes along slopes of a smooth stand-in (Hamiltonian Monte Carlo).
Each step shears, whatever the slope is, so going to q' is accepted with min(1, distribution(q') / distribution(q) e^(K
- K')) by the exact distribution, and the posterior is exact in the limit. One record changes log P by epsilon at most,
so rounding costs the less the more private a release is. Velocities have the metric H = I + mean of J'
diag(information) J over some chains, J the derivatives of the measured numbers by q, made to fit the chains' own
spread. Every chain starts from its own draw and shares nothing but step and metric with the others, so what their means
differ by estimates their error.
"""

from collections.abc import Sequence
from typing import cast

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet.inference._fits import Fit
from discreet.inference._normal_coordinates import Coordinates

_GOAL = 0.55  # target share of accepted moves: rounding alone costs a quarter, so no more is asked for
_POINTS = 8  # chains at which the metric is computed
_BATCH = 256  # measured numbers whose derivatives are computed at a time
_LONGEST = 40  # most steps of a move
_NARROWEST, _WIDEST = 0.5, 1.5  # how much the chains' spread may change the metric


class CountChains:
    """Chains side by side; `power` tempers the likelihood, 1 being the posterior and 0 the prior."""

    def __init__(
        self,
        coordinates: Coordinates,
        fit: Fit,
        maximal: Sequence[int],
        q: Floats,
        generator: np.random.Generator,
        power: float = 1.0,
    ) -> None:
        self._coordinates, self._fit, self._maximal, self._generator = coordinates, fit, list(maximal), generator
        self.q, self.power, self.step = q, power, 0.2
        self.tables, self.weights, self.fits = self._evaluated(q)
        self._root = self._inverse = np.eye(len(q))  # R with R R' = the metric, and the metric's inverse

    def _evaluated(self, q: Floats) -> tuple[list[Counts], Floats, Floats]:
        """Return the tables, the prior's log density and the log likelihood."""
        found, weights = self._coordinates.whole(q)
        tables = [table.astype(np.int64) for table in self._coordinates.in_order(found)]
        return (
            tables,
            weights - 0.5 * np.einsum("ij,ij->j", q, q),
            self._fit.log_likelihood(cast(Counts, self._cells(tables))),
        )

    def _cells(self, tables: Sequence[Floats] | Sequence[Counts]) -> Floats:
        return np.concatenate([tables[v].reshape(-1, tables[v].shape[-1]) for v in self._maximal])

    def _by_table(self, cells: Floats, tables: Sequence[Floats]) -> list[Floats | None]:
        """Return slopes by the cells of each maximal family as tables."""
        found: list[Floats | None] = [None] * len(tables)
        first = 0
        for v in self._maximal:
            rows, levels, _ = tables[v].shape
            found[v] = cells[first : first + rows * levels].reshape(rows, levels, cells.shape[-1])
            first += rows * levels
        return found

    def _force(self, q: Floats) -> Floats:
        tape = self._coordinates.smooth(q)
        tables = self._coordinates.in_order(tape.tables)
        slope = self.power * self._fit.slope(self._cells(tables))
        return self._coordinates.slopes(tape, self._by_table(slope, tables)) - q

    def move(self, time: float, gain: float = 0.0) -> float:
        """Move all chains for about this long; return the share accepted. A positive gain tunes the step."""
        step = self.step * self._generator.uniform(0.8, 1.2)
        steps = int(np.clip(round(time * self._generator.uniform(0.6, 1.4) / step), 1, _LONGEST))
        normals = self._generator.standard_normal(self.q.shape)
        energy = 0.5 * np.einsum("ij,ij->j", normals, normals)
        q, momentum = self.q, self._root @ normals + 0.5 * step * self._force(self.q)
        for number in range(steps):
            q = q + step * (self._inverse @ momentum)
            momentum = momentum + (0.5 if number == steps - 1 else 1.0) * step * self._force(q)
        energy = energy - 0.5 * np.einsum("ij,ij->j", momentum, self._inverse @ momentum)
        share = self._judge(q, energy)
        self.step = float(np.clip(self.step * np.exp(gain * (share - _GOAL)), 1e-3, 1.0))
        return share

    def _judge(self, q: Floats, energy: Floats) -> float:
        """Go to q or stay, by the exact distribution; return the mean probability of going."""
        tables, weights, fits = self._evaluated(q)
        with np.errstate(invalid="ignore"):
            change = weights - self.weights + self.power * (fits - self.fits) + energy
        chances = np.exp(np.minimum(np.nan_to_num(change, nan=-np.inf), 0.0))
        taken = self._generator.random(len(chances)) < chances
        self.q = np.where(taken, q, self.q)
        self.weights, self.fits = np.where(taken, weights, self.weights), np.where(taken, fits, self.fits)
        self.tables = [np.where(taken, new, old) for new, old in zip(tables, self.tables, strict=True)]
        return float(chances.mean())

    def nudge(self) -> None:
        """Rotate one coordinate of each chain towards a random one: q -> q cos t + x sin t, x normal.

        No slope is followed, so this helps where single records matter: it goes from whole number to whole number.
        """
        length, chains = self.q.shape
        own = self._generator.integers(length, size=chains), np.arange(chains)
        angles = self._generator.uniform(0, np.pi, size=chains)
        q = self.q.copy()
        q[own] = q[own] * np.cos(angles) + self._generator.standard_normal(chains) * np.sin(angles)
        self._judge(q, 0.5 * (q[own] ** 2 - self.q[own] ** 2))  # the proposal keeps the normal distribution by itself

    def learn_metric(self, rescaled: bool) -> None:
        """Compute the metric near the chains; `rescaled` makes it fit their spread."""
        from scipy.linalg import cholesky, solve_triangular  # slow to import

        length, chains = self.q.shape
        metric = np.eye(length)
        points = np.unique(np.linspace(0, chains - 1, min(_POINTS, chains)).astype(int))
        for point in points:
            tape = self._coordinates.smooth(self.q[:, point : point + 1])
            tables = self._coordinates.in_order(tape.tables)
            rows, known = self._fit.directions(self._cells(tables)[:, 0])
            for first in range(0, len(rows), _BATCH):
                own = slice(first, first + _BATCH)
                derivatives = self._coordinates.slopes(tape, self._by_table(rows[own].T, tables))
                metric += (derivatives * (self.power / len(points) * known[own])) @ derivatives.T
        root = cholesky(metric, lower=True)
        inverse = solve_triangular(root, np.eye(length), lower=True)
        inverse = inverse.T @ inverse
        if rescaled:
            spread = np.sqrt(np.diag(inverse) / np.maximum(self.q.var(axis=1, ddof=1), 1e-12))
            scale = np.clip(spread, _NARROWEST, _WIDEST)
            root, inverse = root * scale[:, None], inverse / np.outer(scale, scale)
        self._root, self._inverse = root, inverse

    def pick(self, indices: Counts) -> None:
        """Go on from some of the chains, with repetition."""
        self.q, self.weights, self.fits = self.q[:, indices], self.weights[indices], self.fits[indices]
        self.tables = [table[..., indices] for table in self.tables]
