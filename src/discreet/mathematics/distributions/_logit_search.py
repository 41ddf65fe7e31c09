"""Quantiles of distributions on [0, 1], searched on the logit, where those of all sizes are alike."""

from collections.abc import Callable

import numpy as np
from scipy.special import ndtri

from discreet._core.arrays import Counts, Floats

FARTHEST = 700.0
"""Logits beyond are 0 or 1 in double precision."""
NEAR = 1e-6
"""From this far on in probability, or this share of a small one, Newton's steps are plain."""
_MOST_STEPS = 100  # enough for halving alone


def logit_quantiles(
    cdf_and_density: Callable[[Floats, Counts], tuple[Floats, Floats]], probability: Floats, start: Floats
) -> tuple[Floats, Counts]:
    """Return the logits of quantiles that are not near 1, and the steps taken, from where to start.

    `cdf_and_density(logits, indices)` gives the cdf and the density of the logit for some of the places of
    `probability`. Steps are those of Newton's method on the normal scores of the cdf, which are nearly linear in the
    logit, and near the root plain ones; halving where a step would leave the bracket. A place is judged before its
    bracket is considered: at the root the step is 0, and the bracket ends there.
    """
    at = np.clip(start, -FARTHEST, FARTHEST)
    low, high = np.full_like(at, -FARTHEST), np.full_like(at, FARTHEST)
    enough = np.where(probability >= 1e-8, 8e-16, 4e-16 * probability)
    active, taken = np.arange(len(at)), np.zeros(len(at), dtype=np.int64)
    for _ in range(_MOST_STEPS):
        here, sought = at[active], probability[active]
        cdf, density = cdf_and_density(here, active)
        taken[active] += 1
        miss = cdf - sought
        step = _step(cdf, density, sought)
        following = here - step
        least = 1e-13 * np.maximum(1, np.abs(here))
        done = (np.abs(step) <= least) | (np.abs(miss) <= enough[active])
        if done.all():
            at[active] = np.where(np.isfinite(following), following, here)
            break
        low[active] = np.where(miss < 0, here, low[active])
        high[active] = np.where(miss >= 0, here, high[active])
        stuck = high[active] - low[active] <= least
        outside = ~((following > low[active]) & (following < high[active])) & ~done
        stays = (stuck & ~done) | (done & ~np.isfinite(following))
        at[active] = np.where(stays, here, np.where(outside, (low[active] + high[active]) / 2, following))
        active = active[~(done | stuck)]
        if not active.size:
            break
    return at, taken


def _step(cdf: Floats, density: Floats, probability: Floats) -> Floats:
    """Return (z(F) - z(p)) phi(z(F)) / f far from the root, (F - p) / f near it."""
    miss = cdf - probability
    is_near = np.abs(miss) <= np.minimum(NEAR, probability)
    with np.errstate(all="ignore"):
        if is_near.all():
            return np.asarray(miss / density)
        scores = ndtri(np.clip(cdf, 1e-300, 1 - 1e-16))
        far = (scores - ndtri(probability)) * np.exp(-0.5 * scores**2) / np.sqrt(2 * np.pi)
        return np.asarray(np.where(is_near, miss, far) / density)
