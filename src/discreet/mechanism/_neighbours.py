"""Two promises of one noise: whether you are in the data, and what your record says.

Where a record may be added or removed, epsilon covers whether it is there at all. Replacing a record is removing one
and adding another, so it costs at most 2 epsilon; where noise is added to sums it is computed from the same noise, as
the largest loss over all pairs of records. The other way nothing follows: a number of records that is published exactly
hides no record's presence.
"""

from fractions import Fraction
from math import inf
from typing import Protocol, runtime_checkable

from discreet._core.errors import DeclarationError
from discreet.mechanism._mechanism import Mechanism
from discreet.privacy import Adjacency, spent_text


@runtime_checkable
class KnowsReplacement(Protocol):
    """A mechanism that computes its epsilon for several kinds of neighbours."""

    def epsilon_for(self, neighbours: Adjacency, /) -> Fraction | float:
        """Return the largest privacy loss over these neighbours; infinite if it is unbounded."""


def replacement_epsilon(mechanism: Mechanism, rows: int = 1) -> Fraction | None:
    """Return the pure epsilon that covers what a person's record says, for up to `rows` records; None without one."""
    if mechanism.pure_epsilon == inf:
        return None
    most = 2 * Fraction(mechanism.pure_epsilon)
    if isinstance(mechanism, KnowsReplacement):
        most = min(most, Fraction(mechanism.epsilon_for(Adjacency.REPLACE_ONE)))
    return rows * most


def both_promises(mechanism: Mechanism, rows: int = 1) -> str | None:
    """Say what is promised about being in the data, and about what a record says; None if the former is public."""
    guarantee = mechanism.guarantee.for_rows(rows)
    if guarantee.adjacency is not Adjacency.ADD_OR_REMOVE:
        return None
    delta = f", delta {spent_text(guarantee.delta)}" if guarantee.delta else ""
    there = f"whether you are in the data: epsilon {spent_text(guarantee.epsilon)}{delta}"
    if (replaced := replacement_epsilon(mechanism, rows)) is not None:
        return f"{there}; what your record says: epsilon {spent_text(replaced)} (computed)"
    try:
        twice = mechanism.guarantee.for_rows(2 * rows)
    except DeclarationError:  # delta would reach 1
        return f"{there}; what your record says: nothing is promised at this delta"
    return (
        f"{there}; what your record says: epsilon {spent_text(twice.epsilon)}, delta {spent_text(twice.delta)} "
        "(at most: one record removed, another added)"
    )
