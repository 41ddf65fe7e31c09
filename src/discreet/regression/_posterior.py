"""The noise-aware posterior of a regression: its coefficients in the units of the table.

A solution holds weighted draws of the true moments behind the releases; given these, coefficients are Gaussian, so each
is a mixture of normal distributions. A coefficient alone says little about how much a feature matters, because it
depends on the feature's units. Pictures therefore show effects: the change in the target when the feature goes from one
of its bounds to the other, or from the reference level to another.

To criticise a model, new targets are drawn: the moments that the records would have under draws of the parameters.
Given X'X = A, coefficients w and noise e with variance s per record, X'e ~ N(0, s A), so that with A = R R' and
standard normal numbers x

    X'y = A w + sqrt(s) R x,    y'y = w'A w + 2 w'X'e + s (x'x + chi-square(n - d)).
"""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from math import isnan, sqrt
from typing import NamedTuple

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import whole
from discreet.inference import (
    IntervalLine,
    Intervals,
    Observed,
    Posterior,
    PosteriorSample,
    ReportText,
    Row,
    bounds_in_words,
    levels_in_words,
    percent_text,
)
from discreet.mathematics.distributions import Interval, NormalMixture, WeightedDraws, tails
from discreet.mechanism import sized
from discreet.noise import has_density
from discreet.records import Column
from discreet.regression._formula import written
from discreet.regression._inference import MomentSolution
from discreet.regression._model import Regression
from discreet.release import Release

INTERCEPT = "intercept"


def units_of(model: Regression) -> dict[str, str]:
    """Return the unit of each coefficient in words.

    >>> sex = Column("sex", ("f", "m"), outside="f")
    >>> from discreet.regression import LinearRegression
    >>> model = LinearRegression("pay", ["age", sex], {"age": (0, 99), "pay": (0, 9)}, missing="middle")
    >>> units_of(model)
    {'intercept': 'pay', 'age': 'pay per 1 of age', 'sex=m': 'pay, m instead of f'}
    """
    found = {INTERCEPT: model.target}
    for feature in model.features:
        if isinstance(feature, Column):
            first, *others = feature.levels
            found |= {f"{feature.name}={own}": f"{model.target}, {own} instead of {first}" for own in others}
        else:
            found[feature] = f"{model.target} per 1 of {feature}"
    found |= {name: f"{model.target} per 1 of {name}" for name in model.names if name not in found}
    return {name: found[name] for name in model.names}


def new_targets(
    model: Regression,
    size: int,
    released: Floats,
    coefficients: Floats,
    variance: Floats,
    generator: np.random.Generator,
) -> Counts:
    """Draw released moments of new targets (whole numbers, one row per draw); coefficients are in the table's units."""
    moments = model.layout.unpack(released, size)
    offset = model.in_units(np.zeros(model.dimension))
    weights = np.linalg.solve((model.in_units(np.eye(model.dimension)) - offset).T, (coefficients - offset).T).T
    values, vectors = np.linalg.eigh(moments.squares)
    normals = generator.standard_normal(weights.shape)
    deviation = np.sqrt(variance)[:, None]
    noise = deviation * np.einsum("nij,nj->ni", vectors, np.sqrt(np.maximum(values, 0.0)) * normals)
    lines = np.einsum("nij,nj->ni", moments.squares, weights)
    rest = generator.chisquare(np.maximum(moments.count - model.dimension, 1))
    left = variance * (np.square(normals).sum(axis=1) + rest)
    total = (weights * (lines + 2 * noise)).sum(axis=1) + left
    return np.rint(model.layout.with_target(released, lines + noise, total)).astype(np.int64)


_KEPT = 20_000


class Prediction(NamedTuple):
    """What is expected of a new record's target, in its own units."""

    mean: float
    low: float
    high: float


class RegressionPosterior(Posterior[Regression], shows=MomentSolution):
    """The posterior of the regression coefficients, in the units of the table, with the noise accounted for."""

    def __init__(
        self,
        model: Regression,
        releases: Sequence[Release[Regression]],
        solutions: Sequence[MomentSolution],
    ) -> None:
        super().__init__(model, tuple(releases), sized(releases[0].mechanism).size)
        (solution,) = solutions
        self.solution = solution

    def __repr__(self) -> str:
        return f"<posterior of {self.model.target!r} given {self.releases[0].label!r}: R-hat {self.r_hat:.3f}>"

    def rows(self, level: float = 0.9) -> tuple[Row, ...]:
        """Return one row for each coefficient, the intercept first, each in its own unit."""
        units, shares, intervals = units_of(self.model), self.privacy_share(level), self._intervals(level)
        return tuple(
            Row(
                name, "", self.mean[name], self.coefficient(name).median, *intervals[name], self.sd[name],
                shares[name], units[name], self.coefficient(name).standard_error,
            )
            for name in self.model.names
        )  # fmt: skip

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Return the axes: `coefficient` has one entry for each name, and `noise_sd` is a single number."""
        return {"coefficient": ("name",), "noise_sd": ()}

    @property
    def coords(self) -> Mapping[str, tuple[str, ...]]:
        return {"name": self.model.names}

    @property
    def method(self) -> str:
        return self.solution.method

    @property
    def log_evidence(self) -> float | None:
        """Return log P(X'y and y'y | X'X) in public units, with a flat prior for X'X; None if it is not known.

        Differences between priors that read the same releases are log Bayes factors.
        """
        return None if isnan(self.solution.log_evidence) else self.solution.log_evidence

    @property
    def log_evidence_error(self) -> float | None:
        """Return the Monte Carlo error of the log evidence."""
        return None if isnan(self.solution.log_evidence) else self.solution.log_evidence_error

    @cached_property
    def information(self) -> float:
        """Return the information gained, in nats: KL(closest Gaussian || prior) of the scaled coefficients."""
        weights = self.solution.draw(_KEPT, np.random.default_rng(0))[0]
        precision, mean = float(self.model.prior_precision), weights.mean(axis=0)
        spread = precision * np.atleast_2d(np.cov(weights.T))
        far = np.trace(spread) + precision * mean @ mean - len(mean)
        return float(max(0.0, far - np.linalg.slogdet(spread)[1]) / 2)

    def facts(self, level: float = 0.9) -> dict[str, object]:
        """Return the target, the noise around the line, how well the simulation went, and its errors."""
        low, high = self.noise.interval(level)
        noise = {"mean": self.noise.mean, "low": low, "high": high, "monte_carlo_error": self.noise.standard_error}
        found: dict[str, object] = {"target": self.model.target, "noise_sd": noise, "r_hat": self.r_hat}
        found |= {"effective_size": self.effective_size, "tail_effective_size": self.solution.tail_size}
        found |= self._counted_as_facts(level)
        if not isnan(self.solution.pareto_shape):
            found["pareto_k"] = self.solution.pareto_shape
        return found | {"log_evidence_error": self.log_evidence_error, "monte_carlo_errors": self.errors(level)}

    def errors(self, level: float = 0.9) -> dict[str, dict[str, float]]:
        """Return the Monte Carlo errors of the mean and of both ends of the interval, of every coefficient."""
        found = {}
        for name in self.model.names:
            distribution = self.coefficient(name)
            low, high = distribution.interval_errors(level)
            found[name] = {"mean": distribution.standard_error, "low": low, "high": high}
        return found

    def remarks(self, level: float = 0.9) -> tuple[str, ...]:
        """Say how far records scatter around the line."""
        low, high = self.noise.interval(level)
        noise = f"{self.noise.mean:.4g} ({low:.4g} to {high:.4g})"
        errors, rows = self.errors(level), self.rows(level)
        widths = {row.quantity: row.high - row.low for row in rows if row.high > row.low}
        most = max(max(errors[name].values()) / width for name, width in widths.items())
        return (
            *self._counted_in_words(level),
            f"Around the line {self.model.target} has a standard deviation of {noise}.",
            f"Means and ends of intervals have Monte Carlo errors of at most {most:.1%} of the width of an interval.",
        )

    def _counted_as_facts(self, level: float) -> dict[str, object]:
        """Return how many records have all values, where the others are left out."""
        if not self.model.leaves_gaps_out:
            return {}
        mean, low, high = self._counted(level)
        return {"records_with_all_values": {"mean": mean, "low": low, "high": high}}

    def _counted(self, level: float) -> tuple[float, ...]:
        """Return mean and interval of the number of complete records, which is at most that of all."""
        counted = self.solution.counted
        return tuple(min(each, self.size) for each in (counted.mean, *counted.interval(level)))

    def _counted_in_words(self, level: float) -> tuple[str, ...]:
        """Say how many records have all values, where the others are left out."""
        if not self.model.leaves_gaps_out:
            return ()
        mean, low, high = self._counted(level)
        return (
            f"About {mean:,.0f} ({low:,.0f} to {high:,.0f}) of {self.size:,} records have a value in every "
            "column; the others are left out.",
        )

    @property
    def text(self) -> ReportText:
        """Return the columns with their bounds or levels, and the prior in words."""
        model, target = self.model, self.model.target
        columns = [(target, f"{bounds_in_words(model.ranges[target])}, which the other columns are to explain")]
        for feature in model.features:
            if isinstance(feature, str):
                columns.append((feature, bounds_in_words(model.ranges[feature])))
            else:
                columns.append((feature.name, f"{levels_in_words(feature)}; compared with {feature.levels[0]}"))
        columns += [(written(term), "computed from the columns above, record by record") for term in model.terms]
        noise = "with a prior for its variance" if model.noise_prior is not None else "of known variance"
        return ReportText(
            subject="a regression",
            question=(
                f"how does {target} depend on the other columns? It is answered by a linear regression from "
                f"{len(model.cells)} sums. Bounds and levels were declared in advance, not looked up in the records."
            ),
            columns=tuple(columns),
            hidden="sums",
            meaning=(
                "Estimated coefficients, with intervals that combine the uncertainty of sampling and of the noise. "
                "Each is the change in the target that goes with its column while the other columns stay the same; "
                "the intercept is the value at zeros and first levels. An association does not say what causes what."
            ),
            prior=f"The records are taken to lie around a line with Gaussian noise {noise}; where every column is "
            "scaled from its bounds to [-1, 1], the prior of a coefficient has the standard deviation "
            f"{1 / sqrt(model.dimension * model.prior_precision):.3g}.",
            public=("the bounds",),
            estimation=self.model.missing_in_words,
            has_holders_prior=bool(model == self.releases[0].mechanism.model),
        )

    def intervals(self, level: float = 0.9) -> Intervals:
        """Return the effect of every feature in units of the target, with its coefficient beside it."""
        reaches, target = self.model.reaches, self.model.target
        lines = []
        for row in self.rows(level):
            if row.quantity != INTERCEPT or len(self.model.names) == 1:
                name, reach = self._name_with_bounds(row.quantity), reaches[row.quantity]
                mean, low, high = row.texts
                text = f"{mean}  ({low} to {high})"
                lines.append(IntervalLine(name, reach * row.mean, reach * row.low, reach * row.high, text=text))
        return Intervals(
            f"Change in {target} when a column goes from its lower to its upper bound, or from the reference level: "
            f"mean and {percent_text(level)} interval. {self.model.missing_in_words}",
            tuple(lines),
            reference=(0.0, ""),
            heading="coefficient (interval)",
            unit=target,
        )

    def _name_with_bounds(self, name: str) -> str:
        if name not in self.model.ranges:
            return name
        bounds = self.model.ranges[name]
        return f"{name} ({float(bounds.low):g} to {float(bounds.high):g})"

    @property
    def r_hat(self) -> float:
        """Return the largest R-hat of all coefficients and of sigma; near 1 if independent groups of draws agree."""
        return self.solution.r_hat

    @property
    def effective_size(self) -> float:
        """Return the effective number of independent draws, for the worst of all coefficients and sigma."""
        return self.solution.effective_size

    @cached_property
    def distributions(self) -> dict[str, NormalMixture]:
        """Return the distribution of every coefficient."""
        return {name: self.solution.coefficient(index) for index, name in enumerate(self.model.names)}

    def keys(self) -> tuple[str, ...]:
        """Return the names of the coefficients."""
        return self.model.names

    @property
    def mean(self) -> Mapping[str, float]:
        return self._by_key(self.distributions[name].mean for name in self.model.names)

    @property
    def sd(self) -> Mapping[str, float]:
        return self._by_key(self.distributions[name].sd for name in self.model.names)

    def _intervals(self, level: float) -> dict[str, Interval]:
        if level not in self._known_intervals:
            self._known_intervals[level] = {
                name: distribution.interval(level) for name, distribution in self.distributions.items()
            }
        return self._known_intervals[level]

    @cached_property
    def _known_intervals(self) -> dict[float, dict[str, Interval]]:
        return {}

    def privacy_share(self, level: float = 0.9) -> dict[str, float]:
        """Return roughly the share of each interval's width that is due to privacy, which exact moments would save.

        Given the moments, a coefficient is Gaussian; the mean width of these intervals is due to sampling alone.
        """
        widths = {name: interval.width for name, interval in self._intervals(level).items()}
        return {
            name: max(0.0, 1 - distribution.known_width(level) / widths[name]) if widths[name] > 0 else 0.0
            for name, distribution in self.distributions.items()
        }

    def coefficient(self, name: str) -> NormalMixture:
        """Return the distribution of one coefficient."""
        return self.distributions[self.model.names[self._index(name)]]

    @property
    def noise(self) -> WeightedDraws:
        """Return the distribution of the noise's standard deviation, in the units of the target."""
        return self.solution.noise

    def _weights(self, count: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw w in public units and sigma^2."""
        return self.solution.draw(whole(count, "count", most=10**7), generator)

    def draws(self, count: int, seed: int | None = None) -> dict[str, Floats]:
        """Draw rows of `coefficient`, in the order of `model.names`, and `noise_sd`, in the units of the table."""
        return self._in_units(*self._weights(count, np.random.default_rng(seed)))

    def sample(self, count: int, seed: int | None = None) -> PosteriorSample:
        """Draw coefficients and noise with the moments behind them."""
        generator = np.random.default_rng(seed)
        moments, weights, variance = self.solution.states(whole(count, "count", most=10**7), generator)
        return PosteriorSample(self._in_units(weights, variance), moments)

    def _in_units(self, weights: Floats, variance: Floats) -> dict[str, Floats]:
        half = self.model.ranges[self.model.target].half
        return {"coefficient": self.model.in_units(weights), "noise_sd": np.sqrt(variance) * half}

    def log_likelihoods(self, sample: PosteriorSample) -> list[Floats]:
        """Return log P(noise) of each release at the moments of each draw, where the noise has a density."""
        found = []
        for release in self.releases:
            (measured,) = Observed(release.mechanism, np.array(release.output, dtype=np.int64), "").measurements
            if not has_density(measured.noise.structure):
                raise DeclarationError(f"the noise of {type(release.mechanism).__name__} has no density")
            found.append(measured.noise.log_prob(measured.values - sample.behind))
        return found

    def replicate(self, sample: PosteriorSample, generator: np.random.Generator) -> Counts:
        """Draw the moments of new targets of records with the same features, X'X as it was drawn."""
        if sample.hidden is None:
            raise DeclarationError("the prior says nothing about the features, whose moments were released too")
        variance = np.square(sample.parameters["noise_sd"] / self.model.ranges[self.model.target].half)
        coefficients, moments = sample.parameters["coefficient"], sample.behind
        return new_targets(self.model, self.size, moments, coefficients, variance, generator)

    def prior_sample(self, count: int, generator: np.random.Generator) -> PosteriorSample:
        """Draw the coefficients and the noise from the prior."""
        model, spread = self.model, 1 / sqrt(self.model.prior_precision)
        prior = model.noise_prior
        variance = (
            np.full(count, model.typical_variance)
            if prior is None
            else float(prior.scale) / generator.standard_gamma(float(prior.shape), size=count)
        )
        return PosteriorSample(self._in_units(spread * generator.standard_normal((count, model.dimension)), variance))

    def predict(self, rows: object, level: float = 0.9, seed: int = 0) -> list[Prediction]:
        """Return what is expected of the targets of new records, by column or a frame; their own noise is included."""
        generator = np.random.default_rng(seed)
        weights, variance = self._weights(4000, generator)
        design, target = self.model.design(rows), self.model.ranges[self.model.target]
        lines = weights @ design.T
        future = lines + np.sqrt(variance)[:, None] * generator.standard_normal(lines.shape)
        low, high = np.quantile(future, tails(level), axis=0) * target.half + target.middle
        means = lines.mean(axis=0) * target.half + target.middle
        return [Prediction(*map(float, row)) for row in zip(means, low, high, strict=True)]

    def predictions(
        self, rows: object, target: str | None = None, unknown: Collection[object] = (), level: float = 0.9
    ) -> Mapping[str, Sequence[object]]:
        """Return mean and interval of the target of each record; all features must be known."""
        own = self.model.target
        if target not in (None, own) or unknown:
            raise DeclarationError(
                f"A regression predicts its own target, {own!r}, from records whose features are all known, and "
                "nothing else. Nothing was predicted."
            )
        found = self.predict(rows, level)
        ends = {"low": [each.low for each in found], "high": [each.high for each in found]}
        return {own: [each.mean for each in found]} | ends

    def expected(self, rows: object) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of the targets of new records: variance x'Cov(w)x + E sigma^2."""
        design, half = self.model.design(rows), self.model.ranges[self.model.target].half
        weights, variance = self._weights(_KEPT, np.random.default_rng(0))
        variances = np.einsum("ij,jk,ik->i", design, np.atleast_2d(np.cov(weights.T)), design)
        means = design @ self.solution.grouped.mean(self.solution.centres) * half
        return means + self.model.ranges[self.model.target].middle, half * np.sqrt(variances + variance.mean())
