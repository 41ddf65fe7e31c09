"""How pages are made: from templates that escape everything, given the facts that each of them shows."""

import base64
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from fractions import Fraction
from hashlib import sha256

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from discreet._core.errors import DeclarationError
from discreet._core.exact import exact
from discreet.privacy import left_text, spent_text
from discreet.server._front import Asking, Front
from discreet.server._problems import HttpProblem
from discreet.server._roles import ASK, AUDIT, DECIDE, PEOPLE, READ, Person

_MENU = (
    ("/", "Budget", READ),
    ("/catalogue", "Catalogue", READ),
    ("/ask", "Ask", ASK),
    ("/questions", "Questions", READ),
    ("/releases", "Releases", READ),
    ("/verify", "Verify", READ),
    ("/audit", "Audit log", AUDIT),
    ("/people", "People", PEOPLE),
)
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_MOST_BARS = 60


def moment(at: float | None) -> str:
    """Return a time as text, to the second."""
    return "" if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def as_spent(text: str) -> str:
    """Return an amount that is spent, needed or promised, given as documents write it, in digits for people."""
    return _shown(text, spent_text)


def as_left(text: str) -> str:
    """Return an amount that is left or allowed, given as documents write it, in digits for people."""
    return _shown(text, left_text)


def _shown(text: str, amount: Callable[[Fraction], str]) -> str:
    try:
        return amount(exact(text))
    except DeclarationError:  # a compromised front may have written anything
        return text


def page(asking: Asking, template: str, /, **known: object) -> Response:
    """Return a page for whoever sent the request."""
    return rendered(asking.front, asking.request, asking.person, template, known)


def again(asking: Asking, status: int, template: str, /, **known: object) -> Response:
    """Return a form again, with the HTTP status of what was wrong with it."""
    return rendered(asking.front, asking.request, asking.person, template, known, status)


def rendered(
    front: Front, request: Request, person: Person | None, template: str, known: Mapping[str, object], status: int = 200
) -> Response:
    """Return a filled-in template, with what every page shows."""
    menu = [(path, name) for path, name, right in _MENU if person is not None and person.may(right)]
    waits = front.questions.waiting() if person is not None and person.may(DECIDE) else 0
    text = front.templates.get_template(template).render(
        **known, person=person, menu=menu, waits=waits, here=request.url.path,
        moment=moment, as_spent=as_spent, as_left=as_left,
        may_decide=person is not None and person.may(DECIDE), may_ask=person is not None and person.may(ASK),
    )  # fmt: skip
    return HTMLResponse(text, status)


def refused(front: Front, request: Request, problem: HttpProblem) -> Response:
    """Return a refusal as a page, or as part of a page if a script of that page sent the request."""
    person: Person | None = getattr(request.state, "person", None)
    template = "refusal.html" if "hx-request" in request.headers else "problem.html"
    status = 200 if "hx-request" in request.headers and problem.status in (409, 422) else problem.status
    response = rendered(front, request, person, template, {"problem": problem}, status)
    response.headers.update({name: value for name, value in problem.headers.items() if name != "WWW-Authenticate"})
    return response


def stands_alone(text: str) -> Response:
    """Return a page that has its own style and no script, under a content security policy that allows just that."""
    found = _STYLE.search(text)
    own = base64.b64encode(sha256((found[1] if found else "").encode()).digest()).decode()
    response = HTMLResponse(text)
    response.headers["content-security-policy"] = (
        f"default-src 'none'; style-src 'sha256-{own}'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'"
    )
    return response


def bars(budget: dict[str, object]) -> dict[str, object]:
    """Return the budget as parts of a bar, in percent: what each of the latest charges took, and what is left."""
    limit, spent, charges = budget.get("limit"), budget.get("spent"), budget.get("charges")
    if not isinstance(limit, dict) or not isinstance(spent, dict) or not isinstance(charges, list):
        return {"name": "epsilon", "parts": [], "spent": "0", "limit": "0", "left": "0", "share": 0.0}
    name = str(budget["currency"])
    most = max(Fraction(limit[name]), Fraction(spent[name]), Fraction(1, 10**9))
    shown = charges[-_MOST_BARS:]
    starts = [Fraction(each["spent"][name]) - Fraction(each["cost"][name]) for each in shown]
    parts = [
        {"left": float(100 * start / most), "width": float(100 * Fraction(each["cost"][name]) / most),
         "label": each["label"], "cost": as_spent(each["cost"][name]), "outcome": each["outcome"],
         "sequence": each["sequence"]}
        for start, each in zip(starts, shown, strict=True)
    ]  # fmt: skip
    if shown and starts[0] > 0:
        first = {
            "left": 0.0,
            "width": float(100 * starts[0] / most),
            "label": "earlier charges",
            "outcome": "",
            "sequence": 0,
        }
        parts.insert(0, first | {"cost": spent_text(starts[0])})
    left = Fraction(limit[name]) - Fraction(spent[name])
    share = float(100 * Fraction(spent[name]) / most)
    words = {"spent": as_spent(spent[name]), "limit": as_left(limit[name]), "left": left_text(left)}
    return {"name": name, "parts": parts, "share": share, **words}
