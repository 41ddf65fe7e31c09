"""Priors of networks: one Dirichlet parameter for each level of each variable, however they were declared."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, isfinite, log2, prod
from typing import cast

from discreet._core.errors import DeclarationError
from discreet.records import Column


@dataclass(frozen=True)
class EquivalentSize:
    """A prior worth `records` imagined records for each variable (BDeu): records / (rows * levels) in every cell.

    >>> EquivalentSize(4)
    EquivalentSize(records=4)
    """

    records: float

    def __post_init__(self) -> None:
        if isinstance(self.records, bool) or not isinstance(self.records, int | float) or not self.records > 0:
            raise DeclarationError(
                f"An equivalent sample size must be a number of records above 0; got {self.records!r}."
            )


NetworkPrior = float | EquivalentSize | Mapping[str, float | Sequence[float]] | None
"""One number for every Dirichlet parameter, an equivalent size, or by name a number or one number for each level.

None says that none is declared: see `shared`. Mechanisms that draw from a posterior take 1.
"""

FEW_LEVELS = 8
"""Rows of this many levels or fewer do not learn how many records their prior is worth."""
RECORDS, LEAST = 2.0, 0.25
"""What the rows of a variable of few levels share where no prior was declared, in records, and the least for a row."""
UNLEARNT = 0.5
"""Of a variable with more levels, what is read for every parameter where none was declared and evidence is unknown."""


def shared(rows: int) -> float:
    """Return how many records each of q rows is worth where no prior was declared: max(2/q, 1/4).

    Rows together are worth 2 (`EquivalentSize`) up to eight rows. One for each level would make every further parent
    add imagined records, which outweigh rare events; 2/q for many rows would make a row of few records certain that
    what it did not see never occurs.

    >>> shared(1), shared(4), shared(120)
    (2.0, 0.5, 0.25)
    """
    return max(RECORDS / rows, LEAST)


def undeclared(levels: int, records: float) -> float:
    """Return the parameter for each of K levels where no prior was declared, in rows that are worth so many records.

    >>> undeclared(2, 0.5), undeclared(16, 0.5)
    (0.25, 0.5)
    """
    return records / levels if levels <= FEW_LEVELS else UNLEARNT


def strength_grids(variables: Sequence[Column], rows: Sequence[int]) -> dict[str, tuple[float, ...]]:
    """Return the parameters among which rows of more than eight levels learn theirs, by the name of the variable.

    The total A of a row is log-uniform from max(2/q, 1/4) to K by steps of at most a factor 2: one strength for all q
    rows of a variable.

    >>> variables = [Column("hours", tuple(range(16)), outside=0), Column("sex", ("f", "m"), outside="f")]
    >>> {name: [round(value, 3) for value in values] for name, values in strength_grids(variables, [1, 16]).items()}
    {'hours': [0.125, 0.25, 0.5, 1.0]}
    """
    wide = [(variable.name, len(variable.levels), count) for variable, count in zip(variables, rows, strict=True)]
    return {name: _grid(levels, count) for name, levels, count in wide if levels > FEW_LEVELS}


def _grid(levels: int, rows: int) -> tuple[float, ...]:
    least = shared(rows)
    steps = ceil(log2(levels / least))
    return tuple((least / levels) ** (1 - step / steps) for step in range(steps + 1))


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
