"""Quantities by their keys: means, differences and probabilities that a user asks any posterior for.

A key is a level as it was declared, a tuple of levels for a crossed table, or the name of a coefficient or statistic.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Any, Generic, NoReturn, TypeVar

import numpy as np

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError, meant
from discreet.inference._row import DAYS, Row
from discreet.mathematics.distributions import Interval

QuantityKey = Hashable
Predicate = Callable[[Mapping[QuantityKey, Floats]], object]
"""A statement about joint draws: it takes arrays of draws by key, and returns for each draw whether it is true."""
Found = TypeVar("Found")

_MOST_NAMED = 8
_COMPARISON = re.compile(r">=|<=|>|<")
_TIMES = re.compile(r"^\s*([0-9.eE+-]+)\s*\*\s*(.+)$")


class ByKey(dict[Any, float]):
    """One number for every quantity, by its key; an unknown key is refused in words."""

    def __missing__(self, key: object) -> NoReturn:
        raise unknown_key(key, self)


def unknown_key(key: object, keys: Iterable[QuantityKey]) -> DeclarationError:
    """Return the refusal of a key that is none, with the nearest ones."""
    every = list(keys)
    named = ", ".join(map(repr, every[:_MOST_NAMED]))
    more = f", ... ({len(every)} in all: see keys())" if len(every) > _MOST_NAMED else ""
    texts = {key_text(each): each for each in every}
    near = meant(key_text(key), texts) if len(every) > 1 else ""
    if key_text(key) in texts:  # a level that is a number, say, written as a text
        near = f" Did you mean {texts[key_text(key)]!r}?"
    elif isinstance(key, float) and 0 < key < 1:
        near = f" A level comes after the quantity, interval({every[0]!r}, {key:g}); rows({key:g}) has all at once."
    return DeclarationError(f"There is no quantity {key!r}. The quantities are {named}{more}.{near}")


def key_text(key: object) -> str:
    """Return a key as a text, as a statement names it.

    >>> key_text(("A", "yes")), key_text("median")
    ('A, yes', 'median')
    """
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)


class PosteriorProbability(float):
    """A probability; `monte_carlo_error` is its standard error, None where nothing was drawn for it."""

    monte_carlo_error: float | None

    def __new__(cls, value: float, draws: float | None = None) -> "PosteriorProbability":
        """Return a probability that was found among this number of independent draws, or computed."""
        found = super().__new__(cls, value)
        if draws is None:
            found.monte_carlo_error = None
        else:  # one more of each kind: none among a few draws is no proof
            rate = (value * draws + 1) / (draws + 2)
            found.monte_carlo_error = sqrt(rate * (1 - rate) / draws)
        return found

    def __repr__(self) -> str:
        error = "" if self.monte_carlo_error is None else f", monte_carlo_error={self.monte_carlo_error:.1g}"
        return f"PosteriorProbability({float(self):.4g}{error})"


@dataclass(frozen=True, kw_only=True)
class Comparison(Row):
    """One quantity minus another, as a row, with the probability that the first is greater."""

    probability_above_zero: PosteriorProbability

    @property
    def interval(self) -> Interval:
        """Return both ends of the interval."""
        return Interval(self.low, self.high)


def difference_unit(first: str, second: str) -> str:
    """Return the unit of a difference: dates differ by days."""
    if first == second:
        return "days" if first == DAYS else first
    return f"{first} minus {second}"


def truths(predicate: Predicate, draws: Mapping[QuantityKey, Floats]) -> Floats:
    """Return for each draw whether a statement is true; refuse what is no statement about every draw."""
    count = len(next(iter(draws.values())))
    found = np.asarray(predicate(draws))
    if found.shape != (count,) or found.dtype != np.bool_:
        raise DeclarationError(
            "A statement about draws takes arrays by key and returns True or False for each draw, such as "
            "lambda draws: draws[key] > 2 * draws[other]. Nothing was computed."
        )
    return found.astype(float)


@dataclass(frozen=True, eq=False)
class Side(Generic[Found]):
    """One side of a comparison: a number, or a multiple of a quantity."""

    factor: float
    what: Found | None
    text: str = ""

    @classmethod
    def read(cls, text: str, find: Callable[[str], Found | None]) -> "Side[Found] | None":
        """Read a quantity, a multiple of one, or a number, in this order; None if it is none of them."""
        text = text.strip()
        if not (times := _TIMES.match(text)):
            if (found := find(text)) is not None:
                return cls(1.0, found, text)
        elif (found := find(named := times[2].strip())) is not None and _number(times[1]) is not None:
            factor = float(times[1])
            return cls(factor, found, named) if 0 < factor < float("inf") else None
        number = _number(text)
        return None if number is None else cls(number, None)


def _number(text: str) -> float | None:
    try:
        number = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None


@dataclass(frozen=True, eq=False)
class Statement(Generic[Found]):
    """That the larger side exceeds the smaller one. ByKey are continuous, so > and >= mean the same."""

    larger: Side[Found]
    smaller: Side[Found]

    @classmethod
    def read(cls, text: str, find: Callable[[str], Found | None], example: str) -> "Statement[Found]":
        """Read a statement; a name that holds a comparison sign is found by trying each sign in turn."""
        for sign in _COMPARISON.finditer(text):
            sides = [Side.read(part, find) for part in (text[: sign.start()], text[sign.end() :])]
            larger, smaller = sides if sign[0].startswith(">") else sides[::-1]
            if larger is not None and smaller is not None:
                return cls(larger, smaller)
        raise DeclarationError(f"Cannot read {text!r}. Write a comparison of {example}.")

    @classmethod
    def about(
        cls, what: Found, above: float | None, below: float | None, greater_than: Found | None
    ) -> "Statement[Found]":
        """Return the statement that a quantity is above or below a number, or greater than another quantity."""
        if above is not None:
            return cls(Side(1.0, what), Side(float(above), None))
        if below is not None:
            return cls(Side(float(below), None), Side(1.0, what))
        return cls(Side(1.0, what), Side(1.0, greater_than))


def require_one_comparison(above: object, below: object, greater_than: object) -> None:
    """Refuse anything but one comparison."""
    if sum(each is not None for each in (above, below, greater_than)) != 1:
        raise DeclarationError(
            "State one comparison: probability_that(key, above=0.3), probability_that(key, below=0.3), "
            "probability_that(key, greater_than=other), a statement in words such as 'key > 0.3', or a function of "
            "draws. Nothing was computed."
        )


def number_keys(statistics: Sequence[str], levels: Sequence[Hashable] | None, among: str) -> tuple[QuantityKey, ...]:
    """Return the keys of statistics of a number, in the order of rows: of these records, then of the population.

    A key is the statistic, or the level of a group, or both where there are several of each; the records' own have one
    part more.

    >>> number_keys(["mean"], ["West", "East"], "these records")
    (('West', 'these records'), 'West', ('East', 'these records'), 'East')
    >>> number_keys(["median"], None, "these records")
    (('median', 'these records'), 'median')
    """
    found: list[QuantityKey] = []
    for level in [None] if levels is None else levels:
        for name in statistics:
            parts = (*([name] if levels is None or len(statistics) > 1 else []), *([] if levels is None else [level]))
            found += [(*parts, among), parts[0] if len(parts) == 1 else parts]
    return tuple(found)
