"""What a reader knows about means, sums and spreads of a number: among the records, and in their population."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import sqrt
from typing import ClassVar, Self

import numpy as np
from scipy.special import ndtri

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet.inference import (
    DAYS,
    DRAWS,
    CostEstimate,
    IntervalLine,
    Intervals,
    Observed,
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
from discreet.mathematics.distributions import tails
from discreet.mechanism import Measurement
from discreet.noise import epsilon_weights
from discreet.noise.randomness import SeededBits
from discreet.numbers._bounded_number import POPULATION
from discreet.numbers._further_numbers import further_sums
from discreet.numbers._sums_inference import NumberSumsSolution, sampled_variances
from discreet.numbers._sums_model import DEVIATION, MEAN, SUM, VARIANCE, NumberSums
from discreet.release import Release

_FOR_PLANS = 4095  # draws of noise where widths are planned
_MOST_NUMBERS = 20_000_000  # sums drawn together; beyond this number, quantities are drawn group by group


class NumberSumsSolver(Solver):
    """Solves one release of sums: every quantity by a separate test."""

    models: ClassVar[tuple[type, ...]] = (NumberSums,)
    solution_type: ClassVar[type[NumberSumsSolution]] = NumberSumsSolution

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse anything but noisy sums."""
        if not problem.is_measured:
            return "sums of a number can only be read from noisy sums"
        if len(problem.observed) > 1 and self.solution_type is not NumberSumsSolution:
            return "weighted sums can only be read from one release at a time; read each by itself"
        for observed in problem.observed:
            known = [epsilon_weights(measured.noise.structure) for measured in observed.measurements]
            if None in known or not 1 <= len(known) <= 2:
                return "its noise is not the noise of GeometricSums"
        return None

    def cost(self, problem: Problem) -> CostEstimate:
        """Return the work of quantiles of drawn noise for every group."""
        groups = len(problem.model.groups)
        return CostEstimate(f"inference for {groups} groups", 60.0 * 40 * DRAWS * groups, 40.0 * DRAWS)

    def solve(self, problem: Problem) -> NumberSumsSolution:
        """Return the published ends in records, with their noise; several releases of the same sums are averaged."""
        return self.solution_type.average([self._read(problem, observed) for observed in problem.observed])

    def _read(self, problem: Problem, observed: Observed) -> NumberSumsSolution:
        values = np.concatenate([each.values for each in observed.measurements])
        rates = [weight for each in observed.measurements for weight in epsilon_weights(each.noise.structure) or ()]
        first, second = problem.model.pairs(values)
        unit = problem.model.unit
        return self.solution_type(
            problem.model, problem.size, first, second, (float(rates[0]) * unit, float(rates[-1]) * unit)
        )


class NumberSumsPosterior(Posterior[NumberSums], shows=NumberSumsSolution):
    """Means, sums and variances of a column of numbers, each with an interval for the records and for the population.

    Intervals cover the truth in about the stated share of releases, for any records. Those of means use no prior.
    """

    is_rough = False
    information = None
    log_evidence = None

    def __init__(
        self, model: NumberSums, releases: Sequence[Release[NumberSums]], solutions: Sequence[NumberSumsSolution]
    ) -> None:
        (self.solution,) = solutions
        super().__init__(model, tuple(releases), self.solution.size)
        self._rows = lru_cache(maxsize=4)(self._all_rows)

    @property
    def method(self) -> str:
        return self.solution.method

    def with_fewer_draws(self) -> Self:
        """Return the same posterior by fewer draws of noise."""
        found = type(self)(self.model, self.releases, [replace(self.solution, draws=_FOR_PLANS)])
        found.is_rough = True
        return found

    def rows(self, level: float = 0.9) -> tuple[Row, ...]:
        """Return the rows of each group: what was asked, among these records and in the population."""
        return self._rows(level)

    def _all_rows(self, level: float) -> tuple[Row, ...]:
        known = {MEAN: self._means, SUM: self._sums, VARIANCE: self._variances, DEVIATION: self._deviations}
        asked = [known[ask](level) for ask in self.model.asks]
        return tuple(row for of_group in zip(*asked, strict=True) for rows in of_group for row in rows)

    def _means(self, level: float) -> Iterator[tuple[Row, Row]]:
        for index, (mean, distribution) in enumerate(self._mean_positions(level)):
            share = self.solution.due_to_privacy(index, distribution, level)
            of_records, of_population = (self.solution.in_units(each) for each in (mean, distribution))
            yield self._pair(MEAN, index, of_records, of_population, level, share)

    def _sums(self, level: float) -> Iterator[tuple[Row, Row]]:
        for index in range(len(self.model.groups)):
            yield self._pair(SUM, index, *self.solution.sum_intervals(index, level), level)

    def _variances(self, level: float) -> Iterator[tuple[Row, Row]]:
        for index, pair in enumerate(self._spreads(level)):
            yield self._pair(VARIANCE, index, *pair, level)

    def _deviations(self, level: float) -> Iterator[tuple[Row, Row]]:
        """Yield the roots of the estimates and of both ends: they hold the root as often as these hold the variance."""
        for index, pair in enumerate(self._spreads(level)):
            records, population = (Ratio(*map(sqrt, each[:3])) for each in pair)
            yield self._pair(DEVIATION, index, records, population, level)

    def _spreads(self, level: float) -> Iterator[tuple[Ratio, Ratio]]:
        """Yield the variance of each group, among the records and in the population."""
        wide = 1 - (1 - level) / 10  # means beyond this are missed a tenth as often
        for index, means in enumerate(self._mean_positions(wide)):
            of_records, of_population = means
            records = self.solution.variance(index, level, of_records, sampled=False)
            yield records, self.solution.variance(index, level, of_population, sampled=True)

    def _mean_positions(self, level: float) -> Iterator[tuple[Ratio, Ratio]]:
        """Yield the position of the mean of each group, among the records and in the population."""
        quantiles = self.solution.quantiles(level)
        for index in range(len(self.model.groups)):
            mean = self.solution.record_mean(index, quantiles)
            population = self.solution.population_mean(index, level, mean)
            yield self.solution.guessed(index, mean), self.solution.guessed(index, population)

    def _pair(
        self, ask: str, index: int, records: Ratio, population: Ratio, level: float, share: float | None = None
    ) -> tuple[Row, Row]:
        """Return the rows of a quantity of one group, for the records and for the population."""
        apart = "days" if self.model.bounds.dates else self.unit
        unit = {VARIANCE: f"{apart} squared", DEVIATION: apart}.get(ask, self.unit)
        rows = []
        for of, (point, low, high, _), due in ((self.model.among, records, None), (POPULATION, population, share)):
            name = self.model.row_name(self.model.quantity_name(ask), of)
            sd = (high - low) / (2 * float(ndtri(tails(level)[1])))
            figures = point, point, low, high, sd, due, unit, sd / sqrt(self.solution.draws)
            rows.append(Row(name, self.model.groups[index], *figures))
        return rows[0], rows[1]

    @property
    def unit(self) -> str:
        """Return the unit of means: that of the column."""
        return DAYS if self.model.bounds.dates else self.model.column

    @property
    def known(self) -> dict[str, float]:
        """Return about how many records of each group have a value, as noisy counts that are not clipped."""
        counts = self.solution.first.sum(axis=1)
        return {group or "all": float(count) for group, count in zip(self.model.groups, counts, strict=True)}

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Return the axes: every quantity has one entry for each group."""
        return {f"{ask}": ("group",) for ask in self.model.asks}

    @property
    def coords(self) -> Mapping[str, tuple[str, ...]]:
        return {"group": tuple(group or "all" for group in self.model.groups)}

    def keys(self) -> tuple[QuantityKey, ...]:
        """Return statistics, levels of groups, or both: plain of the population, with one part more of the records."""
        levels = None if self.model.by is None else self.model.by.levels
        return number_keys(self.model.asks, levels, self.model.among)

    def draws(self, count: int, seed: int | None = None) -> dict[str, Floats]:
        """Draw quantities of the records behind the release: what was published, minus drawn noise."""
        return dict(self.sample(count, seed).parameters)

    def draws_by_key(self, count: int, seed: int | None = None) -> dict[QuantityKey, Floats]:
        """Return joint draws of all quantities, of the records and of the population that these were sampled from.

        What the population adds is drawn as its intervals have it: a Student number for a mean, a normal one for a sum,
        and for a variance one of the two ends of Clopper and Pearson, at random.
        """
        generator = np.random.default_rng(None if seed is None else [seed, 1])
        drawn = self.draws(count, seed)
        columns = []
        for index in range(len(self.model.groups)):
            for ask in self.model.asks:
                own = drawn[ask][:, index]
                columns += [own, self._of_population(ask, index, own, generator)]
        return dict(zip(self.keys(), columns, strict=True))

    def _of_population(self, ask: str, index: int, records: Floats, generator: np.random.Generator) -> Floats:
        model, solution, known = self.model, self.solution, self.solution.known(index)
        if ask == DEVIATION:
            return np.sqrt(self._of_population(VARIANCE, index, records**2, generator))
        if ask == VARIANCE:
            middle, counts = np.full(len(records), solution.point(index)), np.full(len(records), known)
            ends = sampled_variances(middle, records / model.width**2, counts, generator)
            return np.where(generator.random(len(records)) < 0.5, *ends) * model.width**2
        if ask == SUM and not solution.is_number_public:
            variance = float(np.median(solution.sum_variances(index, solution.free_sums(index))))
            return solution.possible_sums(records + sqrt(max(variance, 0.0)) * generator.standard_normal(len(records)))
        spread = sqrt(solution.spread(index).at(solution.point(index))) / known * model.width
        student = generator.choice(solution.student(max(known - 1, 1.0)), len(records))
        several = self.size if ask == SUM else 1
        far = several * spread * student * generator.standard_normal(len(records))
        return np.clip(records + far, several * float(model.bounds.low), several * float(model.bounds.high))

    def _drawn_apart(self, count: int, seed: int | None) -> dict[str, Floats]:
        """Draw quantities group by group, with independent noise: that of many groups is almost so."""
        generator, found = np.random.default_rng(seed), dict[str, Floats]()
        chosen = generator.integers(self.solution.draws, size=(len(self.model.groups), count))
        for ask in self.model.asks:
            columns = [self._drawn(ask, index) for index in range(len(self.model.groups))]
            found[ask] = np.stack([own[at % len(own)] for own, at in zip(columns, chosen, strict=True)], axis=1)
        return found

    def _drawn(self, ask: str, group: int) -> Floats:
        if ask == SUM:
            return self.solution.sums(group)
        if ask != MEAN:
            variances = self.solution.variances(group)
            return variances if ask == VARIANCE else np.sqrt(variances)
        high, low = self.solution.first[group]
        ends = np.stack([high - self.solution.noise.first, low - self.solution.noise.second])
        return self.model.value_at(np.clip(ends[0] / np.maximum(ends.sum(axis=0), 1e-9), 0, 1))

    def sample(self, count: int, seed: int | None = None) -> PosteriorSample:
        """Draw all ends behind the releases, and the quantities that follow from them."""
        if count * sum(len(release.output) for release in self.releases) > _MOST_NUMBERS:
            return PosteriorSample(self._drawn_apart(count, seed))
        bits = SeededBits(int(np.random.default_rng(seed).integers(2**32)))
        ends = [
            [each.values - each.noise.sample(count, bits) for each in observed.measurements]
            for observed in Problem.of(self.releases).observed
        ]
        if len(ends) == 1:
            hidden = np.concatenate(ends[0], axis=1)
            return PosteriorSample(self._quantities(hidden), hidden)
        weights = [self.solution.weights(number) for number in range(len(ends[0]))]  # as in the average that was read
        parts = [np.tensordot(own, [each[n] for each in ends], axes=1) for n, own in enumerate(weights)]
        return PosteriorSample(self._quantities(np.concatenate(parts, axis=1)))

    @property
    def _measurements(self) -> Sequence[Measurement]:
        return Problem.of(self.releases).measurements

    def _quantities(self, hidden: Floats) -> dict[str, Floats]:
        """Return what was asked about every group, for rows of all sums, as closely as possible."""
        model, rows = self.model, len(hidden)
        positions, squares = (
            half[:, : 2 * len(model.groups)].reshape(rows, -1, 2) / model.unit for half in np.split(hidden, 2, axis=1)
        )
        count = np.maximum(positions.sum(axis=2), 1e-9)
        mean, far = (np.clip(each[..., 0] / count, 0, 1) for each in (positions, squares))
        spread = np.clip((far - (2 * mean - 1) ** 2) / 4, 0, mean * (1 - mean))
        low = float(model.bounds.low)
        found = {
            MEAN: model.value_at(mean),
            SUM: low * positions.sum(axis=2) + model.width * positions[..., 0],
            VARIANCE: spread * model.width**2,
            DEVIATION: np.sqrt(spread) * model.width,
        }
        return {ask: np.asarray(found[ask]) for ask in model.asks}

    def log_likelihoods(self, sample: PosteriorSample) -> list[Floats]:
        """Return log P(noise) at the ends of each draw."""
        if len(self.releases) > 1:
            raise DeclarationError(
                "several releases of the same sums are read from their average, which has no likelihood of its own"
            )
        parts, first = np.zeros(sample.count), 0
        for each in self._measurements:
            own = sample.behind[:, first : first + len(each.values)]
            parts += each.noise.log_prob(each.values - own)
            first += len(each.values)
        return [parts]

    def replicate(self, sample: PosteriorSample, generator: np.random.Generator) -> Counts:
        """Draw all ends of as many further records, taking the drawn ones as their population."""
        return further_sums(self.model, sample.behind, self.size, generator)

    def prior_sample(self, count: int, generator: np.random.Generator) -> PosteriorSample:
        """Refuse: there is no prior, as intervals for the records hold for any records."""
        raise DeclarationError("there is no prior: these intervals come from tests that are valid for any records")

    def remarks(self, level: float = 0.9) -> tuple[str, ...]:
        """Say what both rows mean, and how many records have a value."""
        words = [
            f"Intervals for '{self.model.among}' allow for the noise; those for '{POPULATION}' also for sampling.",
            f"Each interval by itself covers the truth in about {percent_text(level)} of releases; "
            f"{self.model.missing_rule}.",
        ]
        if SUM in self.model.asks:
            words.append(
                f"The sum of the population is that of as many of its members as there are here, "
                f"{self.about}{self.size:,}."
            )
        return (*words, *self.about_sizes())

    def about_sizes(self) -> list[str]:
        """Say how many have a value, where that is not public."""
        if not self.model.leaves_gaps_out or self.model.by is not None:
            return []
        who, known = self.model.among.removeprefix("these "), max(0.0, float(self.known["all"]))
        if self.about:  # noise of its own: more may seem to have a value than there seem to be
            return [f"By their own noisy number, about {known:,.0f} of these {who} have a value."]
        return [f"About {known:,.0f} of {self.size:,} {who} have a value."]

    @property
    def text(self) -> ReportText:
        """Return the column with its bounds, and what its groups are."""
        model = self.model
        low, high = (model.shown(float(end)) for end in (model.bounds.low, model.bounds.high))
        columns = [
            (model.column, f"({low} to {high}; values beyond are clipped to these bounds, {model.missing_rule})")
        ]
        columns += [] if model.persons is None else [(model.persons.column, f"(ids: {model.words_about_persons})")]
        columns += [] if model.by is None else [(model.by.name, levels_in_words(model.by))]
        return ReportText(
            subject="sums of a number",
            question=f"what is the {' and the '.join(model.asks)} of {model.quantity}"
            f"{'' if model.by is None else f' in every {model.by.name}'}? It is answered from noisy sums.",
            columns=tuple(columns),
            hidden="sums",
            meaning=(
                f"The estimate, with an interval for {model.among}, which allows for the noise alone, and one for the "
                "population that they come from, which also allows for sampling."
            ),
            prior=(
                "No prior is used. The spread of the values, which the intervals for the population need, is "
                "estimated from noisy squares."
            ),
            public=("the bounds",),
            has_holders_prior=bool(model == self.releases[0].mechanism.model),
        )

    def intervals(self, level: float = 0.9) -> Intervals:
        """Return the means of all groups, for the records and the population, with about how many records each has."""
        if MEAN not in self.model.asks:
            return intervals_of(self.rows(level), level)
        every = [row for row in self.rows(level) if row.quantity.startswith("mean")]
        hidden = {row.given for row in every if row.high - row.low >= (1 - 1e-9) * self.model.width}
        hidden = set() if len(hidden) == len(self.model.groups) else hidden  # all alike: nothing else sets the scale
        counts, lines = list(self.known.values()), []
        for index, row in enumerate(every):
            if row.given in hidden:
                continue
            of = POPULATION if row.quantity.endswith(f"({POPULATION})") else self.model.among
            mean, low, high = row.texts
            size = f"  {self.model.size_in_words(max(0.0, counts[index // 2]), self.solution.is_number_public)}"
            group = row.given or "all"
            lines.append(IntervalLine(of, row.mean, row.low, row.high, group, f"{mean}  ({low} to {high}){size}"))
        unseen = f"; noise hides whether anything is in {', '.join(sorted(hidden))}" if hidden else ""
        return Intervals(
            f"Mean of {self.model.quantity} and {percent_text(level)} interval{unseen}",
            tuple(lines),
            heading="mean (interval), size",
            unit=self.unit,
        )
