"""What is asked of a table of categories beside its counts: chances, made-up records, neighbours, and its words."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil, log2
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, gammaln

from discreet.arrays import Counts, Floats
from discreet.errors import DeclarationError
from discreet.mathematics.digits import log_gamma_ratio
from discreet.mathematics.distributions import Dirichlet
from discreet.mathematics.distributions.dirichlet import tails
from discreet.mathematics.distributions.mixture_batch import MixtureBatch, Part
from discreet.mathematics.distributions.summaries import ends_of
from discreet.models.asked import Asked, Declared, Key, of_levels
from discreet.models.contributions import neighbouring_tables, one_for_each
from discreet.models.events import Cell, places_of
from discreet.models.model import MadeUp, Model, Parameters, Placed
from discreet.records.columns import Column

if TYPE_CHECKING:
    from discreet.inference.posteriors.categories import CategoriesPosterior
    from discreet.models.categories import Categories
    from discreet.models.informed import Informed

Prior = float | Sequence[float] | Mapping[Cell, float]


class CategoryQuestions(Model["CategoriesPosterior"]):
    """The answers of a table with a Dirichlet prior; its columns, cells and counts are declared where it is defined."""

    is_table: ClassVar[bool] = True
    columns: tuple[Column, ...]
    prior: tuple[float, ...]

    @property
    @abstractmethod
    def cells(self) -> tuple[Cell, ...]:
        """Return the names of the cells, in the order of the counts."""

    @property
    @abstractmethod
    def concentration(self) -> Floats:
        """Return the Dirichlet parameters of the prior."""

    @abstractmethod
    def counts(self, counts: ArrayLike) -> NDArray[np.int64]:
        """Return made-up counts as an array, after checking their shape."""

    def __repr__(self) -> str:
        if any(column.edges for column in self.columns):
            return f"Categories({self.columns!r}, prior={self._shown_prior})"
        one = len(self.columns) == 1
        name = repr(self.columns[0].name if one else tuple(c.name for c in self.columns))
        levels = self.columns[0].levels if one else {c.name: c.levels for c in self.columns}
        outside = self.columns[0].outside if one else {c.name: c.outside for c in self.columns}
        return f"Categories({name}, levels={levels!r}, outside={outside!r}, prior={self._shown_prior})"

    @property
    def _shown_prior(self) -> str:
        if not self.is_prior_declared:
            return "None"
        return f"{self.prior[0]:g}" if len(set(self.prior)) == 1 else repr(self.prior)

    @classmethod
    def asked_as(cls) -> dict[str, Asked]:
        """Return the one name by which a study asks for it, with columns for its key."""
        about = "The share of records in each level of a column, or in each cell of several columns that are crossed."
        keys = {"columns": Key("Columns that are crossed", of_levels)}
        return {"categories": Asked(cls._asked, title="Table of shares", about=about, keys=keys)}

    @classmethod
    def _asked(cls, declared: Declared, columns: Sequence[str], prior: Prior | None = None) -> Self:
        make: Callable[..., Self] = cls
        return make(list(declared.levels("columns", columns).values()), prior=prior)

    @property
    def counted(self) -> tuple[Column, ...]:
        """Return what is counted, whatever the prior is."""
        return self.columns

    @property
    def tables(self) -> tuple[tuple[Column, ...], ...]:
        """Return the one table of all columns."""
        return (self.columns,)

    def places(self, event: object) -> NDArray[np.int64]:
        """Return the places of the cells in an event: a cell, several cells, or text such as 'ward=A, fall=yes'."""
        return places_of(event, self.columns, self.cells)

    def posterior(self, counts: ArrayLike) -> Dirichlet:
        """Return the posterior that counts would give if they were known exactly."""
        return Dirichlet(self.concentration + self.counts(counts))

    def log_evidence(self, counts: ArrayLike) -> NDArray[np.float64]:
        """Return log P(counts | size), the Dirichlet-multinomial law, for one or many rows of counts.

        P(k) = n! Gamma(a) / Gamma(n + a) prod_i Gamma(a_i + k_i) / (k_i! Gamma(a_i)),  a = sum_i a_i.
        """
        rows, alpha = self.counts(counts), self.concentration
        size, total = rows.sum(axis=-1), alpha.sum()
        cells = log_gamma_ratio(rows + 1.0, alpha - 1) - gammaln(alpha)
        return np.asarray(gammaln(total) - log_gamma_ratio(size + 1.0, total - 1) + cells.sum(axis=-1))

    def proposals(self, is_evidence_known: bool) -> tuple[Self, ...]:
        """Return the model with (2/m)^(1 - g/G) in each of m cells, g = 0, ..., G: from 2 records in all to m."""
        cells = len(self.cells)
        steps = ceil(log2(cells / 2))
        weak = [(2 / cells) ** (1 - step / steps) for step in range(steps + 1)] if is_evidence_known and steps else [1]
        return tuple(self.with_prior(value) for value in weak)

    def informed_by(self: "Categories", own: object) -> "Informed":  # type: ignore[misc]  # there is no other
        """Return the table with own records in its prior: records, or counts of all cells."""
        from discreet.models.informed import informed_categories

        return informed_categories(self, own)

    @abstractmethod
    def with_prior(self, prior: Prior | None) -> Self:
        """Return the same model under another prior."""

    def contributions(self, most: int) -> tuple[NDArray[np.int64], bool]:
        """Return what a record can add to the counts, at most so many rows, and whether these are all."""
        return one_for_each(len(self.cells), most)

    def parts(self) -> Iterator[Self]:
        """Yield smaller models of the same kind: tables of the first four, three and two cells with their prior."""
        make: Callable[..., Self] = type(self)
        for cells in (4, 3, 2):
            if cells < len(self.cells):
                yield make("cell", levels=tuple(range(cells)), prior=self.prior[:cells], outside=0)

    @property
    def part_in_words(self) -> str:
        """Say how many cells there are."""
        return f"{len(self.cells)} cells"

    def made_up(self, size: int, generator: np.random.Generator) -> MadeUp:
        """Draw probabilities from the prior, and counts of so many records from these."""
        chances = generator.dirichlet(self.concentration)
        return MadeUp(tuple(chances.tolist()), generator.multinomial(size, chances))

    def known_rows(self, statistics: Counts, size: int, level: float) -> list[tuple[float, float]]:
        """Return the mean and the width of every cell, from exact counts; if no prior was declared, as own sums are."""
        shapes = self.concentration + statistics
        if self.is_prior_declared:
            low, high = (betaincinv(shapes, shapes.sum() - shapes, tail) for tail in tails(level))
        else:
            exact = Part.of(np.ones((len(shapes), 1)), 1.0 + statistics, size + 2.0)
            low, high = ends_of(MixtureBatch([exact]), level, True)
        return list(zip((shapes / shapes.sum()).tolist(), (high - low).tolist(), strict=True))

    def is_told_by(self, metric: Placed) -> bool:
        """Tell whether the metric is one of this one column, declared alike: levels, bands, and what is outside."""
        return len(self.columns) == 1 and metric.levels == self.columns[0]

    def neighbouring_pairs(self, size: int, generator: np.random.Generator) -> list[tuple[Counts, Counts]]:
        """Return neighbouring tables: corners, beside corners, edges, balanced, and some drawn from the prior."""
        return neighbouring_tables(self.concentration, size, generator)

    def are_neighbours(self, size: int, first: Counts, second: Counts) -> bool:
        """Tell whether two tables are of so many records each, one of them replaced."""
        possible = min(first.min(), second.min()) >= 0 and first.sum() == second.sum() == size
        return bool(possible and np.abs(first - second).sum() == 2)

    def by_name(self, parameters: Parameters) -> dict[Cell, float]:
        """Return the probability of every cell."""
        return {cell: float(value) for cell, value in zip(self.cells, np.asarray(parameters), strict=True)}

    def even_parameters(self) -> Floats:
        """Return the same probability for every cell."""
        return np.full(len(self.cells), 1 / len(self.cells))

    def chance(self, event: object, parameters: Parameters, given: object = None) -> float:
        """Return the sum over the cells of an event, divided by that of another event if one is given."""
        theta, places = np.asarray(parameters), self.places(event)
        if given is None:
            return float(theta[places].sum())
        condition = self.places(given)
        return float(theta[np.intersect1d(places, condition)].sum() / theta[condition].sum())

    def expectation(self, values: Mapping[object, float], parameters: Parameters, given: object = None) -> float:
        """Return sum_i theta_i values_i, over the cells of an event and divided by its probability if one is given."""
        theta, found, times = np.asarray(parameters), np.zeros(len(self.cells)), np.zeros(len(self.cells), dtype=int)
        for event, value in values.items():
            places = self.places(event)
            found[places], times[places] = float(value), times[places] + 1
        if (times != 1).any():
            raise DeclarationError("the values must name events that cover every cell exactly once")
        inside = np.arange(len(self.cells)) if given is None else self.places(given)
        return float(theta[inside] @ found[inside] / (1.0 if given is None else theta[inside].sum()))
