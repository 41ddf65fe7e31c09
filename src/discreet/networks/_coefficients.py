"""Coefficients of a network's tables as quantities: parity counts and contrasts."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from math import lcm, prod

import numpy as np

from discreet._core.arrays import Counts, NumbersT
from discreet.mechanism import Part, Quantities
from discreet.networks._contrasts import ContrastBasis, contrast_basis, squared_lengths
from discreet.networks._model import Network
from discreet.networks._record_changes import contrast_changes, parity_changes
from discreet.noise import starts

_FEW_VARIABLES = 8  # up to this many, all patterns of variables that change are listed


@dataclass(frozen=True)
class Parities(Quantities):
    """Numbers of records with an even number of yes in each block of a yes/no network; first of all records, if wanted.

    e_g = (n + c_g) / 2, where c_g is the contrast of the block: a sum of cells of one table, so that this is linear.
    """

    model: Network
    with_total: bool = False

    @property
    def basis(self) -> ContrastBasis:
        """Return the blocks, in the order in which they are published."""
        return contrast_basis(self.model)

    @property
    def blocks(self) -> tuple[int, ...]:
        return (1,) * (len(self.basis.blocks) + self.with_total)

    @property
    def parts(self) -> tuple[Part, ...]:
        """Return one contrast for each block: e_g = c_g / 2 + n / 2. The number of records is public anyway."""
        first = int(self.with_total)
        return tuple(
            Part(block, (False,) * len(block), np.full((1,) * len(block), first + index), 0.5, 0.5)
            for index, block in enumerate(self.basis.blocks)
        )

    def apply(self, counts: NumbersT) -> NumbersT:
        """Return the number of records, if wanted, and e_g of every block."""
        rows = np.asarray(counts)
        doubled = self.basis.sizes(rows) + self.basis.contrasts(rows)
        halves = doubled / 2 if rows.dtype.kind == "f" else doubled // 2
        if not self.with_total:
            return np.asarray(halves)
        total = self.model.split(rows)[0].reshape(*rows.shape[:-1], -1).sum(axis=-1)
        return np.concatenate([total[..., None], halves], axis=-1)

    @cached_property
    def _matrix(self) -> Counts:
        return np.asarray(self.apply(np.eye(self.model.cells, dtype=np.int64)))

    def transpose(self, values: NumbersT) -> NumbersT:
        return np.asarray(np.asarray(values) @ self._matrix.T)

    def changes(self) -> tuple[Counts, ...] | None:
        """Return the moves of all patterns of variables that change, if there are few variables."""
        return _parity_moves(self) if len(self.model.variables) <= _FEW_VARIABLES else None

    def most(self, weights: Sequence[Fraction], blocks: Sequence[int], power: int) -> Fraction:
        """Return the largest weight of the blocks that one record moves, by elimination; each moves by one or not."""
        own = np.repeat(np.array(weights, dtype=object), blocks)[int(self.with_total) :]
        scale = lcm(*(Fraction(weight).denominator for weight in own))
        return parity_changes(self.model).worst([int(weight * scale) for weight in own])[0] / scale


@lru_cache(maxsize=16)
def _parity_moves(quantities: Parities) -> tuple[Counts, ...]:
    names = [variable.name for variable in quantities.model.variables]
    changes = parity_changes(quantities.model)
    patterns = [
        frozenset(n for n, moves in zip(names, each, strict=True) if moves)
        for each in product((0, 1), repeat=len(names))
    ]
    rows = np.unique(np.rint([changes.moves(pattern) for pattern in patterns if pattern]).astype(np.int64), axis=0)
    kept = [row for row in rows if not any((row <= other).all() and (row != other).any() for other in rows)]
    still = np.zeros(int(quantities.with_total), dtype=np.int64)
    return tuple(np.concatenate([still, row]) for row in kept)


@dataclass(frozen=True)
class Contrasts(Quantities):
    """The integer contrasts t_ga of every block of a network (`contrasts`)."""

    model: Network

    @property
    def basis(self) -> ContrastBasis:
        """Return the blocks, in the order in which their contrasts are published."""
        return contrast_basis(self.model)

    @property
    def blocks(self) -> tuple[int, ...]:
        return tuple(np.diff(self.basis.edges).tolist())

    @property
    def parts(self) -> tuple[Part, ...]:
        found = []
        for block, first, last in zip(self.basis.blocks, self.basis.edges, self.basis.edges[1:], strict=False):
            shape = tuple(levels - 1 for levels in self.model.shape(block))
            found.append(Part(block, (False,) * len(block), np.arange(first, last).reshape(shape)))
        return tuple(found)

    def apply(self, counts: NumbersT) -> NumbersT:
        return self.basis.contrasts(np.asarray(counts))

    @cached_property
    def _matrix(self) -> Counts:
        return np.asarray(self.apply(np.eye(self.model.cells, dtype=np.int64)))

    def transpose(self, values: NumbersT) -> NumbersT:
        return np.asarray(np.asarray(values) @ self._matrix.T)

    def changes(self) -> None:
        """Return nothing: there are as many changes as pairs of records."""
        return

    @cached_property
    def squared_lengths(self) -> tuple[int, ...]:
        """Return |h_a|^2 of each contrast."""
        found: list[int] = []
        for block in self.basis.blocks:
            lengths = [squared_lengths(levels) for levels in self.model.shape(block)]
            found += [prod(each) for each in product(*lengths)]
        return tuple(found)

    def most(self, weights: Sequence[Fraction], blocks: Sequence[int], power: int) -> Fraction:
        """Return 2 max over patterns of sum_g w_g D_g, by elimination, w_g the largest w_ga |h_a|^2 of its block.

        It is exact if that is the same for all contrasts of a block, as it is for `ContrastGaussians`.
        """
        if power != 2:
            raise NotImplementedError("contrasts are measured with Gaussian noise, whose cost is a sum of squares")
        own = np.repeat(np.array(weights, dtype=object), blocks) * np.array(self.squared_lengths, dtype=object)
        each = np.maximum.reduceat(own, starts(self.blocks)).tolist()
        scale = lcm(*(Fraction(weight).denominator for weight in each))
        return 2 * contrast_changes(self.model).worst([int(weight * scale) for weight in each])[0] / scale

    @property
    def per_record(self) -> int:
        return max(prod(levels - 1 for levels in self.model.shape(family)) for family in self.model.families)
