"""Formulas of linear regressions over declared columns, such as `income ~ age + education`.

A column of numbers has declared bounds, a column of categories has declared levels. The target is a number. `a:b` is an
interaction, `a*b` stands for a + b + a:b, `a^2` or `I(a^2)` is a power, and `y ~ 1` has an intercept alone. Nothing of
this comes from the data.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from discreet._core.errors import DeclarationError, meant
from discreet._core.exact import Exact, exact, positive
from discreet.mechanism import Declared, DeclaredPrior, Numbers
from discreet.records import Column
from discreet.regression._model import LinearRegression
from discreet.regression._prior import InverseGamma
from discreet.regression._terms import written

_PIECE = re.compile(r"`[^`]*`|[~+:*^()]|[^`~+:*^()]+")
_SIGNS = frozenset("~+:*^()")


class LinearFormula(NamedTuple):
    """The target, the features and the products of features that a formula names, each once."""

    target: str
    features: list[str]
    terms: list[tuple[str, ...]]


def read_formula(formula: str, declared: Collection[str] = ()) -> LinearFormula:
    """Return what a formula names. Odd names stand between backquotes; `1` is the intercept, which is always there.

    A summand that is the name of a declared column is that column, whatever signs are in it.

    >>> read_formula("income ~ age*ward + age^2 + `blood + sugar`")
    LinearFormula(target='income', features=['age', 'ward', 'blood + sugar'], terms=[('age', 'ward'), ('age', 'age')])
    >>> read_formula("income ~ 1")
    LinearFormula(target='income', features=[], terms=[])
    """
    pieces = [piece.strip() for piece in _PIECE.findall(formula) if piece.strip()]
    sides = _split(pieces, "~", formula)
    if len(sides) != 2 or len(sides[0]) != 1 or sides[0][0] in _SIGNS:
        raise _misread(formula, " ".join(sides[0]))
    products: list[tuple[str, ...]] = []
    for summand in _split(sides[1], "+", formula):
        products += [("".join(summand),)] if "".join(summand) in declared else _expanded(summand, formula)
    features = dict.fromkeys(each[0] for each in products if len(each) == 1)
    order = list(features) + [name for each in products for name in each]
    terms = dict.fromkeys(tuple(sorted(each, key=order.index)) for each in products if len(each) > 1)
    return LinearFormula(sides[0][0].strip("`"), list(features), list(terms))


def _misread(formula: str, wrong: str) -> DeclarationError:
    return DeclarationError(
        "A formula is written as 'income ~ age + education', with a:b for an interaction, a*b for a + b + a:b and "
        f"age^2 for a power; got {formula!r}, where {wrong!r} is none of these. Functions (log(a)), '.', '- 1' and "
        "'0 +' are not supported: there is always an intercept. Put unusual names in backquotes."
    )


def _split(pieces: Sequence[str], sign: str, formula: str) -> list[list[str]]:
    """Return what stands between signs; something must."""
    parts: list[list[str]] = [[]]
    for piece in pieces:
        if piece == sign:
            parts.append([])
        else:
            parts[-1].append(piece)
    if not all(parts):
        raise _misread(formula, sign)
    return parts


def _expanded(summand: Sequence[str], formula: str) -> list[tuple[str, ...]]:
    """Return the products that a summand stands for: a*b is a, b and a:b."""
    if list(summand) == ["1"]:
        return []
    factors = []
    for part in _split(summand, "*", formula):
        names = [_power(piece, formula) for piece in _split(part, ":", formula)]
        factors.append(sum(names, ()))
    chosen = [some for size in range(1, len(factors) + 1) for some in combinations(factors, size)]
    return [sum(some, ()) for some in chosen]


def _power(pieces: Sequence[str], formula: str) -> tuple[str, ...]:
    """Return a name as often as its power says: `age`, `age^2`, or `I(age^2)`."""
    inner = list(pieces)
    if inner[:2] == ["I", "("] and inner[-1] == ")":
        inner = inner[2:-1]
    name = inner[0].strip("`") if inner and inner[0] not in _SIGNS else ""
    if name and len(inner) == 1:
        return (name,)
    if name and len(inner) == 3 and inner[1] == "^" and inner[2] in "123456789":
        return (name,) * int(inner[2])
    raise _misread(formula, "".join(pieces))


def asked_regression(
    declared: Declared,
    formula: str,
    noise: Exact | None = None,
    norm_bound: Exact | None = None,
    prior: DeclaredPrior = 1,
) -> LinearRegression:
    """Return the model that a formula names. `noise` is a known standard deviation in the units of the target.

    The prior is the precision of the coefficients.
    """
    if not isinstance(prior, int | float | None):
        raise DeclarationError("The prior of a regression must be one number, the precision of its coefficients.")
    columns, numbers = declared.columns, declared.numbers
    target, names, terms = read_formula(formula, {*columns, *numbers})
    if target not in numbers:
        raise DeclarationError(
            _unsupported(target)
            or f"The target {target!r} needs bounds: declare [columns.{target}] bounds = [low, high]."
            f"{meant(target, numbers)}"
        )
    for term in terms:
        if missing := [name for name in term if name not in names]:
            raise DeclarationError(
                f"The formula has {written(term)!r} but not {missing[0]!r} itself, so its meaning would depend on "
                f"where zero lies. Add '+ {missing[0]}', or write a*b for a + b + a:b."
            )
    features = [name if name in numbers else _levels_of(name, columns, numbers) for name in names]
    measured = {name: numbers[name] for name in (target, *names) if name in numbers}
    return LinearRegression(
        target,
        features,
        bounds={name: (each.low, each.high) for name, each in measured.items()},
        prior_precision=prior,
        norm_bound=norm_bound,
        noise=InverseGamma(1, "0.05") if noise is None else _in_public_units(noise, measured[target]),
        missing={name: each.missing for name, each in measured.items() if each.missing is not None},
        terms=terms,
    )


def _unsupported(term: str) -> str:
    """Say what formulas cannot do, if an undeclared term looks as if it wanted it."""
    if not re.search(r"[/|-]|^[01.]$", term):
        return ""
    return (
        f"{term!r} is not a declared column. '.', '- 1', '0 +' and quotients are not supported: features are "
        "columns, their products (a:b, a*b) and their powers (a^2) with '+' between them, and there is always an "
        "intercept."
    )


def _levels_of(name: str, columns: Mapping[str, Column], numbers: Mapping[str, Numbers]) -> Column:
    if name not in columns:
        raise DeclarationError(
            _unsupported(name)
            or f"The formula names {name!r}; declare it as [columns.NAME], with bounds or levels."
            f"{meant(name, (*columns, *numbers))}"
        )
    if columns[name].edges:
        raise DeclarationError(f"{name!r} has bands; a regression needs its bounds: bounds = [low, high].")
    return columns[name]


def _in_public_units(noise: Exact, target: Numbers) -> Exact:
    """Return a standard deviation where the target lies in [-1, 1]."""
    return 2 * positive(noise, "noise") / (exact(target.high, "a bound") - exact(target.low, "a bound"))
