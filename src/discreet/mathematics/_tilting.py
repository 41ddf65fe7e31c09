"""Exponential tilting to the saddle point: digits are best where the mean of the sum is near the asked total.

Tilting multiplies the weight of a value k by e^(tilt k) in every row of weights, so that the mean of the sum of all
rows is where it is wanted. What is computed about a given sum does not depend on the tilt.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from discreet._core.arrays import Counts, Floats

_MOST_STEPS = 200
_MOST_EXPONENT = 300.0  # so far a tilt may be from the one at which weights were formed, at either end
_LEAST_EXPONENT = 200.0  # the same for weights that are not formed anew: those below 1e-308 stay below e^-300 of a row


@dataclass(frozen=True, eq=False)
class Tilted:
    """Tilted distributions: `weights` sum to one in each row, `log_sums` are the logarithms of their normalisers."""

    tilt: float
    weights: Floats
    log_sums: Floats
    means: Floats
    variance: float


def tilted_to(
    logs: Floats,
    steps: Counts,
    total: float,
    *,
    absolute: float,
    relative: float,
    steepest: float = np.inf,
    times: Counts | int = 1,
) -> Tilted:
    """Return the distributions under the tilt at which the mean of the sum is a total, or the steepest allowed.

    Row i of `logs` holds the logarithms of the weights of the values `steps`, and counts as many `times`. The mean may
    miss the total by `absolute` and `relative` standard deviations of the sum. Weights are formed anew only where a
    tilt is so far from the one before that they might overflow.
    """
    centred = steps - float(steps[0] + steps[-1]) / 2

    def formed(tilt: float) -> _Formed:
        weights = logs + tilt * centred
        peaks = weights.max(axis=1)
        weights -= peaks[:, None]
        return np.exp(weights, out=weights), peaks, tilt

    return _tilted(formed, steps, total, absolute, relative, steepest, times)


def weights_tilted_to(
    weights: Floats,
    log_scales: Floats,
    steps: Counts,
    total: float,
    *,
    relative: float,
    start: float,
    steepest: float,
    times: Counts | int,
) -> Tilted:
    """Return the same of weights, each row divided by a scale, which are overwritten; no tilt at which they overflow.

    Those who know about where the tilt is `start` there.
    """
    steepest = min(steepest, _LEAST_EXPONENT / max(1.0, float(steps[-1] - steps[0]) / 2))
    start = float(np.clip(start, -steepest, steepest))
    return _tilted(lambda _: (weights, log_scales, 0.0), steps, total, 1e-9, relative, steepest, times, start)


_Formed = tuple[Floats, Floats, float]
"""Weights, the logarithms of what they were divided by, and the tilt at which they were formed."""


def _tilted(
    formed: Callable[[float], _Formed],
    steps: Counts,
    total: float,
    absolute: float,
    relative: float,
    steepest: float,
    times: Counts | int,
    tilt: float = 0.0,
) -> Tilted:
    """Return distributions tilted to a total, given what forms their weights at a tilt.

    The mean rises with the tilt and its derivative is the variance, so each step is miss / variance, at most twice as
    far as the one before might have been, or half of the bracket. All moments come from one product of the weights
    with e^(tilt s), s e^(tilt s) and s^2 e^(tilt s), s counted from the middle.
    """
    low, high, farthest = -steepest, steepest, 1.0
    middle = float(steps[0] + steps[-1]) / 2
    centred = np.asarray(steps - middle)
    powers = np.stack([np.ones_like(centred), centred, centred**2], axis=1)
    weights, peaks, origin = formed(tilt)
    for _ in range(_MOST_STEPS):
        if abs(tilt - origin) * centred[-1] > _MOST_EXPONENT:
            weights, peaks, origin = formed(tilt)
        factors = np.exp((tilt - origin) * centred)
        sums, first, second = (weights @ (powers * factors[:, None])).T
        means = first / sums
        variance = max(0.0, float((times * (second / sums - means**2)).sum()))
        miss = float((times * (means + middle)).sum()) - total
        if abs(miss) <= absolute + relative * np.sqrt(variance):
            break
        low, high = (tilt, high) if miss < 0 else (low, tilt)
        following = tilt - float(np.clip(miss / max(variance, 1e-12), -farthest, farthest))
        following, farthest = following if low < following < high else (low + high) / 2, 2 * farthest
        if following == tilt:
            break
        tilt = following
    weights *= factors
    weights /= sums[:, None]
    return Tilted(tilt, weights, peaks + np.log(sums) + tilt * middle, means + middle, variance)


@dataclass(frozen=True, eq=False)
class TiltedStack:
    """Tilted distributions of several tables at once: as `Tilted`, with the tables along the first axis."""

    tilt: Floats
    weights: Floats
    log_sums: Floats
    means: Floats
    variance: Floats


def stack_tilted_to(
    logs: Floats,
    total: float | Floats | Counts,
    *,
    absolute: float,
    relative: float,
    times: Counts | None = None,
    limits: tuple[Floats, Floats] | None = None,
) -> TiltedStack:
    """Return what `tilted_to` gives for each table of a stack (tables, rows, values 0, 1, ...), all at once.

    Many small tables cost about as much as one, as every step of Newton's method is taken for all of them together.
    """
    middle = (logs.shape[-1] - 1) / 2
    powers = _powers(logs.shape[-1])
    centred = powers[:, 1]
    tilt, origin, farthest = np.zeros(len(logs)), np.zeros(len(logs)), 1.0
    low, high = (np.full(len(logs), -np.inf), np.full(len(logs), np.inf)) if limits is None else limits
    if limits is not None:
        tilt = np.minimum(np.maximum(tilt, low), high)
    cells = logs.shape[1] if times is None else float(times.sum())
    weights, peaks = _formed_stack(logs, origin, centred)
    for _ in range(_MOST_STEPS):
        if (np.abs(tilt - origin) * middle > _MOST_EXPONENT).any():
            origin = tilt
            weights, peaks = _formed_stack(logs, origin, centred)
        factors = np.exp((tilt - origin)[:, None] * centred)
        moments = weights @ (factors[:, :, None] * powers)
        sums = moments[..., 0]
        means = moments[..., 1] / sums
        variances = moments[..., 2] / sums - means**2
        variance = np.maximum(0.0, variances.sum(axis=1) if times is None else variances @ times)
        miss = (means.sum(axis=1) if times is None else means @ times) + (middle * cells - total)
        wrong = np.abs(miss) > absolute + relative * np.sqrt(variance)
        if not wrong.any():
            break
        low, high = np.where(miss < 0, tilt, low), np.where(miss < 0, high, tilt)
        following = tilt - np.minimum(np.maximum(miss / np.maximum(variance, 1e-12), -farthest), farthest)
        outside = (following <= low) | (following >= high)
        if outside.any():
            following = np.where(outside, (low + high) / 2, following)
        following, farthest = np.where(wrong, following, tilt), 2 * farthest
        if (following == tilt).all():
            break
        tilt = following
    weights *= factors[:, None, :]
    weights /= sums[..., None]
    return TiltedStack(tilt, weights, peaks + np.log(sums) + (tilt * middle)[:, None], means + middle, variance)


@lru_cache(maxsize=64)
def _powers(width: int) -> Floats:
    """Return 1, s and s^2 of the steps s = 0, 1, ... counted from their middle: what moments are formed with."""
    centred = np.arange(width) - (width - 1) / 2
    found = np.stack([np.ones(width), centred, centred**2], axis=1)
    found.setflags(write=False)
    return found


def _formed_stack(logs: Floats, tilt: Floats, centred: Floats) -> tuple[Floats, Floats]:
    """Return weights at a tilt of each table, every row divided by its largest, and the logarithms of these."""
    weights = logs + (tilt[:, None] * centred)[:, None, :] if tilt.any() else logs.copy()
    peaks = weights.max(axis=-1)
    weights -= peaks[..., None]
    return np.exp(weights, out=weights), peaks
