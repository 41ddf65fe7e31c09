"""An upper bound on the evidence for a prior, from windows alone: the tilted probability of the total is at most 1.

Many strengths of a prior are told apart by their evidence, and most of them have none. The bound is within a few nats,
log (standard deviation of the total), of the evidence, and needs no transform. Cells with the same noisy counts, prior
parameter and noise have the same weights, so each kind of cell is asked once.
"""

from functools import lru_cache
from math import inf

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.mathematics.tilting import tilted_to
from discreet.reading.case import Case, Observed
from discreet.reading.counts.count_sums import CellWeights
from discreet.reading.engines.tables import log_prior_total

_MARGIN = 20.0  # windows reach this many factors e beyond the noisy counts; what lies outside is added
_STEEPEST = 0.9  # of how fast the noise falls off: so far weights may be tilted
_NEARLY = 0.3  # standard deviations by which the mean may miss the total: that loosens a bound by .05 nats
_WIDER = (1, 2, 4, 8)  # times wider, where a strong prior rises faster than the noise falls at an edge


def log_bound(case: Case) -> float:
    """Return a number that the log evidence of a measured table does not exceed; infinite where none is found."""
    alpha, size, cells = case.model.concentration, case.size, len(case.model.cells)
    measurements = case.measurements
    full = all(m.of.single_cells is not None and len(m.of.single_cells) == cells for m in measurements)
    if not case.is_measured or not full or any(len(m.noise.blocks) != 1 for m in measurements):
        return inf
    different, which = _different(case.observed, cells)
    pairs, times = np.unique(which + 1j * alpha, return_counts=True)
    noisy = different[pairs.real.astype(np.int64)]

    def log_kernel(places: Counts, counts: Counts) -> Floats:
        found = np.zeros(np.broadcast(places, counts).shape)
        for number, measurement in enumerate(measurements):
            found += measurement.noise.log_terms(noisy[places, number] - counts, np.zeros(1, dtype=np.int64))
        return found

    weights = CellWeights(pairs.imag, log_kernel)
    constant = log_prior_total(alpha, size) - sum(m.noise.log_normaliser for m in measurements)
    margin = int(np.ceil(_MARGIN * min(float(m.noise.reach.max()) for m in measurements))) + 2
    for wider in _WIDER:
        if np.isfinite(inside := _inside(weights, np.clip(noisy, 0, size), times, wider * margin, size)):
            return inside + constant
    return inf


@lru_cache(maxsize=4)
def _different(observed: tuple[Observed, ...], cells: int) -> tuple[Counts, Counts]:
    """Return the different rows of noisy counts, and which of them each cell has: the same for all strengths."""
    values = np.empty((cells, sum(len(each.measurements) for each in observed)), dtype=np.int64)
    for number, measurement in enumerate(m for each in observed for m in each.measurements):
        values[measurement.of.single_cells, number] = measurement.values
    different, which = np.unique(values, axis=0, return_inverse=True)
    return different, which.ravel()


def _inside(weights: CellWeights, centres: Counts, times: Counts, margin: int, size: int) -> float:
    """Return the sum of the cells' log sums under the tilt of the total, and what windows leave out; inf if unknown."""
    first = np.maximum(centres.min(axis=1) - margin, 0)
    last = np.minimum(centres.max(axis=1) + margin, size)
    rest = size - int(times @ first)
    if not 0 < rest < int(times @ (last - first)):
        return inf
    width = int((last - first).max()) + 1
    logs = weights.windows(first, last, width)
    far = np.array([margin, margin + 1]) + centres[0].max()
    fall = -float(np.diff(weights.log_kernel(np.zeros(2, dtype=np.int64), far))[0])  # every tilt gives a bound
    balanced = tilted_to(
        logs, np.arange(width), rest, absolute=1e-9, relative=_NEARLY, steepest=_STEEPEST * fall, times=times
    )
    ends = balanced.weights[:, 0], balanced.weights[np.arange(len(first)), last - first]
    outside = weights.outside(first, last, size, balanced.tilt, ends)
    return float(times @ (balanced.log_sums + np.log1p(outside))) - balanced.tilt * rest
