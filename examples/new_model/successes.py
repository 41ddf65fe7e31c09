"""Successes out of a known number of tries for each record, and how likely one try is to succeed.

A record has 0, ..., `tries` successes. The total over n records is T ~ Binomial(n tries, p), and p ~ Beta(a, b), so
P(T) = C(n tries, T) B(a + T, b + n tries - T) / B(a, b). The total is all that is ever looked at.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, betaln

from discreet import DeclarationError, SecretError
from discreet.mathematics.distributions import tails
from discreet.mechanism import Counts, Floats, Model, Parameters, Simulated, whole
from discreet.records import Column, Statistics, as_source

if TYPE_CHECKING:
    from successes_inference import SuccessesPosterior


@dataclass(frozen=True)
class Successes(Model["SuccessesPosterior"], kind="Successes"):
    """The probability of a success, from a column that holds how many of `tries` succeeded; `a`, `b` are the prior."""

    column: str
    tries: int
    a: float = 1.0
    b: float = 1.0

    def __post_init__(self) -> None:
        whole(self.tries, "tries", most=10_000)
        if not (1e-6 <= self.a <= 1e9 and 1e-6 <= self.b <= 1e9):
            raise DeclarationError("Both parameters of the prior must lie between 1e-6 and 1e9.")

    @cached_property
    def declared(self) -> Column:
        """Return the column with its levels; what is none of them counts as no success."""
        return Column(self.column, tuple(range(self.tries + 1)), outside=0)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return the one column."""
        return (self.declared,)

    def statistics(self, data: object) -> Statistics:
        """Add up the successes of all records. The result is secret."""
        (table,) = as_source(data).count_families([(self.declared,)])
        return Statistics(self, np.array([table @ np.arange(self.tries + 1)]), records=int(table.sum()))

    def counts(self, counts: ArrayLike) -> Counts:
        """Return made-up totals as rows of one number. Secret statistics are refused."""
        if isinstance(counts, Statistics):
            raise SecretError("These are secret statistics of real records; only discreet.publish may use them.")
        rows = np.asarray(counts)
        if rows.shape[-1:] != (1,) or rows.dtype.kind not in "iu" or (rows < 0).any():
            raise DeclarationError("A total of successes is one whole number >= 0.")
        return rows.astype(np.int64)

    def log_evidence(self, totals: Counts, tries: int) -> Floats:
        """Return log P(total) of totals out of so many tries."""
        ways = -betaln(totals + 1.0, tries - totals + 1.0) - np.log(tries + 1.0)
        return np.asarray(ways + betaln(self.a + totals, self.b + tries - totals) - betaln(self.a, self.b))

    def contributions(self, most: int) -> tuple[Counts, bool]:
        """Return what a record can add to the total, at most so many rows, and whether these are all."""
        chosen = np.unique(np.linspace(0, self.tries, min(self.tries + 1, most)).astype(np.int64))
        return chosen[:, None], len(chosen) == self.tries + 1

    def simulate(self, size: int, generator: np.random.Generator) -> Simulated:
        """Draw a probability from the prior, and a total of so many records from it."""
        chance = float(generator.beta(self.a, self.b))
        return Simulated((chance,), np.array([generator.binomial(size * self.tries, chance)]))

    def exact(self, statistics: Counts, size: int, level: float) -> list[tuple[float, float]]:
        """Return the mean and the width of the interval that the exact total gives."""
        a, b = self.a + float(statistics[0]), self.b + size * self.tries - float(statistics[0])
        low, high = (float(betaincinv(a, b, tail)) for tail in tails(level))
        return [(a / (a + b), high - low)]

    def by_name(self, parameters: Parameters) -> float:
        """Return the one probability."""
        return float(np.asarray(parameters)[0])

    def even_parameters(self) -> Floats:
        """Return a probability of one half."""
        return np.full(1, 0.5)
