"""An amount of privacy under a metric: epsilon for each of its units."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from discreet._core.errors import LedgerError
from discreet._core.exact import exact_text
from discreet.privacy._guarantee import Amount
from discreet.privacy._metric import Metric

DIGEST_DIGITS = 16
"""How much of a metric's digest is shown."""

_NAMED = "epsilon per "


@dataclass(frozen=True, repr=False)
class PerUnit(Amount):
    """An amount of privacy as epsilon for each unit of a metric; its name says which unit, wherever it is shown."""

    number: Fraction
    name: str

    @classmethod
    def under(cls, metric: Metric, number: Fraction) -> "PerUnit":
        """Return so much epsilon for each unit of a metric; the name holds the beginning of its digest."""
        return cls(number, f"{_NAMED}{metric.unit} (metric {metric.digest[:DIGEST_DIGITS]})")

    def __getattr__(self, name: str) -> Fraction:
        if name == self.__dict__.get("name"):
            return self.number
        raise AttributeError(f"This amount is {self.__dict__.get('name')}, no {name}.")

    @property
    def delta(self) -> Fraction:
        """Return 0: under a metric guarantees are pure."""
        return Fraction(0)

    @property
    def numbers(self) -> tuple[Fraction, ...]:
        return (self.number,)

    def with_numbers(self, numbers: Iterable[Fraction]) -> "PerUnit":
        """Return another amount under the same metric."""
        (number,) = numbers
        return PerUnit(number, self.name)

    def is_like(self, other: Amount) -> bool:
        """Return whether both are under one metric."""
        return isinstance(other, PerUnit) and self.name == other.name

    def _like(self, other: "PerUnit") -> "PerUnit":
        if not self.is_like(other):
            raise LedgerError(
                f"{self.words()} and {other.words()} are under different metrics, so they cannot be added."
            )
        return other

    def __add__(self, other: "PerUnit") -> "PerUnit":
        return PerUnit(self.number + self._like(other).number, self.name)

    def __sub__(self, other: "PerUnit") -> "PerUnit":
        return PerUnit(self.number - self._like(other).number, self.name)

    def covers(self, other: Amount) -> bool:
        return isinstance(other, PerUnit) and self.is_like(other) and other.number <= self.number

    def document(self) -> dict[str, str]:
        return {self.name: exact_text(self.number)}


def is_per_unit(names: Iterable[str]) -> bool:
    """Return whether these are the names of an amount under a metric."""
    found = list(names)
    return len(found) == 1 and found[0].startswith(_NAMED)
