"""A choice among candidates as evidence about counts, by the weights of the candidates.

Where the sum Z(k) of all weights is a long sum, it is worked out for some tables and interpolated between them: log Z
is smooth, in power sums of sqrt((k + 1/2) / (n + 2)) where the prior is the same in all cells. `refine` takes tables
where the posterior is, and `errors` says how far off the interpolation is at others.
"""

from itertools import combinations_with_replacement

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.mechanisms.evidence import Choice, Normalised
from discreet.reading.counts.fits import Fit

NODES, CHECKED = 30, 40
"""Tables at which sums are worked out: anywhere, and to check, where the posterior is, what lies between."""
MOST_CELLS = 8
"""Sums over candidates are interpolated for so many cells at most."""

_ORDERS = (1, 3, 4, 5, 6)


class ChoiceFit(Fit):
    """A candidate whose chance is known at once for any counts; no slope is known."""

    sharpness = 2.0  # single coordinates are turned too

    def __init__(self, choice: Choice) -> None:
        self._choice = choice

    def log_likelihood(self, counts: Counts) -> Floats:
        """Return the log chance of the candidate."""
        kinds, places = np.unique(counts.T, axis=0, return_inverse=True)
        return np.asarray(self._choice.log_likelihood(kinds)[places.ravel()])

    def slope(self, counts: Floats) -> Floats:
        """Return zeros."""
        return np.zeros(counts.shape)

    def directions(self, counts: Floats) -> tuple[Floats, Floats]:
        """Return no direction."""
        return np.zeros((0, len(counts))), np.zeros(0)


class NearFit(ChoiceFit):
    """A candidate whose chance is known roughly, and better after `normalised` was refined."""

    def __init__(self, choice: Choice, normalised: Normalised) -> None:
        super().__init__(choice)
        self.normalised = normalised

    def log_likelihood(self, counts: Counts) -> Floats:
        """Return the log chance of the candidate."""
        kinds, places = np.unique(counts.T, axis=0, return_inverse=True)
        return self.normalised.log_likelihood(self._choice.candidate, kinds)[places.ravel()]


class InterpolatedFit(ChoiceFit):
    """A candidate whose weight is known for any counts, with the sum of all weights interpolated."""

    def __init__(self, choice: Choice, alpha: Floats, size: int) -> None:
        super().__init__(choice)
        self._size, self._is_even = size, bool(np.ptp(alpha) == 0)
        generator, cells = np.random.default_rng(0), len(alpha)
        tables = [generator.multinomial(size, generator.dirichlet(np.full(cells, 0.6))) for _ in range(NODES)]
        corners = [np.eye(cells, dtype=np.int64)[place] * size for place in range(1 if self._is_even else cells)]
        even = np.full(cells, size // cells)
        even[: size % cells] += 1
        around = [generator.multinomial(size, (choice.candidate + 1) / (size + cells)) for _ in range(NODES // 2)]
        self._tables = np.unique([*tables, *corners, even, *around, choice.candidate], axis=0)
        self._sums = self._exact(self._tables)
        self._interpolate()

    @property
    def candidate(self) -> Counts:
        """Return what was chosen."""
        return self._choice.candidate

    def refine(self, tables: Counts) -> None:
        """Work out the sums of tables where the posterior is; nothing else counts from then on."""
        self._tables = np.unique(tables, axis=0)
        self._sums = self._exact(self._tables)
        self._interpolate()

    def _interpolate(self) -> None:
        self._coefficients = np.linalg.lstsq(self._features(self._tables), self._sums, rcond=1e-10)[0]

    def _exact(self, tables: Counts) -> Floats:
        chooser = self._choice.chooser
        return np.array([float(chooser.log_normalisers(table[None])[0]) for table in tables])

    def _features(self, tables: Counts) -> Floats:
        """Return products of degree 2 and less of power sums, or of single cells."""
        roots = np.sqrt((tables + 0.5) / (self._size + 2))
        plain = [(roots**order).sum(axis=1) for order in _ORDERS] if self._is_even else list(roots.T)
        pairs = [one * two for one, two in combinations_with_replacement(plain, 2)]
        return np.stack([np.ones(len(tables)), *plain, *pairs], axis=1)

    def log_likelihood(self, counts: Counts) -> Floats:
        """Return the log weight of the candidate less the interpolated sum."""
        kinds, places = np.unique(counts.T, axis=0, return_inverse=True)
        weights = self._choice.chooser.log_weights_of(self._choice.candidate, kinds)
        return np.asarray((weights - self._features(kinds) @ self._coefficients)[places.ravel()])

    def errors(self, tables: Counts) -> Floats:
        """Return by how much the interpolated log sums of some tables are too small."""
        return self._exact(tables) - self._features(tables) @ self._coefficients
