"""Further records of a column of numbers: what as many again would add up to, given draws of the records themselves.

Intervals for numbers hold whatever the records are, so no distribution of records is declared. To predict further
records, the drawn records stand for their population, as in a Bayesian bootstrap: the shares of cells or groups with k
records are Dirichlet(k). Within a group, values have the drawn mean m and variance v and are taken as Beta(m s,
(1 - m) s), s = m (1 - m) / v - 1, which has these moments; m itself is as uncertain as a mean of k values. Sums of N
values and of their squared distances from the middle, d = (2 x - 1)^2, are taken as normal, with the moments

    E x^j = prod_(i < j) (m s + i) / (s + i).
"""

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet.numbers._sums_model import NumberSums

_LEAST = 1e-6  # of a mean, a variance or a count: below this, a distribution is as good as a point


def further_cells(hidden: Floats, size: int | Counts, generator: np.random.Generator) -> Counts:
    """Draw the counts (draws, cells) of `size` further records, given drawn counts of the present ones."""
    shares = generator.standard_gamma(np.maximum(hidden, 0.0)) + 1e-300
    return generator.multinomial(size, shares / shares.sum(axis=1, keepdims=True))


def further_sums(model: NumberSums, hidden: Floats, size: int | Counts, generator: np.random.Generator) -> Counts:
    """Draw all sums (draws, sums) of `size` further records, given drawn sums of the present ones."""
    groups, rows = len(model.groups), len(hidden)
    halves = np.split(np.asarray(hidden, dtype=float) / model.unit, 2, axis=1)
    indices, squares = (half[:, : 2 * groups].reshape(rows, groups, 2) for half in halves)
    known = np.maximum(indices.sum(axis=2), 0.0)
    records = further_cells(np.concatenate([known, halves[0][:, 2 * groups :]], axis=1), size, generator)
    own, count = records[:, :groups], np.maximum(known, 1.0)
    mean = np.clip(indices[..., 0] / count, _LEAST, 1 - _LEAST)
    spread = _spread(mean, squares[..., 0] / count)
    mean = np.clip(mean + np.sqrt(spread / count) * generator.standard_normal(mean.shape), _LEAST, 1 - _LEAST)
    sums = _drawn_sums(mean, np.minimum(spread, (1 - _LEAST) * mean * (1 - mean)), own, generator)
    gap = model.unit * records[:, groups:]
    parts = []
    for total in sums:
        high = np.clip(np.rint(model.unit * total).astype(np.int64), 0, model.unit * own)
        parts += [np.stack([high, model.unit * own - high], axis=2).reshape(rows, -1), gap]
    return np.concatenate(parts, axis=1)


def _spread(mean: Floats, distance: Floats) -> Floats:
    """Return the variance of a value, where possible, from its mean and its mean squared distance from the middle."""
    return np.asarray(np.clip((distance - (2 * mean - 1) ** 2) / 4, _LEAST**2, (1 - _LEAST) * mean * (1 - mean)))


def _drawn_sums(mean: Floats, spread: Floats, records: Counts, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw the sums of this many values and of their squared distances."""
    strength = mean * (1 - mean) / spread - 1
    powers = [np.ones_like(mean)]
    for step in range(4):
        powers.append(powers[-1] * (mean * strength + step) / (strength + step))
    distance = 4 * powers[2] - 4 * powers[1] + 1
    fourth = 16 * powers[4] - 32 * powers[3] + 24 * powers[2] - 8 * powers[1] + 1
    both = 4 * powers[3] - 4 * powers[2] + powers[1] - mean * distance
    slope = both / spread
    left = np.maximum(fourth - distance**2 - slope * both, 0.0)
    off, rest = (generator.standard_normal(mean.shape) * np.sqrt(records * each) for each in (spread, left))
    return records * mean + off, records * distance + slope * off + rest
