"""Accounts: names, roles, passwords hashed by Argon2, one-time links, and locks after wrong passwords.

An attempt is counted as wrong before its password is checked, so that guesses sent all at once are counted too. They
are counted apart for each address from which an account was signed in before, and together for all other addresses: who
guesses from elsewhere locks out nobody at their usual place. Neither the words nor the time of a refusal reveal whether
an account exists: a password is always checked, if need be against the hash of a random one.
"""

import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import Connection, RowMapping, insert, select, update

from discreet._core.errors import DeclarationError
from discreet.server._audit import NOBODY, note
from discreet.server._roles import RIGHTS, STEWARD
from discreet.server._schema import Queue, accounts, attempts, links, sessions, tokens

Clock = Callable[[], float]

SHORTEST, LONGEST = 12, 200  # characters of a password
FREE_FAILURES, FIRST_LOCK, LONGEST_LOCK = 5, 60.0, 3600.0
LINK_LIVES = 24 * 3600.0
WRONG = "The name or the password is wrong, or the account is locked for a while. Nobody was signed in."
ELSEWHERE = "*"
"""Stands for all addresses from which an account was never signed in."""
MOST_ADDRESSES = 20  # of an account, that are remembered
FIRST = ""
"""The account of a link with which the first steward chooses a name."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")


class SignInError(DeclarationError):
    """A name, a password or a one-time link was refused."""


@dataclass(frozen=True)
class Account:
    """An account as stewards see it."""

    name: str
    role: str
    is_closed: bool
    is_waiting: bool

    def document(self) -> dict[str, object]:
        """Return its facts by name."""
        return {"name": self.name, "role": self.role, "closed": self.is_closed, "waiting_for_link": self.is_waiting}


def _require_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise DeclarationError(
            "An account's name must have 1 to 64 letters, digits, '.', '_', '@' or '-', and begin with a letter or "
            "a digit. No account was made."
        )


def hashed(secret: str) -> str:
    """Return the hash of a long random secret, which is all that is stored of it."""
    return sha256(secret.encode()).hexdigest()


class People:
    """All accounts of a queue."""

    def __init__(self, queue: Queue, clock: Clock = time.time, hasher: PasswordHasher | None = None) -> None:
        self.queue, self.clock = queue, clock
        self._hasher = PasswordHasher() if hasher is None else hasher
        self._nothing = self._hasher.hash(secrets.token_hex(16))

    def invite(self, name: str, role: str, by: str, again: bool = False) -> str:
        """Make an account, or with `again` take an existing one, and return the secret of a one-time link to it."""
        _require_name(name)
        if role not in RIGHTS:
            raise DeclarationError(f"The role must be one of {', '.join(RIGHTS)}. No account was made.")
        with self.queue.write_transaction() as connection:
            known = self._row(connection, name)
            if known is not None and (not again or known["role"] != role):
                raise DeclarationError(f"There is already an account {name!r}. Nothing was changed.")
            if known is None:
                connection.execute(insert(accounts).values(name=name, role=role, made_at=self.clock()))
            return self._link(connection, name, by, "account made" if known is None else "link renewed")

    def invite_first(self, by: str) -> str:
        """Return the secret of a one-time link for a first steward, who chooses a name with it."""
        with self.queue.write_transaction() as connection:
            return self._link(connection, FIRST, by, "link for a first steward")

    def renew(self, name: str, by: str) -> str:
        """Return the secret of a new one-time link; the old password stays valid until the link is used."""
        with self.queue.write_transaction() as connection:
            self._require(connection, name)
            return self._link(connection, name, by, "link renewed")

    def _link(self, connection: Connection, name: str, by: str, what: str) -> str:
        secret = secrets.token_urlsafe(32)
        values = {"hash": hashed(secret), "account": name, "expires_at": self.clock() + LINK_LIVES}
        connection.execute(insert(links).values(**values))
        note(connection, self.clock(), by, what, name)
        return secret

    def link_account(self, secret: str) -> str | None:
        """Return the account that a link opens, or None if it is used or expired."""
        with self.queue.read_transaction() as connection:
            return self._fresh(connection, secret)

    def _fresh(self, connection: Connection, secret: str) -> str | None:
        row = connection.execute(select(links).where(links.c.hash == hashed(secret))).mappings().one_or_none()
        is_fresh = row is not None and row["used_at"] is None and row["expires_at"] > self.clock()
        return str(row["account"]) if row is not None and is_fresh else None

    def use_link(self, secret: str, password: str, address: str = ELSEWHERE, chosen: str = "") -> str:
        """Set the password of the account that a link opens; its other links, sessions, tokens and locks end.

        The link of a first steward opens none: it makes the account of the name that they choose.
        """
        self.check_password(password)
        kept = self._hasher.hash(password)
        with self.queue.write_transaction() as connection:
            if (name := self._fresh(connection, secret)) is None:
                raise SignInError("This link was used before, has expired, or never existed. Nothing was changed.")
            connection.execute(update(links).where(links.c.account == name).values(used_at=self.clock()))
            if name == FIRST:
                name = self._first_steward(connection, chosen)
            self._keep(connection, name, kept)
            self._remember(connection, name, address)
            note(connection, self.clock(), name, "password set", "by a one-time link")
        return name

    def _first_steward(self, connection: Connection, name: str) -> str:
        _require_name(name)
        if self._row(connection, name) is not None:
            raise DeclarationError(f"There is already an account {name!r}. Nothing was changed.")
        connection.execute(insert(accounts).values(name=name, role=STEWARD, made_at=self.clock()))
        return name

    def change_password(
        self, name: str, old: str, new: str, address: str = ELSEWHERE, *, keeps_tokens: bool = False
    ) -> None:
        """Set a new password; all sessions of the account end, and its tokens unless they shall be kept."""
        self.check(name, old, address)
        self.check_password(new)
        kept = self._hasher.hash(new)
        with self.queue.write_transaction() as connection:
            self._keep(connection, name, kept, keeps_tokens)
            note(connection, self.clock(), name, "password changed", "tokens kept" if keeps_tokens else "tokens ended")

    @staticmethod
    def check_password(password: str) -> None:
        """Refuse a password that is too short or too long."""
        if not SHORTEST <= len(password) <= LONGEST:
            raise DeclarationError(f"A password must have {SHORTEST} to {LONGEST} characters. Nothing was changed.")

    def _keep(self, connection: Connection, name: str, kept: str, keeps_tokens: bool = False) -> None:
        connection.execute(update(accounts).where(accounts.c.name == name).values(password=kept))
        connection.execute(sessions.delete().where(sessions.c.account == name))
        connection.execute(attempts.delete().where(attempts.c.account == name))
        if not keeps_tokens:
            self._end_tokens(connection, name)

    def _end_tokens(self, connection: Connection, name: str) -> None:
        gone = update(tokens).where(tokens.c.account == name, tokens.c.revoked_at.is_(None))
        connection.execute(gone.values(revoked_at=self.clock()))

    def check(self, name: str, password: str, address: str = ELSEWHERE) -> None:
        """Refuse a wrong password, in the same words and time whether or not the account exists."""
        kept = self._counted(name, address)
        try:
            is_right = self._hasher.verify(kept or self._nothing, password[:LONGEST]) and kept is not None
        except (VerificationError, InvalidHashError):
            is_right = False
        with self.queue.write_transaction() as connection:
            if is_right:
                self._remember(connection, name, address)
            else:
                known = self._row(connection, name) is not None
                note(
                    connection, self.clock(), NOBODY, "sign-in refused", name if known else "a name without an account"
                )
        if not is_right:
            raise SignInError(WRONG)

    def _counted(self, name: str, address: str) -> str | None:
        """Count an attempt before it is checked; return the hash to check it against, or None if it must fail.

        Locks are for all fronts and outlive them, so they go by the time of day; one that would last longer than any
        lock does was made before the clock was set back, and is over.
        """
        with self.queue.write_transaction() as connection:
            row, now = self._row(connection, name), self.clock()
            known = self._attempts(connection, name, address)
            if row is None or row["is_closed"] or (known and 0 < known["locked_until"] - now <= LONGEST_LOCK):
                self._as_if_counted(connection)
                return None
            place = address if known and known["address"] == address else ELSEWHERE
            failures = (known["failures"] if known else 0) + 1
            beyond = failures - FREE_FAILURES
            until = now + min(LONGEST_LOCK, FIRST_LOCK * 2.0 ** min(beyond, 20)) if beyond >= 0 else 0.0
            self._write_attempts(connection, name, place, failures, until)
            return None if row["password"] is None else str(row["password"])

    def _attempts(self, connection: Connection, name: str, address: str) -> RowMapping | None:
        """Return what is counted for an address: by itself if that signed in before, else with others."""
        wanted = select(attempts).where(attempts.c.account == name, attempts.c.address.in_((address, ELSEWHERE)))
        rows = {row["address"]: row for row in connection.execute(wanted).mappings()}
        return rows.get(address) or rows.get(ELSEWHERE)

    def _write_attempts(self, connection: Connection, name: str, place: str, failures: int, until: float) -> None:
        mine = attempts.delete().where(attempts.c.account == name, attempts.c.address == place)
        connection.execute(mine)
        values = {"account": name, "address": place, "failures": failures, "locked_until": until, "at": self.clock()}
        connection.execute(insert(attempts).values(**values))

    def _remember(self, connection: Connection, name: str, address: str) -> None:
        """Write down that an account was signed in from an address: what is wrong there is counted by itself now."""
        self._write_attempts(connection, name, ELSEWHERE, 0, 0.0)
        if address == ELSEWHERE:
            return
        self._write_attempts(connection, name, address[:100], 0, 0.0)
        newest = select(attempts.c.address).where(attempts.c.account == name, attempts.c.address != ELSEWHERE)
        kept = connection.execute(newest.order_by(attempts.c.at.desc()).limit(MOST_ADDRESSES)).scalars().all()
        others = attempts.c.address.not_in([*kept, ELSEWHERE])
        connection.execute(attempts.delete().where(attempts.c.account == name, others))

    def _as_if_counted(self, connection: Connection) -> None:
        """Write something and delete it again, so that a missing write does not show in the time of a refusal."""
        mark = secrets.token_hex(32)
        connection.execute(insert(sessions).values(hash=mark, account="", guard="", made_at=0.0, seen_at=0.0))
        connection.execute(sessions.delete().where(sessions.c.hash == mark))

    def close(self, name: str, by: str) -> None:
        """Close an account: its sessions and tokens end at once."""
        with self.queue.write_transaction() as connection:
            row = self._require(connection, name)
            if name == by:
                raise DeclarationError("You cannot close your own account: ask another steward. Nothing was changed.")
            connection.execute(update(accounts).where(accounts.c.name == name).values(is_closed=1, password=None))
            connection.execute(sessions.delete().where(sessions.c.account == name))
            connection.execute(update(links).where(links.c.account == name).values(used_at=self.clock()))
            connection.execute(attempts.delete().where(attempts.c.account == name))
            self._end_tokens(connection, name)
            note(connection, self.clock(), by, "account closed", f"{name} ({row['role']})")

    def all(self) -> list[Account]:
        """Return all accounts, in the order of their names."""
        with self.queue.read_transaction() as connection:
            rows = connection.execute(select(accounts).order_by(accounts.c.name)).mappings().all()
        return [Account(r["name"], r["role"], bool(r["is_closed"]), r["password"] is None) for r in rows]

    def _row(self, connection: Connection, name: str) -> RowMapping | None:
        return connection.execute(select(accounts).where(accounts.c.name == name)).mappings().one_or_none()

    def _require(self, connection: Connection, name: str) -> RowMapping:
        row = self._row(connection, name)
        if row is None or row["is_closed"]:
            raise DeclarationError("There is no open account with that name. Nothing was changed.")
        return row
