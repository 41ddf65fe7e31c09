"""Several at work on one server commit first and wait for the disk together: a crash in between loses nothing known.

The log of a server that does not wait for the disk (as the one of these tests) is lost in a crash all the same unless
it was flushed: what stands in the server's memory alone is gone.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction

import pytest

import discreet as dc
from discreet.ledger import Receipt
from discreet.ledger import _postgresql as postgresql
from postgresql_server import Server

pytestmark = pytest.mark.xdist_group("postgresql")
psycopg = pytest.importorskip("psycopg", reason="No psycopg: pip install 'discreet[postgresql]' to run these tests.")
IN_BETWEEN = "SELECT pg_sleep(300) AS in_between"


@pytest.fixture
def at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make everyone believe that others are at work."""
    monkeypatch.setattr(postgresql, "_LOCK", postgresql._LOCK.replace("THEN true", "THEN false"))


def _answers(server: Server, question: str) -> list[tuple[object, ...]]:
    """Return what a server answers; while it recovers, ask again."""
    for _ in range(600):
        try:
            with psycopg.connect(server.address, autocommit=True) as connection:
                return list(connection.execute(question).fetchall())
        except psycopg.OperationalError:
            time.sleep(0.05)
    raise AssertionError("The server does not answer.")


def _process_of(server: Server, words: str) -> int:
    """Wait until a process of the server is at some words, and return its number."""
    question = f"SELECT pid FROM pg_stat_activity WHERE query LIKE '%{words}%' AND pid <> pg_backend_pid()"
    for _ in range(100):
        if found := _answers(server, f"{question} AND wait_event = 'PgSleep'"):
            return int(str(found[0][0]))
        time.sleep(0.1)
    raise AssertionError("Nobody came there.")


@contextmanager
def unflushed(server: Server) -> Iterator[int]:
    """Hold the process of a server that flushes now and then what nobody waits for, and give its number."""
    ((writer,),) = _answers(server, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'")
    number = int(str(writer))
    os.kill(number, signal.SIGSTOP)
    try:
        yield number
    finally:
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGCONT)


def crash(server: Server, process: int, held: int | None = None) -> None:
    """Kill -9 a process of the server: the others end too, and all begins anew from what was flushed."""
    os.kill(process, signal.SIGKILL)
    if held is not None:
        os.kill(held, signal.SIGKILL)
    time.sleep(0.1)  # until the server has noticed
    _answers(server, "SELECT 1")


@contextmanager
def stopped_in_between(work: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Exception]]:
    """Let a thread stop after its commit, before its flush; give what it is told in the end."""
    told: list[Exception] = []

    def do() -> None:
        try:
            work()
        except dc.LedgerError as problem:
            told.append(problem)

    flushed = postgresql._FLUSHED
    monkeypatch.setattr(postgresql, "_FLUSHED", IN_BETWEEN)
    thread = threading.Thread(target=do)
    thread.start()
    try:
        yield told
    finally:
        monkeypatch.setattr(postgresql, "_FLUSHED", flushed)
        thread.join(60)
    assert not thread.is_alive()


def charging(ledger: dc.Ledger) -> Callable[[], object]:
    return lambda: ledger.charge(dc.Guarantee("0.1"), "in between", {})


@pytest.mark.parametrize("others", [False, True])
def test_what_was_charged_survives_a_crash_whatever_the_server_is_used_to(
    server: Server, others: bool, request: pytest.FixtureRequest
) -> None:
    place = server.place()
    dc.Ledger.create(place, epsilon="1")
    if others:
        request.getfixturevalue("at_work")
    server.execute("ALTER ROLE postgres SET synchronous_commit = off; ALTER ROLE postgres SET "
                   "default_transaction_isolation = 'serializable'")  # fmt: skip
    try:
        ledger = dc.Ledger.open(place)
        for number in range(3):
            ledger.charge(dc.Guarantee("0.1"), r"it's 100 % \ :name %(name)s", {"number": number})
        server.stop("immediate")
        server.start()
    finally:
        server.execute("ALTER ROLE postgres RESET ALL")
    assert ledger.spent.epsilon == Fraction(3, 10)
    assert ledger.entries()[-1].body["label"] == r"it's 100 % \ :name %(name)s"
    assert ledger.check() == 4


def test_a_crash_between_commit_and_flush_takes_back_what_nobody_was_told(
    server: Server, at_work: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who came behind it in the same moment is not told either, and all go on afterwards."""
    place = server.place()
    ledger, other = dc.Ledger.create(place, epsilon="1"), dc.Ledger.open(place)
    with unflushed(server) as held, stopped_in_between(charging(ledger), monkeypatch) as told:
        _process_of(server, "in_between")
        with stopped_in_between(charging(other), monkeypatch) as also_told:
            time.sleep(0.2)  # until that one is there as well
            crash(server, _process_of(server, "in_between"), held)
    assert len(told) == len(also_told) == 1
    assert ledger.spent.epsilon == other.spent.epsilon == 0
    for each in (ledger, other):  # none of them believes that the ledger was cut off
        each.charge(dc.Guarantee("0.1"), "again", {})
    assert ledger.check() == 3


@pytest.mark.parametrize("reads", ["head", "remaining", "entries", "check", "charge"])
def test_who_is_told_of_a_charge_that_others_have_not_flushed_waits_for_the_disk(
    server: Server, at_work: None, reads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = server.place()
    ledger, reader = dc.Ledger.create(place, epsilon="1"), dc.Ledger.open(place)
    with stopped_in_between(charging(ledger), monkeypatch) as told:
        process = _process_of(server, "in_between")
        monkeypatch.undo()  # who reads flushes as ever
        if reads == "charge":
            reader.charge(dc.Guarantee("0.2"), "behind it", {})
        elif reads in ("entries", "check"):
            getattr(reader, reads)()
        else:
            getattr(reader, reads)
        crash(server, process)
    assert len(told) == 1  # the charge stands, and its caller was told that it failed: nothing was drawn
    assert ledger.spent.epsilon == (Fraction(3, 10) if reads == "charge" else Fraction(1, 10))
    ledger.check()


def test_a_recorded_release_is_given_again_only_when_it_is_on_the_disk(
    server: Server, at_work: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = server.place()
    ledger, other = dc.Ledger.create(place, epsilon="1"), dc.Ledger.open(place)
    paid = ledger.charge(dc.Guarantee("0.1"), "x", {}, request="q")
    assert isinstance(paid, Receipt)
    with stopped_in_between(lambda: ledger.record(paid, ["what was drawn"]), monkeypatch) as told:
        process = _process_of(server, "in_between")
        monkeypatch.undo()
        assert other.charge(dc.Guarantee("0.1"), "x", {}, request="q") == ["what was drawn"]
        crash(server, process)
    assert len(told) == 1
    assert ledger.releases(paid.sequence) == ["what was drawn"]
    assert ledger.spent.epsilon == Fraction(1, 10)


def test_a_role_that_may_not_wait_for_the_disk_is_refused_before_anything_is_charged(server: Server) -> None:
    place = server.place()
    owner = dc.Ledger.create(place, epsilon="1")
    server.execute("DROP ROLE IF EXISTS hasty; CREATE ROLE hasty LOGIN")
    assert isinstance(owner._chain, postgresql.ServerChain)
    owner._chain.grant("hasty")
    server.execute("REVOKE EXECUTE ON FUNCTION pg_logical_emit_message(boolean, text, text) FROM PUBLIC")
    try:
        with pytest.raises(dc.LedgerError, match="may not call pg_logical_emit_message"):
            dc.Ledger.open(place.replace("postgres@", "hasty@"))
    finally:
        server.execute("GRANT EXECUTE ON FUNCTION pg_logical_emit_message(boolean, text, text) TO PUBLIC")
    assert dc.Ledger.open(place.replace("postgres@", "hasty@")).check() == 1
