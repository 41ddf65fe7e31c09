"""What `plan --compare` and `verify --mechanism` show: a ranking of mechanisms, and a mechanism put to the test.

Neither touches any data. A mechanism is read from its document: the `mechanism` of a release, or a file of its own.
"""

import json
import sys
from math import inf
from pathlib import Path

from discreet._core.errors import DocumentError, VerificationError
from discreet.cli._screen import EXIT_CODES, say, show_json, show_table, working
from discreet.mechanism import Mechanism, Sized, simulated_size
from discreet.planning import compare
from discreet.release import read_mechanism
from discreet.report import charts
from discreet.study import Question
from discreet.verification import Certificate, audit, verify


def compare_mechanisms(question: Question, level: float, studies: int | None, plot: Path | None, as_json: bool) -> None:
    """Rank the mechanisms that could publish a question."""
    mechanism, guarantee = question.mechanism, question.mechanism.guarantee
    size = mechanism.size if isinstance(mechanism, Sized) else None
    about = simulated_size(mechanism, question.guess) if size is None else None
    with working("comparing all mechanisms", as_json):
        asked = guarantee.epsilon, guarantee.delta, level, studies
        ranking = compare(mechanism.model, size, *asked, about=about)
    if plot is not None:
        charts.render(charts.ranking_chart(ranking), plot)
    if as_json:
        return show_json({"question": question.name, **ranking.document()})
    show_table(f"{question.label}: {ranking.stated}, the most informative first", ranking.headings, ranking.rows())
    return say(*ranking.remarks(), *([] if plot is None else [f"Wrote {plot}."]))


def examine_file(path: Path, draws: int, plot: Path | None, patience: float, as_json: bool) -> None:
    """Put the mechanism in a file to the test: its distribution by `verify`, its sampler by `audit`."""
    mechanism = read_mechanism_file(path)
    with working("comparing neighbours and drawing", as_json):
        certificate, found = _certificate(mechanism, patience), audit(mechanism, draws, patience=patience)
    if plot is not None:
        charts.render(charts.audit_chart([(type(mechanism).__name__, found)]), plot)
    if as_json:
        show_json({"certificate": _certificate_document(certificate), "audit": found.document()})
    else:
        say(*str(certificate).splitlines(), *str(found).splitlines())
        if not found.violates:
            say("An audit that finds no violation proves nothing; the certificate above states what was compared.")
    if isinstance(certificate, str) or found.violates:
        sys.exit(EXIT_CODES[VerificationError])


def read_mechanism_file(path: Path) -> Mechanism:
    """Read a mechanism from a file: its own document, or that of a release."""
    if not path.is_file():
        raise DocumentError(f"There is no file {str(path)!r}.")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise DocumentError(f"{str(path)!r} is not a JSON document.") from None
    if not isinstance(document, dict):
        raise DocumentError(f"{str(path)!r} does not contain the document of a mechanism.")
    found: Mechanism = read_mechanism(document.get("mechanism", document))
    return found


def _certificate(mechanism: Mechanism, patience: float) -> Certificate | str:
    """Return the certificate of a mechanism, or why its guarantee does not hold."""
    try:
        return verify(mechanism, patience=patience)
    except VerificationError as problem:
        return str(problem)


def _certificate_document(certificate: Certificate | str) -> dict[str, object]:
    if isinstance(certificate, str):
        return {"holds": False, "problem": certificate}
    finite = certificate.epsilon if certificate.epsilon < inf else None
    evidence = certificate.evidence.value
    facts = {"holds": True, "pure_epsilon": finite, "exact": certificate.exact, "evidence": evidence}
    return facts | {"checks": list(certificate.checks)}
