"""What a reader has of a release: how it was made, what was drawn, and under which name."""

from typing import Protocol

from discreet.mechanisms import Mechanism
from discreet.models.model import Model


class Published(Protocol):
    """What a case needs to know of a release."""

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
        """Tell whether it is a simulation."""
