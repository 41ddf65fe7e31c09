"""How a notebook shows the things of this library: a table of what is known, and above it its picture.

Labels, names and levels are untrusted input. Here they are put into one line without control characters, and every
sign that HTML could take for more than text is escaped.

Whoever can be shown says in `_repr_html_` which chart of `discreet.report.charts` draws it. That folder imports all
others, so its charts are asked for by name, when a notebook wants one. A picture is a PNG inside the page: it needs no
network and no script, looks the same whatever fonts the reader has, and its white ground can be read on dark pages.
"""

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from discreet._core.errors import DiscreetError

_NUMBER = ' style="text-align: right; padding: 0.1em 0.8em; font-variant-numeric: tabular-nums"'
_WORD = ' style="text-align: left; padding: 0.1em 0.8em"'


def one_line(text: object) -> str:
    r"""Return a text in one line, without letters that cannot be seen.

    >>> one_line("a\n\tb\u202e c ")
    'a b c'
    """
    return " ".join("".join(letter if letter.isprintable() else " " for letter in str(text)).split())


def html_table(
    caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], words: int, notes: Sequence[str] = ()
) -> str:
    """Return a table for a notebook: a caption, columns of which the first `words` hold text, and notes below.

    >>> print(html_table("a < b", ("level", "mean"), [("<i>", "0.5")], words=1))
    <div>
    <p><strong>a &lt; b</strong></p>
    <table>
    <tr><th style="text-align: left; ...">level</th><th style="text-align: right; ...">mean</th></tr>
    <tr><td style="text-align: left; ...">&lt;i&gt;</td><td style="text-align: right; ...">0.5</td></tr>
    </table>
    </div>
    """
    lines = ["<div>", f"<p><strong>{_text(caption)}</strong></p>", "<table>"]
    if heads:
        lines.append(_line(heads, "th", words))
    lines += [_line(row, "td", words) for row in rows]
    return "\n".join([*lines, "</table>", *(f"<p>{_text(note)}</p>" for note in notes), "</div>"])


def _line(cells: Sequence[str], tag: str, words: int) -> str:
    sides = [_WORD] * words + [_NUMBER] * (len(cells) - words)
    return f"<tr>{''.join(f'<{tag}{s}>{_text(c)}</{tag}>' for c, s in zip(cells, sides, strict=True))}</tr>"


def _text(text: str) -> str:
    return escape(one_line(text))


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
