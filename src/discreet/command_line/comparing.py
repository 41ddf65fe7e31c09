"""What `plan --compare` and `verify --mechanism` show: a ranking of mechanisms, and a mechanism put to the test.

Neither touches any data. A mechanism is read from its document: the `mechanism` of a release, or a file of its own.
"""

import json
import sys
from math import inf
from pathlib import Path

from discreet.command_line.screen import EXIT_CODES, say, show_json, show_table, working
from discreet.errors import DeclarationError, DocumentError, VerificationError
from discreet.exact import exact_text
from discreet.mechanisms import Mechanism
from discreet.planning import Certificate, Ranking, audit, compare, verify
from discreet.planning.compare import floor_in_words
from discreet.planning.compare_numbers import NumberRanking
from discreet.planning.compare_programs import ProgramRanking
from discreet.planning.planned_reading import planned_reading
from discreet.releases.release import read_mechanism
from discreet.show import charts
from discreet.study import Question


def compare_mechanisms(question: Question, level: float, plot: Path | None, as_json: bool) -> None:
    """Rank the mechanisms that could publish a question."""
    guarantee = question.mechanism.guarantee
    with working("comparing all mechanisms", as_json):
        ranking = compare(question.mechanism.model, question.mechanism.size, guarantee.epsilon, guarantee.delta, level)
    if plot is not None:
        if isinstance(ranking, ProgramRanking):
            raise DeclarationError(
                "--plot cannot be combined with --compare for a program or a family. Nothing was written."
            )
        charts.render(charts.ranking_chart(ranking), plot)
    if as_json:
        return show_json({"question": question.name, **ranking.document()})
    if isinstance(ranking, NumberRanking | ProgramRanking):
        stated = f"epsilon = {exact_text(ranking.epsilon)}, delta = {exact_text(ranking.delta)}"
        title = f"{question.label}: {ranking.size} records at {stated}, the most informative first"
        show_table(title, ranking.headings, ranking.rows())
        return say(*ranking.remarks())
    _show_ranking(ranking, question.label)
    return say(planned_reading(question.mechanism))


def _show_ranking(ranking: Ranking, label: str) -> None:
    known = ranking.best.accuracy
    stated = f"epsilon = {exact_text(ranking.epsilon)}, delta = {exact_text(ranking.delta)}"
    headings = ("mechanism", "log score", "share", f"{known.level:.0%} width", "distance", "remapped")
    show_table(
        f"{label}: {ranking.size} records at {stated}, the most informative mechanism first", headings, ranking.rows()
    )
    say(
        f"Exact counts would have a log score of {known.non_private_log_score:.4f} nats and intervals of width "
        f"{known.non_private_width:.4f}; shares are relative to that log score."
    )
    if ranking.floor is not None:
        say(floor_in_words(ranking.floor))
    say(*(f"Warning: {entry.name}: {entry.warning}." for entry in ranking.entries if entry.warning))
    say(*(f"Left out: {name}: {why}" for name, why in ranking.left_out.items()))


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
