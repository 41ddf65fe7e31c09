"""A ledger on a PostgreSQL server: the same chain and the same statements, for many machines.

Charges are serialised by an advisory lock that a transaction takes first and holds to its end, under READ COMMITTED, so
that each statement sees all that was committed before the lock was given. Why not SERIALIZABLE with retries: a lock
makes writers wait, once; retries make each of n writers fail up to n times under load, and a bounded number
of them would refuse charges for which there is room. Why not LOCK TABLE: it needs the right to change rows, which the
publishing role must not have. The lock is for order alone. A program that ignores it cannot overspend either: every
entry names the one before it, and the database refuses a second entry with the same number or the same predecessor.

Roles: whoever creates a ledger owns it. Others may be allowed to append and read (`grant`), never to change or delete,
which triggers forbid to the owner too; only the owner may change the limit.
"""

import os
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from discreet.errors import DeclarationError, LedgerError, PublishError
from discreet.guarantees import chain as chains
from discreet.guarantees.chain import NEWEST, Chain, Entry, digest_of, read_newest, run
from discreet.guarantees.requests import waited_too_long
from discreet.guarantees.schema import INDEXES, TABLE
from discreet.records.columns import is_text

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

_LEDGERS = 1_147_757  # the family of advisory locks of ledgers; those of requests have one number, not two
_TOLD = "the newest entry of a ledger"  # that came with the lock
_LOCKED = "55P03"  # PostgreSQL's code for a lock that was waited for too long
_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

_LEDGER = f"{_LEDGERS}, 'entries'::regclass::oid::int4"
_TRY = f"pg_try_advisory_xact_lock({_LEDGER})"
_LOCK = f"""WITH RECURSIVE turn(number, ours) AS (SELECT 0, {_TRY} UNION ALL
SELECT number + 1, CASE WHEN pg_sleep(least(0.001 * 2 ^ number, 0.05)) IS NOT NULL THEN {_TRY} END
FROM turn WHERE NOT ours AND number < 20) SELECT count(*) FROM turn; SELECT pg_advisory_xact_lock({_LEDGER})"""
"""How a writer takes the lock: in growing steps, so that whoever is at work stays at work, and from .8 s on in line."""

_APPENDED = """CREATE OR REPLACE FUNCTION entries_are_appended() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE last record;
BEGIN
    EXECUTE format('SELECT sequence, digest FROM %s ORDER BY sequence DESC LIMIT 1', TG_RELID::regclass) INTO last;
    IF NEW.sequence <> coalesce(last.sequence, 0) + 1 OR NEW.previous <> coalesce(last.digest, repeat('0', 64)) THEN
        RAISE EXCEPTION 'an entry of a ledger stands behind the newest one';
    END IF;
    IF NEW.body::json ->> 'kind' IN ('created', 'upgraded', 'limit', 'moved', 'arrived') AND NOT pg_has_role(
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
"""What the database itself refuses; they can be put in place anew."""

ON_A_SERVER = (TABLE.format(number="BIGINT"), *INDEXES, *RULES)
"""How PostgreSQL makes the table."""


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
            raise DeclarationError("The schema of a ledger is a plain name.")
        self._url = f"postgresql+psycopg://{parts.netloc}{parts.path}?{urlencode(asked)}"
        where = parts.netloc.rpartition("@")
        user = where[0].split(":")[0] + where[1]
        shown = f"?schema={self.schema}" if self.schema else ""
        self.place = f"postgresql://{user}{where[2]}{parts.path}{shown}"
        self.seen, self.created = None, {}
        self._kept: tuple[int, Engine] | None = None

    @property
    def address(self) -> str:
        """Return where it can be opened again."""
        return self._address

    def exists(self) -> bool:
        """Tell whether a ledger is there."""
        with self.reading() as connection:
            return run(connection, "SELECT to_regclass('entries')").scalar() is not None

    @contextmanager
    def making(self) -> Iterator["Connection"]:
        """Make the table where none is yet, for entries to be written in one transaction: both or none."""
        if self.exists():
            raise LedgerError(
                f"There is a ledger at {self.place!r} already. Nothing was changed. Open it with Ledger.open, or name "
                "another schema; mind that a new ledger is a new budget."
            )
        with self._transaction("READ WRITE") as connection:
            for statement in ON_A_SERVER:
                connection.exec_driver_sql(statement.replace("%", "%%"))
            yield connection

    def upgrade(self) -> Chain:
        """Put today's rules in place, whichever version made the table; only its owner may."""
        with self.writing() as connection:
            for statement in RULES:
                connection.exec_driver_sql(statement.replace("%", "%%"))
        return self

    def grant(self, role: str) -> None:
        """Allow a role to append and to read, and nothing else."""
        if not isinstance(role, str) or not role or '"' in role or not is_text(role):
            raise DeclarationError("A role is named by a plain text.")
        with self._transaction("READ WRITE") as connection:
            connection.exec_driver_sql(f'REVOKE ALL ON entries FROM "{role}"')
            connection.exec_driver_sql(f'GRANT SELECT, INSERT ON entries TO "{role}"')
            if self.schema is not None:
                connection.exec_driver_sql(f'GRANT USAGE ON SCHEMA "{self.schema}" TO "{role}"')

    def reading(self) -> AbstractContextManager["Connection"]:
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
        """Begin a transaction in one message: to read, of one snapshot; to write, behind all others who write."""
        words = {"READ ONLY": _SNAPSHOT, "BEGIN IMMEDIATE": f"{_begin()}; SELECT {_TRY}; {NEWEST}"}.get(begin, _begin())
        with self.in_words(), self._session(words) as connection:
            if connection.info.pop(_TRY, True) is False:
                self._say(connection, f"{_LOCK}; {NEWEST}")
            yield connection
            connection.commit()

    def _newest(self, connection: "Connection") -> Entry:
        """Return the newest entry: the one that came with the lock, once."""
        told = connection.info.pop(_TOLD, None)
        return super()._newest(connection) if told is None else read_newest(told)

    def _session(self, first: str, is_new: bool = False) -> "Connection":
        """Return a session that has said its first words; one that ended while it was kept is replaced, once."""
        from sqlalchemy.exc import OperationalError

        session = self._engine().connect()
        try:
            self._say(session, first)
        except OperationalError as problem:
            session.close()
            if is_new or not problem.connection_invalidated:
                raise
            return self._session(first, is_new=True)
        return session

    @staticmethod
    def _say(session: "Connection", words: str) -> None:
        """Send statements in one message; keep what the last two say: whether the lock is ours, the newest entry."""
        from psycopg import Error, rows
        from sqlalchemy.exc import OperationalError

        driver = session.connection.driver_connection
        assert driver is not None
        try:
            with driver.cursor(row_factory=rows.namedtuple_row) as cursor:
                cursor.execute(words)
                told = [each.fetchone() if each.description else None for each in cursor.results()]
        except Error as problem:
            if driver.closed:
                session.invalidate()
            raise OperationalError(words, None, problem, connection_invalidated=bool(driver.closed)) from None
        is_ours, entry = told[-2:] if words.endswith(NEWEST) else (None, None)
        session.info[_TOLD], session.info[_TRY] = entry, is_ours and is_ours[0]

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
        f"A ledger lies in a file or on a server, postgresql://USER@HOST:PORT/DATABASE?schema=NAME; {what}. Nothing "
        "was done."
    )


def _begin() -> str:
    """Return how a transaction begins that writes; it waits for a lock as long as any other, and for the disk."""
    wait = f"SET LOCAL lock_timeout = {chains.LONGEST_WAIT * 1000:.0f}"
    return f"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; {wait}; SET LOCAL synchronous_commit = on"


def _closed(process: int, engine: "Engine") -> None:
    """End the sessions of a chain that is no longer used, in the process that began them."""
    if process == os.getpid():
        engine.dispose()
