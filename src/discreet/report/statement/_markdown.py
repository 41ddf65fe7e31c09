"""Markdown that can be nothing but what it is meant to be: lists, tables, and text that others wrote."""

import re
from collections.abc import Sequence

from discreet._core.notebook import one_line


def bullets(points: Sequence[str]) -> str:
    """Return points as a list."""
    return "\n".join(f"- {point}" for point in points)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], words: int) -> str:
    """Return a table whose first `words` columns hold words and whose others hold numbers, which stand to the right."""
    rule = ["---"] * words + ["---:"] * (len(heads) - words)
    return "\n".join(f"| {' | '.join(row)} |" for row in [heads, rule, *rows])


def plain(text: str | None) -> str:
    """Return a text in one line, with all that Markdown or HTML could take for more than text as references."""
    safe = re.sub(r"[<>&|\\*`\[\]~#]", lambda found: f"&#{ord(found[0])};", one_line(text) or "(empty)")
    return re.sub(r"(?<![^\W_])_|_(?![^\W_])", "&#95;", safe)  # within a word an underscore is only itself
