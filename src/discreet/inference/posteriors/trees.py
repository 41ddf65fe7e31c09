"""A posterior for ArviZ, the common format of Bayesian tools: a data tree of groups, and the same as a netCDF file."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from discreet.errors import DiscreetError

Group = Mapping[str, NDArray[Any]]
"""Named arrays with axes (chains, draws, ...); what was observed lacks these two."""
Names = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Travelling:
    """What goes into a tree: groups of arrays, the names of their axes and entries, and attributes."""

    groups: Mapping[str, Group]
    dims: Names
    coords: Names
    words: Mapping[str, str | float]


def data_tree(content: Travelling) -> Any:
    """Return an ArviZ data tree."""
    try:
        from arviz_base import from_dict
    except ImportError:
        raise DiscreetError('ArviZ output needs the arviz extra: pip install "discreet[arviz]".') from None
    _check_names(content)
    where = {name: list(axes) for name, axes in content.dims.items() if axes}
    groups = {name: dict(group) for name, group in content.groups.items()}
    coords = {name: list(known) for name, known in content.coords.items()}
    tree = from_dict(groups, dims=where, coords=coords)
    tree.attrs |= dict(content.words)
    return tree


def write_netcdf(content: Travelling, path: Path) -> None:
    """Write a tree as a netCDF file."""
    tree = data_tree(content)
    try:
        tree.to_netcdf(path)
    except OSError as problem:
        raise DiscreetError(f"Cannot write the draws to {str(path)!r}: {problem.strerror or problem}.") from None


def _check_names(content: Travelling) -> None:
    """Refuse names that a tree cannot hold: a slash leads to another group, and the name of an axis is reserved."""
    names = dict.fromkeys(name for group in content.groups.values() for name in group)
    for name in (*names, *content.coords):
        if "/" in name:
            raise DiscreetError(
                f"A data tree cannot hold a variable called {name!r}, because the name contains a slash."
            )
        if name in ("chain", "draw") or (name in names and name in content.coords):
            raise DiscreetError(
                f"A data tree cannot hold a variable called {name!r}: one of its axes has that name. `draws` gives the "
                "same numbers."
            )
