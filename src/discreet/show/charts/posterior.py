"""What a reader learnt about the cells of a table: probabilities with intervals, and comparisons between groups."""

import json
from collections.abc import Sequence
from typing import Any

from discreet.errors import DeclarationError
from discreet.inference import CategoriesPosterior, plug_in
from discreet.show.charts.drawing import (
    BLUE,
    GREY,
    WIDTH,
    Spec,
    chart,
    interval_ends,
    layer,
    level_text,
    lines_of,
    measured,
    named_rows,
    names_of_places,
    reading_title,
    row_height,
    texts_of,
    words,
)

AWARE, PLUG_IN = "noise-aware", "plug-in"
MOST_CELLS = 300
"""A picture of more cells is too tall to be read."""

_LEGEND = {"title": None, "orient": "top", "direction": "vertical"}


def posterior_chart(posterior: CategoriesPosterior, level: float = 0.9) -> Spec:
    """Draw every cell's probability: the noise-aware interval, and what a reader would get who ignores the noise.

    The second is there for comparison, and only when a single release was read. Crossed columns are grouped.
    """
    _check_cells(posterior)
    cells, (*outer, inner) = len(posterior.model.cells), posterior.model.columns
    if cells > MOST_CELLS:
        raise DeclarationError(f"Cannot draw {cells} cells: at most {MOST_CELLS} can be read. Nothing was drawn.")
    rows = _aware_rows(posterior, level) + _plug_in_rows(posterior, level)
    names = [lines_of(level_text(known)) for known in inner.levels]
    what = "combination of " + " and ".join([", ".join(c.name for c in outer), inner.name])
    title = f"Probability of each {what if outer else f'level of {inner.name}'}"
    picture: Spec = {
        "width": WIDTH,
        "height": row_height(names, 36 if cells <= 16 else 28),
        "layer": _two_readings(rows, named_rows(names), title, level),
    }
    if outer:
        groups = [lines_of(group) for group in {row["group_place"]: row["group"] for row in rows}.values()]
        header = {
            "title": None,
            "labelExpr": names_of_places(groups),
            "labelAngle": 0,
            "labelAlign": "left",
            "labelPadding": 14,
        }
        facet = {"field": "group_place", "type": "ordinal", "header": header}
        picture = {"facet": {"row": facet}, "spec": picture, "spacing": 14}
    return chart(rows, reading_title(posterior), picture)


def comparison_chart(posterior: CategoriesPosterior, event: str, by: str, level: float = 0.9) -> Spec:
    """Draw P(event | column `by`) for each of its levels, with intervals, and P(event) as a line for reference."""
    _check_cells(posterior)
    columns = [column.name for column in posterior.model.columns]
    if by not in columns or len(columns) < 2:
        raise DeclarationError(f"A comparison is by one of several crossed columns; {by!r} is not one of {columns}.")
    rows = _group_rows(posterior, event, columns.index(by), level)
    mean = posterior.probability(event).mean
    overall, at = [{"overall": mean, "text": f"overall {100 * mean:.1f} %"}], measured("overall")
    names = [lines_of(row["group"]) for row in rows]
    y = named_rows(
        names, title=lines_of(by, 99)[0], titleLimit=230, titleAngle=0, titleAlign="right", titleX=-8, titleY=-2
    )
    ends = interval_ends(rows, f"P({event} | {by}): mean and {100 * level:g} % interval")
    dot = {"type": "point", "shape": "circle", "filled": True, "size": 110, "color": BLUE, "opacity": 1}
    layers = [
        layer({"type": "rule", "stroke": GREY, "strokeDash": [4, 4]}, {"x": at}, overall),
        layer(words(dy=-9, fill=GREY), {"x": at, "y": {"value": 0}, "text": {"field": "text"}}, overall),
        layer({"type": "rule", "stroke": BLUE, "strokeWidth": 5}, {"y": y, **ends}),
        layer(dot, {"y": y, "x": measured("mean")}),
        layer(words(align="left", dx=14), {"y": y, "x": {"value": "width"}, "text": {"field": "text"}}),
    ]
    return chart(rows, reading_title(posterior), {"width": WIDTH, "height": row_height(names, 36), "layer": layers})


def _check_cells(posterior: Any) -> None:
    if not isinstance(posterior, CategoriesPosterior):
        raise DeclarationError(
            f"This picture is of a table of categories; a {type(posterior).__name__} has no cells. Nothing was drawn."
        )


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
        *group, own = texts_of(cell)
        row: Spec = {"cell": own, "reading": reading, "mean": mean, "low": low, "high": high}
        row["group"] = ", ".join(f"{column.name} {known}" for column, known in zip(outer, group, strict=True))
        row["group_place"], row["place"] = divmod(number, len(inner.levels))
        rows.append(row)
    return rows


def _group_rows(posterior: CategoriesPosterior, event: str, column: int, level: float) -> list[Spec]:
    rows = []
    for place, known in enumerate(map(level_text, posterior.model.columns[column].levels)):
        law = posterior.conditional(event, [cell for cell in posterior.model.cells if texts_of(cell)[column] == known])
        low, high = law.interval(level)
        text = f"{100 * law.mean:.1f} %  ({100 * low:.1f} to {100 * high:.1f})"
        rows.append({"place": place, "group": known, "mean": law.mean, "low": low, "high": high, "text": text})
    return rows


def _two_readings(rows: list[Spec], y: Spec, title: str, level: float) -> list[Spec]:
    """Return lines and dots for both readings, side by side in each cell's row, with one legend for all."""
    readings = list(dict.fromkeys(row["reading"] for row in rows))
    meaning = {
        AWARE: f"Noise-aware: mean and {100 * level:g} % interval, privacy noise taken into account",
        PLUG_IN: "Plug-in: what was published read as if it were true; for comparison only",
    }
    legend = {**_LEGEND, "labelExpr": f"{json.dumps(meaning)}[datum.label]"}

    def each(aware: Any, naive: Any) -> Spec:
        return {"condition": {"test": f"datum.reading == '{PLUG_IN}'", "value": naive}, "value": aware}

    def explained(aware: str, naive: str) -> Spec:
        scale = {"domain": readings, "range": [aware, naive][: len(readings)]}
        return {"field": "reading", "type": "nominal", "scale": scale, "legend": legend}

    beside = {"yOffset": {"field": "reading", "scale": {"domain": readings, "paddingOuter": 0.3}}}
    where = {"y": y, **(beside if len(readings) > 1 else {})}
    line = {"stroke": each(BLUE, GREY), "strokeWidth": each(5, 1.5)}
    look = {"fill": explained(BLUE, "white"), "stroke": explained(BLUE, GREY), "size": each(75, 45)}
    dot = {"type": "point", "shape": "circle", "opacity": 1, "strokeWidth": 1.5}
    return [
        layer({"type": "rule"}, {**where, **interval_ends(rows, title), **line}),
        layer(dot, {**where, "x": measured("mean"), **look}),
    ]
