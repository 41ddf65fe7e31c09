"""A ledger that was edited, forged, cut off or replaced is refused in words, and nothing is charged on top of it."""

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from coin_ledger import COIN, DATA, publish_once
from discreet.documents import canonical_json
from discreet.guarantees import Entry
from discreet.guarantees.chain import GENESIS


def _edit(path: Path, *statements: str) -> None:
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    "damage",
    [
        ("UPDATE entries SET body = replace(body, '0.1', '0.01') WHERE sequence = 2",),
        ("UPDATE entries SET body = replace(body, 'one', 'two') WHERE sequence = 3",),
        ("DELETE FROM entries WHERE sequence = 3",),
        ("DELETE FROM entries WHERE sequence = 1",),
        (
            "UPDATE entries SET sequence = -1 WHERE sequence = 2",
            "UPDATE entries SET sequence = 2 WHERE sequence = 4",
            "UPDATE entries SET sequence = 4 WHERE sequence = -1",
        ),
        ("UPDATE entries SET digest = upper(digest) || 'x' WHERE sequence = 5",),
    ],
)
def test_edited_deleted_or_reordered_entries_are_noticed(tmp_path: Path, damage: tuple[str, ...]) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    publish_once(ledger.path)
    release = publish_once(ledger.path)
    ledger.check()
    _edit(ledger.path, *damage)
    with pytest.raises(dc.LedgerError):
        ledger.check()
    with pytest.raises(dc.DiscreetError):
        dc.verify(release, ledger=ledger)


def test_a_chain_forged_from_scratch_must_still_add_up(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    publish_once(ledger.path, "0.6")
    charge = ledger.entries()[1]
    forged = charge.body | {"spent": {"epsilon": "0", "delta": "0"}}
    entry = type(charge)(2, forged, charge.previous, "")
    body = canonical_json(forged)
    with sqlite3.connect(ledger.path) as connection:
        connection.execute("DELETE FROM entries WHERE sequence = 3")
        connection.execute(
            "UPDATE entries SET body = ?, digest = ? WHERE sequence = 2", (body, entry.expected_digest())
        )
    connection.close()
    with pytest.raises(dc.LedgerError, match="add up"):
        ledger.check()


def test_a_charge_pays_for_one_release_only(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    release = publish_once(ledger.path)
    assert release.receipt is not None
    with pytest.raises(dc.LedgerError, match="waits for its release"):
        ledger.record(release.receipt, release.to_json().replace("one", "two"))
    with pytest.raises(dc.LedgerError, match="waits for its release"):
        ledger.record(dc.Receipt(1, ledger.entries()[0].digest), "hello")
    charge = ledger.charge(dc.Guarantee("0.1"), "x", {})
    assert isinstance(charge, dc.Receipt)
    with pytest.raises(dc.LedgerError, match="waits for its release"):
        ledger.record(dc.Receipt(charge.sequence, "0" * 64), "hello")


@pytest.mark.parametrize("body", ["[]", "{}", "null", "nonsense", '{"kind": "charge"}', '{"kind": "party"}'])
def test_bodies_that_are_no_entries_are_refused_in_words(tmp_path: Path, body: str) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    publish_once(ledger.path)
    _edit(ledger.path, f"UPDATE entries SET body = '{body}' WHERE sequence = 3")
    for attempt in (ledger.check, ledger.entries, lambda: publish_once(ledger.path), lambda: ledger.spent):
        with pytest.raises(dc.LedgerError):
            attempt()
    assert repr(ledger) == f"Ledger({str(ledger.path)!r})"


def test_a_deleted_ledger_is_not_begun_anew(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    ledger.path.unlink()
    with pytest.raises(dc.LedgerError):
        ledger.charge(dc.Guarantee("0.1"), "x", {})
    assert not ledger.path.exists()


def test_a_release_pins_everything_before_its_charge(tmp_path: Path) -> None:
    """An early entry is rewritten and the whole chain hashed anew: the receipt of a later release tells."""
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    publish_once(ledger.path, label="early")
    late = publish_once(ledger.path, label="late")
    previous = ledger.entries()[0].digest
    with sqlite3.connect(ledger.path) as connection:
        for entry in ledger.entries()[1:]:
            body: Any = entry.body | ({"label": "forged"} if entry.sequence == 2 else {})
            forged = Entry(entry.sequence, body, previous, "")
            row = (canonical_json(body), previous, forged.expected_digest(), entry.sequence)
            connection.execute("UPDATE entries SET body = ?, previous = ?, digest = ? WHERE sequence = ?", row)
            previous = forged.expected_digest()
    connection.close()
    ledger.check()
    with pytest.raises(dc.VerificationError, match="does not hold as it was"):
        dc.verify(late, ledger=ledger)


EDITED = [
    (2, "cost", {"epsilon": "x", "delta": "0"}),
    (2, "cost", {"epsilon": "1/0", "delta": "0"}),
    (2, "cost", {"epsilon": "1e999999999", "delta": "0"}),
    (2, "cost", {"epsilon": None, "delta": "0"}),
    (2, "cost", 7),
    (2, "group", "nobody"),
    (2, "group", [[]]),
    (3, "releases", 7),
    (3, "releases", []),
    (3, "limit", {"epsilon": "1/0", "delta": "0"}),
    (3, "spent", 7),
    (3, "shares", 1),
    (1, "accountant", "gut feeling"),
    (1, "groups", [{}]),
]


@pytest.mark.parametrize(("sequence", "part", "value"), EDITED)
def test_entries_that_make_no_sense_are_refused_in_words(tmp_path: Path, sequence: int, part: str, value: Any) -> None:
    """The whole chain is hashed anew, so that only the contents are wrong."""
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    mechanism = dc.GeometricHistogram(COIN, size=3, epsilon="0.1")
    release = dc.publish(mechanism, COIN.statistics(DATA), ledger, "one", request="r")
    previous = GENESIS
    with sqlite3.connect(ledger.path) as connection:
        for entry in ledger.entries():
            body: Any = entry.body | ({part: value} if entry.sequence == sequence else {})
            forged = Entry(entry.sequence, body, previous, "")
            previous = forged.expected_digest()
            row = (canonical_json(body), forged.previous, previous, entry.sequence)
            connection.execute("UPDATE entries SET body = ?, previous = ?, digest = ? WHERE sequence = ?", row)
    connection.close()
    for ask in (ledger.check, lambda: dc.verify(release, ledger=ledger)):
        with pytest.raises((dc.LedgerError, dc.VerificationError)):
            ask()
    with contextlib.suppress(dc.DiscreetError):
        assert dc.publish(mechanism, COIN.statistics(DATA), ledger, "one", request="r") == release


def test_a_cut_off_tail_is_noticed_against_a_release_only(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    publish_once(ledger.path)
    release = publish_once(ledger.path)
    _edit(ledger.path, "DELETE FROM entries WHERE sequence >= 4")
    ledger.check()  # the limit of a chain without an anchor, stated in the documentation
    with pytest.raises(dc.VerificationError, match="cut off"):
        dc.verify(release, ledger=ledger)


def test_files_that_are_no_ledgers_are_refused_with_words(tmp_path: Path) -> None:
    with pytest.raises(dc.LedgerError, match="no ledger at"):
        dc.Ledger.open(tmp_path / "none.db")
    text = tmp_path / "text.db"
    text.write_text("not a data base, but long enough to look like one" * 30)
    with pytest.raises(dc.LedgerError, match="Cannot use the ledger"):
        dc.Ledger.open(text)
    empty = tmp_path / "empty.db"
    empty.touch()
    with pytest.raises(dc.LedgerError):
        dc.Ledger.open(empty)
    dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    with pytest.raises(dc.LedgerError, match="exists already"):
        dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    with pytest.raises(dc.LedgerError, match="Cannot create"):
        dc.Ledger.create(tmp_path / "missing" / "l.db", epsilon="1")


def test_nothing_is_charged_on_top_of_an_edited_head(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    publish_once(ledger.path)
    _edit(ledger.path, "UPDATE entries SET body = replace(body, '0.1', '0.0') WHERE sequence = 3")
    with pytest.raises(dc.LedgerError, match="was edited"):
        publish_once(ledger.path)
