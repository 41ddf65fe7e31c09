"""How well released tables fit a graph, as a picture: each distance beside those of simulated studies."""

from discreet._core.errors import DeclarationError
from discreet.inference import Check, Criticism
from discreet.report import BAND, BLUE, VERMILION
from discreet.report.charts._drawing import WIDTH, Spec, chart, layer, lines_of, measured, named_rows, row_height, words

MOST_CHECKS = 30
"""Most checks that a picture shows: those with the smallest p-values."""


def criticism_chart(criticism: Criticism) -> Spec:
    """Draw how far every table and pair is from what the graph expects; the band is where 90 % of replicates lie."""
    if not isinstance(criticism, Criticism):
        raise DeclarationError(
            f"This chart needs a criticism, from posterior.criticise(); got a {type(criticism).__name__}. Nothing "
            "was drawn."
        )
    ordered = sorted(criticism.checks, key=lambda check: (check.p_value, -check.distance))[:MOST_CHECKS]
    rows = [_row(index, check) for index, check in enumerate(ordered)]
    names = [lines_of(check.name, 40) for check in ordered]
    y = named_rows(names)
    title = "distance from the graph (1: the average of simulated studies)"
    x = measured("low", scale={"zero": True, "nice": 6}, axis={"title": lines_of(title, 68), "tickCount": 6})
    colour = {"condition": {"test": "datum.misfit", "value": VERMILION}, "value": BLUE}
    shape = {"condition": {"test": "datum.misfit", "value": "diamond"}, "value": "circle"}
    point = {"type": "point", "filled": True, "size": 110, "opacity": 1}
    layers = [
        layer({"type": "bar", "height": 14, "fill": BAND}, {"y": y, "x": x, "x2": {"field": "high"}}),
        layer(point, {"y": y, "x": measured("distance"), "color": colour, "shape": shape}),
        layer(words(align="left", dx=14), {"y": y, "x": {"value": "width"}, "text": {"field": "text"}}),
    ]
    picture = {"width": WIDTH, "height": row_height(names, 28), "layer": layers}
    return chart(rows, _title(criticism), picture)


def _row(index: int, check: Check) -> Spec:
    text = f"p = {check.p_value:.3f}" + (", does not fit" if check.is_misfit else "")
    ends = {"low": check.usual[0], "high": check.usual[1]}
    return {"index": index, "distance": check.distance, "misfit": check.is_misfit, "text": text, **ends}


def _title(criticism: Criticism) -> Spec:
    found = (
        ("nothing in the release contradicts the graph")
        if criticism.fits
        else "the released tables do not fit the graph"
    )
    first, *more = criticism.labels
    label = ("SIMULATED: " if criticism.simulated else "") + first + (f" and {len(more)} more" if more else "")
    lines = [f"grey: where 90 % of {criticism.replicates:,} simulated studies lie, each with its own noise"]
    if (left := len(criticism.checks) - MOST_CHECKS) > 0:
        lines.append(f"the {MOST_CHECKS} smallest p-values; {left} more are not shown")
    if criticism.unseen:
        lines.append(
            f"{len(criticism.unseen)} pairs without an arrow are in no released table, so they could not be checked"
        )
    return {"text": lines_of(f"{label}: {found}", 68), "subtitle": lines}
