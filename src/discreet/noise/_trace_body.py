"""The body that holds what every record of bounded length can contribute to a table of products.

For t with |t| <= 1 the matrix tt' lies in the convex body

    E = {A positive semidefinite;  tr A <= 1},

and E is no larger than that: by the spectral theorem A = sum_i l_i q_i q_i' with l_i >= 0 and sum_i l_i <= 1, so A is a
mean of matrices qq' and of 0, which is tt' of t = 0.

A uniform matrix of E is A = V^(1/D) W / tr W, D = m(m+1)/2, V uniform, W = G'G, G of m + 1 rows of m standard normal
numbers. *Proof*: a Wishart matrix of m + 1 degrees of freedom has the density ~ det(W)^0 e^(-tr W / 2), so W / tr W is
uniform on the matrices of trace 1 and independent of tr W; and the trace of a uniform matrix of E has the distribution
of V^(1/D), as the part of E with trace at most s is s E. QED. Nothing is rejected.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat
from numpy.typing import NDArray
from scipy.special import ndtr

from discreet._core.arrays import Floats
from discreet.noise._moment_body import Matrix, Terms, is_positive
from discreet.noise.randomness import LazyUniforms, RandomBits, normals


@dataclass(frozen=True)
class TraceBody:
    """The convex body E of positive semidefinite matrices with a trace of at most one.

    >>> TraceBody(3).dimension
    6
    """

    coordinates: int

    @property
    def dimension(self) -> int:
        """Return D, how many entries the upper triangle has."""
        return self.coordinates * (self.coordinates + 1) // 2

    @property
    def normals(self) -> int:
        """Return how many standard normal numbers a matrix is made of: (m + 1) m, and one for its trace."""
        return self.coordinates * (self.coordinates + 1) + 1

    def holds(self, matrix: Sequence[Sequence[int | Fraction]], unit: int = 1) -> bool:
        """Tell exactly whether a matrix lies in `unit` times E."""
        rows = [[Fraction(entry) for entry in row] for row in matrix]
        return sum(row[index] for index, row in enumerate(rows)) <= unit and is_positive(rows)

    def draw(self, bits: RandomBits) -> "LazyTraceMatrix":
        """Draw a uniform matrix of the body exactly, as numbers whose bits can be extended."""
        return LazyTraceMatrix(self, LazyUniforms(self.normals, bits))

    def draw_normals(self, rows: int, generator: np.random.Generator) -> Floats:
        """Draw rows of standard normal numbers: all are allowed."""
        return generator.standard_normal((rows, self.normals))

    def from_normals(self, numbers: Floats) -> Floats:
        """Return matrices from rows of standard normal numbers in floats: for a reader."""
        m = self.coordinates
        gaussian = numbers[..., :-1].reshape(*numbers.shape[:-1], m + 1, m)
        squares = np.swapaxes(gaussian, -1, -2) @ gaussian
        lengths = ndtr(numbers[..., -1]) ** (1 / self.dimension) / np.trace(squares, axis1=-2, axis2=-1)
        return np.asarray(squares * lengths[..., None, None])

    def keeps_cuts(self, matrices: Floats) -> NDArray[np.bool_]:
        """Return that all matrices are allowed: this body has no cuts."""
        return np.ones(matrices.shape[:-2], dtype=np.bool_)

    def variance(self, numbers: Sequence[Terms]) -> Floats:
        """Return the variance of sums of entries of a uniform matrix, each tr(F A) with a symmetric F, exactly.

        With N = m(m+1): E W_ij W_kl = (m+1)^2 d_ij d_kl + (m+1)(d_ik d_jl + d_il d_jk), E (tr W)^2 = N (N + 2), and the
        trace of A has the moments D/(D+1) and D/(D+2), so

            Var tr(F A) = D/(D+2) ((m+1)^2 (tr F)^2 + 2 (m+1) tr F^2) / (N (N+2)) - (D/(D+1) tr F / m)^2.
        """
        m, dimension = self.coordinates, self.dimension
        total, found = m * (m + 1), []
        for terms in numbers:
            matrix = np.zeros((m, m))
            for i, j, factor in terms:
                matrix[i, j] += float(factor) / 2
                matrix[j, i] += float(factor) / 2
            trace, square = float(np.trace(matrix)), float(np.square(matrix).sum())
            second = ((m + 1) ** 2 * trace**2 + 2 * (m + 1) * square) / (total * (total + 2))
            found.append(dimension / (dimension + 2) * second - (dimension / (dimension + 1) * trace / m) ** 2)
        return np.array(found)


@dataclass(frozen=True, eq=False)
class LazyTraceMatrix:
    """A matrix of the body, known through the bits of the uniform numbers that it is made of."""

    body: TraceBody
    uniforms: LazyUniforms

    def enclosed(self) -> Matrix:
        """Return A_ij for j <= i in balls: V^(1/D) W / tr W."""
        m, (*uniforms, length) = self.body.coordinates, self.uniforms.enclosed()
        gaussian = arb_mat(m + 1, m, normals(uniforms))
        squares = gaussian.transpose() * gaussian
        scale = (length.log() / self.body.dimension).exp() / sum((squares[i, i] for i in range(m)), arb(0))
        return [[squares[i, j] * scale for j in range(i + 1)] for i in range(m)]
