"""How a notebook shows the things of this library: a table of what is known, and above it its picture.

Whoever can be shown says in `_repr_html_` which chart of `discreet.report.charts` draws it. That folder imports all
others, so its charts are asked for by name, when a notebook wants one. A picture is a PNG inside the page: it needs no
network and no script, looks the same whatever fonts the reader has, and its white ground can be read on dark pages.
"""

from base64 import b64encode
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from discreet._core.errors import DiscreetError
from discreet._core.markup import one_line

_SCALE = 2  # pixels for each point, for sharp screens
LARGEST = 1_500_000
"""A picture of more bytes is left out: it would make the notebook slow to open."""


class NotebookRepr:
    """What a notebook, or a terminal of IPython, shows as `print` does where it cannot show tables and pictures."""

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": str(self)}


class Picture(dict[str, Any]):
    """A Vega-Lite chart, which a notebook shows as a picture; it is a dictionary that any Vega viewer takes."""

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, object]:
        if find_spec("vl_convert") is None:
            return {"application/vnd.vegalite.v5+json": dict(self), "text/plain": repr(self)}
        drawn: bytes = import_module("vl_convert").vegalite_to_png(dict(self), scale=_SCALE)
        return {"image/png": b64encode(drawn).decode(), "text/plain": repr(self)}

    def __repr__(self) -> str:
        return "<chart: plot('chart.png') writes it to a file>"


def with_picture(page: str, chart: str, *drawn: object) -> str:
    """Return a page with a picture above it, which a chart, by its name in `discreet.report.charts`, makes.

    Without the packages for pictures, or where nothing can be drawn, it is the page alone with words about why.
    """
    if find_spec("vl_convert") is None:
        return page + _note('A picture of it needs one more package: pip install "discreet[plots]".')
    try:
        made = getattr(import_module("discreet.report.charts"), chart)(*drawn)
    except DiscreetError as refusal:
        return page + _note(f"There is no picture of it. {refusal}")
    picture: bytes = import_module("vl_convert").vegalite_to_png(made, scale=_SCALE)
    if len(picture) > LARGEST:
        return page + _note("Its picture is too large for a notebook; discreet.report.charts draws it into a file.")
    width = int.from_bytes(picture[16:20], "big") // _SCALE  # where a PNG says it
    title = made.get("title", {}).get("text", "")
    words = escape(one_line(" ".join(title) if isinstance(title, list) else title))
    look = "border-radius: 6px; max-width: 100%"
    address = f"data:image/png;base64,{b64encode(picture).decode()}"
    return f'<img alt="Chart: {words}" width="{width}" style="{look}" src="{address}">\n{page}'


def _note(words: str) -> str:
    return f"\n<p>{escape(one_line(words))}</p>"
