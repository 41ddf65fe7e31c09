"""The guard at every route checks size, host, origin and rate, who asks, what they may do, and that the form is ours.

Programs identify themselves by a token and nothing else; browsers by a session cookie, and their forms repeat the
session's guard, a secret that no other site can know (a CSRF token). No route does anything before all checks have
passed.
"""

import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from urllib.parse import urlencode, urlsplit

from anyio import move_on_after, to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from discreet.server._front import Asking, Front, form_of
from discreet.server._problems import HttpProblem
from discreet.server._roles import Person

COOKIE = "__Host-discreet"
GUARD, GUARD_HEADER = "guard", "x-guard"
MOST, _PATIENCE = 64 * 1024, 30.0
_SAFE = ("GET", "HEAD")
_CONTENT = {"api": "application/json", "page": "application/x-www-form-urlencoded"}

_PATH = re.compile(r"/(?![/\\])[A-Za-z0-9._~%!$&'()*+,;=:@/?-]*")
"""What follows the host in an address: no second slash at its beginning, which would begin a host."""

Does = Callable[[Asking], Response]


@dataclass(frozen=True)
class Rule:
    """One route: method and path, the one right that it needs (None: everybody may), what it does, and that in words.

    `kind` is "api", for programs with tokens, or "page", for browsers with sessions.
    """

    method: str
    path: str
    right: str | None
    does: Does
    words: str
    kind: str = "page"
    most: int = MOST
    is_sign_in: bool = False
    parameters: tuple[str, ...] = ()
    body: str | None = None
    gives: tuple[int, ...] = field(default=(200,))


async def guarded(front: Front, rule: Rule, request: Request) -> Response:
    """Let a request through, or refuse it."""
    address = require_known_way(front, request)
    rates = front.settings.rates
    front.buckets.take("address", address, rates.anything * 4)
    if rule.is_sign_in:
        front.buckets.take("sign-in", address, rates.sign_in)
    body = await _body(request, rule)
    if rule.kind == "page" and request.method not in _SAFE:
        _require_own_origin(request, front.settings.is_secure)
    return await to_thread.run_sync(_let_in, front, rule, request, body, address, limiter=front.threads)


def _let_in(front: Front, rule: Rule, request: Request, body: bytes, address: str) -> Response:
    fresh: str | None = None
    person: Person | None = None
    if rule.kind == "api":
        person = _by_token(front, request) if rule.right is not None else None
    else:
        person, fresh = _by_session(front, request)
        request.state.person = person  # so that the page of a refusal shows who is signed in
    if rule.right is not None:
        if person is None:
            return _sign_in_first(front, rule, request)
        front.buckets.take("account", person.name, front.settings.rates.anything)
        if not person.may(rule.right):
            raise HttpProblem(
                403, f"This needs the right {rule.right!r}, which you do not have here. Nothing was done."
            )
        if rule.kind == "page" and request.method not in _SAFE:
            _require_guard(person, request, body)
    response = rule.does(Asking(front, request, person, body, address))
    if fresh is not None:
        keep_session(response, fresh)
    return response


def require_known_way(front: Front, request: Request) -> str:
    """Return the address that a request comes from; refuse other host names, and headers that only a proxy may set."""
    settings = front.settings
    hosts = request.headers.getlist("host")
    if "content-length" in request.headers and "transfer-encoding" in request.headers:
        raise HttpProblem(400, "A request says its length in one way only. Nothing was done.")  # RFC 9112, 6.1
    if len(hosts) != 1 or hosts[0].lower() not in settings.hosts:
        raise HttpProblem(400, "This server does not answer to that host name. Nothing was done.")
    peer = request.client.host if request.client is not None else ""
    if settings.is_proxy(peer):
        forwarded = ",".join(request.headers.getlist("x-forwarded-for")).split(",")[-1].strip()
        if settings.user_header is not None and len(request.headers.getlist(settings.user_header)) > 1:
            raise HttpProblem(400, "The proxy named the user more than once. Nothing was done.")
        return neighbourhood(forwarded[:64] or peer)
    if settings.user_header is not None and settings.user_header in request.headers:
        raise HttpProblem(400, "Only the declared proxy may name the user. Nothing was done.")
    return neighbourhood(peer)


def neighbourhood(address: str) -> str:
    """Return what an address is rate-limited as: itself; in IPv6 its /64 network, all of which one person has."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    return str(ip_network((found, 64), strict=False)) if found.version == 6 else address


async def _body(request: Request, rule: Rule) -> bytes:
    """Read the body, if the method has one, and no more of it than the route accepts."""
    if request.method in _SAFE:
        return b""
    found = bytearray()
    with move_on_after(_PATIENCE) as reading:
        async for part in request.stream():
            found += part
            if len(found) > rule.most:
                raise HttpProblem(413, f"This route accepts at most {rule.most} bytes. Nothing was done.")
    if reading.cancelled_caught:
        raise HttpProblem(400, f"The request was not complete within {_PATIENCE:g} seconds. Nothing was done.")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if found and kind != _CONTENT[rule.kind]:
        raise HttpProblem(415, f"This route accepts only {_CONTENT[rule.kind]}. Nothing was done.")
    return bytes(found)


def _require_own_origin(request: Request, is_secure: bool) -> None:
    """Refuse a form that another site sent: browsers tell which site a form comes from."""
    origin, site = urlsplit(request.headers.get("origin", "")), request.headers.get("sec-fetch-site")
    is_said = "origin" in request.headers
    is_other = origin.netloc.lower() != request.headers["host"].lower() or (is_secure and origin.scheme != "https")
    if (is_said and is_other) or site not in (None, "same-origin", "none"):
        raise HttpProblem(403, "This form was sent by another site. Nothing was done.")


def _require_guard(person: Person, request: Request, body: bytes) -> None:
    given = request.headers.get(GUARD_HEADER) or form_of(body).get(GUARD, [""])[0]
    if person.guard is None or not hmac.compare_digest(given.encode(), person.guard.encode()):
        raise HttpProblem(403, "This form is not from your session: reload the page and try again. Nothing was done.")


def _by_token(front: Front, request: Request) -> Person | None:
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    return front.keys.by_token(secret.strip()) if kind.lower() == "bearer" and secret else None


def _by_session(front: Front, request: Request) -> tuple[Person | None, str | None]:
    """Return who has the session; if a proxy names the user, begin a session for them where there is none."""
    secret = request.cookies.get(COOKIE)
    person = front.keys.by_session(secret) if secret else None
    header = front.settings.user_header
    if header is None:
        return person, None
    peer = request.client.host if request.client is not None else ""
    name = request.headers.get(header, "") if front.settings.is_proxy(peer) else ""
    if not name or not front.keys.named(name):
        return None, None
    if person is not None and person.name == name:
        return person, None
    fresh = front.keys.open_session(name, "by the proxy")
    return front.keys.by_session(fresh), fresh


def _sign_in_first(front: Front, rule: Rule, request: Request) -> Response:
    """Send a browser to sign in, and remember where it wanted to go.

    A browser that follows a link in a mail keeps its session to itself, as another site sent it (SameSite=Strict). It
    is asked to come again from a page of ours, with which it sends the session, if there is one.
    """
    if rule.kind == "page" and request.method in _SAFE and "hx-request" not in request.headers:
        wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        if request.headers.get("sec-fetch-site") == "cross-site" and is_path(wanted):
            text = front.templates.get_template("come_again.html").render(path=wanted)
            return HTMLResponse(text)
        return RedirectResponse("/sign-in" + (f"?{urlencode({'next': wanted})}" if wanted != "/" else ""), 303)
    raise HttpProblem(401, "Sign in first: this request carries no valid session or token. Nothing was done.")


def is_path(text: str) -> bool:
    """Return whether a text is a path of this server, to which a browser may be sent."""
    return len(text) <= 500 and _PATH.fullmatch(text) is not None


def keep_session(response: Response, secret: str) -> None:
    """Give a browser its session cookie: sent over HTTPS only, hidden from scripts, and not sent from other sites."""
    response.set_cookie(COOKIE, secret, path="/", secure=True, httponly=True, samesite="strict")


def forget_session(response: Response) -> None:
    """Remove the session cookie from a browser."""
    response.delete_cookie(COOKIE, path="/", secure=True, httponly=True, samesite="strict")
