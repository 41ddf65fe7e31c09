"""The noise-aware posterior of a regression given noisy moments.

Given the true moments (A, b), which `reading.moments` samples, the coefficients are normal:

    w | A, b ~ N((A + sigma^2 L I)^-1 b, sigma^2 (A + sigma^2 L I)^-1),     L the prior's precision.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.distributions import Interval, Sampled
from discreet.distributions.interval import tails
from discreet.errors import DeclarationError
from discreet.exact import whole
from discreet.models.linear_regression import LinearRegression
from discreet.reading import Case, read
from discreet.reading.moments import MomentReading, coefficients_given
from discreet.releases import Release

Floats = NDArray[np.float64]


class Prediction(NamedTuple):
    """What is expected of a new record's target, in its own units."""

    mean: float
    low: float
    high: float


class RegressionPosterior:
    """What a reader knows about the coefficients, in the units of the table, with the noise accounted for."""

    def __init__(self, reading: MomentReading, releases: Sequence[Release]) -> None:
        self.reading, self.releases = reading, tuple(releases)
        self.density, self.chains, self.model = reading.density, reading.chains, reading.model
        self.size = self.density.size
        self._states = reading.states

    def __repr__(self) -> str:
        return f"<posterior of {self.model.target!r} given {self.releases[0].label!r}: R-hat {self.r_hat:.3f}>"

    def __str__(self) -> str:
        lines = [f"{'coefficient':<24}{'mean':>12}   90 % interval"]
        for name, (low, high) in self.interval(0.9).items():
            lines.append(f"{name:<24}{self.mean[name]:>12.5g}   {low:.5g} to {high:.5g}")
        return "\n".join(lines)

    @property
    def _centres(self) -> Floats:
        """Return E[w | moments] for every state of the chains: steps x walkers x coordinates."""
        return self.reading.centres

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
        return self.draws(min(20_000, len(self._states)), seed=0)

    def _by_name(self, values: Floats) -> dict[str, float]:
        return dict(zip(self.model.names, map(float, values), strict=True))

    @cached_property
    def mean(self) -> dict[str, float]:
        """Return the expected coefficients."""
        return self._by_name(self.model.in_units(self._centres.mean(axis=(0, 1))))

    @cached_property
    def sd(self) -> dict[str, float]:
        """Return the standard deviations of the coefficients."""
        return self._by_name(self._kept.std(axis=0, ddof=1))

    def interval(self, level: float = 0.9) -> dict[str, Interval]:
        """Return the equal-tailed interval of every coefficient."""
        low, high = np.quantile(self._kept, tails(level), axis=0)
        return {name: Interval(float(a), float(b)) for name, a, b in zip(self.model.names, low, high, strict=True)}

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

    def draws(self, count: int, seed: int | None = None) -> Floats:
        """Draw coefficients (rows, in the order of `model.names`) in the units of the table."""
        return self.model.in_units(self._weights(count, np.random.default_rng(seed))[0])

    def predict(self, rows: Mapping[str, Sequence[Any]] | Any, level: float = 0.9, seed: int = 0) -> list[Prediction]:
        """Return what is expected of the targets of new records, by column or a frame; their own noise is included."""
        generator = np.random.default_rng(seed)
        weights, variance = self._weights(4000, generator)
        design, target = self.model.design(rows), self.model.ranges[self.model.target]
        lines = weights @ design.T
        future = lines + np.sqrt(variance)[:, None] * generator.standard_normal(lines.shape)
        low, high = np.quantile(future, tails(level), axis=0) * target.half + target.middle
        means = lines.mean(axis=0) * target.half + target.middle
        return [Prediction(*map(float, row)) for row in zip(means, low, high, strict=True)]

    def expected(self, rows: Mapping[str, Sequence[Any]]) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of the targets of new records: variance x'Cov(w)x + E sigma^2."""
        design, half = self.model.design(rows), self.model.ranges[self.model.target].half
        weights, _ = self._weights(min(20_000, len(self._states)), np.random.default_rng(0))
        variances = np.einsum("ij,jk,ik->i", design, np.atleast_2d(np.cov(weights.T)), design)
        noise = float(np.mean(self.density.parts(self._states)[1]))
        means = design @ self._centres.mean(axis=(0, 1)) * half + self.model.ranges[self.model.target].middle
        return means, half * np.sqrt(variances + noise)


def read_regression(*releases: Release, model: LinearRegression | None = None, seed: int = 0) -> RegressionPosterior:
    """Return the noise-aware posterior given one release of noisy moments, or several of the same records.

    `model` replaces the declared prior by the reader's own; its columns, bounds and grid must be the same. `seed` makes
    the reading repeatable; no secret is involved. `infer` is the same, under the declared prior.
    """
    case = replace(Case.of(releases), seed=seed)
    if not isinstance(case.model, LinearRegression):
        raise DeclarationError(
            f"{case.label!r} is about a {type(case.model).__name__}: it has no noisy moments to read."
        )
    if model is not None and (not isinstance(model, LinearRegression) or model.layout != case.model.layout):
        raise DeclarationError("The reader's model must have the columns, bounds and grid of the release.")
    return RegressionPosterior(read(case if model is None else replace(case, model=model)), releases)
