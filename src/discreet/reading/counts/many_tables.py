"""Many small tables at once, each with a known total, through one law of noise: how planning reads simulated studies.

The same sums as `CountSums`, with one more axis: windows, one tilt for each table by Newton's method on all of them,
one transform, products without a chosen cell. What the windows lose is bounded table by table; a table that loses more
than a single reading may is read by itself.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from discreet.arrays import Counts, Floats
from discreet.noise.law import NoiseLaw
from discreet.reading.counts.cell_windows import CellWindows
from discreet.reading.counts.count_sums import CellWeights
from discreet.reading.counts.latent_counts import LatentCounts

_MARGIN = 45.0  # nats, as in `count_sums`
_LOST, _ALIASED = 1e-12, 1e-17
_TAIL = 24.0
_MOST_STEPS = 60
_BLOCK = 3_000_000  # numbers of one transform


class ManyTables:
    """Tables of noisy counts (tables, cells) with one prior; `log_sums` as `LatentCounts.log_sum` of each.

    `laws` has P(count of a chosen cell = first + step | its table), (tables, chosen, steps).
    """

    def __init__(self, law: NoiseLaw, alpha: Floats, noisy: Counts, total: int, chosen: Counts) -> None:
        self._law, self._alpha, self._total = law, alpha, total
        self._margin = int(np.ceil(_MARGIN * float(law.reach.max()))) + 2
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

        counts = LatentCounts(
            CellWeights(self._alpha, log_kernel), noisy, noisy, float(self._law.reach.max()), self._total
        )
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
        width = int((last - first).max()) + 1
        rest = self._total - first.sum(axis=1)
        flat, order = noisy.ravel(), np.tile(np.arange(cells), tables)

        def log_kernel(places: Counts, counts: Counts) -> Floats:
            return self._law.log_terms(flat[places] - counts, order[places])

        windows, alpha = CellWindows(log_kernel, first.ravel(), last.ravel(), self._total), np.tile(self._alpha, tables)
        logs = windows.log_weights(alpha)
        peaks = logs.max(axis=1)
        weights = np.exp(logs - peaks[:, None]).reshape(tables, cells, width)
        tilt, good = _tilts(weights, rest)
        steps = np.arange(width) - (width - 1) / 2
        weights *= np.exp(tilt[:, None, None] * steps)
        sums = weights.sum(axis=2)
        weights /= sums[:, :, None]
        variance = np.maximum(0, weights @ steps**2 - (weights @ steps) ** 2).sum(axis=1)
        length = _length(weights, variance)
        spectra = rfft(weights, length, axis=2)
        rows = np.arange(tables)
        mass = np.maximum(0, irfft(spectra.prod(axis=1), length, axis=1)[rows, rest % length])
        ends = weights[:, :, 0].ravel(), np.take_along_axis(weights, (last - first)[:, :, None], 2).ravel()
        outside = windows.outside(alpha, np.repeat(tilt, cells), ends)
        good &= outside.reshape(tables, cells).sum(axis=1) <= _LOST * mass
        with np.errstate(divide="ignore"):
            inside = (peaks + np.log(sums).ravel()).reshape(tables, cells).sum(axis=1)
            self.log_sums[part] = np.log(mass) + inside - tilt * (rest - cells * (width - 1) / 2)
        others = _without(spectra)[rows[:, None], chosen]
        behind = (rest[:, None] - np.arange(width)) % length
        laws = np.take_along_axis(irfft(others, length, axis=2), behind[:, None, :], axis=2)
        joint = weights[rows[:, None], chosen] * np.maximum(0, laws)
        self.laws[part, :, :width] = joint / np.maximum(joint.sum(axis=2, keepdims=True), 1e-300)
        self.first[part] = first[rows[:, None], chosen]
        return np.asarray(part.start + np.flatnonzero(~good))


def _blocks(count: int, numbers: int) -> Iterator[slice]:
    size = max(1, _BLOCK // numbers)
    return (slice(start, min(start + size, count)) for start in range(0, count, size))


def _tilts(weights: Floats, rest: Counts) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the tilt of each table at which the mean of its sum is the known one, and where it was found.

    As `tilted_to`, for all tables at once; steps are counted from the middle of the windows.
    """
    width = weights.shape[2]
    steps = np.arange(width) - (width - 1) / 2
    wanted = rest - weights.shape[1] * (width - 1) / 2
    powers = np.stack([np.ones_like(steps), steps, steps**2], axis=1)
    tilt, most = np.zeros(len(weights)), 600 / width
    low, high = np.full(len(weights), -most), np.full(len(weights), most)
    for _ in range(_MOST_STEPS):
        moments = weights @ (np.exp(tilt[:, None] * steps)[:, :, None] * powers)
        means = moments[:, :, 1] / moments[:, :, 0]
        variance = np.maximum(1e-12, (moments[:, :, 2] / moments[:, :, 0] - means**2).sum(axis=1))
        miss = means.sum(axis=1) - wanted
        good = np.abs(miss) <= 1e-9 + 0.01 * np.sqrt(variance)
        if good.all():
            break
        low, high = np.where(miss < 0, tilt, low), np.where(miss > 0, tilt, high)
        following = tilt - miss / variance
        inside = (following > low) & (following < high)
        tilt = np.where(good, tilt, np.where(inside, following, (low + high) / 2))
    return tilt, good


def _length(weights: Floats, variance: Floats) -> int:
    """Return a length of circle at which nothing wraps around, by Chernoff's bound for every table."""
    cells, width = weights.shape[1:]
    steps = np.arange(width) - (width - 1) / 2
    spread, longest = np.sqrt(variance.max()), cells * (width - 1) + 1
    wanted = width + _TAIL * spread
    tries = np.minimum(np.array([1.5, 3, 6, 12]) / max(spread, 1e-3), 1200 / width)
    tries = np.concatenate([tries, -tries])
    growth = np.log(weights @ np.exp(np.outer(steps, tries))).sum(axis=1)
    growth -= tries * (weights @ steps).sum(axis=1)[:, None]
    limit = np.log(_ALIASED / (2.6 * max(spread, 0.4)))
    while wanted < longest:
        bound = (growth - np.abs(tries) * wanted / 2).reshape(len(weights), 2, -1).max(axis=1).min(axis=1)
        if float(bound.max()) <= limit:
            break
        wanted *= 1.25
    return int(next_fast_len(min(longest, int(wanted) + 1), real=True))


def _without(spectra: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Return for each cell of each table the product over all its other cells."""
    found = np.ones_like(spectra)
    for cell in range(1, spectra.shape[1]):
        found[:, cell] = found[:, cell - 1] * spectra[:, cell - 1]
    running = np.ones_like(spectra[:, 0])
    for cell in reversed(range(spectra.shape[1])):
        found[:, cell] *= running
        running = running * spectra[:, cell]
    return found
