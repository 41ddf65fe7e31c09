"""The API for programs, /api/1: releases, questions, plans, budget and audit log, for holders of a token."""

from fractions import Fraction

from starlette.responses import Response

from discreet._core.documents import canonical_json
from discreet._core.errors import DeclarationError
from discreet._core.exact import exact_text
from discreet.mathematics.distributions import tails
from discreet.privacy import Accountant
from discreet.records import text_of
from discreet.server import _audit as audit
from discreet.server._front import Asking, Front, as_json
from discreet.server._guard import Rule
from discreet.server._problems import HttpProblem
from discreet.server._questions import STATES, read_declaration, require_room
from discreet.server._roles import ASK, AUDIT, DECIDE, READ
from discreet.server._work import LEVEL
from discreet.study import query_forms

LARGEST_RELEASE = 2 * 1024 * 1024


def catalogue(front: Front) -> dict[str, object]:
    """Return what the study declares: whom it protects, its columns and levels, and how questions are decided."""
    declared, serving = front.declarations, front.declarations.serving
    levels = [
        {"name": name, "levels": [text_of(level) for level in column.levels]}
        for name, column in declared.columns.items()
    ]
    numbers = [
        {"name": name, "low": str(each.low), "high": str(each.high), "whole": each.is_whole}
        for name, each in declared.numbers.items()
    ]
    return {
        "population": declared.population,
        "protects": declared.unit.description,
        "size": declared.size,
        "columns": levels,
        "numbers": numbers,
        "questions": declared.written_questions(),
        "models": [form.document() for form in declared.forms.values()],
        "queries": [form.document() for form in query_forms().values()],
        "policy": "automatic" if serving.is_automatic else "steward",
        "allowance": exact_text(serving.allowance) if serving.is_automatic else None,
        "time_limit": serving.time_limit,
        "visible_after": serving.visible_after,
    }


def planned(asking: Asking, keys: object) -> dict[str, object]:
    """Return the cost and the mechanism of a question, and what is left of the budget and of the allowance."""
    front = asking.front
    found = asking.computed("plan", front.study, unreasoned(keys)[0])
    plan = dict(found) if isinstance(found, dict) else {}
    published = _published(front, str(plan.pop("canonical", "")))
    left = {"remaining": _remaining(front.budget, plan), "allowance": front.allowance(asking.somebody)}
    return plan | left | {"published": published}


def _published(front: Front, canonical: str) -> str | None:
    """Return the release of an equal question: to ask again is free, but not under a budget of periods."""
    if not canonical or front.budget.get("period"):
        return None
    return next((each.release for each in front.questions.answered(canonical)), None)


def unreasoned(keys: object) -> tuple[object, str]:
    """Return what was asked, and apart from it the reason that only the steward reads."""
    if not isinstance(keys, dict) or "reason" not in keys:
        return keys, ""
    if not isinstance(keys["reason"], str):
        raise DeclarationError("A reason must be a text. Nothing was asked.")
    return {name: value for name, value in keys.items() if name != "reason"}, keys["reason"]


def _remaining(budget: dict[str, object], plan: dict[str, object]) -> dict[str, object] | None:
    """Return what is left now and afterwards: below zero if it costs too much, unknown if charges do not simply add."""
    left, name = budget.get("remaining"), str(budget.get("currency"))
    if not isinstance(left, dict):
        return None
    after = None
    if name == "epsilon" and budget.get("accountant") == Accountant.BASIC.value:
        after = exact_text(Fraction(left[name]) - Fraction(str(plan["epsilon"])))
    return {"name": name, "left": left.get(name), "after": after}


def planned_width(asking: Asking, keys: object) -> dict[str, object]:
    """Return how wide the intervals of a question will be, or say why that cannot be predicted."""
    try:
        found = asking.computed("width", asking.front.study, unreasoned(keys)[0])
    except DeclarationError as problem:
        found = {"width": None, "words": f"No width can be predicted: {problem}"}
    return found if isinstance(found, dict) else {}


def ask(asking: Asking, keys: object, key: str | None) -> tuple[dict[str, object], bool]:
    """Put a question into the queue; return it, and whether it is new."""
    front = asking.front
    keys, reason = unreasoned(keys)
    asking.computed("plan", front.study, keys)  # first read in another process, under a time limit
    read = read_declaration(front.declarations, keys)
    require_room(read.cost, read.question.label, front.budget)
    asked, is_new = front.questions.ask(asking.somebody, front.declarations, read, key, reason)
    return asked.document(), is_new


def level_of(asking: Asking) -> float:
    """Return the level of the intervals that the request asks for."""
    try:
        level = float(asking.query("level") or LEVEL)
    except ValueError:
        raise HttpProblem(400, "A level must be a number between 0 and 1, such as 0.9.") from None
    try:
        tails(level)
    except DeclarationError as problem:
        raise HttpProblem(400, str(problem)) from None
    return level


def reading_of(asking: Asking, text: str) -> dict[str, object]:
    """Return the posterior of a release at the level, and for the event and the groups, that the request asks for."""
    chosen = [asking.query(name) for name in ("event", "by", "group")]
    if any(len(each or "") > 500 for each in chosen):
        raise HttpProblem(400, "The name of an event, a column or a group may have at most 500 characters.")
    found = asking.computed("reading", text, level_of(asking), *chosen)
    return found if isinstance(found, dict) else {}


def number_of(asking: Asking, name: str) -> int | None:
    """Return a whole number from the query string of the address."""
    text = asking.query(name)
    if text is not None and not (text.isascii() and text.isdigit() and len(text) < 12):
        raise HttpProblem(400, f"{name} must be a whole number.")
    return None if text is None else int(text)


def _study(asking: Asking) -> Response:
    return as_json(catalogue(asking.front))


def _budget(asking: Asking) -> Response:
    return as_json(asking.front.budget | {"allowance": asking.front.allowance(asking.somebody)})


def _plan(asking: Asking) -> Response:
    return as_json(planned(asking, asking.json) | planned_width(asking, asking.json))


def _ask(asking: Asking) -> Response:
    found, is_new = ask(asking, asking.json, asking.request.headers.get("idempotency-key"))
    response = as_json(found, 201 if is_new else 200)
    response.headers["Location"] = f"/api/1/questions/{found['id']}"
    return response


def _questions(asking: Asking) -> Response:
    state = asking.query("state")
    if state is not None and state not in STATES:
        raise HttpProblem(400, f"The state must be one of {', '.join(STATES)}.")
    found = asking.front.questions.seen_by(asking.somebody, state)
    return as_json({"questions": [each.document() for each in found]})


def _question(asking: Asking) -> Response:
    return as_json(asking.front.questions.get(asking.path("id"), asking.somebody).document())


def _decide(asking: Asking) -> Response:
    given = asking.json
    approve, words = given.get("approve"), given.get("words", "")
    if set(given) - {"approve", "words"} or not isinstance(approve, bool) or not isinstance(words, str):
        raise DeclarationError("A decision must be {approve: true or false, words: TEXT}. Nothing was decided.")
    return as_json(asking.front.questions.decide(asking.somebody, asking.path("id"), approve, words).document())


def _withdraw(asking: Asking) -> Response:
    return as_json(asking.front.questions.withdraw(asking.somebody, asking.path("id")).document())


def _acknowledge(asking: Asking) -> Response:
    return as_json(asking.front.questions.acknowledge(asking.somebody, asking.path("id")).document())


def _releases(asking: Asking) -> Response:
    return as_json({"releases": [each.document() for each in asking.front.published()]})


def _release(asking: Asking) -> Response:
    return Response(asking.front.release(asking.path("id")).text, media_type="application/json")


def _reading(asking: Asking) -> Response:
    return as_json(reading_of(asking, asking.front.release(asking.path("id")).text))


def _table(asking: Asking) -> Response:
    text = asking.front.release(asking.path("id")).text
    return Response(str(asking.computed("table", text, level_of(asking))), media_type="text/csv")


def _verify(asking: Asking) -> Response:
    return as_json(asking.computed("verification", canonical_json(asking.json)))


def _audit(asking: Asking) -> Response:
    found = audit.lines(asking.front.queue, before=number_of(asking, "before"))
    return as_json({"lines": [line.document() for line in found]})


def _openapi(asking: Asking) -> Response:
    from discreet.server._openapi import openapi

    return as_json(openapi(RULES))


_QUESTION, _RELEASE = "/api/1/questions/{id}", "/api/1/releases/{id}"

RULES: tuple[Rule, ...] = (
    Rule("GET", "/api/1/openapi.json", None, _openapi, "This document.", "api"),
    Rule("GET", "/api/1/study", READ, _study, "What the study declares: columns, levels, bounds, policy.", "api"),
    Rule("GET", "/api/1/budget", READ, _budget, "What has been spent, on what, and what is left.", "api"),
    Rule("POST", "/api/1/plans", READ, _plan, "Plan a question: cost, mechanism, width. Nothing is spent.", "api",
         body="Asked"),
    Rule("POST", "/api/1/questions", ASK, _ask, "Ask. With an Idempotency-Key, safe to repeat.", "api",
         parameters=("header:Idempotency-Key",), body="Asked", gives=(200, 201)),
    Rule("GET", "/api/1/questions", READ, _questions, "The questions that you may see, newest first.", "api",
         parameters=("query:state",)),
    Rule("GET", _QUESTION, READ, _question, "One question, and what became of it.", "api"),
    Rule("POST", f"{_QUESTION}/decision", DECIDE, _decide, "Approve or decline a waiting question.", "api",
         body="Decision"),
    Rule("POST", f"{_QUESTION}/withdrawal", ASK, _withdraw, "Withdraw one of your own waiting questions.", "api"),
    Rule("POST", f"{_QUESTION}/acknowledgement", DECIDE, _acknowledge,
         "Note that a question took too long, so that the next ones are answered.", "api"),
    Rule("GET", "/api/1/releases", READ, _releases, "All releases, newest first.", "api"),
    Rule("GET", _RELEASE, READ, _release, "A release: the document itself.", "api"),
    Rule("GET", f"{_RELEASE}/reading", READ, _reading, "What a release says, with intervals.", "api",
         parameters=("query:level", "query:event", "query:by", "query:group")),
    Rule("GET", f"{_RELEASE}/table", READ, _table, "The rows of a posterior as CSV.", "api",
         parameters=("query:level",)),
    Rule("POST", "/api/1/verifications", READ, _verify, "Check a release, given as its document.", "api",
         most=LARGEST_RELEASE, body="Release"),
    Rule("GET", "/api/1/audit", AUDIT, _audit, "Lines of the audit log, newest first.", "api",
         parameters=("query:before",)),
)  # fmt: skip
"""Every route for programs."""
