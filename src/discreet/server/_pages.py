"""The pages for people: budget, catalogue, questions, releases, verify, audit log.

Pages on which people ask are in `ask_pages`, accounts in `own_pages`.
"""

import re
from functools import cache
from hashlib import sha256
from importlib.resources import files

from starlette.responses import PlainTextResponse, RedirectResponse, Response

from discreet._core.documents import canonical_json
from discreet._core.errors import DeclarationError, DiscreetError
from discreet._core.exact import exact_text
from discreet.report import in_the_dark
from discreet.server import _ask_pages as ask_pages
from discreet.server import _audit as audit
from discreet.server import _own_pages as own_pages
from discreet.server._api import (
    LARGEST_RELEASE,
    catalogue,
    level_of,
    number_of,
    planned,
    planned_width,
    reading_of,
)
from discreet.server._front import Asking, Front, as_json
from discreet.server._guard import Rule
from discreet.server._problems import HttpProblem
from discreet.server._questions import OPEN, STATES, WAITING, QueuedQuestion
from discreet.server._rendering import bars, page, refused, stands_alone
from discreet.server._roles import ANALYST, ASK, AUDIT, DECIDE, READ

__all__ = ["RULES", "refused"]

_NEWEST = 3  # releases with a small picture on the first page

_STATIC = {
    "style.css": "text/css",
    "charts.js": "text/javascript",
    "pages.js": "text/javascript",
    "vendor/htmx-2.0.11.min.js": "text/javascript",
    "vendor/vega-6.4.0.min.js": "text/javascript",
    "vendor/vega-lite-6.4.3.min.js": "text/javascript",
    "vendor/vega-interpreter-2.3.2.js": "text/javascript",
}
"""All files that are served; a path is looked up here and never on the disk."""


def _static(asking: Asking) -> Response:
    name = asking.path("name")
    if name not in _STATIC:
        raise HttpProblem(404, "There is no such file.")
    content, tag = _file(name)
    headers = {"cache-control": "public, max-age=3600", "etag": tag}
    if asking.request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=_STATIC[name], headers=headers)


@cache
def _file(name: str) -> tuple[bytes, str]:
    """Return what a file holds, read once, and a tag that changes with it."""
    folder, *inside = ("discreet.report",) if name.startswith("vendor/vega") else ("discreet.server", "static")
    content = files(folder).joinpath(*inside, *name.split("/")).read_bytes()
    return content, f'"{sha256(content).hexdigest()[:32]}"'


def _health(asking: Asking) -> Response:
    asking.front.queue.require()
    return PlainTextResponse("The front answers, and the queue is there.\n")


def _home(asking: Asking) -> Response:
    front, person = asking.front, asking.somebody
    budget = front.budget
    asked = {each.release: each for each in reversed(front.questions.answered())}
    known = {"budget": budget, "bar": bars(budget), "allowance": front.allowance(person),
             "releases": front.charges(), "asked": asked, "newest": front.published()[:_NEWEST]}  # fmt: skip
    overruns = front.questions.overruns() if person.may(DECIDE) else []
    return page(asking, "home.html", **known, overruns=overruns, is_alive=front.is_alive, study=catalogue(front))


def _catalogue(asking: Asking) -> Response:
    return page(asking, "catalogue.html", study=catalogue(asking.front))


def _questions(asking: Asking) -> Response:
    """Show the questions of a state and an account, or all: those that wait first."""
    asked, state, account = asking.front.questions, asking.query("state"), asking.query("by")
    if state is not None and state not in STATES:
        raise HttpProblem(400, f"The state must be one of {', '.join(STATES)}.")
    found = sorted(asked.seen_by(asking.somebody, state, account=account), key=lambda each: each.state != WAITING)
    who = asked.accounts() if asking.somebody.role != ANALYST else []
    return page(asking, "questions.html", questions=found, states=STATES, state=state, by=account, who=who)


def _question(asking: Asking) -> Response:
    front, person = asking.front, asking.somebody
    found = front.questions.get(asking.path("id"), person)
    is_decided_here = person.may(DECIDE) and found.state == WAITING
    return page(asking, "question.html", question=found, serving=front.declarations.serving,
                keys=_indented(found.keys), answer=found.answered,
                about=_known_of(asking, found) if is_decided_here else None)  # fmt: skip


def _known_of(asking: Asking, found: QueuedQuestion) -> dict[str, object]:
    """Return what a steward should know of a waiting question: public facts alone."""
    front = asking.front
    columns = _columns_of(front, found)
    others = [each for each in front.questions.answered() if columns & _columns_of(front, each)]
    first = {each.release: each for each in reversed(others)}
    return {"columns": sorted(columns), "earlier": list(reversed(first.values())),
            "used": exact_text(front.questions.charged_to(found.account)),
            "open": [each for each in front.questions.seen_by(asking.somebody, account=found.account)
                     if each.state in OPEN and each.id != found.id]}  # fmt: skip


def _columns_of(front: Front, found: QueuedQuestion) -> set[str]:
    """Return the declared columns that the keys of a question name."""
    written = canonical_json({name: each for name, each in _question_keys(found).items() if name != "label"})
    names = {*front.declarations.columns, *front.declarations.numbers}
    return {name for name in names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", written)}


def _question_keys(found: QueuedQuestion) -> dict[str, object]:
    keys = found.keys.get("question")
    return keys if isinstance(keys, dict) else {}


def _question_plan(asking: Asking) -> Response:
    """Show the plan of a question as its analyst saw it, with what is left now and afterwards."""
    found = asking.front.questions.get(asking.path("id"), asking.somebody)
    return page(asking, "decision_plan.html", plan=planned(asking, found.keys), width=planned_width(asking, found.keys))


def _decide_several(asking: Asking) -> Response:
    """Approve or decline all questions that were ticked and still wait."""
    front, approve = asking.front, _decision(asking)
    for each in asking.form.get("id", []):
        if front.questions.get(each, asking.somebody).state == WAITING:
            front.questions.decide(asking.somebody, each, approve, asking.field("words"))
    return RedirectResponse("/questions", 303)


def _decision(asking: Asking) -> bool:
    approve = {"approve": True, "decline": False}.get(asking.field("decision"))
    if approve is None:
        raise DeclarationError("A decision must be to approve or to decline. Nothing was decided.")
    return approve


def _indented(keys: dict[str, object]) -> str:
    lines = [f"{name} = {canonical_json(value)}" for part in keys.values() if isinstance(part, dict)
             for name, value in part.items()]  # fmt: skip
    return "\n".join(lines)


def _decide(asking: Asking) -> Response:
    asking.front.questions.decide(asking.somebody, asking.path("id"), _decision(asking), asking.field("words"))
    return RedirectResponse("/questions", 303)


def _withdraw(asking: Asking) -> Response:
    asking.front.questions.withdraw(asking.somebody, asking.path("id"))
    return RedirectResponse("/questions", 303)


def _acknowledge(asking: Asking) -> Response:
    asking.front.questions.acknowledge(asking.somebody, asking.path("id"))
    return RedirectResponse("/", 303)


def _releases(asking: Asking) -> Response:
    wanted = (asking.query("q") or "").strip()
    words = wanted.casefold().split()
    found = [each for each in asking.front.published()
             if all(word in f"{each.label} {each.mechanism}".casefold() for word in words)]  # fmt: skip
    return page(asking, "releases.html", releases=found, wanted=wanted)


def _beside(asking: Asking) -> Response:
    """Show two releases side by side."""
    chosen = list(dict.fromkeys(asking.request.query_params.getlist("release")))
    if len(chosen) != 2:
        raise HttpProblem(400, "Choose two releases to see them side by side.")
    both = [asking.front.release(each) for each in chosen]
    sides = [(release, *_read_for_page(asking, release.text)) for release in both]
    return page(asking, "beside.html", sides=sides, level=level_of(asking))


def _read_for_page(asking: Asking, text: str) -> tuple[dict[str, object], str]:
    """Return what a release says, or in words why that cannot be said here."""
    try:
        return reading_of(asking, text), ""
    except HttpProblem:
        raise
    except DiscreetError as error:
        return {}, HttpProblem.of(error).words


def _release(asking: Asking) -> Response:
    release = asking.front.release(asking.path("id"))
    found, problem = _read_for_page(asking, release.text)
    chosen = {name: asking.query(name) or "" for name in ("event", "by", "group")}
    known = {"level": level_of(asking), "columns": found.get("columns") or {}, "groups": found.get("groups") or []}
    return page(asking, "release.html", release=release, reading=found, problem=problem, **known, **chosen)


def _chart(asking: Asking) -> Response:
    release = asking.front.release(asking.path("id"))
    chart = reading_of(asking, release.text).get("chart")
    return as_json(in_the_dark(chart) if asking.query("dark") else chart)


def _document(asking: Asking) -> Response:
    release = asking.front.release(asking.path("id"))
    name = f'attachment; filename="{release.id[:16]}.release.json"'
    return Response(release.text + "\n", media_type="application/json", headers={"content-disposition": name})


def _table(asking: Asking) -> Response:
    release = asking.front.release(asking.path("id"))
    text = str(asking.computed("table", release.text, level_of(asking)))
    name = f'attachment; filename="{release.id[:16]}.csv"'
    return Response(text, media_type="text/csv", headers={"content-disposition": name})


def _statement(asking: Asking) -> Response:
    return stands_alone(str(asking.computed("account", asking.front.release(asking.path("id")).text)))


def _verify_form(asking: Asking) -> Response:
    chosen = asking.query("release")
    text = asking.front.release(chosen).text if chosen else ""
    return page(asking, "verify.html", text=text, found=None, problem="")


def _verify(asking: Asking) -> Response:
    text, found, problem = asking.field("document").strip(), None, ""
    try:
        found = asking.computed("verification", text)
    except HttpProblem:
        raise
    except DiscreetError as error:
        problem = HttpProblem.of(error).words
    return page(asking, "verify.html", text=text, found=found, problem=problem)


def _audit(asking: Asking) -> Response:
    lines = audit.lines(asking.front.queue, 100, number_of(asking, "before"))
    return page(asking, "audit.html", lines=lines)


RULES: tuple[Rule, ...] = (
    Rule("GET", "/static/{name:path}", None, _static, "Styles and scripts."),
    Rule("GET", "/health", None, _health, "Whether the front is up."),
    Rule("GET", "/", READ, _home, "The budget."),
    Rule("GET", "/catalogue", READ, _catalogue, "Columns, levels and bounds."),
    *ask_pages.RULES,
    Rule("GET", "/questions", READ, _questions, "The questions that you may see."),
    Rule("GET", "/questions/{id}", READ, _question, "One question."),
    Rule("GET", "/questions/{id}/plan", READ, _question_plan, "Its plan, with what is left before and after."),
    Rule("POST", "/questions/decisions", DECIDE, _decide_several, "Approve or decline several questions."),
    Rule("POST", "/questions/{id}/decision", DECIDE, _decide, "Approve or decline."),
    Rule("POST", "/questions/{id}/withdrawal", ASK, _withdraw, "Withdraw a waiting question."),
    Rule("POST", "/questions/{id}/acknowledgement", DECIDE, _acknowledge, "Note that a question took too long."),
    Rule("GET", "/releases", READ, _releases, "All releases."),
    Rule("GET", "/beside", READ, _beside, "Two releases side by side."),
    Rule("GET", "/releases/{id}", READ, _release, "One release and its posterior."),
    Rule("GET", "/releases/{id}/chart", READ, _chart, "Its picture, as Vega-Lite."),
    Rule("GET", "/releases/{id}/document", READ, _document, "The release itself."),
    Rule("GET", "/releases/{id}/table", READ, _table, "Its rows as CSV."),
    Rule("GET", "/releases/{id}/statement", READ, _statement, "Its one-page statement."),
    Rule("GET", "/verify", READ, _verify_form, "A form to check a release."),
    Rule("POST", "/verify", READ, _verify, "Check a release.", most=LARGEST_RELEASE),
    Rule("GET", "/audit", AUDIT, _audit, "The audit log."),
    *own_pages.RULES,
)
"""Every route for people."""
