"""Bounded families: one parameter, records that are clipped to declared levels, a conjugate posterior.

A draw from a posterior is private because one bounded record can move the posterior only so far. All that the draw,
its certificate and its inference need to know about a family is said here:

- which levels a record may have (a declared `Column`) and which number each level stands for (`values`);
- the posterior given counts of the levels, as a `CertifiedDistribution` (`posterior`);
- pairs of posteriors that dominate all neighbouring ones (`neighbours`).

`PoissonRate`, `ExponentialRate` and `NormalMean` are such families; a user may add others, as subclasses of
`BoundedFamily`. The parameters of distributions are exact numbers, and probabilities are balls that enclose the true
ones, so that draws and guarantees need not trust any floating-point function.
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError, SecretError
from discreet.mathematics.distributions import CertifiedDistribution
from discreet.mechanism import Asked, Key, Model, Parameters, Simulated, of_columns, one_for_each, written_name
from discreet.records import Column, Level, Statistics, as_source

if TYPE_CHECKING:
    from discreet.programs.families._posterior import FamilyPosterior


class BoundedFamily(Model["FamilyPosterior"]):
    """A family of distributions with one parameter and bounded records; the module explains each part.

    `posterior(counts, power)` is the distribution of the parameter given one row of counts, with the likelihood raised
    to `power`. `neighbours(size, power)` gives pairs of posteriors (P, Q) such that every pair of neighbouring
    posteriors is one of them or a coarser version of one, in one of both directions; ln P/Q must be monotone in the
    parameter.
    """

    @classmethod
    def asked_as(cls) -> Mapping[str, Asked]:
        """Return its kind, whose keys are its fields; the column's name is the key `column`, as in other questions."""
        column = {"column": Key("Column", of_columns)}
        return {written_name(cls.document_kind): Asked(cls, called={"name": "column"}, keys=column)}

    @property
    @abstractmethod
    def column(self) -> Column:
        """Return the declared column: its levels are all that a record may be."""

    @property
    @abstractmethod
    def values(self) -> tuple[Fraction, ...]:
        """Return the number that each level stands for, the sufficient statistic of one record."""

    @abstractmethod
    def posterior(self, counts: ArrayLike, power: Fraction = Fraction(1)) -> CertifiedDistribution:
        """Return the posterior of the parameter given one row of counts."""

    @abstractmethod
    def neighbours(self, size: int, power: Fraction) -> Iterable[tuple[CertifiedDistribution, CertifiedDistribution]]:
        """Return pairs of posteriors that dominate all neighbours, each read in both directions."""

    def tries(self) -> tuple[Fraction, Fraction, int] | None:
        """Return both parameters of a chance's Beta prior and how many tries a record holds; None of other families."""
        return None

    @property
    def unreadable(self) -> str | None:
        """Return why nobody can read a draw of this family; None of one that says how records come about."""
        return (
            f"a {type(self).__name__} does not define how likely its levels are (level_probabilities) and what is "
            "drawn given a total (posterior_given_total, draw_log_mass), so it is not a ReadableFamily"
        )

    @property
    def cells(self) -> tuple[Level, ...]:
        """Return the levels, in the order of the counts."""
        return self.column.levels

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return the one column."""
        return (self.column,)

    @property
    def tables(self) -> tuple[tuple[Column, ...], ...]:
        """Return the one table: the levels of the column."""
        return ((self.column,),)

    @property
    def counted(self) -> tuple[Column, tuple[Fraction, ...]]:
        return self.column, self.values

    def statistics(self, data: object) -> Statistics:
        (table,) = as_source(data).count_families(self.tables)
        return Statistics(self, table, records=int(table.sum()))

    def counts(self, counts: ArrayLike) -> Counts:
        """Return simulated counts of the levels, after checking their shape. Secret statistics are refused."""
        if isinstance(counts, Statistics):
            raise SecretError("These are secret statistics of real records; only discreet.publish may use them.")
        rows = np.asarray(counts)
        if rows.shape[-1:] != (len(self.cells),) or rows.dtype.kind not in "iu" or (rows < 0).any():
            raise DeclarationError(f"Counts must be whole numbers >= 0, one for each of the {len(self.cells)} levels.")
        return rows.astype(np.int64)

    def contributions(self, most: int) -> tuple[Counts, bool]:
        """Return what a record can add to the counts: one, to one level."""
        return one_for_each(len(self.cells), most)

    def simulate(self, size: int, generator: np.random.Generator) -> Simulated:
        """Refuse: only a `ReadableFamily` says how its records come about."""
        raise DeclarationError(
            f"Studies of a {type(self).__name__} cannot be simulated: it does not define how likely its records are. "
            "Nothing was simulated."
        )

    def exact(self, statistics: Counts, size: int, level: float) -> list[tuple[float, float]]:
        """Refuse: only a `ReadableFamily` has a posterior with quantiles."""
        raise DeclarationError(f"A {type(self).__name__} does not define what exact statistics say.")

    def by_name(self, parameters: Parameters) -> float:
        """Return the one parameter."""
        return float(np.asarray(parameters)[0])

    def even_parameters(self) -> Floats:
        """Return a parameter of one."""
        return np.ones(1)


def total_of(values: Sequence[Fraction], counts: Counts) -> Fraction:
    """Return the exact sum over records of what each stands for: sum_i values_i counts_i."""
    return sum((value * int(count) for value, count in zip(values, counts, strict=True)), Fraction(0))
