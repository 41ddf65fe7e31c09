"""Noise of the maximum norm (a cube): P(u) ~ e^(-r max_i |u_i|), independent over blocks.

Drawn by its radius: given R with P(R) ~ (2 R + 1)^D e^(-r R) the D numbers of a block are uniform on {-R, ..., R}. By
the same layers, if all D numbers of a block move by h, then with q = e^-r and g = h - c >= 0

    delta(r c) = 1 - q^(g/2) for even g,   1 - q^((g-1)/2) s for odd g,   s = sum_R q^R (2 R)^D / sum_R q^R (2 R + 1)^D,

because a cube of radius R and the cube of radius R + c moved by h share 2 R + 1 - g numbers on each side. Moving some
numbers less takes away from it. On a fine grid it is the distribution of Laplace noise, whatever D is.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from flint import arb, ctx
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, softmax

from discreet._core.arrays import Counts, Floats
from discreet._core.exact import ball
from discreet.noise._radius import RadiusDistribution, differences
from discreet.noise._structure import Generator, Independent, Product, SharedRadius, Structure
from discreet.noise._zero_sum_laplace import RatedBlocks, by_block, starts
from discreet.noise.randomness import RandomBits, uniform_below
from discreet.privacy import Atoms, PrivacyLoss, added, atoms_of, upper_float

_FAR = 64  # moves up to here have one value of the loss for each step; beyond, the curve is stated at some points
_POINTS = 512


@dataclass(frozen=True)
class Cube(RatedBlocks):
    """Cube-shaped noise, P(u) ~ e^(-sum_b r_b max_i |u_bi|): one radius for each block of numbers.

    >>> Cube((Fraction(1, 2),), (3,)).privacy_loss([1, -2, 0]).epsilon
    Fraction(1, 1)
    """

    @cached_property
    def structure(self) -> Structure:
        """Return one radius, several independent ones, or a product if every block is a single number."""
        made = Generator(self.sizes, self.normals, self.from_normals)
        if len(self.sizes) == 1:
            return SharedRadius(self.sizes, float(self.rates[0]), made)
        if max(self.sizes) == 1:
            return Product(self.sizes, self.log_terms, generator=made)
        return Independent(tuple(Cube((r,), (m,)).structure for r, m in zip(self.rates, self.sizes, strict=True)))

    def radius(self, block: int = 0) -> RadiusDistribution:
        """Return the distribution of the radius of a block."""
        return cube_radius(self.rates[block], self.sizes[block])

    def largest(self, noise: ArrayLike) -> NDArray[np.generic]:
        """Return max_i |u_i| of each block of each row."""
        return np.asarray(np.maximum.reduceat(np.abs(np.asarray(noise)), starts(self.sizes), axis=-1))

    def log_kernel(self, noise: ArrayLike) -> Floats:
        """Return -sum_b r_b max_i |u_bi|."""
        return np.asarray(self.largest(noise) @ np.array([-float(rate) for rate in self.rates]))

    def log_terms(self, noise: ArrayLike, indices: ArrayLike | None = None) -> Floats:
        """Return -r |u|, where every block is a single number."""
        rates = np.array([float(rate) for rate in self.rates])
        return np.asarray(np.abs(np.asarray(noise)) * -(rates if indices is None else rates[np.asarray(indices)]))

    @cached_property
    def log_normaliser(self) -> float:
        """Return the sum over blocks of log sum_u e^(-r max|u|)."""
        return sum(self.radius(block).log_normaliser for block in range(len(self.sizes)))

    def sample(self, rows: int, bits: RandomBits) -> Counts:
        """Draw a radius for every block, then every number uniform on {-radius, ..., radius}."""
        drawn = []
        for rate, cells, times in self._runs():
            radii = cube_radius(rate, cells).sample(rows * times, bits)
            many = [uniform_below(2 * int(r) + 1, cells, bits).astype(np.int64) - int(r) for r in radii]
            drawn.append(np.array(many, dtype=np.int64).reshape(rows, times * cells))
        return np.concatenate(drawn, axis=1)

    def _runs(self) -> Iterator[tuple[Fraction, int, int]]:
        """Yield (rate, numbers, how many blocks) for runs of equal blocks."""
        kinds = list(zip(self.rates, self.sizes, strict=True))
        while kinds:
            times = next((index for index, kind in enumerate(kinds) if kind != kinds[0]), len(kinds))
            yield *kinds[0], times
            kinds = kinds[times:]

    @cached_property
    def variance(self) -> Floats:
        """Return E[R (R + 1)] / 3 of each number's block."""
        found = {}
        for kind in set(zip(self.rates, self.sizes, strict=True)):
            mean, variance = cube_radius(*kind).moments()
            found[kind] = (variance + mean * mean + mean) / 3
        return np.repeat([found[kind] for kind in zip(self.rates, self.sizes, strict=True)], self.sizes)

    @property
    def decay_length(self) -> Floats:
        """Return the mean radius in the limit of small rates, (D + 1) / r."""
        each = [(cells + 1) / float(rate) for rate, cells in zip(self.rates, self.sizes, strict=True)]
        return np.repeat(each, self.sizes)

    @property
    def information(self) -> Floats:
        """Return r^2 / D: one number in D decides."""
        each = [float(rate) ** 2 / cells for rate, cells in zip(self.rates, self.sizes, strict=True)]
        return np.repeat(each, self.sizes)

    def slope(self, noise: ArrayLike) -> Floats:
        """Return -r w_i tanh(u_i), w the soft maximum of r |u| in each block."""
        blocks = by_block(np.asarray(noise, dtype=float), self.sizes)
        pairs = zip(self.rates, blocks, strict=True)
        each = [-float(r) * softmax(float(r) * np.abs(piece), axis=-1) * np.tanh(piece) for r, piece in pairs]
        return np.concatenate(each, axis=-1)

    def simulate(self, rows: int, generator: np.random.Generator) -> Floats:
        """Draw rows with density ~ e^(-r max|u|) in each block: a Gamma(D + 1) radius times uniform numbers."""
        found = []
        for rate, cells in zip(self.rates, self.sizes, strict=True):
            radii = generator.standard_gamma(cells + 1, size=rows) / float(rate)
            found.append(radii[:, None] * generator.uniform(-1, 1, size=(rows, cells)))
        return np.concatenate(found, axis=1)

    @property
    def normals(self) -> int:
        """Return 2 (D + 1) for the radius of each block, and one for each number."""
        return sum(3 * cells + 2 for cells in self.sizes)

    def from_normals(self, normals: ArrayLike) -> Floats:
        """Return half the sum of 2 (D + 1) squares over the rate, a Gamma(D + 1) radius, times uniform numbers."""
        parts = by_block(np.asarray(normals, dtype=float), [3 * cells + 2 for cells in self.sizes])
        found = []
        for rate, cells, piece in zip(self.rates, self.sizes, parts, strict=True):
            radii = np.square(piece[..., : 2 * cells + 2]).sum(axis=-1, keepdims=True) / (2 * float(rate))
            found.append(radii * (2 * ndtr(piece[..., 2 * cells + 2 :]) - 1))
        return np.concatenate(found, axis=-1)

    def _steps(self, change: ArrayLike) -> list[int]:
        return [int(step) for step in self.largest(np.asarray(change))]

    def _epsilon(self, change: Counts) -> Fraction:
        """Return sum_b r_b max_i |c_bi|."""
        pairs = zip(self.rates, self._steps(change), strict=True)
        return sum((rate * step for rate, step in pairs), Fraction(0))

    def _rho(self, change: Counts) -> Fraction:
        """Return the sum over blocks of the zCDP parameters of their losses."""
        kinds = zip(self.rates, self.sizes, self._steps(change), strict=True)
        return sum((_loss((kind,)).sharp_rho for kind in kinds if kind[2]), Fraction(0))

    def _curve(self, change: Counts) -> PrivacyLoss:
        """Return the loss as if all numbers of a block moved as far as the one that moves most: exact if they do."""
        kinds = zip(self.rates, self.sizes, self._steps(change), strict=True)
        return _loss(tuple(sorted(kind for kind in kinds if kind[2])))


@lru_cache(maxsize=16)
def cube_radius(rate: Fraction, cells: int) -> RadiusDistribution:
    """Return the distribution of a cube's radius: P(R) ~ (2 R + 1)^D e^(-r R)."""
    return RadiusDistribution(rate, [(2 * r + 1) ** cells for r in range(cells + 1)])


@lru_cache(maxsize=32)
def _loss(kinds: tuple[tuple[Fraction, int, int], ...]) -> PrivacyLoss:
    with ctx.workprec(256):
        parts = {
            kind: _few_steps(*kind) if kind[2] <= _FAR else atoms_of(many_steps(kind[0], kind[2]))
            for kind in set(kinds)
        }
        return added([(parts[kind], kinds.count(kind)) for kind in sorted(parts)])


def _few_steps(rate: Fraction, cells: int, step: int) -> Atoms:
    """Return the loss where a block moves by `step`: its values are whole multiples of the rate.

    delta(r c) = sum over l > c of p_l (1 - e^(r (c - l))) is solved for p from the largest value down, and exchanging
    both distributions gives p_-l = p_l e^(-r l).
    """
    q = (-ball(rate)).exp()
    odd = sum((start * q**j for j, start in enumerate(differences(_even_sides(cells)))), arb(0))
    share = odd / cube_radius(rate, cells).weight
    chances: dict[int, arb] = {}
    for c in range(step - 1, -1, -1):
        gap = step - c
        delta = 1 - q ** (gap // 2) * (share if gap % 2 else 1)
        above = sum((chances[level] * (1 - q ** (level - c)) for level in range(c + 2, step + 1)), arb(0))
        chances[c + 1] = (delta - above) / (1 - q)
    found = [(rate * level, chance) for level, chance in chances.items()]
    mirrored = [(-rate * level, chance * q**level) for level, chance in chances.items()]
    still = 1 - sum((chance for _, chance in (*found, *mirrored)), arb(0))
    return [*found, (Fraction(0), still), *mirrored]


def _even_sides(cells: int) -> list[int]:
    return [(2 * r) ** cells for r in range(cells + 1)]


def many_steps(rate: Fraction, step: int) -> PrivacyLoss:
    """Return the loss where a block moves far: delta(r (h - g)) = 1 - e^(-r g / 2) at some even g, chords between."""
    gaps = sorted({2 * (step * index // (2 * _POINTS)) for index in range(_POINTS)} | {step + step % 2}, reverse=True)
    epsilons = [max(Fraction(0), rate * (step - gap)) for gap in gaps]
    with ctx.workprec(192):
        deltas = [upper_float(1 - (-ball(rate * gap / 2)).exp()) if gap else 0.0 for gap in gaps]
    return PrivacyLoss.from_symmetric_curve(epsilons, deltas)
