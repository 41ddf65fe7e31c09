"""Backups and upgrades as the documentation tells them: what is lost, what is not, and what must be noticed."""

import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

import discreet as dc
from discreet.ledger import Head, SigningKey, check_witness
from discreet.server import Queue
from discreet.server import _audit as audit
from serving import Served, ask, asked, served, spent, state


def backed_up(place: Path, copy: Path) -> None:
    """Copy a database in use by its own means, as `sqlite3 PLACE ".backup COPY"` does."""
    with closing(sqlite3.connect(place)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)


def test_backups_of_a_running_server_are_put_back_and_an_older_ledger_is_noticed(tmp_path: Path) -> None:
    witness, key = tmp_path / "witness", SigningKey.new("the office")
    witness.mkdir()
    with served(tmp_path) as server:
        program = server.program("analyst")
        ask(program)
        server.publish_all()
        backed_up(tmp_path / "study.db", tmp_path / "old.db")  # the ledger first, the queue second
        backed_up(tmp_path / "queue.db", tmp_path / "queue-copy.db")
        Head.of(server.publisher.study.ledger()).signed(key).file(witness)
        check_witness(dc.Ledger.open(tmp_path / "old.db"), witness, key.public)  # just as old as the head
        ask(program, asked("0.5"))
        server.publish_all()
        Head.of(server.publisher.study.ledger()).signed(key).file(witness)
        with pytest.raises(dc.DiscreetError):
            check_witness(dc.Ledger.open(tmp_path / "old.db"), witness, key.public)
    copy = Queue(tmp_path / "queue-copy.db")
    try:
        copy.require()
        assert audit.check(copy) > 0
    finally:
        copy.engine.dispose()
    for stolen in ("old.db", "queue-copy.db"):  # a stolen backup shows no record
        assert b"chews tobacco" not in (tmp_path / stolen).read_bytes()


def test_a_lost_queue_costs_accounts_and_questions_but_no_budget(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        ask(server.program("analyst"))
        server.publish_all()
        before = server.front.published()[0].text
        assert spent(server) == Fraction(1, 4)
    for path in tmp_path.glob("queue.db*"):
        path.unlink()
    with served(tmp_path) as server:
        again = ask(server.program("analyst"))
        server.publish_all()
        assert state(server, again) == ("answered", "It was published before: nothing was charged.")
        assert server.front.published()[0].text == before
        assert spent(server) == Fraction(1, 4)


def test_an_upgrade_makes_the_tables_that_are_missing_and_keeps_the_others(server: Served) -> None:
    ask(server.program("analyst"))
    length = audit.check(server.queue)
    with server.queue.write_transaction() as connection:
        connection.exec_driver_sql("DROP TABLE tokens")
        connection.exec_driver_sql("DROP TRIGGER audit_is_kept_delete")
    server.publisher.prepare()
    assert audit.check(server.queue) == length + 1  # that the publisher was started
    with pytest.raises(dc.DiscreetError), server.queue.write_transaction() as connection:
        connection.exec_driver_sql("DELETE FROM audit")
    assert len(server.front.questions.seen_by(server.person("steward"))) == 1
    assert ask(server.program("analyst"), asked("0.5"))["state"] == "queued"  # by a token of the new table
