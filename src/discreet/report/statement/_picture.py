"""The intervals of a statement as a small picture, drawn with nothing but lines and words."""

import html
from collections.abc import Sequence

from discreet.inference import Posterior, Row
from discreet.report.statement._results import LEVEL

_MOST = 16
_NAMES, _WIDTH, _ROW = 190, 600, 24


def picture_of(posterior: Posterior) -> str:
    """Return the intervals of a posterior as SVG; nothing if there are many rows, or rows of different units."""
    rows = [row for row in posterior.rows(LEVEL) if not row.is_unknown]
    if not 0 < len(rows) <= _MOST or len({row.unit for row in rows}) > 1:
        return ""
    least = min(0.0, *(row.low for row in rows)) if rows[0].is_probability else min(row.low for row in rows)
    most = max(row.high for row in rows)
    return _drawn(rows, least, most if most > least else least + 1.0)


def _drawn(rows: Sequence[Row], least: float, most: float) -> str:
    def at(value: float) -> str:
        return f"{_NAMES + (_WIDTH - _NAMES - 30) * (min(max(value, least), most) - least) / (most - least):.1f}"

    parts = []
    for number, row in enumerate(rows):
        y = 14 + number * _ROW
        name = row.quantity + (f" | {row.given}" if row.given else "")
        shown = name if len(name) <= 28 else name[:27] + "\u2026"
        parts.append(f'<text x="{_NAMES - 12}" y="{y + 4}" text-anchor="end">{html.escape(shown)}</text>')
        parts.append(f'<line class="interval" x1="{at(row.low)}" x2="{at(row.high)}" y1="{y}" y2="{y}"/>')
        parts.append(f'<circle cx="{at(row.mean)}" cy="{y}" r="4"/>')
    bottom = 14 + len(rows) * _ROW
    for value in (least, (least + most) / 2, most):
        words = f"{100 * value:.0f} %" if rows[0].is_probability else html.escape(rows[0].text(value))
        parts.append(f'<line class="rule" x1="{at(value)}" x2="{at(value)}" y1="4" y2="{bottom - 10}"/>')
        parts.append(f'<text x="{at(value)}" y="{bottom + 6}" text-anchor="middle">{words}</text>')
    words = f"Means and {100 * LEVEL:.0f} % intervals; the table has the same numbers"
    return (
        f'<svg class="intervals" viewBox="0 0 {_WIDTH} {bottom + 12}" role="img" aria-label="{words}">'
        + "".join(parts)
        + "</svg>"
    )
