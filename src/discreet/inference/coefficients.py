"""The coefficients of a regression as a table: estimate, interval, and in which units.

A coefficient alone says little about how much a feature matters, as it depends on the feature's units. Its effect does:
what the target changes by if the feature goes from one of its bounds to the other, or from the reference to a level.
"""

from dataclasses import dataclass
from math import floor, isfinite, log10

from discreet.inference.regression import RegressionPosterior
from discreet.models.linear_regression import LinearRegression
from discreet.records.columns import Column

INTERCEPT = "intercept"


@dataclass(frozen=True)
class CoefficientRow:
    """One coefficient in the units of the table."""

    name: str
    mean: float
    median: float
    low: float
    high: float
    sd: float
    units: str
    reach: float

    @property
    def figures(self) -> tuple[str, str, str]:
        """Return estimate and ends of the interval as texts, to two digits of the interval's width."""
        decimals = decimals_of(self.high - self.low)
        mean, low, high = (f"{value:,.{decimals}f}" for value in (self.mean, self.low, self.high))
        return mean, low, high


def coefficient_rows(posterior: RegressionPosterior, level: float = 0.9) -> list[CoefficientRow]:
    """Return a row for every coefficient, the intercept first."""
    units, reaches, intervals = units_of(posterior.model), feature_reaches(posterior.model), posterior.interval(level)
    return [
        CoefficientRow(
            name,
            posterior.mean[name],
            posterior.coefficient(name).median,
            *intervals[name],
            posterior.sd[name],
            units[name],
            reaches[name],
        )
        for name in posterior.model.names
    ]


def decimals_of(width: float) -> int:
    """Return how many decimals show two digits of a width.

    >>> [decimals_of(width) for width in (250.0, 2.5, 0.025)]
    [0, 1, 3]
    """
    return max(0, min(15, 1 - floor(log10(width)))) if width > 0 and isfinite(width) else 3


def units_of(model: LinearRegression) -> dict[str, str]:
    """Return in words what each coefficient is measured in.

    >>> model = LinearRegression("pay", ["age", Column("sex", ("f", "m"))], {"age": (0, 99), "pay": (0, 9)})
    >>> units_of(model)
    {'intercept': 'pay', 'age': 'pay per 1 of age', 'sex=m': 'pay, m instead of f'}
    """
    found = {INTERCEPT: model.target}
    for feature in model.features:
        if isinstance(feature, Column):
            first, *others = feature.levels
            found |= {f"{feature.name}={own}": f"{model.target}, {own} instead of {first}" for own in others}
        else:
            found[feature] = f"{model.target} per 1 of {feature}"
    return {name: found[name] for name in model.names}


def feature_reaches(model: LinearRegression) -> dict[str, float]:
    """Return by how much the feature of each coefficient can vary: from bound to bound, or 1 for a level."""
    return {name: 2 * model.ranges[name].half if name in model.ranges else 1.0 for name in model.names}
