"""LaplaceUpdates: algorithm 1 of Zhang, Rubinstein and Dimitrakakis (2016), with integer noise.

Every cell of the table of *every* family, maximal or not, gets independent noise. A replaced record moves two cells of
each of the |I| tables by one, so the l1 sensitivity is 2 |I| and

    P(z | k) = prod_cells tanh(r/2) e^(-r |z - k|),   r = epsilon / (2 |I|),

is pure epsilon-differentially private, and tight. The published algorithm then cuts the noisy counts to [0, n] and
takes them for true; that is left to the reader (`truncated`), because it throws information away.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod

import numpy as np

from discreet._core.arrays import Counts
from discreet._core.exact import Exact
from discreet.mechanism import within_bounds
from discreet.networks import Network, NetworkCounts
from discreet.networks._fourier_counts import unit_moves_rho
from discreet.networks._measured_tables import FamilyCounts
from discreet.noise import Laplace


@dataclass(frozen=True, init=False, repr=False)
class LaplaceUpdates(NetworkCounts, kind="LaplaceUpdates", version=2):
    """Every cell of every family table with its own noise, in the order of the variables: pure epsilon-DP.

    >>> net = Network.from_edges("a -> b", levels={"a": ("no", "yes"), "b": ("no", "yes")}, outside="no")
    >>> LaplaceUpdates(net, size=100, epsilon=1).space.length
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
    def reason(self) -> str:
        return f"discrete Laplace noise on {len(self.model.variables)} family tables, l1 sensitivity 2 for each"

    @cached_property
    def quantities(self) -> FamilyCounts:
        return FamilyCounts(self.model, self.model.families)

    @cached_property
    def noise(self) -> Laplace:
        """Return independent Laplace noise of one rate."""
        blocks = self.quantities.blocks
        return Laplace((self.rate,) * len(blocks), blocks)

    @property
    def rho(self) -> Fraction:
        return unit_moves_rho(self.quantities, self.noise)

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

    def cell_sd(self) -> float:
        """Return the standard deviation of the noise in a cell, sqrt(2 p) / (1 - p) with p = e^-r."""
        return float(np.sqrt(self.noise.variance[0]))
