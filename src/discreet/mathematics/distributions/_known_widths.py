"""Widths of intervals of very many Betas whose parameters differ by whole numbers: looked up, not searched for.

For one total a + b = T the width is a smooth function of log a. Where there are many different a, it is interpolated on
panels [A, 2A] of a, or of b where that is less, through Chebyshev points; held-out points say whether a panel is good
to 1e-9 of the width, and where it is not its Betas are asked one by one.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import betaincinv

from discreet._core.arrays import Floats
from discreet.mathematics.distributions._dirichlet import tails

_FEW = 2_000  # most different Betas that are computed one by one
_POINTS = 24
_GOOD = 1e-9  # relative
_HELD_OUT = np.array([-0.83, 0.07, 0.71])
_NODES = np.cos(np.pi * (np.arange(_POINTS) + 0.5) / _POINTS)
_SIGNS = np.where(np.arange(_POINTS) % 2, -1.0, 1.0) * np.sin(np.pi * (np.arange(_POINTS) + 0.5) / _POINTS)


def known_widths(a: Floats, total: Floats, level: float) -> Floats:
    """Return the width of the equal-tailed interval of each Beta(a, total - a)."""
    found = np.empty(len(a))
    for one in np.unique(total):
        here = np.flatnonzero(total == one)
        different, indices = np.unique(a[here], return_inverse=True)
        found[here] = _widths(different, float(one), level)[indices.ravel()]
    return found


def _widths(a: Floats, total: float, level: float) -> Floats:
    """Return the widths of different Betas of one total; those of a and of b are alike."""
    low, high = tails(level)

    def width(least: Floats) -> Floats:
        return np.asarray(betaincinv(least, total - least, high) - betaincinv(least, total - least, low))

    least = np.minimum(a, total - a)
    if len(a) <= _FEW:
        return width(least)
    found, panels = np.empty(len(a)), np.floor(np.log2(least))
    for panel in np.unique(panels):
        here = np.flatnonzero(panels == panel)
        found[here] = _on_panel(width, least[here], float(panel), total)
    return found


def _on_panel(width: Callable[[Floats], Floats], least: Floats, panel: float, total: float) -> Floats:
    """Return widths inside [2^panel, 2^(panel + 1)], cut where b would be the smaller one."""
    top = min(panel + 1, float(np.log2(total / 2)))
    if len(least) <= 2 * _POINTS or top <= panel:
        return width(least)

    def parameter(x: Floats) -> Floats:
        return np.asarray(2.0 ** (panel + (x + 1) / 2 * (top - panel)))

    values = width(parameter(_NODES))
    held = width(parameter(_HELD_OUT))
    if (np.abs(_barycentric(values, _HELD_OUT) - held) > _GOOD * held).any():
        return width(least)
    return _barycentric(values, np.clip(2 * (np.log2(least) - panel) / (top - panel) - 1, -1, 1))


def _barycentric(values: Floats, x: Floats) -> Floats:
    """Return the polynomial through values at the Chebyshev points, in its barycentric form."""
    apart = x[:, None] - _NODES
    exact = apart == 0
    terms = _SIGNS / np.where(exact, 1.0, apart)
    found = terms @ values / terms.sum(axis=1)
    rows, points = np.nonzero(exact)
    found[rows] = values[points]
    return np.asarray(found)
