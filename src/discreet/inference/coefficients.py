"""The units of a regression's coefficients."""

from discreet.models.linear_regression import LinearRegression
from discreet.records.columns import Column

INTERCEPT = "intercept"


def units_of(model: LinearRegression) -> dict[str, str]:
    """Return the unit of each coefficient in words.

    >>> sex = Column("sex", ("f", "m"), outside="f")
    >>> model = LinearRegression("pay", ["age", sex], {"age": (0, 99), "pay": (0, 9)}, missing="middle")
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
    found |= {name: f"{model.target} per 1 of {name}" for name in model.names if name not in found}
    return {name: found[name] for name in model.names}
