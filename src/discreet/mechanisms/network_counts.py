"""What the mechanisms for networks share: a linear measurement of the counts, plus integer noise.

The output is z = A k + u, where k are the cells of the maximal families, A is a public matrix of whole numbers and the
law of u does not depend on k. Each mechanism says what it measures and with which noise.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt

from numpy.typing import ArrayLike

from discreet.arrays import Counts, Floats
from discreet.errors import DeclarationError
from discreet.exact import Exact, positive, whole
from discreet.mechanisms.additive import Additive, within_bounds
from discreet.mechanisms.quantities import Quantities
from discreet.mechanisms.tables import FamilyTables
from discreet.models.network import Network
from discreet.noise.structure import preserved


@dataclass(frozen=True, init=False, repr=False)
class NetworkCounts(Additive[Network]):
    """Noisy counts of a network: `model` is the network, `size` the public number of records."""

    model: Network
    size: int
    epsilon: Fraction

    def __init__(self, model: Network, size: int, epsilon: Exact) -> None:
        if not isinstance(model, Network):
            raise DeclarationError(
                f"{type(self).__name__} publishes the counts of a Network; got a {type(model).__name__}."
            )
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "size", whole(size, "size"))
        object.__setattr__(self, "epsilon", within_bounds(positive(epsilon, "epsilon"), "epsilon"))

    @cached_property
    def quantities(self) -> Quantities:
        return FamilyTables(self.model, self.model.maximal_families)

    def checked(self, counts: ArrayLike) -> Counts:
        """Return made-up counts as an array; every family must add up to the public size."""
        table = self.model.counts(counts)
        if any((t.reshape(*table.shape[:-1], -1).sum(axis=-1) != self.size).any() for t in self.model.split(table)):
            raise DeclarationError(f"The counts of every family must add up to the public size {self.size}.")
        return table

    def log_noise(self, noise: Counts) -> Floats:
        """Return the logarithm of the probability of rows of noise."""
        return self.noise.log_prob(noise)

    def count_deviations(self) -> dict[str, float]:
        """Return standard deviations of the noise of counts, by name, for whoever plans a release."""
        return {"count_sd": self.count_sd()}

    def count_sd(self) -> float:
        """Return the standard deviation of the noise on a cell whose row total is known, for the noisiest table.

        It is that of u_x minus the mean of its row: noise that sums to zero is exchangeable, with negative covariance.
        """
        tables = self.quantities.tables or ()
        first, found = 0, []
        for names, cells, keeps in zip(tables, self.noise.blocks, preserved(self.noise.structure), strict=True):
            share = (1 - 1 / self.model.shape(names)[-1]) * (1 + 1 / (cells - 1) if keeps else 1)
            found.append(float(self.noise.variance[first]) * share)
            first += cells
        return sqrt(max(found))
