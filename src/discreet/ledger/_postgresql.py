"""A ledger on a PostgreSQL server: the same chain and the same statements, for many machines.

Charges are serialised by an advisory lock that a transaction takes first and holds to its end, under READ COMMITTED, so
that each statement sees all that was committed before the lock was given. Why not SERIALIZABLE with retries: a lock
makes writers wait, once; retries make each of n writers fail up to n times under load, and a bounded number
of them would refuse charges for which there is room. Why not LOCK TABLE: it needs the right to change rows, which the
publishing role must not have. The lock is for order alone. A program that ignores it cannot overspend either: every
entry names the one before it, and the database refuses a second entry with the same number or the same predecessor.

Where several are at work, an entry is committed first, which passes the lock on, and then flushed: one flush serves all
who wait. Nothing leaves a transaction before the flush; docs/ledger.md says why a crash in between does no harm.

Roles: whoever creates a ledger owns it. Others may be allowed to append and read (`grant`), never to change or delete,
which triggers forbid to the owner too; only the owner may change the limit.
"""

import os
import re
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from discreet._core.documents import digest_of
from discreet._core.errors import DeclarationError, LedgerError, PublishError
from discreet.ledger import _chain as chains
from discreet.ledger._chain import MET, UNSENT, Chain, Entry, read_newest, run
from discreet.ledger._requests import waited_too_long
from discreet.ledger._schema import INDEXES, INSERT, NEWEST, TABLE
from discreet.records import is_text

if TYPE_CHECKING:
    from sqlalchemy import Connection, CursorResult, Engine

Row = Mapping[str, object]
_LEDGERS = 1_147_757  # the family of advisory locks of ledgers; those of requests have one number, not two
_TOLD, _KNOWN = "the newest entry, which came with the lock", "the newest entry that was known before"
_SAID, _NOTHING = "what was answered to the first words of a transaction", object()
_LOCKED = "55P03"  # PostgreSQL's code for a lock that was waited for too long

_LEDGER = f"{_LEDGERS}, 'entries'::regclass::oid::int4"
_LOCK = f"""SELECT CASE WHEN pg_try_advisory_xact_lock({_LEDGER}) THEN true
ELSE pg_advisory_xact_lock({_LEDGER}) IS NULL END AS alone,
(SELECT digest FROM entries WHERE sequence = {{}}) AS known"""
"""Take the lock; tell whether it was free, so that nobody else is at work, and the hash of an entry that was known."""
_NAMED = re.compile(r":(\w+)"), r"%(\1)s"  # named values, as this library and as the driver writes them
_WRITE = re.sub(*_NAMED, INSERT)
_SNAPSHOT = """BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT CASE WHEN pg_is_in_recovery() THEN NULL
WHEN pg_current_wal_flush_lsn() < pg_current_wal_insert_lsn() THEN pg_current_wal_insert_lsn()::text END AS behind"""
"""Begin to read, and tell how far the log has to reach the disk before what is read may be believed; NULL: it has."""

_FLUSHED = "SELECT set_config('synchronous_commit', 'on', true), pg_logical_emit_message(true, 'discreet', '')"
"""A transaction that writes next to nothing, and waits until it and all before it are on the disk."""
_MAY_FLUSH = (
    "SELECT bool_and(has_function_privilege(oid, 'EXECUTE')) FROM pg_proc WHERE proname = 'pg_logical_emit_message'"
)
_FLUSHED_TO = f"{_FLUSHED} WHERE pg_current_wal_flush_lsn() < '{{}}'"

_APPENDED = """CREATE OR REPLACE FUNCTION entries_are_appended() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE last record;
BEGIN
    SELECT sequence, digest INTO last FROM {schema}.entries ORDER BY sequence DESC LIMIT 1;
    IF NEW.sequence <> coalesce(last.sequence, 0) + 1 OR NEW.previous <> coalesce(last.digest, repeat('0', 64)) THEN
        RAISE EXCEPTION 'an entry of a ledger stands behind the newest one';
    END IF;
    IF NEW.body::json ->> 'kind' IN ('created', 'limit', 'moved', 'arrived') AND NOT pg_has_role(
            (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
        RAISE EXCEPTION 'only the owner of a ledger may change its limit or move it';
    END IF;
    RETURN NEW;
END $$"""
_KEPT = """CREATE OR REPLACE FUNCTION entries_are_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'entries of a ledger are never changed or deleted'; END $$"""

_TRIGGER = """DROP TRIGGER IF EXISTS {name} ON entries;
CREATE TRIGGER {name} BEFORE {events} ON entries {each} EXECUTE FUNCTION {name}()"""

RULES = (
    _APPENDED,
    _KEPT,
    _TRIGGER.format(name="entries_are_appended", events="INSERT", each="FOR EACH ROW"),
    _TRIGGER.format(name="entries_are_kept", events="UPDATE OR DELETE OR TRUNCATE", each="FOR EACH STATEMENT"),
    "REVOKE ALL ON entries FROM PUBLIC",
)
"""What the database itself refuses."""


class ServerChain(Chain):
    """The entries of one ledger on a server: `postgresql://user@host/database`, one for each schema.

    `?schema=NAME` names the schema, which must be there; without it, it is the first one of the search path. A password
    belongs into a password file (PGPASSFILE) and not into an address; it is never shown.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        parts = _split(address)
        asked = dict(parse_qsl(parts.query))
        self.schema = asked.pop("schema", None)
        if self.schema is not None and not (is_text(self.schema) and '"' not in self.schema):
            raise DeclarationError("The schema of a ledger must be a plain name of letters, digits and '_'.")
        self._url = f"postgresql+psycopg://{parts.netloc}{parts.path}?{urlencode(asked)}"
        where = parts.netloc.rpartition("@")
        user = where[0].split(":")[0] + where[1]
        shown = f"?schema={self.schema}" if self.schema else ""
        self.place = f"postgresql://{user}{where[2]}{parts.path}{shown}"
        self.seen, self.created = None, {}
        self._kept: tuple[int, Engine] | None = None

    @property
    def address(self) -> str:
        return self._address

    def exists(self) -> bool:
        with self.read_transaction() as connection:
            may_flush = run(connection, _MAY_FLUSH).scalar()
            is_there = run(connection, "SELECT to_regclass('entries')").scalar() is not None
        if not may_flush:
            raise LedgerError(
                f"Cannot use the ledger {self.place!r}: this role may not call pg_logical_emit_message, which makes "
                "a charge wait for the disk. Nothing was done. Grant it EXECUTE on that function."
            )
        return is_there

    @contextmanager
    def making(self) -> Iterator["Connection"]:
        """Make the table where none is yet, for entries to be written in one transaction: both or none."""
        if self.exists():
            raise LedgerError(
                f"There is already a ledger at {self.place!r}. Nothing was changed. Open it with Ledger.open, or "
                "name another schema; keep in mind that a new ledger is a new budget."
            )
        with self._transaction("READ WRITE") as connection:
            for statement in (TABLE.format(number="BIGINT"), *INDEXES):
                run(connection, statement)
            _put_in_place(connection)
            yield connection

    def grant(self, role: str) -> None:
        """Allow a role to append and to read, and nothing else."""
        if not isinstance(role, str) or not role or '"' in role or not is_text(role):
            raise DeclarationError("The name of a role must be a plain string. Nothing was changed.")
        with self._transaction("READ WRITE") as connection:
            connection.exec_driver_sql(f'REVOKE ALL ON entries FROM "{role}"')
            connection.exec_driver_sql(f'GRANT SELECT, INSERT ON entries TO "{role}"')
            if self.schema is not None:
                connection.exec_driver_sql(f'GRANT USAGE ON SCHEMA "{self.schema}" TO "{role}"')

    def read_transaction(self) -> AbstractContextManager["Connection"]:
        """Begin to read: one moment of the ledger, whatever is appended meanwhile."""
        return self._transaction("READ ONLY")

    @contextmanager
    def holding(self, request: str) -> Iterator[None]:
        """Hold a request's name: a lock of a session of its own, which the server frees with the session."""
        from sqlalchemy.exc import OperationalError, SQLAlchemyError

        name = f"('entries'::regclass::oid::int8 << 32) | {int(digest_of(request)[:8], 16)}"
        session = None
        with self.in_words():
            try:
                session = self._session(f"{_begin()}; SELECT pg_advisory_lock({name}); COMMIT")
            except OperationalError as problem:
                if getattr(problem.orig, "sqlstate", None) != _LOCKED:
                    raise
        if session is None:
            raise PublishError(waited_too_long(request, chains.LONGEST_WAIT))
        try:
            yield
        finally:
            try:
                session.exec_driver_sql(f"SELECT pg_advisory_unlock({name})")
            except SQLAlchemyError:
                session.invalidate()  # the session has ended, and the lock with it
            session.close()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator["Connection"]:
        """Begin a transaction in one message: to read, of one snapshot; to write, behind all others who write.

        Where several are at work, who writes an entry commits it, which lets the next one begin, and then waits for the
        disk: one flush serves all who wait. Nothing leaves a transaction before that, and who reads waits for what
        others have not flushed yet.
        """
        is_entry, is_read = begin == "BEGIN IMMEDIATE", begin == "READ ONLY"
        known = self.seen.sequence if self.seen else 0
        first = f"{_begin()}; {_LOCK.format(known)}; {NEWEST}" if is_entry else _SNAPSHOT if is_read else _begin()
        with self.in_words(), self._session(first) as connection:
            info, answers = connection.info, connection.info.pop(_SAID)
            if is_entry:
                turn, info[_TOLD] = answers[-2:]
                info[_KNOWN] = known, turn.known
            yield connection
            rows, last = info.pop(UNSENT, []), "COMMIT"
            if is_entry and not (turn.alone and rows):
                last = f"SET LOCAL synchronous_commit = off; COMMIT; {_FLUSHED}"
            elif is_read and answers[-1].behind is not None:
                last = f"COMMIT; {_FLUSHED_TO.format(answers[-1].behind)}"
            self._say(connection, last, rows)
            self.seen = info.pop(MET, self.seen)

    def _newest(self, connection: "Connection") -> Entry:
        """Return the newest entry: the one that came with the lock, once."""
        answers = connection.info.pop(_TOLD, _NOTHING)
        return super()._newest(connection) if answers is _NOTHING else read_newest(answers)

    def _holds(self, connection: "Connection", known: Entry) -> bool:
        """Return whether an entry is still there: the one of its number came with the lock, too."""
        sequence, digest = connection.info.pop(_KNOWN, (0, None))
        return bool(digest == known.digest) if sequence == known.sequence else super()._holds(connection, known)

    def _session(self, first: str, is_new: bool = False) -> "Connection":
        """Return a session that has said its first words; one that ended while it was kept is replaced, once."""
        from sqlalchemy.exc import OperationalError

        session = self._engine().connect()
        try:
            session.info.clear()
            session.info[_SAID] = self._say(session, first)
        except OperationalError as problem:
            session.close()
            if is_new or not problem.connection_invalidated:
                raise
            return self._session(first, is_new=True)
        return session

    @staticmethod
    def _say(session: "Connection", words: str, unsent: Sequence[Row] = ()) -> list[Any]:
        """Send entries and statements in one message; return the first row that each gives, or None."""
        from psycopg import ClientCursor, Error
        from psycopg.rows import namedtuple_row
        from sqlalchemy.exc import OperationalError

        driver = session.connection.driver_connection
        assert driver is not None
        try:
            with ClientCursor(driver, row_factory=namedtuple_row) as cursor:
                cursor.execute("; ".join([*(cursor.mogrify(_WRITE, row) for row in unsent), words]))
                answers = [cursor.fetchone() if cursor.description else None]
                while cursor.nextset():
                    answers.append(cursor.fetchone() if cursor.description else None)
                return answers
        except Error as problem:
            if driver.closed:
                session.invalidate()
            raise OperationalError(words, None, problem, connection_invalidated=bool(driver.closed)) from None

    def _engine(self) -> "Engine":
        """Return an engine of this very process: forked processes share no session."""
        if self._kept is not None and self._kept[0] != os.getpid():
            self._kept[1].dispose(close=False)  # those sessions belong to the parent
            self._kept = None
        if self._kept is None:
            self._kept = os.getpid(), self._connected()
            weakref.finalize(self, _closed, *self._kept)
        return self._kept[1]

    def _connected(self) -> "Engine":
        """Return an engine that keeps sessions for later."""
        from sqlalchemy import create_engine

        try:
            import psycopg  # noqa: F401 - an extra
        except ImportError:
            raise LedgerError(
                "A ledger on a server needs the driver psycopg: pip install 'discreet[postgresql]'. Nothing was done."
            ) from None
        schema = (self.schema or "").replace("\\", "\\\\").replace(" ", "\\ ")
        options = {"options": f'-csearch_path="{schema}"'} if schema else {}
        return create_engine(
            self._url,
            isolation_level="AUTOCOMMIT",  # transactions are begun in words, see `_transaction`
            connect_args={"connect_timeout": 10, "application_name": "discreet", **options},
        )


def run_there(connection: "Connection", statement: str, values: Row | None) -> "CursorResult[Any]":
    """Run a statement on a server, behind all entries that were appended before."""
    for row in connection.info.pop(UNSENT, []):
        connection.exec_driver_sql(_WRITE, row)
    return connection.exec_driver_sql(re.sub(*_NAMED, statement) if values else statement, values)


def _put_in_place(connection: "Connection") -> None:
    """Put the rules in place; the one of order names its table, so that no other of that name is asked instead."""
    where = "SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = 'entries'::regclass"
    schema = str(run(connection, where).scalar())
    for statement in RULES:
        run(connection, statement.replace("{schema}", schema).replace("%", "%%"))


def _split(address: str) -> SplitResult:
    """Return the parts of a server's address; it is not repeated, because it may hold a password."""
    kind = ""
    with suppress(ValueError):
        parts = urlsplit(address)
        kind, _ = parts.scheme, parts.port  # which raises if it is no number
        if kind in ("postgresql", "postgres", "postgresql+psycopg"):
            return parts
    what = "this address cannot be read" if kind in ("", "postgresql", "postgres") else f"this is of the kind {kind!r}"
    raise DeclarationError(
        f"A ledger is a file or on a server, postgresql://USER@HOST:PORT/DATABASE?schema=NAME; {what}. Nothing was "
        "done."
    )


def _begin() -> str:
    """Return how a transaction begins that writes; it waits for a lock as long as any other, and for the disk."""
    wait = f"SET LOCAL lock_timeout = {chains.LONGEST_WAIT * 1000:.0f}"
    return f"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; {wait}; SET LOCAL synchronous_commit = on"


def _closed(process: int, engine: "Engine") -> None:
    """End the sessions of a chain that is no longer used, in the process that began them."""
    if process == os.getpid():
        engine.dispose()
