"""What is worked out from public facts alone: plans, readings, statements and checks.

All of it is plain data in and plain data out, so that another process can do it, under a time limit.
"""

import json
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from typing import cast

from discreet.errors import DeclarationError, DiscreetError, DocumentError
from discreet.exact import exact_text
from discreet.inference import Posterior, infer
from discreet.planning import expected_accuracy, verify
from discreet.planning.planned_reading import planned_reading
from discreet.reading import why_unreadable
from discreet.records.values import text_of
from discreet.releases import Release
from discreet.serve.questions import Read, read_declaration
from discreet.show import charts
from discreet.show.statement import statement, statement_html
from discreet.show.tables import csv_text, document_of, rows_with_truth
from discreet.study.declarations import Declarations

LEVEL = 0.9
_STUDIES = 24  # made-up studies that a live plan reads
Plain = dict[str, object]


def plan(study: Plain, keys: object) -> Plain:
    """Return what an analyst sees before anything is spent: mechanism and reason, cost, expected width."""
    read = read_declaration(Declarations.from_document(study), keys)
    question, cost = read.question, read.cost
    return {
        "label": question.label,
        "mechanism": type(question.mechanism).__name__,
        "reason": question.reason or "it was named in the question",
        "epsilon": exact_text(cost.epsilon),
        "delta": exact_text(cost.delta),
        "evidence": f"{cost.evidence.value}: {cost.reason}",
        "protects": question.unit.description,
        "declaration": json.loads(read.declaration),
        **_width(read),
    }


def _width(read: Read) -> Plain:
    question = read.question
    if read.query is not None:
        return {"width": None, "words": "One answer from one fresh draw of the posterior: it holds the draw's luck."}
    if question.no_posterior is not None:
        return {"width": None, "words": f"There will be no posterior: {question.no_posterior}."}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = expected_accuracy(question.mechanism, LEVEL, _STUDIES)
    except DiscreetError as problem:
        return {"width": None, "words": f"No width is foretold: {problem}"}
    what = "an effect" if question.model.row_scales is not None else "a share"
    return {
        "width": found.width,
        "exact_width": found.non_private_width,
        "level": LEVEL,
        "words": f"A {LEVEL:.0%} interval of {what} will be about {found.width:.3g} wide; exact counts would give "
        f"{found.non_private_width:.3g}. {planned_reading(question.mechanism)}",
    }


def reading(document: str, level: float, event: str | None, by: str | None) -> Plain:
    """Return what a release says: rows, remarks and a picture; with an event, its probability or rates by group."""
    release = Release.from_json(document)
    if (why := why_unreadable(release.mechanism)) is not None:
        return {"unreadable": why, "rows": [], "chart": None, "columns": _columns(release), "notes": []}
    if by is not None and event is None:
        raise DeclarationError("Groups go with an event: say which event is looked at in each of them.")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        posterior = _posterior(release)
        rows = _rows(posterior, level, event, by)
        chart = _chart(posterior, level, event, by)
        found = document_of(posterior, level)
    notes = list(dict.fromkeys(str(each.message) for each in seen))
    return found | {"rows": rows, "chart": chart, "columns": _columns(release), "notes": notes,
                    "remarks": list(posterior.remarks(level)), "answers": sorted(posterior.answers)}  # fmt: skip


def _posterior(release: Release) -> Posterior:
    found: Posterior = infer(release)
    return found


def _rows(posterior: Posterior, level: float, event: str | None, by: str | None) -> list[Plain]:
    if event is None:
        rows = posterior.rows(level)
    elif by is None:
        rows = (posterior.chance(event, None, level),)
    else:
        rows = posterior.rates(event, by, level)
    return [asdict(row) | dict(zip(("mean_text", "low_text", "high_text"), row.texts, strict=True)) for row in rows]


def _chart(posterior: Posterior, level: float, event: str | None, by: str | None) -> object:
    try:
        if event is not None and by is not None:
            return charts.comparison_chart(posterior, event, by, level)
        return charts.posterior_chart(posterior, level) if event is None else None
    except DeclarationError:
        return None  # too many rows for a picture: the table has them


def _columns(release: Release) -> Plain:
    columns = release.model.declared_columns
    return {column.name: [text_of(level) for level in column.levels] for column in columns}


def account(document: str) -> str:
    """Return the one-page statement of a release, as a page of its own."""
    release = Release.from_json(document)
    posterior = None if why_unreadable(release.mechanism) is not None else _quiet(release)
    return statement_html(statement(release, posterior, verify(release)))


def _quiet(release: Release) -> Posterior:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _posterior(release)


def table(document: str, level: float) -> str:
    """Return the rows of a release as CSV; no cell begins as a formula of a spreadsheet does."""
    release = Release.from_json(document)
    if (why := why_unreadable(release.mechanism)) is not None:
        raise DocumentError(f"There is no table: {why}.")
    rows = rows_with_truth(_quiet(release).rows(level))
    return csv_text(list(rows[0]), (list(row.values()) for row in rows))


def verification(document: str) -> Plain:
    """Return what a check of a release found, line by line; one that does not hold is refused in words."""
    release = Release.from_json(document)
    certificate = verify(release)
    lines: Sequence[str] = str(certificate).splitlines()
    return {
        "label": release.label,
        "simulated": release.simulated,
        "epsilon": exact_text(certificate.guarantee.epsilon),
        "delta": exact_text(certificate.guarantee.delta),
        "protects": release.unit.description,
        "receipt": None if release.receipt is None else asdict(release.receipt),
        "signed_by": [each.key for each in release.signatures],
        "lines": list(lines),
    }


WORK = {"plan": plan, "reading": reading, "account": account, "table": table, "verification": verification}
"""Everything that another process may be asked to work out, by name."""


def worked_out(name: str, arguments: Sequence[object]) -> tuple[str, object]:
    """Return ("", what was worked out), or the kind and the words of a refusal."""
    try:
        return "", cast(object, WORK[name](*arguments))  # type: ignore[operator]  # by name, with its own arguments
    except DiscreetError as problem:
        return type(problem).__name__, str(problem)
    except RecursionError:
        return "DeclarationError", "This is nested too deeply."
    except Exception as problem:  # noqa: BLE001 - no record is near, and yet nobody is shown a raw exception
        return "-", type(problem).__name__
