"""What the mechanisms for networks share: a linear measurement of the counts, plus integer noise.

The output is z = A k + u, where k are the cells of the maximal families, A is a public matrix of whole numbers and the
law of u does not depend on k. Each mechanism says what it measures and with which noise.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import DeclarationError
from discreet.exact import Exact, exact, exact_text, positive, whole
from discreet.mechanisms.additive import Additive
from discreet.mechanisms.mechanism import Counts, Floats, Mechanism
from discreet.mechanisms.noisy_counts import within_bounds
from discreet.mechanisms.quantities import Quantities
from discreet.mechanisms.tables import FamilyTables
from discreet.models.network import Network


@dataclass(frozen=True, init=False)
class NetworkCounts(Additive):
    """Noisy counts of a network: `model` is the network, `size` the public number of records."""

    model: Network
    size: int
    epsilon: Fraction

    def __init__(self, model: Network, size: int, epsilon: Exact) -> None:
        if not isinstance(model, Network):
            raise DeclarationError(f"{type(self).__name__} publishes counts of a Network; got {type(model).__name__}.")
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "size", whole(size, "size"))
        object.__setattr__(self, "epsilon", within_bounds(positive(epsilon, "epsilon"), "epsilon"))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r}, size={self.size}, epsilon={exact_text(self.epsilon)!r})"

    @cached_property
    def quantities(self) -> Quantities:
        """Return the tables of all maximal families."""
        return FamilyTables(self.model, self.model.maximal_families)

    def checked(self, counts: ArrayLike) -> Counts:
        """Return made-up counts as an array; every family must sum to the public size."""
        table = self.model.counts(counts)
        if any((t.reshape(*table.shape[:-1], -1).sum(axis=-1) != self.size).any() for t in self.model.split(table)):
            raise DeclarationError(f"The counts of every family must sum to the public size {self.size}.")
        return table

    def log_noise(self, noise: Counts) -> Floats:
        """Return the logarithm of the probability of rows of noise."""
        return self.noise.log_probability(noise)

    def count_sd(self) -> float:
        """Return the standard deviation of the noise on a cell whose row total is known, for the noisiest table.

        That of u_x less the mean of its row: noise that sums to zero is exchangeable, with a covariance below zero.
        """
        tables = self.quantities.tables or ()
        first, found = 0, []
        for names, cells, keeps in zip(tables, self.noise.blocks, self.noise.keeps_totals, strict=True):
            share = (1 - 1 / self.model.shape(names)[-1]) * (1 + 1 / (cells - 1) if keeps else 1)
            found.append(float(self.noise.variance[first]) * share)
            first += cells
        return sqrt(max(found))


def default_mechanism(network: Network, size: int, epsilon: Exact, delta: Exact = 0) -> tuple[Mechanism, str]:
    """Return the mechanism that suits a network, and why in words. Only declarations are looked at, never records."""
    from discreet.mechanisms.family_gaussians import FamilyGaussians

    pure, why = _pure_default(network, size, epsilon)
    if exact(delta, "delta") == 0:
        return pure, why
    gaussian = FamilyGaussians(network, size, epsilon, delta)
    sds = f"{gaussian.count_sd():.3g} against {pure.count_sd():.3g} with {type(pure).__name__}"
    if gaussian.count_sd() < pure.count_sd():
        return gaussian, f"with the stated delta, Gaussian noise is smaller: standard deviation of a count {sds}"
    return pure, f"{why}; the stated delta is not needed, as Gaussian noise would be larger ({sds})"


def _pure_default(network: Network, size: int, epsilon: Exact) -> tuple[NetworkCounts, str]:
    from discreet.mechanisms.cube_counts import CubeCounts, cube_refusal
    from discreet.mechanisms.family_histograms import FamilyHistograms
    from discreet.mechanisms.joint_histograms import JointHistograms, joint_refusal

    if cube_refusal(network) is None:
        return CubeCounts(network, size, epsilon), "yes/no variables about the same people: their influence is a cube"
    cells = [int(np.prod(network.shape(family))) for family in network.maximal_families]
    if len(cells) > 1 and max(cells) <= 2 * min(cells) and joint_refusal(network) is None:
        return JointHistograms(network, size, epsilon), "the tables have similar sizes: one radius for all of them"
    return FamilyHistograms(network, size, epsilon), "each table with its own share: a small one need not suffer"
