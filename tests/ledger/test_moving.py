"""A moved ledger goes on elsewhere with all its entries, and is closed where it was: its budget is spent once."""

import sqlite3
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

import discreet as dc
from coin_ledger import COIN, DATA
from discreet.ledger import Body, Head, check_witness
from discreet.ledger import _chain as chain
from discreet.ledger import _moving as moving
from forged_ledger import edit, hash_anew

MECHANISM = dc.GeometricHistogram(COIN, size=3, epsilon="0.1")


def ask(ledger: dc.Ledger, request: str | None = None) -> dc.Release:
    return dc.publish(MECHANISM, COIN.statistics(DATA), ledger, "x", request=request)


@pytest.fixture
def old(tmp_path: Path) -> dc.Ledger:
    """Return a ledger with a release and a charge that still waits for its own, and a head at a witness."""
    ledger = dc.Ledger.create(tmp_path / "old.db", epsilon="0.5", population="p")
    ask(ledger, "q")
    (tmp_path / "witness").mkdir()
    Head.of(ledger).file(tmp_path / "witness")
    return ledger


def test_the_same_chain_goes_on_elsewhere(old: dc.Ledger, place: str, tmp_path: Path) -> None:
    release, before, identity = ask(old, "q"), old.entries(), old.id
    there = old.move(place)
    assert there.check() == old.check() + 1 == len(before) + 2
    assert there.entries()[: len(before)] == before
    assert [entry.kind for entry in there.entries()[len(before) :]] == ["moved", "arrived"]
    assert (there.id, there.created, there.spent) == (identity, old.created, old.spent)
    assert ask(there, "q") == release
    assert "digest matches" in dc.verify(release, ledger=there).checks[-1]
    assert len(check_witness(there, tmp_path / "witness")) == 1
    later = ask(there)
    assert there.spent.epsilon == Fraction(1, 5)
    assert "digest matches" in dc.verify(later, ledger=dc.Ledger.open(place)).checks[-1]
    there.check()


def test_the_old_place_is_closed_and_stays_readable(old: dc.Ledger, place: str) -> None:
    release = ask(old, "q")
    waiting = old.charge(dc.Guarantee("0.1"), "slow", {})
    assert isinstance(waiting, dc.ledger.Receipt)
    there = old.move(place)
    before = old.path.read_bytes()
    moved = r"moved to .* and is closed here"
    writes: list[Callable[[], object]] = [
        lambda: ask(old),
        lambda: ask(dc.Ledger.open(old.path), "another"),
        lambda: old.record(waiting, ["too late"]),
        lambda: old.change_limit(9, reason="more"),
    ]
    for write in writes:
        with pytest.raises(dc.LedgerError, match=moved):
            write()
    assert old.path.read_bytes() == before
    assert old.moved_to is not None
    assert old.moved_to in (str(there.place), str(there.path) if place.endswith(".db") else "")
    assert there.moved_to is None
    assert ask(old, "q") == release
    assert "digest matches" in dc.verify(release, ledger=dc.Ledger.open(old.path)).checks[-1]
    assert old.check() == there.check() - 1
    there.record(waiting, ["in time"])
    there.check()


def test_a_ledger_is_moved_once_and_never_over_another(old: dc.Ledger, place: str, tmp_path: Path) -> None:
    other = dc.Ledger.create(tmp_path / "other.db", epsilon="1")
    with pytest.raises(dc.LedgerError, match="already exists"):
        old.move(other.path)
    with pytest.raises(dc.LedgerError, match="already exists"):
        old.move(old.path)
    assert old.moved_to is None
    old.move(place)
    with pytest.raises(dc.LedgerError, match=r"has already been moved to"):
        old.move(tmp_path / "third.db")
    with pytest.raises(dc.LedgerError, match="already"):
        old.move(place)
    assert not (tmp_path / "third.db").exists()


@pytest.mark.parametrize("is_closed", [False, True])
def test_an_interrupted_move_leaves_no_second_budget_and_can_be_finished(
    old: dc.Ledger, place: str, is_closed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted before the old place is closed, and between that and the opening of the new one."""
    original = chain.append

    def interrupted(connection: object, head: chain.Entry, body: Body) -> chain.Entry:
        if body["kind"] == ("arrived" if is_closed else "moved"):
            raise KeyboardInterrupt
        return original(connection, head, body)  # type: ignore[arg-type]

    monkeypatch.setattr(moving, "append", interrupted)
    with pytest.raises(KeyboardInterrupt):
        old.move(place)
    monkeypatch.undo()
    with pytest.raises(dc.LedgerError, match="There is no ledger"):
        dc.Ledger.open(place)
    assert (old.moved_to is not None) == is_closed
    if is_closed:
        with pytest.raises(dc.LedgerError, match="closed here"):
            ask(old)
    there = old.move(place)
    assert [entry.kind for entry in there.entries()[-2:]] == ["moved", "arrived"]
    ask(there)
    there.check()


def test_an_edited_ledger_is_not_moved(old: dc.Ledger, place: str) -> None:
    edit(old.path, "UPDATE entries SET body = replace(body, '\"p\"', '\"q\"') WHERE sequence = 1")
    with pytest.raises(dc.LedgerError, match="broken at entry 1"):
        old.move(place)
    assert old.moved_to is None
    with pytest.raises(dc.LedgerError, match="There is no ledger"):
        dc.Ledger.open(place)


def test_a_place_that_cannot_be_written_leaves_the_ledger_open(old: dc.Ledger, tmp_path: Path) -> None:
    for nowhere in (str(tmp_path / "none" / "l.db"), "postgresql://nobody@127.0.0.1:1/x"):
        with pytest.raises(dc.LedgerError, match="Cannot"):
            old.move(nowhere)
    assert old.moved_to is None
    ask(old)


@pytest.mark.parametrize("kinds", [("moved", "charge"), ("arrived",), ("moved", "arrived", "arrived")])
def test_a_forged_move_does_not_add_up(old: dc.Ledger, tmp_path: Path, kinds: tuple[str, ...]) -> None:
    there = old.move(tmp_path / "new.db")
    ask(there)
    entries = there.entries()
    by_kind = {entry.kind: entry.body for entry in entries}
    forged = [e for e in entries if e.kind in ("created", "charge", "release")][:3]
    start = len(forged) + 1
    forged += [chain.Entry(start + place, by_kind[kind], "", "") for place, kind in enumerate(kinds)]
    hash_anew(there.path, forged, lambda entry: entry.body)
    with pytest.raises(dc.LedgerError, match="was moved elsewhere"):
        dc.Ledger.open(there.path).check()


def test_many_entries_are_moved_a_few_at_a_time(
    old: dc.Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moving, "_AT_A_TIME", 2)
    for _ in range(3):
        old.charge(dc.Guarantee("0.01"), "x", {})
    number = old.check()
    assert old.move(tmp_path / "new.db").check() == number + 2
    with sqlite3.connect(tmp_path / "new.db") as connection:
        assert connection.execute("SELECT count(*) FROM entries WHERE request = 'q'").fetchone() == (1,)
    connection.close()
