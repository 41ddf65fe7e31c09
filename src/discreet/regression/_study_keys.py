"""How a study asks for a regression: model = "regression", with a formula.

Where a mechanism gives records weights, what is learnt is a `WeightedRegression`, else a `LinearRegression`.
"""

import re
from collections.abc import Mapping

from discreet._core.errors import DeclarationError, meant
from discreet._core.exact import Exact, exact, positive
from discreet.mechanism import Declared, DeclaredPrior, Mechanism, Numbers
from discreet.records import Column
from discreet.regression._formula import misread, read_formula
from discreet.regression._model import LinearRegression, Regression
from discreet.regression._prior import InverseGamma
from discreet.regression._weighted_model import OPEN_NOISE, WeightedRegression


def asked_regression(
    declared: Declared,
    formula: str,
    noise: Exact | None = None,
    norm_bound: Exact | None = None,
    prior: DeclaredPrior = 1,
    guessed_spreads: Mapping[str, float] | None = None,
) -> Regression:
    """Return the model that a formula names. `noise` is a known standard deviation in the units of the target.

    The prior is the precision of the coefficients. What is guessed is for plans alone.
    """
    if not isinstance(prior, int | float | None):
        raise DeclarationError("The prior of a regression must be one number, the precision of its coefficients.")
    columns, numbers = declared.columns, declared.numbers
    read = read_formula(formula, {*columns, *numbers})
    target = read.outcome
    if not target or read.event is not None or read.varying is not None:
        raise misread(formula, formula)
    names = [name for (name, *more) in read.terms if not more]
    if target not in numbers:
        raise DeclarationError(
            _unsupported(target)
            or f"The target {target!r} needs bounds: declare [columns.{target}] bounds = [low, high]."
            f"{meant(target, numbers)}"
        )
    terms = [tuple(sorted(term, key=names.index)) for term in read.terms if len(term) > 1]
    features = [name if name in numbers else _levels_of(name, columns, numbers) for name in names]
    measured = {name: numbers[name] for name in (target, *names) if name in numbers}
    bounds = {name: (each.low, each.high) for name, each in measured.items()}
    missing = {name: each.missing for name, each in measured.items() if each.missing is not None}
    deviation = None if noise is None else _in_public_units(noise, measured[target])
    if norm_bound is None:
        known = OPEN_NOISE if deviation is None else deviation
        weighted = WeightedRegression(target, features, bounds, prior, known, missing=missing, terms=terms)
        if _is_weighted(declared, weighted):
            return weighted.guessing(guessed_spreads)
    assumed = InverseGamma(1, "0.05") if deviation is None else deviation
    line = LinearRegression(target, features, bounds, prior, norm_bound, assumed, missing=missing, terms=terms)
    return line.guessing(guessed_spreads)


def _is_weighted(declared: Declared, model: WeightedRegression) -> bool:
    """Return whether records far from the bulk count less: as the mechanism says that is named."""
    if declared.mechanism is None:
        return False
    kind = Mechanism.registered().get(declared.mechanism.partition(".")[0])
    return kind is not None and kind.accepts_model(model)


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
