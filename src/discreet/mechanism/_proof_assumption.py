"""What a proof asks of every single record, so that `verify` can check it exactly."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from discreet._core.arrays import Counts


@dataclass(frozen=True, eq=False)
class ProofAssumption:
    """A condition on what one record contributes: in words, on which contributions to check it, and whether one holds.

    `probes` are contributions of single records, in rows; `holds` decides exactly whether one of them meets it.
    """

    text: str
    probes: Counts
    holds: Callable[[Counts], bool]


@runtime_checkable
class HasProofAssumption(Protocol):
    """A mechanism whose proof asks something of every single record."""

    def proof_assumption(self) -> ProofAssumption:
        """Return what the proof asks."""
