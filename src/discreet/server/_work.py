"""What is computed from public facts alone: plans, posteriors, statements and checks.

All of it takes and returns plain data, so that another process can do it, under a time limit.
"""

import json
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from fractions import Fraction
from functools import lru_cache
from typing import cast

from discreet._core.errors import DeclarationError, DiscreetError, DocumentError
from discreet._core.exact import exact_text
from discreet.inference import ANSWERS, PROBABILITY, HasEvents, Posterior, Row, infer, remarks, why_unreadable
from discreet.mechanism import Sized, both_promises
from discreet.planning import Accuracy, accuracy, require_quick
from discreet.records import text_of
from discreet.release import Release
from discreet.report import charts, csv_text, document_of, rows_with_truth
from discreet.report.statement import statement, statement_html
from discreet.server._questions import read_declaration
from discreet.study import Declarations, ways_of
from discreet.verification import verify

LEVEL = 0.9
_MOST_ROWS = 12  # that a plan shows
_POSTERIORS = 4  # that are kept, because people explore one release at many levels and by many groups
Plain = dict[str, object]


def plan(study: Plain, keys: object) -> Plain:
    """Return what an analyst sees before anything is spent: the mechanism, why it was chosen, and the cost."""
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
        "promises": both_promises(question.mechanism, question.unit.rows),
        "mechanisms": ways_of(question.model, is_secret=not isinstance(question.mechanism, Sized)),
        "declaration": json.loads(read.declaration),
        "canonical": read.canonical,
    }


def width(study: Plain, keys: object) -> Plain:
    """Return how wide the intervals of a question will be, from simulated studies: the figures of `discreet plan`."""
    read = read_declaration(Declarations.from_document(study), keys)
    question = read.question
    if read.query is not None:
        return {
            "width": None,
            "words": ("One answer from one fresh draw of the posterior: it includes the randomness of that draw."),
        }
    if question.no_posterior is not None:
        return {"width": None, "words": f"There will be no posterior: {question.no_posterior}."}
    try:
        require_quick(question.mechanism, 1.0)
        found = accuracy(question.mechanism, LEVEL, about=question.guess)
    except DiscreetError as problem:
        return {"width": None, "words": f"No width can be predicted: {problem}"}
    first = f"; the first {_MOST_ROWS} of {found.rows_of_all} rows" if found.rows_of_all > _MOST_ROWS else ""
    figures = {name: each for name, each in found.document().items() if name not in ("epsilon", "delta")}
    return (
        figures
        | {  # what it costs is stated exactly by `plan`
            "rows": [asdict(row) for row in found.rows[:_MOST_ROWS]],
            "words": f"{found.sentence[0].upper()}{found.sentence[1:]}. {found.method[:-1]}{first}.",
            "plain": _plainly(found),
        }
    )


def _plainly(found: Accuracy) -> str:
    """Say in one sentence how well each figure will be known, with privacy and without."""

    def around(width: float) -> str:
        half = width / 2
        return f"±{100 * half:.2g} percentage points" if found.unit == PROBABILITY else f"±{half:.2g} {found.unit}"

    what = "Each share" if found.unit == PROBABILITY else "Each figure"
    return f"{what} will be known to about {around(found.width)}; without privacy {around(found.exact_width)}."


_CURVE = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)  # multiples of the epsilon that is asked for
_CURVE_STUDIES = 4


def curve(study: Plain, keys: object) -> Plain:
    """Return how wide the intervals of a question would be at other epsilons, from a few simulated studies each."""
    read = read_declaration(Declarations.from_document(study), keys)
    question, points = read.question, list[Plain]()
    if read.query is not None or question.no_posterior is not None:
        return {"points": [], "unit": ""}
    asked = keys["question"] if isinstance(keys, dict) else {}
    unit = ""
    for factor in _CURVE:
        epsilon = f"{float(Fraction(str(asked['epsilon']))) * factor:.3g}"
        other = {"question": dict(asked) | {"epsilon": epsilon}}
        mechanism = read_declaration(Declarations.from_document(study), other).question.mechanism
        try:
            require_quick(mechanism, 0.2)
            found = accuracy(mechanism, LEVEL, studies=_CURVE_STUDIES)
        except DiscreetError:
            continue
        unit = found.unit
        points.append({"epsilon": epsilon, "width": found.width, "exact_width": found.exact_width})
    return {"points": points, "unit": unit}


def reading(document: str, level: float, event: str | None, by: str | None, group: str | None = None) -> Plain:
    """Return what a release says: rows, remarks and a picture; for an event, its probability or its rates by group.

    `group` keeps only the rows of one group, where rows have groups.
    """
    release = Release.from_json(document)
    if (why := why_unreadable(release.mechanism)) is not None:
        return {"unreadable": why, "rows": [], "chart": None, "columns": {}, "notes": []}
    if by is not None and event is None:
        raise DeclarationError("Groups need an event: state which event to look at in each group.")
    posterior, notes = _posterior(document)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        every = posterior.rows(level)
        groups = list(dict.fromkeys(row.given for row in every if row.given))
        rows = _asked_rows(posterior, level, event, by) if event is not None else _of_group(every, group)
        chart = _chart(posterior, rows, level, event, by, group)
        found = document_of(posterior, level)
    notes += tuple(str(each.message) for each in seen)
    return found | {
        "rows": [_plain_row(row) for row in rows], "chart": chart, "columns": _events(posterior),
        "notes": list(dict.fromkeys(notes)), "groups": groups, "remarks": list(remarks(posterior, level)),
        "answers": sorted(name for name, asked in ANSWERS.items() if isinstance(posterior, asked)),
    }  # fmt: skip


@lru_cache(_POSTERIORS)
def _posterior(document: str) -> tuple[Posterior, tuple[str, ...]]:
    """Return the posterior of a release, and the warnings while it was read: once for all levels, events and groups."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        found: Posterior = infer(Release.from_json(document))
    return found, tuple(str(each.message) for each in seen)


def _asked_rows(posterior: Posterior, level: float, event: str, by: str | None) -> Sequence[Row]:
    if not isinstance(posterior, HasEvents):
        raise DeclarationError(
            f"The probability of an event was requested, but {posterior.text.subject} has no events."
        )
    return (posterior.chance(event, None, level),) if by is None else posterior.rates(event, by, level)


def _of_group(rows: Sequence[Row], group: str | None) -> Sequence[Row]:
    kept = [row for row in rows if group in (None, row.given)]
    if not kept:
        raise DeclarationError(f"There is no group {group!r} in this release.")
    return kept


def _plain_row(row: Row) -> Plain:
    """Return a row with its texts: probabilities in percent, as charts show them."""
    numbers = (row.mean, row.low, row.high)
    if row.is_unknown:
        return asdict(row) | {"mean_text": "nothing known", "low_text": "-", "high_text": "-"}
    texts = [f"{100 * each:.1f} %" for each in numbers] if row.is_probability else row.texts
    return asdict(row) | dict(zip(("mean_text", "low_text", "high_text"), texts, strict=True))


def _chart(
    posterior: Posterior, rows: Sequence[Row], level: float, event: str | None, by: str | None, group: str | None
) -> object:
    try:
        if event is not None and by is not None:
            return charts.comparison_chart(posterior, event, by, level)
        if event is None and group is None:
            return charts.posterior_chart(posterior, level)
        return charts.rows_chart(posterior, rows, level)
    except DeclarationError:
        return None  # too many rows for a picture: the table has them


def _events(posterior: Posterior) -> Plain:
    """Return the columns that events are about, with their levels; none if the model has no events."""
    columns = posterior.columns if isinstance(posterior, HasEvents) else ()
    return {column.name: [text_of(level) for level in column.levels] for column in columns}


def account(document: str) -> str:
    """Return the one-page statement of a release, as HTML."""
    release = Release.from_json(document)
    posterior = None if why_unreadable(release.mechanism) is not None else _posterior(document)[0]
    return statement_html(statement(release, posterior, verify(release)), posterior)


def table(document: str, level: float) -> str:
    """Return the rows of a release as CSV; no cell begins like a spreadsheet formula."""
    release = Release.from_json(document)
    if (why := why_unreadable(release.mechanism)) is not None:
        raise DocumentError(f"There is no table: {why}.")
    rows = rows_with_truth(_posterior(document)[0].rows(level))
    return csv_text(list(rows[0]), (list(row.values()) for row in rows))


def verification(document: str) -> Plain:
    """Return what a check of a release found, line by line; a guarantee that does not hold is refused in words."""
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


WORK = {
    "plan": plan, "width": width, "curve": curve, "reading": reading,
    "account": account, "table": table, "verification": verification,
}  # fmt: skip
"""Everything that another process may be asked to compute, by name."""


QUICK = frozenset({"plan"})
"""What takes little, and must never wait for the rest: a question is parsed before it is asked."""


def worked_out(name: str, arguments: Sequence[object]) -> tuple[str, object]:
    """Return ("", result), or the kind and the words of a refusal."""
    try:
        return "", cast(object, WORK[name](*arguments))  # type: ignore[operator]  # by name, with its own arguments
    except DiscreetError as problem:
        return type(problem).__name__, str(problem)
    except MemoryError:
        return "DeclarationError", "This needs more memory than a server allows for it. Nothing was charged."
    except RecursionError:
        return "DeclarationError", "This is nested too deeply."
    except Exception as problem:  # noqa: BLE001 - no records are involved, but nobody is shown a raw exception
        return "-", type(problem).__name__
