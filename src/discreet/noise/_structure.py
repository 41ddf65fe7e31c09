"""The structure of noise: plain data that says how its kernel is made, so that a solver can match on it.

    Product            P(u) ~ prod_i g_i(u_i)
    SharedRadius       P(u) ~ e^(-rate |u|) with one radius for all numbers
    Tree               P(u) ~ prod_e e^(-rate_e |U_e|), U_e the noise of all cells behind the edge e
    Joint              a density, and nothing else that a solver could use
    Generator          no density: noise is a smooth map of independent standard normal numbers
    TotalPreserving    one of these, conditioned on every block summing to zero
    Independent        several of these side by side

The union is closed: what a solver can ask of noise is a function that matches on all of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError


class LogTerms(Protocol):
    """The log kernel of single numbers: `indices` says which number each entry is; by default all, in order."""

    def __call__(self, noise: ArrayLike, indices: ArrayLike | None = None, /) -> Floats: ...


@dataclass(frozen=True, eq=False)
class Generator:
    """Rows of real noise, as a smooth map of rows of `normals` independent standard normal numbers.

    Not all normal numbers need be allowed: for others the map is NaN, and `draw` draws those that are.
    """

    blocks: tuple[int, ...]
    normals: int
    from_normals: Callable[[ArrayLike], Floats]
    draw: Callable[[int, np.random.Generator], Floats] | None = None

    def draw_normals(self, rows: int, generator: np.random.Generator) -> Floats:
        """Draw rows of standard normal numbers, given that they are allowed."""
        if self.draw is None:
            return generator.standard_normal((rows, self.normals))
        return self.draw(rows, generator)


@dataclass(frozen=True, eq=False)
class Product:
    """Noise whose kernel is a product over its numbers.

    The weights, one for each block, are there where epsilon of a change c is sum_i w_i |c_i|, or rho sum_i w_i c_i^2,
    for all changes that move no preserved total.
    """

    blocks: tuple[int, ...]
    log_terms: LogTerms
    epsilon_weights: tuple[Fraction, ...] | None = None
    rho_weights: tuple[Fraction, ...] | None = None
    generator: Generator | None = None


@dataclass(frozen=True, eq=False)
class SharedRadius:
    """Noise ~ e^(-rate max_i |u_i|), or where totals are preserved e^(-rate max_f ||u_f||_1 / 2) over tables."""

    blocks: tuple[int, ...]
    rate: float
    generator: Generator | None = None


@dataclass(frozen=True, eq=False)
class TreeStructure:
    """Noise along a tree: the flow `carried` from cell i to the later cell parents[i] is Laplace noise."""

    blocks: tuple[int, ...]
    parents: tuple[int, ...]
    rates: Floats
    carried: Callable[[Counts], Counts]


@dataclass(frozen=True, eq=False)
class Joint:
    """Noise with a density that does not factor."""

    blocks: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class TotalPreserving:
    """Noise conditioned on every block summing to zero, so that totals are published exactly; `free` is it before."""

    free: Product | SharedRadius | TreeStructure | Joint
    generator: Generator | None = None

    @property
    def blocks(self) -> tuple[int, ...]:
        """Return how many numbers each block has."""
        return self.free.blocks


@dataclass(frozen=True, eq=False)
class Independent:
    """Independent parts side by side: the numbers of each follow those of the one before."""

    parts: "tuple[Structure, ...]"

    @property
    def blocks(self) -> tuple[int, ...]:
        """Return how many numbers each block has, over all parts."""
        return tuple(size for part in self.parts for size in part.blocks)

    @cached_property
    def _product(self) -> Product | None:
        found = [product_of(part) for part in self.parts]
        known = [each for each in found if each is not None]
        return Product(self.blocks, _SideBySideTerms(tuple(known))) if len(known) == len(found) else None


Structure = Product | SharedRadius | TreeStructure | Joint | Generator | TotalPreserving | Independent


@dataclass(frozen=True, eq=False)
class _SideBySideTerms:
    products: tuple[Product, ...]

    def __call__(self, noise: ArrayLike, indices: ArrayLike | None = None, /) -> Floats:
        values = np.asarray(noise)
        wanted = np.arange(values.shape[-1]) if indices is None else np.asarray(indices)
        wanted, values = np.broadcast_arrays(wanted, values)
        found, first = np.zeros(values.shape), 0
        for product in self.products:
            length = sum(product.blocks)
            piece = (wanted >= first) & (wanted < first + length)
            found[piece] = product.log_terms(values[piece], wanted[piece] - first)
            first += length
        return found


def has_density(structure: Structure) -> bool:
    """Return whether the probability of noise is known, and not only how it is made."""
    match structure:
        case Generator():
            return False
        case Independent(parts):
            return all(has_density(part) for part in parts)
        case _:
            return True


def preserved(structure: Structure) -> tuple[bool, ...]:
    """Tell for each block whether its noise sums to zero."""
    match structure:
        case TotalPreserving():
            return (True,) * len(structure.blocks)
        case Independent(parts):
            return tuple(keeps for part in parts for keeps in preserved(part))
        case _:
            return (False,) * len(structure.blocks)


def product_of(structure: Structure) -> Product | None:
    """Return the kernel as a product over numbers, up to preserved totals; None if it does not factor."""
    match structure:
        case Product():
            return structure
        case TotalPreserving(Product() as product):
            return product
        case SharedRadius((1,), rate):
            return Product((1,), _Exponential(rate))  # there is nothing to share
        case Independent():
            return structure._product
        case _:
            return None


@dataclass(frozen=True)
class _Exponential:
    rate: float

    def __call__(self, noise: ArrayLike, indices: ArrayLike | None = None, /) -> Floats:
        return np.asarray(np.abs(np.asarray(noise)) * -self.rate)


def log_terms(structure: Structure, noise: ArrayLike, indices: ArrayLike | None = None) -> Floats:
    """Return the log kernel of single numbers of noise whose kernel is a product."""
    product = product_of(structure)
    if product is None:
        raise DeclarationError("The kernel of this noise does not factor into one term for each number.")
    return product.log_terms(noise, indices)


def generator_of(structure: Structure) -> Generator | None:
    """Return how noise is made of normal numbers; None if it is not."""
    match structure:
        case Generator():
            return structure
        case Product(generator=made) | SharedRadius(generator=made) | TotalPreserving(generator=made):
            return made
        case Independent(parts):
            found = [generator_of(part) for part in parts]
            known = [each for each in found if each is not None]
            return _joined(tuple(known), structure.blocks) if len(known) == len(found) else None
        case _:
            return None


def _joined(parts: tuple[Generator, ...], blocks: tuple[int, ...]) -> Generator:
    ends = np.cumsum([part.normals for part in parts])

    def from_normals(normals: ArrayLike) -> Floats:
        split = np.split(np.asarray(normals), ends[:-1], axis=-1)
        return np.concatenate([part.from_normals(piece) for part, piece in zip(parts, split, strict=True)], axis=-1)

    def draw(rows: int, generator: np.random.Generator) -> Floats:
        return np.concatenate([part.draw_normals(rows, generator) for part in parts], axis=-1)

    free = all(part.draw is None for part in parts)
    return Generator(blocks, int(ends[-1]), from_normals, None if free else draw)


def epsilon_weights(structure: Structure) -> tuple[Fraction, ...] | None:
    """Return the weights by which |c| adds up to epsilon; None where there are none."""
    match structure:
        case Product(epsilon_weights=weights) | TotalPreserving(Product(epsilon_weights=weights)):
            return weights
        case _:
            return None


def rho_weights(structure: Structure) -> tuple[Fraction, ...] | None:
    """Return the weights by which c^2 adds up to rho; None where there are none."""
    match structure:
        case Product(rho_weights=weights) | TotalPreserving(Product(rho_weights=weights)):
            return weights
        case _:
            return None


def tree_of(structure: Structure) -> TreeStructure | None:
    """Return the tree along which noise was carried, if there is one."""
    match structure:
        case TreeStructure():
            return structure
        case TotalPreserving(TreeStructure() as tree):
            return tree
        case _:
            return None
