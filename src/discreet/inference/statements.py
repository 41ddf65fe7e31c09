"""Statements about probabilities, such as 'current > 0.3' or 'ward=A, fall=yes > 2 * ward=B, fall=yes'."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite

import numpy as np

from discreet.arrays import Counts
from discreet.errors import DeclarationError
from discreet.mathematics.distributions import BetaMixture
from discreet.models import Categories

_COMPARISON = re.compile(r">=|<=|>|<")
_TIMES = re.compile(r"^\s*([0-9.eE+-]+)\s*\*\s*(.+)$")


@dataclass(frozen=True, eq=False)
class Side:
    """One side of a comparison: a number, or a multiple of an event's probability."""

    factor: float
    places: Counts | None
    event: str = ""

    @classmethod
    def read(cls, text: str, model: Categories) -> "Side | None":
        """Read an event, a multiple of one, or a number, in this order; None if it is none of them."""
        text = text.strip()
        times = _TIMES.match(text)
        try:
            if not times:
                return cls(1.0, model.places(text), text)
            factor = float(times[1])
            return cls(factor, model.places(event := times[2].strip()), event) if 0 < factor < float("inf") else None
        except (DeclarationError, ValueError):
            pass
        try:
            number = float(text[:-1]) / 100 if text.endswith("%") else float(text)
        except ValueError:
            return None
        return cls(number, None) if isfinite(number) else None


@dataclass(frozen=True, eq=False)
class Statement:
    """That the larger side exceeds the smaller one. Probabilities are continuous, so > and >= mean the same."""

    larger: Side
    smaller: Side

    @classmethod
    def read(cls, text: str, model: Categories) -> "Statement":
        """Read a statement; a name that holds a comparison sign is found by trying each sign in turn."""
        for sign in _COMPARISON.finditer(text):
            sides = [Side.read(part, model) for part in (text[: sign.start()], text[sign.end() :])]
            if sides[0] is not None and sides[1] is not None:
                larger, smaller = sides if sign[0].startswith(">") else sides[::-1]
                if larger is not None and smaller is not None:
                    return cls(larger, smaller)
        raise DeclarationError(
            f"Cannot read {text!r}. Write a comparison of cells and numbers, such as "
            f"'{model.columns[0].name}={model.columns[0].levels[0]} > 0.3'."
        )

    def probability(
        self, sum_of: Callable[[Counts], BetaMixture], share_of: Callable[[Counts, Counts], BetaMixture]
    ) -> float:
        """Return the probability of the statement, given the laws of sums of cells and of shares of two groups."""
        if self.larger.places is None and self.smaller.places is None:
            return float(self.larger.factor > self.smaller.factor)
        if self.smaller.places is None:
            return 1 - _below(sum_of, self.larger, self.smaller.factor)
        if self.larger.places is None:
            return _below(sum_of, self.smaller, self.larger.factor)
        return self._between_events(share_of, self.larger.places, self.smaller.places)

    def _between_events(self, share_of: Callable[[Counts, Counts], BetaMixture], one: Counts, two: Counts) -> float:
        if np.intersect1d(one, two).size and self.larger.factor != self.smaller.factor:
            raise DeclarationError("Multiples can only be compared for events that are mutually exclusive.")
        only_one, only_two = np.setdiff1d(one, two), np.setdiff1d(two, one)
        if not only_one.size or not only_two.size:
            return float(only_one.size > 0)
        # a x > b y  if and only if  x / (x + y) > b / (a + b)
        threshold = self.smaller.factor / (self.larger.factor + self.smaller.factor)
        return float(1 - share_of(only_one, only_two).cdf(threshold))


def _below(sum_of: Callable[[Counts], BetaMixture], side: Side, number: float) -> float:
    assert side.places is not None
    return float(sum_of(side.places).cdf(number / side.factor))
