"""Amounts of privacy in words."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass, fields
from fractions import Fraction
from typing import Self

from discreet.exact import exact_text


@dataclass(frozen=True, repr=False)
class AmountInWords(ABC):
    """An amount of privacy that says what it is; which fields it has is declared where it is defined."""

    @abstractmethod
    def document(self) -> dict[str, str]:
        """Return the amount as it is written down."""

    def __getattr__(self, name: str) -> Fraction:
        raise AttributeError(f"This amount has {' and '.join(field.name for field in fields(self))}, no {name}.")

    @property
    def numbers(self) -> tuple[Fraction, ...]:
        """Return the numbers that add up."""
        return astuple(self)

    def with_numbers(self, numbers: Iterable[Fraction]) -> Self:
        """Return an amount of the same kind."""
        return type(self)(*numbers)

    @property
    def none(self) -> Self:
        """Return nothing of this kind."""
        return self.with_numbers(Fraction(0) for _ in self.numbers)

    def words(self, text: Callable[[Fraction], str] = exact_text) -> str:
        """Return the amount in words: exactly, or as `spent_text` or `left_text` show numbers to people."""
        return ", ".join(f"{name} = {value}" for name, value in self.texts(text).items())

    def texts(self, text: Callable[[Fraction], str]) -> dict[str, str]:
        """Return every number for people, by its name."""
        return dict(zip(self.document(), map(text, self.numbers), strict=True))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value}' for name, value in self.document().items())})"
