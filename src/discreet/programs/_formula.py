"""Regressions on declared levels: what of a formula they can use, and the matrix of effects that it stands for.

Every column is categorical or banded: level 1 is the reference, and each other level has an effect of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet.mechanism import event_name
from discreet.programs._program import chosen
from discreet.records import Column
from discreet.regression import Formula, Names, read_formula, written


def formula_of_levels(text: str) -> Formula:
    """Return what a formula says of columns with levels, which have no powers; anything else is refused in words."""
    read = read_formula(text)
    for term in read.terms:
        if len(set(term)) < len(term):
            raise DeclarationError(
                f"{written(term)!r} is not a term: terms are columns, products a:b or a*b of different columns, and "
                "(1 | column), with '+' between them."
            )
    return read


@dataclass(frozen=True, eq=False)
class Design:
    """Patterns of covariates as rows of a matrix: one column for each effect, `names` say which."""

    matrix: Floats
    names: tuple[str, ...]
    groups: Counts
    """The level of the varying column in each pattern; empty without one."""


def design_of(
    columns: Sequence[Column], covariates: Sequence[str], terms: Sequence[Names], varying: str | None
) -> Design:
    """Return the matrix of all patterns of some columns' levels, the first column's levels slowest."""
    found = chosen(columns, covariates)
    shape = [len(column.levels) for column in found]
    codes = np.array(list(np.ndindex(*shape)), dtype=np.int64).reshape(prod(shape), len(shape))
    index = {column.name: axis for axis, column in enumerate(found)}
    parts, names = [np.ones((len(codes), 1))], ["intercept"]
    for term in sorted(terms, key=len):
        part, own = effects([found[index[name]] for name in term], codes[:, [index[name] for name in term]])
        parts.append(part)
        names += own
    groups = np.zeros(0, dtype=np.int64) if varying is None else codes[:, index[varying]]
    return Design(np.hstack(parts), tuple(names), groups)


def effects(columns: Sequence[Column], codes: Counts) -> tuple[Floats, list[str]]:
    """Return one column for each combination of levels other than the first, and their names."""
    parts, names = [], []
    for levels in product(*(range(1, len(column.levels)) for column in columns)):
        parts.append((codes == np.array(levels)).all(axis=1).astype(float))
        names.append(":".join(level_name(column, level) for column, level in zip(columns, levels, strict=True)))
    return np.stack(parts, axis=1), names


def level_name(column: Column, index: int) -> str:
    """Return the name of a level as formulas write it."""
    return event_name(column.name, column.levels[index])
