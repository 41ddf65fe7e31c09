"""Formulas of regressions on declared levels: `falls ~ age + ward`, `falls=yes ~ age*ward`, `falls ~ age + (1 | ward)`.

On the right stand columns, products a:b of columns, a*b for a + b + a:b, and at most one (1 | column) for intercepts
that vary around a common mean. Every column is categorical or banded: level 1 is the reference, and each other level
has an effect of its own. There is always an intercept.
"""

import re
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

_NAME = r"[^\s~+:*|()=]+(?: [^\s~+:*|()=]+)*"
Term = tuple[str, ...]


@dataclass(frozen=True)
class Formula:
    """What a formula names: the outcome, the level of it that is asked for, terms, and the column of intercepts."""

    outcome: str
    event: str | None
    terms: tuple[Term, ...]
    varying: str | None

    @property
    def covariates(self) -> tuple[str, ...]:
        """Return every column on the right, each once, in the order of the formula."""
        last = () if self.varying is None else (self.varying,)
        return tuple(dict.fromkeys([name for term in self.terms for name in term] + list(last)))

    @property
    def canonical(self) -> str:
        """Return the formula with its terms, and the columns of each, in the order of their names.

        >>> read_formula("falls=yes ~ ward*age + (1 | home)").canonical
        'falls=yes ~ age + age:ward + ward + (1 | home)'
        """
        left = f"{self.outcome} " if self.event is None else f"{self.outcome}={self.event} "
        right = sorted(":".join(sorted(term)) for term in self.terms)
        right += [] if self.varying is None else [f"(1 | {self.varying})"]
        return f"{left.lstrip()}~ {' + '.join(right or ['1'])}"


def read_formula(text: str) -> Formula:
    """Return what a formula says, or refuse it in words.

    >>> read_formula("falls ~ age + ward").covariates
    ('age', 'ward')
    """
    sides = text.split("~") if isinstance(text, str) else []
    if len(sides) != 2:
        raise DeclarationError(f"A formula must be written as 'falls ~ age + ward'; got {text!r}. Nothing was read.")
    left = re.fullmatch(rf"\s*({_NAME})?\s*(?:=\s*(.+?))?\s*", sides[0])
    if left is None or (left[2] is not None and left[1] is None):
        raise DeclarationError(f"The left side of ~ must be a column, or column=level; got {sides[0].strip()!r}.")
    terms, varying = read_terms(sides[1])
    return Formula(left[1] or "", left[2], terms, varying)


def read_terms(text: str) -> tuple[tuple[Term, ...], str | None]:
    """Return the terms of the right side, and the column of varying intercepts."""
    terms: list[Term] = []
    varying: list[str] = []
    for part in re.split(r"\+(?![^(]*\))", text):
        piece = part.strip()
        if (found := re.fullmatch(rf"\(\s*1\s*\|\s*({_NAME})\s*\)", piece)) is not None:
            varying.append(found[1])
        elif piece != "1":
            terms += _products(piece)
    if len(varying) > 1:
        raise DeclarationError(f"A formula may have at most one (1 | column); got {len(varying)}.")
    kept = tuple(dict.fromkeys(terms))
    for term in kept:
        if len(term) > 1 and (missing := [name for name in term if (name,) not in kept]):
            raise DeclarationError(
                f"The formula has {':'.join(term)!r} but not {missing[0]!r} itself. Add '+ {missing[0]}', or write a*b."
            )
    return tuple(sorted(kept, key=len)), varying[0] if varying else None


def _products(piece: str) -> list[Term]:
    names = [each.strip() for each in re.split(r"[:*]", piece)]
    if not all(re.fullmatch(_NAME, name) for name in names) or len(set(names)) < len(names):
        raise DeclarationError(
            f"{piece!r} is not a term: terms are columns, products a:b or a*b of different columns, and (1 | "
            "column), with '+' between them."
        )
    if ":" in piece and "*" in piece:
        raise DeclarationError(f"{piece!r} mixes ':' and '*': write the terms out.")
    if ":" in piece or len(names) == 1:
        return [tuple(names)]
    return [
        tuple(n for n, kept in zip(names, keep, strict=True) if kept)
        for keep in product((1, 0), repeat=len(names))
        if any(keep)
    ]


@dataclass(frozen=True, eq=False)
class Design:
    """Patterns of covariates as rows of a matrix: one column for each effect, `names` say which."""

    matrix: Floats
    names: tuple[str, ...]
    groups: Counts
    """The level of the varying column in each pattern; empty without one."""


def design_of(
    columns: Sequence[Column], covariates: Sequence[str], terms: Sequence[Term], varying: str | None
) -> Design:
    """Return the matrix of all patterns of some columns' levels, the first column's levels slowest."""
    found = chosen(columns, covariates)
    shape = [len(column.levels) for column in found]
    codes = np.array(list(np.ndindex(*shape)), dtype=np.int64).reshape(prod(shape), len(shape))
    index = {column.name: axis for axis, column in enumerate(found)}
    parts, names = [np.ones((len(codes), 1))], ["intercept"]
    for term in terms:
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
