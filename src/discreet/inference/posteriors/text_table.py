"""Rows as a table of texts, for screens, pages and notebooks."""

from collections.abc import Sequence
from typing import NamedTuple

from discreet.amounts import percent_text
from discreet.inference.posteriors.row import UNKNOWN, Row


class TextTable(NamedTuple):
    """Rows as texts under headings; the first columns hold words, the others figures."""

    headings: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    words: int


def text_table(rows: Sequence[Row], level: float, truth: Sequence[float] | None = None) -> TextTable:
    """Return rows as a table of texts, without columns that would be empty: conditions, units, sizes, shares.

    `truth` holds the true values of a rehearsal, one for each row.
    """
    has_given, has_units = any(row.given for row in rows), any(not row.is_probability for row in rows)
    has_shares = any(row.share_due_to_privacy is not None for row in rows)
    words = ["quantity", *(["given"] if has_given else []), *(["unit"] if has_units else [])]
    has_records = any(row.records_low is not None for row in rows)
    figures = [
        *(["records"] if has_records else []),
        *([] if truth is None else ["truth"]),
        "mean",
        f"{percent_text(level, '')} interval",
    ]
    lines = []
    for place, row in enumerate(rows):
        line = [row.quantity, *([row.given or UNKNOWN] if has_given else []), *([row.unit_text] if has_units else [])]
        line += [row.records_text] if has_records else []
        line += [] if truth is None else [row.text(truth[place])]
        lines.append((*line, row.starred_mean, row.interval_text, *([row.share_text] if has_shares else [])))
    return TextTable((*words, *figures, *(["due to privacy"] if has_shares else [])), tuple(lines), len(words))
