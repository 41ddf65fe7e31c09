"""Draws for ArviZ, the common format of Bayesian tools."""

from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError
from discreet.inference.categories import CategoriesPosterior


def to_arviz(posterior: CategoriesPosterior, draws: int = 4_000, seed: int = 0) -> Any:
    """Return independent draws as an ArviZ data tree: one chain of the variable `theta` over the cells."""
    try:
        from arviz_base import from_dict
    except ImportError:
        raise DiscreetError('ArviZ output needs another package: pip install "discreet[arviz]".') from None
    cells = [", ".join(map(str, cell)) if isinstance(cell, tuple) else str(cell) for cell in posterior.model.cells]
    values = posterior.draws(draws, seed)[None]
    return from_dict({"posterior": {"theta": values}}, dims={"theta": ["cell"]}, coords={"cell": cells})


def to_netcdf(posterior: CategoriesPosterior, path: Path) -> None:
    """Write independent draws as a netCDF file that ArviZ reads."""
    to_arviz(posterior).to_netcdf(path)
