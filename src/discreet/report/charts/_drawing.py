"""What all charts are drawn with: axes of named rows, titles, and the way to a file. Colours are in `theme`.

A chart is laid out with the widths of Helvetica, which Arial, Liberation Sans and others share. Where none of them is
installed a browser takes another font, and text at the edge would be cut off. So a picture is made as wide as its text
would be in a wide font (Verdana, DejaVu Sans); nothing within it moves.
"""

import json
import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from fractions import Fraction
from math import ceil
from pathlib import Path
from textwrap import wrap
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

from discreet._core.errors import DiscreetError
from discreet.inference import Posterior
from discreet.privacy import spent_text
from discreet.report import CONFIG

_NARROW, _SMALL, _LARGE, _BOLD = 0.37, 0.62, 0.7, 1.12  # widths of letters by the font's size; of bold ones times 1.12
_THIN = frozenset(" fijlrt.,:;'|()[]!")
_MARGIN = 6.0
_SVG = "{http://www.w3.org/2000/svg}"
_PLACE = re.compile(r"translate\(([-\d.e]+)")


def with_room(svg: str) -> str:
    """Return the picture, wider on either side where text in a wide font would need it."""
    root = ElementTree.fromstring(svg)
    given, height = root.attrib["width"], root.attrib["height"]
    width, ends = float(given), list(_ends(root, 0.0))
    left = max(0, ceil(_MARGIN - min((low for low, _ in ends), default=_MARGIN)))
    right = max(0, ceil(max((high for _, high in ends), default=0.0) + _MARGIN - width))
    if not left and not right:
        return svg
    total = f"{width + left + right:g}"
    old, new = f'width="{given}" height="{height}"', f'width="{total}" height="{height}"'
    wide = svg.replace(f'{old} viewBox="0 0 {given}', f'{new} viewBox="{-left} 0 {total}', 1)
    return wide.replace(f"<rect {old}", f'<rect x="{-left}" {new}', 1)


def _ends(element: ElementTree.Element, at: float) -> Iterator[tuple[float, float]]:
    """Yield where every text that is not turned begins and ends, from left to right."""
    moved = element.get("transform", "")
    if "rotate(-" in moved or "rotate(9" in moved:
        return
    at += sum(map(float, _PLACE.findall(moved)))
    if element.tag == f"{_SVG}text":
        size = float(element.get("font-size", "11px").removesuffix("px"))
        size *= _BOLD if element.get("font-weight") == "bold" else 1.0
        lines = ["".join(part.itertext()) for part in element] or ["".join(element.itertext())]
        longest = size * max(sum(map(_width, line)) for line in lines)
        before = {"middle": 0.5, "end": 1.0}.get(element.get("text-anchor", "start"), 0.0)
        yield at - before * longest, at + (1 - before) * longest
    for part in element:
        yield from _ends(part, at)


def _width(letter: str) -> float:
    return _NARROW if letter in _THIN else _SMALL if letter.islower() or letter.isdigit() else _LARGE


Spec = dict[str, Any]
Lines = list[str]

WIDTH = 460
LINE = 15  # height of a line of a name
_DAY = 86_400_000  # milliseconds


def days_axis() -> Spec:
    """Return what shows the numbers of an axis, days from 1970-01-01, as dates."""
    return {"labelExpr": f"utcFormat(datum.value * {_DAY}, '%Y-%m-%d')", "tickCount": 4}


def require_ending(path: Path | None) -> None:
    """Refuse a file that is no chart, before anything is computed for it."""
    if path is not None and path.suffix.lower() not in (".png", ".svg", ".json"):
        raise DiscreetError(f"Cannot draw {str(path)!r}: charts are .png, .svg or .json files. Nothing was written.")


def render(spec: Spec, path: str | Path) -> None:
    """Write a chart as a picture (.png, .svg) or as its specification (.json), by the ending of the path."""
    target = Path(path)
    require_ending(target)
    ending = target.suffix.lower()
    if ending == ".png":
        content = _converter().vegalite_to_png(spec, scale=2)
    elif ending == ".svg":
        content = with_room(_converter().vegalite_to_svg(spec)).encode()
    else:
        content = json.dumps(spec, indent=2, ensure_ascii=False).encode()
    try:
        target.write_bytes(content)
    except OSError as problem:
        raise DiscreetError(f"Cannot write the chart to {str(target)!r}: {problem.strerror}.") from None


def _converter() -> ModuleType:
    try:
        import vl_convert
    except ImportError:
        raise DiscreetError(
            'Pictures need another package: pip install "discreet[plots]". Nothing was drawn. '
            "A chart can be written as .json without it."
        ) from None
    return vl_convert


def chart(rows: Sequence[Spec], title: Spec, picture: Spec) -> Spec:
    """Return a whole chart: the rows, a title, and a picture of them."""
    schema = "https://vega.github.io/schema/vega-lite/v5.json"
    return {"$schema": schema, "title": title, "data": {"values": list(rows)}, **picture, "config": deepcopy(CONFIG)}


def layer(mark: Spec, encoding: Spec, rows: Sequence[Spec] | None = None) -> Spec:
    """Return one layer of marks, on rows of its own or else on those of the chart."""
    return {**({} if rows is None else {"data": {"values": list(rows)}}), "mark": mark, "encoding": encoding}


def measured(field: str, **how: object) -> Spec:
    """Return the encoding of a field by a scale of numbers."""
    return {"field": field, "type": "quantitative", **how}


def words(**how: object) -> Spec:
    """Return a mark of text."""
    return {"type": "text", "baseline": "middle", **how}


def label_of(posterior: Posterior) -> str:
    """Return the label of the first release that was read, with how many more there are."""
    first, *more = posterior.releases
    return ("SIMULATED: " if first.simulated else "") + first.label + (f" and {len(more)} more" if more else "")


def posterior_title(posterior: Posterior) -> Spec:
    """Return a title that says what was published, of how many records, and under which promise."""
    first, label = posterior.releases[0], label_of(posterior)
    given = [release.guarantee for release in posterior.releases]
    delta = sum((guarantee.delta for guarantee in given), Fraction(0))
    who = first.model.protects.removeprefix("one ")
    facts = [
        f"{posterior.about}{posterior.size:,} {who}s",
        f"epsilon = {' + '.join(spent_text(each.epsilon) for each in given)}",
    ]
    facts += [f"delta = {spent_text(delta)}"] if delta else []
    facts += [f"neighbours: {first.change}"]
    unit = lines_of(f"for {first.unit.description} with up to {first.unit.rows} records", 80)
    besides = [line for each in given if each.metric for line in lines_of(f"besides {each.metric.per_unit_words}", 80)]
    below = [" · ".join(facts), *besides, *(unit if first.unit.rows > 1 else [])]
    return {"text": lines_of(label, 68), "subtitle": below}


def interval_ends(rows: list[Spec], title: str) -> Spec:
    """Return the two ends of an interval on an axis in percent, which starts at 0 unless that wastes half of it."""
    drawn = [(row["low"], row["high"]) for row in rows if row["low"] is not None] or [(0.0, 1.0)]
    zero = min(low for low, _ in drawn) < 0.5 * max(high for _, high in drawn)
    axis = {"title": lines_of(title, 68), "format": "%", "tickCount": 6}
    return {"x": measured("low", scale={"zero": zero, "nice": 6}, axis=axis), "x2": {"field": "high"}}


def named_rows(names: Sequence[Lines], **axis: object) -> Spec:
    """Return the axis of named rows. Names of several lines are lifted: they would hang down from the row's middle."""
    lifts = []
    for many in sorted({len(name) for name in names} - {1}):
        indices = [index for index, name in enumerate(names) if len(name) == many]
        lifts.append({"test": f"indexof({indices}, datum.value) >= 0", "value": -LINE * (many - 1) / 2})
    offset = {"labelOffset": {"condition": lifts, "value": 0}} if lifts else {}
    look = {"title": None, "grid": False, "labelExpr": names_by_index(names), **offset, **axis}
    return {"field": "index", "type": "ordinal", "scale": {"padding": 0}, "axis": look}


def row_height(names: Sequence[Lines], least: int) -> Spec:
    """Return a height that grows with the number of rows, each as high as the longest name needs."""
    return {"step": max(least, 8 + LINE * max(map(len, names))), "for": "position"}


def names_by_index(names: Sequence[Lines]) -> str:
    """Return the expression for the name of a row."""
    return f"{json.dumps(names)}[datum.value]"


def lines_of(text: str, widest: int = 34, most: int = 3) -> Lines:
    """Return a text as lines of limited length, cut off if there are too many, without control characters."""
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    return wrap(shown, widest, max_lines=most, placeholder=" …", break_on_hyphens=False) or [""]
