"""Every route and every role: who may do what stands here a second time, and a new route without a line fails."""

import re

import pytest

from discreet.server._app import RULES
from discreet.server._guard import Rule
from discreet.server._roles import RIGHTS, SCOPES
from serving import NAMES, Served

READERS, ANALYSTS, STEWARDS = {"steward", "analyst", "auditor"}, {"analyst"}, {"steward"}
LOG, EVERYBODY = {"steward", "auditor"}, {"steward", "analyst", "auditor", "nobody"}

MAY = {
    "GET /api/1/openapi.json": EVERYBODY,
    "GET /api/1/study": READERS,
    "GET /api/1/budget": READERS,
    "POST /api/1/plans": READERS,
    "POST /api/1/questions": ANALYSTS,
    "GET /api/1/questions": READERS,
    "GET /api/1/questions/{id}": READERS,
    "POST /api/1/questions/{id}/decision": STEWARDS,
    "POST /api/1/questions/{id}/withdrawal": ANALYSTS,
    "POST /api/1/questions/{id}/acknowledgement": STEWARDS,
    "GET /api/1/releases": READERS,
    "GET /api/1/releases/{id}": READERS,
    "GET /api/1/releases/{id}/reading": READERS,
    "GET /api/1/releases/{id}/table": READERS,
    "POST /api/1/verifications": READERS,
    "GET /api/1/audit": LOG,
    "GET /static/{name:path}": EVERYBODY,
    "GET /health": EVERYBODY,
    "GET /": READERS,
    "GET /catalogue": READERS,
    "GET /ask": ANALYSTS,
    "POST /ask/form": ANALYSTS,
    "POST /ask/plan": ANALYSTS,
    "POST /ask/width": ANALYSTS,
    "POST /ask/curve": ANALYSTS,
    "POST /ask": ANALYSTS,
    "GET /questions": READERS,
    "GET /questions/{id}": READERS,
    "GET /questions/{id}/plan": READERS,
    "POST /questions/decisions": STEWARDS,
    "POST /questions/{id}/decision": STEWARDS,
    "POST /questions/{id}/withdrawal": ANALYSTS,
    "POST /questions/{id}/acknowledgement": STEWARDS,
    "GET /releases": READERS,
    "GET /beside": READERS,
    "GET /releases/{id}": READERS,
    "GET /releases/{id}/chart": READERS,
    "GET /releases/{id}/document": READERS,
    "GET /releases/{id}/table": READERS,
    "GET /releases/{id}/statement": READERS,
    "GET /verify": READERS,
    "POST /verify": READERS,
    "GET /audit": LOG,
    "GET /sign-in": EVERYBODY,
    "POST /sign-in": EVERYBODY,
    "POST /sign-out": READERS,
    "GET /welcome/{link}": EVERYBODY,
    "POST /welcome/{link}": EVERYBODY,
    "GET /you": READERS,
    "POST /you/password": READERS,
    "POST /you/tokens": READERS,
    "POST /you/tokens/{id}/revocation": READERS,
    "GET /people": STEWARDS,
    "POST /people": STEWARDS,
    "POST /people/{name}/link": STEWARDS,
    "POST /people/{name}/closing": STEWARDS,
}
"""Written by hand, from what people are for; the routes say the same by their rights."""


def name_of(rule: Rule) -> str:
    return f"{rule.method} {rule.path}"


def test_every_route_has_a_line_here_and_every_line_a_route() -> None:
    assert sorted(map(name_of, RULES)) == sorted(MAY)


def test_rights_say_what_the_lines_say() -> None:
    for rule in RULES:
        having = {role for role in RIGHTS if rule.right is None or rule.right in RIGHTS[role]}
        assert having | ({"nobody"} if rule.right is None else set()) == MAY[name_of(rule)], name_of(rule)


class Visitor:
    """Somebody of a role who asks every route with nothing useful in it."""

    def __init__(self, server: Served, role: str) -> None:
        self.server, self.role = server, role
        self.program = server.client() if role == "nobody" else server.program(role)
        self.browser = None if role == "nobody" else server.browser(role)

    def status(self, rule: Rule, is_guarded: bool = True) -> int:
        path, is_sent = re.sub(r"{\w+(:path)?}", "nothing", rule.path), rule.method == "POST"
        if rule.kind == "api":
            return self.program.request(rule.method, path, json={} if is_sent else None).status_code
        if self.browser is None:
            return self.program.request(rule.method, path).status_code
        form = {"guard": self.browser.guard} if is_guarded and is_sent else None
        found = self.browser.client.request(rule.method, path, data=form).status_code
        if path in ("/sign-out", "/sign-in") and is_sent and is_guarded:
            self.browser = self.server.browser(self.role)
        return found


@pytest.mark.parametrize("role", ["nobody", *NAMES])
def test_every_route_lets_in_whom_it_should_and_nobody_else(server: Served, role: str) -> None:
    visitor = Visitor(server, role)
    for rule in RULES:
        found = visitor.status(rule)
        let_in = found not in (401, 403) and not (found == 303 and role == "nobody")
        if f"{rule.method} {rule.path}" in ("POST /sign-in", "POST /you/password") and role in MAY[name_of(rule)]:
            let_in = found in (401, 422)  # a wrong password is another kind of refusal
        assert let_in == (role in MAY[name_of(rule)]), (name_of(rule), role, found)
        assert found < 500, (name_of(rule), role, found)


@pytest.mark.parametrize("role", list(NAMES))
def test_no_form_is_taken_without_the_guard_of_its_session(server: Served, role: str) -> None:
    forms = [r for r in RULES if r.kind == "page" and r.method == "POST" and r.right in RIGHTS[role]]
    visitor = Visitor(server, role)
    assert forms
    for rule in forms:
        assert visitor.status(rule, is_guarded=False) == 403, name_of(rule)


@pytest.mark.parametrize("scope", SCOPES)
def test_a_token_may_do_what_its_scopes_say_and_no_more(server: Served, scope: str) -> None:
    role = next(role for role in ("analyst", "steward") if scope in RIGHTS[role])
    program = server.program(role, scope)
    for rule in RULES:
        if rule.kind != "api" or rule.right is None:
            continue
        path = re.sub(r"{\w+}", "nothing", rule.path)
        found = program.request(rule.method, path, json={} if rule.method == "POST" else None).status_code
        assert (found != 403) == (rule.right == scope), (name_of(rule), scope, found)


def test_a_session_is_nothing_to_the_api_and_a_token_nothing_to_pages(server: Served) -> None:
    assert server.browser("analyst").client.get("/api/1/budget").status_code == 401
    assert server.program("analyst").get("/questions").status_code == 303


def test_every_answer_carries_the_headers_of_a_careful_site(server: Served) -> None:
    for path in ("/sign-in", "/nothing", "/api/1/budget", "/static/style.css", "/api/1/openapi.json", "/"):
        headers = server.client().get(path).headers
        policy = headers["content-security-policy"]
        assert "unsafe" not in policy, path
        assert "default-src 'none'" in policy, path
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"


def test_no_page_holds_a_script_or_style_of_its_own_or_asks_another_site(server: Served) -> None:
    steward, analyst = server.browser("steward"), server.browser("analyst")
    texts = [steward.get(p) for p in ("/", "/people", "/audit", "/questions", "/you", "/verify")]
    texts += [analyst.get(p) for p in ("/ask", "/catalogue", "/releases")]
    for text in texts:
        assert not re.search(r"<script(?![^>]*src=)|<style|\son\w+=|\sstyle=|javascript:", text)
        assert not re.findall(r'(?:src|href|action)="(?:https?:)?//', text)
