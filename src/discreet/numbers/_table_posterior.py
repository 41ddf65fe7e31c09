"""What a reader knows about the distribution of a number: quantiles, shares below edges, a histogram, a mean.

Quantiles are read by exact tests at every edge, and their intervals end at edges; only the point estimate interpolates
within a cell. Each quantity is given for these records and for the population they come from.

Pictures have a smooth density too. No interval and no number comes from it, because a table does not tell where within
a cell its records lie. The fitted shares of cells (increasing sums of what was published) are smoothed by the maximum
penalised likelihood of a Poisson table (Whittaker's smoother): with heights e^f_i on equal steps,

    minimise sum_i (n_i - c_i)^2 / (c_i + v) + lambda sum_i (f_(i-1) - 2 f_i + f_(i+1))^2,

where v is the variance of a cell's noise, so that it bends less where noise is wide.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import sqrt
from typing import Self

import numpy as np
from scipy.linalg import solveh_banded

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact
from discreet.inference import (
    DAYS,
    PROBABILITY,
    CostEstimate,
    Distribution,
    Intervals,
    Posterior,
    PosteriorSample,
    Problem,
    QuantityKey,
    Ratio,
    ReportText,
    Row,
    Solver,
    intervals_of,
    levels_in_words,
    number_keys,
    percent_text,
)
from discreet.noise import Averaged, HasPrefixSums, Noise, has_density
from discreet.numbers._bounded_number import POPULATION
from discreet.numbers._further_numbers import further_cells
from discreet.numbers._table_estimands import (
    DISTRIBUTION,
    QUANTILES,
    TableQuantiles,
    TableShares,
    quantile_intervals,
    quantile_name,
)
from discreet.numbers._table_inference import DRAWS, MOST_FOR_CUTS, NumberTableSolution, drawn_noise
from discreet.numbers._table_model import NumberTable
from discreet.release import Release

POINTS = 128
_ROUNDS, _STRENGTH = 12, 40.0


def smooth_density(edges: Floats, counts: Floats, variance: float) -> tuple[tuple[float, float], ...]:
    """Return positions and heights of a smooth density, in shares per unit of the column."""
    fine = np.linspace(edges[0], edges[-1], POINTS + 1)
    below = np.interp(fine, edges, np.concatenate([[0.0], np.cumsum(np.maximum(counts, 0.0))]))
    spread = np.maximum(np.diff(below), 0.0)  # records in every fine step, spread evenly within cells
    noise = max(variance, 1.0) * len(counts) / POINTS
    found = smoothed(spread, noise, _STRENGTH * (POINTS / len(counts)) ** 2)
    heights = found / max(float(found.sum()), 1e-300) / np.diff(fine)
    return tuple(zip(((fine[1:] + fine[:-1]) / 2).tolist(), heights.tolist(), strict=True))


def smoothed(values: Floats, noise: float, strength: float) -> Floats:
    """Return smooth positive numbers near the values, by a few Newton steps on the logarithms."""
    start = np.convolve(values, np.ones(9) / 9, mode="same") + 0.5
    logs = np.log(start)
    bend = np.zeros((3, len(values)))
    bend[2], bend[1, 1:], bend[0, 2:] = 6.0, -4.0, 1.0
    bend[2, [0, -1]], bend[2, [1, -2]] = 1.0, 5.0
    bend[1, [1, -1]] = -2.0
    for _ in range(_ROUNDS):
        mean = np.exp(np.clip(logs, -30, 30))
        weight = mean**2 / (mean + noise)
        target = logs + np.clip((values - mean) / mean, -1.0, 1.0)
        left = strength * bend
        left[2] += weight + 1e-6
        logs = solveh_banded(left, (weight + 1e-6) * target)
    return np.asarray(np.exp(np.clip(logs, -30, 30)))


_TESTED = 400.0  # operations for each value of a cut's distribution
_TEST, _EACH = 3e5, 20.0  # operations of the tests of a quantile at one edge, and for each value of its distribution
_RANKED = 700.0  # operations of these tests for each draw of noise
_FOR_PLANS, _QUICK = 1023, 2.5e8  # draws of noise where widths are planned, and operations beyond which they are


class NumberTableSolver(Solver):
    """Solves one table of numbers: every quantity by separate tests."""

    models = (NumberTable,)

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse anything but a noisy table."""
        if not problem.is_measured:
            return "a table of numbers can only be read from noisy counts"
        if len(problem.observed) != len(problem.measurements):
            return "a table of numbers can only be read from one noisy table in each release"
        return None

    def cost(self, problem: Problem) -> CostEstimate:
        """Return the work of the distributions of all cuts, or of draws of all noise, and of all tests of quantiles."""
        noise, model = _noise_of(problem), problem.model
        quantiles = len(model.quantiles) * (QUANTILES in model.asks)
        tests = float(quantiles * len(model.groups) * model.count)
        asked = f" for {quantiles} quantiles" if quantiles > 1 else ""
        cuts = noise.cut_operations if isinstance(noise, HasPrefixSums) else 0.0
        if (
            not isinstance(noise, Averaged)
            and has_density(noise.structure)
            and model.by is None
            and not model.leaves_gaps_out
            and cuts <= MOST_FOR_CUTS
        ):
            reach = float(noise.decay_length.max()) * np.sqrt(2.0 * model.count) * 12 + 60
            operations = cuts + _TESTED * model.count * reach + tests * (_TEST + _EACH * reach)
            return CostEstimate(f"testing {model.count} edges{asked}", operations, 40 * reach * 64)
        operations = DRAWS * (noise.operations.draw / 50 + 200.0 * len(model.cells) + _RANKED * tests)
        words = f"drawing the noise of {len(model.cells)} cells{asked}"
        return CostEstimate(words, operations, 6.0 * DRAWS * len(model.cells))

    def solve(self, problem: Problem) -> NumberTableSolution:
        """Return the table with the distribution of its noise; several tables of the same cells are averaged."""
        noise = _noise_of(problem)
        values = [measured.values for measured in problem.measurements]
        if isinstance(noise, Averaged):
            return NumberTableSolution(problem.model, problem.size, noise.of(values), noise)
        return NumberTableSolution(problem.model, problem.size, values[0], noise)


def _noise_of(problem: Problem) -> Noise | Averaged:
    distributions = tuple(observed.measurements[0].noise for observed in problem.observed)
    return distributions[0] if len(distributions) == 1 else Averaged(distributions)


class NumberTablePosterior(Posterior[NumberTable], shows=NumberTableSolution):
    """Quantiles and shares of a column of numbers, each with an interval for the records and for the population."""

    is_rough = False
    information = None
    log_evidence = None

    def __init__(
        self, model: NumberTable, releases: Sequence[Release[NumberTable]], solutions: Sequence[NumberTableSolution]
    ) -> None:
        (self.solution,) = solutions
        super().__init__(model, tuple(releases), self.solution.size)
        self._rows = lru_cache(maxsize=4)(self._all_rows)

    @property
    def method(self) -> str:
        return self.solution.method

    @property
    def by_draws(self) -> "NumberTablePosterior":
        """Return the same solution by draws of noise alone, which is quick where noise is wide: for pictures."""
        solution = replace(self.solution, are_cuts_worked_out=False)
        return type(self)(self.model, self.releases, [solution])

    def with_fewer_draws(self) -> Self:
        """Return the same solution by few draws of noise, where its own tests take longer."""
        if NumberTableSolver().cost(Problem.of(self.releases)).operations <= _QUICK:
            return self
        solution = replace(self.solution, are_cuts_worked_out=False, draws=_FOR_PLANS)
        found = type(self)(self.model, self.releases, [solution])
        found.is_rough = True
        return found

    @property
    def unit(self) -> str:
        """Return the unit of quantiles: that of the column."""
        return DAYS if self.model.bounds.dates else self.model.column

    def rows(self, level: float = 0.9) -> tuple[Row, ...]:
        """Return the rows of each group: what was asked, among these records and in the population."""
        return self._rows(level)

    def _all_rows(self, level: float) -> tuple[Row, ...]:
        found: list[Row] = []
        for index in range(len(self.model.groups)):
            for asked in self.model.estimands:
                names = asked.names(self.model, self._of)
                both = [asked.intervals(self.solution, index, level, sampled) for sampled in (False, True)]
                for name, *pair in zip(names, *both, strict=True):
                    found += self._pair(name, index, pair, asked.is_share)
        return tuple(found)

    @property
    def _of(self) -> str:
        return f" of {self.model.quantity}"

    def _pair(self, name: str, index: int, pair: Sequence[Ratio], is_share: bool = False) -> tuple[Row, Row]:
        """Return the rows of a quantity of one group, from its intervals for the records and for the population.

        Those that state no error were decided by public draws of noise, which have a Monte Carlo error.
        """
        (records, population), found = pair, []
        due = self._due_to_privacy(index, population) if is_share else None
        for of, (point, low, high, error), part in ((self.model.among, records, None), (POPULATION, population, due)):
            sd = (high - low) / 3.29
            drawn = sd / sqrt(DRAWS) if error is None else None
            figures = point, point, low, high, sd, part, PROBABILITY if is_share else self.unit, drawn, error
            found.append(Row(self.model.row_name(name, of), self.model.groups[index], *figures))
        return found[0], found[1]

    def _due_to_privacy(self, index: int, share: Ratio) -> float:
        """Return how much of the width of a share's interval goes beyond what sampling alone gives."""
        count, wide = max(1.0, self.solution.tests[index].total), share.high - share.low
        plain = 3.29 * np.sqrt(share.point * (1 - share.point) / count)
        return max(0.0, 1 - float(plain) / wide) if wide > 0 else 0.0

    def quantile(self, share: Exact, group: str = "", level: float = 0.9) -> tuple[Row, Row]:
        """Return any quantile among these records and in the population, declared in the study or not."""
        number = exact(share, "a quantile")
        if not 0 < number < 1:
            raise DeclarationError("A quantile must be a share between 0 and 1, such as 0.5 for the median.")
        index, asked = self._group(group), TableQuantiles()
        pair = [asked.interval(self.solution, index, number, level, sampled) for sampled in (False, True)]
        return self._pair(f"{quantile_name(number)}{self._of}", index, pair)

    def _group(self, group: str) -> int:
        if group not in self.model.groups:
            raise DeclarationError(
                f"There is no group {group!r}. The groups are {', '.join(map(repr, self.model.groups))}."
            )
        return self.model.groups.index(group)

    def cdf(self, group: str = "", level: float = 0.9) -> tuple[Row, ...]:
        """Return the share of values below every edge, among these records and in the population."""
        index = self._group(group)
        rows: list[Row] = []
        for edge in range(1, self.model.count):
            shares = [self.solution.tests[index].share_below(edge, level, sampled) for sampled in (False, True)]
            rows += self._pair(TableShares().name(self.model, edge, self._of), index, shares, is_share=True)
        return tuple(rows)

    def histogram(self, group: str = "", level: float = 0.9) -> tuple[Row, ...]:
        """Return the share of values in every cell, among these records and in the population."""
        index = self._group(group)
        rows: list[Row] = []
        for cell in range(self.model.count):
            shares = [self.solution.tests[index].share_of(cell, level, sampled) for sampled in (False, True)]
            rows += self._pair(f"{self.model.column} {self.cell_words(cell)}", index, shares, is_share=True)
        return tuple(rows)

    def cell_words(self, cell: int) -> str:
        """Return a cell in words."""
        low, high = (self.model.shown(float(self.model.edge_values[edge])) for edge in (cell, cell + 1))
        if not self.model.is_whole:
            return f"from {low} to under {high}"
        last = self.model.shown(float(self.model.edge_values[cell + 1]) - 1)
        return low if low == last else f"{low} to {last}"

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Return the axes: `share_below` has one entry for each group and edge."""
        return {"share_below": ("group", "edge")}

    @property
    def coords(self) -> Mapping[str, tuple[str, ...]]:
        """Return the groups and the edges."""
        edges = tuple(self.model.shown(float(edge)) for edge in self.model.edge_values[1:-1])
        return {"group": tuple(group or "all" for group in self.model.groups), "edge": edges}

    def keys(self) -> tuple[QuantityKey, ...]:
        """Return statistics, levels of groups, or both: plain of the population, with one part more of the records."""
        levels = None if self.model.by is None else self.model.by.levels
        names = [name for asked in self.model.estimands for name in asked.names(self.model)]
        return number_keys(names, levels, self.model.among)

    def draws_by_key(self, count: int, seed: int | None = None) -> dict[QuantityKey, Floats]:
        """Return joint draws of all quantities, of the records and of the population that these were sampled from.

        Shares of cells in the population have a Dirichlet distribution given those of the records. As a table does not
        tell where within a cell its records lie, that position is drawn too, evenly: of a quantile, and of all records
        together for a mean.
        """
        generator = np.random.default_rng(None if seed is None else [seed, 1])
        below, columns = self.draws(count, seed)["share_below"], list[Floats]()
        for group in range(len(self.model.groups)):
            records = np.pad(below[:, group], ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1)))
            shape = np.diff(records, axis=1) * max(1.0, self.solution.tests[group].total) + 2 / self.model.count
            cells = generator.standard_gamma(np.maximum(shape, 1e-9)) + 1e-300
            sampled = np.cumsum(cells / cells.sum(axis=1, keepdims=True), axis=1)
            population = np.concatenate([np.zeros((count, 1)), sampled], axis=1)
            both = [
                [own for asked in self.model.estimands for own in asked.drawn(self.model, each, generator)]
                for each in (records, population)
            ]
            columns += [own for pair in zip(*both, strict=True) for own in pair]
        return dict(zip(self.keys(), columns, strict=True))

    def draws(self, count: int, seed: int | None = None) -> dict[str, Floats]:
        """Draw the shares of the records below every edge: what was published, minus drawn noise, made increasing."""
        return dict(self.sample(count, seed).parameters)

    def sample(self, count: int, seed: int | None = None) -> PosteriorSample:
        """Draw the shares, with all counts that they come from."""
        chosen = np.random.default_rng(seed).integers(DRAWS, size=count)
        hidden = self.solution.values - drawn_noise(self.solution.noise)[chosen]
        counts = hidden.reshape(count, len(self.model.groups), -1)[:, :, : self.model.count]
        below, total = np.cumsum(counts, axis=2)[:, :, :-1], np.maximum(counts.sum(axis=2), 1.0)
        shares = np.clip(below / total[:, :, None], 0, 1)
        falling = np.minimum.accumulate(shares[:, :, ::-1], axis=2)[:, :, ::-1]
        return PosteriorSample({"share_below": (np.maximum.accumulate(shares, axis=2) + falling) / 2}, hidden)

    def log_likelihoods(self, sample: PosteriorSample) -> list[Floats]:
        """Return log P(noise) at the counts of each draw, where the noise has a density."""
        noise = self.solution.noise
        if isinstance(noise, Averaged) or not has_density(noise.structure):
            raise DeclarationError(
                f"the noise of {type(self.releases[0].mechanism).__name__}, or of several releases, has no density"
            )
        return [noise.log_prob(self.solution.values - sample.behind)]

    def replicate(self, sample: PosteriorSample, generator: np.random.Generator) -> Counts:
        """Draw the counts of as many further records, taking the drawn ones as their population."""
        return further_cells(sample.behind, self.size, generator)

    def prior_sample(self, count: int, generator: np.random.Generator) -> PosteriorSample:
        """Refuse: there is no prior, as quantities are read by tests that hold for any records."""
        raise DeclarationError("there is no prior: these intervals come from tests that are valid for any records")

    def distribution(self, level: float = 0.9) -> Distribution | None:
        """Return the shares below edges and in cells for a picture, by draws of noise; None if not asked for."""
        if DISTRIBUTION not in self.model.asks:
            return None
        edges, found = tuple(self.model.edge_values.tolist()), []
        for group, tests in zip(self.model.groups, self.by_draws.solution.tests, strict=True):
            below: list[tuple[float, ...]] = [(0.0,) * 5]
            rising = (tests.fitted / tests.fitted[-1]).tolist()
            for edge in range(1, self.model.count):
                own, whole = (tests.share_below(edge, level, sampled) for sampled in (False, True))
                below.append((rising[edge], own.low, own.high, whole.low, whole.high))
            cells = tuple(tuple(tests.share_of(cell, level, True)[:3]) for cell in range(self.model.count))
            found.append((group, edges, (*below, (1.0,) * 5), cells))
        about = self.model.bounds.dates, self._densities(), self.model.among
        return Distribution(self.model.quantity, tuple(found), *about)

    def _densities(self) -> tuple[tuple[tuple[float, float], ...], ...]:
        """Return a smooth curve for every group, for the eye alone; none of whole numbers."""
        if self.model.is_whole:
            return ()
        variance = float(np.mean(self.solution.noise.variance))
        shares = [np.diff(tests.fitted) for tests in self.by_draws.solution.tests]
        return tuple(smooth_density(self.model.edge_values, own, variance) for own in shares)

    def intervals(self, level: float = 0.9) -> Intervals:
        """Return the quantiles, each with its intervals for the records and for the population."""
        if self.model.asks != (QUANTILES,):
            return intervals_of(self.rows(level), level)
        return quantile_intervals(self.rows(level), self.model.quantity, self.unit, level, ", in whole cells")

    def remarks(self, level: float = 0.9) -> tuple[str, ...]:
        """Say what both rows mean, where intervals end, and whether cells or noise make them wide."""
        words = [
            f"Intervals for '{self.model.among}' allow for the noise; those for '{POPULATION}' also for sampling.",
            f"Each interval by itself holds the true value in at least {percent_text(level)} of releases; "
            f"{self.model.missing_rule}.",
        ]
        words += [line for asked in self.model.estimands for line in asked.remarks(self.solution, level)]
        return tuple(words)

    @property
    def text(self) -> ReportText:
        """Return the column with its bounds and cells."""
        model = self.model
        ends = f"{model.shown(model.edge_values[0])} to {model.shown(float(model.bounds.high))}"
        columns = [(model.column, f"({ends} in {model.count} cells; {model.missing_rule})")]
        columns += [] if model.persons is None else [(model.persons.column, f"(ids: {model.words_about_persons})")]
        columns += [] if model.by is None else [(model.by.name, levels_in_words(model.by))]
        return ReportText(
            subject="a table of numbers",
            question=f"how is {model.quantity} distributed{'' if model.by is None else f' in every {model.by.name}'}? "
            "It is answered from a noisy table of cells.",
            columns=tuple(columns),
            hidden="counts",
            meaning=(
                f"The estimate, with an interval for {model.among}, which allows for the noise alone, and one for the "
                "population that they come from, which also allows for sampling. Intervals of quantiles are whole "
                "cells."
            ),
            prior="The intervals of quantiles use no prior. Shares in the population have a uniform prior.",
            public=("the bounds", "the edges of the cells"),
            has_holders_prior=bool(model == self.releases[0].mechanism.model),
        )
