"""What a charge, a release and a check of one release look at does not grow with the ledger."""

from math import log2
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from coin_ledger import COIN, DATA, publish_once
from discreet.ledger import Body, Chain
from discreet.ledger import _back_links as back_links
from discreet.ledger import _chain as chain
from discreet.ledger._back_links import earlier, path
from discreet.ledger._chain import newest
from forged_ledger import edit


def grown(path: Path, entries: int) -> dc.Ledger:
    """Return a ledger with so many entries, written in one transaction."""
    ledger = dc.Ledger.create(path, epsilon="1000")
    with ledger._chain.write_transaction() as connection:
        head = newest(connection)
        for number in range(head.sequence, entries):
            body: Body = {"kind": "limit", "at": chain.now(), "reason": f"reason {number}"}
            head = chain.append(connection, head, {**head.carried, **body})
    return ledger


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the numbers of the entries that are read from now on."""
    numbers: list[int] = []
    original = chain.read_entry

    def noted(row: Any) -> chain.Entry:
        numbers.append(row.sequence)
        return original(row)

    for module in ("_back_links", "_chain", "_ledger", "_requests"):
        monkeypatch.setattr(f"discreet.ledger.{module}.read_entry", noted)
    return numbers


@pytest.mark.parametrize("entries", [10, 700])
def test_publishing_reads_the_same_few_entries_however_many_there_are(
    tmp_path: Path, entries: int, read: list[int]
) -> None:
    ledger = grown(tmp_path / "l.db", entries)
    mechanism = dc.GeometricHistogram(COIN, size=3, epsilon="0.1")
    read.clear()
    dc.publish(mechanism, COIN.statistics(DATA), ledger, "x", request="q")
    # the first, whose neighbours must be those of the release; the newest and the first for the charge; the newest and
    # the charge for the record
    assert len(read) == 5
    read.clear()
    dc.publish(mechanism, COIN.statistics(DATA), ledger, "x", request="q")
    assert len(read) == 6  # asked before: the first, twice the charge and its release; and once more the newest


@pytest.mark.parametrize("entries", [10, 700])
def test_verifying_looks_at_one_path(tmp_path: Path, entries: int, read: list[int]) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1000")
    release = publish_once(ledger.path)
    with ledger._chain.write_transaction() as connection:
        head = newest(connection)
        for number in range(entries):
            body: Body = {"kind": "limit", "at": chain.now(), "reason": f"reason {number}"}
            head = chain.append(connection, head, {**head.carried, **body})
    read.clear()
    dc.verify(release, ledger=ledger)
    assert len(read) <= 2 * (1 + log2(entries + 3)) + 4


def test_back_links_lead_where_walking_entry_by_entry_leads(tmp_path: Path) -> None:
    ledger = grown(tmp_path / "l.db", 35)
    entries = {entry.sequence: entry for entry in ledger.entries()}
    with ledger._chain.read_transaction() as connection:
        for start in range(1, 36):
            for target in range(1, start + 1):
                assert earlier(connection, entries[start], target) == entries[target]


def test_no_path_is_longer_than_it_should_be() -> None:
    for start in (2, 70, 600, 2**17 - 1, 2**17, 10**6):
        for target in {1, 2, start // 3 + 1, start // 2 + 1, start - 1}:
            numbers = path(start, target)
            assert (numbers[0], numbers[-1]) == (start, target)
            assert len(numbers) - 1 <= 2 * (1 + log2(start))


def test_a_path_is_read_in_one_question(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = 0

    def counted(*words: Any) -> Any:
        nonlocal asked
        asked += 1
        return chain.run(*words)

    monkeypatch.setattr(back_links, "run", counted)
    ledger = grown(tmp_path / "l.db", 300)
    with ledger._chain.read_transaction() as connection:
        earlier(connection, newest(connection), 7)
    assert asked == 1


@pytest.mark.parametrize("number", [8, 12, 13])
def test_an_edited_entry_on_the_way_is_noticed(tmp_path: Path, number: int) -> None:
    ledger = grown(tmp_path / "l.db", 14)
    edit(ledger.path, f"UPDATE entries SET body = replace(body, 'reason {number - 1}', 'x') WHERE sequence = {number}")
    with pytest.raises(dc.LedgerError):
        ledger.check()
    with ledger._chain.read_transaction() as connection:
        head = newest(connection)
        if number == 13:  # from 14 the chain leads to 12, past 13
            assert earlier(connection, head, 7).sequence == 7
        else:
            with pytest.raises(dc.LedgerError, match=f"broken at entry {number}"):
                earlier(connection, head, 7)


def test_a_process_notices_that_its_ledger_went_back(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    publish_once(ledger.path)
    backup = ledger.path.read_bytes()
    mechanism, secret = dc.GeometricHistogram(COIN, size=3, epsilon="0.1"), COIN.statistics(DATA)
    dc.publish(mechanism, secret, ledger, "x")
    ledger.path.write_bytes(backup)
    with pytest.raises(dc.LedgerError, match="replaced by an older copy"):
        dc.publish(mechanism, secret, ledger, "x")
    publish_once(ledger.path)  # a process that has not seen it cannot know
    with pytest.raises(dc.LedgerError, match="older copy"):
        ledger.charge(dc.Guarantee("0.1"), "x", {})


def test_equal_ledgers_and_equal_charges_are_told_apart(tmp_path: Path) -> None:
    first, second = (dc.Ledger.create(tmp_path / name, epsilon="1", population="p") for name in ("a.db", "b.db"))
    assert first.id != second.id
    assert first.head.digest != second.head.digest
    release = publish_once(first.path)
    with pytest.raises(dc.VerificationError, match="charged to another ledger"):
        dc.verify(release, ledger=second)
    copy = tmp_path / "copy.db"
    copy.write_bytes(first.path.read_bytes())
    here, there = (dc.Ledger.open(path).charge(dc.Guarantee("0.1"), "x", {}) for path in (first.path, copy))
    assert here != there


def test_a_row_that_a_column_hides_is_noticed_by_check(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    mechanism = dc.GeometricHistogram(COIN, size=3, epsilon="0.1")
    dc.publish(mechanism, COIN.statistics(DATA), ledger, "x", request="q")
    for column, value in (("request", "'r'"), ("charge", "NULL"), ("spent", "'{}'")):
        copy = tmp_path / f"{column}.db"
        copy.write_bytes(ledger.path.read_bytes())
        number = 3 if column == "charge" else 2
        edit(copy, f"UPDATE entries SET {column} = {value} WHERE sequence = {number}")
        with pytest.raises(dc.LedgerError, match="columns of entry"):
            dc.Ledger(Chain(copy)).check()
