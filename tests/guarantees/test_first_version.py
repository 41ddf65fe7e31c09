"""Ledgers of version 0.1 are read as they are, and upgraded when their owner says so."""

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

import discreet as dc
from discreet.guarantees import read_amount
from forged_ledger import edit

HERE = Path(__file__).parent.parent / "documents" / "0.1"
NAMES = sorted(path.name for path in HERE.glob("*.ledger"))
PARTS_OF_0_1 = {
    "release": {"charge", "releases", "digests"},
    "limit": {"declared", "reason"},
    "charge": {"label", "request", "unit", "rows", "group", "data", "cost", "guarantee", "rho", "mechanism"},
}


@pytest.fixture(params=NAMES)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> dc.Ledger:
    return dc.Ledger.open(shutil.copyfile(HERE / request.param, tmp_path / request.param))


def opened_by_0_1(path: Path) -> bool:
    """Tell whether version 0.1 would open a ledger: as it did, look at the newest entry, whose parts must be known."""
    connection = sqlite3.connect(path)
    (body,) = connection.execute("SELECT body FROM entries ORDER BY sequence DESC LIMIT 1").fetchone()
    connection.close()
    found = json.loads(body)
    return (
        found["kind"] in PARTS_OF_0_1
        and set(found) == {"kind", "limit", "shares", "spent"} | PARTS_OF_0_1[found["kind"]]
    )


def test_it_is_read_and_not_charged_before_it_is_upgraded(old: dc.Ledger) -> None:
    assert opened_by_0_1(old.path)
    assert old.id is None
    before = old.path.read_bytes()
    unit = old.created["unit"]
    with pytest.raises(dc.LedgerError, match=r"version 0\.1.*discreet ledger upgrade"):
        old.charge(dc.Guarantee("0.0001"), "x", {}, unit=unit, rows=old.entries()[1].body["rows"] or 1)
    with pytest.raises(dc.LedgerError, match=r"version 0\.1"):
        old.change_limit(1000, reason="more")
    assert old.path.read_bytes() == before


def test_upgrading_keeps_every_hash_and_every_total(old: dc.Ledger) -> None:
    before, totals = old.entries(), (old.limit, old.spent, old.declared_limit, old.created)
    number = old.check()
    old.upgrade()
    assert not opened_by_0_1(old.path)
    assert old.check() == number + 1
    assert old.entries()[:-1] == before
    assert (old.limit, old.spent, old.declared_limit, old.created) == totals
    assert old.entries()[-1].kind == "upgraded"
    assert old.entries()[-1].previous == before[-1].digest
    assert old.id is not None
    with pytest.raises(dc.LedgerError, match="already has the current format"):
        old.upgrade()
    with pytest.raises(dc.LedgerError, match="already has the current format"):
        dc.Ledger.open(old.path).upgrade()


def test_old_answers_are_found_and_new_charges_stand_on_old_entries(old: dc.Ledger) -> None:
    asked = (entry.body["request"] for entry in old.entries() if entry.kind == "charge")
    requests = {request for request in asked if request is not None}
    answered = {request: old.is_answered(request) for request in requests}
    old.upgrade()
    assert {request: old.is_answered(request) for request in requests} == answered
    rows = max(entry.body["rows"] or 0 for entry in old.entries() if entry.kind == "charge")
    cost = dc.Guarantee("0.0001")
    old.charge(cost, "x", {}, unit=old.created["unit"], rows=rows)
    head = old.head
    assert read_amount(head.body["spent"]).covers(read_amount(old.entries()[-2].body["spent"]))
    assert old.stands_on(2, old.entries()[1].digest)
    old.check()
    with pytest.raises(dc.PublishError, match="rows for each unit"):
        old.charge(cost, "x", {}, unit=old.created["unit"], rows=rows + 1)


def test_an_edited_ledger_is_not_upgraded(tmp_path: Path) -> None:
    path = shutil.copyfile(HERE / "basic.ledger", tmp_path / "l.db")
    edit(path, "UPDATE entries SET body = replace(body, 'epsilon', 'epsilom') WHERE sequence = 3")
    before = path.read_bytes()
    with pytest.raises(dc.LedgerError):
        dc.Ledger.open(path).upgrade()
    assert path.read_bytes() == before


def test_an_old_entry_cannot_be_slipped_in_behind_the_upgrade(tmp_path: Path) -> None:
    path = shutil.copyfile(HERE / "basic.ledger", tmp_path / "l.db")
    ledger = dc.Ledger.open(path)
    last = ledger.entries()[-1]
    ledger.upgrade()
    from forged_ledger import hash_anew

    extra = type(last)(ledger.head.sequence + 1, {**last.body, "charge": 10**6}, "", "")
    hash_anew(path, [*ledger.entries(), extra], lambda entry: entry.body)
    with pytest.raises(dc.LedgerError):
        dc.Ledger.open(path).check()
