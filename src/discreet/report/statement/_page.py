"""A statement as a page of HTML that stands alone and prints well."""

import html
import re
from collections.abc import Sequence

from discreet.inference import Posterior
from discreet.report import PAGE_COLOURS
from discreet.report.statement._picture import picture_of


def statement_html(markdown: str, posterior: Posterior | None = None) -> str:
    """Return a statement as a page of HTML that stands alone and prints well. Only what `statement` writes is read.

    With its posterior, the page has a picture of the intervals as well.
    """
    blocks = [block for block in markdown.split("\n\n") if block.strip()]
    heads = [block[2:] for block in blocks if block.startswith("# ")]
    title = html.escape(html.unescape(heads[0])) if heads else "Privacy statement"
    body = blocks_html(blocks)
    if posterior is not None:
        before, found, after = body.partition(_RESULTS)
        body = before + found + after.replace("<table>", f"{picture_of(posterior)}\n<table>", 1)
    return _PAGE.format(title=title, style=PAGE_COLOURS + _STYLE, body=body)


def blocks_html(blocks: Sequence[str]) -> str:
    """Return blocks of Markdown that a statement is made of as HTML."""
    return "\n".join(_block(block) for block in blocks)


def _block(block: str) -> str:
    lines = block.strip().splitlines()
    if block.startswith("## "):
        return f"<h2>{_inline(block[3:])}</h2>"
    if block.startswith("# "):
        return f"<h1>{_inline(block[2:])}</h1>"
    if block.startswith("> "):
        return f"<blockquote>{_inline(block[2:])}</blockquote>"
    if block.startswith("- "):
        return "<ul>\n" + "\n".join(f"<li>{_inline(line[2:])}</li>" for line in lines) + "\n</ul>"
    if block.startswith("| "):
        return _html_table([[cell.strip() for cell in line.strip("|").split("|")] for line in lines])
    return f"<p>{_inline(block)}</p>"


def _html_table(rows: Sequence[Sequence[str]]) -> str:
    heads, rule, *body = rows
    sides = [' class="number"' if mark.endswith(":") else "" for mark in rule]

    def line(cells: Sequence[str], tag: str) -> str:
        inside = "".join(f"<{tag}{s}>{_inline(c)}</{tag}>" for c, s in zip(cells, sides, strict=True))
        return f"<tr>{inside}</tr>"

    return "\n".join(["<table>", line(heads, "th"), *(line(cells, "td") for cells in body), "</table>"])


def _inline(text: str) -> str:
    """Return text with **strong** and `code` marked; everything else is escaped, whatever it is."""
    parts = re.split(r"(\*\*.+?\*\*|`[^`]+`)", text)
    return "".join(_marked(part) for part in parts)


def _marked(part: str) -> str:
    if part.startswith("**") and part.endswith("**") and len(part) > 4:
        return f"<strong>{html.escape(html.unescape(part[2:-2]))}</strong>"
    if part.startswith("`") and part.endswith("`") and len(part) > 2:
        return f"<code>{html.escape(part[1:-1])}</code>"
    return html.escape(html.unescape(part))


_RESULTS = "<h2>What the results are</h2>"
_STYLE = """
@page { size: A4; margin: 12mm 16mm; }
body { font: 15px/1.45 Helvetica, Arial, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 46em; margin: 2em auto; padding: 0 1em; overflow-wrap: anywhere; }
h1 { font-size: 1.5em; margin: 0 0 0.6em; }
h2 { font-size: 1.1em; margin: 1.1em 0 0.3em; break-after: avoid; }
p, ul { margin: 0.3em 0; }
ul { padding-left: 1.3em; }
blockquote { margin: 0.8em 0; padding: 0.7em 1em; border: 3px solid var(--bad); }
table { border-collapse: collapse; margin: 0.6em 0; break-inside: avoid; }
th, td { padding: 0.15em 0.9em 0.15em 0; border-bottom: 1px solid var(--line); text-align: left;
  overflow-wrap: break-word; }
@media (max-width: 30em) { .intervals text { font-size: 20px !important; } }
.intervals { display: block; width: 100%; max-width: 600px; margin: 0.6em 0; break-inside: avoid; }
.intervals text { font-size: 13px; fill: var(--ink); } .intervals circle { fill: var(--bar); }
.intervals .interval { stroke: var(--bar); stroke-width: 4; } .intervals .rule { stroke: var(--line); stroke-width: 1; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
@media print {
  body { font-size: 9pt; line-height: 1.3; margin: 0; max-width: none; padding: 0; }
  h2 { margin-top: 0.8em; }
  td { padding-top: 0.05em; padding-bottom: 0.05em; }
}
"""
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""
