"""Sessions of browsers and tokens of programs: long random secrets of which the queue keeps hashes.

Every sign-in begins a new session, so that nobody can plant one (session fixation). A session ends when it has not been
used for a while, and after twelve hours at the latest. A token has some of its owner's rights, an expiry date, and can
be revoked.
"""

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, RowMapping, bindparam, delete, insert, select, update

from discreet._core.errors import DeclarationError
from discreet.server._audit import note
from discreet.server._people import Clock, hashed
from discreet.server._roles import RIGHTS, SCOPES, Person
from discreet.server._schema import Queue, accounts, sessions, tokens

IDLE, LONGEST = 30 * 60.0, 12 * 3600.0
MOST_DAYS = 366
_SEEN_EVERY = 60.0  # seconds between two updates of when a session was last used
_PREFIX = "discreet_"  # so that secret scanners find tokens that were left in code
_OF_TOKEN = (
    select(tokens, accounts.c.role, accounts.c.is_closed)
    .join(accounts, accounts.c.name == tokens.c.account)
    .where(tokens.c.hash == bindparam("hash"))
)
_OF_SESSION = (
    select(sessions, accounts.c.role, accounts.c.is_closed)
    .join(accounts, accounts.c.name == sessions.c.account)
    .where(sessions.c.hash == bindparam("hash"))
)
"""Built once, as every request asks one of them."""


@dataclass(frozen=True)
class Token:
    """A token as its owner sees it, without its secret."""

    id: str
    name: str
    scopes: tuple[str, ...]
    expires_at: float
    is_revoked: bool


class Keys:
    """All sessions and tokens of a queue."""

    def __init__(self, queue: Queue, clock: Clock = time.time) -> None:
        self.queue, self.clock = queue, clock

    def open_session(self, account: str, how: str) -> str:
        """Begin a session for somebody who has been identified; return its secret."""
        secret, now = secrets.token_urlsafe(32), self.clock()
        row = {"hash": hashed(secret), "account": account, "guard": secrets.token_urlsafe(32)}
        with self.queue.write_transaction() as connection:
            connection.execute(delete(sessions).where(sessions.c.made_at < now - LONGEST))
            connection.execute(insert(sessions).values(**row, made_at=now, seen_at=now))
            note(connection, now, account, "signed in", how)
        return secret

    def close_session(self, secret: str) -> None:
        """End a session."""
        with self.queue.write_transaction() as connection:
            row = _one(connection, secret)
            if row is not None:
                connection.execute(delete(sessions).where(sessions.c.hash == hashed(secret)))
                note(connection, self.clock(), row["account"], "signed out")

    def by_session(self, secret: str) -> Person | None:
        """Return whose session this is, or None if it has ended."""
        now = self.clock()
        with self.queue.read_transaction() as connection:
            row = _one(connection, secret)
        if row is None or row["is_closed"] or row["seen_at"] < now - IDLE or row["made_at"] < now - LONGEST:
            return None
        if row["seen_at"] < now - _SEEN_EVERY:
            with self.queue.write_transaction() as connection:
                connection.execute(update(sessions).where(sessions.c.hash == hashed(secret)).values(seen_at=now))
        return Person(row["account"], row["role"], RIGHTS[row["role"]], row["guard"])

    def named(self, account: str) -> bool:
        """Return whether there is an open account with this name."""
        with self.queue.read_transaction() as connection:
            row = connection.execute(select(accounts.c.is_closed).where(accounts.c.name == account)).one_or_none()
        return row is not None and not row.is_closed

    def make_token(self, person: Person, name: str, scopes: Sequence[str], days: int) -> tuple[str, str]:
        """Make a token with some of a person's rights; return its id and its secret, which is shown only once."""
        if not 1 <= len(name) <= 100 or not name.isprintable():
            raise DeclarationError("A token needs a name of 1 to 100 characters. No token was made.")
        allowed = [scope for scope in SCOPES if scope in RIGHTS[person.role]]
        if not scopes or not set(scopes) <= set(allowed):
            raise DeclarationError(f"The scopes of a token must be among {', '.join(allowed)}. No token was made.")
        if not 1 <= days <= MOST_DAYS:
            raise DeclarationError(f"A token is valid for 1 to {MOST_DAYS} days. No token was made.")
        made, secret, now = secrets.token_hex(8), _PREFIX + secrets.token_urlsafe(32), self.clock()
        row = {"id": made, "hash": hashed(secret), "account": person.name, "name": name}
        row["scopes"] = " ".join(sorted(set(scopes)))
        with self.queue.write_transaction() as connection:
            connection.execute(insert(tokens).values(**row, made_at=now, expires_at=now + days * 86_400.0))
            note(connection, now, person.name, "token made", f"{made}: {row['scopes']}, {days} days")
        return made, secret

    def by_token(self, secret: str) -> Person | None:
        """Return whose token this is, with the rights that it gives, or None if it is not valid."""
        with self.queue.read_transaction() as connection:
            row = connection.execute(_OF_TOKEN, {"hash": hashed(secret)}).mappings().one_or_none()
        if row is None or row["is_closed"] or row["revoked_at"] is not None or row["expires_at"] <= self.clock():
            return None
        return Person(row["account"], row["role"], RIGHTS[row["role"]] & frozenset(row["scopes"].split()))

    def tokens_of(self, account: str) -> list[Token]:
        """Return the tokens of an account, newest first."""
        wanted = select(tokens).where(tokens.c.account == account).order_by(tokens.c.made_at.desc())
        with self.queue.read_transaction() as connection:
            rows = connection.execute(wanted).mappings().all()
        return [
            Token(r["id"], r["name"], tuple(r["scopes"].split()), r["expires_at"], r["revoked_at"] is not None)
            for r in rows
        ]

    def revoke(self, account: str, token: str) -> None:
        """Revoke one's own token."""
        with self.queue.write_transaction() as connection:
            mine = update(tokens).where(
                tokens.c.id == token, tokens.c.account == account, tokens.c.revoked_at.is_(None)
            )
            if connection.execute(mine.values(revoked_at=self.clock())).rowcount != 1:
                raise DeclarationError("You have no such token to revoke. Nothing was changed.")
            note(connection, self.clock(), account, "token revoked", token)


def _one(connection: Connection, secret: str) -> RowMapping | None:
    return connection.execute(_OF_SESSION, {"hash": hashed(secret)}).mappings().one_or_none()
