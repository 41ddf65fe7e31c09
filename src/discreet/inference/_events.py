"""Posteriors about records with levels: any event has a probability, and a rate in each group of records."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from discreet._core.errors import DeclarationError
from discreet.inference._posterior import Posterior
from discreet.inference._row import PROBABILITY, ProbabilityDistribution, Row
from discreet.mathematics.distributions import Interval
from discreet.mechanism import ModelT, event_name
from discreet.records import Column, Level


class EventPosterior(Posterior[ModelT]):
    """What is known about a table of categories, or about a network of them."""

    @property
    @abstractmethod
    def columns(self) -> tuple[Column, ...]:
        """Return the columns with their levels."""

    @abstractmethod
    def probability(self, event: str) -> ProbabilityDistribution:
        """Return the distribution of an event's probability."""

    @abstractmethod
    def conditional(self, event: str, given: str) -> ProbabilityDistribution:
        """Return the distribution of P(event | given)."""

    @abstractmethod
    def _rate(self, event: str, column: Column, index: int) -> ProbabilityDistribution:
        """Return the distribution of P(event | a column has the level at this index)."""

    @abstractmethod
    def _group_share(self, column: Column, index: int) -> ProbabilityDistribution:
        """Return the distribution of P(a column has the level at this index)."""

    @abstractmethod
    def synthesize(self, rows: int, seed: int | None = None) -> dict[str, list[Level]]:
        """Return synthetic records, as lists by column."""

    def chance(self, event: str, given: str | None = None, level: float = 0.9) -> Row:
        """Return P(event), or P(event | given), as a row with its interval."""
        distribution = self.probability(event) if given is None else self.conditional(event, given)
        row = _row(event, given or "", distribution, level)
        self.asked(event, [row])
        return row

    def rates(self, event: str, by: str, level: float = 0.9) -> tuple[Row, ...]:
        """Return one row for P(event | each level of a column), with the number of records in each group.

        A group that may have no records at all is marked by `Row.is_unknown`: nothing is known about its rate.
        """
        known = [event_name(by, each) for each in column_named(self.columns, by).levels]
        rows = []
        for group, distribution, sizes in zip(
            known, self.rate_distributions(event, by), self.group_sizes(by, level), strict=True
        ):
            row = _row(str(event), group, distribution, level)
            rows.append(replace(row, records_low=sizes.low, records_high=sizes.high))
        self.asked(str(event), rows)
        return tuple(rows)

    def rate_distributions(self, event: str, by: str) -> tuple[ProbabilityDistribution, ...]:
        """Return the distribution of P(event | each level of a column)."""
        column = column_named(self.columns, by)
        return tuple(self._rate(event, column, index) for index in range(len(column.levels)))

    def group_sizes(self, by: str, level: float = 0.9) -> tuple[Interval, ...]:
        """Return an interval for the number of records in each level of a column."""
        column = column_named(self.columns, by)
        shares = [self._group_share(column, index).summary(level) for index in range(len(column.levels))]
        return tuple(Interval(self.size * low, self.size * high) for _, _, low, high, _, _ in shares)

    def asked(self, event: str, rows: Sequence[Row]) -> None:
        """Warn where answers to a question mostly reflect the prior; by default, never."""


def _row(event: str, given: str, distribution: ProbabilityDistribution, level: float) -> Row:
    errors = distribution.monte_carlo_error, distribution.numerical_error(level)
    return Row(event, given, *distribution.summary(level), PROBABILITY, *errors)


def column_named(columns: Sequence[Column], name: str) -> Column:
    """Return the published column of this name."""
    for column in columns:
        if column.name == name:
            return column
    raise DeclarationError(f"The release has no column {name!r}; its columns are {[c.name for c in columns]}.")
