"""A posterior as a document for machines, and as a CSV file: its rows, and what belongs to all of them."""

import csv
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from discreet.exact import exact_text
from discreet.inference import Posterior, Row


def rows_with_truth(rows: Sequence[Row], truth: Sequence[float] | None = None) -> list[dict[str, object]]:
    """Return rows as plain fields; in a rehearsal with the truth of each."""
    fields = [asdict(row) for row in rows]
    if all(row.records_low is None for row in rows):  # only groups have sizes
        fields = [{k: v for k, v in each.items() if k not in ("records_low", "records_high")} for each in fields]
    if truth is None:
        return fields
    return [each | {"truth": float(true)} for each, true in zip(fields, truth, strict=True)]


def document_of(posterior: Posterior, level: float = 0.9, truth: Sequence[float] | None = None) -> dict[str, object]:
    """Return a reading as a document that JSON can hold. What is not known is null."""
    first = posterior.releases[0]
    return {
        "label": first.label,
        "releases": [{"label": r.label, "epsilon": exact_text(r.guarantee.epsilon)} for r in posterior.releases],
        "simulated": first.simulated,
        "size": posterior.size,
        "epsilon": exact_text(first.guarantee.epsilon),
        "delta": exact_text(first.guarantee.delta),
        "mechanism": type(first.mechanism).__name__,
        "level": level,
        "method": posterior.method,
        "combined": posterior.combined or None,
        "information": posterior.information,
        "log_evidence": posterior.log_evidence,
        "rows": rows_with_truth(posterior.rows(level), truth),
        **posterior.facts(level),
    }


def write_csv(posterior: Posterior, path: Path, level: float = 0.9) -> None:
    """Write the rows as CSV, one column for each field; what is not known is empty."""
    rows = rows_with_truth(posterior.rows(level))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
