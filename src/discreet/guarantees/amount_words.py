"""Amounts of privacy in words."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from fractions import Fraction


@dataclass(frozen=True, repr=False)
class AmountInWords(ABC):
    """An amount of privacy that says what it is; which fields it has is declared where it is defined."""

    @abstractmethod
    def document(self) -> dict[str, str]:
        """Return the amount as it is written down."""

    def __getattr__(self, name: str) -> Fraction:
        raise AttributeError(f"This amount has {' and '.join(field.name for field in fields(self))}, no {name}.")

    def words(self) -> str:
        """Return the amount in words."""
        return ", ".join(f"{name} = {value}" for name, value in self.document().items())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value}' for name, value in self.document().items())})"
