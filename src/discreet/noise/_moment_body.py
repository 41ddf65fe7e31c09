"""The body that holds what every record can contribute to a table of products.

For v in [-1, 1]^m the matrix vv' lies in the convex body

    E = {A positive semidefinite;  A_ii = 1 for coordinates that are fixed, A_ii <= 1 for the others;
         1 + p A_ij + q A_jk + p q A_ik >= 0  for all i < j < k and p, q = +1, -1}.

Fixed are coordinates whose square is always one (the constant, indicators coded +1 and -1) and those whose square is
not published: raising a diagonal entry keeps a matrix positive semidefinite. The last line are the *cuts*: they are
linear in each of v_i, v_j, v_k, so least at v = +-1, where they are (1 + p v_i v_j)(1 + q v_j v_k), 0 or 4.

A uniform matrix of E is A = S C S: C the correlation matrix of m + 1 standard normal vectors, uniform among all
correlation matrices, S^2 diagonal with V^(2/(m+1)), V uniform, where it is free; drawn anew until the cuts hold, which
they do in 29 % of draws or more. (dA = prod_i a_ii^((m-1)/2) da dC, and a Wishart distribution of m + 1 degrees of
freedom has a constant density in C.)

Where records may be left out, they contribute 0, and the body is the hull of 0 and E, all s A with 0 <= s <= 1 and A in
E. The first coordinate is fixed, so that E lies at A_00 = 1, and the hull has one dimension more: its part with A_00 at
most s is s times the whole, so A_00 = V^(1/(D+1)) in a uniform matrix, and the rest is A_00 times one of E.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations

import numpy as np
from flint import arb, arb_mat
from numpy.typing import NDArray
from scipy.special import ndtr

from discreet._core.arrays import Floats
from discreet.noise.randomness import LazyUniforms, RandomBits, decided, normals

Matrix = list[list[arb]]
"""The lower triangle of a symmetric matrix, by rows, in balls."""

Terms = tuple[tuple[int, int, Fraction], ...]
"""A number as a sum of factor times A_ij, j <= i."""

_DRAWS, _SEED = 8_000, 7  # by which variances are estimated, which no closed form gives

_NEAR = 1e-12  # cuts that floats find nearer to zero than this are decided in balls; the floats are good to 1e-14
_SIGNS = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])  # of A_ij, A_jk and A_ik


@dataclass(frozen=True)
class MomentBody:
    """The convex body E of moment matrices, given by which of its coordinates are fixed.

    With `holds_zero` it is the hull of 0 and E; the first coordinate must be fixed then.

    >>> MomentBody((True, False, False)).dimension, MomentBody((True, False, False), holds_zero=True).dimension
    (5, 6)
    """

    fixed: tuple[bool, ...]
    holds_zero: bool = False

    @property
    def coordinates(self) -> int:
        """Return m."""
        return len(self.fixed)

    @cached_property
    def free(self) -> tuple[int, ...]:
        """Return the coordinates whose diagonal entry varies."""
        return tuple(index for index, fixed in enumerate(self.fixed) if not fixed)

    @property
    def dimension(self) -> int:
        """Return D, how many entries of the upper triangle vary; squares of fixed coordinates are one number."""
        m = self.coordinates
        return m * (m - 1) // 2 + len(self.free) + self.holds_zero

    @property
    def normals(self) -> int:
        """Return how many standard normal numbers make a matrix: (m + 1) m, one for each free square, and for A_00."""
        m = self.coordinates
        return m * (m + 1) + len(self.free) + self.holds_zero

    def holds(self, matrix: Sequence[Sequence[int | Fraction]], unit: int | Fraction = 1) -> bool:
        """Tell exactly whether a matrix lies in `unit` times E; diagonal entries of fixed coordinates are ignored."""
        m = self.coordinates
        if self.holds_zero:
            share = Fraction(matrix[0][0])
            if not 0 < share <= unit:
                return share == 0 and not any(any(row) for row in matrix)
            return MomentBody(self.fixed).holds(matrix, share)
        rows = [[Fraction(unit if i == j and self.fixed[i] else matrix[i][j]) for j in range(m)] for i in range(m)]
        within = all(rows[i][i] <= unit for i in self.free)
        cuts = all(
            unit + p * rows[i][j] + q * rows[j][k] + p * q * rows[i][k] >= 0
            for i, j, k in combinations(range(m), 3)
            for p in (1, -1)
            for q in (1, -1)
        )
        return within and cuts and is_positive(rows)

    def draw(self, bits: RandomBits) -> "LazyMatrix":
        """Draw a uniform matrix of the body exactly, as numbers whose bits can be extended."""
        while True:
            found = LazyMatrix(self, LazyUniforms(self.normals, bits))
            if decided(found.keeps_cuts, [found.uniforms]):
                return found

    def from_normals(self, numbers: Floats) -> Floats:
        """Return matrices before the cuts, from rows of standard normal numbers in floats: for a reader."""
        m = self.coordinates
        gaussian = numbers[..., : m * (m + 1)].reshape(*numbers.shape[:-1], m + 1, m)
        roots, end = np.ones((*numbers.shape[:-1], m)), m * (m + 1) + len(self.free)
        roots[..., list(self.free)] = ndtr(numbers[..., m * (m + 1) : end]) ** (1 / (m + 1))
        if self.holds_zero:
            roots *= ndtr(numbers[..., end:]) ** (1 / (2 * self.dimension))
        unit = gaussian * (roots / np.sqrt(np.square(gaussian).sum(axis=-2)))[..., None, :]
        return np.asarray(np.swapaxes(unit, -1, -2) @ unit)

    def draw_normals(self, rows: int, generator: np.random.Generator) -> Floats:
        """Draw rows of standard normal numbers, given that the cuts hold."""
        found, missing = [], rows
        while missing:
            drawn = generator.standard_normal((2 * missing + 16, self.normals))
            drawn = drawn[self.keeps_cuts(self.from_normals(drawn))][:missing]
            found.append(drawn)
            missing -= len(drawn)
        return np.concatenate(found) if found else np.zeros((0, self.normals))

    def variance(self, numbers: Sequence[Terms]) -> Floats:
        """Return the variance of sums of entries of a uniform matrix, from 8,000 with a fixed seed: to about 2 %."""
        matrices = self.from_normals(self.draw_normals(_DRAWS, np.random.default_rng(_SEED)))
        return np.asarray(sums_of_entries(matrices, numbers).var(axis=0))

    def keeps_cuts(self, matrices: Floats) -> NDArray[np.bool_]:
        """Tell of each matrix of floats whether all cuts hold: |A_ij + A_jk| <= 1 + A_ik, |A_ij - A_jk| <= 1 - A_ik.

        In the hull of 0 and E there is A_00 in the place of 1.
        """
        m = self.coordinates
        rows = np.ascontiguousarray(np.moveaxis(matrices.reshape(-1, m, m), 0, -1))
        kept = np.ones(rows.shape[-1], dtype=np.bool_)
        unit = rows[0, 0] if self.holds_zero else 1.0
        for i, j, k in _triples(m):
            one, two, three = rows[i, j], rows[j, k], rows[i, k]
            kept &= (np.abs(one + two) <= unit + three) & (np.abs(one - two) <= unit - three)
        return kept.reshape(matrices.shape[:-2])


@dataclass(frozen=True, eq=False)
class LazyMatrix:
    """A matrix of the body, known through the bits of the uniform numbers that it is made of."""

    body: MomentBody
    uniforms: LazyUniforms

    def enclosed(self) -> Matrix:
        """Return A_ij for j <= i in balls."""
        found, share = self._inside()
        return [[share * entry for entry in row] for row in found] if self.body.holds_zero else found

    def _inside(self) -> tuple[Matrix, arb]:
        """Return a matrix of E in balls, S C S with C the correlation matrix of normal vectors, and A_00."""
        m, uniforms = self.body.coordinates, self.uniforms.enclosed()
        share = arb(1)
        if self.body.holds_zero:
            share = (uniforms.pop().log() / self.body.dimension).exp()
        gaussian = arb_mat(m + 1, m, normals(uniforms[: m * (m + 1)]))
        squares, roots = gaussian.transpose() * gaussian, [arb(1)] * m
        for index, uniform in zip(self.body.free, uniforms[m * (m + 1) :], strict=True):
            roots[index] = (uniform.log() / (m + 1)).exp()
        scales = [root / squares[index, index].sqrt() for index, root in enumerate(roots)]
        found = [[squares[i, j] * scales[i] * scales[j] for j in range(i)] for i in range(m)]
        return [[*row, root * root] for row, root in zip(found, roots, strict=True)], share

    def keeps_cuts(self) -> bool | None:
        """Return whether all cuts hold, if the enclosures decide it: first in floats, the close ones in balls."""
        m = self.body.coordinates
        if m < 3:
            return True
        entries, _ = self._inside()
        if not all(entry.is_finite() and entry.rad() < _NEAR / 100 for row in entries for entry in row):
            return None
        floats = np.zeros((m, m))
        for i, row in enumerate(entries):
            floats[i, : i + 1] = floats[: i + 1, i] = [float(entry.mid()) for entry in row]
        first, second, third = np.array(_triples(m)).T
        values = 1 + _SIGNS @ np.stack([floats[first, second], floats[second, third], floats[first, third]])
        if (values < -_NEAR).any():
            return False
        for signs, index in np.argwhere(values <= _NEAR).tolist():
            (i, j, k), (one, two, three) = _triples(m)[index], _SIGNS[signs].tolist()
            value = 1 + one * entries[j][i] + two * entries[k][j] + three * entries[k][i]
            if not value >= 0:
                return False if value < 0 else None
        return True


def sums_of_entries(matrices: Floats, numbers: Sequence[Terms]) -> Floats:
    """Return sums of entries of matrices of floats, a row for each matrix."""
    entries = np.ascontiguousarray(np.moveaxis(matrices, (-2, -1), (0, 1)))
    found = [sum(float(factor) * entries[i, j] for i, j, factor in terms) for terms in numbers]
    return np.stack([np.asarray(each) for each in found], axis=-1)


@lru_cache(maxsize=32)
def _triples(coordinates: int) -> list[tuple[int, int, int]]:
    """Return all i < j < k."""
    return list(combinations(range(coordinates), 3))


def is_positive(matrix: Sequence[Sequence[Fraction]]) -> bool:
    """Tell exactly whether a symmetric matrix is positive semidefinite: a pivot of zero must have a row of zeros."""
    rest = [list(row) for row in matrix]
    for i in range(len(rest)):
        pivot = rest[i][i]
        if pivot < 0 or (pivot == 0 and any(rest[i][j] for j in range(i + 1, len(rest)))):
            return False
        for j in range(i + 1, len(rest)) if pivot else ():
            share = rest[j][i] / pivot
            for k in range(i + 1, len(rest)) if share else ():
                rest[j][k] -= share * rest[i][k]
    return True
