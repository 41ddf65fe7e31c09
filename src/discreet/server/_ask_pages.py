"""The pages on which people ask: a form that is built from what models say about themselves, with the plan beside it.

Fields of the chosen kind of question are called `its.KEY`, those of a query of a fresh draw `of.KEY`. What is filled in
becomes the keys of a study file, and the parser of study files decides whether it makes sense.
"""

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from starlette.responses import RedirectResponse, Response

from discreet._core.documents import canonical_json, read_json
from discreet._core.errors import DeclarationError, DiscreetError, DocumentError
from discreet.inference import PROBABILITY
from discreet.server._api import ask, planned, planned_width, unreasoned
from discreet.server._front import Asking
from discreet.server._guard import Rule
from discreet.server._problems import HttpProblem
from discreet.server._rendering import again, bars, page
from discreet.server._roles import ASK
from discreet.study import Declarations, Form, mechanism_form, query_forms

Texts = Mapping[str, Sequence[str]]

_PLAIN = ("label", "epsilon", "where", "mechanism", "delta")
_REASON = "reason"  # for the steward, and no part of the question
_USUAL = "categories"
_BEGIN = "Enter a label and an epsilon and fill in the fields to see the plan. Planning spends nothing."


@dataclass(frozen=True)
class Filled:
    """A form as it was filled in: the kind of question, its own fields, and the fields that every question has."""

    model: str = _USUAL
    kind: str = ""
    plain: Mapping[str, str] = field(default_factory=dict)
    its: Texts = field(default_factory=dict)
    of: Texts = field(default_factory=dict)
    more: str = ""
    reason: str = ""

    @classmethod
    def sent(cls, asking: Asking) -> "Filled":
        """Return what a browser sent."""
        plain = {name: asking.field(name).strip() for name in _PLAIN}
        parts: dict[str, dict[str, list[str]]] = {"its": {}, "of": {}}
        for name, texts in asking.form.items():
            part, _, key = name.partition(".")
            if part in parts:
                parts[part][key] = texts
        model, kind, more = asking.field("model", _USUAL), asking.field("kind"), asking.field("more")
        return cls(model, kind, plain, parts["its"], parts["of"], more, asking.field(_REASON).strip())

    @classmethod
    def prepared(cls, keys: Mapping[str, object], declarations: Declarations) -> "Filled":
        """Return a question of the study as a filled-in form; keys without a field are written out as JSON."""
        plain = {name: str(keys[name]) for name in _PLAIN if name in keys}
        model = str(keys.get("model", _USUAL))
        forms = [declarations.forms.get(model), mechanism_form(plain.get("mechanism", ""))]
        fields = {each.key: each for form in forms if form is not None for each in form.fields}
        left = {key: keys[key] for key in keys if key not in (*_PLAIN, "model")}
        its = {key: fields[key].texts(value) for key, value in left.items() if key in fields}
        more = {key: value for key, value in left.items() if key not in fields}
        return cls(model, "", plain, its, {}, canonical_json(more) if more else "")

    def forms(self, declarations: Declarations) -> dict[str, Form | None]:
        """Return the forms that make up this one."""
        own = mechanism_form(self.plain.get("mechanism", ""))
        return {"form": declarations.forms.get(self.model), "own": own, "query": query_forms().get(self.kind)}

    def keys(self, declarations: Declarations) -> dict[str, object]:
        """Return the keys of the question that is asked."""
        form, own, query = self.forms(declarations).values()
        question: dict[str, object] = {name: text for name, text in self.plain.items() if text}
        if self.model != _USUAL:
            question["model"] = self.model
        for each in (form, own):
            question |= {} if each is None else each.keys(self.its)
        question |= _object(self.more, "More keys")
        asked: dict[str, object] = {"question": question} | ({_REASON: self.reason} if self.reason else {})
        if not self.kind:
            return asked
        return asked | {"query": {"kind": self.kind} | ({} if query is None else query.keys(self.of))}


def _object(text: str, what: str) -> dict[str, object]:
    if not text.strip():
        return {}
    try:
        found = read_json(text)
    except DocumentError as problem:
        raise DeclarationError(f"{what}: {problem}") from None
    if not isinstance(found, dict):
        raise DeclarationError(f'{what} must be a JSON object, such as {{"model": "network"}}.')
    return found


def _form(asking: Asking) -> Response:
    prepared, name = asking.front.declarations.written_questions(), asking.query("from")
    model = asking.query("model") or _USUAL
    filled = Filled.prepared(prepared[name], asking.front.declarations) if name in prepared else Filled(model)
    return _shown(asking, filled)


def _fields(asking: Asking) -> Response:
    """Show the form again, as it was filled in, with the fields of what has been chosen now."""
    return _shown(asking, Filled.sent(asking))


def _shown(asking: Asking, filled: Filled, problem: HttpProblem | None = None) -> Response:
    front, key = asking.front, asking.field("key") or secrets.token_hex(16)
    declared = front.declarations
    known: dict[str, object] = {
        "filled": filled, "models": declared.forms, "kinds": query_forms(), "name": asking.query("from"), "key": key,
        "prepared": list(declared.written_questions()), "allowance": front.allowance(asking.somebody),
        "remaining": bars(front.budget), "problem": problem, "begin": _BEGIN, **filled.forms(declared),
    }  # fmt: skip
    return page(asking, "ask.html", **known) if problem is None else again(asking, problem.status, "ask.html", **known)


def _live_plan(asking: Asking) -> Response:
    filled = Filled.sent(asking)
    if not filled.more.strip() and not (filled.plain["label"] and filled.plain["epsilon"]):
        return page(asking, "plan.html", plan=None, words=_BEGIN, is_begun=False)
    try:
        plan = planned(asking, filled.keys(asking.front.declarations))
        return page(asking, "plan.html", plan=plan, words="", is_begun=True)
    except HttpProblem:
        raise
    except DiscreetError as problem:
        return page(asking, "plan.html", plan=None, words=HttpProblem.of(problem).words, is_begun=True)


def _live_width(asking: Asking) -> Response:
    found = planned_width(asking, Filled.sent(asking).keys(asking.front.declarations))
    return page(asking, "width.html", width=found)


def _live_curve(asking: Asking) -> Response:
    keys = unreasoned(Filled.sent(asking).keys(asking.front.declarations))[0]
    try:
        found = asking.computed("curve", asking.front.study, keys)
    except DeclarationError:
        found = {}
    return page(
        asking,
        "curve.html",
        curve=_curve(found if isinstance(found, dict) else {}, Filled.sent(asking).plain["epsilon"]),
    )


def _curve(found: Mapping[str, object], asked: str) -> dict[str, object] | None:
    """Return the computed points of a curve with their places in a picture of 100 by 60; epsilon is logarithmic."""
    points = found.get("points")
    if not isinstance(points, list) or len(points) < 2:
        return None
    ends = [math.log(float(points[each]["epsilon"])) for each in (0, -1)]
    most = max(float(each["width"]) for each in points) or 1.0
    placed = [
        {"epsilon": each["epsilon"], "width": each["width"],
         "x": 4 + 92 * (math.log(float(each["epsilon"])) - ends[0]) / (ends[1] - ends[0]),
         "y": 56 - 50 * float(each["width"]) / most, "exact": 56 - 50 * float(each["exact_width"]) / most}
        for each in points
    ]  # fmt: skip
    at = round(100 * (math.log(float(Fraction(asked))) - ends[0]) / (ends[1] - ends[0]))
    return {"points": placed, "is_share": found.get("unit") == PROBABILITY, "unit": found.get("unit"),
            "epsilon": asked, "at": at}  # fmt: skip


def _ask(asking: Asking) -> Response:
    filled = Filled.sent(asking)
    try:
        found, _ = ask(asking, filled.keys(asking.front.declarations), asking.field("key") or None)
    except DiscreetError as error:
        return _shown(asking, filled, HttpProblem.of(error))
    return RedirectResponse(f"/questions/{found['id']}", 303)


RULES: tuple[Rule, ...] = (
    Rule("GET", "/ask", ASK, _form, "A form for a question."),
    Rule("POST", "/ask/form", ASK, _fields, "The form with the fields of another kind of question."),
    Rule("POST", "/ask/plan", ASK, _live_plan, "The plan of a question while it is written."),
    Rule("POST", "/ask/width", ASK, _live_width, "The expected widths of a question while it is written."),
    Rule("POST", "/ask/curve", ASK, _live_curve, "The expected widths at other epsilons."),
    Rule("POST", "/ask", ASK, _ask, "Ask."),
)
"""Every route on which people ask."""
