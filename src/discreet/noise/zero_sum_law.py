"""The law of Laplace noise that sums to zero: its normaliser, its variance, and the loss where units move."""

from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb, ctx

from discreet.certificates import PrivacyLoss
from discreet.exact import ball
from discreet.noise.losses import Atoms, added


@lru_cache(maxsize=64)
def loss_of_moves(kinds: tuple[tuple[Fraction, int, int], ...]) -> PrivacyLoss:
    """Return the loss of blocks that move independently: (rate, cells, sum of |c|) of each."""
    with ctx.workprec(192):
        parts = {
            kind: one_unit(2 * kind[0], kind[1]) if kind[2] == 2 else worst(kind[0] * kind[2]) for kind in set(kinds)
        }
        return added([(parts[kind], kinds.count(kind)) for kind in sorted(parts)])


def worst(epsilon: Fraction) -> Atoms:
    """Return the loss of randomised response, which dominates every pure epsilon."""
    return [(sign * epsilon, 1 / (1 + (-sign * ball(epsilon)).exp())) for sign in (1, -1)]


def one_unit(epsilon: Fraction, cells: int) -> Atoms:
    """Return the loss where a unit moves from cell j to cell i: +epsilon, 0 or -epsilon.

    Then d changes by ((+-1) + (+-1))/2. The loss is +epsilon where u_i <= 0 <= u_j, and that has probability
    Z_(m-1) / ((1 - q) Z_m), as both sides are coefficients of powers of one kernel.
    """
    q = (-ball(epsilon)).exp()
    up = normaliser(epsilon, cells - 1) / (1 - q) / normaliser(epsilon, cells)
    stay = arb(0) if cells == 2 else 1 - up - up * q
    return [(epsilon, up), (Fraction(0), stay), (-epsilon, up * q)]


@lru_cache(maxsize=256)
def normaliser(epsilon: Fraction, cells: int) -> arb:
    """Return Z of one block."""
    with ctx.workprec(192):
        q = (-ball(epsilon)).exp()
        return sum(squared_binomials(epsilon, cells), arb(0)) / (1 - q) ** (cells - 1)


def histogram_variance(cells: int, epsilon: float) -> float:
    """Return the variance of the noise in one cell.

    4 q (m-1) / (1-q)^2 times the mean of sin^2 under a density ~ (1 + 2 sqrt(q) cos + q)^(m-1) on the circle; both are
    trigonometric polynomials, so a sum over m + 2 or more equal steps is exact.
    """
    q = np.exp(-epsilon)
    angles = 2 * np.pi * np.arange(cells + 3) / (cells + 3)
    with np.errstate(divide="ignore"):
        logs = (cells - 1) * np.log(1 + 2 * np.sqrt(q) * np.cos(angles) + q)
    weights = np.exp(logs - logs.max())
    return float(4 * q * (cells - 1) / np.expm1(-epsilon) ** 2 * (weights @ np.sin(angles) ** 2) / weights.sum())


def squared_binomials(epsilon: Fraction, cells: int) -> list[arb]:
    """Return C(m-1, j)^2 q^j for j = 0, ..., m - 1, each from the one before."""
    q, free = (-ball(epsilon)).exp(), cells - 1
    weights = [arb(1)]
    for j in range(free):
        weights.append(weights[-1] * q * (free - j) ** 2 / (j + 1) ** 2)
    return weights
