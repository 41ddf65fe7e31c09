"""The true counts behind a noisy table: the exact posterior of each, and of their sums.

For noise that is a product over cells, P(k | z) ~ prod_i f_i(k_i) on {k : sum k = n}, with
f_i(k) = Gamma(a_i + k) / (k! Gamma(a_i)) g(z_i - k): the cells are independent but for the known total. So every
quantity is a coefficient of a product of one-dimensional series, and a fast Fourier transform gives all of them:

- each cell keeps a window of counts, and what lies outside all windows is bounded in every reading;
- all cells are tilted by one factor e^(lambda k), chosen so that the expected total is n (it cancels, as the total is
  known), so that the wanted coefficient lies where the transform is accurate;
- leaving one cell out of the product gives its marginal;
- cells of one kind (the same noisy counts, prior and noise) have the same weights: each kind is computed once, and
  its transform is taken to the power of how many such cells there are.

With p_i the tilted law of cell i, o_i its mass outside the window and p(n) the tilted probability of the total, all
that windows lose is a share of at most sum_i o_i / p(n): something is lost only if one cell lies outside.
"""

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from discreet.arrays import Counts, Floats
from discreet.errors import DiscreetError
from discreet.mathematics.tilting import tilted_to
from discreet.reading.case import MOST_NUMBERS
from discreet.reading.counts.cell_windows import CellWindows, LogKernel, log_prior

if TYPE_CHECKING:
    from discreet.reading.counts.low_frequencies import LowFrequencies

Spectrum = NDArray[np.complex128]

_MARGIN = 45.0  # a window reaches this many nats beyond the noisy count to begin with
LOST = 1e-12  # and is widened until no more than this share of the sum over all tables lies outside
_TAIL = 24.0  # standard deviations of the total kept free of aliasing, beside a whole window
_ALIASED = 1e-17  # share of the total's probability that may wrap around the circle
MANY = 64
"""Tables of more cells are read through low frequencies."""
SPARE = 4.0
"""How many times the weights allowed before a charge may be held later, because windows may have to be widened."""
_MOST_WEIGHTS = SPARE * MOST_NUMBERS
_TRIM = 1e-17  # probabilities this far below the largest are dropped from sums


class CellWeights(NamedTuple):
    """The weight of a cell's count: its prior, Gamma(a + k) / (k! Gamma(a)), times its kernel, log-concave in k."""

    alpha: Floats
    log_kernel: LogKernel

    def __call__(self, places: Counts, counts: Counts) -> Floats:
        """Return log f_i(k) for arrays of cells and counts."""
        return np.asarray(log_prior(self.alpha[places], counts) + self.log_kernel(places, counts))

    def of(self, places: Counts) -> "CellWeights":
        """Return the weights of some cells."""
        return CellWeights(self.alpha[places], lambda own, counts: self.log_kernel(places[own], counts))


class CountSums:
    """Sums of counts with a known total, given each cell's own weight.

    `low` and `high` say where to look first, `reach` how fast weights fall off beyond. Cells of one of the `kinds`
    (whole numbers) are known to have the same weights. `first` is the first count of each cell's window.
    """

    def __init__(
        self, weight: CellWeights, low: Counts, high: Counts, reach: float, total: int, kinds: Counts | None = None
    ) -> None:
        self.total, self._cells, self._log_weight = total, len(low), weight
        named = np.arange(len(low)) if kinds is None else kinds
        _, own, self._kinds, self._times = np.unique(named, return_index=True, return_inverse=True, return_counts=True)
        self._kind_weight = weight.of(own)
        low, high = np.clip(low[own], 0, total), np.clip(high[own], 0, total)  # else far below 0: a single count
        margin, self.lost = int(np.ceil(_MARGIN * reach)) + 2, np.inf
        while not self._fits(np.maximum(low - margin, 0), np.minimum(high + margin, total)):
            missing = np.log(self.lost / LOST) + 2 if self.lost < 1e-6 else np.inf
            margin += min(margin, int(np.ceil(missing * reach)) + 1) if missing < np.inf else margin

    def _fits(self, first: Counts, last: Counts) -> bool:
        """Set up these windows; tell whether they hold all but a negligible share of the sum over all tables."""
        first, last = np.minimum(first, last), np.maximum(first, last)
        windows = CellWindows(self._kind_weight.log_kernel, first, last, self.total)
        if (width := windows.width) * self._cells > _MOST_WEIGHTS:
            raise DiscreetError(
                f"Reading this needs {width} x {self._cells} weights, more than {_MOST_WEIGHTS:.0e}, the most that "
                "are allowed. For a single release that has a probability below 1e-20; several releases may "
                "contradict each other. Nothing was read. Read them one by one."
            )
        self._rest = self.total - int(self._times @ first)  # the total, counted from the windows' first counts
        whole = (first == 0) & (last == self.total)
        if not (0 < self._rest < int(self._times @ (last - first))) and not whole.all():
            return False
        self.first, self._width = first[self._kinds], width
        alpha = self._kind_weight.alpha
        logs = windows.log_weights(alpha)
        balanced = tilted_to(logs, np.arange(width), self._rest, absolute=1e-9, relative=0.01, times=self._times)
        self._tilt, self._log_sums, self._weights = balanced.tilt, balanced.log_sums, balanced.weights
        self._spread, self._means = float(np.sqrt(balanced.variance)), balanced.means
        ends = self._weights[:, 0], self._weights[np.arange(len(first)), last - first]
        outside = float(self._times @ windows.outside(alpha, self._tilt, ends))
        for known in ("length", "low", "mass", "marginals", "_spectra"):
            vars(self).pop(known, None)
        self.lost = outside / self.mass if outside < self.mass else np.inf
        return self.lost <= LOST

    @cached_property
    def length(self) -> int:
        """Return the padded length of the transforms: lengthened until what wraps around it is negligible.

        For every mu, P(|K - E K| > L/2) <= e^(-mu L/2) (E e^(mu (K - E K)) + E e^(-mu (K - E K))) (Chernoff).
        """
        longest = self._cells * (self._width - 1) + 1
        wanted, steps = self._width + _TAIL * self._spread, np.arange(self._width) - (self._width - 1) / 2
        tries = np.minimum(np.array([1.5, 3, 6, 12]) / max(self._spread, 1e-3), 1200 / self._width)
        tries = np.concatenate([tries, -tries])
        middle = float(self._times @ self._means) - self._cells * (self._width - 1) / 2
        growth = self._times @ np.log(self._weights @ np.exp(np.outer(steps, tries))) - tries * middle
        limit = np.log(_ALIASED / (2.6 * max(self._spread, 0.4)))
        while wanted < longest and (growth - np.abs(tries) * wanted / 2).reshape(2, -1).max(axis=0).min() > limit:
            wanted *= 1.25
        return int(next_fast_len(min(longest, int(wanted) + 1), real=True))

    @cached_property
    def _spectra(self) -> Spectrum:
        return np.asarray(rfft(self._weights, self.length, axis=1))

    @cached_property
    def low(self) -> "LowFrequencies":
        """Return the transforms of many cells at the few frequencies that matter."""
        from discreet.reading.counts.low_frequencies import LowFrequencies  # they build on this module

        return LowFrequencies(self._weights, self.length, self._spread, self._times)

    def _spectrum(self, places: Counts) -> Spectrum:
        """Return the transform of the law of the summed steps of these cells; of many cells the part that matters."""
        times = np.bincount(self._kinds[places], minlength=len(self._times))
        if len(places) > MANY:
            return self.low.product(times)
        (held,) = np.nonzero(times)
        few = self._cells <= MANY
        spectra = self._spectra[held] if few else np.asarray(rfft(self._weights[held], self.length, axis=1))
        return np.asarray(powers(spectra, times[held]).prod(axis=0))

    def _law(self, spectrum: Spectrum) -> Floats:
        return np.maximum(0.0, irfft(spectrum, self.length))

    @cached_property
    def marginals(self) -> Floats:
        """Return P(k_i = first_i + step | z) for every cell (rows) and step (columns)."""
        if self._cells > MANY:
            return self.low.marginals(self._rest)[self._kinds]
        behind = (self._rest - np.arange(self._width)) % self.length
        laws = irfft(leave_one_out(self._spectra, self._times), self.length, axis=1)[:, behind]
        joint = self._weights * np.maximum(0.0, laws)
        return np.asarray(joint / joint.sum(axis=1, keepdims=True))[self._kinds]

    @cached_property
    def mass(self) -> float:
        """Return the tilted probability of the known total."""
        return float(self._law(self._spectrum(np.arange(self._cells)))[self._rest % self.length])

    @property
    def log_bound(self) -> float:
        """Return an upper bound on `log_sum` that needs no transform, as the total has a probability of at most 1."""
        return float(self._times @ self._log_sums - self._tilt * self._rest)

    @property
    def log_sum(self) -> float:
        """Return log sum_k prod_i f_i(k_i) over all counts with the known total."""
        return float(np.log(self.mass)) + self.log_bound

    def sum_of(self, places: Counts) -> tuple[Counts, Floats]:
        """Return the possible sums of some cells' counts, and their probabilities."""
        if len(places) == 1:
            cell = int(places[0])
            return self._trimmed(self.first[cell] + np.arange(self._width), self.marginals[cell])
        others = np.setdiff1d(np.arange(self._cells), places)
        inner, outer = self._law(self._spectrum(places)), self._law(self._spectrum(others))
        steps = self._around(places)
        weights = inner[steps % self.length] * outer[(self._rest - steps) % self.length]
        return self._trimmed(int(self.first[places].sum()) + steps, weights / weights.sum())

    def _around(self, places: Counts) -> Counts:
        """Return one period of steps around the expected sum of some cells."""
        middle = int(self._means[self._kinds[places]].sum())
        steps = middle - self.length // 2 + np.arange(self.length)
        longest = int((self._width - 1) * len(places))
        return np.asarray(steps[(steps >= 0) & (steps <= min(longest, self._rest))])

    @staticmethod
    def _trimmed(counts: Counts, weights: Floats) -> tuple[Counts, Floats]:
        kept = weights > _TRIM * weights.max()
        return counts[kept], weights[kept] / weights[kept].sum()


def powers(spectra: Spectrum, times: Counts) -> Spectrum:
    """Return each row to the power of its own number of times."""
    (more,) = np.nonzero(times != 1)
    if not more.size:
        return spectra
    found = spectra.copy()
    found[more] = np.power(spectra[more], times[more, None])
    return found


def leave_one_out(spectra: Spectrum, times: Counts) -> Spectrum:
    """Return for each row the product of all rows, each so many times, without that one once.

    Products from the left times products from the right, and the row itself one time less: nothing is divided.
    """
    whole, result = powers(spectra, times), powers(spectra, times - 1)
    running = np.ones_like(spectra[0])
    for row in range(len(spectra)):
        result[row] *= running
        running = running * whole[row]
    running = np.ones_like(spectra[0])
    for row in reversed(range(len(spectra))):
        result[row] *= running
        running *= whole[row]
    return result
