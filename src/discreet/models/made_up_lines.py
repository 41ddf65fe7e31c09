"""Made-up records of a regression: coefficients from the prior, evenly spread features, and noise around the line."""

import numpy as np

from discreet.arrays import Floats
from discreet.models.linear_regression import LinearRegression
from discreet.models.model import MadeUp
from discreet.models.moments import Wholes
from discreet.models.number_bounds import Bounds

_BATCH = 50_000
_ROOM = 0.8  # made-up lines stay within this part of the target's range


def made_up_line(model: LinearRegression, size: int, generator: np.random.Generator) -> MadeUp:
    """Return moments of so many made-up records, and their coefficients in the units of the table."""
    w = generator.standard_normal(model.dimension) / np.sqrt(float(model.prior_precision))
    w *= min(1.0, _ROOM * np.sqrt(model.dimension) / np.abs(w).sum())
    sigma = min(np.sqrt(model.typical_variance), (1 - _ROOM) / 2)
    parts = [min(_BATCH, size - start) for start in range(0, size, _BATCH)]
    moments = np.sum([_moments(model, part, w, sigma, generator) for part in parts], axis=0)
    return MadeUp(tuple(model.in_units(w).tolist()), moments)


def _moments(model: LinearRegression, size: int, w: Floats, sigma: float, generator: np.random.Generator) -> Wholes:
    """Return the moments of records with evenly spread features and coefficients w."""
    records: dict[str, list[object]] = {
        each.name: _evenly(each, size, generator) for each in model.bounds if each.name != model.target
    }
    for column in model.declared_columns:
        codes = generator.integers(len(column.levels), size=size)
        records[column.name] = [column.levels[code] for code in codes]
    target = model.ranges[model.target]
    line = model.design(records) @ w if records else np.full(size, w.sum())
    values = target.middle + target.half * (line + generator.normal(0, sigma, size))
    return model.rehearse(records | {model.target: values.tolist()})


def _evenly(bounds: Bounds, size: int, generator: np.random.Generator) -> list[object]:
    return list(generator.uniform(float(bounds.low), float(bounds.high), size).tolist())
