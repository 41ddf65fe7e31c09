"""Simulated records of a regression: coefficients from the prior, features, and noise around the line.

Features with a guessed spread are normal around the middle of their bounds and clipped; the others fill their bounds
evenly, which flatters: features of real tables seldom do.

The deviation sigma of the noise is the declared one, or drawn from its prior given that it is at most .4 (of half the
target's range): beyond that, bounds would clip what the model takes for normal. Coefficients are shrunk where the line
would come closer than 2 sigma to a bound, or than .2, so that few records are clipped.
"""

import numpy as np
from scipy.special import gammaincc, gammainccinv

from discreet._core.arrays import Floats
from discreet.mechanism import Simulated, columns_of_levels
from discreet.records import Bounds, Wholes
from discreet.regression._model import Regression

_BATCH = 50_000
_ROOM, _LEAST_ROOM = 0.8, 0.2  # the part of the target's range within which simulated lines stay: at most, at least
_MOST_NOISE = 0.4  # the largest sigma that is drawn from a prior, in half ranges


def simulated_line(model: Regression, size: int, generator: np.random.Generator) -> Simulated:
    """Return statistics of this many simulated records, and their coefficients in the units of the table."""
    w = generator.standard_normal(model.dimension) / np.sqrt(float(model.prior_precision))
    sigma = _noise(model, generator)
    room = min(_ROOM, max(_LEAST_ROOM, 1 - 2 * sigma))
    w *= min(1.0, room * np.sqrt(model.dimension) / np.abs(w).sum())
    parts = [min(_BATCH, size - start) for start in range(0, size, _BATCH)]
    statistics = model.together([_statistics(model, part, w, sigma, generator) for part in parts])
    return Simulated(tuple(model.in_units(w).tolist()), statistics)


def _noise(model: Regression, generator: np.random.Generator) -> float:
    """Draw sigma: sigma^2 = c / g with g ~ Gamma(a), given that sigma is not too large, by its quantiles.

    Where it is guessed, it is that.
    """
    if model.target in model.guessed_spreads:
        return model.guessed_spreads[model.target] / model.ranges[model.target].half
    if (prior := model.noise_prior) is None or model.is_noise_open:
        return float(np.sqrt(model.typical_variance))
    shape, scale = float(prior.shape), float(prior.scale)
    allowed = float(gammaincc(shape, scale / _MOST_NOISE**2))
    drawn = float(gammainccinv(shape, max(1e-300, allowed * generator.random())))
    return min(_MOST_NOISE, float(np.sqrt(scale / drawn)))


def _statistics(model: Regression, size: int, w: Floats, sigma: float, generator: np.random.Generator) -> Wholes:
    """Return the statistics of records with such features and coefficients w."""
    records: dict[str, list[object]] = {
        each.name: _values(each, model.guessed_spreads.get(each.name), size, generator)
        for each in model.bounds
        if each.name != model.target
    }
    for column in columns_of_levels(model):
        codes = generator.integers(len(column.levels), size=size)
        records[column.name] = [column.levels[code] for code in codes]
    target = model.ranges[model.target]
    line = model.design(records) @ w if records else np.full(size, w.sum())
    values = target.middle + target.half * (line + generator.normal(0, sigma, size))
    return model.rehearse(records | {model.target: values.tolist()})


def _values(bounds: Bounds, spread: float | None, size: int, generator: np.random.Generator) -> list[object]:
    if spread is not None:
        return list(generator.normal(bounds.middle, spread, size).tolist())
    return list(generator.uniform(float(bounds.low), float(bounds.high), size).tolist())
