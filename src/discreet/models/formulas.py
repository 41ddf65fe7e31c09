"""How a study asks for a regression: by a formula such as `income ~ age + education` over declared columns.

A column of numbers has declared bounds, a column of categories has declared levels. The target is a number. Nothing of
this comes from the data.
"""

import re
from collections.abc import Mapping

from discreet.errors import DeclarationError
from discreet.exact import Exact, exact, positive
from discreet.models.asked import Declared, DeclaredPrior, Numbers
from discreet.models.linear_regression import InverseGamma, LinearRegression
from discreet.records.columns import Column
from discreet.records.nearest import meant


def terms_of(formula: str) -> tuple[str, list[str]]:
    """Return the target and the features that a formula names; odd names stand between backquotes.

    >>> terms_of("income ~ age + `blood + sugar`")
    ('income', ['age', 'blood + sugar'])
    """
    parts = [part.strip() for part in re.findall(r"`[^`]*`|[~+]|[^`~+]+", formula) if part.strip()]
    names, signs = parts[::2], parts[1::2]
    plain = [name.strip("`") for name in names]
    if len(parts) < 3 or len(parts) % 2 == 0 or signs != ["~", *"+" * (len(signs) - 1)] or {*names} & {"~", "+"}:
        raise DeclarationError(f"A formula is written as 'income ~ age + education'; got {formula!r}.")
    return plain[0], plain[1:]


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
        raise DeclarationError("The prior of a regression is one number, the precision of its coefficients.")
    columns, numbers = declared.columns, declared.numbers
    target, names = terms_of(formula)
    if target not in numbers:
        raise DeclarationError(
            _unsupported(target)
            or f"The target {target!r} needs bounds: declare [columns.{target}] bounds = [low, high]."
            f"{meant(target, numbers)}"
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
    )


def _unsupported(term: str) -> str:
    """Say what formulas cannot do, if an undeclared term looks as if it wanted it."""
    if not re.search(r"[*:^/|()-]|^[01.]$", term):
        return ""
    return (
        f"{term!r} is no declared column. Products (a * b, a:b), functions (log(a)), '.', '- 1' and '0 +' are not "
        "supported: features are columns with '+' between them, and there is always an intercept."
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
