"""Made-up studies of any model: parameters from the prior, records, an output, and what a reader makes of it.

One study gives an estimate for every quantity of the model, beside the made-up truth and what exact statistics would
give. Nothing here touches data.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtri

from discreet.errors import DeclarationError
from discreet.inference import infer
from discreet.inference.coefficients import feature_reaches
from discreet.mathematics.distributions.dirichlet import tails
from discreet.mechanisms import Mechanism
from discreet.models import LinearRegression, Network
from discreet.models.bounded_family import BoundedFamily
from discreet.planning.network_accuracy import by_row, counts_of, made_up_records, made_up_tables
from discreet.planning.regression_accuracy import made_up_regression, typical_variance
from discreet.randomness import SeededBits
from discreet.reading.moments import MomentDensity, coefficients_given
from discreet.releases import simulate


@dataclass(frozen=True)
class Estimate:
    """One quantity: its made-up truth, what a reader says, and what exact statistics say."""

    truth: float
    mean: float
    width: float
    known_mean: float
    known_width: float


def made_up_study(mechanism: Mechanism, level: float, seed: int) -> list[Estimate]:
    """Return the estimates of one made-up study, always the same one for a seed."""
    return _study(mechanism.model, mechanism, level, seed)


@singledispatch
def _study(model: Any, mechanism: Mechanism, level: float, seed: int) -> list[Estimate]:
    if isinstance(model, BoundedFamily):
        return _family(model, mechanism, level, seed)
    raise DeclarationError(f"Studies of a {type(model).__name__} cannot be made up: nothing is known of its prior.")


@_study.register
def _(model: Network, mechanism: Mechanism, level: float, seed: int) -> list[Estimate]:
    generator = np.random.default_rng(seed)
    tables = made_up_tables(model, generator)
    counts = counts_of(model, made_up_records(model, tables, mechanism.size, generator))
    posterior = infer(simulate(mechanism, counts, SeededBits(seed), "planned"))
    means, widths = {}, {}
    for variable, prior in zip(model.variables, model.prior, strict=True):
        shapes = model.table(variable.name, counts).reshape(-1, len(prior)) + np.array(prior)
        totals = shapes.sum(axis=1, keepdims=True)
        low, high = (betaincinv(shapes, totals - shapes, tail) for tail in tails(level))
        means[variable.name], widths[variable.name] = shapes / totals, high - low
    rows = zip(*(by_row(model, each) for each in (tables, means, widths)), posterior.rows(level), strict=True)
    return [Estimate(truth, row.mean, row.high - row.low, known, spread) for truth, known, spread, row in rows]


@_study.register
def _(model: LinearRegression, mechanism: Mechanism, level: float, seed: int) -> list[Estimate]:
    """Effects: a coefficient times how far its feature can vary, so that all are in units of the target."""
    moments, coefficients = made_up_regression(mechanism, seed)
    truth = dict(zip(model.names, coefficients, strict=True))
    posterior = infer(simulate(mechanism, moments, SeededBits(seed), "planned"))
    density = MomentDensity(model, mechanism.size, ())
    means, roots = coefficients_given(density, moments.astype(float), np.array(typical_variance(model)))
    jacobian = model.in_units(np.eye(model.dimension)) - model.in_units(np.zeros(model.dimension))
    deviations = np.sqrt(np.square(jacobian.T @ roots).sum(axis=1))
    known = dict(zip(model.names, zip(model.in_units(means), deviations, strict=True), strict=True))
    twice, reaches, found = 2 * float(ndtri((1 + level) / 2)), feature_reaches(model), []
    for name, interval in posterior.interval(level).items():
        unit, (mean, deviation) = reaches[name], known[name]
        values = (truth[name], posterior.mean[name], interval.width, float(mean), twice * float(deviation))
        found.append(Estimate(*(unit * value for value in values)))
    return found


def _family(model: Any, mechanism: Mechanism, level: float, seed: int) -> list[Estimate]:
    theta, counts = made_up_family(model, mechanism.size, np.random.default_rng(seed))
    posterior = infer(simulate(mechanism, counts, SeededBits(seed), "planned"))
    total = sum((value * int(count) for value, count in zip(model.values, counts, strict=True)), Fraction(0))
    known = model.posterior_given_total(total, mechanism.size)
    low, high = (known.guess(tail) for tail in tails(level))
    return [Estimate(theta, posterior.mean, posterior.interval(level).width, known.guess(0.5), high - low)]


def made_up_family(model: Any, size: int, generator: np.random.Generator) -> tuple[float, NDArray[np.int64]]:
    """Return a parameter of a family from its prior, and the counts of so many records."""
    theta = float(model.posterior_given_total(Fraction(0), 0).guess(generator.random()))
    return theta, generator.multinomial(size, model.level_probabilities(np.array([theta]))[0])
