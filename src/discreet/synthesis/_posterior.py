"""What a reader learns of many columns at once: measured shares with intervals, and a model for everything else.

Shares of single columns and of measured pairs come from their own sums (`_own_sums`), with intervals that hold whatever
the model is. All other answers come from the model of whole records and are labelled *by the model only*: without an
interval (it is stated as 0 to 1), or with the bound that a bought check gives. A check c of a pair S is

    c = |k_S - r_S|_1 + N(0, u),      TV(k_S / n, p_S) <= (c + z sqrt(u) + |r_S - n p_S|_1) / (2 n)

with the probability of z, where r_S are the model's counts as whole numbers; and no event in S has a probability
further from the model's than that.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod, sqrt
from typing import Protocol, runtime_checkable

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import whole
from discreet.inference import Posterior, ReportText, Row, levels_in_words, percent_text
from discreet.mathematics.distributions import Interval, Sampled
from discreet.mechanism import Simulated, event_name, probability_name
from discreet.networks import Event, both, partial_codes_of, read_event
from discreet.records import Column, Level, text_of
from discreet.release import Release
from discreet.synthesis._intervals import count_interval, deviations, share_interval
from discreet.synthesis._joint import Joint
from discreet.synthesis._junction_tree import UNKNOWN, spread
from discreet.synthesis._model import Synthesis
from discreet.synthesis._own_sums import OwnSums
from discreet.synthesis._records import SyntheticRecords
from discreet.synthesis._solver import SynthesisSolution

BY_THE_MODEL = "by the model only"
"""The label of answers that were not measured."""
_DRAWS = 4_000
_MOST_CELLS = 10_000_000  # of a joint table that answers a question
_SEED = 0
_TABULATED = 1e-5  # how far ends that are read from a table may be off, in widths
_PROBABILITY, _COUNT, _DISTANCE = "probability", "records", "total variation"


@runtime_checkable
class HasScores(Protocol):
    """A mechanism that published how far pairs of columns are from what they would be if they were independent."""

    def dependence_scores(self, output: Counts) -> tuple[Floats, float]:
        """Return noisy |k - r|_1 of all pairs, r the product of one-way readings, and the variance of their noise."""


@runtime_checkable
class HasChecks(Protocol):
    """A mechanism from which a check of the model may have been bought."""

    def checks(self, output: Counts) -> tuple[Mapping[tuple[int, int], float], float] | None:
        """Return noisy |k - r|_1 of the pairs that were checked, and the variance of their noise; None if none was."""

    def final_references(self, output: Counts) -> Counts:
        """Return r of all pairs as they follow from everything that was measured."""


class SynthesisPosterior(Posterior[Synthesis], shows=SynthesisSolution):
    """Shares of columns and pairs with intervals, and a model of whole records for everything else."""

    def __init__(
        self, model: Synthesis, releases: Sequence[Release[Synthesis]], solutions: Sequence[SynthesisSolution]
    ) -> None:
        (solution,) = solutions
        super().__init__(model, tuple(releases), round(solution.size))
        self.solution = solution
        self.about = "about " if solution.size_variance else ""

    @property
    def sums(self) -> OwnSums:
        """Return counts of columns and measured pairs from their own sums."""
        return self.solution.sums

    @property
    def joint(self) -> Joint:
        """Return the model of whole records, with columns and levels as numbers."""
        return self.solution.joint

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return the columns with their levels."""
        return self.model.columns

    @property
    def method(self) -> str:
        return self.solution.method

    @property
    def information(self) -> None:
        """Return that it is not known: there is no prior."""

    @property
    def log_evidence(self) -> None:
        """Return that it is not known."""

    def rows(self, level: float = 0.9) -> tuple[Row, ...]:
        """Return one row for each level of each column: its share in the population, sampling and noise together."""
        return tuple(row for number in range(len(self.columns)) for row in self.cell_rows((number,), level))

    def cell_rows(self, columns: tuple[int, ...], level: float = 0.9) -> Iterator[Row]:
        """Yield one row for each cell of some columns, by number: measured, or by the model only."""
        names = [self.columns[v] for v in columns]
        cells = np.ndindex(*(len(column.levels) for column in names))
        if self.sums.is_known(columns):
            shares = self.sums.table(columns) / self.solution.size
            variances = self.sums.cell_variances(columns)
            labels = [_named(names, cell) for cell in cells]
            yield from self._measured_rows(labels, shares.ravel(), variances.ravel(), level)
            return
        table, bound = self.joint.margin(columns).ravel(), self._bound(columns, level)
        for cell, share in zip(cells, table.tolist(), strict=True):
            yield _modelled_row(_named(names, cell), "", share, bound)

    def _measured_rows(self, names: Sequence[str], shares: Floats, variances: Floats, level: float) -> Iterator[Row]:
        n, means = self.solution.size, np.clip(shares, 0.0, 1.0)
        low, high = share_interval(shares, variances, n, level)
        least, most = share_interval(means, 0.0, n, level)
        noise = np.clip(1 - (most - least) / np.maximum(high - low, 1e-300), 0.0, 1.0)
        spreads = np.sqrt(variances + means * (1 - means) / n)
        for name, *own in zip(names, *(each.tolist() for each in (means, low, high, spreads, noise)), strict=True):
            mean, start, end, deviation, private = own
            error = _TABULATED * (end - start)
            yield Row(name, "", mean, mean, start, end, deviation, private, _PROBABILITY, numerical_error=error)

    def counts(self, *columns: str, level: float = 0.9) -> tuple[Row, ...]:
        """Return the counts of one column or of a measured pair among these records, with intervals of the noise alone.

        A pair that was not measured is shown by the model only.
        """
        numbers = self._numbers(columns)
        names, n = [self.columns[v] for v in numbers], self.solution.size
        shape = [len(column.levels) for column in names]
        if not self.sums.is_known(numbers):
            bound = self._bound(numbers, level)
            shares = self.joint.margin(numbers)
            modelled = [
                _modelled_row(_named(names, cell), "", float(shares[cell]), bound) for cell in np.ndindex(*shape)
            ]
            return tuple(_scaled(row, n) for row in modelled)
        table, rows = self.sums.table(numbers), []
        deviation = sqrt(self.sums.variance(numbers))
        low, high = count_interval(table, deviation, n, level)
        for cell in np.ndindex(*shape):
            mean = min(max(float(table[cell]), 0.0), n)
            ends = float(low[cell]), float(high[cell])
            rows.append(
                Row(_named(names, cell), "", mean, mean, *ends, deviation, None, _COUNT, numerical_error=1e-9 * n)
            )
        return tuple(rows)

    def is_measured(self, *columns: str) -> bool:
        """Return whether the table of these columns was measured, so that it has intervals of its own."""
        return self.sums.is_known(self._numbers(columns))

    def _numbers(self, columns: Sequence[str]) -> tuple[int, ...]:
        found = tuple(self.model.number_of(name) for name in columns)
        if not found or len(set(found)) < len(found):
            raise DeclarationError("Name one column or several different ones.")
        if prod(self.model.levels[v] for v in found) > _MOST_CELLS:
            raise DeclarationError(
                f"The joint table of {', '.join(columns)} has more than {_MOST_CELLS:,} cells. Nothing was computed. "
                "Name fewer columns, or draw records with synthesize."
            )
        return found

    def margin(self, *columns: str) -> "SynthesisMargin":
        """Return the shares of some columns alone: measured with intervals, or by the model only."""
        return SynthesisMargin(self, self._numbers(columns))

    def dependence(self, level: float = 0.9) -> tuple[Row, ...]:
        """Return for each pair of columns how far it is from independence, in total variation, with an interval.

        Rows are in falling order. They come from the noisy scores of the first round, which were asked of every pair.
        """
        found = []
        for (a, b), (mean, deviation) in self._distances().items():
            low, high = (min(max(mean + side * deviations(level) * deviation, 0.0), 1.0) for side in (-1, 1))
            name, mean = f"{self.columns[a].name} and {self.columns[b].name}", min(max(mean, 0.0), 1.0)
            found.append(Row(name, "", mean, mean, low, high, deviation, None, _DISTANCE, numerical_error=1e-12))
        return tuple(sorted(found, key=lambda row: -row.mean))

    def _distances(self) -> dict[tuple[int, int], tuple[float, float]]:
        """Return |k - r|_1 / (2 n) of every pair with its standard deviation, over all releases with scores."""
        sums, weights = np.zeros(len(self.model.pairs)), 0.0
        for release in self.releases:
            if isinstance(release.mechanism, HasScores):
                scores, variance = release.mechanism.dependence_scores(np.array(release.output, dtype=np.int64))
                sums, weights = sums + scores / variance, weights + 1 / variance
        if not weights:
            return {}
        n = self.solution.size
        means = (sums / weights / (2 * n)).tolist()
        return {pair: (mean, 1 / (sqrt(weights) * 2 * n)) for pair, mean in zip(self.model.pairs, means, strict=True)}

    def bounds(self, level: float = 0.9) -> dict[tuple[str, str], float]:
        """Return for each pair that was checked how far the model may be off, in total variation, at this level."""
        found = {}
        for (a, b), (check, deviation, rounding) in self._checks.items():
            n = self.solution.size
            bound = (check + deviations(2 * level - 1) * deviation + rounding) / (2 * n)
            found[self.columns[a].name, self.columns[b].name] = min(max(bound, 0.0), 1.0)
        return found

    @cached_property
    def _checks(self) -> dict[tuple[int, int], tuple[float, float, float]]:
        """Return c, sqrt(u) and |r - n p|_1 of every pair that was checked; of one release alone."""
        if len(self.releases) > 1:
            return {}  # the model that was checked is not the one that is fitted to all of them
        (release,) = self.releases
        output = np.array(release.output, dtype=np.int64)
        found = release.mechanism.checks(output) if isinstance(release.mechanism, HasChecks) else None
        if found is None or not isinstance(release.mechanism, HasChecks):
            return {}
        checks, variance = found
        references = self.model.split(release.mechanism.final_references(output))
        fitted = self.joint.pairs()
        rounding = {
            pair: float(np.abs(references[index] - self.solution.size * fitted[pair]).sum())
            for index, pair in enumerate(self.model.pairs)
            if pair in checks
        }
        return {pair: (value, sqrt(variance), rounding[pair]) for pair, value in checks.items()}

    def _bound(self, columns: Sequence[int], level: float) -> float | None:
        """Return the bound of a pair that was checked, None of anything else."""
        names = sorted(columns)
        if len(names) != 2:
            return None
        return self.bounds(level).get((self.columns[names[0]].name, self.columns[names[1]].name))

    def chance(self, event: str, given: str | None = None, level: float = 0.9) -> Row:
        """Return P(event), or P(event | given), as a row: with an interval if all that it needs was measured."""
        wanted = read_event(event, self.columns)
        known = {} if given is None else read_event(given, self.columns)
        return self._answer(event, given or "", wanted, known, level)

    def rates(self, event: str, by: str, level: float = 0.9) -> tuple[Row, ...]:
        """Return one row for P(event | each level of a column), with the number of records in each group."""
        column = self.columns[self.model.number_of(by)]
        wanted, rows = read_event(event, self.columns), []
        for index, size in enumerate(self.group_sizes(by, level)):
            known = {by: np.arange(len(column.levels)) == index}
            row = self._answer(event, event_name(by, column.levels[index]), wanted, known, level)
            rows.append(replace(row, records_low=size.low, records_high=size.high))
        return tuple(rows)

    def group_sizes(self, by: str, level: float = 0.9) -> tuple[Interval, ...]:
        """Return an interval for the number of records in each level of a column."""
        return tuple(Interval(row.low, row.high) for row in self.counts(by, level=level))

    def rate_distributions(self, event: str, by: str) -> tuple[Sampled, ...]:
        """Return the distribution of P(event | each level of a column), where both were measured together."""
        column, wanted = self.columns[self.model.number_of(by)], read_event(event, self.columns)
        found = []
        for index in range(len(column.levels)):
            drawn = self._drawn_ratio(wanted, {by: np.arange(len(column.levels)) == index})
            if drawn is None:
                raise DeclarationError(
                    f"{event!r} and {by!r} were not measured together, so their rates are known by the model only and "
                    "have no distribution. Nothing was drawn. `rates` shows them."
                )
            found.append(Sampled(drawn))
        return tuple(found)

    def _answer(self, event: str, given: str, wanted: Event, known: Event, level: float) -> Row:
        columns = self._numbers(sorted({*wanted, *known}, key=self.model.number_of))
        for name in wanted:
            if wanted[name].all() or name in known:
                raise DeclarationError(f"{event!r} must be neither certain nor about a column that is given.")
        inside = self._indicator(columns, both(wanted, known))
        if not known and self.sums.is_known(columns):
            share = float((self.sums.table(columns) * inside).sum()) / self.solution.size
            variance = self.sums.share_variance(columns, inside)
            return next(self._measured_rows([event], np.array([share]), np.array([variance]), level))
        drawn = self._drawn_ratio(wanted, known) if known else None
        if drawn is not None:
            rate = Sampled(drawn)
            return Row(event, given, *rate.summary(level), _PROBABILITY, monte_carlo_error=rate.monte_carlo_error)
        table = self.joint.margin(columns)
        total = float((table * self._indicator(columns, known)).sum()) if known else 1.0
        share = float((table * inside).sum()) / total if total > 0 else 0.0
        return _modelled_row(event, given, share, None if known else self._bound(columns, level))

    def _indicator(self, columns: Sequence[int], event: Event) -> Floats:
        """Return 1 in the cells of some columns that lie in an event, 0 in all others."""
        found = np.ones([self.model.levels[v] for v in columns])
        for name, levels in event.items():
            v = self.model.number_of(name)
            found = found * spread(levels.astype(float), (v,), tuple(columns))
        return found

    def _drawn_ratio(self, wanted: Event, known: Event) -> Floats | None:
        """Return draws of P(wanted | known) in the population; None if no measured table holds both."""
        columns = self._numbers(sorted({*wanted, *known}, key=self.model.number_of))
        if not self.sums.is_known(columns):
            return None
        shares = self._drawn_shares(columns, _DRAWS, np.random.default_rng(_SEED))
        axes = tuple(range(1, shares.ndim))
        whole_, part = self._indicator(columns, known), self._indicator(columns, both(wanted, known))
        return np.asarray((shares * part).sum(axis=axes) / np.maximum((shares * whole_).sum(axis=axes), 1e-12))

    def _drawn_shares(self, columns: Sequence[int], count: int, generator: np.random.Generator) -> Floats:
        """Return draws of the shares of a measured table in the population: its noise, then sampling.

        Counts are drawn from their normal distribution, and what is below zero counts as zero. Given counts k,
        theta ~ Dirichlet(k + 1/m) over m cells.
        """
        table, levels = self.sums.table(columns), [self.model.levels[v] for v in columns]
        drawn = np.repeat(table[None], count, axis=0)
        for axis, v in enumerate(columns):
            noise = generator.standard_normal((count, levels[axis])) * sqrt(self.sums.singles[v][1])
            noise -= noise.mean(axis=1, keepdims=True)
            others = prod(levels) // levels[axis]
            drawn += noise.reshape([count, *(levels[axis] if a == axis else 1 for a in range(len(levels)))]) / others
        if len(columns) == 2:
            noise = generator.standard_normal((count, *levels))
            noise -= (
                noise.mean(axis=1, keepdims=True)
                + noise.mean(axis=2, keepdims=True)
                - noise.mean(axis=(1, 2), keepdims=True)
            )
            drawn += noise * sqrt(self.sums.pairs[min(columns), max(columns)][1])
        if self.solution.size_variance:
            sizes = generator.standard_normal((count, *(1 for _ in levels))) * sqrt(self.solution.size_variance)
            drawn += sizes / prod(levels)
        gammas = generator.standard_gamma(np.maximum(drawn, 0.0) + 1 / prod(levels))
        return np.asarray(gammas / np.maximum(gammas.sum(axis=tuple(range(1, gammas.ndim)), keepdims=True), 1e-300))

    def draws(self, count: int, seed: int | None = None) -> dict[str, Floats]:
        """Draw the shares of every column: its noise, then sampling; columns are drawn one by one."""
        generator = np.random.default_rng(seed)
        number = whole(count, "count")
        return {c.name: self._drawn_shares((v,), number, generator) for v, c in enumerate(self.columns)}

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        return {column.name: (f"{column.name}_level",) for column in self.columns}

    @property
    def coords(self) -> Mapping[str, tuple[str, ...]]:
        return {f"{c.name}_level": tuple(str(text_of(level)) for level in c.levels) for c in self.columns}

    def synthesize(self, rows: int, seed: int | None = None) -> dict[str, list[Level]]:
        """Return synthetic records drawn from the model, as lists by column; bands by their names.

        `records` draws the same, and writes numbers inside the bands, files and frames.
        """
        return self.records(rows, seed, "names").table

    def records(self, rows: int | None = None, seed: int | None = None, numbers: str = "spread") -> SyntheticRecords:
        """Return synthetic records drawn from the model, as many as the release is about unless `rows` says otherwise.

        `numbers` is the rule for columns with bands: "spread" writes a number (or a day) that is spread evenly over the
        band, "middle" its middle, "names" its name. A band whose edges are whole numbers gets whole numbers. What lies
        in no band is missing then, None. Where the release was learnt from, not who is in it, decides what they say:
        no record belongs to anybody.
        """
        count = whole(self.size if rows is None else rows, "rows")
        generator = np.random.default_rng(seed)
        codes = self.joint.sample(count, generator)
        return SyntheticRecords(self.model, codes, numbers, int(generator.integers(2**31)))

    def predict_proba(self, rows: object, target: str | None = None, unknown: Collection[object] = ()) -> Floats:
        """Return P(target = level | what is known of each record) by the model, a column for each level.

        Records are a list of mappings, a mapping of lists or a data frame, and may be partial: a column that is left
        out is unknown, and so is a value among `unknown`, such as ('?', None).
        """
        number = self.model.number_of(self._target(target))
        others = [column for index, column in enumerate(self.columns) if index != number]
        codes = partial_codes_of(rows, others, unknown, ignored=(self.columns[number].name,))
        return self.joint.conditional(number, np.insert(codes, number, UNKNOWN, axis=1))

    def predict(self, rows: object, target: str | None = None, unknown: Collection[object] = ()) -> list[Level]:
        """Return the most probable level of the target for each record, by the model."""
        levels = self.columns[self.model.number_of(self._target(target))].levels
        return [levels[index] for index in self.predict_proba(rows, target, unknown).argmax(axis=1)]

    def predictions(
        self, rows: object, target: str | None = None, unknown: Collection[object] = (), level: float = 0.9
    ) -> Mapping[str, Sequence[object]]:
        """Return the most probable level of the target for each record, and the probability of every level, by name."""
        name = self._target(target)
        chances, levels = self.predict_proba(rows, target, unknown), self.columns[self.model.number_of(name)].levels
        each = {
            probability_name(event_name(name, known)): chances[:, index].tolist() for index, known in enumerate(levels)
        }
        return {name: [levels[index] for index in chances.argmax(axis=1)], **each}

    def _target(self, target: str | None) -> str:
        names = [column.name for column in self.columns]
        if target not in names:
            raise DeclarationError(f"Name the column to predict, one of {', '.join(map(repr, names))}.")
        return str(target)

    def measured_pairs(self) -> tuple[tuple[str, str], ...]:
        """Return the names of the pairs of columns that were measured."""
        return tuple(
            (self.columns[a].name, self.columns[b].name) for a, b in self.model.pairs if (a, b) in self.sums.pairs
        )

    def facts(self, level: float = 0.9) -> dict[str, object]:
        """Return which pairs were measured, how dependent pairs are, and how far the model may be off where checked."""
        return {
            "measured_pairs": [list(pair) for pair in self.measured_pairs()],
            "dependence": [[row.quantity, row.mean, row.low, row.high] for row in self.dependence(level)],
            "bounds": [[*pair, bound] for pair, bound in self.bounds(level).items()],
        }

    def planned_facts(self, made: Simulated, generator: np.random.Generator) -> dict[str, float]:
        """Return how many pairs were measured, how wide their intervals are, and how far the model is off."""
        known, widths = [pair for pair in self.model.pairs if pair in self.sums.pairs], []
        for pair in known:
            shares = self.sums.table(pair) / self.solution.size
            low, high = share_interval(shares, self.sums.cell_variances(pair), self.solution.size, 0.9)
            widths.append(float((high - low).mean()))
        true, fitted = self.model.split(made.statistics), self.joint.pairs()
        distances = [
            float(np.abs(table / max(table.sum(), 1) - fitted[pair]).sum()) / 2
            for pair, table in zip(self.model.pairs, true, strict=True)
        ]
        return {
            "pairs": float(len(self.model.pairs)),
            "measured_pairs": float(len(known)),
            "pair_width": float(np.mean(widths)) if widths else 1.0,
            "model_distance": float(np.mean(distances)),
        }

    def remarks(self, level: float = 0.9) -> tuple[str, ...]:
        """Return how many pairs were measured, and what holds for all others."""
        count, every = len(self.sums.pairs), len(self.model.pairs)
        found = [
            f"{count} of {every} pairs of columns were measured and have intervals of their own; everything else is "
            f"known {BY_THE_MODEL}."
        ]
        strongest = self.dependence(level)[:3]
        if strongest:
            words = "; ".join(f"{row.quantity} {row.mean:.3f} ({row.low:.3f} to {row.high:.3f})" for row in strongest)
            found.append(f"Farthest from independence, in total variation: {words}.")
        if bounds := self.bounds(level):
            found.append(
                f"A check was bought: of pairs that were not measured, the model is off by at most "
                f"{max(bounds.values()):.3f} in total variation, each with probability {percent_text(level)}."
            )
        return tuple(found)

    @property
    def text(self) -> ReportText:
        """Return the columns in words, and where intervals come from."""
        return ReportText(
            subject="a synthesis of many columns",
            question=(
                f"in {len(self.columns)} columns, how often does each level occur, how do columns depend on each "
                "other, and what could whole records look like? No table and no graph was declared: noisy scores of "
                "all pairs chose what was measured."
            ),
            columns=tuple((column.name, levels_in_words(column)) for column in self.columns),
            hidden="counts",
            meaning=(
                "Each line is the estimated share of a level in the population, with an interval that combines the "
                "uncertainty of sampling and of the noise. Shares of measured pairs have such intervals as well. All "
                "else, including synthetic records, comes from a model, and has none."
            ),
            prior="There is no prior: shares are estimated by least squares.",
            has_holders_prior=True,
        )


class SynthesisMargin(SynthesisPosterior):
    """The shares of some columns, beside what the whole posterior knows."""

    def __init__(self, around: SynthesisPosterior, chosen: tuple[int, ...]) -> None:
        super().__init__(around.model, around.releases, [around.solution])
        self.chosen = chosen

    def rows(self, level: float = 0.9) -> tuple[Row, ...]:
        """Return one row for each cell."""
        return tuple(self.cell_rows(self.chosen, level))

    @property
    def name(self) -> str:
        """Return the names of the columns."""
        return "_".join(self.columns[v].name for v in self.chosen)

    def draws(self, count: int, seed: int | None = None) -> dict[str, Floats]:
        """Draw the shares: their noise, then sampling. A table that was not measured has no draws."""
        if not self.sums.is_known(self.chosen):
            raise DeclarationError(
                f"The columns {', '.join(self.columns[v].name for v in self.chosen)} were not measured together, so "
                f"their shares are known {BY_THE_MODEL}, without draws. Nothing was drawn."
            )
        return {self.name: self._drawn_shares(self.chosen, whole(count, "count"), np.random.default_rng(seed))}

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        return {self.name: tuple(f"{self.columns[v].name}_level" for v in self.chosen)}


def _named(columns: Sequence[Column], cell: Sequence[int]) -> str:
    return ", ".join(event_name(column.name, column.levels[code]) for column, code in zip(columns, cell, strict=True))


def _modelled_row(event: str, given: str, share: float, bound: float | None) -> Row:
    """Return a row by the model: from 0 to 1, or as far as the check lets the truth be, and nothing known between."""
    label = f"{event} ({BY_THE_MODEL})"
    low, high = (0.0, 1.0) if bound is None else (max(share - bound, 0.0), min(share + bound, 1.0))
    sd = (high - low) / sqrt(12)  # of what may be anything from low to high
    return Row(label, given, share, share, low, high, sd, None, _PROBABILITY, numerical_error=1e-9)


def _scaled(row: Row, size: float) -> Row:
    return replace(
        row,
        mean=row.mean * size,
        median=row.median * size,
        low=row.low * size,
        high=row.high * size,
        sd=row.sd * size,
        unit=_COUNT,
    )
