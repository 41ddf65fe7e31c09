"""Upper bounds on the evidence for priors, from windows alone: the tilted probability of the total is at most 1.

Many strengths of a prior are told apart by their evidence, and most of them have none. A bound is within a few nats,
log (standard deviation of the total), of the evidence, and needs no transform. Cells with the same noisy counts, prior
parameter and noise have the same weights, so each kind of cell is asked once; and the kernel does not know the prior,
so its windows are computed once for all strengths.
"""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.mathematics.dirichlet_multinomial import log_prior_constant
from discreet.mathematics.tilting import weights_tilted_to
from discreet.noise.structure import log_terms
from discreet.reading.counts.windows import CellWindows
from discreet.reading.problem import Problem

_MARGIN = 20.0  # windows reach this many nats beyond the noisy counts; what lies outside is added
_STEEPEST = 0.9  # share of the noise's decay by which weights may be tilted
_NEARLY = 0.3  # standard deviations by which the mean may miss the total: that loosens a bound by .05 nats
_WIDER = (1, 2, 4, 8)  # factor by which windows are widened where a strong prior rises faster than the noise falls


def log_bounds(problems: Sequence[Problem]) -> list[float]:
    """Return numbers that the log evidence of a measured table under each prior does not exceed; inf if unknown."""
    one, cells = problems[0], len(problems[0].model.cells)
    full = all(m.of.single_cells is not None and len(m.of.single_cells) == cells for m in one.measurements)
    if not one.is_measured or not full or any(len(m.noise.blocks) != 1 for m in one.measurements):
        return [inf] * len(problems)
    shared = _Bounds(one)
    return [shared.log_bound(problem.model.concentration) for problem in problems]


class _Setting(NamedTuple):
    """Windows of one margin: how far the total lies above their first counts, and how far weights may be tilted."""

    windows: CellWindows
    rest: int
    steepest: float


class _Bounds:
    """What was published, by kinds of cells, with what the bounds for all priors have in common."""

    def __init__(self, problem: Problem) -> None:
        self._measurements, self._size = problem.measurements, problem.size
        values = np.empty((len(problem.model.cells), len(self._measurements)), dtype=np.int64)
        for number, measurement in enumerate(self._measurements):
            values[measurement.of.single_cells, number] = measurement.values
        self._noisy, which, self._times = np.unique(values, axis=0, return_inverse=True, return_counts=True)
        self._which = which.ravel()
        self._margin = int(np.ceil(_MARGIN * min(float(m.noise.decay_length.max()) for m in self._measurements))) + 2
        self._known: dict[tuple[bytes, int], _Setting | None] = {}
        self._tilt = 0.0  # the previous prior's tilt, near which the next one is searched

    def log_bound(self, alpha: Floats) -> float:
        """Return a bound for one prior; infinite where none is found."""
        kinds, own, times = self._kinds(alpha)
        constant = float(log_prior_constant(alpha.sum(), self._size)) - sum(
            m.noise.log_normaliser for m in self._measurements
        )
        for wider in _WIDER:
            if (key := (kinds.tobytes(), wider)) not in self._known:
                self._known[key] = self._setting(self._noisy[kinds], times, wider * self._margin)
            setting = self._known[key]
            if setting is not None and np.isfinite(inside := self._inside(setting, own, times)):
                return inside + constant
        return inf

    def _kinds(self, alpha: Floats) -> tuple[Counts, Floats, Counts]:
        """Return for each kind of cell the number of its noisy counts, its parameter, and how many there are."""
        if (alpha == alpha[0]).all():
            return np.arange(len(self._noisy)), np.full(len(self._noisy), alpha[0]), self._times
        pairs, times = np.unique(self._which + 1j * alpha, return_counts=True)
        return pairs.real.astype(np.int64), pairs.imag, times

    def _setting(self, noisy: Counts, times: Counts, margin: int) -> _Setting | None:
        """Return windows that reach so far beyond the noisy counts; nothing where they do not hold the total."""
        centres = np.clip(noisy, 0, self._size)
        first = np.maximum(centres.min(axis=1) - margin, 0)
        last = np.minimum(centres.max(axis=1) + margin, self._size)
        rest = self._size - int(times @ first)
        if not 0 < rest < int(times @ (last - first)):
            return None

        def log_kernel(places: Counts, counts: Counts) -> Floats:
            found = np.zeros(np.broadcast(places, counts).shape)
            for number, measurement in enumerate(self._measurements):
                found += log_terms(
                    measurement.noise.structure, noisy[places, number] - counts, np.zeros(1, dtype=np.int64)
                )
            return found

        far = np.array([margin, margin + 1]) + centres[0].max()
        fall = -float(np.diff(log_kernel(np.zeros(2, dtype=np.int64), far))[0])  # every tilt gives a bound
        return _Setting(CellWindows(log_kernel, first, last, self._size), rest, _STEEPEST * fall)

    def _inside(self, setting: _Setting, alpha: Floats, times: Counts) -> float:
        """Return the sum of the cells' log sums under the tilt of the total, and what windows leave out."""
        windows, rest, steepest = setting
        balanced = weights_tilted_to(
            *windows.weights(alpha),
            np.arange(windows.width),
            rest,
            relative=_NEARLY,
            start=self._tilt,
            steepest=steepest,
            times=times,
        )
        self._tilt = balanced.tilt
        outside = windows.beyond(alpha).log_outside(np.array(balanced.tilt))
        return float(times @ np.logaddexp(balanced.log_sums, outside)) - balanced.tilt * rest
