"""The noise-aware posterior of a regression: its coefficients in the units of the table.

Chains hold the true moments behind the releases; given these, coefficients are Gaussian. A coefficient alone says
little about how much a feature matters, as it depends on the feature's units, so that pictures show effects: what the
target changes by if the feature goes from one of its bounds to the other, or from the reference to a level.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from discreet.arrays import Floats
from discreet.errors import DeclarationError
from discreet.exact import whole
from discreet.inference.coefficients import INTERCEPT, units_of
from discreet.inference.posteriors.account import Account, bounds_in_words, levels_in_words
from discreet.inference.posteriors.pictures import Intervals, Line
from discreet.inference.posteriors.posterior import Posterior
from discreet.inference.posteriors.row import Row
from discreet.mathematics.distributions import Interval, Sampled
from discreet.mathematics.distributions.dirichlet import tails
from discreet.models.linear_regression import LinearRegression
from discreet.reading.moments import MomentReading, coefficients_given
from discreet.releases import Release

_CHUNK = 4096  # states that are decomposed together
_KEPT = 20_000


class Prediction(NamedTuple):
    """What is expected of a new record's target, in its own units."""

    mean: float
    low: float
    high: float


class RegressionPosterior(Posterior[LinearRegression], shows=MomentReading):
    """What a reader knows about the coefficients, in the units of the table, with the noise accounted for."""

    subject = "a regression"

    def __init__(
        self,
        model: LinearRegression,
        releases: Sequence[Release[LinearRegression]],
        readings: Sequence[MomentReading],
    ) -> None:
        super().__init__(model, tuple(releases), releases[0].mechanism.size)
        (reading,) = readings
        self.reading, self.density, self.chains = reading, reading.density, reading.chains
        self._states = reading.states

    def __repr__(self) -> str:
        return f"<posterior of {self.model.target!r} given {self.releases[0].label!r}: R-hat {self.r_hat:.3f}>"

    def rows(self, level: float = 0.9) -> tuple[Row, ...]:
        """Return one row for each coefficient, the intercept first, each in its own unit."""
        units, shares, intervals = units_of(self.model), self.privacy_share(level), self.interval(level)
        return tuple(
            Row(
                name, "", self.mean[name], self.coefficient(name).median, *intervals[name], self.sd[name],
                shares[name], units[name],
            )
            for name in self.model.names
        )  # fmt: skip

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Return that `coefficient` has one place for each name, and `noise_sd` none."""
        return {"coefficient": ("name",), "noise_sd": ()}

    @property
    def coords(self) -> Mapping[str, tuple[str, ...]]:
        """Return the names of the coefficients."""
        return {"name": self.model.names}

    @property
    def method(self) -> str:
        """Say how well the walkers of the simulation agree, and what it is worth."""
        worth = f"worth {self.effective_size:.0f} independent draws"
        return f"read by a simulation with R-hat {self.r_hat:.3f} (1 is perfect), {worth}"

    @property
    def log_evidence(self) -> None:
        """Return nothing: the simulation does not tell it."""
        return

    @property
    def information(self) -> float:
        """Return about how many nats the release tells: KL(closest Gaussian || prior) of the scaled coefficients."""
        weights = self._weights(min(_KEPT, len(self._states)), np.random.default_rng(0))[0]
        precision, mean = float(self.model.prior_precision), weights.mean(axis=0)
        spread = precision * np.atleast_2d(np.cov(weights.T))
        far = np.trace(spread) + precision * mean @ mean - len(mean)
        return float(max(0.0, far - np.linalg.slogdet(spread)[1]) / 2)

    def facts(self, level: float = 0.9) -> dict[str, object]:
        """Return the target, the noise around the line, and how well the simulation went."""
        low, high = self.noise.interval(level)
        noise = {"mean": self.noise.mean, "low": low, "high": high}
        known = {"target": self.model.target, "noise_sd": noise}
        return known | {"r_hat": self.r_hat, "effective_size": self.effective_size}

    def remarks(self, level: float = 0.9) -> tuple[str, ...]:
        """Say how far records lie from the line."""
        low, high = self.noise.interval(level)
        noise = f"{self.noise.mean:.4g} ({low:.4g} to {high:.4g})"
        return (f"Around the line {self.model.target} has a standard deviation of {noise}.",)

    def account(self) -> Account:
        """Return the columns with their bounds or levels, and the prior in words."""
        model, target = self.model, self.model.target
        columns = [(target, f"{bounds_in_words(model.ranges[target])}, which the others are to explain")]
        for feature in model.features:
            if isinstance(feature, str):
                columns.append((feature, bounds_in_words(model.ranges[feature])))
            else:
                columns.append((feature.name, f"{levels_in_words(feature)}; compared with {feature.levels[0]}"))
        noise = "with a prior for its variance" if model.noise_prior is not None else "of known variance"
        return Account(
            question=f"how does {target} depend on the other columns? It is answered by a linear regression from "
            f"{len(model.cells)} sums. Bounds and levels were declared beforehand, not looked up in the records.",
            columns=tuple(columns),
            hidden="sums",
            meaning="Estimated coefficients, and intervals that hold the uncertainty of sampling and of the noise "
            "together. Each is the change of the target that goes with its column while the other columns stay the "
            "same; the intercept belongs to zeros and first levels. That they go together does not say what causes "
            "what.",
            prior=f"The records are taken to lie around a line with Gaussian noise {noise}; where every column is "
            "scaled from its bounds to [-1, 1], the prior of a coefficient has the standard deviation "
            f"{1 / sqrt(model.dimension * model.prior_precision):.3g}.",
            public=("the bounds",),
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
                lines.append(Line(name, reach * row.mean, reach * row.low, reach * row.high, text=text))
        return Intervals(
            f"Change of {target} from one bound to the other, or from the reference level: "
            f"mean and {100 * level:g} % interval",
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
        """Return the largest R-hat of all coefficients; near 1 if the walkers agree."""
        return self.reading.r_hat

    @property
    def effective_size(self) -> float:
        """Return how many independent draws the chains are worth, for the worst coefficient."""
        return self.reading.effective_size

    @cached_property
    def _kept(self) -> Floats:
        return self.draws(min(_KEPT, len(self._states)), seed=0)["coefficient"]

    def _by_name(self, values: Floats) -> dict[str, float]:
        return dict(zip(self.model.names, map(float, values), strict=True))

    @cached_property
    def mean(self) -> dict[str, float]:
        """Return the expected coefficients."""
        return self._by_name(self.model.in_units(self.reading.centres.mean(axis=(0, 1))))

    @cached_property
    def sd(self) -> dict[str, float]:
        """Return the standard deviations of the coefficients."""
        return self._by_name(self._kept.std(axis=0, ddof=1))

    def interval(self, level: float = 0.9) -> dict[str, Interval]:
        """Return the equal-tailed interval of every coefficient."""
        low, high = np.quantile(self._kept, tails(level), axis=0)
        return {name: Interval(float(a), float(b)) for name, a, b in zip(self.model.names, low, high, strict=True)}

    def privacy_share(self, level: float = 0.9) -> dict[str, float]:
        """Return about which share of each interval's width is due to privacy: what exact moments would save.

        Given the moments a coefficient is Gaussian; the mean width of these intervals is what sampling leaves open.
        """
        model, states = self.model, self._states[:: -(-len(self._states) // _CHUNK)]
        roots = coefficients_given(self.density, *self.density.parts(states))[1]
        jacobian = model.in_units(np.eye(model.dimension)) - model.in_units(np.zeros(model.dimension))
        deviations = np.sqrt(np.square(np.einsum("ji,njk->nik", jacobian, roots)).sum(axis=-1)).mean(axis=0)
        known = 2 * ndtri(tails(level)[1]) * deviations
        widths = np.array([interval.width for interval in self.interval(level).values()])
        return self._by_name(np.maximum(0.0, 1 - known / widths))

    def coefficient(self, name: str) -> Sampled:
        """Return the distribution of one coefficient."""
        if name not in self.model.names:
            raise DeclarationError(f"There is no coefficient {name!r}. Coefficients are {', '.join(self.model.names)}.")
        return Sampled(self._kept[:, self.model.names.index(name)])

    @cached_property
    def noise(self) -> Sampled:
        """Return the distribution of the noise's standard deviation, in the units of the target."""
        _, variance = self.density.parts(self._states)
        return Sampled(np.sqrt(variance) * self.model.ranges[self.model.target].half)

    def _weights(self, count: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw w in public units and sigma^2: a state of the chains, then w given it."""
        count = whole(count, "count", most=10**7)
        few = count <= len(self._states)
        states = self._states[generator.choice(len(self._states), count, replace=not few)]
        moments, variance = self.density.parts(states)
        means, roots = coefficients_given(self.density, moments, variance)
        steps = generator.standard_normal(means.shape)
        return means + np.einsum("...ij,...j->...i", roots, steps), variance

    def draws(self, count: int, seed: int | None = None) -> dict[str, Floats]:
        """Draw rows of `coefficient`, in the order of `model.names`, and `noise_sd`, in the units of the table."""
        weights, variance = self._weights(count, np.random.default_rng(seed))
        noise = np.sqrt(variance) * self.model.ranges[self.model.target].half
        return {"coefficient": self.model.in_units(weights), "noise_sd": noise}

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

    def expected(self, rows: object) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of the targets of new records: variance x'Cov(w)x + E sigma^2."""
        design, half = self.model.design(rows), self.model.ranges[self.model.target].half
        weights, _ = self._weights(min(_KEPT, len(self._states)), np.random.default_rng(0))
        variances = np.einsum("ij,jk,ik->i", design, np.atleast_2d(np.cov(weights.T)), design)
        noise = float(np.mean(self.density.parts(self._states)[1]))
        means = design @ self.reading.centres.mean(axis=(0, 1)) * half + self.model.ranges[self.model.target].middle
        return means, half * np.sqrt(variances + noise)
