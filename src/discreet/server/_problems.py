"""Refusals in HTTP: each kind of error has a status, and words that untrusted clients may see.

Programs get problem+json (RFC 9457). About an unforeseen error, clients learn nothing but its status, 500.
"""

from starlette.responses import Response

from discreet._core.documents import canonical_json
from discreet._core.errors import BudgetError, DeclarationError, DiscreetError, DocumentError, VerificationError
from discreet.server._desk import BusyError
from discreet.server._limits import TooOftenError
from discreet.server._people import SignInError
from discreet.server._questions import ConflictError, MissingError
from discreet.server._schema import QueueError

TITLES = {
    400: "This request cannot be read",
    401: "Sign in first",
    403: "This is not allowed",
    404: "There is nothing here",
    405: "This method is not supported here",
    409: "This conflicts with what is already there",
    413: "This request is too large",
    415: "This is not the right kind of content",
    422: "This was refused",
    429: "Too many requests",
    500: "Something unforeseen happened",
    503: "Not available at the moment",
}
_KINDS: tuple[tuple[type[DiscreetError], int], ...] = (
    (TooOftenError, 429),
    (SignInError, 401),
    (MissingError, 404),
    (ConflictError, 409),
    (BudgetError, 409),
    (BusyError, 503),
    (QueueError, 503),
    (DeclarationError, 422),
    (DocumentError, 422),
    (VerificationError, 422),
)
_AGAIN = {429: 60, 503: 5}
"""Seconds after which it makes sense to try again, where a refusal does not know better."""
UNFORESEEN = "Something unforeseen happened. It was logged, and this request was not charged."


class HttpProblem(DiscreetError):  # noqa: N818 - as problem+json calls it
    """A refusal with its HTTP status, and if it makes sense to try again, after how many seconds."""

    def __init__(self, status: int, words: str, seconds: int | None = None) -> None:
        self.status, self.words, self.seconds = status, words, seconds
        super().__init__(words)

    @property
    def title(self) -> str:
        """Return the status in words."""
        return TITLES.get(self.status, "This was refused")

    @classmethod
    def of(cls, error: Exception) -> "HttpProblem":
        """Return what a client may see of an error."""
        if isinstance(error, HttpProblem):
            return error
        seconds = error.seconds if isinstance(error, TooOftenError | BusyError) else None
        found = [status for kind, status in _KINDS if isinstance(error, kind)]
        return cls(found[0], str(error), seconds) if found else cls(500, UNFORESEEN)

    def as_json(self) -> Response:
        """Return the refusal as problem+json."""
        body = {"type": "about:blank", "title": self.title, "status": self.status, "detail": self.words}
        return Response(canonical_json(body), self.status, self.headers, media_type="application/problem+json")

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers that belong to the status."""
        found = {"WWW-Authenticate": "Bearer"} if self.status == 401 else {}
        seconds = self.seconds if self.seconds is not None else _AGAIN.get(self.status)
        found |= {"Retry-After": str(seconds)} if seconds is not None else {}
        return found | ({"Connection": "close"} if self.status in (400, 413) else {})
