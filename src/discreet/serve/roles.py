"""Who may do what: three roles, and the rights of each. A route names one right; what is not named is refused."""

from dataclasses import dataclass

STEWARD, ANALYST, AUDITOR = "steward", "analyst", "auditor"

READ, ASK, DECIDE, AUDIT, PEOPLE, OWN = "read", "ask", "decide", "audit", "people", "own"
"""See the catalogue, plans, the budget and releases; ask; decide about questions; see the audit log; invite and close
accounts; one's own session, password and tokens."""

RIGHTS: dict[str, frozenset[str]] = {
    STEWARD: frozenset({READ, DECIDE, AUDIT, PEOPLE, OWN}),
    ANALYST: frozenset({READ, ASK, OWN}),
    AUDITOR: frozenset({READ, AUDIT, OWN}),
}
"""Whoever decides does not ask, and whoever looks at the log does neither."""

SCOPES = (READ, ASK, DECIDE, AUDIT)
"""What a token may be given of its owner's rights: never people, nor tokens and passwords."""


@dataclass(frozen=True)
class Person:
    """Somebody who is signed in: by a session, whose `guard` its forms must repeat, or by a token."""

    name: str
    role: str
    rights: frozenset[str]
    guard: str | None = None

    def may(self, right: str) -> bool:
        """Tell whether this person has a right."""
        return right in self.rights
