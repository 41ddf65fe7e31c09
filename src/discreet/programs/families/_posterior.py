"""The noise-aware posterior of the one parameter of a family, on a fine grid of values."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import cached_property
from math import exp
from typing import overload

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import exact_text, whole
from discreet.inference import Posterior, PosteriorSample, ReportText, Row, levels_in_words, little_information
from discreet.mathematics.distributions import Interval, tails
from discreet.mechanism import sized
from discreet.programs.families._inference import FamilySolution
from discreet.programs.families._readable_family import ReadableFamily
from discreet.release import Release

Several = Sequence[float] | Floats


class FamilyPosterior(Posterior[ReadableFamily], shows=FamilySolution):
    """The posterior of a family's parameter, with the noise of the draws accounted for."""

    def __init__(
        self, model: ReadableFamily, releases: Sequence[Release[ReadableFamily]], solutions: Sequence[FamilySolution]
    ) -> None:
        super().__init__(model, tuple(releases), sized(releases[0].mechanism).size)
        (solution,) = solutions
        self.solution, self.prior = solution, solution.prior
        self._edges, self._middles, self._weights = solution.edges, solution.middles, solution.weights
        self._masses, self._mean_total = solution.log_masses, solution.mean_total
        self._log_evidence = solution.log_evidence

    def __repr__(self) -> str:
        return f"<posterior of the parameter of {self.model!r} given {self.releases[0].label!r}>"

    @property
    def warnings(self) -> tuple[Warning, ...]:
        return little_information(self)

    def rows(self, level: float = 0.9) -> tuple[Row, ...]:
        low, high = self._interval(level)
        name, median, unit = f"{self._kind} {self.model.column.name}", self.quantile(0.5), f"parameter of {self._kind}"
        share, off = self.privacy_share(level), self.numerical_error(level)
        return (Row(name, "", self._mean, median, low, high, self._sd, share, unit, None, off),)

    def numerical_error(self, level: float = 0.9) -> float:
        """Return an estimate, on the safe side, of the error of the mean and of both ends of the interval.

        A grid of cells three times as wide, each with the likelihood at its middle, has about nine times the error, so
        a quarter of the difference between both is twice the error of this one: of the mean, and of the probability
        below an edge, which divided by the density is the error of an end. Between two edges the distribution function
        is taken as linear, which moves an end by at most width^2 / 8 |d log density / dx|. Where totals are known by an
        expansion, its error is added to all probabilities. Rounding is added at 1e-9 of the standard deviation, as sums
        over totals keep about this many digits.
        """
        edges, weights = self.solution.thirds
        rough, heights = np.append(0.0, np.cumsum(weights)), np.log(np.maximum(self._heights, 1e-300))
        off = self.solution.weight_error
        errors = [abs(float(weights @ (edges[:-1] + edges[1:])) / 2 - self._mean) / 4 + off * self._sd]
        for tail in tails(level):
            cell = int(np.clip(np.searchsorted(self._cumulative, tail) - 1, 1, len(heights) - 2))
            near = np.clip(cell // 3 + np.arange(2), 0, len(rough) - 1)
            below = float(np.abs(rough[near] - self._cumulative[3 * near]).max()) / 4 + off
            bent = float(np.diff(self._edges)[cell]) / 16 * abs(float(heights[cell + 1] - heights[cell - 1]))
            errors.append(below * exp(-heights[cell]) + bent)
        return max(errors) + 1e-9 * self._sd

    @property
    def _heights(self) -> Floats:
        return np.asarray(self._weights / np.diff(self._edges))

    @property
    def _kind(self) -> str:
        return type(self.model).__name__

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Return the axes: `parameter` is a single number."""
        return {"parameter": ()}

    @property
    def coords(self) -> Mapping[str, tuple[str, ...]]:
        """Return nothing: there are no entries to name."""
        return {}

    @property
    def method(self) -> str:
        """Say that all totals of the records were summed out, on a grid."""
        return f"read on a grid of {len(self._middles)} values of the parameter, summing over all totals of the records"

    @property
    def log_evidence(self) -> float:
        """Return log P(draws | prior)."""
        return self._log_evidence

    def facts(self, level: float = 0.9) -> dict[str, object]:
        """Return the family, its column and what is expected of one further record."""
        return {"family": self._kind, "column": self.model.column.name, "predictive_mean": self.predictive_mean}

    def remarks(self, level: float = 0.9) -> tuple[str, ...]:
        """Say what is expected of one further record."""
        return (f"One further record is expected to have {self.model.column.name} = {self.predictive_mean:.4g}.",)

    @property
    def text(self) -> ReportText:
        column = self.model.column
        return ReportText(
            subject="a family with one parameter",
            question=f"which parameter of {self._kind} describes {column.name}?",
            columns=((column.name, levels_in_words(column)),),
            hidden="records and their total",
            meaning=(
                "The estimated parameter, with an interval that combines the uncertainty of sampling and of the "
                f"noise. One further record is expected to have {column.name} = {self.predictive_mean:.4g}."
            ),
            prior=f"The prior distribution is {_in_words(self.prior)}.",
            estimation=self.model.missing_in_words,
            has_holders_prior=bool(self.prior == self.model.posterior_given_total(Fraction(0), 0)),
        )

    def keys(self) -> tuple[str]:
        """Return the one key, 'parameter'."""
        return ("parameter",)

    @property
    def _mean(self) -> float:
        return float(self._weights @ self._middles)

    @property
    def _sd(self) -> float:
        return float(np.sqrt(self._weights @ (self._middles - self._mean) ** 2))

    @cached_property
    def _cumulative(self) -> Floats:
        return np.asarray(np.append(0.0, np.cumsum(self._weights)) / self._weights.sum())

    @overload
    def cdf(self, values: float) -> float: ...

    @overload
    def cdf(self, values: Several) -> Floats: ...

    def cdf(self, values: float | Several) -> float | Floats:
        """Return P(parameter <= value)."""
        return _one_or_several(np.interp(np.asarray(values, dtype=float), self._edges, self._cumulative))

    @overload
    def quantile(self, probability: float) -> float: ...

    @overload
    def quantile(self, probability: Several) -> Floats: ...

    def quantile(self, probability: float | Several) -> float | Floats:
        """Return the value below which the parameter lies with a probability."""
        asked = np.asarray(probability, dtype=float)
        if not ((asked >= 0) & (asked <= 1)).all():
            raise DeclarationError("A probability must lie between 0 and 1.")
        return _one_or_several(np.interp(asked, self._cumulative, self._edges))

    def _interval(self, level: float) -> Interval:
        low, high = self.quantile(tails(level))
        return Interval(float(low), float(high))

    @overload
    def density(self, values: float) -> float: ...

    @overload
    def density(self, values: Several) -> Floats: ...

    def density(self, values: float | Several) -> float | Floats:
        """Return the density of the parameter, 0 where it is negligible."""
        points = np.asarray(values, dtype=float)
        return _one_or_several(np.interp(points, self._middles, self._heights, left=0.0, right=0.0))

    def draws(self, count: int, seed: int | None = None) -> dict[str, Floats]:
        """Return independent draws of the `parameter` from the reader's posterior."""
        generator = np.random.default_rng(seed)
        return {"parameter": np.asarray(self.quantile(generator.random(whole(count, "count", most=10**8))))}

    def log_likelihoods(self, sample: PosteriorSample) -> list[Floats]:
        """Return log P(release | parameter) on the grid, with all totals of the records summed out."""
        if len(self.releases) > 1:
            raise DeclarationError("several draws of a family were read together, and only their product is known")
        with np.errstate(divide="ignore"):
            logs = np.log(self._weights) + self._log_evidence - self._masses
        indices = np.searchsorted(self._edges, sample.parameters["parameter"], side="right") - 1
        return [logs[np.clip(indices, 0, len(logs) - 1)]]

    def replicate(self, sample: PosteriorSample, generator: np.random.Generator) -> Counts:
        """Draw counts of levels of as many further records."""
        chances = self.model.level_probabilities(sample.parameters["parameter"])
        return generator.multinomial(self.size, chances / chances.sum(axis=1, keepdims=True))

    def prior_sample(self, count: int, generator: np.random.Generator) -> PosteriorSample:
        """Draw the parameter from the prior."""
        return PosteriorSample(
            {"parameter": np.array([float(self.prior.guess(p)) for p in generator.random(count).tolist()])}
        )

    @property
    def predictive_mean(self) -> float:
        """Return the expected value of one further record, as it would be counted: clipped, or in a band."""
        values = np.array([float(value) for value in self.model.values])
        return float(self._weights @ (self.model.level_probabilities(self._middles) @ values))

    @property
    def information(self) -> float:
        """Return the information in the draws, in nats: the divergence (KL) of the posterior from the prior."""
        kept = self._weights > 0
        return float(self._weights[kept] @ (np.log(self._weights[kept]) - self._masses[kept]))

    def privacy_share(self, level: float = 0.9) -> float:
        """Return the share of the interval's width that is due to privacy, which the exact total would save."""
        low, high = tails(level)
        known = self.model.posterior_given_total(Fraction(self._mean_total).limit_denominator(10**6), self.size)
        width = self._interval(level).width
        return max(0.0, 1 - (known.guess(high) - known.guess(low)) / width) if width > 0 else 0.0


def _one_or_several(found: Floats) -> float | Floats:
    """Return a number where one was asked for."""
    return float(found) if found.ndim == 0 else found


def _in_words(distribution: object) -> str:
    """Return a distribution with its parameters, such as 'Gamma with shape 2 and rate 1/2'; your own by name only."""
    name = type(distribution).__name__.removesuffix("Law")
    declared = (
        {each.name: getattr(distribution, each.name) for each in fields(distribution)}
        if is_dataclass(distribution)
        else {}
    )
    known = [f"{name} {exact_text(value)}" for name, value in declared.items() if value is not None]
    return f"{name} with {' and '.join(known)}" if known else name
