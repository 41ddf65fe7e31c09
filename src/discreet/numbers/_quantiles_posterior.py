"""What a reader knows about quantiles: each with an interval for these records and one for their population.

Intervals come from tests at the edges that were found, and end at edges. Draws are of the counts: what was published
minus drawn noise; within a cell a quantile lies evenly.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact
from discreet.inference import (
    DAYS,
    CostEstimate,
    Intervals,
    Posterior,
    Problem,
    QuantityKey,
    ReportText,
    Row,
    Solver,
    levels_in_words,
    number_keys,
    percent_text,
)
from discreet.mathematics.distributions import ROUNDED
from discreet.mechanism import sized
from discreet.numbers._bounded_number import POPULATION
from discreet.numbers._quantiles_inference import DRAWS, NumberQuantilesSolution, Step
from discreet.numbers._quantiles_mechanisms import BetweenEdges
from discreet.numbers._quantiles_model import NumberQuantiles
from discreet.numbers._table_estimands import quantile_intervals, quantile_name
from discreet.release import Release


class NumberQuantilesSolver(Solver):
    """Solves one release of counts between edges that were found."""

    models = (NumberQuantiles,)

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse anything but the counts of one release."""
        if not problem.is_measured or not all(isinstance(each.of, BetweenEdges) for each in problem.measurements):
            return "quantiles can only be read from counts between edges that were found"
        if len(problem.observed) > 1:
            return "several releases of quantiles have edges of their own, and are read one by one"
        return None

    def cost(self, problem: Problem) -> CostEstimate:
        """Return the work of the distributions of all cuts, or of draws of all noise, and of all tests."""
        model, operations = problem.model, 0.0
        for measured in problem.measurements:
            cells, reach = measured.of.length, 40 * float(measured.noise.decay_length.max())
            is_exact = model.by is None and not model.leaves_gaps_out
            each = 40.0 * reach if is_exact else 60.0 * DRAWS
            operations += cells * (100.0 * reach + 50.0 * DRAWS + each * cells * len(model.quantiles))
        return CostEstimate(f"testing the edges of {len(model.quantiles)} quantiles", operations, 20.0 * DRAWS * 64)

    def solve(self, problem: Problem) -> NumberQuantilesSolution:
        """Return the counts of all steps with the distributions of their noise."""
        steps, located_by = list[Step](), 0
        for measured in problem.measurements:
            found = measured.of
            assert isinstance(found, BetweenEdges)
            (rate,) = measured.noise.rates  # type: ignore[attr-defined]
            steps.append(Step(found.edges, measured.values, rate, found.part, found.sampled_part))
            located_by += found.locates
        return NumberQuantilesSolution(problem.model, problem.size, tuple(steps), located_by)


class NumberQuantilesPosterior(Posterior[NumberQuantiles], shows=NumberQuantilesSolution):
    """Quantiles of a column of numbers, each with an interval for the records and for the population."""

    information = None
    log_evidence = None

    def __init__(
        self,
        model: NumberQuantiles,
        releases: Sequence[Release[NumberQuantiles]],
        solutions: Sequence[NumberQuantilesSolution],
    ) -> None:
        super().__init__(model, tuple(releases), sized(releases[0].mechanism).size)
        (self.solution,) = solutions
        self._rows = lru_cache(maxsize=4)(self._all_rows)

    @property
    def method(self) -> str:
        return self.solution.method

    @property
    def unit(self) -> str:
        """Return the unit of quantiles: that of the column."""
        return DAYS if self.model.bounds.dates else self.model.column

    def rows(self, level: float = 0.9) -> tuple[Row, ...]:
        """Return the rows of each group: what was asked, among these records and in the population."""
        return self._rows(level)

    def _all_rows(self, level: float) -> tuple[Row, ...]:
        groups = range(len(self.model.groups))
        return tuple(
            row
            for group in groups
            for share in self.model.quantiles
            for row in self._quantile_rows(group, share, level)
        )

    def quantile(self, share: Exact, group: str = "", level: float = 0.9) -> tuple[Row, Row]:
        """Return any quantile among these records and in the population: wide, if it is not one that was asked."""
        number = exact(share, "a quantile")
        if not 0 < number < 1:
            raise DeclarationError("A quantile must be a share between 0 and 1, such as 0.5 for the median.")
        if group not in self.model.groups:
            raise DeclarationError(
                f"There is no group {group!r}. The groups are {', '.join(map(repr, self.model.groups))}."
            )
        return self._quantile_rows(self.model.groups.index(group), number, level)

    def _quantile_rows(self, index: int, share: Fraction, level: float) -> tuple[Row, Row]:
        tests = self.solution.tests[index]
        edges = self.model.edge_values([0, *tests.edges, self.model.places])
        name, group = self.model.quantity_name(quantile_name(share)), self.model.groups[index]
        guess, found = self.solution.point(index, share), []
        for of in (self.model.among, POPULATION):
            first, last = tests.cells_left(share, level, of == POPULATION)
            low, high = float(edges[first]), float(edges[last + 1]) - (1.0 if self.model.is_whole else 0.0)
            point, sd = min(max(guess, low), high), (high - low) / 3.29
            off = ROUNDED * float(np.abs(edges).max()) if self.solution.is_exact else None
            drawn = sd / float(np.sqrt(DRAWS)) if off is None else None
            found.append(
                Row(self.model.row_name(name, of), group, point, point, low, high, sd, None, self.unit, drawn, off)
            )
        return found[0], found[1]

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Return the axes: `quantile` has one entry for each group and quantity."""
        return {"quantile": ("group", "quantity")}

    @property
    def coords(self) -> Mapping[str, tuple[str, ...]]:
        """Return the groups and the quantities."""
        names = [quantile_name(share) for share in self.model.quantiles]
        quantities = tuple(self.model.row_name(name, of) for name in names for of in (self.model.among, POPULATION))
        return {"group": tuple(group or "all" for group in self.model.groups), "quantity": quantities}

    def keys(self) -> tuple[QuantityKey, ...]:
        """Return quantiles, levels of groups, or both: plain of the population, with one part more of the records."""
        levels = None if self.model.by is None else self.model.by.levels
        return number_keys([quantile_name(share) for share in self.model.quantiles], levels, self.model.among)

    def draws_by_key(self, count: int, seed: int | None = None) -> dict[QuantityKey, Floats]:
        """Return joint draws of all quantiles, of the records and of the population that these were sampled from."""
        drawn = self.draws(count, seed)["quantile"].reshape(count, -1)
        return dict(zip(self.keys(), drawn.T, strict=True))

    def draws(self, count: int, seed: int | None = None) -> dict[str, Floats]:
        """Draw the quantiles of every group (draws, groups, quantities), of the records and of the population.

        Shares of cells in the population have a Dirichlet distribution given the counts of the records.
        """
        generator = np.random.default_rng(seed)
        groups = [self._drawn(group, count, generator) for group in range(len(self.model.groups))]
        return {"quantile": np.stack(groups, axis=1)}

    def _drawn(self, group: int, count: int, generator: np.random.Generator) -> Floats:
        found, drawn, weights = self.solution.drawn_below(group, len(self.solution.steps))
        edges, chosen = (
            self.model.edge_values([0, *found, self.model.places]),
            generator.choice(DRAWS, count, p=weights),
        )
        records = drawn[chosen]
        counts = np.maximum(np.diff(records, axis=1), 0) + 1 / (len(found) + 1)
        parts = generator.standard_gamma(counts) + 1e-300
        shares = np.cumsum(parts / parts.sum(axis=1, keepdims=True), axis=1)
        population = np.concatenate([np.zeros((count, 1)), shares], axis=1)
        columns = []
        for share in map(float, self.model.quantiles):
            for below in (records, population):
                cells = np.clip((below[:, 1:] < share * below[:, -1:]).sum(axis=1), 0, len(edges) - 2)
                values = edges[cells] + generator.random(count) * np.diff(edges)[cells]
                columns.append(np.floor(values) if self.model.is_whole else values)
        return np.stack(columns, axis=1)

    def intervals(self, level: float = 0.9) -> Intervals:
        """Return the quantiles, each with its intervals for the records and for the population."""
        return quantile_intervals(self.rows(level), self.model.quantity, self.unit, level)

    def remarks(self, level: float = 0.9) -> tuple[str, ...]:
        """Say what both rows mean, and where intervals end."""
        words = [
            f"Intervals for '{self.model.among}' allow for the noise; those for '{POPULATION}' also for sampling.",
            f"Each interval by itself holds the true value in at least {percent_text(level)} of releases; "
            f"{self.model.missing_rule}.",
            "Intervals end at edges that were found near each quantile, with noise, and are wide where one was missed.",
        ]
        low, high = self.model.edge_values([0, self.model.places])
        outer = {float(low), float(high) - (1.0 if self.model.is_whole else 0.0)}
        if any({row.low, row.high} & outer for row in self.rows(level)):
            words.append("An interval that reaches a bound includes everything beyond that bound.")
        return tuple(words)

    @property
    def text(self) -> ReportText:
        """Return the column with its bounds."""
        model = self.model
        ends = f"{model.shown(float(model.bounds.low))} to {model.shown(float(model.bounds.high))}"
        columns = [(model.column, f"({ends}; {model.missing_rule})")]
        columns += [] if model.persons is None else [(model.persons.column, f"(ids: {model.words_about_persons})")]
        columns += [] if model.by is None else [(model.by.name, levels_in_words(model.by))]
        by = "" if model.by is None else f" in every {model.by.name}"
        return ReportText(
            subject="quantiles of a number",
            question=f"which are the quantiles of {model.quantity}{by}? Places near them were chosen, and records "
            "counted there.",
            columns=tuple(columns),
            hidden="counts",
            meaning=(
                f"The estimate, with an interval for {model.among}, which allows for the noise alone, and one for the "
                "population that they come from, which also allows for sampling."
            ),
            prior="Intervals use no prior. The estimate takes records near a quantile to lie about evenly.",
            public=("the bounds", "the places that were found"),
            has_holders_prior=bool(model == self.releases[0].mechanism.model),
        )
