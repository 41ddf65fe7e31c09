"""The own sums of all single cells at once: cells of one block are alike, so one law of noise serves all of them."""

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.models import Categories
from discreet.noise.noise import Noise
from discreet.noise.structure import log_terms, product_of
from discreet.reading.counts.pair_rows import pair_rows
from discreet.reading.own_sums import summed_measurements
from discreet.reading.problem import Problem


def own_cells(problem: Problem[Categories], places: Counts | None = None) -> tuple[Counts, Floats, Counts] | None:
    """Return the first count of the window of each cell (or of some), the probabilities in it, and the kind of each.

    Each is read from its own noisy count and from the sum of all others, as `OwnSums` reads one group. Cells with the
    same noisy counts are of one kind, which is read once. Nothing is returned where the noise of cells is not alike,
    or where nothing but noisy counts of all cells would do.
    """
    cells = len(problem.model.cells)
    summed = summed_measurements(problem, np.minimum(np.arange(cells), 1))
    if not summed or any(
        len(m.noise.blocks) != 1 or product_of(m.noise.structure) is None for m in problem.measurements
    ):
        return None
    wanted = np.arange(cells) if places is None else places
    values = np.empty((cells, len(summed)), dtype=np.int64)
    for number, measurement in enumerate(problem.measurements):
        values[measurement.of.single_cells, number] = measurement.values
    different, kinds = np.unique(values[wanted], axis=0, return_inverse=True)
    rests = values.sum(axis=0) - different
    pairs = [np.stack(pair, axis=1) for pair in zip(different.T, rests.T, strict=True)]
    first, weights = pairs_through(list(zip(pairs, (each.noise for each in summed), strict=True)), problem.size)
    kinds = kinds.ravel()
    return first[kinds], weights[kinds], kinds


def pairs_through(noisy: list[tuple[Counts, Noise]], total: int) -> tuple[Counts, Floats]:
    """Return the laws of the first counts of pairs (rows) with one total, seen through one or more laws of noise."""

    def log_kernel(counts: Counts) -> Floats:
        found = np.zeros(counts.shape)
        for values, law in noisy:
            for place, own in enumerate((counts, total - counts)):
                found += log_terms(law.structure, values[:, place, None] - own, np.array([place]))
        return found

    centres = np.stack([each for values, _ in noisy for each in (values[:, 0], total - values[:, 1])])
    reach = min(float(law.decay_length.min()) for _, law in noisy)
    return pair_rows(log_kernel, centres.min(axis=0), centres.max(axis=0), reach, total)
