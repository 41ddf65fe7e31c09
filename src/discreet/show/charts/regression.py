"""What a reader learnt about the coefficients of a regression: effects on one axis, with intervals.

Coefficients have different units, so effects are drawn: the change of the target if a feature goes from one of its
bounds to the other, or from the reference to a level. The coefficients themselves stand beside, in their own units.
"""

from discreet.inference.coefficients import INTERCEPT, CoefficientRow, coefficient_rows
from discreet.inference.regression import RegressionPosterior
from discreet.models.linear_regression import LinearRegression
from discreet.show.charts.drawing import (
    BLUE,
    GREY,
    WIDTH,
    Spec,
    chart,
    layer,
    lines_of,
    measured,
    named_rows,
    reading_title,
    row_height,
    words,
)


def coefficient_chart(posterior: RegressionPosterior, level: float = 0.9) -> Spec:
    """Draw the effect of every feature with its interval of this level, and zero as a line for reference."""
    shown = [row for row in coefficient_rows(posterior, level) if row.name != INTERCEPT]
    rows = [_row(place, row) for place, row in enumerate(shown)]
    names = [lines_of(_name(posterior.model, row), 30) for row in shown]
    axis = {"title": lines_of(_axis_title(posterior.model, level), 68), "format": ",~r", "tickCount": 6}
    ends = {"x": measured("low", scale={"nice": 6, "zero": True}, axis=axis), "x2": {"field": "high"}}
    y, zero = named_rows(names), [{"zero": 0}]
    dot = {"type": "point", "shape": "circle", "filled": True, "size": 110, "color": BLUE, "opacity": 1}
    heading = {"x": {"value": WIDTH}, "y": {"value": 0}, "text": {"value": "coefficient (interval)"}}
    layers = [
        layer({"type": "rule", "stroke": GREY, "strokeDash": [4, 4]}, {"x": measured("zero")}, zero),
        layer({"type": "rule", "stroke": BLUE, "strokeWidth": 5}, {"y": y, **ends}),
        layer(dot, {"y": y, "x": measured("mean")}),
        layer(words(align="left", dx=14), {"y": y, "x": {"value": "width"}, "text": {"field": "text"}}),
        layer(words(align="left", dx=14, dy=-10, fill=GREY), heading, zero),
    ]
    return chart(rows, reading_title(posterior), {"width": WIDTH, "height": row_height(names, 36), "layer": layers})


def _row(place: int, row: CoefficientRow) -> Spec:
    mean, low, high = row.figures
    text = f"{mean}  ({low} to {high})"
    effect = {"mean": row.mean * row.reach, "low": row.low * row.reach, "high": row.high * row.reach}
    return {"place": place, "coefficient": row.name, "units": row.units, "text": text} | effect


def _name(model: LinearRegression, row: CoefficientRow) -> str:
    if row.name not in model.ranges:
        return row.name
    bounds = model.ranges[row.name]
    return f"{row.name} ({float(bounds.low):g} to {float(bounds.high):g})"


def _axis_title(model: LinearRegression, level: float) -> str:
    return (
        f"Change of {model.target} from one bound to the other, or from the reference level: "
        f"mean and {100 * level:g} % interval"
    )
