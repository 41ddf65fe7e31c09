"""The front as a web application: all routes, each behind the guard, and security headers on every response."""

import logging
from collections.abc import Awaitable, Callable, Iterable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.server import _api as api
from discreet.server import _pages as pages
from discreet.server._front import Front
from discreet.server._guard import Rule, guarded
from discreet.server._problems import HttpProblem

RULES: tuple[Rule, ...] = (*api.RULES, *pages.RULES)
"""All routes of the server."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cache-control": "no-store",
}
_log = logging.getLogger("discreet.server")


def application(front: Front) -> ASGIApp:
    """Return the application of a front."""
    methods: dict[str, list[Rule]] = {}
    for rule in RULES:
        methods.setdefault(rule.path, []).append(rule)
    routes = [Route(path, _endpoint(front, rules), methods=_methods(rules)) for path, rules in methods.items()]
    handlers = {HTTPException: _lost(front), Exception: _lost(front)}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False  # a redirect would go to whatever host name the request gives
    return Headed(app, front.settings.is_secure)


def _methods(rules: Iterable[Rule]) -> list[str]:
    return [rule.method for rule in rules]


def _endpoint(front: Front, rules: list[Rule]) -> Callable[[Request], Awaitable[Response]]:
    by_method = {rule.method: rule for rule in rules}

    async def endpoint(request: Request) -> Response:
        rule = by_method.get("GET" if request.method == "HEAD" else request.method, rules[0])
        try:
            return await guarded(front, rule, request)
        except Exception as error:  # noqa: BLE001 - nobody is shown a raw exception
            problem = HttpProblem.of(error)
            if problem.status == 500:
                _log.error("unforeseen %s at %s %s", type(error).__name__, rule.method, rule.path)
            return _refused(front, request, problem, rule.kind)

    return endpoint


def _lost(front: Front) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Return the handler of requests that no route takes."""

    async def lost(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        words = {404: "There is nothing at this address.", 405: "This address does not support this method."}
        problem = HttpProblem(status, words.get(status, "This request cannot be answered."))
        response = _refused(front, request, problem, "api" if request.url.path.startswith("/api/") else "page")
        for name, value in (getattr(error, "headers", None) or {}).items():
            response.headers[name] = value
        return response

    return lost


def _refused(front: Front, request: Request, problem: HttpProblem, kind: str) -> Response:
    return problem.as_json() if kind == "api" else pages.refused(front, request, problem)


class Headed:
    """Adds the headers that switch on the browser's own protection to every response."""

    def __init__(self, app: ASGIApp, is_secure: bool) -> None:
        self._app = app
        secure = {"strict-transport-security": "max-age=31536000"} if is_secure else {}
        self._headers = HEADERS | secure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and add the headers to its response."""

        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                more = self._headers | {"content-security-policy": POLICY}
                message["headers"] = [
                    *message["headers"],
                    *((k.encode(), v.encode()) for k, v in more.items() if k.encode() not in given),
                ]
            await send(message)

        await self._app(scope, receive, headed)
