"""Noisy sums of a bounded number where the number of records is secret too: one record may be added or removed.

A record with the position x between the bounds belongs to one group. It adds x to the high end of the group and 1 - x
to the low end, and the same with its squared distance b from the middle. With independent Laplace noise of the rates r
on the ends of positions and s on those of squares (LaplaceSums), an added record costs

    r (x + 1 - x) + s (b + 1 - b) = r + s = epsilon,

whatever its group is: groups, and the end of records without a value, cost nothing. That is tight.

High + low is the number n of records of a group, high - low lies in [-1, 1] for every record, and so does far - near.
So what a record adds to (n, high - low, far - near) of its group is a point of a cube, and noise of that shape,

    P(u) ~ prod over groups of e^(-epsilon max(|u_1|, |u_2|, |u_3|)),

is pure epsilon-DP, and tight (CubeSums): one radius for three numbers. Each end has the variance 10/3 / epsilon^2, a
tenth more in standard deviation than with LaplaceSums; but squares have that, too, where Laplace noise leaves them 27
times as much.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts, NumbersT
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact, exact_text
from discreet.mechanism import MOST_RECORDS, Additive, Model, Quantities, noise_epsilon
from discreet.noise import Cube, Laplace
from discreet.numbers._bounded_number import require_secret_persons
from discreet.numbers._sums_mechanisms import LEAST_RATE, Ends
from discreet.numbers._sums_model import NumberSums
from discreet.numbers._weighted_model import WeightedSums
from discreet.privacy import Adjacency, PrivacyLoss


@dataclass(frozen=True)
class SignedSums(Quantities):
    """Of each group n, high - low and far - near; and the number of records without a value, in a block of its own.

    Everything is in whole numbers, of which a record is `unit`.
    """

    model: NumberSums

    @property
    def blocks(self) -> tuple[int, ...]:
        return (3,) * len(self.model.groups) + (1,) * self.model.leaves_gaps_out

    @property
    def per_record(self) -> int:
        return self.model.unit

    def apply(self, counts: NumbersT) -> NumbersT:
        values, groups = np.asarray(counts), len(self.model.groups)
        first, second = (
            half[..., : 2 * groups].reshape(*values.shape[:-1], groups, 2) for half in np.split(values, 2, axis=-1)
        )
        three = [first.sum(axis=-1), first[..., 0] - first[..., 1], second[..., 0] - second[..., 1]]
        signed = np.stack(three, axis=-1).reshape(*values.shape[:-1], 3 * groups)
        gap = values[..., 2 * groups : 2 * groups + self.model.leaves_gaps_out]
        return np.asarray(np.clip(np.concatenate([signed, gap], axis=-1), -MOST_RECORDS, MOST_RECORDS))

    def transpose(self, values: NumbersT) -> NumbersT:
        given, groups = np.asarray(values), len(self.model.groups)
        number, near, far = np.moveaxis(given[..., : 3 * groups].reshape(*given.shape[:-1], groups, 3), -1, 0)
        first = np.stack([number + near, number - near], axis=-1).reshape(*given.shape[:-1], 2 * groups)
        second = np.stack([far, -far], axis=-1).reshape(*given.shape[:-1], 2 * groups)
        gap = given[..., 3 * groups :]
        return np.concatenate([first, gap, second, np.zeros_like(gap)], axis=-1)

    def changes(self) -> tuple[Counts, ...]:
        """Return a record that moves from bound to bound in its group, to another group, or to a missing value."""
        inside = np.zeros(self.length, dtype=np.int64)
        inside[1:3] = 2 * self.model.unit
        own = self._wholly(0)
        others = {size: block for block, size in enumerate(self.blocks) if block}
        return inside, *(own - self._wholly(block) for block in others.values())

    def additions(self) -> tuple[Counts, ...]:
        """Return a record that moves all numbers of its group as far as one can, and one without a value."""
        kinds = {size: block for block, size in enumerate(self.blocks)}
        return tuple(self._wholly(block) for block in kinds.values())

    def _wholly(self, block: int) -> Counts:
        moved = np.zeros(self.length, dtype=np.int64)
        first = sum(self.blocks[:block])
        moved[first : first + self.blocks[block]] = self.model.unit
        return moved


@dataclass(frozen=True, init=False, repr=False)
class SecretNumberSums(Additive[NumberSums]):
    """Noisy sums of a bounded number of a secret number of records, or persons."""

    neighbours: ClassVar[Adjacency] = Adjacency.ADD_OR_REMOVE

    model: NumberSums
    epsilon: Fraction

    def __init__(self, model: NumberSums, epsilon: Exact) -> None:
        if not self.accepts_model(model):
            raise DeclarationError(f"{type(self).__name__} publishes no sums of a {type(model).__name__}.")
        require_secret_persons(self, model)
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "epsilon", noise_epsilon(epsilon, "epsilon"))

    def checked(self, counts: ArrayLike) -> Counts:
        """Return simulated sums as an array, clamped where they are beyond all reason."""
        return np.minimum(self.model.numbers(counts, len(self.model.cells)), MOST_RECORDS)

    def small_instance_fields(self, model: Model) -> Iterator[Mapping[str, object]]:
        """Yield no alternatives: a small instance has the same share."""
        yield {}


@dataclass(frozen=True, init=False, repr=False)
class LaplaceSums(SecretNumberSums, kind="LaplaceSums", version=1):
    """Noisy ends of a number of a secret number of records: pure epsilon-DP if one is added or removed.

    `squares` is the share of epsilon for squared distances; see `squares_share` of the model. It is for weighted
    records and for all rows of persons, who may be divided among groups, and for means of many records.

    >>> sums = LaplaceSums(NumberSums("age", bounds=(0, 100)), epsilon="0.5")
    >>> sums.guarantee
    Guarantee(epsilon=0.5, delta=0, add or remove one record, proved: independent noise on ends that a record shares)
    >>> sums.epsilon_for(Adjacency.REPLACE_ONE)
    Fraction(1, 1)
    """

    squares: Fraction
    reason = "independent noise on ends that a record shares"

    def __init__(self, model: NumberSums, epsilon: Exact, squares: Exact | None = None) -> None:
        super().__init__(model, epsilon)
        share = self.model.squares_share if squares is None else exact(squares, "squares")
        if not 0 < share < 1:
            raise DeclarationError(f"squares must be a share between 0 and 1; got {exact_text(share)}.")
        object.__setattr__(self, "squares", share)
        if min(self.noise.rates) < LEAST_RATE:
            raise DeclarationError(
                f"With epsilon = {exact_text(self.epsilon)} and this share for squares, the noise would leave no "
                "information. Raise epsilon."
            )

    @property
    def derived_fields(self) -> Collection[str]:
        return ("squares",) if self.squares == self.model.squares_share else ()

    @cached_property
    def quantities(self) -> Ends:
        return Ends(self.model)

    @cached_property
    def noise(self) -> Laplace:
        """Return independent noise; a record that lies wholly at one end of either kind costs epsilon."""
        rate = self.epsilon / self.model.unit
        return Laplace(((1 - self.squares) * rate, self.squares * rate), self.quantities.blocks)

    def computed_loss(self) -> PrivacyLoss:
        """Return the worst loss of this epsilon: a record may be divided among ends, and no single division is worst.

        Its zCDP parameter needs no such bound: sum (r c_i)^2 / 2 is largest where all lies at one end.
        """
        return PrivacyLoss.worst_case(self.epsilon)


@dataclass(frozen=True, init=False, repr=False)
class CubeSums(SecretNumberSums, kind="CubeSums", version=1):
    """Noisy sums for means, sums and variances by group, of a secret number of records: one radius for each group.

    Pure epsilon-DP if one record is added or removed, whatever the number of groups. Positions, squares and the number
    of records of a group have the same noise, so that variances cost nothing besides.

    >>> CubeSums(NumberSums("age", bounds=(0, 100)), epsilon="0.5").guarantee
    Guarantee(epsilon=0.5, delta=0, add or remove one record, proved: noise of norm max|u| on sums of each group)
    """

    reason = "noise of norm max|u| on sums of each group"

    def __init__(self, model: NumberSums, epsilon: Exact) -> None:
        super().__init__(model, epsilon)
        if self.noise.rates[0] < LEAST_RATE:
            raise DeclarationError(
                f"With epsilon = {exact_text(self.epsilon)} the noise would leave no information. Raise epsilon."
            )

    @classmethod
    def accepts_model(cls, model: object) -> bool:
        """Return whether a record lies wholly in one group: that of a weighted sum may be divided."""
        return super().accepts_model(model) and not isinstance(model, WeightedSums)

    @cached_property
    def quantities(self) -> SignedSums:
        return SignedSums(self.model)

    @cached_property
    def noise(self) -> Cube:
        """Return one radius for each group, and for the records without a value."""
        blocks = self.quantities.blocks
        return Cube((self.epsilon / self.model.unit,) * len(blocks), blocks)
