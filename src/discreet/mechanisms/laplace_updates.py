"""LaplaceUpdates: algorithm 1 of Zhang, Rubinstein and Dimitrakakis (2016), with integer noise.

Every cell of the table of *every* family, maximal or not, gets independent noise. A replaced record moves two cells of
each of the |I| tables by one, so the l1 sensitivity is 2 |I| and

    P(z | k) = prod_cells tanh(r/2) e^(-r |z - k|),   r = epsilon / (2 |I|),

is pure epsilon-differentially private, and tight. The published algorithm then cuts the noisy counts to [0, n] and
takes them for true; that is left to the reader (`truncated`), because it throws information away.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb, log, prod, sqrt, tanh

import numpy as np
from flint import arb, ctx

from discreet.certificates import PrivacyLoss
from discreet.exact import Exact, ball
from discreet.guarantees.guarantee import Guarantee
from discreet.mechanisms.network_counts import Counts, Floats, NetworkCounts, upper_float, within_bounds
from discreet.models.network import Network
from discreet.randomness import RandomBits, discrete_laplace


@dataclass(frozen=True, init=False, repr=False)
class LaplaceUpdates(NetworkCounts, kind="LaplaceUpdates"):
    """Every cell of every family table with its own noise, in the order of the variables: pure epsilon-DP.

    >>> net = Network.from_edges("a -> b", levels={"a": ("no", "yes"), "b": ("no", "yes")})
    >>> LaplaceUpdates(net, size=100, epsilon=1).length
    6
    """

    def __init__(self, model: Network, size: int, epsilon: Exact) -> None:
        super().__init__(model, size, epsilon)
        within_bounds(self.rate, "epsilon over twice the number of variables")

    @property
    def rate(self) -> Fraction:
        """Return the rate of the noise in each cell, epsilon / (2 |I|)."""
        return self.epsilon / (2 * len(self.model.variables))

    @property
    def guarantee(self) -> Guarantee:
        """Return pure epsilon, by the l1 sensitivity."""
        reason = f"discrete Laplace noise on {len(self.model.variables)} family tables, l1 sensitivity 2 for each"
        return Guarantee(self.epsilon, reason=reason)

    def privacy_loss(self) -> PrivacyLoss:
        """Return the exact loss of a record that changes in every family: 2 |I| independent ones of +-r.

        Each is + with probability 1/(1 + e^-r), so the number of those that are is binomial.
        """
        return loss_of_unit_moves(self.rate, 2 * len(self.model.variables))

    @property
    def rho(self) -> Fraction:
        """Return 2 |I| r^2 / 2: each of the moves is pure (Bun and Steinke, 2016)."""
        return len(self.model.variables) * self.rate**2

    @property
    def length(self) -> int:
        """Return the number of cells of all family tables."""
        return sum(prod(self.model.shape(family)) for family in self.model.families)

    @property
    def reach(self) -> float:
        """Return how many units of noise in one cell cost a factor e: 2 |I| / epsilon."""
        return float(1 / self.rate)

    def measured(self, counts: Counts) -> Counts:
        """Return the tables of all families, one after another."""
        tables = (self.model.table(variable.name, counts) for variable in self.model.variables)
        return np.concatenate([table.reshape(*counts.shape[:-1], -1) for table in tables], axis=-1)

    def tables(self, output: Counts) -> dict[str, Counts]:
        """Return the noisy table (parents..., variable) of each variable."""
        rows = np.asarray(output)
        shapes = [self.model.shape(family) for family in self.model.families]
        parts = np.split(rows, np.cumsum([prod(shape) for shape in shapes])[:-1], axis=-1)
        named = zip(self.model.variables, parts, shapes, strict=True)
        return {variable.name: part.reshape(*rows.shape[:-1], *shape) for variable, part, shape in named}

    def truncated(self, output: Counts) -> Counts:
        """Return the output cut to [0, n], as the published algorithm uses it."""
        return np.clip(np.asarray(output), 0, self.size)

    def noise(self, rows: int, bits: RandomBits) -> Counts:
        """Draw rows of independent noise."""
        return discrete_laplace(self.rate, rows * self.length, bits).reshape(rows, self.length)

    def log_noise(self, noise: Counts) -> Floats:
        """Return sum over cells of log tanh(r/2) - r |u|."""
        rate = float(self.rate)
        return np.asarray(np.abs(noise).sum(axis=-1) * -rate + self.length * log(tanh(rate / 2)))

    def cell_sd(self) -> float:
        """Return the standard deviation of the noise in a cell, sqrt(2 p) / (1 - p) with p = e^-r."""
        p = np.exp(-float(self.rate))
        return float(np.sqrt(2 * p) / -np.expm1(-float(self.rate)))

    def count_sd(self) -> float:
        """Return the standard deviation of a cell given its row total, sqrt(1 - 1/levels) of that of a cell."""
        levels = max(len(variable.levels) for variable in self.model.variables)
        return self.cell_sd() * sqrt(1 - 1 / levels)


@lru_cache(maxsize=32)
def loss_of_unit_moves(rate: Fraction, moves: int) -> PrivacyLoss:
    """Return the exact loss where so many numbers move by one under independent discrete Laplace noise of one rate."""
    with ctx.workprec(192):
        down = 1 / (1 + ball(rate).exp())
        chances = [arb(comb(moves, k)) * (1 - down) ** k * down ** (moves - k) for k in range(moves + 1)]
        probabilities = tuple(upper_float(chance) for chance in chances)
    return PrivacyLoss(tuple((2 * k - moves) * rate for k in range(moves + 1)), probabilities)
