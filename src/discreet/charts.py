"""Pictures of what was published, as Vega-Lite specifications.

A chart is a plain dictionary: the numbers, and how they are drawn. It can be kept as JSON, shown by any program that
knows Vega-Lite, and turned into a picture by `render`, offline. Colours are those of Okabe and Ito, which people with
any colour vision can tell apart; nothing is told by colour alone. Rows are drawn by their place, not by their name, so
that no two names can be taken for one.
"""

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from fractions import Fraction
from math import isfinite
from pathlib import Path
from textwrap import wrap
from typing import Any

from discreet.columns import text_of
from discreet.errors import DeclarationError, DiscreetError
from discreet.exact import exact_text
from discreet.guarantees import Budget, Ledger, Totals, read_amount
from discreet.inference import CategoriesPosterior, plug_in
from discreet.models.categories import Cell

Spec = dict[str, Any]
Lines = list[str]

AWARE, PLUG_IN = "noise-aware", "plug-in"
MOST_CELLS = 300
"""A picture of more cells is too tall to be read."""
MOST_CHARGES = 40
"""A budget with more charges shows the earliest of them as one."""

_BLUE, _VERMILION, _GREY, _INK, _PALE = "#0072B2", "#D55E00", "#767676", "#333333", "#E4E4E4"
_WIDTH = 460
_LINE = 15  # height of a line of a name
_LEGEND = {"title": None, "orient": "top", "direction": "vertical"}
_CONFIG: Spec = {
    "background": "white",
    "padding": 12,
    "font": "Helvetica, Arial, 'Liberation Sans', sans-serif",
    "view": {"stroke": None},
    "axis": {
        **{"labelFontSize": 13, "labelColor": _INK, "labelLimit": 0, "labelPadding": 8, "labelFlush": False},
        **{"titleFontSize": 13, "titleColor": _INK, "titleFontWeight": "normal", "titlePadding": 10},
        **{"domain": False, "ticks": False, "gridColor": _PALE},
    },
    "header": {"labelFontSize": 13, "labelColor": _INK, "labelLimit": 0, "labelFontWeight": "bold"},
    "legend": {"labelFontSize": 12, "labelColor": _INK, "labelLimit": 0, "rowPadding": 4},
    "text": {"fontSize": 13, "fill": _INK},
    "title": {
        **{"anchor": "start", "frame": "bounds", "offset": 14, "fontSize": 16, "color": "#111111"},
        **{"subtitleFontSize": 13, "subtitleColor": _GREY, "subtitlePadding": 5},
    },
}


def posterior_chart(posterior: CategoriesPosterior, level: float = 0.9) -> Spec:
    """Draw every cell's probability: the noise-aware interval, and what a reader would get who ignores the noise.

    The second is there for comparison, and only when a single release was read. Crossed columns are grouped.
    """
    cells, (*outer, inner) = len(posterior.model.cells), posterior.model.columns
    if cells > MOST_CELLS:
        raise DeclarationError(f"Cannot draw {cells} cells: at most {MOST_CELLS} can be read. Nothing was drawn.")
    rows = _aware_rows(posterior, level) + _plug_in_rows(posterior, level)
    names = [_lines(_text(known)) for known in inner.levels]
    what = "combination of " + " and ".join([", ".join(c.name for c in outer), inner.name])
    title = f"Probability of each {what if outer else f'level of {inner.name}'}"
    picture: Spec = {
        "width": _WIDTH,
        "height": _row_height(names, 36 if cells <= 16 else 28),
        "layer": _two_readings(rows, _named_rows(names), title, level),
    }
    if outer:
        groups = [_lines(group) for group in {row["group_place"]: row["group"] for row in rows}.values()]
        header = {"title": None, "labelExpr": _names(groups), "labelAngle": 0, "labelAlign": "left", "labelPadding": 14}
        facet = {"field": "group_place", "type": "ordinal", "header": header}
        picture = {"facet": {"row": facet}, "spec": picture, "spacing": 14}
    return _chart(rows, _title(posterior), picture)


def comparison_chart(posterior: CategoriesPosterior, event: str, by: str, level: float = 0.9) -> Spec:
    """Draw P(event | column `by`) for each of its levels, with intervals, and P(event) as a line for reference."""
    columns = [column.name for column in posterior.model.columns]
    if by not in columns or len(columns) < 2:
        raise DeclarationError(f"A comparison is by one of several crossed columns; {by!r} is not one of {columns}.")
    rows = _group_rows(posterior, event, columns.index(by), level)
    mean = posterior.probability(event).mean
    overall, at = [{"overall": mean, "text": f"overall {100 * mean:.1f} %"}], _number("overall")
    names = [_lines(row["group"]) for row in rows]
    y = _named_rows(
        names, title=_lines(by, 99)[0], titleLimit=230, titleAngle=0, titleAlign="right", titleX=-8, titleY=-2
    )
    ends = _interval(rows, f"P({event} | {by}): mean and {100 * level:g} % interval")
    dot = {"type": "point", "shape": "circle", "filled": True, "size": 110, "color": _BLUE, "opacity": 1}
    layers = [
        _layer({"type": "rule", "stroke": _GREY, "strokeDash": [4, 4]}, {"x": at}, overall),
        _layer(_words(dy=-9, fill=_GREY), {"x": at, "y": {"value": 0}, "text": {"field": "text"}}, overall),
        _layer({"type": "rule", "stroke": _BLUE, "strokeWidth": 5}, {"y": y, **ends}),
        _layer(dot, {"y": y, "x": _number("mean")}),
        _layer(_words(align="left", dx=14), {"y": y, "x": {"value": "width"}, "text": {"field": "text"}}),
    ]
    return _chart(rows, _title(posterior), {"width": _WIDTH, "height": _row_height(names, 36), "layer": layers})


def width_chart(rows: Sequence[Mapping[str, float]], title: str) -> Spec:
    """Draw the expected width of an interval against epsilon, and the width that exact counts would give.

    Each row has the keys 'epsilon', 'width' and 'non_private'.
    """
    values = [{key: float(row[key]) for key in ("epsilon", "width", "non_private")} for row in rows]
    values.sort(key=lambda row: row["epsilon"])
    if not values or values[0]["epsilon"] <= 0:
        raise DeclarationError("A chart of widths needs one or more rows, each with an epsilon above 0.")
    few = len(values) <= 12
    ticks = {"values": [row["epsilon"] for row in values]} if few else {}
    axis = {"title": "epsilon, on a logarithmic scale (more privacy to the left)", "format": "~g", "grid": False}
    x = _number("epsilon", scale={"type": "log", "nice": False}, axis={**axis, **ticks, "labelSeparation": 8})
    y = _number("width", axis={"title": "Expected width of the interval", "format": "%", "tickCount": 5})
    exact = _number("non_private")
    point = {"filled": True, "fill": _BLUE, "size": 70 if few else 25}
    line = {"type": "line", "stroke": _BLUE, "strokeWidth": 3, "point": point}
    private = _words(align="left", dx=10, dy=-10, fill=_BLUE, fontWeight="bold")
    known = _words(align="left", dx=14, fill=_GREY)
    layers = [
        _layer({"type": "line", "stroke": _GREY, "strokeDash": [6, 4]}, {"x": x, "y": exact}),
        _layer(line, {"x": x, "y": y}),
        _layer(private, {"x": x, "y": y, "text": {"value": "with privacy"}}, values[:1]),
        _layer(known, {"x": x, "y": exact, "text": {"value": "exact counts"}}, values[-1:]),
    ]
    return _chart(values, {"text": _lines(title, 68)}, {"width": _WIDTH, "height": 260, "layer": layers})


def budget_chart(ledger: Ledger) -> Spec:
    """Draw how a ledger's budget was spent: one bar for each charge, starting where the one before ended.

    The scale is the currency of the ledger's accountant: epsilon, or rho for zCDP.
    """
    entries = ledger.entries()
    created, newest = entries[0].body, entries[-1].body
    spent, limit = read_amount(newest["spent"]), read_amount(newest["limit"])
    name = next(iter(limit.document()))
    gone, most = getattr(spent, name), getattr(limit, name)
    left = _bar("left to spend", gone, max(most, gone), most)
    rows = [*_charges([entry.body for entry in entries if entry.kind == "charge"], name), left]
    rows = [row | {"place": place} for place, row in enumerate(rows)]
    names = [_lines(row["label"], 44, most=2) for row in rows]
    y, at = _named_rows(names), _number("limit")
    x = _number("start", axis={"title": f"{name}, added up", "tickCount": 6})
    fill = {"condition": {"test": f"datum.place == {len(rows) - 1}", "value": _PALE}, "value": _BLUE}
    whole_row = {"y": y | {"bandPosition": 0}, "y2": {"field": "place", "bandPosition": 1}}
    top, right, first, beside = {"value": 0}, {"value": "width"}, rows[:1], {"align": "left", "dx": 14}
    layers = [
        _layer({"type": "bar", "height": 18}, {"y": y, "x": x, "x2": {"field": "end"}, "fill": fill}),
        _layer({"type": "rule", "stroke": _VERMILION, "strokeWidth": 2}, {"x": at, **whole_row}),
        _layer(_words(dy=-9, fill=_VERMILION, align="right"), {"x": at, "y": top, "text": {"value": "limit"}}, first),
        _layer(_words(**beside), {"y": y, "x": right, "text": {"field": "cost"}}),
        _layer(_words(**beside, dy=-9, fill=_GREY), {"x": right, "y": top, "text": {"value": name}}, first),
    ]
    title = _budget_title(created["population"] or ledger.path.name, created, spent, limit, ledger.declared_limit)
    return _chart(rows, title, {"width": _WIDTH, "height": _row_height(names, 26), "layer": layers})


def composition_chart(totals: Totals, number: int) -> Spec:
    """Draw what several releases cost together by each rule that says something."""
    words = {
        "basic": "basic: epsilons add",
        "advanced": "advanced, closed form",
        "zcdp": "zCDP: rhos add",
        "planned": "as one plan: losses convolved",
    }
    figures = [(words[rule], float(getattr(totals, rule))) for rule in words]
    known = [(rule, epsilon) for rule, epsilon in figures if isfinite(epsilon)]
    rows = [
        {"place": place, "rule": rule, "epsilon": epsilon, "text": f"{epsilon:.4g}"}
        for place, (rule, epsilon) in enumerate(known)
    ]
    names = [[rule] for rule, _ in known]
    y, x = _named_rows(names), _number("epsilon", axis={"title": "epsilon", "tickCount": 6})
    fill = {"condition": {"test": f"datum.rule == '{words['planned']}'", "value": _BLUE}, "value": _PALE}
    layers = [
        _layer({"type": "bar", "height": 18}, {"y": y, "x": x, "fill": fill}),
        _layer(_words(align="left", dx=6), {"y": y, "x": x, "text": {"field": "text"}}),
    ]
    title = {
        "text": f"{number} releases together",
        "subtitle": [f"at delta = {exact_text(totals.delta)}; the plan must be fixed before the first draw"],
    }
    return _chart(rows, title, {"width": _WIDTH, "height": _row_height(names, 26), "layer": layers})


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
        raise DiscreetError(f"Cannot draw {str(place)!r}: charts are .png, .svg or .json files. Nothing was written.")
    try:
        place.write_bytes(content)
    except OSError as problem:
        raise DiscreetError(f"Cannot write the chart to {str(place)!r}: {problem.strerror}.") from None


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError:
        raise DiscreetError(
            'Pictures need one more package: pip install "discreet[plots]". Nothing was drawn. '
            "A chart can be written as .json without it."
        ) from None
    return vl_convert


def _chart(rows: Sequence[Spec], title: Spec, picture: Spec) -> Spec:
    schema = "https://vega.github.io/schema/vega-lite/v5.json"
    return {"$schema": schema, "title": title, "data": {"values": list(rows)}, **picture, "config": deepcopy(_CONFIG)}


def _layer(mark: Spec, encoding: Spec, rows: Sequence[Spec] | None = None) -> Spec:
    """Return one layer of marks, on rows of its own or else on those of the chart."""
    return {**({} if rows is None else {"data": {"values": list(rows)}}), "mark": mark, "encoding": encoding}


def _number(field: str, **how: Any) -> Spec:
    return {"field": field, "type": "quantitative", **how}


def _words(**how: Any) -> Spec:
    return {"type": "text", "baseline": "middle", **how}


def _title(posterior: CategoriesPosterior) -> Spec:
    first, *more = posterior.releases
    label = ("SIMULATED: " if first.simulated else "") + first.label + (f" and {len(more)} more" if more else "")
    given = [release.guarantee for release in posterior.releases]
    delta = sum((guarantee.delta for guarantee in given), Fraction(0))
    facts = [f"{posterior.size:,} records", f"epsilon = {' + '.join(exact_text(each.epsilon) for each in given)}"]
    facts += [f"delta = {exact_text(delta)}"] if delta else []
    facts += [f"neighbours: {given[0].adjacency.value}"]
    unit = _lines(f"for {first.unit.description} with up to {first.unit.rows} records", 80)
    return {"text": _lines(label, 68), "subtitle": [" · ".join(facts), *(unit if first.unit.rows > 1 else [])]}


def _budget_title(name: str, created: dict[str, Any], spent: Any, limit: Any, declared: Budget) -> Spec:
    unit = next(iter(limit.document()))
    gone, most = getattr(spent, unit), getattr(limit, unit)
    over = "; the limit was lowered below this" if gone > most else ""
    lines = [f"{unit}: {_amount(gone)} of {_amount(most)} spent{over}"]
    lines += [f"delta: {_amount(spent.delta)} of {_amount(limit.delta)} spent"] if limit.delta else []
    lines += [f"zCDP, converted from a limit of {declared.words()}"] if unit == "rho" else []
    lines += _lines(f"protects {created['unit']} (neighbours: {created['adjacency']})", 80)
    return {"text": _lines(f"Privacy budget: {name}", 68), "subtitle": lines}


def _aware_rows(posterior: CategoriesPosterior, level: float) -> list[Spec]:
    means, intervals = posterior.mean, posterior.interval(level)
    return _cell_rows(posterior, AWARE, [(means[cell], *intervals[cell]) for cell in posterior.model.cells])


def _plug_in_rows(posterior: CategoriesPosterior, level: float) -> list[Spec]:
    """Return the naive reading under the same prior, if there is one release to read."""
    if len(posterior.releases) > 1:
        return []
    naive = plug_in(posterior.releases[0].with_prior(posterior.model.prior))
    laws = [naive.marginal(place) for place in range(len(naive.concentration))]
    return _cell_rows(posterior, PLUG_IN, [(law.mean, *law.interval(level)) for law in laws])


def _cell_rows(posterior: CategoriesPosterior, reading: str, laws: Sequence[tuple[float, float, float]]) -> list[Spec]:
    """Return one row for each cell; the places of its group and of its level within the group give the order."""
    *outer, inner = posterior.model.columns
    rows = []
    for number, (cell, (mean, low, high)) in enumerate(zip(posterior.model.cells, laws, strict=True)):
        *group, own = _texts(cell)
        row: Spec = {"cell": own, "reading": reading, "mean": mean, "low": low, "high": high}
        row["group"] = ", ".join(f"{column.name} {known}" for column, known in zip(outer, group, strict=True))
        row["group_place"], row["place"] = divmod(number, len(inner.levels))
        rows.append(row)
    return rows


def _group_rows(posterior: CategoriesPosterior, event: str, column: int, level: float) -> list[Spec]:
    rows = []
    for place, known in enumerate(map(_text, posterior.model.columns[column].levels)):
        law = posterior.conditional(event, [cell for cell in posterior.model.cells if _texts(cell)[column] == known])
        low, high = law.interval(level)
        text = f"{100 * law.mean:.1f} %  ({100 * low:.1f} to {100 * high:.1f})"
        rows.append({"place": place, "group": known, "mean": law.mean, "low": low, "high": high, "text": text})
    return rows


def _charges(bodies: list[dict[str, Any]], name: str) -> list[Spec]:
    """Return a bar for each charge, as long as what it added; if there are many, the early ones together."""
    early = len(bodies) - MOST_CHARGES + 1 if len(bodies) > MOST_CHARGES else 0
    ends = [Fraction(body["spent"][name]) for body in bodies]
    limits = [Fraction(body["limit"][name]) for body in bodies]
    starts = [Fraction(0), *ends]
    rows = [_bar(f"the first {early} charges", Fraction(0), ends[early - 1], limits[early - 1])] if early else []
    for body, start, end, limit in list(zip(bodies, starts, ends, limits, strict=False))[early:]:
        rows.append(_bar(body["label"], start, end, limit))
    return rows


def _bar(label: str, start: Fraction, end: Fraction, limit: Fraction) -> Spec:
    cost = _amount(end - start)
    return {"label": label, "start": float(start), "end": float(end), "limit": float(limit), "cost": cost}


def _amount(number: Fraction) -> str:
    """Return a number exactly, or nearly if that would take too much room."""
    text = exact_text(number)
    return text if len(text) <= 12 else f"about {float(number):.5g}"


def _two_readings(rows: list[Spec], y: Spec, title: str, level: float) -> list[Spec]:
    """Return lines and dots for both readings, side by side in each cell's row, with one legend for all."""
    readings = list(dict.fromkeys(row["reading"] for row in rows))
    meaning = {
        AWARE: f"Noise-aware: mean and {100 * level:g} % interval, privacy noise taken into account",
        PLUG_IN: "Plug-in: noisy counts read as if they were true; for comparison only",
    }
    legend = {**_LEGEND, "labelExpr": f"{json.dumps(meaning)}[datum.label]"}

    def each(aware: Any, naive: Any) -> Spec:
        return {"condition": {"test": f"datum.reading == '{PLUG_IN}'", "value": naive}, "value": aware}

    def explained(aware: str, naive: str) -> Spec:
        scale = {"domain": readings, "range": [aware, naive][: len(readings)]}
        return {"field": "reading", "type": "nominal", "scale": scale, "legend": legend}

    beside = {"yOffset": {"field": "reading", "scale": {"domain": readings, "paddingOuter": 0.3}}}
    where = {"y": y, **(beside if len(readings) > 1 else {})}
    line = {"stroke": each(_BLUE, _GREY), "strokeWidth": each(5, 1.5)}
    look = {"fill": explained(_BLUE, "white"), "stroke": explained(_BLUE, _GREY), "size": each(75, 45)}
    dot = {"type": "point", "shape": "circle", "opacity": 1, "strokeWidth": 1.5}
    return [
        _layer({"type": "rule"}, {**where, **_interval(rows, title), **line}),
        _layer(dot, {**where, "x": _number("mean"), **look}),
    ]


def _interval(rows: list[Spec], title: str) -> Spec:
    """Return the two ends of an interval on an axis in percent, which starts at 0 unless that wastes half of it."""
    zero = min(row["low"] for row in rows) < 0.5 * max(row["high"] for row in rows)
    axis = {"title": _lines(title, 68), "format": "%", "tickCount": 6}
    return {"x": _number("low", scale={"zero": zero, "nice": 6}, axis=axis), "x2": {"field": "high"}}


def _named_rows(names: Sequence[Lines], **axis: Any) -> Spec:
    """Return the axis of named rows. Names of several lines are lifted: they would hang down from the row's middle."""
    lifts = []
    for many in sorted({len(name) for name in names} - {1}):
        places = [place for place, name in enumerate(names) if len(name) == many]
        lifts.append({"test": f"indexof({places}, datum.value) >= 0", "value": -_LINE * (many - 1) / 2})
    offset = {"labelOffset": {"condition": lifts, "value": 0}} if lifts else {}
    look = {"title": None, "grid": False, "labelExpr": _names(names), **offset, **axis}
    return {"field": "place", "type": "ordinal", "scale": {"padding": 0}, "axis": look}


def _row_height(names: Sequence[Lines], least: int) -> Spec:
    """Return a height that grows with the number of rows, each as high as the longest name needs."""
    return {"step": max(least, 8 + _LINE * max(map(len, names))), "for": "position"}


def _names(names: Sequence[Lines]) -> str:
    """Return the expression for the name of a place."""
    return f"{json.dumps(names)}[datum.value]"


def _lines(text: str, widest: int = 34, most: int = 3) -> Lines:
    """Return a text as lines of at most so many letters, cut off if there are too many, without control characters."""
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    return wrap(shown, widest, max_lines=most, placeholder=" …") or [""]


def _texts(cell: Cell) -> tuple[str, ...]:
    return tuple(map(_text, cell)) if isinstance(cell, tuple) else (_text(cell),)


def _text(level: str | int) -> str:
    return str(text_of(level))
