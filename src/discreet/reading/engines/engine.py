"""What every engine is: it says what it cannot read, how much work a reading is, and it reads."""

from abc import ABC, abstractmethod
from enum import Enum
from typing import Any, ClassVar

from discreet.reading.case import Case
from discreet.reading.work import Work


class Exactness(Enum):
    """How well a case is read, the best way first."""

    EXACT = "exact"
    SAMPLED = "sampled"
    APPROXIMATE = "approximate"


class Engine(ABC):
    """Reads cases of some models: `refusal` asks public facts alone, `read` gives the counts behind the outputs."""

    models: ClassVar[tuple[type[Any], ...]]
    """The models whose cases it reads."""

    exactness: ClassVar[Exactness] = Exactness.EXACT

    @abstractmethod
    def misfit(self, case: Case) -> str | None:
        """Tell why this engine is not made for a case, whatever its size; nothing if it is."""

    @abstractmethod
    def work(self, case: Case) -> Work:
        """Return how much work reading a case is that fits."""

    @abstractmethod
    def read(self, case: Case) -> Any:
        """Return what a case that is not refused tells about the true counts, moments or parameters."""

    def unsuited(self, case: Case) -> str | None:
        """Tell why this engine is not made for a case: for its model, or for its evidence; nothing if it is."""
        if not isinstance(case.model, self.models):
            return f"it is about a {type(case.model).__name__}"
        return self.misfit(case)

    def refusal(self, case: Case) -> str | None:
        """Tell why this engine does not read a case, or nothing if it does. No output is looked at."""
        return self.misfit(case) or self.work(case).refusal
