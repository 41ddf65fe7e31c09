"""A served survey for tests: a queue, a publisher that takes no time, a front, and people of every role."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import uvicorn
from argon2 import PasswordHasher
from starlette.testclient import TestClient

from discreet.server import Publisher, Queue
from discreet.server._app import application
from discreet.server._desk import Direct, Working
from discreet.server._front import Front, Settings
from discreet.server._limits import Rates
from discreet.server._roles import RIGHTS, SCOPES, Person
from discreet.server._slot import Outcome
from discreet.server._start import listen
from survey import STUDY, SURVEY

HOST, PASSWORD = "data.example", "a long enough password"
AUTOMATIC = '[serve]\npolicy = "automatic"\nallowance = "1.5"\ntime_limit = 10\nvisible_after = 12\n'
ASKED: dict[str, object] = {"question": {"columns": ["smoking"], "epsilon": "0.25", "label": "Smoking"}}
MANY = Rates(sign_in=10_000, anything=100_000, work=10_000)
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
NAMES = {"steward": "sam", "analyst": "ann", "auditor": "olga"}


class Time:
    """A clock that stands still until it is told to go on, or until somebody sleeps by it; it may be set wrong."""

    def __init__(self) -> None:
        self.now, self.wrong_by = 1_800_000_000.0, 0.0

    def __call__(self) -> float:
        """Return the time of day as it is set."""
        return self.now + self.wrong_by

    def monotonic(self) -> float:
        """Return the time since some moment, however the clock is set."""
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def at_once(work: Callable[[], None], seconds: float) -> Outcome:
    """Do in this process what a publisher does in another."""
    from discreet._core.errors import DiscreetError

    try:
        work()
    except DiscreetError as problem:
        return Outcome(problem=problem)
    return Outcome()


class Served:
    """All of it."""

    def __init__(
        self,
        folder: Path,
        serve: str = AUTOMATIC,
        study: str = STUDY,
        survey: str = SURVEY,
        rates: Rates = MANY,
        desk: Working | None = None,
        settings: Settings | None = None,
    ) -> None:
        (folder / "survey.csv").write_text(survey)
        (folder / "study.toml").write_text(study + serve)
        self.folder, self.time = folder, Time()
        self.queue = Queue(folder / "queue.db")
        self.publisher = Publisher(
            folder / "study.toml",
            self.queue,
            clock=self.time,
            sleep=self.time.sleep,
            slot=at_once,
            monotonic=self.time.monotonic,
        )
        self.publisher.prepare()
        chosen = Settings(frozenset({HOST}), rates=rates) if settings is None else settings
        self.front = Front(self.queue, desk or Direct(), chosen, self.time, CHEAP, self.time.monotonic)
        self.app = application(self.front)
        for role, name in NAMES.items():
            self.join(name, role)

    def join(self, name: str, role: str) -> None:
        """Make an account with a password."""
        self.front.people.use_link(self.front.people.invite(name, role, "test"), PASSWORD)

    def client(self, address: str = "192.0.2.7") -> TestClient:
        """Return a browser, or a program, of nobody yet."""
        return TestClient(
            self.app, base_url=f"https://{HOST}", follow_redirects=False, client=(address, 4711),
            raise_server_exceptions=False,
        )  # fmt: skip

    def browser(self, role: str) -> "Browser":
        """Return a browser in which somebody of this role is signed in."""
        client = self.client()
        answer = client.post("/sign-in", data={"name": NAMES[role], "password": PASSWORD})
        assert answer.status_code == 303, answer.text
        return Browser(self, client)

    def token(self, role: str, *scopes: str) -> str:
        """Return a token of somebody of this role, with some of their scopes or with all."""
        chosen = list(scopes) or [scope for scope in SCOPES if scope in RIGHTS[role]]
        return self.front.keys.make_token(self.person(role), "test", chosen, 1)[1]

    def program(self, role: str, *scopes: str) -> TestClient:
        """Return a program with a token."""
        client = self.client()
        client.headers["authorization"] = f"Bearer {self.token(role, *scopes)}"
        return client

    @staticmethod
    def person(role: str) -> Person:
        """Return somebody of this role."""
        return Person(NAMES[role], role, RIGHTS[role])

    def publish_all(self) -> int:
        """Let the publisher take all that is queued; return how many it took."""
        taken = 0
        while self.publisher.step():
            taken += 1
        return taken


class Browser:
    """A signed-in browser whose forms repeat the guard of its session."""

    def __init__(self, served: Served, client: TestClient) -> None:
        self.client = client
        person = served.front.keys.by_session(client.cookies["__Host-discreet"])
        assert person is not None
        self.guard = person.guard or ""

    def get(self, path: str) -> str:
        """Return a page."""
        answer = self.client.get(path)
        assert answer.status_code == 200, (path, answer.status_code, answer.text)
        return answer.text

    def post(self, path: str, **fields: object) -> int:
        """Send a form; return the status."""
        return self.client.post(path, data={"guard": self.guard, **fields}).status_code


@contextmanager
def served(folder: Path, **how: object) -> Iterator[Served]:
    """Give a served survey, and close its queue afterwards."""
    found = Served(folder, **how)  # type: ignore[arg-type]  # as the constructor says
    try:
        yield found
    finally:
        found.queue.engine.dispose()


@contextmanager
def listening(server: Served) -> Iterator[str]:
    """Let the front of a served survey answer on this machine, as long as it is needed."""
    place = listen(("127.0.0.1", 0))
    host = f"127.0.0.1:{place.getsockname()[1]}"
    server.front.settings = Settings(frozenset({host}), rates=MANY)
    config = uvicorn.Config(server.app, log_level="critical", lifespan="off", ws="none")
    front = uvicorn.Server(config)
    thread = threading.Thread(target=front.run, kwargs={"sockets": [place]})
    thread.start()
    try:
        yield f"http://{host}"
    finally:
        front.should_exit = True
        thread.join(30)
        place.close()


def asked(epsilon: str = "0.25", label: str = "Smoking", **keys: object) -> dict[str, object]:
    """Return a question about smoking as a body."""
    return {"question": {"columns": ["smoking"], "epsilon": epsilon, "label": label, **keys}}


def ask(program: TestClient, body: object = ASKED, key: str | None = None) -> dict[str, object]:
    """Ask, and return what the front says of the question."""
    answer = program.post("/api/1/questions", json=body, headers={} if key is None else {"idempotency-key": key})
    assert answer.status_code in (200, 201), answer.text
    found: dict[str, object] = answer.json()
    return found


def state(server: Served, found: dict[str, object]) -> tuple[str, str]:
    """Return what became of a question, and in which words."""
    now = server.front.questions.get(str(found["id"]), server.person("steward"))
    return now.state, now.words


def spent(server: Served) -> Fraction:
    """Return what the ledger says was spent."""
    return Fraction(server.publisher.study.ledger().spent.document()["epsilon"])
