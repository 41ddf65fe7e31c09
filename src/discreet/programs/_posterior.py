"""The noise-aware posterior of a program's parameters: coefficients, rates, spreads, and what follows from them."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import inf, isfinite

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import whole
from discreet.inference import (
    SHOWN_LEVEL,
    Group,
    Posterior,
    PosteriorSample,
    Problem,
    ReportText,
    Row,
    levels_in_words,
    little_information,
    number_facts,
    number_in_words,
)
from discreet.mathematics.distributions import CountDistribution, WeightedDraws
from discreet.mechanism import Sized, sized
from discreet.programs._inference import ModelSolution
from discreet.programs._model import ModelledTable
from discreet.release import Release
from discreet.tables import SecretGroupwiseDistributions

SCALED = (0.8, 1.25)
"""Powers of the prior under which inference is repeated."""
_SENSITIVE = 0.3  # standard deviations: a mean that moves by more between the two powers is reported


class ModelPosterior(Posterior[ModelledTable], shows=ModelSolution):
    """The posterior of the parameters of a program, with the noise of the release accounted for."""

    def __init__(
        self, model: ModelledTable, releases: Sequence[Release[ModelledTable]], solutions: Sequence[ModelSolution]
    ) -> None:
        (self.solution,) = solutions
        self.numbers_of_records = tuple(map(_secret_number, self._about_the_same(releases)))
        super().__init__(model, tuple(releases), *self._sizes(releases)[:1])
        self.about = "" if self.numbers_of_records[0] is None else "about "

    def _about_the_same(self, releases: Sequence[Release]) -> list[Sequence[Release]]:
        """Return the releases of every population: all of the only one, or one of each."""
        return [[each] for each in releases] if self.solution.target.populations else [releases]

    def _sizes(self, releases: Sequence[Release]) -> list[int]:
        """Return how many records every population has, or about how many."""
        return [
            sized(own[0].mechanism).size if number is None else round(number.mean)
            for own, number in zip(self._about_the_same(releases), self.numbers_of_records, strict=True)
        ]

    @property
    def number_of_records(self) -> CountDistribution:
        """Return the distribution of a secret number of records, whatever the program is."""
        (number, *others) = self.numbers_of_records
        if number is None or others:
            raise DeclarationError(
                "number_of_records is the distribution of a secret number; here it is public, or there are several "
                "populations, each with its own in numbers_of_records."
            )
        return number

    @property
    def warnings(self) -> tuple[Warning, ...]:
        return little_information(self)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all quantities."""
        return self.solution.cells.labels

    def __repr__(self) -> str:
        return f"<posterior of {self.model.program!r} given {self.releases[0].label!r}>"

    def quantity(self, name: str) -> WeightedDraws:
        """Return the distribution of one quantity by its name: mean, sd, quantiles, interval."""
        return self.distributions[self.names[self._index(name)]]

    def keys(self) -> tuple[str, ...]:
        """Return the names of all quantities."""
        return self.names

    @property
    def mean(self) -> Mapping[str, float]:
        return self._by_key(distribution.mean for distribution in self.distributions.values())

    @property
    def sd(self) -> Mapping[str, float]:
        return self._by_key(distribution.sd for distribution in self.distributions.values())

    @property
    def effective_size(self) -> float:
        """Return how many independent draws the posterior's own are worth; no limit where it is computed on a grid."""
        return inf if self.solution.is_exact else self.solution.effective_size

    @cached_property
    def distributions(self) -> dict[str, WeightedDraws]:
        """Return the distribution of every quantity."""
        return {name: self.solution.distribution(index) for index, name in enumerate(self.names)}

    def of(self, function: Callable[[Mapping[str, Floats]], Floats]) -> WeightedDraws:
        """Return the distribution of any function of the quantities: it takes arrays by name and returns one array."""
        found = np.asarray(function(dict(zip(self.names, self.solution.values.T, strict=True))), dtype=float)
        if found.shape != (len(self.solution.values),):
            raise DeclarationError("The function must return one number for each point, computed on whole arrays.")
        return WeightedDraws(found, self.solution.grouped)

    def rows(self, level: float = SHOWN_LEVEL) -> tuple[Row, ...]:
        return self.some_rows(range(len(self.names)), level)

    def some_rows(self, indices: Sequence[int], level: float = SHOWN_LEVEL) -> tuple[Row, ...]:
        """Return only the rows at these positions."""
        shares = self._shares(level)
        found = []
        for index in indices:
            distribution = self.solution.distribution(int(index))
            low, high = distribution.interval(level)
            share = None if shares is None else max(0.0, 1 - shares[int(index)] / (high - low)) if high > low else None
            drawn = None if self.solution.is_exact else distribution.standard_error
            found.append(
                Row(
                    self.names[index], "", distribution.mean, distribution.median, low, high, distribution.sd, share,
                    self.solution.cells.unit, drawn, distribution.numerical_error(level),
                )
            )  # fmt: skip
        return tuple(found)

    def _shares(self, level: float) -> list[float] | None:
        """Return the widths of the intervals that exact counts would give, if they were the expected ones."""
        middle = self.solution.grouped.mean(self.solution.found.points)
        expected = self.solution.target.expected(np.asarray(middle))
        return None if expected is None else [width for _, width in self.model.exact(expected, self.size, level)]

    def sample(self, count: int, seed: int | None = None) -> PosteriorSample:
        """Draw the quantities shown, with the unconstrained parameters behind them."""
        number, generator = whole(count, "count", most=10**7), np.random.default_rng(seed)
        if self.solution.chains:
            each = max(1, min(number // self.solution.chains, len(self.solution.values) // self.solution.chains))
            rows = np.arange(len(self.solution.values)).reshape(self.solution.chains, -1)[:, -each:].ravel()
        else:
            rows = self.solution.grouped.chosen(number, generator)
        return self._states(rows)

    def _states(self, rows: Counts) -> PosteriorSample:
        found = self.solution.found
        statistics = {"log_density": found.log_densities[rows], "weight": found.weights[rows]}
        parameters = {"parameters": self.solution.values[rows]}
        return PosteriorSample(parameters, found.points[rows], max(1, self.solution.chains), statistics)

    def draws(self, count: int, seed: int | None = None) -> dict[str, Floats]:
        return dict(self.sample(count, seed).parameters)

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Return the axes: the quantities lie along one."""
        return {"parameters": ("parameter",)}

    @property
    def coords(self) -> Mapping[str, tuple[str, ...]]:
        return {"parameter": self.names}

    def further_groups(self, sample: PosteriorSample) -> dict[str, Group]:
        """Return the log prior density of every draw, on the unconstrained scale, for prior sensitivity."""
        return {"log_prior": {"log_prior": sample.chained(self.solution.cells.log_prior(sample.behind)[0])}}

    def log_likelihoods(self, sample: PosteriorSample) -> list[Floats]:
        """Return log P(release | parameters), all true tables summed out: one number for each release."""
        if len(self.releases) > 1:
            raise DeclarationError(
                "several releases were read together, and only the product of their likelihoods is known"
            )
        return [self.solution.target.log_likelihoods(sample.behind)]

    def replicate(self, sample: PosteriorSample, generator: np.random.Generator) -> Counts:
        """Draw the table of as many further records."""
        if self.solution.target.populations:
            raise DeclarationError("further records are drawn for one population at a time")
        chances = self.model.chances(sample.behind, generator)
        return generator.multinomial(self.size, chances / chances.sum(axis=1, keepdims=True))

    def prior_sample(self, count: int, generator: np.random.Generator) -> PosteriorSample:
        """Draw the quantities from the prior."""
        theta = self.solution.cells.prior_draws(count, generator)
        return PosteriorSample({"parameters": self.solution.cells.natural(theta)}, theta)

    @property
    def method(self) -> str:
        return self.solution.method

    @property
    def log_evidence(self) -> float | None:
        """Return log P(releases | program) if it is known."""
        found = self.solution.log_evidence
        return found if isfinite(found) else None

    @cached_property
    def information(self) -> float | None:
        """Return the information in the releases, in nats: the posterior E[log likelihood] minus the log evidence."""
        if self.log_evidence is None:
            return None
        found = self.solution.found
        kept = found.weights > 0
        log_likelihoods = found.log_densities[kept] - self.solution.cells.log_prior(found.points[kept])[0]
        return float(found.weights[kept] @ log_likelihoods) - self.log_evidence

    def prior_sensitivity(self) -> dict[str, float]:
        """Return by how many standard deviations each mean moves between prior^0.8 and prior^1.25 (power scaling).

        Draws get the weight w p(theta)^(a - 1). A mean that moves by more than about 0.3 depends on the prior as much
        as on the release.
        """
        found = self.solution.found
        logs = self.solution.cells.log_prior(found.points)[0]
        means = []
        for power in SCALED:
            shift = (power - 1) * logs
            weights = found.weights * np.exp(shift - shift[found.weights > 0].max())
            means.append(weights @ self.solution.values / weights.sum())
        sds = np.sqrt(self.solution.grouped.variance(self.solution.values))
        moved = np.abs(means[1] - means[0]) / np.where(sds > 0, sds, 1.0)
        return dict(zip(self.names, moved.tolist(), strict=True))

    def remarks(self, level: float = SHOWN_LEVEL) -> tuple[str, ...]:
        """Say about how many records there are where that is secret, and which means depend strongly on the prior."""
        numbers = [each for each in self.numbers_of_records if each is not None]
        about = tuple(number_in_words(each, round(each.mean), level=level) for each in numbers[:1] if len(numbers) == 1)
        moved = {name: by for name, by in self.prior_sensitivity().items() if by > _SENSITIVE}
        if not moved:
            return about
        named = ", ".join(f"{name} ({by:.1f} sd)" for name, by in moved.items())
        return (
            *about,
            (
                "These means are sensitive to the prior: they move when it is made weaker or stronger (powers 0.8 and "
                f"1.25): {named}."
            ),
        )

    def facts(self, level: float = SHOWN_LEVEL) -> dict[str, object]:
        """Return the program, how far the posterior can be trusted, and how much means depend on the prior."""
        figures = {"pareto_shape": self.solution.found.shape, "r_hat": self.solution.r_hat}
        known: dict[str, object] = {name: value for name, value in figures.items() if isfinite(value)}
        if not self.solution.is_exact:
            known["effective_size"] = self.solution.effective_size
            known["variance_errors"] = [self.solution.variance_error(index) for index in range(len(self.names))]
        if self.numbers_of_records[0] is not None and len(self.numbers_of_records) == 1:
            known["number_of_records"] = number_facts(self.numbers_of_records[0], level)
        return {"program": repr(self.model.program), "prior_sensitivity": self.prior_sensitivity(), **known}

    @property
    def text(self) -> ReportText:
        names = self.solution.target.populations
        known = zip(names, self._sizes(self.releases), self.numbers_of_records, strict=False)
        sizes = [f"{name} ({'about ' * (number is not None)}{size} records)" for name, size, number in known]
        return ReportText(
            subject=self.model.program.subject,
            question=f"what does {self.model.program!r} say about {', '.join(c.name for c in self.model.columns)}?",
            columns=tuple((column.name, levels_in_words(column)) for column in self.model.columns),
            hidden="records and their counts",
            meaning=(
                "Each line is one quantity of the model, with an interval that combines the uncertainty of sampling "
                "and of the noise."
            ),
            prior=self.model.program.in_words(),
            populations=", ".join(sizes),
            has_holders_prior=bool(self.model == self.releases[0].mechanism.model),
        )


def _secret_number(releases: Sequence[Release]) -> CountDistribution | None:
    """Return the distribution of a secret number of records, from its own noisy sum; None if it is public."""
    if isinstance(releases[0].mechanism, Sized):
        return None
    return SecretGroupwiseDistributions(Problem.of(releases)).number()
