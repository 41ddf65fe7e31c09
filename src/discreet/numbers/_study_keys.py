"""How a study asks about a column of numbers: model = "number", with what is asked and, perhaps, by which column.

Means, sums, variances and standard deviations are answered from noisy sums, quantiles and distributions from a noisy
table. A mean that is asked together with quantiles is read from their table. Quantiles alone are counted at places that
are chosen, where there are records enough for that.
"""

from collections.abc import Sequence
from fractions import Fraction

from discreet._core.errors import DeclarationError, meant
from discreet._core.exact import Exact, exact, exact_text
from discreet.mechanism import Declared, Key, Mechanism, of_levels, of_numbers, one_of
from discreet.numbers import _sums_model as number_sums
from discreet.numbers._bounded_number import BoundedNumber, exact_shares
from discreet.numbers._persons import Persons
from discreet.numbers._quantiles_model import NumberQuantiles, why_table
from discreet.numbers._sums_model import NumberSums
from discreet.numbers._table_estimands import ESTIMANDS, QUANTILES
from discreet.numbers._table_model import USUAL, NumberTable, suitable_cells
from discreet.numbers._weighted_model import WeightedSums
from discreet.numbers._weights import PersonRows, Weights
from discreet.records import ROWS, RULES, TOTAL

_TABLES = tuple(each for each in ESTIMANDS if each not in number_sums.ASKED)
_SUMS = tuple(each for each in number_sums.ASKED if each not in ESTIMANDS)
_KNOWN = (*number_sums.ASKED, *_TABLES)
ABOUT = (
    "The mean, sum, variance or standard deviation of a column of numbers, or its quantiles (the median among them) "
    "and distribution; for all records or in each group. Sums and spreads are not asked together with quantiles or a "
    "distribution."
)


def _of_rules(declared: Declared) -> Sequence[str]:
    return () if declared.unit_column is None else (*RULES, ROWS)


KEYS = {
    "column": Key("Column of numbers", of_numbers),
    "ask": Key("What to publish about it", one_of(*_KNOWN)),
    "by": Key("In each group of", of_levels),
    "quantiles": Key("Which quantiles, if not the usual ones", example="0.1, 0.5, 0.9"),
    "per_person": Key("The value that a person has", _of_rules),
}
"""How a form asks for the keys that most questions about a number need."""


def asked_number(
    declared: Declared,
    column: str,
    ask: str | Sequence[str] = (),
    by: str | None = None,
    quantiles: Sequence[Exact] | None = None,
    cells: int | None = None,
    edges: Sequence[Exact] | None = None,
    growing_from: Exact | None = None,
    weight: str | None = None,
    weights: str | None = None,
    per_person: str | None = None,
    rows_per_person: int | None = None,
    total_bounds: Sequence[Exact] | None = None,
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
    rows = _rows(declared, per_person, rows_per_person)
    if rows is not None or (weight, weights) != (None, None):
        _refuse_more(wanted, (cells, edges, growing_from, total_bounds))
        how = None if rows is not None else _weights(declared, weight, weights)
        return WeightedSums(column, (low, high), wanted, group, missing, weights=how, rows=rows)
    persons = _persons(declared, per_person, (low, high), total_bounds)
    low, high = (low, high) if total_bounds is None else total_bounds
    if not set(wanted) & set(_TABLES):
        if (cells, edges, growing_from) != (None, None, None):
            raise DeclarationError("cells and edges are for quantiles and distributions; sums do not use them.")
        return NumberSums(column, (low, high), wanted, group, missing, persons=persons)
    groups = 1 if group is None else len(group.levels)
    count = _cells(declared, groups, edges is not None) if cells is None else cells
    shares = USUAL if quantiles is None else _shares(quantiles, declared.size)
    if (cells, edges, growing_from) == (None, None, None) and wanted == (QUANTILES,) and not declared.is_secret:
        found = NumberQuantiles(column, (low, high), shares, group, missing, is_whole, persons=persons)
        if _are_chosen(declared, found):
            return found
    if growing_from is not None:
        if edges is not None:
            raise DeclarationError("growing_from replaces edges: give one of the two.")
        return NumberTable.growing(
            column, (low, high), growing_from, count,
            asks=wanted, quantiles=shares, by=group, missing=missing, is_whole=is_whole, persons=persons,
        )  # fmt: skip
    return NumberTable(
        column, (low, high), None if edges is not None else count, edges, wanted, shares, group, missing, is_whole,
        persons,
    )  # fmt: skip


def _cells(declared: Declared, groups: int, has_edges: bool) -> int:
    """Return how many cells suit this many records, or about so many; refuse where nothing says how many."""
    if declared.size is None and not has_edges:
        raise DeclarationError(
            "cells is missing: how many suit follows from the number of records, which is secret. State cells = 64, or "
            "write about = 5000 in [data], a guess that does not come from the data."
        )
    return suitable_cells(declared.size or 1, declared.epsilon, groups)


def _are_chosen(declared: Declared, model: NumberQuantiles) -> bool:
    """Return whether places near quantiles are chosen: as the mechanism says that is named, or as public numbers do."""
    if declared.is_per_unit or declared.size is None:
        return False
    if declared.mechanism is not None:
        kind = Mechanism.registered().get(declared.mechanism)
        return kind is not None and kind.accepts_model(model)
    return why_table(model, declared.size, declared.epsilon) is None


def _shares(quantiles: Sequence[Exact], size: int | None) -> Sequence[Exact]:
    """Return the quantiles that are asked, if this many records have them, or about so many."""
    for each in exact_shares(quantiles):
        if size is not None and min(each, 1 - each) * size < 1:
            raise DeclarationError(
                f"quantiles names {exact_text(each)}, which with {size:,} records lies beyond the outermost record. "
                f"Ask for shares from {exact_text(Fraction(1, size))} to {exact_text(1 - Fraction(1, size))}."
            )
    return quantiles


def _rows(declared: Declared, rule: str | None, most: int | None) -> PersonRows | None:
    """Return the rows of persons, if rows are what counts."""
    if rule != ROWS and most is None:
        return None
    if declared.unit_column is None:
        raise DeclarationError("rows_per_person needs unit_column, the column of ids, in [data].")
    if rule != ROWS or most is None:
        raise DeclarationError(
            f"per_person = {ROWS!r}, where every row counts, needs rows_per_person, the number of rows up to which a "
            "person counts in full, such as 20."
        )
    return PersonRows(declared.unit_column, declared.persons, most)


def _weights(declared: Declared, column: str | None, are: str | None) -> Weights:
    """Return the weights that a question names."""
    if declared.unit_column is not None:
        raise DeclarationError(
            "weights apply to records, but unit_column combines the rows of a person: use one of the two."
        )
    if column is None or column not in declared.numbers:
        raise DeclarationError(
            f"weight names {column!r}; declare it as [columns.NAME] with bounds from 0 on, such as [0, 50]."
            f"{meant(column or '', declared.numbers)}"
        )
    low, high, *_ = declared.numbers[column]
    if exact(low, "a bound") != 0:
        raise DeclarationError(f"The lower bound of a weight must be 0; that of {column!r} is {low}.")
    return Weights(column, high, are)


def _refuse_more(wanted: Sequence[str], others: Sequence[object]) -> None:
    """Refuse what weighted questions do not have."""
    if set(wanted) - {number_sums.MEAN, number_sums.SUM} or any(each is not None for each in others):
        raise DeclarationError(
            "For weighted records, and for all rows of persons, only the mean and the sum can be asked, without "
            "cells, edges or total_bounds."
        )


def _persons(
    declared: Declared, rule: str | None, bounds: tuple[Exact, Exact], total: Sequence[Exact] | None
) -> Persons | None:
    """Return whose rows are put together, if the study says so; then the question says what a person's value is."""
    if declared.unit_column is None:
        if rule is not None or total is not None:
            raise DeclarationError("per_person and total_bounds need unit_column, the column of ids, in [data].")
        return None
    if rule is None:
        raise DeclarationError(
            f"the study combines all rows with the same {declared.unit_column}: state with per_person which value a "
            f"person has, one of {', '.join(RULES)}, or {ROWS} if every row counts."
        )
    if rule == TOTAL and total is None:
        raise DeclarationError(
            "per_person = 'total' needs total_bounds, such as [0, 5000], at which the total of a person is clipped; "
            "the bounds of the column apply to a single row."
        )
    if rule != TOTAL and total is not None:
        raise DeclarationError(f"total_bounds are only for per_person = 'total'; got per_person = {rule!r}.")
    if total is not None and len(total) != 2:
        raise DeclarationError("total_bounds must be two numbers, such as [0, 5000].")
    return Persons(declared.unit_column, declared.persons, rule, bounds if rule == TOTAL else ())


def _wanted(ask: str | Sequence[str], quantiles: Sequence[Exact] | None) -> tuple[str, ...]:
    """Return what is asked; quantiles that are named are asked."""
    given = [ask] if isinstance(ask, str) else list(ask)
    given += [QUANTILES] if quantiles is not None and QUANTILES not in given else []
    if not given:
        raise DeclarationError(f"ask is empty; it must name one or more of {', '.join(map(repr, _KNOWN))}.")
    for each in given:
        if each not in _KNOWN:
            known = ", ".join(map(repr, _KNOWN))
            raise DeclarationError(f"ask names {each!r}; it may name {known}.{meant(each, _KNOWN)}")
    if set(given) & set(_TABLES) and set(given) & set(_SUMS):
        raise DeclarationError(
            "Sums, variances and standard deviations come from sums, quantiles from a table: ask for them in separate "
            "questions."
        )
    return tuple(given)
