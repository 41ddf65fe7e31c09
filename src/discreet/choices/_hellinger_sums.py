"""Normalisers of Hellinger choices for many tables at once: Z(k) = sum_r e^(-c(k) H(k, r)) in floats, for inference.

With e^(-c sqrt(1 - b)) = sum_j p_j b^j (`_stable_distribution`), Z = sum_j p_j Z_j, where Z_j = sum_r BC(k, r)^j
does not know c. BC^j is a product over cells, so Z_j is one coefficient of a product of series, and each series depends
on one count alone: its Fourier transform is computed once for every count that occurs. Small j are taken one by one;
beyond, Z_j is a sum of exponentials of j, smooth in log j, and known from a few nodes of each panel (Chebyshev). The
log of all but the first term is smooth in log c for one table, so it is interpolated from a few scales to its own. No
table is ever interpolated from another: where the sensitivity has a kink, c(k) and so Z(k) have one, too.
`hellinger_moments` does the same for one table between proved bounds, at a hundred times the price.
"""

from functools import lru_cache
from math import ceil, log

import numpy as np
from scipy.fft import next_fast_len, rfft

from discreet._core.arrays import Counts, Floats
from discreet.choices._stable_distribution import log_probabilities
from discreet.mathematics import log_affinities

MOST_RECORDS, MOST_CELLS = 500, 8
"""The most records and cells for which sums are computed; of more, `hellinger_near` knows them at a tenth of that."""

_SINGLE = 8  # powers below are taken one by one
_PANEL, _NODES = 8, 12  # powers of a panel go up by this factor; the nodes of each
_LAST = 16  # times the size: powers beyond are 0 but for the true table
_SCALES = 24  # scales at which log Z is computed
_PART = 256  # tables that are computed together
_SMALL = 1e-15  # frequencies whose share is smaller are left out
_SHORT = 1_024  # shorter transforms are long enough that no total wraps around


def can_sum(size: int, cells: int) -> bool:
    """Return whether sums over all candidates are computed for many tables."""
    return size <= MOST_RECORDS and cells <= MOST_CELLS


def operations_of_sum(size: int, cells: int) -> float:
    """Return about how many operations the sum of one table takes: all frequencies of all nodes, cell by cell."""
    return 3.0 * sum(len(powers) for powers, _ in _panels(size)) * (size + 500) * cells


def log_normalisers(alpha: Floats, tables: Counts, scales: Floats) -> Floats:
    """Return log Z(k) for rows of counts with scales of their own.

    >>> found = log_normalisers(np.ones(4), np.array([[150, 150, 150, 150]]), np.array([15.0]))
    >>> round(float(found[0]), 6)
    5.188703
    """
    size, logs = int(tables[0].sum()), np.log(scales)
    middle, half = float(logs.max() + logs.min()) / 2, float(np.ptp(logs)) / 2 + 1e-9
    nodes = np.exp(middle + half * _chebyshev(_SCALES))
    transforms, left = _Transforms(alpha, tables), 1 - np.exp(-nodes)
    sums = np.zeros((len(tables), _SCALES))
    for powers, numbers in _panels(size):
        distributions = np.exp([log_probabilities(float(node), numbers) for node in nodes])
        left = left - distributions.sum(axis=1)
        for power, share in zip(powers.tolist(), (distributions @ _basis(powers, numbers)).T, strict=True):
            sums += transforms.power_sums(power)[:, None] * share
    sums += np.maximum(left, 0.0)  # beyond, no table but the true one counts
    others = (np.log(sums) * _lagrange((logs - middle) / half, _SCALES)).sum(axis=1)
    return np.asarray(np.logaddexp(_log_candidates(size, len(alpha)) - scales, others))


def _log_candidates(size: int, cells: int) -> float:
    return sum(log((size + i) / i) for i in range(1, cells))


@lru_cache(maxsize=8)
def _panels(size: int) -> tuple[tuple[Floats, Counts], ...]:
    """Return nodes and all powers that they stand for, panel by panel: first single powers, then ever longer panels."""
    single = np.arange(1, _SINGLE)
    found, start = [(single.astype(float), single)], _SINGLE
    while start < _LAST * size:
        stop = _PANEL * start
        middle, half = (log(start) + log(stop - 1)) / 2, (log(stop - 1) - log(start)) / 2
        found.append((np.exp(middle + half * _chebyshev(_NODES)), np.arange(start, stop)))
        start = stop
    return tuple(found)


def _basis(powers: Floats, numbers: Counts) -> Floats:
    """Return the weight of each node for each power (powers, nodes)."""
    if len(powers) == len(numbers):
        return np.eye(len(powers))
    ends = np.log(numbers[[0, -1]])
    return _lagrange((2 * np.log(numbers) - ends.sum()) / (ends[1] - ends[0]), len(powers))


def _chebyshev(count: int) -> Floats:
    return np.asarray(np.cos(np.pi * (np.arange(count) + 0.5) / count))


def _lagrange(points: Floats, count: int) -> Floats:
    """Return the polynomials that are 1 at one of the Chebyshev nodes and 0 at all others (points, nodes)."""
    angles = np.arccos(np.clip(points, -1, 1))[:, None] * np.arange(count)
    own = np.cos(np.pi * (np.arange(count) + 0.5)[:, None] / count * np.arange(count)) * 2 / count
    own[:, 0] /= 2
    return np.asarray(np.cos(angles) @ own.T)


class _Transforms:
    """Sums of powers of the affinity over all candidates, for some tables of the same size."""

    def __init__(self, alpha: Floats, tables: Counts) -> None:
        self._size, cells = int(tables[0].sum()), len(alpha)
        priors, classes = np.unique(alpha, return_inverse=True)
        codes = classes.ravel() * (self._size + 1) + tables
        self._kinds, indices = np.unique(codes, return_inverse=True)
        self._indices = indices.reshape(codes.shape)
        counts, own = self._kinds % (self._size + 1), priors[self._kinds // (self._size + 1)]
        changes = np.arange(self._size + 1) - counts[:, None]
        self._logs = log_affinities((own + counts)[:, None], (own + counts)[:, None] + changes, changes)
        self._large = counts >= ceil(self._size / cells)  # every table has such a cell
        self._length = next_fast_len(min(cells * self._size + 1, max(2 * self._size + 1, _SHORT)), real=True)

    def power_sums(self, power: float) -> Floats:
        """Return sum_r BC(k, r)^power of every table: the coefficient of the right total in a product of series."""
        spectra = rfft(np.exp(power * self._logs), self._length, axis=1)
        means = spectra[:, 0].real
        shares = np.abs(spectra[self._large]) / means[self._large, None]
        kept = np.flatnonzero((shares > _SMALL).any(axis=0))
        waves = np.exp(2j * np.pi * self._size / self._length * kept)
        waves[(kept > 0) & (2 * kept < self._length)] *= 2  # each stands for its mirror image too
        spectra, found = np.ascontiguousarray(spectra[:, kept]), np.empty(len(self._indices))
        for start in range(0, len(found), _PART):
            indices = self._indices[start : start + _PART]
            product = spectra[indices[:, 0]]
            for cell in indices.T[1:]:
                product *= spectra[cell]
            found[start : start + _PART] = (product @ waves).real
        return np.asarray(found / self._length)
