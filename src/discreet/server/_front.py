"""The state of the web process: what every response needs. It has no access to records."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import cast
from urllib.parse import parse_qs

from anyio import CapacityLimiter, from_thread
from argon2 import PasswordHasher
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from sqlalchemy import select
from starlette.requests import Request
from starlette.responses import Response

from discreet._core.documents import canonical_json, read_json
from discreet._core.errors import DocumentError
from discreet._core.exact import exact_text
from discreet.server._desk import Customer, Working
from discreet.server._facts import BUDGET, STUDY, Fact, Life, fact_of
from discreet.server._keys import Keys
from discreet.server._limits import Buckets, Rates
from discreet.server._people import Clock, People
from discreet.server._problems import HttpProblem
from discreet.server._questions import Questions
from discreet.server._roles import Person
from discreet.server._schema import Queue, releases
from discreet.study import Declarations

_THREADS = 120
Networks = Sequence[IPv4Network | IPv6Network]


@dataclass(frozen=True)
class Settings:
    """How a front is reached: by which host names, through which proxies, and whether a proxy names the user."""

    hosts: frozenset[str]
    proxies: Networks = ()
    user_header: str | None = None
    is_secure: bool = False
    rates: Rates = field(default_factory=Rates)

    def is_proxy(self, address: str) -> bool:
        """Return whether an address is that of a declared proxy."""
        try:
            peer = ip_address(address)
        except ValueError:
            return False
        return any(peer in network for network in self.proxies)


@dataclass(frozen=True)
class PublishedRelease:
    """A release that everybody who is signed in may see."""

    id: str
    label: str
    mechanism: str
    epsilon: str
    delta: str
    visible_at: float
    text: str

    def document(self) -> dict[str, object]:
        """Return what a list of releases shows about it."""
        names = ("id", "label", "mechanism", "epsilon", "delta", "visible_at")
        return {name: getattr(self, name) for name in names}


class Front:
    """Everything that the front works with."""

    def __init__(
        self,
        queue: Queue,
        desk: Working,
        settings: Settings,
        clock: Clock = time.time,
        hasher: PasswordHasher | None = None,
        monotonic: Clock = time.monotonic,
    ) -> None:
        self.queue, self.desk, self.settings, self.clock = queue, desk, settings, clock
        self.people, self.keys = People(queue, clock, hasher), Keys(queue, clock)
        self.questions, self.buckets = Questions(queue, clock), Buckets(monotonic)
        self._passwords = threading.BoundedSemaphore(4)  # each check uses a lot of memory, on purpose
        self.templates = Environment(
            loader=PackageLoader("discreet.server"),
            autoescape=select_autoescape(default=True, default_for_string=True),
            undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        )  # fmt: skip
        self._study: tuple[Fact, Declarations] | None = None

    @cached_property
    def threads(self) -> CapacityLimiter:
        """Return how many requests may be worked on at once; those that wait for the desk are far fewer."""
        return CapacityLimiter(_THREADS)

    @contextmanager
    def checking_a_password(self) -> Iterator[None]:
        """Allow only a few password checks at once; refuse whoever would have to wait long."""
        if not self._passwords.acquire(timeout=5):
            raise HttpProblem(503, "Too many people are signing in at the moment. Nothing was done. Try again soon.")
        try:
            yield
        finally:
            self._passwords.release()

    @property
    def study(self) -> Fact:
        """Return the document of the public declarations, as the publisher wrote it."""
        if not (found := fact_of(self.queue, STUDY)):
            raise HttpProblem(503, "The publisher has not yet announced what the study declares. Try again soon.")
        return found

    @property
    def declarations(self) -> Declarations:
        """Return the public declarations, parsed."""
        document = self.study
        if self._study is None or self._study[0] is not document:  # the same text is the same object
            self._study = (document, Declarations.from_document(document))
        return self._study[1]

    @property
    def budget(self) -> Fact:
        """Return the budget, as the publisher last wrote it."""
        return fact_of(self.queue, BUDGET)

    @property
    def is_alive(self) -> bool:
        """Return whether the publisher has given a sign of life recently."""
        return self.clock() - Life.seen(self.queue).at < self.declarations.serving.visible_after + 20

    def allowance(self, person: Person) -> dict[str, str] | None:
        """Return how much an analyst may spend without a steward, and how much of it is used."""
        serving = self.declarations.serving
        if not serving.is_automatic or person.role != "analyst":
            return None
        used = self.questions.used_by(person.name)
        left = max(Fraction(0), serving.allowance - used)
        return {"allowed": exact_text(serving.allowance), "used": exact_text(used), "left": exact_text(left)}

    def published(self) -> list[PublishedRelease]:
        """Return the newest releases."""
        wanted = select(releases).order_by(releases.c.visible_at.desc(), releases.c.number.desc()).limit(200)
        with self.queue.read_transaction() as connection:
            return [_published(dict(row._mapping)) for row in connection.execute(wanted)]

    def charges(self) -> dict[int, PublishedRelease]:
        """Return the newest releases by the number of the charge that paid for each."""
        return {number: each for each in self.published() if (number := _charge_of(each.text)) is not None}

    def release(self, name: str) -> PublishedRelease:
        """Return a release by its id."""
        with self.queue.read_transaction() as connection:
            row = connection.execute(select(releases).where(releases.c.id == name)).one_or_none()
        if row is None:
            raise HttpProblem(404, "There is no such release.")
        return _published(dict(row._mapping))


@lru_cache(400)
def _charge_of(document: str) -> int | None:
    """Return the number of the charge in the receipt of a release."""
    found = read_json(document)
    receipt = found.get("receipt") if isinstance(found, dict) else None
    return int(receipt["sequence"]) if isinstance(receipt, dict) else None


def _published(row: dict[str, object]) -> PublishedRelease:
    row.pop("number")
    text = str(row.pop("document"))
    return PublishedRelease(text=text, **row)  # type: ignore[arg-type]  # the columns of a row are its fields


@dataclass(frozen=True)
class Asking:
    """One request that has passed the guard: who sends it, from which address, and its body."""

    front: Front
    request: Request
    person: Person | None
    body: bytes
    address: str

    @property
    def somebody(self) -> Person:
        """Return who sends the request; refuse if nobody is signed in."""
        if self.person is None:
            raise HttpProblem(401, "Sign in first.")
        return self.person

    def path(self, name: str) -> str:
        """Return a part of the path."""
        return str(self.request.path_params[name])

    def query(self, name: str) -> str | None:
        """Return a value from the query string, or None if it is missing or empty."""
        return self.request.query_params.get(name) or None

    @property
    def form(self) -> dict[str, list[str]]:
        """Return the fields of a form."""
        return form_of(self.body)

    def field(self, name: str, default: str = "") -> str:
        """Return a field of a form."""
        return self.form.get(name, [default])[0]

    @property
    def json(self) -> dict[str, object]:
        """Return the JSON object in the body."""
        try:
            found = read_json(self.body.decode("utf-8"))
        except UnicodeDecodeError:
            raise HttpProblem(400, "The body is not in UTF-8. Nothing was done.") from None
        except DocumentError as problem:
            raise HttpProblem(400, f"The body cannot be read. {problem} Nothing was done.") from None
        if not isinstance(found, dict):
            raise HttpProblem(400, "The body must be a JSON object. Nothing was done.")
        return cast(dict[str, object], found)

    def computed(self, name: str, *arguments: object) -> object:
        """Let the desk compute something for whoever sends the request, as long as they wait for it.

        Such requests are counted, and refused if there were too many within a minute.
        """
        account = self.somebody.name
        self.front.buckets.take("work", account, self.front.settings.rates.work)
        return self.front.desk.ask(Customer(account, self._has_left), name, *arguments)

    def _has_left(self) -> bool:
        """Return whether the connection was closed; asked in a thread that the event loop has started."""
        return from_thread.run(self.request.is_disconnected)


def form_of(body: bytes) -> dict[str, list[str]]:
    """Return the fields of a form; refuse a body that is not a form."""
    try:
        return parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=200, errors="strict")
    except ValueError:
        raise HttpProblem(400, "The form cannot be read. Nothing was done.") from None


def as_json(document: object, status: int = 200) -> Response:
    """Return a document as a response."""
    return Response(canonical_json(document), status, media_type="application/json")
