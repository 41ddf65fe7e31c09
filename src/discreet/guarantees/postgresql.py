"""A ledger on a PostgreSQL server: the same chain and the same statements, for many machines.

Charges are serialised by an advisory lock that a transaction takes first and holds to its end, under READ COMMITTED, so
that each statement sees all that was committed before the lock was given. Why not SERIALIZABLE with retries: a lock
makes writers wait in line, once; retries make each of n writers fail up to n times under load, and a bounded number
of them would refuse charges for which there is room. Why not LOCK TABLE: it needs the right to change rows, which the
publishing role must not have. The lock is for order alone. A program that ignores it cannot overspend either: every
entry names the one before it, and the database refuses a second entry with the same number or the same predecessor.

Roles: whoever creates a ledger owns it. Others may be allowed to append and read (`grant`), never to change or delete,
which triggers forbid to the owner too; only the owner may change the limit.
"""

import os
import time
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from discreet.errors import DeclarationError, LedgerError, PublishError
from discreet.guarantees import chain as chains
from discreet.guarantees.chain import Chain, Entry, append, digest_of, run
from discreet.guarantees.entries import Body
from discreet.guarantees.requests import waited_too_long
from discreet.guarantees.schema import INDEXES, TABLE
from discreet.records.columns import is_text

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

_LEDGERS, _REQUESTS = 1_147_757, 1_147_758  # the two families of advisory locks, of ledgers and of requests

_APPENDED = """CREATE FUNCTION entries_are_appended() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE last record;
BEGIN
    EXECUTE format('SELECT sequence, digest FROM %s ORDER BY sequence DESC LIMIT 1', TG_RELID::regclass) INTO last;
    IF NEW.sequence <> coalesce(last.sequence, 0) + 1 OR NEW.previous <> coalesce(last.digest, repeat('0', 64)) THEN
        RAISE EXCEPTION 'an entry of a ledger stands behind the newest one';
    END IF;
    IF NEW.body::json ->> 'kind' IN ('created', 'upgraded', 'limit') AND NOT pg_has_role(
            (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
        RAISE EXCEPTION 'only the owner of a ledger may change its limit';
    END IF;
    RETURN NEW;
END $$"""
_KEPT = """CREATE FUNCTION entries_are_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'entries of a ledger are never changed or deleted'; END $$"""

ON_A_SERVER = (
    TABLE.format(number="BIGINT"),
    *INDEXES,
    _APPENDED,
    _KEPT,
    "CREATE TRIGGER entries_are_appended BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION entries_are_appended()",
    "CREATE TRIGGER entries_are_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON entries "
    "EXECUTE FUNCTION entries_are_kept()",
    "REVOKE ALL ON entries FROM PUBLIC",
)
"""How PostgreSQL makes the table."""


class ServerChain(Chain):
    """The entries of one ledger on a server: `postgresql://user@host/database`, one for each schema.

    `?schema=NAME` names the schema, which must be there; without it, it is the first one of the search path. A password
    belongs into a password file (PGPASSFILE) and not into an address; it is never shown.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        parts = urlsplit(address)
        asked = dict(parse_qsl(parts.query))
        self.schema = asked.pop("schema", None)
        if self.schema is not None and not (is_text(self.schema) and '"' not in self.schema):
            raise DeclarationError("The schema of a ledger is a plain name.")
        scheme = "postgresql+psycopg"
        self._url = urlunsplit((scheme, parts.netloc, parts.path, urlencode(asked), ""))
        where = parts.netloc.rpartition("@")
        user = where[0].split(":")[0] + where[1]
        shown = f"?schema={self.schema}" if self.schema else ""
        self.place = f"postgresql://{user}{where[2]}{parts.path}{shown}"
        self.seen = None
        self._kept: tuple[int, Engine] | None = None

    @property
    def address(self) -> str:
        """Return where it can be opened again."""
        return self._address

    def exists(self) -> bool:
        """Tell whether a ledger is there."""
        with self.reading() as connection:
            return run(connection, "SELECT to_regclass('entries')").scalar() is not None

    def make(self) -> None:
        """Refuse a place where a ledger is already."""
        if self.exists():
            raise LedgerError(
                f"There is a ledger at {self.place!r} already. Nothing was changed. Open it with Ledger.open, or name "
                "another schema; mind that a new ledger is a new budget."
            )

    def begin(self, body: Body) -> Entry:
        """Make the table and write the first entry, both or none."""
        with self._transaction("READ WRITE") as connection:
            for statement in ON_A_SERVER:
                connection.exec_driver_sql(statement.replace("%", "%%"))
            return append(connection, None, body)

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
        """Hold a request's name: a lock of a session of its own, which the server ends with the session."""
        number = int(digest_of(request)[:7], 16)
        lock = {"family": _REQUESTS, "number": number}
        started, held = time.monotonic(), False
        with self._in_words():
            session = self._engine().connect()
        try:
            while not held:
                with self._in_words():
                    held = bool(run(session, "SELECT pg_try_advisory_lock(:family, :number)", lock).scalar())
                    session.commit()
                if not held and time.monotonic() - started > chains.LONGEST_WAIT:
                    raise PublishError(waited_too_long(request, chains.LONGEST_WAIT))
                time.sleep(0 if held else 0.005)
            yield
        finally:
            session.invalidate()  # the session ends, and the lock with it
            session.close()

    def _start(self, connection: "Connection", begin: str) -> None:
        """Begin a transaction: to read, of one snapshot; to write, behind all others who write."""
        if begin == "READ ONLY":
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            return
        lock = f"SELECT pg_advisory_xact_lock({_LEDGERS}, 'entries'::regclass::oid::int4)"
        wait = f"SET LOCAL lock_timeout = {chains.LONGEST_WAIT * 1000:.0f}; SET LOCAL synchronous_commit = on"
        connection.exec_driver_sql(f"{wait}; {lock}" if begin == "BEGIN IMMEDIATE" else wait)

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
        """Return an engine that keeps sessions for later and asks whether they still live."""
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
            pool_pre_ping=True,
            isolation_level="READ COMMITTED",
            connect_args={"connect_timeout": 10, "application_name": "discreet", **options},
        )


def _closed(process: int, engine: "Engine") -> None:
    """End the sessions of a chain that is no longer used, in the process that began them."""
    if process == os.getpid():
        engine.dispose()
