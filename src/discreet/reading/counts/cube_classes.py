"""Which class counts matter where every class was read through cube noise: a coarse look first, then every count.

A class count t weighs f_y(t) P(z_y | t). The second factor is at most one, and changes by at most e^rate from one count
to the next, as one more record moves every signed count by one. So the class counts' own noise gives a window, a look
at some counts of it bounds all others from above and below, and those whose upper bound is negligible beside the lower
bound on everything are left out: for every lambda, what all classes weigh with n_y = t is at most
e^(lambda (t - n)) upper_y(t) prod_(other classes) F(lambda).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from discreet.arrays import Counts
from discreet.mathematics.tilting import tilted_to
from discreet.reading.counts.class_reading import OwnFactor
from discreet.reading.counts.cube import CubeClass, CubeKernel
from discreet.reading.counts.naive_bayes import BEYOND, ClassCounts
from discreet.reading.counts.windows import Seen, Windowed

_NEGLIGIBLE_CLASS = 38.0  # class counts this many nats below the sum of all are left out
_COARSE = (24.0, 3.0)  # nats by which a class's weight may change between two counts of the first looks
_TILTS = (-0.9, -0.6, -0.3, 0.0, 0.3, 0.6, 0.9)  # lambdas that are tried, in rates of the class counts' own noise


@dataclass(frozen=True, eq=False)
class _Look:
    """Bounds of log P(z | t) on a window of class counts, from a look at some of them."""

    kernel: CubeKernel
    upper: Windowed
    lower: Windowed

    @property
    def ends(self) -> tuple[int, int]:
        """Return the first and the last count of the window."""
        return self.upper.first, self.upper.last

    @classmethod
    def at(cls, kernel: CubeKernel, first: int, last: int, factors: float) -> "_Look":
        """Look at class counts between which the weight changes by at most so many nats, and bound the rest."""
        every, step = np.arange(first, last + 1), max(1, int(factors / kernel.rate))
        nearest = np.clip((every + step // 2) // step * step, first, last)  # the same counts in every window
        looked, which = np.unique(nearest, return_inverse=True)
        seen = np.array([kernel.log_weight(count) for count in looked.tolist()])[which]
        slack = kernel.rate * np.abs(every - nearest)
        return cls(kernel, Windowed(first, np.minimum(0.0, seen + slack)), Windowed(first, seen - slack))


def cube_classes(kernels: Sequence[CubeKernel], classes: Seen, own: Sequence[OwnFactor], size: int) -> list[CubeClass]:
    """Return the readings of all classes, each with the weights of the class counts that matter."""
    shift = (size - float(classes.values.sum())) / len(kernels)
    centres = np.rint(np.clip(classes.values + shift, 0, size)).astype(np.int64)
    halves = [
        int((_NEGLIGIBLE_CLASS - kernel.log_weight(centre)) * reach) + 2
        for kernel, centre, reach in zip(kernels, centres.tolist(), classes.reach.tolist(), strict=True)
    ]
    rate = float(1 / classes.reach.max())
    while True:
        ends = [(max(0, c - half), min(size, c + half)) for c, half in zip(centres.tolist(), halves, strict=True)]
        found = _within(kernels, own, ends, size, rate)
        is_whole = all(end == (0, size) for end in ends)
        if found is not None and (is_whole or _is_enough(found, own, size)):
            return found
        halves = [2 * half for half in halves]


def _within(
    kernels: Sequence[CubeKernel], own: Sequence[OwnFactor], ends: Sequence[tuple[int, int]], size: int, rate: float
) -> list[CubeClass] | None:
    """Return the readings on windows of class counts; None if more than a negligible share lies beyond these."""
    looks = [_Look.at(kernel, *end, _COARSE[0]) for kernel, end in zip(kernels, ends, strict=True)]
    kept, lost = _kept(looks, own, size, rate)
    if lost > -_NEGLIGIBLE_CLASS and any(end != (0, size) for end in ends):
        return None
    narrow = [
        _Look.at(look.kernel, int(own[0]), int(own[-1]), _COARSE[1]) for look, own in zip(looks, kept, strict=True)
    ]
    kept, _ = _kept(narrow, own, size, rate)
    return [
        CubeClass(kernel, _weighed(kernel, counts), end)
        for kernel, counts, end in zip(kernels, kept, ends, strict=True)
    ]


def _is_enough(found: Sequence[CubeClass], own: Sequence[OwnFactor], size: int) -> bool:
    """Tell whether what lies beyond is negligible at the tilt by which the classes are summed as well."""
    return ClassCounts(found, own).known(size).outside_share <= BEYOND


def _kept(looks: Sequence[_Look], own: Sequence[OwnFactor], size: int, rate: float) -> tuple[list[Counts], float]:
    """Return the counts of each class whose upper bound is not negligible, and the log share of all beyond the look."""
    upper = ClassCounts([CubeClass(look.kernel, look.upper, look.ends) for look in looks], own)
    lower = ClassCounts([CubeClass(look.kernel, look.lower, look.ends) for look in looks], own)
    least = float(lower.known(size).log_sums[0])
    steps, rest = np.arange(upper.logs.shape[1]), size - int(upper.first.sum())
    most = upper.tilts[1]
    steepest = min(50.0, 0.9 * most)
    best = tilted_to(upper.logs, steps, rest, absolute=1e-6, relative=0.01, steepest=steepest).tilt
    bounds, beyond = np.full_like(upper.logs, np.inf), np.full(len(looks), np.inf)
    for share in _TILTS:
        tilt = best + share * rate
        sums = logsumexp(upper.logs + tilt * steps, axis=1)
        others = sums.sum() - sums
        bounds = np.minimum(bounds, upper.logs + tilt * (steps - rest) + others[:, None])
        if abs(tilt) < most:
            beyond = np.minimum(beyond, upper.log_outside(np.array([tilt]))[0] - tilt * rest + others)
    floor = least - _NEGLIGIBLE_CLASS - np.log(upper.logs.size)
    kept = [first + np.flatnonzero(bound >= floor) for first, bound in zip(upper.first, bounds, strict=True)]
    return kept, float(beyond.max()) - least


def _weighed(kernel: CubeKernel, counts: Counts) -> Windowed:
    values = np.full(int(counts[-1] - counts[0]) + 1, -np.inf)
    values[counts - counts[0]] = [kernel.log_weight(count) for count in counts.tolist()]
    return Windowed(int(counts[0]), values)
