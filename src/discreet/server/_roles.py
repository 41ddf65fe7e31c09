"""Who may do what: three roles, and the rights of each. A route names the right that it needs."""

from dataclasses import dataclass

STEWARD, ANALYST, AUDITOR = "steward", "analyst", "auditor"

READ, ASK, DECIDE, AUDIT, PEOPLE, OWN = "read", "ask", "decide", "audit", "people", "own"
"""See the catalogue, plans, the budget and releases; ask; decide about questions; see the audit log; invite and close
accounts; manage your own session, password and tokens."""

RIGHTS: dict[str, frozenset[str]] = {
    STEWARD: frozenset({READ, DECIDE, AUDIT, PEOPLE, OWN}),
    ANALYST: frozenset({READ, ASK, OWN}),
    AUDITOR: frozenset({READ, AUDIT, OWN}),
}
"""Whoever decides cannot ask, and auditors do neither (separation of duties)."""

SCOPES = (READ, ASK, DECIDE, AUDIT)
"""The rights that a token can have: never those over accounts, passwords or other tokens."""


@dataclass(frozen=True)
class Person:
    """Somebody who is signed in: by a session, whose `guard` every form must repeat, or by a token."""

    name: str
    role: str
    rights: frozenset[str]
    guard: str | None = None

    def may(self, right: str) -> bool:
        """Return whether this person has a right."""
        return right in self.rights
