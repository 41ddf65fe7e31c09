"""What every engine is: it says what it cannot read, how much work a reading is, and it reads.

Whether a question may be charged depends on the count of its work, so it must come out alike on every machine: it is
made of public facts (sizes, levels, rates of noise) and never of seconds. One operation is about what adding a product
to an array costs, some nanoseconds; work that numpy cannot do in long arrays counts more.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, Protocol

from discreet.models.model import Model
from discreet.reading.case import Case

MOST_OPERATIONS = 2e11
"""A reading of more operations is refused, or left to the next engine; docs/reading-a-release.md states this number."""


MOST_NUMBERS = 2e8
"""A reading that holds more numbers at a time (1.6 GB) is refused; docs/reading-a-release.md states it too."""


@dataclass(frozen=True)
class Work:
    """What a reading costs: operations, and numbers held at a time. `of` says what they are spent on, for refusals.

    >>> Work("summing 3 tables", operations=1e6, numbers=1e3).refusal
    >>> Work("summing 3 tables", operations=4e11, numbers=1e3).refusal
    'summing 3 tables takes about 4e+11 operations, and at most 2e+11 are allowed'
    """

    of: str
    operations: float
    numbers: float = 0.0

    @property
    def refusal(self) -> str | None:
        """Tell why this is too much, or nothing if it is not."""
        if self.operations > MOST_OPERATIONS:
            return (
                f"{self.of} takes about {self.operations:.0e} operations, and at most {MOST_OPERATIONS:.0e} are allowed"
            )
        if self.numbers > MOST_NUMBERS:
            return f"{self.of} holds about {self.numbers:.0e} numbers, and at most {MOST_NUMBERS:.0e} are allowed"
        return None


class Exactness(Enum):
    """How well a case is read, the best way first."""

    EXACT = "exact"
    SAMPLED = "sampled"
    APPROXIMATE = "approximate"


class Reading(Protocol):
    """What an engine gives; posteriors know the rest."""

    @property
    def model(self) -> Model:
        """Return the model with the reader's prior."""

    @property
    def method(self) -> str:
        """Say in words how it was read."""

    @property
    def log_evidence(self) -> float:
        """Return log P(releases | prior), not a number where it is not known."""


class Engine(ABC):
    """Reads cases of some models: `refusal` asks public facts alone, `read` gives the counts behind the outputs.

    An engine registers by stating its place among those of its models, `class NewEngine(Engine, place=10)`: those with
    a lower place are asked first.
    """

    registered: ClassVar[dict[type["Engine"], int]] = {}
    """Every engine with its place."""

    models: ClassVar[tuple[type, ...]]
    """The models whose cases it reads."""

    exactness: ClassVar[Exactness] = Exactness.EXACT

    def __init_subclass__(cls, place: int | None = None) -> None:
        super().__init_subclass__()
        if place is not None:
            Engine.registered[cls] = place

    @abstractmethod
    def misfit(self, case: Case) -> str | None:
        """Tell why this engine is not made for a case, whatever its size; nothing if it is."""

    @abstractmethod
    def work(self, case: Case) -> Work:
        """Return how much work reading a case is that fits."""

    @abstractmethod
    def read(self, case: Case) -> Reading:
        """Return what a case that is not refused tells about the true counts, moments or parameters."""

    def unsuited(self, case: Case) -> str | None:
        """Tell why this engine is not made for a case: for its model, or for its evidence; nothing if it is."""
        if not isinstance(case.model, self.models):
            return f"it is about a {type(case.model).__name__}"
        return self.misfit(case)

    def refusal(self, case: Case) -> str | None:
        """Tell why this engine does not read a case, or nothing if it does. No output is looked at."""
        return self.misfit(case) or self.work(case).refusal
