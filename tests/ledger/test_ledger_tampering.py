"""A ledger that was edited, forged, cut off or replaced is refused in words, and nothing is charged on top of it."""

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from coin_ledger import COIN, DATA, publish_once
from discreet.ledger import Chain
from discreet.ledger import _chain as chain
from forged_ledger import edit, hash_anew


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
    publish_once(ledger.path)
    ledger.check()
    edit(ledger.path, *damage)
    with pytest.raises(dc.LedgerError):
        ledger.check()


@pytest.mark.parametrize(
    "damage",
    [
        ("UPDATE entries SET body = replace(body, '0.1', '0.01') WHERE sequence = 4",),
        ("UPDATE entries SET body = replace(body, 'one', 'two') WHERE sequence = 5",),
        ("DELETE FROM entries WHERE sequence = 5",),
        ("DELETE FROM entries WHERE sequence >= 4",),
        ("UPDATE entries SET body = replace(body, '0.1', '0.01') WHERE sequence = 6",),
        ("UPDATE entries SET charge = NULL WHERE sequence = 5",),
    ],
)
def test_a_release_notices_what_happens_to_the_entries_it_stands_on(tmp_path: Path, damage: tuple[str, ...]) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    publish_once(ledger.path)
    release = publish_once(ledger.path)
    publish_once(ledger.path)
    assert "digest matches" in dc.verify(release, ledger=ledger).checks[-1]
    edit(ledger.path, *damage)
    with pytest.raises(dc.DiscreetError):
        dc.verify(release, ledger=dc.Ledger(Chain(ledger.path)))


def test_a_chain_forged_from_scratch_must_still_add_up(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    publish_once(ledger.path, "0.6")
    free = {"spent": {"epsilon": "0", "delta": "0"}}
    hash_anew(ledger.path, ledger.entries()[:2], lambda entry: entry.body | (free if entry.sequence == 2 else {}))
    with pytest.raises(dc.LedgerError, match="add up"):
        dc.Ledger.open(ledger.path).check()


def test_a_charge_pays_for_one_release_only(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    release = publish_once(ledger.path)
    assert release.receipt is not None
    with pytest.raises(dc.LedgerError, match="is waiting for its release"):
        ledger.record(release.receipt, release.to_json().replace("one", "two"))
    with pytest.raises(dc.LedgerError, match="is waiting for its release"):
        ledger.record(dc.ledger.Receipt(1, ledger.entries()[0].digest, ledger.id), "hello")
    charge = ledger.charge(dc.Guarantee("0.1"), "x", {})
    assert isinstance(charge, dc.ledger.Receipt)
    with pytest.raises(dc.LedgerError, match="is waiting for its release"):
        ledger.record(dc.ledger.Receipt(charge.sequence, "0" * 64, ledger.id), "hello")


@pytest.mark.parametrize("body", ["[]", "{}", "null", "nonsense", '{"kind": "charge"}', '{"kind": "party"}'])
def test_bodies_that_are_no_entries_are_refused_in_words(tmp_path: Path, body: str) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    publish_once(ledger.path)
    edit(ledger.path, f"UPDATE entries SET body = '{body}' WHERE sequence = 3")
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
    hash_anew(
        ledger.path, ledger.entries(), lambda entry: entry.body | ({"label": "forged"} if entry.sequence == 2 else {})
    )
    ledger = dc.Ledger.open(ledger.path)
    ledger.check()
    with pytest.raises(dc.VerificationError, match="does not hold in that form"):
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
    hash_anew(
        ledger.path, ledger.entries(), lambda entry: entry.body | ({part: value} if entry.sequence == sequence else {})
    )
    ledger = dc.Ledger(Chain(ledger.path))
    for ask in (ledger.check, lambda: dc.verify(release, ledger=ledger)):
        with pytest.raises((dc.LedgerError, dc.VerificationError)):
            ask()
    with contextlib.suppress(dc.DiscreetError):
        assert dc.publish(mechanism, COIN.statistics(DATA), ledger, "one", request="r") == release


@pytest.mark.parametrize(
    ("part", "value", "words"),
    [
        ("ledger", "0" * 32, "carries over"),
        ("declared", {"epsilon": "9", "delta": "0"}, "carries over"),
        ("rows", 7, "carries over"),
        ("charge", 1, "there is no charge"),
        ("charge", 99, "there is no charge"),
        ("digests", ["0" * 64], "there is no charge"),
    ],
)
def test_a_forged_record_does_not_fit_what_stood_before_it(tmp_path: Path, part: str, value: Any, words: str) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    publish_once(ledger.path)
    hash_anew(ledger.path, ledger.entries(), lambda entry: entry.body | ({part: value} if entry.sequence == 3 else {}))
    with pytest.raises(dc.LedgerError, match=words):
        dc.Ledger(Chain(ledger.path)).check()


def test_a_forged_chain_that_adds_up_may_not_pass_its_limit(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="2")
    for _ in range(2):
        ledger.charge(dc.Guarantee("0.6"), "x", {})
    lower = {part: {"epsilon": "1", "delta": "0"} for part in ("limit", "declared")}
    hash_anew(ledger.path, ledger.entries(), lambda entry: entry.body | lower)
    with pytest.raises(dc.LedgerError, match="do not add up at entry 3"):
        dc.Ledger(Chain(ledger.path)).check()


def test_forged_back_links_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    monkeypatch.setattr(chain, "digests_at", lambda _, numbers: ["f" * 64 for _ in numbers])
    for _ in range(7):
        ledger.charge(dc.Guarantee("0.1"), "x", {})
    monkeypatch.undo()
    with pytest.raises(dc.LedgerError, match="broken at entry 8"):
        ledger.check()


@pytest.mark.parametrize("statement", ["UPDATE entries SET body = ''", "DELETE FROM entries WHERE sequence = 2"])
def test_the_file_itself_refuses_changes_that_are_made_by_mistake(tmp_path: Path, statement: str) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    publish_once(ledger.path)
    connection = sqlite3.connect(ledger.path)
    with pytest.raises(sqlite3.IntegrityError, match="never"):
        connection.execute(statement)
    connection.close()
    ledger.check()


def test_a_cut_off_tail_is_noticed_against_a_release_only(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    publish_once(ledger.path)
    release = publish_once(ledger.path)
    edit(ledger.path, "DELETE FROM entries WHERE sequence >= 4")
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
    with pytest.raises(dc.LedgerError, match="already exists"):
        dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    with pytest.raises(dc.LedgerError, match="Cannot create"):
        dc.Ledger.create(tmp_path / "missing" / "l.db", epsilon="1")


def test_nothing_is_charged_on_top_of_an_edited_head(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    publish_once(ledger.path)
    edit(ledger.path, "UPDATE entries SET body = replace(body, '0.1', '0.0') WHERE sequence = 3")
    with pytest.raises(dc.LedgerError, match="was edited"):
        publish_once(ledger.path)
