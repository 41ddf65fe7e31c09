"""Races, sudden death, full disks and files that cannot be written: nothing is overspent, lost or corrupt."""

import os
import resource
import signal
import sqlite3
from pathlib import Path

import pytest

import discreet as dc
from coin_ledger import publish_once
from discreet.ledger import POINTS
from discreet.ledger import _chain as chain
from ledger_trials import FORK, check_after_kills, killed, race, ready

SEED = 25  # of the random moments


def test_racing_charges_take_exactly_the_room_that_is_there(place: str) -> None:
    race(place, processes=8, attempts=10, room=20)


def test_processes_killed_at_random_moments_and_at_every_point_lose_nothing(place: str) -> None:
    """25 kills here and 25 on the other kind of ledger; `make validate` has 1,000 of each."""
    ready(place, epsilon="100")
    given: dict[str, str] = {}
    for number in range(25):
        point = POINTS[number] if number < len(POINTS) else None
        given |= killed(place, f"process {number}", SEED * 1000 + number, point)
    charges, releases = check_after_kills(place, given)
    assert charges >= releases >= len(given) > 0
    ledger = dc.Ledger.open(place)
    ledger.charge(dc.Guarantee("0.001"), "life goes on", {"kind": "none"})
    ledger.check()


def _on_a_full_disk(path: Path) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, path.stat().st_size))
    try:
        for _ in range(100):
            publish_once(path, "0.001")
    except (dc.LedgerError, dc.PublishError) as refusal:
        os._exit(0 if "disk" in str(refusal) and "Nothing was published" in str(refusal) else 2)
    os._exit(3)


def test_a_full_disk_is_told_and_loses_nothing(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    release = publish_once(ledger.path)
    process = FORK.Process(target=_on_a_full_disk, args=(ledger.path,))
    process.start()
    process.join(120)
    assert process.exitcode == 0
    ledger.check()
    assert "digest matches" in dc.verify(release, ledger=ledger).checks[-1]
    publish_once(ledger.path)
    ledger.check()


def test_a_file_that_cannot_be_written_is_told_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opened for reading alone, as a file without the right to write is; root may write any file."""
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    release = publish_once(ledger.path)
    before = ledger.path.read_bytes()
    original = sqlite3.connect

    def read_only(address: str, **options: object) -> sqlite3.Connection:
        return original(address.replace("mode=rw", "mode=ro"), **options)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(sqlite3, "connect", read_only)
    monkeypatch.setattr(sqlite3.dbapi2, "connect", read_only)
    with pytest.raises(dc.LedgerError, match=r"readonly database\. Nothing was published"):
        publish_once(ledger.path)
    assert "digest matches" in dc.verify(release, ledger=dc.Ledger.open(ledger.path)).checks[-1]
    monkeypatch.undo()
    assert ledger.path.read_bytes() == before
    ledger.check()


def test_every_commit_waits_for_the_disk(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    with ledger._chain.write_transaction() as connection:
        assert str(chain.run(connection, "PRAGMA synchronous").scalar()) == "3"  # EXTRA
        assert str(chain.run(connection, "PRAGMA journal_mode").scalar()) == "delete"
