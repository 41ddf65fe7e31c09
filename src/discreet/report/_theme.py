"""The one look of all pictures and pages: colours for light and dark, type, and what a chart's parts look like.

Colours are those of Okabe and Ito, which people with any colour vision can distinguish; nothing is shown by colour
alone. Charts are specified in the light colours, and `in_the_dark` exchanges each for its dark counterpart.
"""

from typing import Any

BLUE, VERMILION, GREY, INK, PALE = "#0072B2", "#D55E00", "#6B6B6B", "#333333", "#E4E4E4"
BAND, TITLE, PAPER = "#CACACA", "#111111", "#FFFFFF"
DARK = {
    BLUE: "#56B4E9",
    VERMILION: "#E69F00",
    GREY: "#B0B3B6",
    INK: "#E8E8E6",
    PALE: "#3A3F44",
    BAND: "#565B60",
    TITLE: "#F5F5F3",
    PAPER: "#1B1E21",
}
"""For each colour of a light chart, that of a dark one; on the dark paper each has a contrast of at least 3."""
PAGE_COLOURS = """
:root { color-scheme: light dark; --ink: #1b1b1b; --paper: #fdfdfc; --card: #fff; --line: #d5d5d0; --soft: #595959;
  --blue: #005a8c; --bar: #0072b2; --pale: #e9eef2; --bad: #8a3800; --on-blue: #fff; }
@media (prefers-color-scheme: dark) { :root { --ink: #ecebe8; --paper: #16181a; --card: #1b1e21; --line: #3d4247;
  --soft: #b3b6b9; --blue: #7cc4ef; --bar: #56b4e9; --pale: #2a2f34; --bad: #ffb48a; --on-blue: #10202b; } }
@media print { :root { color-scheme: light; --ink: #000; --paper: #fff; --card: #fff; --line: #bbb; --soft: #444;
  --blue: #000; --bar: #0072b2; --pale: #f3f3f3; --bad: #8a3800; } }
"""
"""The colours of every page that stands alone, as its style sheet begins: light, dark and on paper."""
FONT = "Helvetica, Arial, 'Liberation Sans', Arimo, 'Nimbus Sans', FreeSans, sans-serif"  # all as wide as each other

CONFIG: dict[str, Any] = {
    "background": PAPER,
    "padding": 12,
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        **{"labelFontSize": 13, "labelColor": INK, "labelLimit": 0, "labelPadding": 8, "labelFlush": False},
        **{"titleFontSize": 13, "titleColor": INK, "titleFontWeight": "normal", "titlePadding": 10},
        **{"domain": False, "ticks": False, "gridColor": PALE},
    },
    "header": {"labelFontSize": 13, "labelColor": INK, "labelLimit": 0, "labelFontWeight": "bold"},
    "legend": {"labelFontSize": 12, "labelColor": INK, "labelLimit": 0, "rowPadding": 4},
    "text": {"fontSize": 13, "fill": INK},
    "title": {
        **{"anchor": "start", "frame": "bounds", "offset": 14, "fontSize": 16, "color": TITLE},
        **{"subtitleFontSize": 13, "subtitleColor": GREY, "subtitlePadding": 5},
    },
}
"""How the parts of every chart look."""


def in_the_dark(spec: Any) -> Any:
    """Return a chart in dark colours.

    >>> in_the_dark({"mark": {"fill": "#0072B2"}, "layer": ["#FFFFFF", 3]})
    {'mark': {'fill': '#56B4E9'}, 'layer': ['#1B1E21', 3]}
    """
    if isinstance(spec, dict):
        return {key: in_the_dark(value) for key, value in spec.items()}
    if isinstance(spec, list):
        return [in_the_dark(value) for value in spec]
    return DARK.get(spec, spec) if isinstance(spec, str) else spec
