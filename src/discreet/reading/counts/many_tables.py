"""Many small tables at once, each with a known total, through one law of noise: how planning reads simulated studies.

What windows lose is bounded table by table; a table that loses more than a single reading may is read by itself.
"""

from collections.abc import Iterator

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.noise.law import NoiseLaw
from discreet.reading.counts.latent_counts import LOST, CellWeights, LatentCounts
from discreet.reading.counts.windows import MARGIN, CellWindows
from discreet.reading.known_sum import KnownSum, TotalLaw

_BLOCK = 3_000_000  # numbers of one transform


class ManyTables:
    """Tables of noisy counts (tables, cells) with one prior; `log_sums` as `LatentCounts.log_sum` of each.

    `laws` has P(count of a chosen cell = first + step | its table), (tables, chosen, steps).
    """

    def __init__(self, law: NoiseLaw, alpha: Floats, noisy: Counts, total: int, chosen: Counts) -> None:
        self._law, self._alpha, self._total = law, alpha, total
        self._margin = int(np.ceil(MARGIN * float(law.reach.max()))) + 2
        width = min(2 * self._margin, total) + 1
        self.first = np.empty(chosen.shape, dtype=np.int64)
        self.laws = np.zeros((*chosen.shape, width))
        self.log_sums = np.empty(len(noisy))
        for part in _blocks(len(noisy), noisy.shape[1] * 3 * width):
            for number in self._read(part, noisy[part], chosen[part]):
                self._read_alone(number, noisy[number], chosen[number])

    def _read_alone(self, number: int, noisy: Counts, chosen: Counts) -> None:
        """Read one table as a release is read, whose windows may have to be wide."""

        def log_kernel(places: Counts, counts: Counts) -> Floats:
            return self._law.log_terms(noisy[places] - counts, places)

        weights = CellWeights(self._alpha, log_kernel)
        counts = LatentCounts(weights, noisy, noisy, float(self._law.reach.max()), self._total)
        width = counts.marginals.shape[1]
        if width > self.laws.shape[2]:
            self.laws = np.pad(self.laws, ((0, 0), (0, 0), (0, width - self.laws.shape[2])))
        self.laws[number] = 0
        self.laws[number, :, :width], self.first[number] = counts.marginals[chosen], counts.first[chosen]
        self.log_sums[number] = counts.log_sum

    def _read(self, part: slice, noisy: Counts, chosen: Counts) -> Counts:
        """Read some tables; return the numbers of those that have to be read by themselves."""
        tables, cells = noisy.shape
        centres = np.clip(noisy, 0, self._total)
        first, last = np.maximum(centres - self._margin, 0), np.minimum(centres + self._margin, self._total)
        flat, order = noisy.ravel(), np.tile(np.arange(cells), tables)

        def log_kernel(places: Counts, counts: Counts) -> Floats:
            return self._law.log_terms(flat[places] - counts, order[places])

        windows, alpha = CellWindows(log_kernel, first.ravel(), last.ravel(), self._total), np.tile(self._alpha, tables)
        logs = windows.log_weights(alpha).reshape(tables, cells, windows.width)
        outside = windows.beyond(alpha).by_tables(tables)
        known = KnownSum(logs, first, TotalLaw.known(self._total), outside=outside)
        self.log_sums[part], self.laws[part, :, : windows.width] = known.log_mass, known.marginals_of(chosen)
        self.first[part] = np.take_along_axis(first, chosen, axis=1)
        return np.asarray(part.start + np.flatnonzero(known.lost > LOST))


def _blocks(count: int, numbers: int) -> Iterator[slice]:
    size = max(1, _BLOCK // numbers)
    return (slice(start, min(start + size, count)) for start in range(0, count, size))
