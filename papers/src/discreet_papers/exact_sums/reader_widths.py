"""Widths that readers will see of a mechanism that is written out: by default each cell is read from its own sum.

Where a prior was declared, all cells are read together under it. Where none was, a cell's count has a uniform prior;
noisy counts inform about it through its own number and the sum of all others, and evidence that is not a product over
cells through every table, with all splits of the rest equally likely. Intervals are then extended to 0 or 1 where the
shortest interval of that level ends there.
"""

import numpy as np
from scipy.special import betaln, xlog1py, xlogy

from discreet._core.arrays import Counts, Floats
from discreet.inference import Observed, Problem
from discreet.mathematics.distributions._dirichlet import reaches_end, tails
from discreet.mechanism import Measurement, Sized
from discreet.tables._groupwise import pairs_through, summed_measurements
from discreet_papers.exact_sums.beta_quantiles import mixture_quantiles


def own_pair(mechanism: Sized) -> Measurement | None:
    """Return what is measured of one cell and of all others, if cells are read from their own sums."""
    model = mechanism.model
    if model.is_prior_declared or len(model.cells) == 2:
        return None
    zeros = np.zeros(len(model.cells), dtype=np.int64)
    planned = Problem(model, mechanism.size, (Observed(mechanism, zeros, "planned"),))
    summed = summed_measurements(planned, np.minimum(np.arange(len(model.cells)), 1))
    return None if summed is None else summed[0]


def own_weights(mechanism: Sized, outputs: Counts, tables: Counts, laws: Floats, cell: int) -> Floats:
    """Return P(count of a cell | its own sum) for every output (rows) and count 0, ..., n (columns)."""
    size, found = mechanism.size, np.zeros((len(outputs), mechanism.size + 1))
    if (pair := own_pair(mechanism)) is not None:
        own = np.stack([outputs[:, cell], outputs.sum(axis=1) - outputs[:, cell]], axis=1)
        different, kinds = np.unique(own, axis=0, return_inverse=True)
        first, weights = pairs_through([(different, pair.noise)], size)
        counts = first[:, None] + np.arange(weights.shape[1])
        rows, steps = np.nonzero((weights > 0) & (counts <= size))
        table = np.zeros((len(different), size + 1))
        table[rows, counts[rows, steps]] = weights[rows, steps]
        return table[kinds.ravel()]
    rest = size - tables[:, cell]
    cells = tables.shape[1]
    splits = np.prod([(rest + place) / place for place in range(1, cells - 1)], axis=0)  # of the rest over all others
    for count in range(size + 1):
        here = tables[:, cell] == count
        found[:, count] = (laws[here] / np.broadcast_to(splits, len(tables))[here, None]).sum(axis=0)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def opened_widths(weights: Floats, level: float) -> Floats:
    """Return the widths of extended intervals of shares with these laws of their counts (rows) and uniform priors."""
    size = weights.shape[1] - 1
    a = 1.0 + np.arange(size + 1)
    probabilities = (*tails(level), level, 1 - level)
    low, high, upper, lower = mixture_quantiles(weights, a, a[::-1], probabilities).T
    for ends, at, edge, end in ((low, upper, weights[:, 0], 0.0), (high, lower, weights[:, -1], 1.0)):
        near = np.flatnonzero(edge * (size + 1) >= 1 - level)
        for part in np.array_split(near, 1 + len(near) * size // 2_000_000):
            x = at[part, None]
            logs = xlogy(a - 1, x) + xlog1py(a[::-1] - 1, -x) - betaln(a, a[::-1])
            with np.errstate(divide="ignore"):
                beyond = np.log((weights[part] * np.exp(logs)).sum(axis=1))
            ends[part[reaches_end(edge[part] * (size + 1), beyond, level)]] = end
    return np.asarray(high - low)
