"""Windows of counts that do not depend on prior or parameters: they miss the true counts with a probability of 1e-15.

Let W hold the counts within t of every noisy number. P(z, k in W | p) is a smooth likelihood of its own, and
conditioning on an event of probability 1 - d moves any law by at most d in total variation. Averaged over releases d is
P(some |noise| > t), whatever p, the prior and the counts are. With t = 36 reaches it is about e^-36 for each cell. Far
from the data, the value covers only the windows, not all counts: harmless for a posterior, wrong for a profile plotted
that far out; `Likelihood` says so.

A draw of a posterior has no noise of its own. As a function of the counts its likelihood, once tilted to the known
size, falls off on both sides of a peak; its window ends where it is e^-80 of that.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from scipy.special import gammaln

from discreet.arrays import Counts, Floats
from discreet.errors import DeclarationError
from discreet.reading.cells.product import ProductLikelihood, log_factorials
from discreet.reading.problem import MOST_NUMBERS

_REACHES = 36.0
_FALL = 80.0  # nats below its peak at which a draw's window ends


class CellKernel(Protocol):
    """The likelihood of one output: a product over cells, and a constant."""

    log_constant: float
    low: Counts
    high: Counts
    reach: float

    def __call__(self, places: Counts, counts: Counts) -> Floats:
        """Return the log factor of given cells at given counts."""


def product_of(noisy: Sequence[CellKernel], drawn: Sequence[CellKernel], size: int, method: str) -> ProductLikelihood:
    """Return the likelihood of several outputs about the same records, each a product over cells."""
    kernels = [*noisy, *drawn]
    first, last = _windows(noisy, drawn, size)
    width = int((last - first).max()) + 1
    if width * len(first) > MOST_NUMBERS:
        raise DeclarationError(
            f"A likelihood of {len(first)} cells through windows of {width} counts holds {width * len(first):.0e} "
            f"numbers, and at most {MOST_NUMBERS:.0e} are allowed. Nothing was read. Use a larger epsilon or fewer "
            "cells."
        )
    places, counts = np.arange(len(first))[:, None], first[:, None] + np.arange(width)
    inside = counts <= last[:, None]
    logs = sum(kernel(places, np.minimum(counts, last[:, None])) for kernel in kernels)
    base = np.where(inside, np.asarray(logs) - log_factorials(first, width), -np.inf)
    constant = float(gammaln(size + 1.0)) + sum(kernel.log_constant for kernel in kernels)
    return ProductLikelihood(first, base, size, constant, method)


def _windows(noisy: Sequence[CellKernel], drawn: Sequence[CellKernel], size: int) -> tuple[Counts, Counts]:
    """Return the first and last count of every cell, widened if the known size would otherwise lie outside."""
    far = [_around(kernel, size) for kernel in drawn]
    times = 1.0
    while True:
        ends = [*far, *(_near(kernel, times, size) for kernel in noisy)]
        first, last = np.max([low for low, _ in ends], axis=0), np.min([high for _, high in ends], axis=0)
        if (first <= last).all() and int(first.sum()) <= size <= int(last.sum()):
            return first, last
        if times > 2.0**60:
            raise DeclarationError(
                "No counts that add up to the known size can explain these outputs. Nothing was read."
            )
        times, far = 2 * times, far if times < 8 else [(np.zeros_like(first), np.full_like(first, size))] * len(drawn)


def _near(kernel: CellKernel, times: float, size: int) -> tuple[Counts, Counts]:
    margin = int(min(np.ceil(_REACHES * times * kernel.reach), 2.0**62)) + 1
    low = np.maximum(kernel.low, -(2**62)) - min(margin, 2**61)
    return np.clip(low, 0, size), np.clip(kernel.high + min(margin, 2**61), 0, size)


def _around(kernel: CellKernel, size: int) -> tuple[Counts, Counts]:
    """Return the window of a draw, found by halving on both sides of its peak: its kernel is log-concave."""
    places = np.arange(len(kernel.low))
    middle = np.clip(kernel.low, 0, size)
    inner = np.clip(middle, 0, max(0, size - 1))
    tilt = np.median(kernel(places, inner) - kernel(places, inner + 1))  # so that nothing changes near the middle

    def tilted(counts: Counts) -> Floats:
        return kernel(places, counts) + tilt * counts

    peak = tilted(middle)
    ends = []
    for limit in (np.zeros_like(middle), np.full_like(middle, size)):
        inside, outside = middle.copy(), limit.copy()
        is_whole = tilted(limit) >= peak - _FALL
        while (np.abs(outside - inside) > 1).any():
            half = (inside + outside) // 2
            keeps = tilted(half) >= peak - _FALL
            inside, outside = np.where(keeps, half, inside), np.where(keeps, outside, half)
        ends.append(np.where(is_whole, limit, outside))
    return ends[0], ends[1]
