"""How a study asks about a column of numbers: model = "number", with what is asked and, perhaps, by which column.

Means, sums and variances are answered from noisy sums, quantiles and distributions from a noisy table. A mean that is
asked together with quantiles is read from their table.
"""

from collections.abc import Sequence

from discreet.errors import DeclarationError
from discreet.exact import Exact
from discreet.models import number_sums, number_table
from discreet.models.asked import Declared
from discreet.models.number_sums import NumberSums
from discreet.models.number_table import USUAL, NumberTable, suitable_cells
from discreet.models.numbers import BoundedNumber
from discreet.records.nearest import meant

_TABLES = (number_table.QUANTILES, number_table.DISTRIBUTION)
_SUMS = (number_sums.SUM, number_sums.VARIANCE)
_KNOWN = (number_sums.MEAN, *_SUMS, *_TABLES)


def asked_number(
    declared: Declared,
    column: str,
    ask: str | Sequence[str] = (),
    by: str | None = None,
    quantiles: Sequence[Exact] | None = None,
    cells: int | None = None,
    edges: Sequence[Exact] | None = None,
    growing_from: Exact | None = None,
) -> BoundedNumber:
    """Return what is learnt about a declared column of numbers."""
    wanted = _wanted(ask, quantiles)
    if column not in declared.numbers:
        raise DeclarationError(
            f"column names {column!r}; declare it as [columns.{column}] with bounds, such as [0, 120]."
            f"{meant(column, declared.numbers)}"
        )
    low, high, missing, is_whole = declared.numbers[column]
    group = None if by is None else declared.levels("by", [by])[by]
    if not set(wanted) & set(_TABLES):
        if (cells, edges, growing_from) != (None, None, None):
            raise DeclarationError("cells and edges belong to quantiles and distributions; sums have none.")
        return NumberSums(column, (low, high), wanted, group, missing)
    count = suitable_cells(declared.size, declared.epsilon) if cells is None else cells
    shares = USUAL if quantiles is None else quantiles
    if growing_from is not None:
        if edges is not None:
            raise DeclarationError("growing_from stands instead of edges.")
        return NumberTable.growing(
            column, (low, high), growing_from, count,
            asks=wanted, quantiles=shares, by=group, missing=missing, is_whole=is_whole,
        )  # fmt: skip
    return NumberTable(
        column, (low, high), None if edges is not None else count, edges, wanted, shares, group, missing, is_whole
    )


def _wanted(ask: str | Sequence[str], quantiles: Sequence[Exact] | None) -> tuple[str, ...]:
    """Return what is asked; quantiles that are named are asked."""
    given = [ask] if isinstance(ask, str) else list(ask)
    given += [number_table.QUANTILES] if quantiles is not None and number_table.QUANTILES not in given else []
    for each in given or [""]:
        if each not in _KNOWN:
            known = ", ".join(map(repr, _KNOWN))
            raise DeclarationError(f"ask names {each!r}; it may name {known}.{meant(each, _KNOWN)}")
    if set(given) & set(_TABLES) and set(given) & set(_SUMS):
        raise DeclarationError("Sums and variances are read from sums, quantiles from a table: ask them separately.")
    return tuple(given)
