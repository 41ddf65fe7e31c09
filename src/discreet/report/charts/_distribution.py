"""The distribution of a number as a picture: the share below every edge with a band, and the share of every cell."""

from itertools import pairwise

from discreet.inference import Distribution, Posterior, percent_text
from discreet.report import BLUE, GREY, PAPER, VERMILION
from discreet.report.charts._drawing import WIDTH, Spec, chart, days_axis, layer, lines_of, measured, posterior_title

_HEIGHT = 190


def distribution_chart(posterior: Posterior, picture: Distribution, level: float = 0.9) -> Spec:
    """Draw the share below each edge with its band, and below it the histogram with intervals, group by group."""
    panels = []
    for index, (group, edges, below, cells) in enumerate(picture.groups):
        named = f"{group}: " if group else ""
        panels.append(_band(picture, f"{named}share below", [*zip(edges, below, strict=True)], level))
        curve = picture.densities[index] if picture.densities else ()
        panels.append(_bars(picture, f"{named}share of each cell", edges, cells, level, curve))
    return chart([], posterior_title(posterior), {"vconcat": panels, "spacing": 18})


def _axis(title: str, dates: bool) -> Spec:
    return {"title": lines_of(title, 68), "format": ",~r", "tickCount": 6} | (days_axis() if dates else {})


def _band(picture: Distribution, title: str, points: list[tuple[float, tuple[float, ...]]], level: float) -> Spec:
    """Return the share below every edge: a line, a band for the population, and a narrow one for the records."""
    rows = [
        {"edge": edge, "share": share, "low": low, "high": high, "own_low": own_low, "own_high": own_high}
        for edge, (share, own_low, own_high, low, high) in points
    ]
    x = measured(
        "edge",
        axis=_axis(
            f"{picture.column}; pale: {percent_text(level)} intervals in the population, dark: {picture.among}",
            picture.dates,
        ),
    )
    steps = {} if picture.densities else {"interpolate": "step-before"}  # whole numbers are atoms
    share = {"axis": {"title": title, "format": "%", "tickCount": 5}, "scale": {"domain": [0, 1]}}
    layers = [
        layer(
            {"type": "area", "color": BLUE, "opacity": 0.2, **steps},
            {"x": x, "y": measured("low", **share), "y2": {"field": "high"}},
        ),
        layer(
            {"type": "area", "color": BLUE, "opacity": 0.45, **steps},
            {"x": x, "y": measured("own_low"), "y2": {"field": "own_high"}},
        ),
        layer({"type": "line", "color": BLUE, "strokeWidth": 1.5, **steps}, {"x": x, "y": measured("share")}),
    ]
    return {"width": WIDTH, "height": _HEIGHT, "data": {"values": rows}, "layer": layers}


def _bars(
    picture: Distribution,
    title: str,
    edges: tuple[float, ...],
    cells: tuple[tuple[float, ...], ...],
    level: float,
    curve: tuple[tuple[float, float], ...],
) -> Spec:
    """Return bars from edge to edge, as high as the share, per unit where cells are not equally wide, and a curve."""
    widths = [high - low for low, high in pairwise(edges)]
    equal = max(widths) <= 1.001 * min(widths)
    rows = []
    for index, (share, low, high) in enumerate(cells):
        scale = 1.0 if equal else 1 / widths[index]
        ends = {"from": edges[index], "to": edges[index + 1], "middle": (edges[index] + edges[index + 1]) / 2}
        rows.append(ends | {"share": share * scale, "low": low * scale, "high": high * scale})
    smooth = "; curve: smoothed, as a visual guide only" if curve else ""
    x = measured(
        "from",
        scale={"zero": False},
        axis=_axis(
            f"{picture.column}; lines: {percent_text(level)} intervals in the population{smooth}", picture.dates
        ),
    )
    words = title if equal else f"{title}, per 1 of {picture.column}"
    y = measured("share", axis={"title": lines_of(words, 30), "format": "%" if equal else ".1e", "tickCount": 5})
    bar = {"type": "rect", "color": BLUE, "opacity": 0.45, "stroke": PAPER, "strokeWidth": 0.5}
    layers = [
        layer(bar, {"x": x, "x2": {"field": "to"}, "y": y, "y2": {"datum": 0}}),
        layer(
            {"type": "rule", "stroke": GREY}, {"x": measured("middle"), "y": measured("low"), "y2": {"field": "high"}}
        ),
    ]
    if curve:
        scale = widths[0] if equal else 1.0
        points = [{"from": index, "share": height * scale} for index, height in curve]
        line = {"type": "line", "color": VERMILION, "strokeWidth": 1.5}
        layers.append(layer(line, {"x": measured("from"), "y": measured("share")}, points))
    return {"width": WIDTH, "height": _HEIGHT, "data": {"values": rows}, "layer": layers}
