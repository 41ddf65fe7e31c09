"""What a proof asks of every single record, so that `verify` can check it exactly, and what it asks of draws."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, runtime_checkable

from discreet._core.arrays import Counts
from discreet.mechanism._mechanism import Mechanism
from discreet.noise import Noise


@dataclass(frozen=True, eq=False)
class TrialPart:
    """Numbers of an output that have noise of their own: which, its distribution, and the epsilon or rho of it."""

    numbers: slice
    noise: Noise
    epsilon: Fraction | None = None
    rho: Fraction | None = None


@dataclass(frozen=True, eq=False)
class Trial:
    """Public statistics from which a mechanism draws, and the noise of every part of what comes out.

    Where what is measured depends on earlier draws, they are statistics of which all that is measured is 0.
    """

    mechanism: Mechanism
    statistics: Counts
    parts: tuple[TrialPart, ...]


@dataclass(frozen=True, eq=False)
class ProofAssumption:
    """A condition on what one record contributes: in words, on which contributions to check it, and whether one holds.

    `probes` are contributions of single records, in rows; `holds` decides exactly whether one of them meets it. Draws
    of the `trial` must follow the noise of its parts, and what these cost must add up to no more than what is promised.
    """

    text: str
    probes: Counts
    holds: Callable[[Counts], bool]
    trial: Trial


@runtime_checkable
class HasProofAssumption(Protocol):
    """A mechanism whose proof asks something of every single record."""

    def proof_assumption(self) -> ProofAssumption:
        """Return what the proof asks."""
