"""Cone noise: a K-norm mechanism whose body is the hull of all that one record can contribute.

If every record's statistic lies in a convex body E of dimension D, then with R ~ Gamma(2 D + 1, rate epsilon) and A, B
independent and uniform in E,

    U = R (A - B)

hides one replaced record: for t, t' in E the density of U obeys f(u - t' + t) <= e^epsilon f(u). *Proof*: (R A, R B, R)
has the density ~ e^(-epsilon R) on the convex cone {(a, b, R): a, b in R E}, f(u) integrates it over all (a, a - u, R),
and adding (t', t, 1), a point of the cone, maps what f(u - t' + t) integrates into what f(u) does, where the density
is e^-epsilon times as large. QED. `docs/mechanisms/cone-moments.md` writes it out.

f has no closed form, so that this distribution is a generator: solvers that need a density refuse it. What is added is
U, in the units of the measured numbers, rounded: they are whole numbers, so this is rounding the noisy ones.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import NoReturn

import numpy as np
from flint import arb
from numpy.typing import ArrayLike
from scipy.special import gammainccinv, ndtr

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import ball
from discreet.noise._moment_body import LazyMatrix, Matrix, MomentBody, Terms, sums_of_entries
from discreet.noise._noise import Noise, Operations
from discreet.noise._structure import Generator, Structure
from discreet.noise._trace_body import LazyTraceMatrix, TraceBody
from discreet.noise.randomness import LazyUniforms, RandomBits, decided, rounded
from discreet.privacy import PrivacyLoss


@dataclass(frozen=True)
class Cone(Noise):
    """Cone noise: rounded sums of entries of U = R (A - B); `terms` says which entries."""

    epsilon: Fraction
    body: MomentBody | TraceBody
    terms: tuple[Terms, ...]

    @property
    def blocks(self) -> tuple[int, ...]:
        """Return one block for each number, as no two need have the same distribution."""
        return (1,) * len(self.terms)

    @cached_property
    def structure(self) -> Structure:
        return Generator(self.blocks, self.normals, self.from_normals, self.draw_normals)

    @property
    def shape(self) -> int:
        """Return 2 D + 1, the shape of R."""
        return 2 * self.body.dimension + 1

    def sample(self, rows: int, bits: RandomBits) -> Counts:
        found = [self._row(bits) for _ in range(rows)]
        return np.array(found, dtype=np.int64).reshape(rows, len(self.terms))

    def _row(self, bits: RandomBits) -> list[int]:
        """Draw all real numbers of one row; extend their bits until every rounding is decided."""
        first, second = self.body.draw(bits), self.body.draw(bits)
        radius = LazyUniforms(self.shape, bits)
        return decided(lambda: self._rounded(first, second, radius), [first.uniforms, second.uniforms, radius])

    def _rounded(
        self, first: LazyMatrix | LazyTraceMatrix, second: LazyMatrix | LazyTraceMatrix, radius: LazyUniforms
    ) -> list[int] | None:
        """Return the rounded numbers, or nothing if one of them is not decided: R = -ln(V_1 ... V_(2D+1)) / epsilon."""
        one, two = first.enclosed(), second.enclosed()
        length = -prod(radius.enclosed(), start=arb(1)).log() / ball(self.epsilon)
        found = [rounded(length * self._number(terms, one, two)) for terms in self.terms]
        return None if None in found else [number for number in found if number is not None]

    @staticmethod
    def _number(terms: Terms, first: Matrix, second: Matrix) -> arb:
        return sum((ball(factor) * (first[i][j] - second[i][j]) for i, j, factor in terms), arb(0))

    @property
    def operations(self) -> Operations:
        """Return what drawing one row takes: normal numbers in balls, at most seven matrices."""
        return Operations(5e4 * self.body.normals)

    @property
    def normals(self) -> int:
        """Return the numbers of two matrices, and one for R."""
        return 2 * self.body.normals + 1

    def draw_normals(self, rows: int, generator: np.random.Generator) -> Floats:
        """Draw rows of standard normal numbers, given that they lie in the cone's body."""
        halves = [self.body.draw_normals(rows, generator) for _ in range(2)]
        return np.concatenate([*halves, generator.standard_normal((rows, 1))], axis=-1)

    def from_normals(self, normals: ArrayLike) -> Floats:
        """Return rows of real noise; NaN where a matrix violates a cut, as such normals are impossible."""
        numbers = np.asarray(normals, dtype=float)
        first, second = (self.body.from_normals(half) for half in np.split(numbers[..., :-1], 2, axis=-1))
        radius = gammainccinv(self.shape, ndtr(-numbers[..., -1])) / float(self.epsilon)
        radius = np.where(self.body.keeps_cuts(first) & self.body.keeps_cuts(second), radius, np.nan)
        return sums_of_entries((first - second) * radius[..., None, None], self.terms)

    @cached_property
    def variance(self) -> Floats:
        """Return 2 E R^2 Var A + 1/12 of each number: as exactly as the body knows Var A."""
        squares = self.shape * (self.shape + 1) / float(self.epsilon) ** 2
        return 2 * squares * self.body.variance(self.terms) + 1 / 12

    @property
    def decay_length(self) -> Floats:
        """Return (2 D + 1) / epsilon times the largest change of each number: the mean radius."""
        ranges = [sum(2 * abs(factor) for _, _, factor in terms) for terms in self.terms]
        return np.array([float(each * self.shape / self.epsilon) for each in ranges])

    def log_kernel(self, noise: ArrayLike) -> Floats:
        """Refuse: there is no closed form."""
        self._refuse()

    @property
    def log_normaliser(self) -> float:
        """Refuse: there is no closed form."""
        self._refuse()

    def slope(self, noise: ArrayLike) -> Floats:
        """Refuse: there is no closed form."""
        self._refuse()

    def _epsilon(self, change: Counts) -> Fraction:
        """Refuse: what is proved is that replacing one record by another costs at most epsilon."""
        self._refuse()

    def _rho(self, change: Counts) -> Fraction:
        """Refuse, as `norm`."""
        self._refuse()

    def _curve(self, change: Counts) -> PrivacyLoss:
        """Refuse, as `norm`."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise DeclarationError(
            "Cone noise has no density in closed form. It is drawn exactly, its guarantee is proved, and it is read "
            "through fresh draws of the noise, but nothing that needs the probability of an output can be done with "
            "it."
        )
