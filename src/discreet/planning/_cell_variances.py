"""How noisy the cells of a network's tables are, once everything released is combined with the known size.

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

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError
from discreet.inference import Problem
from discreet.mechanism import Sized, conditionals_of, require_mechanism
from discreet.networks import Family, Network, contrast_basis, fit, noisy_parts


def cell_variances(mechanism: Sized) -> dict[str, float]:
    """Return the noise variance in a cell of each variable's table, after least squares; no data are used.

    It is the same for all cells of a table. A table of categories has one entry, named by its last column.
    """
    require_mechanism(mechanism, "Variances are those of the noise")
    problem = Problem.before(mechanism)
    parts = noisy_parts(problem.measurements, problem.size) if problem.is_measured else None
    if parts is None:
        raise DeclarationError(
            f"{type(mechanism).__name__} does not measure cells or contrasts of tables, so its noise has no variance "
            "in a cell. Use `accuracy`, or a rehearsal."
        )
    fitted = fit(problem.model, problem.size, parts)
    families = [family for family, _ in conditionals_of(problem.model)] or list(fitted.tables)
    return {family[-1]: fitted.standard_error(*family) ** 2 for family in families}


def fitted_blocks(network: Network, tables: Mapping[Family, float]) -> Floats:
    """Return v_g of each block after least squares, from released tables with noise of one variance in every cell.

    For noise conditioned to sum to zero over a table, give the variance before conditioning: the total is known.
    """
    basis = contrast_basis(network)
    precisions = np.zeros(len(basis.blocks))
    for family, variance in tables.items():
        levels = dict(zip(family, network.shape(family), strict=True))
        for block in basis.within(family):
            rest = prod(count for name, count in levels.items() if name not in block)
            precisions[basis.indices[block]] += 1 / (variance * rest)
    if (precisions == 0).any():
        raise DeclarationError(
            "These tables do not determine the tables of all families (each variable with its parents)."
        )
    return np.asarray(1 / precisions)


def variances_of_cells(network: Network, blocks: Floats) -> dict[str, float]:
    """Return the variance of a cell of each variable's table, from v_g of each block and a known size."""
    basis, values = contrast_basis(network), blocks.tolist()
    return {family[-1]: basis.cell_variance(family, values) for family in network.families}


def mean_cell_variance(network: Network, variances: Mapping[str, float]) -> float:
    """Return the average over all cells of the tables of all families."""
    cells = {family[-1]: prod(network.shape(family)) for family in network.families}
    return sum(variances[name] * count for name, count in cells.items()) / sum(cells.values())
