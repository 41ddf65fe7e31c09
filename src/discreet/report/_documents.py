"""A posterior as a document for machines, and as a CSV file: its rows, and what belongs to all of them."""

import csv
import io
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

import numpy as np

from discreet._core.exact import exact_text
from discreet.inference import HasFacts, Posterior, Row, shown_fields, sources_line

BYTE_ORDER_MARK = "\ufeff"
"""Excel reads a file with this mark as UTF-8. Python drops it with encoding="utf-8-sig", R with "UTF-8-BOM"."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the last are wide ones


def rows_with_truth(rows: Sequence[Row], truth: Sequence[float] | None = None) -> list[dict[str, object]]:
    """Return rows as plain fields; in a rehearsal with the truth of each."""
    fields = [{name: getattr(row, name) for name in shown_fields(rows)} for row in rows]
    if truth is None:
        return fields
    return [each | {"truth": float(true)} for each, true in zip(fields, truth, strict=True)]


def document_of(posterior: Posterior, level: float = 0.9, truth: Sequence[float] | None = None) -> dict[str, object]:
    """Return a posterior as a document that JSON can hold. What is not known is null."""
    first = posterior.releases[0]
    return {
        "label": first.label,
        "releases": [{"label": r.label, "epsilon": exact_text(r.guarantee.epsilon)} for r in posterior.releases],
        "simulated": first.simulated,
        **({} if first.where is None else {"where": str(first.where)}),
        **({} if first.derived is None else {"derived": list(first.derived.in_words)}),
        "size": None if posterior.about else posterior.size,
        "epsilon": exact_text(first.guarantee.epsilon),
        "delta": exact_text(first.guarantee.delta),
        "mechanism": type(first.mechanism).__name__,
        "level": level,
        "method": posterior.method,
        "combined": sources_line(posterior) or None,
        "information": posterior.information,
        "log_evidence": posterior.log_evidence,
        "rows": rows_with_truth(posterior.rows(level), truth),
        **(posterior.facts(level) if isinstance(posterior, HasFacts) else {}),
    }


def write_csv(posterior: Posterior, path: Path, level: float = 0.9) -> None:
    """Write the rows as CSV, one column for each field; what is not known is empty. Spreadsheets open it as it is."""
    rows = rows_with_truth(posterior.rows(level))
    text = csv_text(list(rows[0]), (list(row.values()) for row in rows))
    path.write_bytes((BYTE_ORDER_MARK + text).encode())


def write_draws(posterior: Posterior, path: Path, count: int = 4_000, seed: int = 0) -> None:
    """Write draws from the posterior as CSV: one line for each draw, one column for each number.

    A column is named by its array and its coordinates along the axes, such as theta[ward=A, fall=no]: what R, Stata or
    a spreadsheet need to compute any interval or comparison by themselves.
    """
    names, columns = ["draw"], [np.arange(count).tolist()]
    for name, drawn in posterior.draws(count, seed).items():
        indices = product(*(posterior.coords[axis] for axis in posterior.dims[name]))
        names += [f"{name}[{', '.join(parts)}]" if parts else name for parts in indices]
        columns += np.asarray(drawn, dtype=float).reshape(count, -1).T.tolist()
    path.write_bytes(csv_text(names, zip(*columns, strict=True)).encode())


def csv_text(heads: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Return lines as CSV. Numbers stay numbers; no text begins as a formula of a spreadsheet does."""
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerow([harmless(head) for head in heads])
    writer.writerows([harmless(value) for value in line] for line in lines)
    return written.getvalue()


def harmless(value: object) -> object:
    """Return a text that no spreadsheet takes for a formula: an apostrophe stands before what begins like one.

    >>> harmless("=SUM(A1)"), harmless("ward=A"), harmless(-0.5)
    ("'=SUM(A1)", 'ward=A', -0.5)
    """
    return f"'{value}" if isinstance(value, str) and value.lstrip(" ").startswith(_FORMULA) else value
