"""A network as a picture: boxes with names, arrows from parents to children, and tables as intervals.

Each box of a small network shows P(level | parents) as dots with intervals, of a large table the first lines. Large
networks are shown by their names; all their numbers are in the table that `discreet infer --csv` writes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from math import atan2, cos, degrees, sin

from discreet._core.errors import DeclarationError
from discreet._core.notebook import one_line
from discreet.inference import Graph, HasGraph, Posterior, Row, TableEntry, percent_text
from discreet.mechanism import probability_name
from discreet.networks import Network
from discreet.records import Column, level_text
from discreet.report import BLUE, GREY, PALE, PAPER
from discreet.report.charts._drawing import Lines, Spec, chart, layer, lines_of, measured, posterior_title, words
from discreet.report.charts._graph_layout import Box, GraphLayout, layout

MOST_VARIABLES = 200
"""A picture of more variables is too large to be read."""
MOST_WITH_TABLES = 16
"""A network of more variables is shown by its names."""
MOST_BARS = 24
"""Lines of a larger table that a box shows; it says how many more there are."""

_WIDEST = 1000  # beyond, depth runs from top to bottom
_LABELS, _BARS, _FIGURES = 124, 92, 130  # room for the names of levels at most, for bars, and for numbers
_ROW, _HEAD, _EDGE = 18, 18, 9  # heights of a bar's row and of a line of a name; margin within a box
_SMALL, _CAPITAL = 7.9, 10.4  # about the widths of bold letters
_PLAIN = 6.8  # about the width of a letter of a level's name or of a line between bars
_ARROW = 9  # length of an arrowhead
_LABEL, _NOTE = 19, 40  # letters of a level's name beside a bar, and of a line between bars


@dataclass
class _Marks:
    """The rows of every kind of mark, in pixels."""

    boxes: list[Spec] = field(default_factory=list)
    names: list[Spec] = field(default_factory=list)
    notes: list[Spec] = field(default_factory=list)
    labels: list[Spec] = field(default_factory=list)
    bars: list[Spec] = field(default_factory=list)
    figures: list[Spec] = field(default_factory=list)
    lines: list[Spec] = field(default_factory=list)
    tips: list[Spec] = field(default_factory=list)


def network_chart(subject: Posterior | Network, level: float = 0.9) -> Spec:
    """Draw the graph of a network; of a posterior also its tables, with intervals of this level, where they are small.

    A network alone, before anything was published, is drawn with the names of the levels.
    """
    title: Spec = {"text": [], "subtitle": []}
    graph: Graph | None = None
    network: object = subject
    if isinstance(subject, Posterior):
        graph, title = subject.graph(level) if isinstance(subject, HasGraph) else None, posterior_title(subject)
        network = subject.model if graph is None else graph.network
    if not isinstance(network, Network):
        raise DeclarationError(
            "A chart of a network needs a Network, or a posterior that `infer` read from a release of one. Nothing "
            "was drawn."
        )
    if len(network.variables) > MOST_VARIABLES:
        raise DeclarationError(
            f"Cannot draw {len(network.variables)} variables: at most {MOST_VARIABLES} can be read. Nothing was drawn."
        )
    if graph is None:
        title["text"] = [f"Network of {len(network.variables)} variables"]
    contents = _contents(network, graph)
    heads = {column.name: lines_of(column.name, 30 if contents else 24, most=2) for column in network.variables}
    sizes = {name: _size(heads[name], contents.get(name, [])) for name in heads}
    widest = max(width for width, _ in sizes.values())
    sizes = {name: (widest, height) for name, (_, height) in sizes.items()}
    parents = dict(zip(heads, network.parents, strict=True))
    placed = layout(parents, sizes, between=48, apart=20 if contents else 12, widest=_WIDEST)
    marks = _Marks()
    for child, above in parents.items():
        for parent in above:
            _draw_arrow(marks, placed.path(parent, child), placed.sideways, network.is_tree)
        _draw_box(marks, child, heads[child], placed.boxes[child], contents.get(child, []))
    bars = f"dots: probabilities given the parents; lines: {percent_text(level)} intervals, privacy noise included"
    title["subtitle"] += [bars if marks.bars else "arrows lead from a variable to those that depend on it"]
    return chart(marks.boxes, title, _picture(marks, placed))


@dataclass(frozen=True)
class _Bar:
    """A line of a box with a bar: an entry of a table and the name that stands beside it."""

    entry: TableEntry
    label: str


_Line = _Bar | str


def _contents(network: Network, graph: Graph | None) -> dict[str, list[_Line]]:
    """Return the lines of every box below its name; nothing at all if there are too many boxes."""
    if len(network.variables) > MOST_WITH_TABLES:
        return {}
    if graph is None:
        return {column.name: [_levels_in_words(column)] for column in network.variables}
    tables = {name: list(found) for name, found in groupby(graph.entries(), lambda entry: entry.variable)}
    return {name: _table_lines(entries) for name, entries in tables.items()}


def _levels_in_words(column: Column) -> str:
    return _cut(" · ".join(_cut(level_text(level), _LABEL) for level in column.levels), _NOTE)


def _table_lines(entries: Sequence[TableEntry]) -> list[_Line]:
    """Return the lines of a table. Of two levels the second is enough, with one bar for each row."""
    rows = [list(row) for _, row in groupby(entries, lambda entry: entry.parents)]
    parents = [name for name, _ in rows[0][0].parents]
    if not parents:
        return _few([_Bar(entry, level_text(entry.level)) for entry in entries])
    if len(rows[0]) == 2:
        event = _cut(level_text(rows[0][1].level), _LABEL)
        head = f"{probability_name(event)}, given {_cut(', '.join(parents), _NOTE - 13 - len(event))} ="
        return _few([head, *(_Bar(row[1], ", ".join(level_text(a) for _, a in row[1].parents)) for row in rows)])
    lines: list[_Line] = []
    for row in rows:
        known = _cut(", ".join(level_text(level) for _, level in row[0].parents), _LABEL)
        lines += [f"given {_cut(', '.join(parents), _NOTE - 9 - len(known))} = {known}"]
        lines += [_Bar(entry, level_text(entry.level)) for entry in row]
    return _few(lines)


def _few(lines: list[_Line]) -> list[_Line]:
    """Return the first lines of a large table, and a last one that says how many are not shown."""
    if len(lines) <= MOST_BARS + 2:
        return lines
    left = sum(isinstance(line, _Bar) for line in lines[MOST_BARS:])
    return [*lines[:MOST_BARS], f"and {left} more lines; see the table"]


def _cut(text: str, most: int) -> str:
    """Return a text in one line of limited length."""
    shown = one_line(text)
    return shown if len(shown) <= most else shown[: most - 1].rstrip() + "…"


def _size(head: Lines, lines: Sequence[_Line]) -> tuple[float, float]:
    height = 2 * _EDGE + _HEAD * len(head) + _ROW * len(lines)
    name = max(sum(_SMALL if letter.islower() else _CAPITAL for letter in line) for line in head)
    labels = [min(_LABELS, 10 + _PLAIN * len(_cut(line.label, _LABEL))) for line in lines if isinstance(line, _Bar)]
    table = max(labels) + _BARS + _FIGURES if labels else 90.0
    letter = _PLAIN if labels else _SMALL
    return max(table, name, *(letter * len(line) for line in lines if isinstance(line, str))) + 2 * _EDGE, height


def _draw_arrow(marks: _Marks, corners: list[tuple[float, float]], sideways: bool, is_tree: bool) -> None:
    """Draw an arrow in right angles where no other one can be in the way, as in a tree; else from point to point."""
    if is_tree:
        (x, y), (x2, y2) = corners
        middle = ((x + x2) / 2, (y + y2) / 2)
        corners[1:1] = [(middle[0], y), (middle[0], y2)] if sideways else [(x, middle[1]), (x2, middle[1])]
    (x, y), (x2, y2) = corners[-2:]
    angle = atan2(y2 - y, x2 - x)
    tip = (x2 - _ARROW / 2 * cos(angle), y2 - _ARROW / 2 * sin(angle))  # the head is drawn around its middle
    marks.tips.append({"x": tip[0], "y": tip[1], "angle": degrees(angle)})
    for start, end in pairwise([*corners[:-1], tip]):
        marks.lines.append({"x": start[0], "y": start[1], "x2": end[0], "y2": end[1]})


def _draw_box(marks: _Marks, name: str, head: Lines, box: Box, lines: Sequence[_Line]) -> None:
    corners = {"x": box.left, "y": box.top, "x2": box.left + box.width, "y2": box.top + box.height}
    marks.boxes.append(corners | {"variable": name})
    at = box.top + _EDGE + _HEAD / 2
    for line in head:
        marks.names.append({"x": box.middle[0], "y": at, "text": line})
        at += _HEAD
    for content in lines:
        if isinstance(content, str):
            marks.notes.append({"x": box.middle[0], "y": at, "text": content})
        else:
            _draw_bar(marks, content, box, at)
        at += _ROW


def _draw_bar(marks: _Marks, bar: _Bar, box: Box, at: float) -> None:
    start, entry, known = box.left + box.width - _EDGE - _FIGURES - _BARS, bar.entry, bar.entry.row
    row: Spec = {"variable": entry.variable, "given": known.given, "level": level_text(entry.level)}
    row |= {"mean": known.mean, "low": known.low, "high": known.high}
    row |= {"y": at, "top": at - 1, "bottom": at + 1, "x": start, "full": start + _BARS}
    row |= {key + "_x": start + _BARS * row[key] for key in ("mean", "low", "high")}
    marks.bars.append(row)
    marks.labels.append({"x": start - 6, "y": at, "text": _cut(bar.label, _LABEL)})
    marks.figures.append({"x": box.left + box.width - _EDGE, "y": at, "text": _percents(known)})


def _percents(row: Row) -> str:
    """Return a probability with its interval, in percent."""
    digits = 1 if row.high < 0.0995 or row.high - row.low < 0.02 else 0
    mean, low, high = (f"{100 * value:.{digits}f}" for value in (row.mean, row.low, row.high))
    return f"{mean} %  ({low} to {high})"


def _picture(marks: _Marks, placed: GraphLayout) -> Spec:
    scales: Mapping[str, Spec] = {
        "x": {"domain": [0, placed.width], "nice": False, "zero": False},
        "y": {"domain": [0, placed.height], "nice": False, "zero": False, "reverse": True},
    }

    def at(**fields: str) -> Spec:
        """Return the encoding of positions: x and y by their scale, x2 and y2 by the same."""
        first = {axis: measured(fields[axis], scale=scales[axis], axis=None) for axis in ("x", "y")}
        return first | {axis: {"field": name} for axis, name in fields.items() if axis not in first}

    corners = {"x": "x", "y": "y", "x2": "x2", "y2": "y2"}
    text = {"text": {"field": "text"}}
    angle = {"angle": measured("angle", scale=None)}
    head = {"type": "point", "shape": "triangle-right", "filled": True, "size": 70, "color": GREY, "opacity": 1}
    dot = {
        "type": "point",
        "shape": "circle",
        "size": 34,
        "fill": PAPER,
        "stroke": BLUE,
        "strokeWidth": 1.5,
        "opacity": 1,
    }
    frame = {"type": "rect", "fill": PAPER, "stroke": GREY, "cornerRadius": 5}
    whole = at(x="x", x2="full", y="top", y2="bottom")
    layers = [
        layer({"type": "rule", "stroke": GREY, "strokeWidth": 1.5, "strokeCap": "round"}, at(**corners), marks.lines),
        layer(frame, at(**corners)),
        layer(head, {**at(x="x", y="y"), **angle}, marks.tips),
        layer(words(fontWeight="bold", fontSize=14), at(x="x", y="y") | text, marks.names),
        layer(words(fill=GREY, fontSize=12), at(x="x", y="y") | text, marks.notes),
        layer(words(align="right", fontSize=12), at(x="x", y="y") | text, marks.labels),
        layer({"type": "rect", "fill": PALE}, whole, marks.bars),
        layer({"type": "rule", "stroke": BLUE, "strokeWidth": 4}, at(x="low_x", x2="high_x", y="y"), marks.bars),
        layer(dot, at(x="mean_x", y="y"), marks.bars),
        layer(words(align="right", fontSize=12), at(x="x", y="y") | text, marks.figures),
    ]
    used = [each for each in layers if each.get("data", {"values": marks.boxes})["values"]]
    return {"width": placed.width, "height": placed.height, "layer": used}
