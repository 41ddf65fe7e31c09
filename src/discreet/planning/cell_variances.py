"""How noisy the cells of a network's tables are, once all that was released is put together with the known size.

Tables that overlap measure some things twice, and the number of records is public. The best linear unbiased estimate
uses both (generalised least squares). In contrasts it has a closed form: noise of variance s_S in every cell of a table
S measures the contrasts of a block g in S, in units of |h_a|^2, with the variance s_S prod_{i in S, not g} K_i, all of
them independently; so precisions add,

    1 / v_g = sum over released tables S around g of 1 / (s_S prod_{i in S, not g} K_i),

and a cell of the table S has the variance sum_{g in S} v_g prod_{i in g} (1 - 1/K_i) prod_{i in S, not g} K_i^-2.
"""

from collections.abc import Mapping
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DeclarationError
from discreet.mechanisms import (
    ContrastGaussians,
    CubeCounts,
    FamilyGaussians,
    FamilyHistograms,
    FourierCounts,
    FourierUpdates,
    JointHistograms,
    LaplaceUpdates,
    NetworkCounts,
)
from discreet.mechanisms.contrasts import contrast_basis
from discreet.models.network import Family, Network
from discreet.noise.zero_sum import histogram_variance

Floats = NDArray[np.float64]


def cell_variances(mechanism: NetworkCounts) -> dict[str, float]:
    """Return the variance of the noise in a cell of each variable's table, after least squares; no data are looked at.

    It is the same for all cells of a table.
    """
    if isinstance(mechanism, CubeCounts):
        return _cube(mechanism)
    if isinstance(mechanism, FourierCounts | FourierUpdates | ContrastGaussians):
        return variances_of_cells(mechanism.model, mechanism.block_variances())
    return variances_of_cells(mechanism.model, fitted_blocks(mechanism.model, _released(mechanism)))


def fitted_blocks(network: Network, tables: Mapping[Family, float]) -> Floats:
    """Return v_g of each block after least squares, from released tables with noise of one variance in every cell.

    Noise that is conditioned to sum to zero over a table is meant by its variance before, as the total is known.
    """
    basis = contrast_basis(network)
    precisions = np.zeros(len(basis.blocks))
    for family, variance in tables.items():
        levels = dict(zip(family, network.shape(family), strict=True))
        for block in basis.within(family):
            rest = prod(count for name, count in levels.items() if name not in block)
            precisions[basis.places[block]] += 1 / (variance * rest)
    if (precisions == 0).any():
        raise DeclarationError("These tables do not determine the tables of all families.")
    return np.asarray(1 / precisions)


def variances_of_cells(network: Network, blocks: Floats) -> dict[str, float]:
    """Return the variance of a cell of each variable's table, from v_g of each block and a known size."""
    basis, values = contrast_basis(network), blocks.tolist()
    return {family[-1]: basis.cell_variance(family, values) for family in network.families}


def mean_cell_variance(network: Network, variances: Mapping[str, float]) -> float:
    """Return the average over all cells of the tables of all families."""
    cells = {family[-1]: prod(network.shape(family)) for family in network.families}
    return sum(variances[name] * count for name, count in cells.items()) / sum(cells.values())


def _released(mechanism: NetworkCounts) -> dict[Family, float]:
    """Return the variance of the noise in the cells of each released table; with a kept total, before conditioning.

    Noise u with exchangeable cells that sums to zero is that of independent cells of variance var(u) m / (m - 1), less
    their mean.
    """
    network = mechanism.model
    if isinstance(mechanism, LaplaceUpdates):
        return dict.fromkeys(network.families, mechanism.cell_sd() ** 2)
    if isinstance(mechanism, FamilyGaussians):
        return dict.fromkeys(network.maximal_families, float(mechanism.variance))
    sizes = {family: prod(network.shape(family)) for family in network.maximal_families}
    if isinstance(mechanism, FamilyHistograms):
        parts = dict(zip(network.maximal_families, mechanism.family_epsilons, strict=True))
        return {f: histogram_variance(m, float(parts[f])) * m / (m - 1) for f, m in sizes.items()}
    if isinstance(mechanism, JointHistograms):
        own = {m: mechanism.cell_variance(m) for m in set(sizes.values())}
        return {f: own[m] * m / (m - 1) for f, m in sizes.items()}
    raise DeclarationError(f"The variances of cells are not known for {type(mechanism).__name__}.")


def _cube(mechanism: CubeCounts) -> dict[str, float]:
    """Return those of cube noise: a count is (n_y +- s) / 2, and s says nothing about n_y."""
    network, count = mechanism.model, mechanism.count_sd() ** 2
    if network.target is None:
        return {variable.name: count for variable in network.variables}
    classes = histogram_variance(mechanism.classes, float(mechanism.class_epsilon))
    return {v.name: classes if v.name == network.target else classes / 4 + count for v in network.variables}
