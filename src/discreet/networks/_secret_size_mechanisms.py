"""CubeTables: yes/no variables within a class, where the number of records is secret: the count is one more coordinate.

With s_iy = (yes) - (no) of the feature i among the n_y records of class y, a record of class y adds 1 to n_y and +1 or
-1 to every s_iy, and nothing to other classes. What it can add to (n_y, s_1y, ..., s_dy) is a corner of a cube, so

    P(u) ~ prod_y e^(-epsilon max(|u_ny|, max_i |u_iy|))

is pure epsilon-DP if a record is added or removed, and tight: classes cost nothing, and nor does their count. Without a
class, d yes/no items about the same people are one block.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts, NumbersT
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact
from discreet.mechanism import Additive, Quantities, noise_epsilon
from discreet.networks._cube_counts import cube_refusal
from discreet.networks._measured_tables import SignedFeatures
from discreet.networks._model import Network
from discreet.noise import Cube, by_block
from discreet.privacy import Adjacency

_LARGEST_COUNT = 2**40  # counts of cells are clamped there


@dataclass(frozen=True)
class CountAndFeatures(Quantities):
    """Of one class: how many records it has, and (second level) - (first level) of each feature among them."""

    model: Network
    index: int

    @property
    def features(self) -> SignedFeatures:
        """Return the features alone."""
        return SignedFeatures(self.model, self.index)

    @property
    def blocks(self) -> tuple[int, ...]:
        return (1 + self.features.length,)

    def _row(self, table: NumbersT) -> NumbersT:
        return table if self.model.target is None else table[..., self.index, :]

    def apply(self, counts: NumbersT) -> NumbersT:
        number: NumbersT = self._row(self.model.split(counts)[0]).sum(axis=-1)[..., None]
        return np.concatenate([number, self.features.apply(counts)], axis=-1)

    def transpose(self, values: NumbersT) -> NumbersT:
        given = np.asarray(values)
        found = self.features.transpose(given[..., 1:])
        row = self._row(self.model.split(found)[0])  # a view of `found`
        row[...] = row + given[..., :1]
        return found

    def changes(self) -> tuple[Counts, ...]:
        """Return a record that changes all features inside the class."""
        return (np.array([0, *[2] * self.features.length], dtype=np.int64),)

    def additions(self) -> tuple[Counts, ...]:
        """Return a record more, which moves every number by 1."""
        return (np.ones(self.length, dtype=np.int64),)


@dataclass(frozen=True)
class CountsAndFeatures(Quantities):
    """The same of all classes, one after another."""

    model: Network

    @property
    def classes(self) -> int:
        """Return the number of classes; 1 if there is no class variable."""
        return 1 if self.model.target is None else len(self.model.variables[0].levels)

    def pieces(self) -> tuple[Quantities, ...]:
        return tuple(CountAndFeatures(self.model, index) for index in range(self.classes))

    @property
    def blocks(self) -> tuple[int, ...]:
        return tuple(piece.length for piece in self.pieces())

    def apply(self, counts: NumbersT) -> NumbersT:
        return np.concatenate([piece.apply(counts) for piece in self.pieces()], axis=-1)

    def transpose(self, values: NumbersT) -> NumbersT:
        parts = zip(self.pieces(), by_block(np.asarray(values), self.blocks), strict=True)
        return np.asarray(sum(piece.transpose(own) for piece, own in parts))

    def changes(self) -> tuple[Counts, ...]:
        """Return a record that changes all features inside its class, and one that moves to another class."""
        own, length = self.blocks[0], self.length
        inside = np.zeros(length, dtype=np.int64)
        inside[1:own] = 2
        if self.classes == 1:
            return (inside,)
        across = np.zeros(length, dtype=np.int64)
        across[: 2 * own] = 1
        return inside, across

    def additions(self) -> tuple[Counts, ...]:
        """Return a record more in a class, which moves every number of it by 1."""
        added = np.zeros(self.length, dtype=np.int64)
        added[: self.blocks[0]] = 1
        return (added,)


@dataclass(frozen=True, init=False, repr=False)
class CubeTables(Additive[Network], kind="CubeTables", version=1):
    """Counts of yes/no variables of a secret number of records, within a class or without.

    Pure epsilon-DP if one is added or removed. An output holds, class by class, the number of its records and one
    number for each feature.

    >>> levels = {"smokes": ("no", "yes"), "drinks": ("no", "yes")}
    >>> items = Network.from_edges("smokes", "drinks", levels=levels, outside="no")
    >>> CubeTables(items, epsilon=1).epsilon_for(Adjacency.REPLACE_ONE)
    Fraction(2, 1)
    """

    neighbours: ClassVar[Adjacency] = Adjacency.ADD_OR_REMOVE
    reason = "noise of max norm on the count and the yes/no counts of each class (triangle inequality)"

    model: Network
    epsilon: Fraction

    def __init__(self, model: Network, epsilon: Exact) -> None:
        if not isinstance(model, Network):
            raise DeclarationError(f"CubeTables publishes the counts of a Network; got a {type(model).__name__}.")
        if (why := cube_refusal(model)) is not None:
            raise DeclarationError(
                f"CubeTables works for yes/no variables that depend on one class variable or on nothing, but {why}. "
                "Of networks where the number of records is secret, only these have noise and a solver so far. Ask "
                "other columns together as a crossed table (model = 'categories')."
            )
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "epsilon", noise_epsilon(epsilon, "epsilon"))

    @cached_property
    def quantities(self) -> CountsAndFeatures:
        return CountsAndFeatures(self.model)

    @cached_property
    def noise(self) -> Cube:
        """Return one radius for the count and all features of each class."""
        blocks = self.quantities.blocks
        return Cube((self.epsilon,) * len(blocks), blocks)

    def checked(self, counts: ArrayLike) -> Counts:
        """Return simulated counts as an array, clamped where they are beyond all reason."""
        return np.minimum(self.model.counts(counts), _LARGEST_COUNT)
