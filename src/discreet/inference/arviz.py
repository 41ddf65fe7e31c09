"""Draws for ArviZ, the common format of Bayesian tools."""

from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError
from discreet.inference.categories import CategoriesPosterior
from discreet.inference.network import NetworkPosterior
from discreet.inference.regression import RegressionPosterior

Posterior = CategoriesPosterior | NetworkPosterior | RegressionPosterior


def to_arviz(posterior: Posterior, draws: int = 4_000, seed: int = 0) -> Any:
    """Return independent draws as an ArviZ data tree with one chain.

    Of a table of categories: the variable `theta` over the cells. Of a network: one variable for each table. Of a
    regression: the variable `coefficient`.
    """
    if isinstance(posterior, NetworkPosterior):
        return posterior.to_arviz(draws, seed)
    try:
        from arviz_base import from_dict
    except ImportError:
        raise DiscreetError('ArviZ output needs another package: pip install "discreet[arviz]".') from None
    if isinstance(posterior, RegressionPosterior):
        drawn, names = posterior.draws(draws, seed)[None], list(posterior.model.names)
        where = {"coefficient": ["name"]}
        return from_dict({"posterior": {"coefficient": drawn}}, dims=where, coords={"name": names})
    cells = [", ".join(map(str, cell)) if isinstance(cell, tuple) else str(cell) for cell in posterior.model.cells]
    values = posterior.draws(draws, seed)[None]
    return from_dict({"posterior": {"theta": values}}, dims={"theta": ["cell"]}, coords={"cell": cells})


def to_netcdf(posterior: Posterior, path: Path) -> None:
    """Write independent draws as a netCDF file that ArviZ reads."""
    if isinstance(posterior, NetworkPosterior):
        odd = [column.name for column in posterior.model.variables if "/" in column.name]
        if odd:  # a slash leads to another group of the file
            raise DiscreetError(f"A netCDF file cannot hold a variable called {odd[0]!r}: it has a slash.")
    to_arviz(posterior).to_netcdf(path)
