"""Noise that sums to zero in many cells: its distance first, then a uniform lattice point at that distance."""

from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb

from discreet.arrays import Counts
from discreet.noise.zero_sum_law import squared_binomials
from discreet.randomness import FiniteLaw, RandomBits, composition, geometric, subset


def radial_noise(epsilon: Fraction, cells: int, bits: RandomBits) -> Counts:
    """Draw the distance first, then a uniform lattice point at that distance; no draw is ever rejected as a whole.

    sum_u q^d(u) = sum_j C(m-1, j)^2 q^j / (1 - q)^(m-1): the distance is j, with P(j) ~ C(m-1, j)^2 q^j, plus m - 1
    geometrics. At distance k, s cells are positive with weight C(m, s) C(k-1, s-1) C(k+m-s-1, m-s-1).
    """
    start = int(_start_of_distance(epsilon, cells).sample(1, bits)[0])
    distance = start + int(geometric(epsilon, cells - 1, bits).sum())
    drawn = np.zeros(cells, dtype=np.int64)
    if distance == 0:
        return drawn
    positive = 1 + int(FiniteLaw(lambda: _weights_of_positive(distance, cells)).sample(1, bits)[0])
    rises = np.zeros(cells, dtype=np.bool_)
    rises[subset(positive, cells, bits)] = True
    drawn[rises] = 1 + composition(distance - positive, positive, bits)
    drawn[~rises] = -composition(distance, cells - positive, bits)
    return drawn


@lru_cache(maxsize=16)
def _start_of_distance(epsilon: Fraction, cells: int) -> FiniteLaw:
    return FiniteLaw(lambda: squared_binomials(epsilon, cells))


def _weights_of_positive(distance: int, cells: int) -> list[arb]:
    """Return weights ~ C(m, s) C(k-1, s-1) C(k+m-s-1, m-s-1), s = 1, ..., min(k, m - 1), each from the one before."""
    weights = [arb(1)]
    for s in range(1, min(distance, cells - 1)):
        top = (cells - s) * (distance - s) * (cells - s - 1)
        weights.append(weights[-1] * top / ((s + 1) * s * (distance + cells - s - 1)))
    return weights
