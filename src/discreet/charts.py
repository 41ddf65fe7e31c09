"""Pictures of what was published, as Vega-Lite specifications.

A chart is a plain dictionary: the numbers, and how they are drawn. It can be kept as JSON, shown by any program that
knows Vega-Lite, and turned into a picture by `render`, offline. Colours are those of Okabe and Ito, which people with
any colour vision can tell apart; nothing is told by colour alone.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from textwrap import wrap
from typing import Any

from discreet.columns import Level, text_of
from discreet.errors import DeclarationError, DiscreetError
from discreet.exact import exact_text
from discreet.guarantees import Ledger
from discreet.inference import CategoriesPosterior, plug_in

Spec = dict[str, Any]
Row = dict[str, Any]

AWARE, PLUG_IN = "noise-aware", "plug-in"
_BLUE, _VERMILION, _GREY, _INK, _PALE = "#0072B2", "#D55E00", "#767676", "#333333", "#E4E4E4"
_WIDTH = 460
_WIDEST_NAME, _WIDEST_TITLE = 30, 68  # letters in a line
_MOST_CELLS = 300  # a taller picture helps nobody
_MOST_CHARGES = 40  # earlier ones are shown together

_CONFIG: Spec = {
    "background": "white",
    "padding": 12,
    "font": "Helvetica, Arial, 'Liberation Sans', sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelFontSize": 13,
        "titleFontSize": 13,
        "titleFontWeight": "normal",
        "titlePadding": 10,
        "labelColor": _INK,
        "titleColor": _INK,
        "labelLimit": 0,
        "gridColor": _PALE,
        "domain": False,
        "ticks": False,
        "labelPadding": 6,
    },
    "axisY": {"grid": False},
    "header": {"labelFontSize": 13, "labelColor": _INK, "labelLimit": 0, "labelFontWeight": "bold"},
    "legend": {"labelFontSize": 12, "labelColor": _INK, "labelLimit": 0, "rowPadding": 4},
    "text": {"fontSize": 13, "fill": _INK},
    "title": {
        "anchor": "start",
        "frame": "bounds",
        "fontSize": 16,
        "color": "#111111",
        "subtitleFontSize": 13,
        "subtitleColor": _GREY,
        "subtitlePadding": 5,
        "offset": 14,
    },
}


def posterior_chart(posterior: CategoriesPosterior, level: float = 0.9) -> Spec:
    """Draw every cell's probability: the noise-aware interval, and what a reader would get who ignores the noise.

    The second is there for comparison, and only when a single release was read. Crossed columns are grouped.
    """
    cells = len(posterior.model.cells)
    if cells > _MOST_CELLS:
        raise DeclarationError(
            f"Cannot draw {cells} cells: at most {_MOST_CELLS} can be read in one picture. Nothing was drawn. "
            "Draw P(event | column) with comparison_chart, or read the numbers from the posterior."
        )
    *outer, inner = posterior.model.columns
    rows = _aware_rows(posterior, level) + _plug_in_rows(posterior, level)
    axis = {"title": _lines(inner.name), "labelExpr": _names(inner.levels)}
    picture: Spec = {
        "width": _WIDTH,
        "height": {"step": 36 if cells <= 16 else 26},
        "layer": _interval_layers(rows, {"field": "place", "type": "ordinal", "axis": axis}, level),
    }
    if outer:
        groups = dict.fromkeys(row["group"] for row in rows)
        header = {"title": None, "labelExpr": _names(groups), "labelAngle": 0, "labelAlign": "left", "labelPadding": 14}
        row = {"field": "group_place", "type": "ordinal", "header": header}
        picture = {"facet": {"row": row}, "spec": picture, "spacing": 14}
    return _chart(rows, _title(posterior), picture)


def comparison_chart(posterior: CategoriesPosterior, event: str, by: str, level: float = 0.9) -> Spec:
    """Draw P(event | column `by`) for each of its levels, with intervals, and P(event) as a line for reference."""
    names = [column.name for column in posterior.model.columns]
    if by not in names or len(names) < 2:
        raise DeclarationError(f"A comparison is by one of several crossed columns; {by!r} is not one of {names}.")
    rows: list[Row] = []
    for place, known in enumerate(posterior.model.columns[names.index(by)].levels):
        group = [cell for cell in posterior.model.cells if _parts(cell)[names.index(by)] == known]
        law = posterior.conditional(event, given=group)
        low, high = law.interval(level)
        shown = f"{_percent(law.mean)}  ({_percent(low)} to {_percent(high)})"
        rows.append({"place": place, "group": _text(known), "mean": law.mean, "low": low, "high": high, "shown": shown})
    overall = posterior.probability(event).mean
    y = {"field": "place", "type": "ordinal", "axis": {"title": _lines(by), "labelExpr": _names(_of(rows, "group"))}}
    x = _probability_axis(rows, f"P({event} | {by}): mean and {_share(level)} interval")
    line = {"data": {"values": [{"overall": overall, "name": f"all records: {_percent(overall)}"}]}}
    at = {"field": "overall", "type": "quantitative"}
    layers: list[Spec] = [
        line | {"mark": {"type": "rule", "strokeDash": [4, 4], "stroke": _GREY}, "encoding": {"x": at}},
        line | {"mark": _label(dy=-8, fill=_GREY), "encoding": {"x": at, "y": {"value": 0}, "text": {"field": "name"}}},
        {"mark": {"type": "rule", "stroke": _BLUE, "strokeWidth": 5}, "encoding": {"y": y, **x}},
        {
            "mark": {"type": "point", "shape": "circle", "size": 110, "fill": _BLUE, "stroke": "white", "opacity": 1},
            "encoding": {"y": y, "x": {"field": "mean", "type": "quantitative"}},
        },
        {
            "mark": _label(align="left", dx=12),
            "encoding": {"y": y, "x": {"value": "width"}, "text": {"field": "shown"}},
        },
    ]
    return _chart(rows, _title(posterior), {"width": _WIDTH, "height": {"step": 36}, "layer": layers})


def width_chart(rows: Sequence[Mapping[str, float]], title: str) -> Spec:
    """Draw the expected width of an interval against epsilon, and the width that exact counts would give.

    Each row has the keys 'epsilon', 'width' and 'non_private'.
    """
    values = [{key: float(row[key]) for key in ("epsilon", "width", "non_private")} for row in rows]
    values.sort(key=lambda row: row["epsilon"])
    if not values or values[0]["epsilon"] <= 0:
        raise DeclarationError("A chart of widths needs one or more rows, each with an epsilon above 0.")
    ticks = {"values": _of(values, "epsilon"), "format": "~g", "grid": False} if len(values) <= 12 else {}
    x = {
        "field": "epsilon",
        "type": "quantitative",
        "scale": {"type": "log", "nice": False},
        "axis": {"title": "epsilon, on a logarithmic scale (more privacy to the left)", **ticks},
    }
    axis = {"title": "Expected width of the interval", "format": "%"}
    y = {"field": "width", "type": "quantitative", "scale": {"zero": True}, "axis": axis}
    exact = {"field": "non_private", "type": "quantitative"}
    first, last = {"data": {"values": values[:1]}}, {"data": {"values": values[-1:]}}
    blue = {"type": "line", "stroke": _BLUE, "strokeWidth": 3, "point": {"filled": True, "fill": _BLUE, "size": 70}}
    layers: list[Spec] = [
        {"mark": {"type": "line", "stroke": _GREY, "strokeDash": [6, 4]}, "encoding": {"x": x, "y": exact}},
        {"mark": blue, "encoding": {"x": x, "y": y}},
        first
        | {
            "mark": _label(align="left", dx=10, dy=-10, fill=_BLUE, fontWeight="bold"),
            "encoding": {"x": x, "y": y, "text": {"value": "with privacy"}},
        },
        last
        | {
            "mark": _label(align="left", dx=10, fill=_GREY),
            "encoding": {"x": x, "y": exact, "text": {"value": "exact counts"}},
        },
    ]
    heading = {"text": _lines(title, _WIDEST_TITLE)}
    return _chart(values, heading, {"width": _WIDTH, "height": 280, "layer": layers})


def budget_chart(ledger: Ledger) -> Spec:
    """Draw how a ledger's epsilon was spent: one bar for each charge, starting where the one before ended."""
    entries = ledger.entries()
    rows = _charges([entry.body for entry in entries if entry.kind == "charge"])
    spent, limit = ledger.spent, ledger.limit
    left = limit.epsilon - spent.epsilon
    rows.append(_bar("left to spend", spent.epsilon, max(limit.epsilon, spent.epsilon), limit.epsilon))
    for place, row in enumerate(rows):
        row["place"] = place
    y = {"field": "place", "type": "ordinal", "axis": {"title": None, "labelExpr": _names(_of(rows, "label"))}}
    x = {"field": "start", "type": "quantitative", "axis": {"title": "epsilon spent, added up"}, "scale": {"zero": True}}
    bar = {"type": "bar", "height": {"band": 0.7}}
    fill = {"condition": {"test": f"datum.place == {len(rows) - 1}", "value": _PALE}, "value": _BLUE}
    at = {"field": "limit", "type": "quantitative"}
    edges = {"y": y | {"bandPosition": 0}, "y2": {"field": "place", "bandPosition": 1}}
    layers: list[Spec] = [
        {"mark": bar, "encoding": {"y": y, "x": x, "x2": {"field": "end"}, "fill": fill}},
        {"mark": {"type": "rule", "stroke": _VERMILION, "strokeWidth": 2}, "encoding": {"x": at, **edges}},
        {"mark": _label(align="left", dx=12), "encoding": {"y": y, "x": {"value": "width"}, "text": {"field": "cost"}}},
        {
            "data": {"values": [{"limit": rows[0]["limit"]}]},
            "mark": _label(dy=-8, fill=_VERMILION),
            "encoding": {"x": at, "y": {"value": 0}, "text": {"value": "limit"}},
        },
    ]
    created = entries[0].body
    delta = f", delta: {exact_text(spent.delta)} of {exact_text(limit.delta)}" if limit.delta else ""
    heading = {
        "text": _lines(f"Privacy budget of {created['population'] or ledger.path.name}", _WIDEST_TITLE),
        "subtitle": [
            f"epsilon: {exact_text(spent.epsilon)} of {exact_text(limit.epsilon)} spent{delta}"
            + ("" if left >= 0 else "; the limit was lowered below what is spent"),
            f"protects {created['unit']} ({created['adjacency']})",
        ],
    }
    return _chart(rows, heading, {"width": _WIDTH, "height": {"step": 28}, "layer": layers})


def render(spec: Spec, path: str | Path) -> None:
    """Write a chart as a picture (.png, .svg) or as its specification (.json), by the ending of the path."""
    place = Path(path)
    ending = place.suffix.lower()
    if ending == ".png":
        content = _converter().vegalite_to_png(spec, scale=2)
    elif ending == ".svg":
        content = _converter().vegalite_to_svg(spec).encode()
    elif ending == ".json":
        content = json.dumps(spec, indent=2, ensure_ascii=False).encode()
    else:
        raise DiscreetError(
            f"Cannot draw {str(place)!r}: a chart is written as .png, .svg or .json. Nothing was written."
        )
    try:
        place.write_bytes(content)
    except OSError as problem:
        raise DiscreetError(f"Cannot write the chart to {str(place)!r}: {problem.strerror}.") from None


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError:
        raise DiscreetError(
            'Pictures need the package vl-convert-python. Nothing was drawn. Install it: pip install "discreet[plots]"; '
            "or write the chart as .json, which needs nothing."
        ) from None
    return vl_convert


def _chart(rows: Sequence[Mapping[str, Any]], title: Spec, picture: Spec) -> Spec:
    schema = "https://vega.github.io/schema/vega-lite/v5.json"
    return {"$schema": schema, "title": title, "data": {"values": list(rows)}, **picture, "config": _CONFIG}


def _title(posterior: CategoriesPosterior) -> Spec:
    first, *more = posterior.releases
    label = first.label + (f" and {len(more)} more" if more else "")
    given = [release.guarantee for release in posterior.releases]
    epsilons = " + ".join(exact_text(guarantee.epsilon) for guarantee in given)
    delta = sum(guarantee.delta for guarantee in given)
    facts = [f"{posterior.size:,} records", f"epsilon = {epsilons}", *([f"delta = {exact_text(delta)}"] if delta else [])]
    return {
        "text": _lines(("SIMULATED: " if first.simulated else "") + label, _WIDEST_TITLE),
        "subtitle": " · ".join([*facts, f"neighbours: {given[0].adjacency.value}"]),
    }


def _aware_rows(posterior: CategoriesPosterior, level: float) -> list[Row]:
    means, intervals = posterior.mean, posterior.interval(level)
    numbers = [(means[cell], *intervals[cell]) for cell in posterior.model.cells]
    return _rows(posterior, AWARE, numbers)


def _plug_in_rows(posterior: CategoriesPosterior, level: float) -> list[Row]:
    """Return the naive reading under the same prior, if there is one release to read."""
    if len(posterior.releases) > 1:
        return []
    naive = plug_in(posterior.releases[0].with_prior(posterior.model.prior))
    laws = [naive.marginal(place) for place in range(len(naive.concentration))]
    return _rows(posterior, PLUG_IN, [(law.mean, *law.interval(level)) for law in laws])


def _rows(posterior: CategoriesPosterior, reading: str, numbers: Iterable[tuple[float, float, float]]) -> list[Row]:
    """Return one row for each cell; its place within the last column and the place of its group give the order."""
    *outer, inner = posterior.model.columns
    rows = []
    for place, (cell, (mean, low, high)) in enumerate(zip(posterior.model.cells, numbers, strict=True)):
        *group, own = _parts(cell)
        row = {"cell": _text(own), "reading": reading, "mean": mean, "low": low, "high": high}
        row["group_place"], row["place"] = divmod(place, len(inner.levels))
        row["group"] = ", ".join(f"{c.name} {_text(v)}" for c, v in zip(outer, group, strict=True))
        rows.append(row)
    return rows


def _interval_layers(rows: list[Row], y: Spec, level: float) -> list[Spec]:
    """Return lines and dots for both readings, side by side in each cell's row, with one legend for all."""
    readings = list(dict.fromkeys(_of(rows, "reading")))
    words = {
        AWARE: f"Noise-aware: mean and {_share(level)} interval, privacy noise taken into account",
        PLUG_IN: "Plug-in: noisy counts read as if they were true; too narrow, for comparison only",
    }
    legend = {"title": None, "orient": "top", "direction": "vertical", "labelExpr": f"{json.dumps(words)}[datum.label]"}

    def by_reading(aware: Any, naive: Any, shown: Spec | None = None) -> Spec:
        scale = {"domain": readings, "range": [aware, naive][: len(readings)]}
        return {"field": "reading", "type": "nominal", "scale": scale, "legend": shown}

    offset = {"field": "reading", "scale": {"domain": readings, "paddingOuter": 0.8}}
    rows_of = {"y": y, "yOffset": offset} if len(readings) > 1 else {"y": y}
    line = {"stroke": by_reading(_BLUE, _GREY), "strokeWidth": by_reading(5, 1.5)}
    dot = {"stroke": by_reading(_BLUE, _GREY, legend), "fill": by_reading(_BLUE, "white", legend)}
    mean = {"field": "mean", "type": "quantitative"}
    return [
        {"mark": "rule", "encoding": {**rows_of, **_probability_axis(rows, "Probability of the cell"), **line}},
        {
            "mark": {"type": "point", "shape": "circle", "size": 80, "opacity": 1, "strokeWidth": 1.5},
            "encoding": {**rows_of, "x": mean, **dot},
        },
    ]


def _probability_axis(rows: list[Row], title: str) -> Spec:
    """Return the two ends of an interval on an axis in percent, which starts at 0 unless that wastes most of it."""
    zero = min(_of(rows, "low")) < 0.5 * max(_of(rows, "high"))
    axis = {"title": _lines(title, _WIDEST_TITLE), "format": "%", "tickCount": 6}
    x = {"field": "low", "type": "quantitative", "scale": {"zero": zero, "nice": True}, "axis": axis}
    return {"x": x, "x2": {"field": "high"}}


def _charges(bodies: list[dict[str, Any]]) -> list[Row]:
    """Return a bar for each charge; if there are many, the early ones together."""
    early = bodies[: -_MOST_CHARGES + 1] if len(bodies) > _MOST_CHARGES else []
    rows = [_bar(f"the first {len(early)} charges", Fraction(0), *_after(early[-1]))] if early else []
    for body in bodies[len(early) :]:
        end, limit = _after(body)
        rows.append(_bar(body["label"], end - Fraction(body["cost"]["epsilon"]), end, limit))
    return rows


def _after(body: dict[str, Any]) -> tuple[Fraction, Fraction]:
    return Fraction(body["spent"]["epsilon"]), Fraction(body["limit"]["epsilon"])


def _bar(label: str, start: Fraction, end: Fraction, limit: Fraction) -> Row:
    cost = exact_text(end - start)
    return {"label": label, "start": float(start), "end": float(end), "limit": float(limit), "cost": cost}


def _label(**how: Any) -> Spec:
    return {"type": "text", "baseline": "middle", **how}


def _lines(text: str, widest: int = _WIDEST_NAME) -> list[str]:
    """Return a text as lines that fit."""
    return wrap(text, widest) or [""]


def _names(texts: Iterable[Level]) -> str:
    """Return an expression for the name of a place; places, not names, are drawn, so that no two names can be mixed."""
    return f"{json.dumps([_lines(_text(text)) for text in texts])}[datum.value]"


def _parts(cell: Any) -> tuple[Level, ...]:
    return cell if isinstance(cell, tuple) else (cell,)


def _text(level: Level) -> str:
    return str(text_of(level))


def _of(rows: Sequence[Mapping[str, Any]], key: str) -> list[Any]:
    return [row[key] for row in rows]


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _share(level: float) -> str:
    return f"{100 * level:g} %"
