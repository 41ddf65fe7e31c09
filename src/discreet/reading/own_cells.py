"""The own sums of all single cells at once: cells of one block are alike, so one law of noise serves all of them."""

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.models import Categories
from discreet.noise.law import NoiseLaw
from discreet.reading.case import Case
from discreet.reading.counts.pair_rows import pair_rows
from discreet.reading.own_sums import summed_measurements


def own_cells(case: Case[Categories], places: Counts | None = None) -> tuple[Counts, Floats] | None:
    """Return the first count of each cell's window and the probabilities in it, of all cells or of some places.

    Each is read from its own noisy count and from the sum of all others, as `OwnSums` reads one group. Nothing is
    returned where cells are not alike, or where nothing but noisy counts of all cells would do.
    """
    cells = len(case.model.cells)
    summed = summed_measurements(case, np.minimum(np.arange(cells), 1))
    if not summed or any(len(each.noise.blocks) != 1 for each in case.measurements):
        return None
    wanted = np.arange(cells) if places is None else places
    noisy = []
    for measurement, pair in zip(case.measurements, summed, strict=True):
        values = np.empty(cells, dtype=np.int64)
        values[measurement.of.single_cells] = measurement.values
        noisy.append((np.stack([values[wanted], values.sum() - values[wanted]], axis=1), pair.noise))
    return pairs_through(noisy, case.size)


def pairs_through(noisy: list[tuple[Counts, NoiseLaw]], total: int) -> tuple[Counts, Floats]:
    """Return the laws of the first counts of pairs (rows) with one total, seen through one or more laws of noise."""

    def log_kernel(counts: Counts) -> Floats:
        found = np.zeros(counts.shape)
        for values, law in noisy:
            for place, own in enumerate((counts, total - counts)):
                found += law.log_terms(values[:, place, None] - own, np.array([place]))
        return found

    centres = np.stack([each for values, _ in noisy for each in (values[:, 0], total - values[:, 1])])
    reach = min(float(law.reach.min()) for _, law in noisy)
    return pair_rows(log_kernel, centres.min(axis=0), centres.max(axis=0), reach, total)
