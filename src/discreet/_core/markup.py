"""Tables of HTML in which all that others wrote is text and nothing else.

Labels, names and levels are untrusted input. Here they are put into one line without control characters, and every
sign that HTML could take for more than text is escaped.
"""

from collections.abc import Sequence
from html import escape

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
