"""How rows of any posterior are shown: lines of a picture, a table on a screen, a table in a notebook."""

from collections.abc import Sequence

from discreet.amounts import percent_text
from discreet.exact import exact_text
from discreet.inference.posteriors.pictures import Intervals, Line
from discreet.inference.posteriors.row import PROBABILITY, Row
from discreet.inference.posteriors.text_table import text_table
from discreet.markup import html_table
from discreet.models.model import ModelT
from discreet.releases.release import Release

MOST_IN_A_NOTEBOOK = 60
"""The number of rows that a notebook shows."""


def intervals_of(rows: Sequence[Row], level: float) -> Intervals:
    """Return the rows to be drawn: on one axis, or on one per unit if there are several."""
    what = f"mean and {percent_text(level)} interval"
    units, quantities = {row.unit for row in rows}, {row.quantity for row in rows}
    only = rows[0].unit if len(units) == 1 else None
    alone = only is not None and len(quantities) == 1 and len(rows) > 1  # one quantity under many conditions
    lines = []
    for row in rows:
        mean, low, high = row.texts
        group = "" if alone else row.unit_text if only is None else f"given {row.given}" if row.given else ""
        name = row.given if alone else row.quantity
        lines.append(Line(name, row.mean, row.low, row.high, group, f"{mean}  ({low} to {high})"))
    axis = "" if only is None else "Probability" if only == PROBABILITY else rows[0].unit_text
    shown = ": ".join(filter(None, [f"{axis} of {rows[0].quantity}" if alone else axis, what]))
    return Intervals(shown, tuple(lines), unit=only)


def heading_of(releases: Sequence[Release[ModelT]], size: int) -> str:
    """Return which releases were read, of how many records, and under which promise."""
    labels = "; ".join(dict.fromkeys(release.label for release in releases))
    epsilons = " and ".join(exact_text(release.guarantee.epsilon) for release in releases)
    who = releases[0].model.protects.removeprefix("one ")
    return f"{labels}: {size} {who}s, epsilon = {epsilons}"


def screen_of(rows: Sequence[Row], level: float) -> str:
    """Return rows as lines of text with aligned columns."""
    headings, lines, words = text_table(rows, level)
    widths = [max(map(len, column)) for column in zip(headings, *lines, strict=True)]
    shown = []
    for line in (headings, *lines):
        cells = [c.ljust(w) if n < words else c.rjust(w) for n, (c, w) in enumerate(zip(line, widths, strict=True))]
        shown.append("   ".join(cells).rstrip())
    return "\n".join(shown)


def notebook_of(rows: Sequence[Row], level: float, heading: str, method: str, starred: str = "") -> str:
    """Return rows as a table for a notebook; `starred` explains a star before a mean."""
    headings, lines, words = text_table(rows, level)
    notes = [*filter(None, [starred]), f"This release was {method}."]
    if len(lines) > MOST_IN_A_NOTEBOOK:
        notes.insert(0, f"These are the first {MOST_IN_A_NOTEBOOK} of {len(lines)} rows; to_frame() has all.")
    return html_table(heading, headings, lines[:MOST_IN_A_NOTEBOOK], words, notes)
