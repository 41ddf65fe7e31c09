"""Quantities that are asked for by name, each with a law: coefficients of a regression, parameters of a program."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Generic, Protocol, TypeVar

from discreet.errors import DeclarationError
from discreet.inference.posteriors.row import SHOWN_LEVEL
from discreet.mathematics.distributions import Interval


class OfOneNumber(Protocol):
    """The law of one number."""

    @property
    def mean(self) -> float:
        """Return the mean."""

    @property
    def sd(self) -> float:
        """Return the standard deviation."""

    def interval(self, level: float) -> Interval:
        """Return the equal-tailed interval."""


LawT = TypeVar("LawT", bound=OfOneNumber)


class NamedLaws(ABC, Generic[LawT]):
    """The part of a posterior that tells the mean, the standard deviation and the interval of quantities by name."""

    called: ClassVar[tuple[str, str]] = "quantity", "quantities"
    """What one of them is called, and several."""

    @property
    @abstractmethod
    def laws(self) -> Mapping[str, LawT]:
        """Return the law of every quantity."""

    @property
    def mean(self) -> dict[str, float]:
        """Return the mean of every quantity."""
        return {name: law.mean for name, law in self.laws.items()}

    @property
    def sd(self) -> dict[str, float]:
        """Return the standard deviation of every quantity."""
        return {name: law.sd for name, law in self.laws.items()}

    def interval(self, level: float = SHOWN_LEVEL) -> dict[str, Interval]:
        """Return the equal-tailed interval of every quantity: sampling and privacy together."""
        if level not in self._intervals:
            self._intervals[level] = {name: law.interval(level) for name, law in self.laws.items()}
        return self._intervals[level]

    @cached_property
    def _intervals(self) -> dict[float, dict[str, Interval]]:
        return {}

    def _law(self, name: str) -> LawT:
        """Return the law of one quantity; refuse a name that is none."""
        if name not in self.laws:
            one, several = self.called
            raise DeclarationError(f"There is no {one} {name!r}. The {several} are {', '.join(self.laws)}.")
        return self.laws[name]
