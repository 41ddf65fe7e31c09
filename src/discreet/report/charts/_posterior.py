"""A posterior as a chart: intervals below each other for any model, or the graph of a network."""

import json
from collections.abc import Sequence
from dataclasses import replace

from discreet._core.errors import DeclarationError
from discreet.inference import (
    DAYS,
    NOTHING_KNOWN,
    PROBABILITY,
    HasDistribution,
    HasEvents,
    HasGraph,
    HasIntervalPicture,
    IntervalLine,
    Intervals,
    Posterior,
    Row,
    intervals_of,
    percent_text,
    require_posterior,
)
from discreet.mechanism import probability_name
from discreet.report import BLUE, GREY, INK, PAPER
from discreet.report.charts._distribution import distribution_chart
from discreet.report.charts._drawing import (
    WIDTH,
    Spec,
    chart,
    days_axis,
    interval_ends,
    layer,
    lines_of,
    measured,
    named_rows,
    names_by_index,
    posterior_title,
    row_height,
    words,
)
from discreet.report.charts._network import network_chart

AWARE, PLUG_IN = "noise-aware", "plug-in"
MOST_INTERVALS, MOST_PICTURED = 300, 40
"""A picture of more than 300 intervals is too tall to be read: then the 40 largest are drawn, and a note says so."""

_LEGEND = {"title": None, "orient": "top", "direction": "vertical"}


def posterior_chart(posterior: Posterior, level: float = 0.9) -> Spec:
    """Draw what suits a posterior: a distribution, the graph of a network with its tables, else its intervals."""
    require_posterior(posterior, "Nothing was drawn")
    if isinstance(posterior, HasDistribution) and (picture := posterior.distribution(level)) is not None:
        return distribution_chart(posterior, picture, level)
    return network_chart(posterior, level) if isinstance(posterior, HasGraph) else interval_chart(posterior, level)


def interval_chart(posterior: Posterior, level: float = 0.9) -> Spec:
    """Draw intervals below each other, in groups; beside them those of a reader who ignores the noise, if known.

    A table of categories has such careless intervals when a single release was read. A regression shows effects, which
    have one unit, with the coefficients in words beside them.
    """
    require_posterior(posterior, "Nothing was drawn")
    if isinstance(posterior, HasIntervalPicture):
        return _drawn(posterior.intervals(level), posterior_title(posterior), level)
    return _drawn(intervals_of(posterior.rows(level), level), posterior_title(posterior), level)


def comparison_chart(posterior: Posterior, event: str, by: str, level: float = 0.9) -> Spec:
    """Draw P(event | column `by`) for each of its levels, with intervals, and P(event) as a line for reference."""
    require_posterior(posterior, "Nothing was drawn")
    if not isinstance(posterior, HasEvents):
        raise DeclarationError(
            "A comparison is about the probability of an event in groups of records, and "
            f"{posterior.text.subject} has no events. Nothing was compared."
        )
    columns = [column.name for column in posterior.columns]
    if by not in columns or len(columns) < 2:
        raise DeclarationError(
            f"Groups must be the levels of one of several crossed columns; {by!r} is not one of {columns}."
        )
    lines = []
    for row in posterior.rates(event, by, level):
        known = f"{100 * row.mean:.1f} %  ({100 * row.low:.1f} to {100 * row.high:.1f})"
        text = f"{NOTHING_KNOWN if row.is_unknown else known}  ·  {row.records_text}"
        lines.append(
            IntervalLine(
                row.given.removeprefix(f"{by}="), row.mean, row.low, row.high, text=text, drawn=not row.is_unknown
            )
        )
    mean = posterior.chance(event).mean
    overall = (mean, f"overall {100 * mean:.1f} %")
    axis = f"{probability_name(event, by)}: mean and {percent_text(level)} interval"
    who = posterior.releases[0].model.protects.removeprefix("one ")
    picture = Intervals(axis, tuple(lines), reference=overall, heading=f"rate (interval)  ·  {who}s in the group")
    return _drawn(picture, posterior_title(posterior), level, by)


def rows_chart(posterior: Posterior, rows: Sequence[Row], level: float = 0.9, note: str = "") -> Spec:
    """Draw some rows of a posterior with their intervals; a note below the title may say which these are."""
    require_posterior(posterior, "Nothing was drawn")
    title = posterior_title(posterior)
    return _drawn(intervals_of(rows, level), title | {"subtitle": [*title["subtitle"], note]} if note else title, level)


def _drawn(picture: Intervals, title: Spec, level: float, name: str = "") -> Spec:
    """Return a chart of intervals; `name` is what their names are levels of."""
    picture, note = _readable(picture)
    title = title | {"subtitle": [*title["subtitle"], note]} if note else title
    groups = list(dict.fromkeys(line.group for line in picture.lines))
    own = [[line.name for line in picture.lines if line.group == group] for group in groups]
    rows = _rows(picture.lines, AWARE, groups) + _rows(picture.careless, PLUG_IN, groups)
    look = {"title": lines_of(name, 99)[0], "titleLimit": 230, "titleAngle": 0, "titleAlign": "right"}
    axis = look | {"titleX": -8, "titleY": -2} if name else {}
    if picture.unit is None or any(names != own[0] for names in own):
        return chart(rows, title, _panels(picture, rows, own, level))
    spec = _panel(picture, rows, own[0], _ends(picture, rows), level, axis)
    if len(groups) == 1 and not groups[0]:
        return chart(rows, title, spec)
    label = {"labelAngle": 0, "labelAlign": "left", "labelPadding": 14}
    header = {"title": None, "labelExpr": names_by_index([lines_of(group) for group in groups]), **label}
    facet = {"field": "group_index", "type": "ordinal", "header": header}
    return chart(rows, title, {"facet": {"row": facet}, "spec": spec, "spacing": 14})


def _readable(picture: Intervals) -> tuple[Intervals, str]:
    """Return a picture of no more intervals than can be read, and a note that says which they are."""
    many = len(picture.lines)
    if many <= MOST_INTERVALS:
        return picture, ""
    indices = [index for index, line in enumerate(picture.lines) if line.drawn]
    if picture.unit is not None:  # numbers of different units have no order
        indices.sort(key=lambda index: picture.lines[index].mean, reverse=True)
    kept = indices[:MOST_PICTURED]
    which = "first" if picture.unit is None else "largest"
    lines = tuple(_in_full(picture.lines[index], picture.unit) for index in kept)
    note = f"the {len(kept)} {which} of {many:,} intervals; tables and files have all of them"
    return replace(picture, lines=lines, careless=()), note


def _in_full(line: IntervalLine, unit: str | None) -> IntervalLine:
    """Return a line that says of which group it is, as its neighbours may be of others, and how large it is."""
    text = f"{100 * line.mean:.3g} %  ({100 * line.low:.3g} to {100 * line.high:.3g})" if unit == PROBABILITY else ""
    name = line.name if unit is None else ", ".join(filter(None, [line.group, line.name]))
    return replace(line, name=name, group=line.group if unit is None else "", text=line.text or text)


def _panel(picture: Intervals, rows: list[Spec], own: Sequence[str], ends: Spec, level: float, axis: Spec) -> Spec:
    names = [lines_of(known) for known in own]
    height = row_height(names, 28 if picture.careless and len(picture.lines) > 16 else 36)
    return {"width": WIDTH, "height": height, "layer": _layers(picture, rows, ends, named_rows(names, **axis), level)}


def _panels(picture: Intervals, rows: list[Spec], own: Sequence[Sequence[str]], level: float) -> Spec:
    """Return one picture below the other for groups with different names; only the last needs a title of the axis."""
    look = {"anchor": "start", "frame": "group", "offset": 6, "fontSize": 13, "color": INK}
    panels = []
    for index, names in enumerate(own):
        inside = [row for row in rows if row["group_index"] == index]
        shown = picture if index == len(own) - 1 else replace(picture, axis="")
        ends = _ends(shown, inside if picture.unit is None else rows)
        panel = _panel(shown, inside, names, ends, level, {}) | {"data": {"values": inside}}
        group = {"title": {"text": lines_of(inside[0]["group"], 60), **look}} if inside[0]["group"] else {}
        panels.append(panel | group)
    scale = "independent" if picture.unit is None else "shared"
    return {"vconcat": panels, "spacing": 14, "resolve": {"scale": {"x": scale}}}


def _rows(lines: Sequence[IntervalLine], inference: str, groups: Sequence[str]) -> list[Spec]:
    """Return one row for each line; its index within its group gives the order."""
    seen = dict.fromkeys(groups, 0)
    rows = []
    for line in lines:
        row: Spec = {"cell": line.name, "inference": inference}
        row |= {key: getattr(line, key) if line.drawn else None for key in ("mean", "low", "high")}  # null is not drawn
        row |= {"group": line.group, "text": line.text, "group_index": groups.index(line.group)}
        rows.append(row | {"index": seen[line.group]})
        seen[line.group] += 1
    return rows


def _layers(picture: Intervals, rows: list[Spec], ends: Spec, y: Spec, level: float) -> list[Spec]:
    if picture.careless or not any(line.text for line in picture.lines):
        return [*_reference(picture), *_two_readings(rows, y, ends, level)]
    dot = {
        "type": "point",
        "shape": "circle",
        "size": 55,
        "fill": PAPER,
        "stroke": BLUE,
        "strokeWidth": 2,
        "opacity": 1,
    }
    heading = {"x": {"value": WIDTH}, "y": {"value": 0}, "text": {"value": picture.heading}}
    above = [layer(words(align="left", dx=14, dy=-10, fill=GREY), heading, [{}])] if picture.heading else []
    return [
        *_reference(picture),
        layer({"type": "rule", "stroke": BLUE, "strokeWidth": 5}, {"y": y, **ends}),
        layer(dot, {"y": y, "x": measured("mean")}),
        layer(words(align="left", dx=14), {"y": y, "x": {"value": "width"}, "text": {"field": "text"}}),
        *above,
    ]


def _reference(picture: Intervals) -> list[Spec]:
    """Return a dashed line at the value that deserves one, with its name above it."""
    if picture.reference is None:
        return []
    value, name = picture.reference
    row, at = [{"overall": value, "text": name}], measured("overall")
    line = layer({"type": "rule", "stroke": GREY, "strokeDash": [4, 4]}, {"x": at}, row)
    text = layer(words(dy=-9, fill=GREY), {"x": at, "y": {"value": 0}, "text": {"field": "text"}}, row)
    return [line, text] if name else [line]


def _ends(picture: Intervals, rows: list[Spec]) -> Spec:
    """Return the two ends of an interval: in percent from 0 unless that wastes half of the axis, or in a unit."""
    if picture.unit == PROBABILITY:
        return interval_ends(rows, picture.axis)
    zero = picture.reference is not None and picture.reference[0] == 0
    axis = {"title": lines_of(picture.axis, 68), "format": ",~r", "tickCount": 6}
    axis |= days_axis() if picture.unit == DAYS else {}
    return {"x": measured("low", scale={"nice": 6, "zero": zero}, axis=axis), "x2": {"field": "high"}}


def _two_readings(rows: list[Spec], y: Spec, ends: Spec, level: float) -> list[Spec]:
    """Return lines and dots for both posteriors, side by side in each row, with one legend for all."""
    inferences = list(dict.fromkeys(row["inference"] for row in rows))
    meaning = {
        AWARE: f"Noise-aware: mean and {percent_text(level)} interval, privacy noise taken into account",
        PLUG_IN: "Plug-in: the published values taken as if they were true; for comparison only",
    }
    legend = {**_LEGEND, "labelExpr": f"{json.dumps(meaning)}[datum.label]"}

    def each(aware: str | float, naive: str | float) -> Spec:
        return {"condition": {"test": f"datum.inference == '{PLUG_IN}'", "value": naive}, "value": aware}

    def explained(aware: str, naive: str) -> Spec:
        scale = {"domain": inferences, "range": [aware, naive][: len(inferences)]}
        return {"field": "inference", "type": "nominal", "scale": scale, "legend": legend}

    beside = {"yOffset": {"field": "inference", "scale": {"domain": inferences, "paddingOuter": 0.3}}}
    where = {"y": y, **(beside if len(inferences) > 1 else {})}
    line = {"stroke": each(BLUE, GREY), "strokeWidth": each(5, 1.5)}
    look = {"fill": explained(BLUE, PAPER), "stroke": explained(BLUE, GREY), "size": each(75, 45)}
    dot = {"type": "point", "shape": "circle", "opacity": 1, "strokeWidth": 1.5}
    return [
        layer({"type": "rule"}, {**where, **ends, **line}),
        layer(dot, {**where, "x": measured("mean"), **look}),
    ]
