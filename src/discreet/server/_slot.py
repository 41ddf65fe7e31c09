"""One question in a process of its own, which alone holds the records and ends when its time is up.

The publisher itself never opens the records. The child process does, and reports in one line how it ended: without a
problem, or with the words of a refusal by this library, which contain no value of a record. If anything else goes
wrong, it reports only that.
"""

import ctypes
import os
import resource
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from discreet._core import errors
from discreet._core.documents import canonical_json, read_json
from discreet._core.errors import DiscreetError

_PR_SET_PDEATHSIG = 1
_MOST = 20_000  # bytes of a report
MEMORY = (4 << 30) + (os.cpu_count() or 1) * (64 << 20)
"""Bytes of memory that work for untrusted clients may use; the second term is reserved by linear algebra per core."""


@dataclass(frozen=True)
class Outcome:
    """How a question ended: without a problem, with a refusal in words, without saying why, or not within its time."""

    problem: DiscreetError | None = None
    is_silent: bool = False
    is_overrun: bool = False


def in_a_process(work: Callable[[], None], seconds: float) -> Outcome:
    """Do some work in a process that is ended after `seconds` at the latest, or when this process ends."""
    reader, writer = os.pipe()
    parent, started = os.getpid(), time.monotonic()
    child = fork()
    if child == 0:
        os.close(reader)
        _child(work, writer, parent)
    os.close(writer)
    try:
        written = _read(reader, started + seconds)
        is_overrun = written is None or not _ended(child, started + seconds)
    finally:
        os.close(reader)
        _end(child)
    if is_overrun:
        return Outcome(is_overrun=True)
    return _outcome(written or b"")


@contextmanager
def little_memory(most: int = MEMORY) -> Iterator[None]:
    """Limit the memory, in bytes, of work for untrusted clients; beyond that, it fails at once.

    Only private memory counts (RLIMIT_DATA), not all that is mapped: how much that is would have to be read from /proc,
    which a confined process cannot do.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def fork() -> int:
    """Fork. Python warns if there are other threads; here these are the threads of linear algebra, which survive it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _child(work: Callable[[], None], writer: int, parent: int) -> None:
    """Do the work, report how it went, and exit without returning to the parent's code."""
    said: list[str] = []
    try:
        _die_with(parent)
        quiet = os.open(os.devnull, os.O_WRONLY)  # backends may print, and what they print may contain records
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        work()
        said = ["", ""]
    except DiscreetError as problem:
        said = [type(problem).__name__, str(problem)]
    except BaseException:  # noqa: BLE001 - whatever it is, its message may contain records
        said = ["-", ""]
    finally:
        os.write(writer, canonical_json(said).encode()[:_MOST])
        os._exit(0)


def _die_with(parent: int) -> None:
    """Ask the system to end this process when its parent ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _read(reader: int, until: float) -> bytes | None:
    """Return what the child reports before it ends; None if its time is up."""
    said = b""
    while True:
        left = until - time.monotonic()
        if left <= 0 or not select.select([reader], [], [], left)[0]:
            return None
        part = os.read(reader, _MOST)
        if not part:
            return said
        said += part


def _ended(child: int, until: float) -> bool:
    while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() > until:
            return False
        time.sleep(0.001)
    return True


def _end(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _outcome(written: bytes) -> Outcome:
    try:
        found = read_json(written.decode())
    except (DiscreetError, ValueError):
        found = None
    if not isinstance(found, list) or len(found) != 2:
        return Outcome(is_silent=True)
    name, words = map(str, found)
    kind = getattr(errors, name, None) if name else None
    if kind is None or not (isinstance(kind, type) and issubclass(kind, DiscreetError)):
        return Outcome(is_silent=bool(name))
    return Outcome(problem=kind(words))
