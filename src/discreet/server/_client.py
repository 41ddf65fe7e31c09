"""A client for `discreet serve`: what its pages can do, for programs with a token.

It needs nothing but Python. A token is sent over TLS, or to this machine, and never follows a redirect.
"""

import json
import time
from collections.abc import Mapping
from http.client import HTTPException
from ipaddress import ip_address
from typing import IO, cast
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from discreet._core.errors import DeclarationError, DiscreetError
from discreet.release import Release

Answer = dict[str, object]
_ENDED = ("answered", "refused", "failed", "declined", "withdrawn")


class ServerError(DiscreetError):
    """A server refused, or did not answer; the message is its own, and `status` is the HTTP status, or 0.

    `seconds` says after how long it makes sense to try again, if the server said so (Retry-After).
    """

    def __init__(self, status: int, words: str, seconds: int | None = None) -> None:
        self.status, self.seconds = status, seconds
        super().__init__(words)


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: object, newurl: str
    ) -> Request | None:
        return None


class Client:
    """A connection of a program to a server: `Client("https://data.example", token)`."""

    def __init__(self, address: str, token: str, timeout: float = 60.0) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise DeclarationError(f"A server's address must be a URL such as https://data.example; got {address!r}.")
        if parts.scheme == "http" and not _is_here(parts.hostname):
            raise DeclarationError(
                "A token is sent only over https, or to this machine. Nothing was sent. Use an https address."
            )
        self.address = f"{parts.scheme}://{parts.netloc}"
        self._token, self._timeout = token, timeout
        self._opener: OpenerDirector = build_opener(_NoRedirects)

    def __repr__(self) -> str:
        return f"Client({self.address!r})"

    def study(self) -> Answer:
        """Return what the study declares: columns, levels, bounds, policy."""
        return self._get("study")

    def budget(self) -> Answer:
        """Return what has been spent, on what, and what is left."""
        return self._get("budget")

    def plan(self, query: Mapping[str, object] | None = None, /, **keys: object) -> Answer:
        """Return the cost of a question, its mechanism and why, and the expected widths; nothing is spent."""
        return self._post("plans", _asked(keys, query))

    def ask(
        self, query: Mapping[str, object] | None = None, /, *, key: str | None = None, reason: str = "", **keys: object
    ) -> Answer:
        """Ask a question, given by the keys of a study file, and return its state; safe to repeat with a `key`.

        `reason` is for the steward who decides.
        """
        asked = _asked(keys, query) | ({"reason": reason} if reason else {})
        return self._post("questions", asked, {} if key is None else {"Idempotency-Key": key})

    def question(self, name: str) -> Answer:
        """Return a question, and what became of it."""
        return self._get(f"questions/{quote(name, safe='')}")

    def questions(self, state: str | None = None) -> list[Answer]:
        """Return the questions that you may see, newest first."""
        return _listed(self._get("questions", state=state), "questions")

    def wait(self, name: str, seconds: float = 600.0, every: float = 1.0) -> Answer:
        """Wait until a question has ended and return it; give up after `seconds`."""
        until = time.monotonic() + seconds
        while (found := self.question(name))["state"] not in _ENDED:
            if time.monotonic() > until:
                raise ServerError(408, f"The question is still {found['state']} after {seconds:g} seconds.")
            time.sleep(every)
        return found

    def decide(self, name: str, approve: bool, words: str = "") -> Answer:
        """Approve or decline a waiting question."""
        return self._post(f"questions/{quote(name, safe='')}/decision", {"approve": approve, "words": words})

    def withdraw(self, name: str) -> Answer:
        """Withdraw one of your own waiting questions."""
        return self._post(f"questions/{quote(name, safe='')}/withdrawal", {})

    def releases(self) -> list[Answer]:
        """Return all releases, newest first: their ids, labels and costs."""
        return _listed(self._get("releases"), "releases")

    def release(self, name: str) -> Release:
        """Return a release, whose document is checked strictly; read it with `infer`, verify it with `verify`."""
        return Release.from_json(self._sent("GET", f"releases/{quote(name, safe='')}"))

    def reading(
        self, name: str, level: float = 0.9, event: str | None = None, by: str | None = None, group: str | None = None
    ) -> Answer:
        """Return what a release says, as computed by the server."""
        path = f"releases/{quote(name, safe='')}/reading"
        return self._get(path, level=f"{level!r}", event=event, by=by, group=group)

    def verify(self, release: Release) -> Answer:
        """Let the server check a release."""
        return self._post("verifications", json.loads(release.to_json()))

    def audit(self, before: int | None = None) -> list[Answer]:
        """Return lines of the audit log, newest first."""
        return _listed(self._get("audit", before=None if before is None else str(before)), "lines")

    def _get(self, path: str, **asked: str | None) -> Answer:
        given = urlencode({name: value for name, value in asked.items() if value is not None})
        return cast(Answer, json.loads(self._sent("GET", f"{path}?{given}" if given else path)))

    def _post(self, path: str, body: object, headers: Mapping[str, str] | None = None) -> Answer:
        return cast(Answer, json.loads(self._sent("POST", path, json.dumps(body).encode(), headers)))

    def _sent(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> bytes:
        known = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json", **(headers or {})}
        request = Request(f"{self.address}/api/1/{path}", body, known, method=method)
        seconds: int | None = None
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                return cast(bytes, answer.read())
        except HTTPError as problem:
            status, words = problem.code, _words(problem)
            again = problem.headers.get("Retry-After", "")
            seconds = int(again) if again.isascii() and again.isdigit() and len(again) < 7 else None
        except HTTPException:
            status, words = (
                0,
                f"{self.address} broke off in the middle of an answer. Ask again: nothing costs twice.",
            )
        except (URLError, OSError) as problem:
            status, words = 0, f"{self.address} does not answer: {getattr(problem, 'reason', problem)}."
        raise ServerError(status, words, seconds)


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _asked(keys: Mapping[str, object], query: Mapping[str, object] | None) -> Answer:
    asked: Answer = {"question": dict(keys)}
    return asked if query is None else asked | {"query": dict(query)}


def _listed(answer: Answer, name: str) -> list[Answer]:
    return cast(list[Answer], answer[name])


def _words(problem: HTTPError) -> str:
    """Return the message of a problem+json response, or its status if there is none."""
    try:
        return str(json.loads(problem.read())["detail"])
    except (ValueError, KeyError, TypeError, HTTPException):
        return f"The server answered {problem.code}."
