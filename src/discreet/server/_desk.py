"""The desk: processes beside the front (workers) that compute plans and posteriors, with a share for every account.

Such work takes seconds, and untrusted clients decide how much there is. It must not keep the front from answering, nor
one account from being served after another, and it must end. So there are two counters: at one, questions are parsed,
which is quick and is what asking needs; at the other, everything else is computed. At each counter an account may have
a few works at a time and only one that is being computed; next comes the account that has used the least CPU time
lately. A work has a limit of CPU time, which the system enforces (RLIMIT_CPU), so that a busy machine refuses no more
than a quiet one; it is dropped as soon as nobody waits for it any more. Requests for the same thing are one work, and
what was computed is remembered: a release never changes, and so its posterior does not either.
"""

import multiprocessing
import os
import pickle
import resource
import signal
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Protocol, cast

from discreet._core import errors
from discreet._core.documents import canonical_json
from discreet._core.errors import DeclarationError, DiscreetError
from discreet.server._slot import MEMORY, little_memory
from discreet.server._work import QUICK, worked_out

CPU_SECONDS, QUICK_CPU_SECONDS = 45.0, 10.0
"""CPU seconds that one work may use, and the parsing of one question."""
WALL_TIMES = 20.0
"""How many times its CPU seconds a work may take by the clock: a process that waits for something uses no CPU."""
MOST_OF_AN_ACCOUNT, MOST_IN_LINE = 4, 24
"""Works of one account, and of all accounts, that may wait or be computed at one counter."""
PROCESSES = 2
_HALF_LIFE = 60.0  # seconds after which half of the CPU time that an account has used is forgotten
_TO_BEGIN = 120.0  # seconds that a new process has to get ready
_KEPT_BYTES = 32 << 20  # of remembered answers at one counter
_LISTEN_EVERY = 0.25  # seconds after which a waiting request looks whether its client is still there
_LATE, _SILENT = "late", "-"
_BY_CHANCE = (_SILENT, _LATE)  # refusals that need not happen again, so they are not remembered

Found = tuple[str, object]


class BusyError(DiscreetError):
    """Too many requests are waiting for the same counter; it makes sense to try again after some seconds."""

    def __init__(self, words: str, seconds: int = 5) -> None:
        self.seconds = seconds
        super().__init__(words)


def _stays() -> bool:
    """Return that somebody has not left: for those who never do."""
    return False


@dataclass(frozen=True)
class Customer:
    """Who wants something computed, and what tells whether they have left."""

    account: str = ""
    has_left: Callable[[], bool] = _stays


class Working(Protocol):
    """Whatever computes plans and posteriors for the front."""

    def ask(self, customer: Customer, name: str, *arguments: object) -> object:
        """Return the result, or refuse in words."""


class Direct:
    """A desk in this process, without a time limit: for tests and for requests that are trusted."""

    def ask(self, customer: Customer, name: str, *arguments: object) -> object:
        """Compute it in this process; like any other desk, it takes plain data only."""
        _digest(name, arguments)
        return _answer(*worked_out(name, arguments))


class Desk:
    """A desk with processes of its own, at two counters."""

    def __init__(
        self, seconds: float = CPU_SECONDS, quick_seconds: float = QUICK_CPU_SECONDS, memory: int = MEMORY
    ) -> None:
        self.quick, self.slow = Counter(quick_seconds, memory, nice=0), Counter(seconds, memory, nice=10)

    def ask(self, customer: Customer, name: str, *arguments: object) -> object:
        """Let a process compute something; what was computed lately is remembered."""
        counter = self.quick if name in QUICK else self.slow
        return _answer(*counter.found(customer, name, arguments))

    def close(self) -> None:
        """End all processes."""
        self.quick.close()
        self.slow.close()


@dataclass(eq=False)
class Work:
    """Something to compute, and how many requests wait for it."""

    digest: str
    name: str
    arguments: tuple[object, ...]
    account: str
    waiting: int = 0
    is_running: bool = False
    found: Found | None = None


class Counter:
    """One line of works and the processes that take from it, with a share for every account."""

    def __init__(self, seconds: float, memory: int, nice: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds, self.memory, self._nice, self._clock = seconds, memory, nice, clock
        self._changed = threading.Condition()
        self._works: dict[str, Work] = {}  # in the order of their arrival
        self._used: dict[str, tuple[float, float]] = {}  # CPU seconds of an account, and when they were written down
        self._kept: OrderedDict[str, tuple[int, Found]] = OrderedDict()
        self._servers: list[Server] = []
        self.is_closed = False

    def found(self, customer: Customer, name: str, arguments: tuple[object, ...]) -> Found:
        """Return a result: one that is remembered, one that is being computed for somebody else, or a new one."""
        digest = _digest(name, arguments)
        with self._changed:
            if digest in self._kept:
                self._kept.move_to_end(digest)
                return self._kept[digest][1]
            work = self._works.get(digest) or self._taken(Work(digest, name, arguments, customer.account))
            work.waiting += 1
        try:
            return self._awaited(work, customer)
        finally:
            with self._changed:
                work.waiting -= 1
                if work.waiting == 0 and work.found is None:
                    self._drop(work)

    def _taken(self, work: Work) -> Work:
        """Put a work into the line, unless the account or all accounts together have too many there."""
        mine = sum(other.account == work.account for other in self._works.values())
        if mine >= MOST_OF_AN_ACCOUNT:
            raise BusyError(
                f"{MOST_OF_AN_ACCOUNT} plans and posteriors are already being computed for you. Nothing was done. Try "
                "again when they are there."
            )
        if len(self._works) >= MOST_IN_LINE:
            raise BusyError("Too many plans and posteriors are being computed. Nothing was done. Try again soon.")
        self._works[work.digest] = work
        if len(self._servers) < PROCESSES and all(server.work is not None for server in self._servers):
            self._servers.append(Server(self, self._nice))
        self._changed.notify_all()
        return work

    def _awaited(self, work: Work, customer: Customer) -> Found:
        while True:
            with self._changed:
                if work.found is None and not self.is_closed:
                    self._changed.wait(_LISTEN_EVERY)
                if work.found is not None:
                    return work.found
                if self.is_closed:
                    raise BusyError("The server is stopping. Nothing was done.")
            if customer.has_left():  # asked without the lock: it waits for the event loop
                raise BusyError("Whoever asked for this has left. Nothing was done.")

    def _drop(self, work: Work) -> None:
        """Forget a work that nobody waits for; if it is being computed, end that."""
        self._works.pop(work.digest, None)
        for server in self._servers:
            if server.work is work:
                server.end()

    def hand_over(self, server: "Server") -> Work | None:
        """Wait for a work to compute: the first of the account that has used the least; None when all is over."""
        with self._changed:
            while not self.is_closed:
                busy = {work.account for work in self._works.values() if work.is_running}
                free = [work for work in self._works.values() if not work.is_running and work.account not in busy]
                if free:
                    chosen = min(free, key=lambda work: self.used(work.account))  # of equals the first
                    chosen.is_running, server.work = True, chosen
                    return chosen
                self._changed.wait()
        return None

    def done(self, work: Work, found: Found, size: int, seconds: float) -> None:
        """Write down what was found and what it cost, and tell all who wait for it."""
        with self._changed:
            for server in self._servers:
                server.work = None if server.work is work else server.work
            self._used[work.account] = (self.used(work.account) + seconds, self._clock())
            self._used = {name: each for name, each in self._used.items() if self.used(name) > 1e-3}
            if self._works.get(work.digest) is work:
                del self._works[work.digest]
            work.found = found
            if found[0] not in _BY_CHANCE:
                self._kept[work.digest] = (size, found)
                while sum(each for each, _ in self._kept.values()) > _KEPT_BYTES and len(self._kept) > 1:
                    self._kept.popitem(last=False)
            self._changed.notify_all()

    def used(self, account: str) -> float:
        """Return the CPU seconds that an account has used, of which half are forgotten every minute."""
        seconds, at = self._used.get(account, (0.0, 0.0))
        return float(seconds * 0.5 ** ((self._clock() - at) / _HALF_LIFE))

    def close(self) -> None:
        """End the processes; whoever waits is told so."""
        with self._changed:
            self.is_closed = True
            for server in self._servers:
                server.end()
            self._changed.notify_all()


class Server:
    """One process, and the thread that hands it one work after the other."""

    def __init__(self, counter: Counter, nice: int) -> None:
        self.work: Work | None = None
        self._counter, self._nice = counter, nice
        self._process: SpawnProcess | None = None
        self._pipe: Connection | None = None
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        self._warm()
        while (work := self._counter.hand_over(self)) is not None:
            begun = time.monotonic()
            found, size, seconds = self._computed(work)
            self._counter.done(work, found, size, min(seconds, time.monotonic() - begun))
            self._warm()

    def _warm(self) -> None:
        """Start the process before it is needed, above all after one was ended: nobody waits for that."""
        try:
            if self._process is None and not self._counter.is_closed:
                self._open()
        except (EOFError, OSError):
            self._ended()

    def _computed(self, work: Work) -> tuple[Found, int, float]:
        """Return what the process found, how many bytes that is, and the CPU seconds that it took."""
        limit = self._counter.seconds
        try:
            if self._process is None or not self._process.is_alive():
                self._open()
            assert self._pipe is not None
            self._pipe.send((work.name, work.arguments, limit))
            if self._pipe.poll(limit * WALL_TIMES + 1.0):
                told = self._pipe.recv_bytes()
                seconds, found = cast(tuple[float, Found], pickle.loads(told))
                return found, len(told), seconds
        except (EOFError, OSError):
            ended = self._ended()
            if ended != -signal.SIGXCPU:
                return (_SILENT, "end of the process that computes plans and posteriors"), 0, limit
        self._ended()
        words = (
            f"This takes more than the {limit:g} CPU seconds that a server spends on it, so it was stopped. "
            "Nothing was charged. Run `discreet` on your own machine instead: it has no such limit."
        )
        return (_LATE, words), 0, limit

    def _open(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        arguments = (theirs, self._counter.memory, self._nice)
        self._process = context.Process(target=_serve, args=arguments, daemon=True)
        self._process.start()
        theirs.close()
        if not self._pipe.poll(_TO_BEGIN):  # its start does not count as time of the request
            raise EOFError
        self._pipe.recv()

    def end(self) -> None:
        """End the process, whatever it is doing; the next work gets a new one."""
        if (process := self._process) is not None:
            process.kill()

    def _ended(self) -> int | None:
        """End the process, and return how it had ended by itself, if it had."""
        code = None
        if self._process is not None:
            self._process.join(0.2)  # a pipe breaks a moment before the system knows why
            code = self._process.exitcode
            self._process.kill()
            self._process.join()
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None
        return code


def _digest(name: str, arguments: tuple[object, ...]) -> str:
    """Return what a question is remembered by, because documents are long."""
    return sha256(canonical_json([name, arguments]).encode()).hexdigest()


def _serve(pipe: Connection, memory: int, nice: int) -> None:
    """Report that the process is ready, and compute what is asked until the front is gone."""
    os.nice(nice)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    pipe.send("ready")
    while True:
        try:
            name, arguments, limit = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        begun = time.process_time()
        resource.setrlimit(resource.RLIMIT_CPU, (int(begun + limit) + 1, hard))
        with little_memory(memory):
            found = worked_out(name, arguments)
        resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))
        pipe.send_bytes(pickle.dumps((time.process_time() - begun, found)))


def _answer(kind: str, found: object) -> object:
    """Return the result, or raise the refusal that took its place."""
    if not kind:
        return found
    refusal = getattr(errors, kind, DeclarationError)
    if kind == _SILENT:
        raise DiscreetError(f"An unforeseen {found} stopped this. Nothing was charged.")
    raise (refusal if issubclass(refusal, DiscreetError) else DeclarationError)(str(found))
