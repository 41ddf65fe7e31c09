"""Pages about people: signing in and out, one-time links, your password and tokens, and for stewards all accounts."""

from starlette.responses import RedirectResponse, Response

from discreet._core.errors import DeclarationError, DiscreetError
from discreet.server._front import Asking
from discreet.server._guard import COOKIE, Rule, forget_session, is_path, keep_session
from discreet.server._problems import HttpProblem
from discreet.server._rendering import again, page
from discreet.server._roles import OWN, PEOPLE, RIGHTS, SCOPES


def _sign_in_form(asking: Asking) -> Response:
    return page(asking, "sign_in.html", problem="", wanted=_wanted(asking.query("next")))


def _wanted(path: str | None) -> str:
    """Return the page that somebody wanted before they had to sign in, if it is one of ours."""
    return path if path is not None and is_path(path) else ""


def _sign_in(asking: Asking) -> Response:
    front, name = asking.front, asking.field("name").strip()
    if front.settings.user_header is not None:
        raise HttpProblem(403, "This server identifies users through its proxy; passwords are not used here.")
    try:
        with front.checking_a_password():
            front.people.check(name, asking.field("password"), asking.address)
    except DiscreetError as problem:
        known = {"problem": str(problem), "wanted": _wanted(asking.field("next"))}
        return again(asking, HttpProblem.of(problem).status, "sign_in.html", **known)
    response = RedirectResponse(_wanted(asking.field("next")) or "/", 303)
    if old := asking.request.cookies.get(COOKIE):
        front.keys.close_session(old)
    keep_session(response, front.keys.open_session(name, "by password"))
    return response


def _sign_out(asking: Asking) -> Response:
    asking.front.keys.close_session(asking.request.cookies.get(COOKIE, ""))
    response = RedirectResponse("/sign-in", 303)
    forget_session(response)
    return response


def _welcome_form(asking: Asking) -> Response:
    name = asking.front.people.link_account(asking.path("link"))
    if name is None:
        raise HttpProblem(404, "This link was used before, has expired, or never existed. Ask a steward for another.")
    return page(asking, "welcome.html", name=name, problem="")


def _welcome(asking: Asking) -> Response:
    front, link = asking.front, asking.path("link")
    name = front.people.link_account(link)
    if name is None:
        raise HttpProblem(404, "This link was used before, has expired, or never existed. Ask a steward for another.")
    password = asking.field("password")
    if password != asking.field("again"):
        return again(asking, 422, "welcome.html", name=name, problem="The two passwords differ. Nothing was changed.")
    try:
        with front.checking_a_password():
            front.people.use_link(link, password, asking.address, asking.field("username").strip())
    except DiscreetError as problem:
        return again(asking, 422, "welcome.html", name=name, problem=str(problem))
    return RedirectResponse("/sign-in", 303)


def _you(asking: Asking, secret: str = "") -> Response:
    person = asking.somebody
    scopes = [scope for scope in SCOPES if scope in RIGHTS[person.role]]
    tokens = asking.front.keys.tokens_of(person.name)
    now = asking.front.clock()
    has_password = asking.front.settings.user_header is None
    return page(asking, "you.html", tokens=tokens, scopes=scopes, secret=secret, now=now, has_password=has_password)


def _password(asking: Asking) -> Response:
    if asking.field("password") != asking.field("again"):
        raise DeclarationError("The two new passwords differ. Nothing was changed.")
    with asking.front.checking_a_password():
        asking.front.people.change_password(
            asking.somebody.name, asking.field("old"), asking.field("password"), asking.address,
            keeps_tokens=asking.field("tokens") == "keep",
        )  # fmt: skip
    response = RedirectResponse("/sign-in", 303)
    forget_session(response)
    return response


def _make_token(asking: Asking) -> Response:
    days = asking.field("days")
    if not (days.isascii() and days.isdigit() and len(days) < 5):
        raise DeclarationError("A token is valid for a whole number of days. No token was made.")
    scopes = asking.form.get("scopes", [])
    _, secret = asking.front.keys.make_token(asking.somebody, asking.field("name").strip(), scopes, int(days))
    return _you(asking, secret)


def _revoke(asking: Asking) -> Response:
    asking.front.keys.revoke(asking.somebody.name, asking.path("id"))
    return RedirectResponse("/you", 303)


def _people(asking: Asking, link: str = "", name: str = "") -> Response:
    base = f"{'https' if asking.front.settings.is_secure else 'http'}://{asking.request.headers['host']}"
    shown = f"{base}/welcome/{link}" if link else ""
    return page(asking, "people.html", accounts=asking.front.people.all(), link=shown, name=name, roles=list(RIGHTS))


def _invite(asking: Asking) -> Response:
    name, role = asking.field("name").strip(), asking.field("role")
    return _people(asking, asking.front.people.invite(name, role, asking.somebody.name), name)


def _renew(asking: Asking) -> Response:
    name = asking.path("name")
    return _people(asking, asking.front.people.renew(name, asking.somebody.name), name)


def _close(asking: Asking) -> Response:
    asking.front.people.close(asking.path("name"), asking.somebody.name)
    return RedirectResponse("/people", 303)


RULES: tuple[Rule, ...] = (
    Rule("GET", "/sign-in", None, _sign_in_form, "A form to sign in."),
    Rule("POST", "/sign-in", None, _sign_in, "Sign in.", is_sign_in=True),
    Rule("POST", "/sign-out", OWN, _sign_out, "Sign out."),
    Rule("GET", "/welcome/{link}", None, _welcome_form, "A form to choose a password.", is_sign_in=True),
    Rule("POST", "/welcome/{link}", None, _welcome, "Choose a password with a one-time link.", is_sign_in=True),
    Rule("GET", "/you", OWN, _you, "Your tokens and your password."),
    Rule("POST", "/you/password", OWN, _password, "Change your password.", is_sign_in=True),
    Rule("POST", "/you/tokens", OWN, _make_token, "Make a token."),
    Rule("POST", "/you/tokens/{id}/revocation", OWN, _revoke, "Revoke a token."),
    Rule("GET", "/people", PEOPLE, _people, "All accounts."),
    Rule("POST", "/people", PEOPLE, _invite, "Invite somebody."),
    Rule("POST", "/people/{name}/link", PEOPLE, _renew, "Make a new one-time link."),
    Rule("POST", "/people/{name}/closing", PEOPLE, _close, "Close an account."),
)
"""Every route about people."""
