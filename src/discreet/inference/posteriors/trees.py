"""Draws for ArviZ, the common format of Bayesian tools: a data tree, and the same as a netCDF file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError

Draws = Mapping[str, NDArray[np.float64]]
Names = Mapping[str, tuple[str, ...]]


def data_tree(draws: Draws, dims: Names, coords: Names) -> Any:
    """Return draws as an ArviZ data tree with one chain."""
    try:
        from arviz_base import from_dict
    except ImportError:
        raise DiscreetError('ArviZ output needs another package: pip install "discreet[arviz]".') from None
    _check_names(draws, coords)
    values = {name: array[None] for name, array in draws.items()}
    where = {name: list(axes) for name, axes in dims.items() if axes}
    return from_dict({"posterior": values}, dims=where, coords={name: list(known) for name, known in coords.items()})


def write_netcdf(draws: Draws, dims: Names, coords: Names, path: Path) -> None:
    """Write draws as a netCDF file."""
    tree = data_tree(draws, dims, coords)
    try:
        tree.to_netcdf(path)
    except OSError as problem:
        raise DiscreetError(f"Cannot write the draws to {str(path)!r}: {problem.strerror or problem}.") from None


def _check_names(draws: Draws, coords: Names) -> None:
    """Refuse names that a tree cannot hold: a slash leads to another group, and an axis has its name for itself."""
    for name in (*draws, *coords):
        if "/" in name:
            raise DiscreetError(f"A data tree cannot hold a variable called {name!r}: it has a slash.")
        if name in ("chain", "draw") or (name in draws and name in coords):
            raise DiscreetError(
                f"A data tree cannot hold a variable called {name!r}: one of its axes has that name. `draws` gives the "
                "same numbers."
            )
