"""Priors of networks: one Dirichlet parameter for each level of each variable, however they were declared."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, isfinite, log2, prod
from typing import cast

from discreet._core.errors import DeclarationError
from discreet.records import Column


@dataclass(frozen=True)
class EquivalentSize:
    """A prior worth `records` imagined records for each variable (BDeu): records / (rows * levels) in every cell."""

    records: float

    def __post_init__(self) -> None:
        if isinstance(self.records, bool) or not isinstance(self.records, int | float) or not self.records > 0:
            raise DeclarationError(
                f"An equivalent sample size must be a number of records above 0; got {self.records!r}."
            )


NetworkPrior = float | EquivalentSize | Mapping[str, float | Sequence[float]] | None
"""One number for every Dirichlet parameter, an equivalent size, or by name a number or one number for each level.

None says that none is declared: see `strength_grids`. Mechanisms that draw from a posterior take 1.
"""

MOST_LEVELS_OF_ONES = 8
"""Of a variable with this many levels or fewer, 1 for every parameter is read where no prior was declared."""
UNLEARNT = 0.5
"""Of a variable with more levels, what is read for every parameter where none was declared and evidence is unknown."""


def strength_grids(variables: Sequence[Column]) -> dict[str, tuple[float, ...]]:
    """Return the parameters among which rows of many levels learn theirs, by the name of the variable.

    Rows of K levels have 1 for each up to eight. Of more the total A is log-uniform from 2 to K by steps of at most a
    factor 2, (2/K)^(1 - g/G) for each level with G = ceil(log2(K/2)): one strength for all rows of a variable.

    >>> grids = strength_grids([Column("hours", tuple(range(16)), outside=0), Column("sex", ("f", "m"), outside="f")])
    >>> {name: [round(value, 3) for value in values] for name, values in grids.items()}
    {'hours': [0.125, 0.25, 0.5, 1.0]}
    """
    wide = {variable.name: len(variable.levels) for variable in variables}
    return {name: _grid(count) for name, count in wide.items() if count > MOST_LEVELS_OF_ONES}


def _grid(levels: int) -> tuple[float, ...]:
    steps = ceil(log2(levels / 2))
    return tuple((2 / levels) ** (1 - step / steps) for step in range(steps + 1))


def parameters_of(
    prior: object, variables: tuple[Column, ...], parents: tuple[tuple[str, ...], ...]
) -> list[tuple[float, ...]]:
    """Return one Dirichlet parameter for each level of each variable."""
    levels = {variable.name: len(variable.levels) for variable in variables}
    if isinstance(prior, EquivalentSize):
        sizes = (prod(levels[n] for n in above) * levels[v.name] for v, above in zip(variables, parents, strict=True))
        given: list[object] = [prior.records / size for size in sizes]
    elif isinstance(prior, Mapping):
        if set(prior) != set(levels):
            raise DeclarationError(f"A prior by name must name every variable once: {', '.join(map(repr, levels))}.")
        given = [prior[name] for name in levels]
    elif isinstance(prior, int | float):
        given = [prior] * len(levels)
    else:
        given = list(prior) if isinstance(prior, Sequence) and not isinstance(prior, str) else []
    if len(given) != len(levels):
        raise DeclarationError("The prior must be one number, an EquivalentSize, or given by the variables' names.")
    return [_parameters(value, name, count) for value, (name, count) in zip(given, levels.items(), strict=True)]


def _parameters(value: object, name: str, count: int) -> tuple[float, ...]:
    try:
        given = (value,) * count if isinstance(value, int | float) else tuple(cast(Iterable[float], value))
        values = tuple(float(one) for one in given)
    except (TypeError, ValueError):
        values = ()
    if len(values) != count:
        raise DeclarationError(f"The prior of {name!r} must be one number, or one for each of its {count} levels.")
    if not all(isfinite(number) and 1e-6 <= number <= 1e9 for number in values):
        raise DeclarationError(f"Every parameter of the prior of {name!r} must lie between 1e-6 and 1e9.")
    return values
