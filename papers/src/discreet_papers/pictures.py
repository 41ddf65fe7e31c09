"""Charts of reproductions, as Vega-Lite specifications: lines over a number, told apart by colour, shape and dash.

Colours are those of Okabe and Ito, which people with any colour vision can tell apart; nothing is told by colour alone.
"""

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from discreet_papers.reproduction import Row, Spec

_BLUE, _VERMILION, _GREEN, _PURPLE, _ORANGE = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"
_GREY, _INK, _PALE = "#767676", "#333333", "#E4E4E4"
_COLOURS = (_BLUE, _VERMILION, _GREEN, _PURPLE, _ORANGE, _GREY)
_DASHES = ([1, 0], [7, 4], [2, 3], [9, 3, 2, 3], [4, 2], [1, 1])
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
_CONFIG: Spec = {
    "background": "white",
    "padding": 12,
    "font": "Helvetica, Arial, 'Liberation Sans', sans-serif",
    "view": {"stroke": None},
    "axis": {
        **{"labelFontSize": 13, "labelColor": _INK, "labelPadding": 8, "titleFontSize": 13, "titleColor": _INK},
        **{"titleFontWeight": "normal", "titlePadding": 10, "domain": False, "ticks": False, "gridColor": _PALE},
    },
    "legend": {"labelFontSize": 13, "labelColor": _INK, "labelLimit": 0, "rowPadding": 4, "symbolSize": 90},
    "title": {"anchor": "start", "frame": "bounds", "offset": 12, "fontSize": 16, "color": "#111111"},
}


def axis(title: str, *, logarithmic: bool = False, zero: bool = True, ticks: Sequence[float] | None = None) -> Spec:
    """Return how an axis looks; on a logarithmic scale the ticks are usually given."""
    scale: Spec = {"type": "log", "nice": False} if logarithmic else {"zero": zero}
    marked = {"tickCount": 6} if ticks is None else {"values": list(ticks), "labelOverlap": False}
    return {"scale": scale, "axis": {"title": title, "format": ",~f", "labelFlush": False, **marked}}


def lines(
    title: str, rows: Sequence[Row], x: Spec, y: Spec, *, points: bool = True, least: float | None = None
) -> Spec:
    """Draw one line for each series. Rows have the keys x, y, series, and error where an interval is to be shown.

    `least` is the lower end of the vertical axis. The legend stands above, in the order in which series first appear.
    """
    names = list(dict.fromkeys(row["series"] for row in rows))
    down = y if least is None else y | {"scale": y["scale"] | {"domainMin": least, "zero": False}}
    place = {"x": {"field": "x", "type": "quantitative", **x}, "y": {"field": "y", "type": "quantitative", **down}}
    symbol = {} if points else {"symbolType": "stroke", "symbolSize": 900}
    colour, dash, shape = (_look(names, values, symbol) for values in (_COLOURS, _DASHES, _SHAPES))
    hidden = dash | {"legend": None} if points else dash  # a symbol with a dashed outline cannot be recognised
    layers = [
        _layer({"type": "line", "strokeWidth": 2.5, "clip": True}, {**place, "color": colour, "strokeDash": hidden})
    ]
    if any("error" in row for row in rows):
        layers.append(_error_bars(rows, place, colour))
    if points:
        mark = {"type": "point", "filled": True, "size": 70, "opacity": 1}
        layers.append(_layer(mark, {**place, "color": colour, "shape": shape}))
    return _chart(title, rows, layers)


def with_level(chart: Spec, value: float, words: str, *, left: bool = False) -> Spec:
    """Return a chart with a horizontal line at a value, and words on its right or left end."""
    at = {"field": "y", "type": "quantitative"}
    data = {"values": [{"y": value, "words": words}]}
    side = {"align": "left", "dx": 6} if left else {"align": "right"}
    text = {"type": "text", **side, "dy": -8, "fontSize": 13, "fill": _GREY}
    added = [
        {"data": data, "mark": {"type": "rule", "stroke": _GREY, "strokeDash": [4, 4]}, "encoding": {"y": at}},
        {
            "data": data,
            "mark": text,
            "encoding": {"y": at, "x": {"value": 0 if left else "width"}, "text": {"field": "words"}},
        },
    ]
    return chart | {"layer": [*chart["layer"], *added]}


def _look(names: Sequence[str], values: Sequence[Any], symbol: Spec) -> Spec:
    """Return how series are told apart: by the values in turn, explained above the chart."""
    legend = {"title": None, "orient": "top", "direction": "vertical", **symbol}
    scale = {"domain": list(names), "range": list(values[: len(names)])}
    return {"field": "series", "type": "nominal", "sort": list(names), "scale": scale, "legend": legend}


def _error_bars(rows: Sequence[Row], place: Spec, colour: Spec) -> Spec:
    """Return one standard error up and down."""
    ends = [row | {"y": row["y"] - row["error"], "high": row["y"] + row["error"]} for row in rows if row.get("error")]
    encoding = {**place, "y2": {"field": "high"}, "color": colour}
    return {"data": {"values": ends}, **_layer({"type": "rule", "strokeWidth": 1.5}, encoding)}


def _layer(mark: Spec, encoding: Spec) -> Spec:
    return {"mark": mark, "encoding": encoding}


def _chart(title: str, rows: Sequence[Row], layers: list[Spec]) -> Spec:
    whole: dict[str, Any] = {"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "title": wrap(title, 68)}
    values = [{key: row[key] for key in ("x", "y", "series")} for row in rows]
    return whole | {"data": {"values": values}, "width": 520, "height": 300, "layer": layers, "config": _CONFIG}
