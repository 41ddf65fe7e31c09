"""The desk: a process beside the front (a worker) that computes plans and posteriors, one at a time, with a time limit.

Such work takes seconds, and untrusted clients decide how much there is. It must not keep the front from answering
others, and it must end: a desk that takes too long is closed, and the next request gets a new one.
"""

import multiprocessing
import threading
from collections import OrderedDict
from hashlib import sha256
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Protocol

from discreet._core import errors
from discreet._core.documents import canonical_json
from discreet._core.errors import DeclarationError, DiscreetError
from discreet.server._slot import MEMORY, little_memory
from discreet.server._work import worked_out

SECONDS = 45.0  # proxies usually wait for a minute
_TO_BEGIN = 120.0  # seconds that a new process has to get ready
_KEPT = 200  # answers that are remembered
_LINE = 8  # requests that may wait for the desk
_LATE = "late"
_BY_CHANCE = ("-", _LATE)  # refusals that need not happen again, so they are not remembered


class BusyError(DiscreetError):
    """Too many requests are waiting for the same desk."""


class Working(Protocol):
    """Whatever computes plans and posteriors for the front."""

    def ask(self, name: str, *arguments: object) -> object:
        """Return the result, or refuse in words."""


class Direct:
    """A desk in this process, without a time limit: for tests and for requests that are trusted."""

    def ask(self, name: str, *arguments: object) -> object:
        """Compute it in this process; like any other desk, it takes plain data only."""
        _digest(name, arguments)
        return _answer(*worked_out(name, arguments))


class Desk:
    """A desk in a process of its own."""

    def __init__(self, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self._seconds, self._memory = seconds, memory
        self._lock, self._line = threading.Lock(), threading.BoundedSemaphore(_LINE)
        self._process: SpawnProcess | None = None
        self._pipe: Connection | None = None
        self._known: OrderedDict[str, tuple[str, object]] = OrderedDict()

    def ask(self, name: str, *arguments: object) -> object:
        """Let the desk compute something; what was computed lately is remembered."""
        question = _digest(name, arguments)
        if (known := self._known.get(question)) is not None:
            return _answer(*known)
        if not self._line.acquire(blocking=False):
            raise BusyError("Too many plans and posteriors are being computed. Nothing was done. Try again soon.")
        try:
            with self._lock:
                found = self._known.get(question) or self._asked(name, arguments)
        finally:
            self._line.release()
        if found[0] not in _BY_CHANCE:
            self._known[question] = found
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return _answer(*found)

    def _asked(self, name: str, arguments: tuple[object, ...]) -> tuple[str, object]:
        try:
            if self._process is None or not self._process.is_alive():
                self._open()
            assert self._pipe is not None
            self._pipe.send((name, arguments))
            if self._pipe.poll(self._seconds):
                found: tuple[str, object] = self._pipe.recv()
                return found
        except (EOFError, OSError):
            self.close()
            return "-", "end of the process that computes plans and posteriors"
        self.close()
        return _LATE, (
            f"This takes longer than the {self._seconds:g} seconds that a server spends on it, so it was stopped. "
            "Nothing was charged. Run `discreet` on your own machine instead: it has no time limit."
        )

    def _open(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_sit, args=(theirs, self._memory), daemon=True)
        self._process.start()
        theirs.close()
        if not self._pipe.poll(_TO_BEGIN):  # its start does not count as time of the request
            raise EOFError
        self._pipe.recv()

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None


def _digest(name: str, arguments: tuple[object, ...]) -> str:
    """Return what a question is remembered by, because documents are long."""
    return sha256(canonical_json([name, arguments]).encode()).hexdigest()


def _sit(pipe: Connection, memory: int) -> None:
    """Report that the desk is ready, and compute what is asked until the front is gone."""
    pipe.send("ready")
    while True:
        try:
            name, arguments = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        with little_memory(memory):
            found = worked_out(name, arguments)
        pipe.send(found)


def _answer(kind: str, found: object) -> object:
    """Return the result, or raise the refusal that took its place."""
    if not kind:
        return found
    refusal = getattr(errors, kind, DeclarationError)
    if kind == "-":
        raise DiscreetError(f"An unforeseen {found} stopped this. Nothing was charged.")
    raise (refusal if issubclass(refusal, DiscreetError) else DeclarationError)(str(found))
