"""The desk: a share for every account, equal work done once, and nothing done for those who have left."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from discreet.server import _desk as desk
from discreet.server._desk import BusyError, Counter, Customer, Found, Work
from serving import Served

SOON = 20.0  # seconds after which something that should happen at once is taken for lost


def until(is_so: Callable[[], bool]) -> None:
    """Wait for something that another thread does."""
    end = time.monotonic() + SOON
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.005)


class Standing:
    """A counter whose works last until they are let go, by name; what was handed over is written down in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun: list[str] = []
        self.ended: list[str] = []
        self.free: dict[str, threading.Event] = {}
        self.time = 0.0
        self.cost: dict[str, float] = {}
        found = self

        class Standin(desk.Server):
            def _warm(self) -> None:
                pass

            def _computed(self, work: Work) -> tuple[Found, int, float]:
                found.begun.append(work.name)
                assert found.free.setdefault(work.name, threading.Event()).wait(SOON)
                return ("", work.name.upper()), 10, found.cost.get(work.name, 0.0)

            def end(self) -> None:
                if self.work is not None:
                    found.ended.append(self.work.name)
                    found.let(self.work.name)

        monkeypatch.setattr(desk, "Server", Standin)
        self.counter = Counter(1.0, 1 << 30, 0, lambda: self.time)
        self.threads: list[threading.Thread] = []
        self.answers: dict[str, object] = {}

    def ask(self, account: str, name: str, has_left: Callable[[], bool] = lambda: False) -> None:
        """Ask in a thread, as a front does; what comes of it is kept."""
        before = sum(work.waiting for work in self.counter._works.values())

        def asking() -> None:
            try:
                self.answers[f"{account} {name}"] = self.counter.found(Customer(account, has_left), name, ())
            except BusyError as problem:
                self.answers[f"{account} {name}"] = str(problem)

        self.threads.append(threading.Thread(target=asking, daemon=True))
        self.threads[-1].start()
        until(
            lambda: (
                f"{account} {name}" in self.answers
                or sum(work.waiting for work in self.counter._works.values()) > before
            )
        )

    def let(self, name: str) -> None:
        """Let a work end."""
        self.free.setdefault(name, threading.Event()).set()

    def close(self) -> None:
        """End everything."""
        for event in self.free.values():
            event.set()
        self.counter.close()


@pytest.fixture
def standing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Standing]:
    found = Standing(monkeypatch)
    yield found
    found.close()


def test_who_asks_for_much_is_served_after_others_and_never_at_both_places(standing: Standing) -> None:
    for name in ("a1", "a2", "a3", "a4"):
        standing.ask("ann", name)
    until(lambda: standing.begun == ["a1"])
    standing.ask("bob", "b1")  # a second process, which ann's works were not given
    until(lambda: standing.begun == ["a1", "b1"])
    standing.ask("cho", "c1")
    standing.cost = {"a1": 30.0, "b1": 1.0}
    standing.let("a1")
    until(lambda: standing.begun == ["a1", "b1", "c1"])  # a2 was there long before c1
    standing.let("b1")
    until(lambda: standing.begun == ["a1", "b1", "c1", "a2"])


def test_an_account_may_only_have_a_few_works_and_the_line_is_not_endless(standing: Standing) -> None:
    for number in range(desk.MOST_OF_AN_ACCOUNT):
        standing.ask("ann", f"a{number}")
    standing.ask("ann", "one more")
    assert "already being computed for you" in str(standing.answers["ann one more"])
    for number in range(desk.MOST_IN_LINE - desk.MOST_OF_AN_ACCOUNT):
        standing.ask(f"person {number}", f"p{number}")
    standing.ask("bob", "too many")
    assert "Too many plans" in str(standing.answers["bob too many"])


def test_equal_requests_are_one_work_and_a_result_is_kept(standing: Standing) -> None:
    standing.ask("ann", "same")
    standing.ask("bob", "same")
    until(lambda: standing.begun == ["same"])
    standing.let("same")
    until(lambda: len(standing.answers) == 2)
    assert standing.answers == {"ann same": ("", "SAME"), "bob same": ("", "SAME")}
    assert standing.counter.found(Customer("cho"), "same", ()) == ("", "SAME")
    assert standing.begun == ["same"]


def test_work_is_dropped_when_nobody_waits_for_it_any_more(standing: Standing) -> None:
    left, gave_up = threading.Event(), threading.Event()
    standing.ask("ann", "running", left.is_set)
    until(lambda: standing.begun == ["running"])
    standing.ask("ann", "in line", gave_up.is_set)
    standing.ask("bob", "shared", left.is_set)
    standing.ask("cho", "shared")
    until(lambda: standing.begun == ["running", "shared"])
    gave_up.set()
    until(lambda: "ann in line" in standing.answers)
    left.set()
    until(lambda: "ann running" in standing.answers)
    assert standing.ended == ["running"]  # cho still waits for what bob wanted, too
    standing.let("shared")
    until(lambda: "cho shared" in standing.answers)
    assert standing.answers["cho shared"] == ("", "SHARED")
    assert "in line" not in standing.begun


def test_what_an_account_has_used_is_forgotten_by_and_by() -> None:
    now = [0.0]
    counter = Counter(1.0, 1 << 30, 0, lambda: now[0])
    work = Work("x", "x", (), "ann")
    counter.done(work, ("", 1), 1, 16.0)
    assert counter.used("ann") == 16
    now[0] = 120.0
    assert counter.used("ann") == 4
    counter.done(work, ("", 1), 1, 1.0)
    assert counter.used("ann") == 5


def test_refusals_say_when_to_try_again(server: Served) -> None:
    class Busy:
        def ask(self, customer: Customer, name: str, *arguments: object) -> object:
            raise BusyError("Too many plans. Nothing was done. Try again soon.", 7)

    server.front.desk = Busy()
    program = server.program("analyst")
    found = program.post("/api/1/plans", json={"question": {"columns": ["smoking"], "epsilon": "1", "label": "x"}})
    assert (found.status_code, found.headers["retry-after"]) == (503, "7")
