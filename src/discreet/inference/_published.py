"""What a reader has of a release (how it was made, what was drawn, under which name), and what a solver gives."""

from enum import Enum
from typing import Protocol

from discreet.mechanism import Mechanism, Model


class Exactness(Enum):
    """How well a problem is read, the best way first."""

    EXACT = "exact"
    SAMPLED = "sampled"
    APPROXIMATE = "approximate"


class Published(Protocol):
    """What a problem needs to know of a release."""

    @property
    def mechanism(self) -> Mechanism:
        """Return the mechanism that drew it."""

    @property
    def model(self) -> Model:
        """Return the model under which it is read."""

    @property
    def output(self) -> tuple[int, ...]:
        """Return what was drawn."""

    @property
    def label(self) -> str:
        """Return its name."""

    @property
    def receipt(self) -> object:
        """Return the receipt of its charge, None for a simulation."""

    @property
    def simulated(self) -> bool:
        """Return whether it is a simulation."""


class Solution(Protocol):
    """The result of a solver, from which a posterior is made."""

    @property
    def model(self) -> Model:
        """Return the model with the reader's prior."""

    @property
    def method(self) -> str:
        """Say in words how it was read."""

    @property
    def log_evidence(self) -> float:
        """Return log P(releases | prior), NaN where it is not known."""
