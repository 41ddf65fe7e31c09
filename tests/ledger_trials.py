"""Many processes on one ledger, and processes that are killed: what tests and validation share."""

import multiprocessing
import os
import random
import select
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from multiprocessing.synchronize import Event
from pathlib import Path

import discreet as dc
from coin_ledger import COIN, DATA
from discreet.ledger import _chain as chain
from postgresql_server import Server

FORK = multiprocessing.get_context("fork")
MECHANISM = dc.GeometricHistogram(COIN, size=3, epsilon="0.001")


@contextmanager
def in_memory() -> Iterator[Path]:
    """Give a folder that lies in memory, where there is one: nothing waits for a disk."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


def _race(place: str, attempts: int, won: "multiprocessing.Queue[int]") -> None:
    ledger, count = dc.Ledger.open(place), 0
    for _ in range(attempts):
        try:
            ledger.charge(dc.Guarantee("0.001"), "raced", {"kind": "none"})
            count += 1
        except dc.BudgetError:
            pass
    won.put(count)


def race(place: str, processes: int, attempts: int, room: int) -> None:
    """Let processes race for room that is smaller than their wishes: exactly that room must be taken."""
    ledger = dc.Ledger.create(place, epsilon=Fraction(room, 1000))
    won: multiprocessing.Queue[int] = FORK.Queue()
    racing = [FORK.Process(target=_race, args=(place, attempts, won)) for _ in range(processes)]
    for process in racing:
        process.start()
    for process in racing:
        process.join(500)
    assert [process.exitcode for process in racing] == [0] * processes
    assert sum(won.get(timeout=60) for _ in racing) == room
    assert ledger.spent.epsilon == Fraction(room, 1000)
    assert ledger.check() == room + 1


def ready(place: str, epsilon: str) -> None:
    """Create a ledger and publish once, so that processes which are forked from now on need to import nothing."""
    dc.publish(MECHANISM, COIN.statistics(DATA), dc.Ledger.create(place, epsilon), "x", request="before")


def _publish_on(place: str, name: str, point: str | None, told: int) -> None:
    def die(reached: str) -> None:
        if reached == point:
            os.kill(os.getpid(), signal.SIGKILL)

    chain.action = die if point is not None else None
    ledger = dc.Ledger.open(place)
    for number in range(10**6):
        release = dc.publish(MECHANISM, COIN.statistics(DATA), ledger, "x", request=f"{name}-{number}")
        os.write(told, f"{name}-{number} {release.digest}\n".encode())


def killed(place: str, name: str, seed: int, point: str | None = None) -> dict[str, str]:
    """Kill -9 a process that publishes, at a failpoint or a random moment; return what it had been given before.

    Every other random moment is after its first release, however slow the machine is.
    """
    hears, tells = os.pipe()
    process = FORK.Process(target=_publish_on, args=(place, name, point, tells))
    process.start()
    first = b""
    if point is None:
        if seed // 2 % 2 and select.select([hears], [], [], 120)[0]:
            first = os.read(hears, 4096)
        time.sleep(random.Random(seed).uniform(0.0, 0.06))
        if process.pid is not None:
            os.kill(process.pid, signal.SIGKILL)
    process.join(120)
    os.close(tells)
    with os.fdopen(hears) as file:
        lines = (first.decode() + file.read()).splitlines()
    assert process.exitcode == -signal.SIGKILL
    return {request: digest for request, _, digest in (line.rpartition(" ") for line in lines)}


def _publish_stubbornly(place: str, name: str, told: int, enough: Event) -> None:
    """Publish and go on after every error: a server that is killed comes again."""
    ledger, number = None, 0
    while not enough.is_set():
        number += 1
        try:
            ledger = ledger or dc.Ledger.open(place)
            release = dc.publish(MECHANISM, COIN.statistics(DATA), ledger, "x", request=f"{name}-{number}")
            os.write(told, f"{name}-{number} {release.digest}\n".encode())
        except (dc.LedgerError, dc.PublishError) as problem:
            if "cut off" in str(problem):
                raise  # only what nobody was told may be gone
            time.sleep(0.05)


def published_while_killed(place: str, server: Server, processes: int, kills: int, seed: int) -> dict[str, str]:
    """Kill -9 a process of the server again and again while others publish; return what these were given."""
    hears, tells = os.pipe()
    enough, moments, lines = FORK.Event(), random.Random(seed), b""
    working = [
        FORK.Process(target=_publish_stubbornly, args=(place, f"process {number}", tells, enough))
        for number in range(processes)
    ]
    for process in working:
        process.start()
    os.close(tells)
    for _ in range(kills):
        time.sleep(moments.uniform(0.5, 3))
        while not server.kill_session():
            time.sleep(0.05)
        while select.select([hears], [], [], 0)[0]:
            lines += os.read(hears, 65536)
    enough.set()
    for process in working:
        process.join(120)
    assert [process.exitcode for process in working] == [0] * processes
    with os.fdopen(hears, "rb") as file:
        lines += file.read()
    return {request: digest for request, _, digest in (line.rpartition(" ") for line in lines.decode().splitlines())}


def check_after_kills(place: str, given: dict[str, str]) -> tuple[int, int]:
    """Hold a ledger against what processes had been given: no release without charge, none lost, nothing corrupt.

    Return the numbers of charges and of releases.
    """
    ledger = dc.Ledger.open(place)
    ledger.check()  # every release was paid for, all sums add up
    entries = ledger.entries()
    charges = {entry.sequence: entry.body for entry in entries if entry.kind == "charge"}
    releases = [entry.body for entry in entries if entry.kind == "release"]
    recorded = {charges[body["charge"]]["request"]: body["digests"][0] for body in releases}
    assert all(recorded.get(request) == digest for request, digest in given.items())
    assert ledger.spent.epsilon == Fraction(len(charges), 1000)
    return len(charges), len(recorded)
