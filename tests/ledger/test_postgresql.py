"""A ledger on a real server: who may do what, what the database itself refuses, and what a restart leaves behind."""

import multiprocessing
from fractions import Fraction
from pathlib import Path

import pytest

import discreet as dc
from coin_ledger import COIN, DATA
from discreet.ledger import ServerChain
from discreet.ledger import _chain as chain
from discreet.ledger._chain import append, newest
from postgresql_server import Server

pytestmark = pytest.mark.xdist_group("postgresql")
psycopg = pytest.importorskip("psycopg", reason="No psycopg: pip install 'discreet[postgresql]' to run these tests.")
FORK = multiprocessing.get_context("fork")
MECHANISM = dc.GeometricHistogram(COIN, size=3, epsilon="0.1")


def test_a_ledger_on_a_server_is_a_ledger(server: Server) -> None:
    place = server.place()
    with pytest.raises(dc.LedgerError, match="There is no ledger at"):
        dc.Ledger.open(place)
    ledger = dc.Ledger.create(place, epsilon="0.2", population="p")
    with pytest.raises(dc.LedgerError, match=r"There is already a ledger at"):
        dc.Ledger.create(place, epsilon="9")
    release = dc.publish(MECHANISM, COIN.statistics(DATA), ledger, "one")
    assert "digest matches" in dc.verify(release, ledger=dc.Ledger.open(place)).checks[-1]
    dc.publish(MECHANISM, COIN.statistics(DATA), ledger, "two")
    with pytest.raises(dc.BudgetError, match=r"0\.2 of 0\.2 is already spent \(postgresql://postgres@127"):
        dc.publish(MECHANISM, COIN.statistics(DATA), ledger, "three")
    assert ledger.check() == 5
    with pytest.raises(dc.LedgerError, match="has no file"):
        ledger.path  # noqa: B018 - refused


def test_several_ledgers_have_several_schemas(server: Server) -> None:
    server.execute('CREATE SCHEMA "ward 7"; CREATE SCHEMA b')
    place = server.address
    first, second = (dc.Ledger.create(f"{place}?schema={name}", epsilon="1") for name in ("ward%207", "b"))
    first.charge(dc.Guarantee("0.5"), "x", {})
    assert (first.spent.epsilon, second.spent.epsilon) == (Fraction(1, 2), Fraction(0))
    with pytest.raises(dc.LedgerError, match="There is no ledger"):
        dc.Ledger.open(place)


def test_a_server_on_this_machine_is_reached_by_its_socket(server: Server) -> None:
    schema = server.place().rpartition("?")[2]
    ledger = dc.Ledger.create(
        f"postgresql:///postgres?host={server.folder}&port={server.port}&user=postgres&{schema}", 1
    )
    assert ledger.check() == 1
    assert dc.Ledger.open(f"{server.address}?{schema}").id == ledger.id
    with pytest.raises(dc.LedgerError, match="Cannot use the ledger"):
        dc.Ledger.open("postgresql://")


def test_a_password_is_never_shown(server: Server) -> None:
    place = server.place().replace("postgres@", "postgres:secret-word@")
    ledger = dc.Ledger.create(place, epsilon="1")
    assert "secret-word" not in f"{ledger!r} {ledger.place} {ledger._repr_html_()}"
    gone = place.replace(str(server.port), "1")
    with pytest.raises(dc.LedgerError) as refusal:
        dc.Ledger.open(gone)
    assert "secret-word" not in str(refusal.value)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET body = ''",
        "DELETE FROM entries WHERE sequence = 2",
        "TRUNCATE entries",
        "INSERT INTO entries SELECT 9, request, 9, spent, 'x', 'y', body FROM entries WHERE sequence = 1",
        "INSERT INTO entries SELECT 3, request, 9, spent, 'x', 'y', body FROM entries WHERE sequence = 1",
    ],
)
def test_entries_are_appended_in_order_and_kept_even_by_the_owner(server: Server, statement: str) -> None:
    place = server.place()
    ledger = dc.Ledger.create(place, epsilon="1")
    ledger.charge(dc.Guarantee("0.1"), "x", {})
    with pytest.raises(psycopg.Error, match=r"never changed|stands behind the newest"):
        server.execute(statement)
    assert ledger.check() == 2


def test_the_publishing_role_appends_and_reads_and_nothing_else(server: Server) -> None:
    place = server.place()
    owner = dc.Ledger.create(place, epsilon="0.3")
    server.execute("DROP ROLE IF EXISTS publisher; CREATE ROLE publisher LOGIN")
    stranger = place.replace("postgres@", "publisher@")
    with pytest.raises(dc.LedgerError, match="There is no ledger"):  # that this role could see
        dc.Ledger.open(stranger)
    assert isinstance(owner._chain, ServerChain)
    owner._chain.grant("publisher")
    publisher = dc.Ledger.open(stranger)
    release = dc.publish(MECHANISM, COIN.statistics(DATA), publisher, "one", request="q")
    assert dc.publish(MECHANISM, COIN.statistics(DATA), publisher, "one", request="q") == release
    for statement in ("UPDATE entries SET body = ''", "DELETE FROM entries", "TRUNCATE entries", "DROP TABLE entries"):
        with pytest.raises(psycopg.Error, match=r"permission denied|must be owner"):
            server.execute(statement, user="publisher")
    with pytest.raises(dc.LedgerError, match="only the owner of a ledger may change its limit"):
        publisher.change_limit(9, reason="I would like to")
    owner.change_limit(1, reason="agreed")
    assert publisher.limit.epsilon == 1
    owner.check()


def test_the_database_itself_keeps_entries_and_their_order_and_shows_them_to_nobody_else(server: Server) -> None:
    place = server.place()
    ledger = dc.Ledger.create(place, epsilon="1")
    ledger.charge(dc.Guarantee("0.1"), "x", {})
    for statement in (
        "DELETE FROM entries",
        "INSERT INTO entries SELECT 9, '', 9, spent, 'x', 'y', body FROM entries LIMIT 1",
    ):
        with pytest.raises(psycopg.Error, match=r"never changed|stands behind the newest"):
            server.execute(statement)
    server.execute("DROP ROLE IF EXISTS stranger; CREATE ROLE stranger LOGIN")
    server.execute(f"GRANT USAGE ON SCHEMA {place.rpartition('=')[2]} TO stranger")
    with pytest.raises(psycopg.Error, match="permission denied"):
        server.execute("SELECT * FROM entries", user="stranger")
    assert ledger.check() == 2


def test_whoever_ignores_the_lock_cannot_overspend_either(server: Server) -> None:
    """Two transactions that read the same head, as READ COMMITTED without a lock would let them."""
    place = server.place()
    first, second = dc.Ledger.create(place, epsilon="1"), dc.Ledger.open(place)
    first.charge(dc.Guarantee("0.9"), "x", {})
    assert isinstance(second._chain, ServerChain)

    def race() -> None:
        with second._chain._transaction("READ WRITE") as connection:  # no lock is taken
            head = newest(connection)
            first.charge(dc.Guarantee("0.1"), "x", {})
            append(connection, head, {**head.body, "nonce": "another"})

    with pytest.raises(dc.LedgerError, match=r"stands behind the newest|duplicate key"):
        race()
    assert first.spent.epsilon == 1
    first.check()


def test_one_who_waits_too_long_for_the_lock_is_told_so(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    place = server.place()
    ledger, other = dc.Ledger.create(place, epsilon="1"), dc.Ledger.open(place)
    monkeypatch.setattr(chain, "LONGEST_WAIT", 0.1)
    with ledger._chain.write_transaction(), pytest.raises(dc.LedgerError, match="lock timeout"):
        other.charge(dc.Guarantee("0.1"), "x", {})
    other.charge(dc.Guarantee("0.1"), "x", {})
    assert ledger.spent.epsilon == Fraction(1, 10)


def test_a_full_disk_is_told_and_loses_nothing(server: Server) -> None:
    """The server's own words for a full disk, raised where a row is written."""
    place = server.place()
    ledger = dc.Ledger.create(place, epsilon="1")
    release = dc.publish(MECHANISM, COIN.statistics(DATA), ledger, "one")
    server.execute(
        "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING "
        "ERRCODE = '53100', MESSAGE = 'could not extend file: No space left on device'; END $$; "
        "CREATE TRIGGER z BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION full_disk()"
    )
    with pytest.raises(dc.LedgerError, match=r"No space left on device\. Nothing was published"):
        dc.publish(MECHANISM, COIN.statistics(DATA), ledger, "two")
    server.execute("DROP TRIGGER z ON entries")
    assert ledger.check() == 3
    assert ledger.releases(2) == [release.to_json()]


@pytest.mark.parametrize("point", ["charge-begun", "charge-written", "drawn", "record-written"])
def test_a_server_that_is_restarted_in_the_middle_loses_nothing(
    server: Server, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = server.place()
    ledger = dc.Ledger.create(place, epsilon="1")
    before = dc.publish(MECHANISM, COIN.statistics(DATA), ledger, "one")
    restarts = 0

    def restart(reached: str) -> None:
        nonlocal restarts
        if reached == point and not restarts:
            restarts += 1
            server.stop()
            server.start()

    monkeypatch.setattr(chain, "action", restart)
    if point == "drawn":  # no transaction is open: the next one asks whether its session lives
        dc.publish(MECHANISM, COIN.statistics(DATA), ledger, "two", request="q")
    else:
        with pytest.raises(dc.DiscreetError, match=r"Cannot use the ledger|not recorded"):
            dc.publish(MECHANISM, COIN.statistics(DATA), ledger, "two", request="q")
    monkeypatch.setattr(chain, "action", None)
    ledger.check()
    again = dc.publish(MECHANISM, COIN.statistics(DATA), ledger, "two", request="q")
    charges = [entry for entry in ledger.entries() if entry.kind == "charge"]
    assert len(charges) == (3 if point == "record-written" else 2)
    for release in (before, again):
        assert "digest matches" in dc.verify(release, ledger=ledger).checks[-1]


def test_a_missing_driver_is_said_in_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(dc.LedgerError, match=r"pip install 'discreet\[postgresql\]'"):
        dc.Ledger.open("postgresql://nobody@127.0.0.1:1/x")


def test_the_entry_that_came_with_the_lock_is_told_once(server: Server) -> None:
    """Who looks again in the same transaction sees what was appended meanwhile."""
    place = server.place()
    ledger = dc.Ledger.create(place, epsilon="1")
    ledger.charge(dc.Guarantee("0.1"), "x", {})
    writer = dc.Ledger.open(place)._chain
    with writer.write_transaction() as connection:
        head = writer.latest(connection)
        appended = append(connection, head, {**head.body, "nonce": "another"})
        assert writer.latest(connection).digest == appended.digest
