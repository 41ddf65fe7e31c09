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
    values = {name: array[None] for name, array in draws.items()}
    where = {name: list(axes) for name, axes in dims.items() if axes}
    return from_dict({"posterior": values}, dims=where, coords={name: list(known) for name, known in coords.items()})


def write_netcdf(draws: Draws, dims: Names, coords: Names, path: Path) -> None:
    """Write draws as a netCDF file; a name with a slash would lead to another group of the file and is refused."""
    odd = [name for name in (*draws, *coords) if "/" in name]
    if odd:
        raise DiscreetError(f"A netCDF file cannot hold a variable called {odd[0]!r}: it has a slash.")
    tree = data_tree(draws, dims, coords)
    try:
        tree.to_netcdf(path)
    except OSError as problem:
        raise DiscreetError(f"Cannot write the draws to {str(path)!r}: {problem.strerror or problem}.") from None
