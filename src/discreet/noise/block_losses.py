"""What a unit that moves costs under noise on blocks and cells: signs of two cells and of their blocks decide.

Where a unit appears in cell i of block B, the loss gains b if u_i <= 0 and loses b otherwise, gains a if u(B) <= 0 and
loses a otherwise; where it disappears, with signs exchanged. So it takes a few values, and their probabilities are sums
of the weights of tables with these signs. They are floats of positive terms, rounded up by more than they can be wrong.
"""

from collections import defaultdict
from fractions import Fraction
from functools import lru_cache
from itertools import product

import numpy as np
from flint import arb, ctx

from discreet.arrays import Floats
from discreet.certificates import PrivacyLoss
from discreet.noise.line_sums import convolved, fitted, half_of, laplace_sums, steps, sums_of_blocks, width_of
from discreet.noise.losses import added

_SLACK = 1e-9  # relative, far above the rounding of these sums; windows leave out less than 1e-12
_OUTSIDE = 1e-11

Signed = dict[Fraction, Floats]
"""Weights of the sums of a block, by what its cell and the block add to the loss."""


@lru_cache(maxsize=64)
def tied_loss(outer: Fraction, inner: Fraction, sizes: tuple[int, ...], moved: tuple[int, ...]) -> PrivacyLoss:
    """Return the loss of a unit that moves between blocks of these sizes, or inside one, where all sum to zero."""
    rates = float(outer), float(inner)
    others = list(sizes)
    for size in moved:
        others.remove(size)
    half = width_of(*rates, sizes)
    rest = sums_of_blocks(*rates, tuple(sorted(others)), half)
    found: dict[Fraction, float] = defaultdict(float)
    if len(moved) == 1:
        for loss, weights in _inside(outer, inner, moved[0]).items():
            found[loss] += float(fitted(weights, half) @ rest)
    else:
        there, back = (_signed(outer, inner, size) for size in moved)
        for (one, first), (two, second) in product(there.items(), back.items()):
            found[one + two] += float(convolved(first, second[::-1], half) @ rest)
    return _stated(found)


@lru_cache(maxsize=64)
def free_loss(outer: Fraction, inner: Fraction, moved: tuple[int, ...]) -> PrivacyLoss:
    """Return the loss of a unit that moves between free blocks, or inside one."""
    if len(moved) == 1:
        return _stated({loss: float(w.sum()) for loss, w in _inside(outer, inner, moved[0]).items()})
    with ctx.workprec(192):
        parts = [_stated({loss: float(w.sum()) for loss, w in _signed(outer, inner, size).items()}) for size in moved]
        atoms = [[(loss, arb(p)) for loss, p in zip(each.losses, each.probabilities, strict=True)] for each in parts]
        return added([(each, 1) for each in atoms])


def _signed(outer: Fraction, inner: Fraction, size: int) -> Signed:
    """Return the weights of a block in one cell of which a unit appears."""
    others = laplace_sums(float(inner), size - 1)
    half = half_of(laplace_sums(float(inner), size))
    kept = np.exp(-float(outer) * np.abs(steps(half)))
    low = steps(half) <= 0
    found: Signed = {}
    for gains in (True, False):
        cell = np.exp(-float(inner) * np.abs(steps(half))) * (low if gains else ~low)
        weights = convolved(cell, others, half) * kept
        for block_gains in (True, False):
            loss = (inner if gains else -inner) + (outer if block_gains else -outer)
            own = weights * (low if block_gains else ~low)
            found[loss] = found.get(loss, np.zeros_like(own)) + own
    return found


def _inside(outer: Fraction, inner: Fraction, size: int) -> Signed:
    """Return the weights of a block inside which a unit moves: its sum stays."""
    others = laplace_sums(float(inner), size - 2)
    half = half_of(laplace_sums(float(inner), size))
    kept, single = np.exp(-float(outer) * np.abs(steps(half))), np.exp(-float(inner) * np.abs(steps(half)))
    low = steps(half) <= 0
    found: Signed = {}
    for one, two in product((True, False), repeat=2):
        entering, leaving = single * (low if one else ~low), single * (low if two else ~low)[::-1]
        loss = (inner if one else -inner) + (inner if two else -inner)
        weights = convolved(convolved(entering, leaving, half), others, half) * kept
        found[loss] = found.get(loss, np.zeros_like(weights)) + weights
    return found


def _stated(weights: dict[Fraction, float]) -> PrivacyLoss:
    """Return weights as probabilities, rounded up; what windows leave out counts as the largest loss."""
    total, top = sum(weights.values()), max(weights)
    chances = {loss: weight / total * (1 + _SLACK) for loss, weight in weights.items()}
    chances[top] += _OUTSIDE
    return PrivacyLoss(tuple(sorted(chances)), tuple(chances[loss] for loss in sorted(chances)))
