"""Markdown that can be nothing but what it is meant to be: lists, tables, and text that others wrote."""

import re
from collections.abc import Sequence

from discreet.records.columns import Column
from discreet.records.values import text_of


def some_levels(column: Column) -> str:
    """Return the names of a column's levels, the first ones if there are many."""
    names = [plain(text_of(level)) for level in column.levels]
    return ", ".join(names if len(names) <= 12 else [*names[:10], f"... {len(names)} in all"])


def bullets(points: Sequence[str]) -> str:
    """Return points as a list."""
    return "\n".join(f"- {point}" for point in points)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], words: int) -> str:
    """Return a table whose first so many columns hold words and whose others hold numbers, which stand to the right."""
    rule = ["---"] * words + ["---:"] * (len(heads) - words)
    return "\n".join(f"| {' | '.join(row)} |" for row in [heads, rule, *rows])


def plain(text: str | None) -> str:
    """Return a text in one line, with all that Markdown or HTML could take for more than text as references."""
    words = " ".join("".join(letter if letter.isprintable() else " " for letter in str(text)).split())
    safe = re.sub(r"[<>&|\\*`\[\]~#]", lambda found: f"&#{ord(found[0])};", words or "(empty)")
    return re.sub(r"(?<![^\W_])_|_(?![^\W_])", "&#95;", safe)  # within a word an underscore is only itself
