"""Room for text in an SVG picture that is shown with a wider font than the one it was laid out with.

A chart is laid out with the widths of Helvetica, which Arial, Liberation Sans and others share. Where none of them is
installed a browser takes another font, and text at the edge would be cut off. So a picture is made as wide as its text
would be in a wide font (Verdana, DejaVu Sans); nothing within it moves.
"""

import re
from collections.abc import Iterator
from math import ceil
from xml.etree import ElementTree

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
