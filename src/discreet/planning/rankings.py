"""What every ranking of mechanisms is: the same size and guarantee for all, the best one first, and who is left out."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from discreet.errors import DeclarationError
from discreet.exact import exact_text
from discreet.guarantees import Evidence
from discreet.markup import html_table
from discreet.mechanisms import Mechanism
from discreet.notebook import Shown, with_picture


@dataclass(frozen=True)
class Contender:
    """A mechanism of a ranking, by its name."""

    name: str
    mechanism: Mechanism

    @abstractmethod
    def figures(self) -> dict[str, object]:
        """Return everything known about how well it does."""

    def document(self) -> dict[str, object]:
        """Return name, guarantee and figures."""
        guarantee = self.mechanism.guarantee
        return {"name": self.name, "guarantee": _stated(guarantee.epsilon, guarantee.delta), **self.figures()}


ContenderT = TypeVar("ContenderT", bound=Contender)


@dataclass(frozen=True)
class Standings(Shown, ABC, Generic[ContenderT]):
    """Mechanisms for one model, size and guarantee, the best one first. `left_out` says why others are not here."""

    size: int
    epsilon: Fraction
    delta: Fraction
    entries: tuple[ContenderT, ...]
    left_out: dict[str, str]

    @property
    def best(self) -> ContenderT:
        """Return the first of the ranking."""
        if not self.entries:
            raise DeclarationError(
                f"No mechanism can publish this under this guarantee: {'; '.join(self.left_out.values())}"
            )
        return self.entries[0]

    def named(self, name: str) -> ContenderT:
        """Return the entry of a mechanism by its name."""
        for entry in self.entries:
            if entry.name == name:
                return entry
        raise DeclarationError(f"{name!r} is not in this ranking, which holds {[e.name for e in self.entries]}.")

    @property
    def stated(self) -> str:
        """Return the guarantee under which all compete."""
        return f"{self.size} records, epsilon = {exact_text(self.epsilon)}, delta = {exact_text(self.delta)}"

    @property
    @abstractmethod
    def headings(self) -> tuple[str, ...]:
        """Return the headings of `rows`."""

    @abstractmethod
    def rows(self) -> list[tuple[str, ...]]:
        """Return the table: a name and its figures in each row."""

    @abstractmethod
    def remarks(self) -> list[str]:
        """Return the sentences below the table."""

    def _repr_html_(self) -> str:
        """Return picture and table for a notebook."""
        page = html_table(self.stated, self.headings, self.rows(), words=1, notes=self.remarks())
        return with_picture(page, "ranking_chart", self)

    def document(self) -> dict[str, object]:
        """Return the whole ranking as a document."""
        entries = [entry.document() for entry in self.entries]
        stated = _stated(self.epsilon, self.delta)
        return {"size": self.size, **stated, "entries": entries, "left_out": dict(self.left_out)}


def _stated(epsilon: Fraction, delta: Fraction) -> dict[str, str]:
    return {"epsilon": exact_text(epsilon), "delta": exact_text(delta)}


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table: names to the left, figures to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        row[0].ljust(widths[0]) + "".join(f"  {cell:>{w}}" for cell, w in zip(row[1:], widths[1:], strict=True))
        for row in rows
    ]


def check_publishable(mechanism: Mechanism, epsilon: Fraction, delta: Fraction) -> None:
    """Refuse what is merely claimed, or promises less than is asked."""
    guarantee = mechanism.guarantee
    if guarantee.evidence is Evidence.CLAIMED or guarantee.epsilon > epsilon or guarantee.delta > delta:
        raise DeclarationError(f"Its guarantee is not sufficient: {guarantee!r}.")
