"""Noisy sums of a bounded number: with an ordinary promise (GeometricSums), or one for each unit of it (MetricSums)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import lcm

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts, NumbersT
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact, exact_text, positive, whole
from discreet.mechanism import Additive, MetricMechanism, Model, Quantities, Sized, unit_moves, within_bounds
from discreet.noise import ZeroSumLaplace
from discreet.numbers._bounded_number import require_public_persons
from discreet.numbers._sums_model import NumberSums
from discreet.privacy import GroupSteps, PrivacyLoss, Steps, pure_rho
from discreet.records import squared

LEAST_RATE = Fraction(1, 2**29)
"""Noise of a smaller rate is not drawn: it would leave no information."""
_LISTED = 16
"""The number of stretches into which moves of a position are grouped when their loss is computed."""


@dataclass(frozen=True)
class Ends(Quantities):
    """The ends among which records are divided: of positions, and of squared distances from the middle."""

    model: NumberSums

    @property
    def blocks(self) -> tuple[int, ...]:
        return self.model.ends, self.model.square_ends

    @property
    def per_record(self) -> int:
        """Return how many whole numbers a record is divided into."""
        return self.model.unit

    def apply(self, counts: NumbersT) -> NumbersT:
        return np.asarray(counts)

    def transpose(self, values: NumbersT) -> NumbersT:
        return np.asarray(values)

    @property
    def move_wholly(self) -> bool:
        """Return whether a record may move wholly in positions and squares: between groups, or to a missing value."""
        return self.model.ends > 2

    def changes(self) -> tuple[Counts, ...]:
        """Return a record that moves from one end to another, or the most that positions and squares move together.

        Squared distances b fall up to the middle and rise from there, and b(u - a) = b(a). So if a position moves by d
        >= u/2, to a + d, its square moves by at most b(0) - b(d) = u - b(d), which falls with d. A position that moves
        by less moves no more than u/2, nor its square more than u. Many d are put together in stretches, each with the
        largest d and the largest move of squares in it.
        """
        if self.move_wholly:
            return (self.model.unit * unit_moves(self.blocks),)
        moves, squares = largest_moves(self.model.unit)
        stretches = np.array_split(np.arange(len(moves)), min(len(moves), _LISTED))
        pairs = [(moves[own[-1]], squares[own[0]]) for own in stretches]
        return tuple(np.array([position, -position, square, -square]) for position, square in pairs)

    def additions(self) -> tuple[Counts, ...]:
        """Return a record that lies wholly at one end of either kind: what it is divided into adds up to that."""
        added = np.zeros(self.length, dtype=np.int64)
        added[[0, self.blocks[0]]] = self.model.unit
        return (added,)

    def most(self, weights: Sequence[Fraction], blocks: Sequence[int], power: int) -> Fraction:
        """Return the largest sum_i w_i |c_i|^power over all changes, exactly: every d is considered."""
        if self.move_wholly:
            return super().most(weights, blocks, power)
        first, second = weights
        return _most(self.model.unit, Fraction(first), Fraction(second), power)


def largest_moves(unit: int) -> tuple[Counts, Counts]:
    """Return d = u/2, ..., u, and the most that a square moves if a position moves by d: u - b(d)."""
    moves = np.arange(unit // 2, unit + 1)
    return moves, unit - squared(moves, unit)


@lru_cache(maxsize=256)
def _most(unit: int, first: Fraction, second: Fraction, power: int) -> Fraction:
    """Return the largest 2 w_1 d^power + 2 w_2 (u - b(d))^power, in whole numbers of any length."""
    scale = lcm(first.denominator, second.denominator)
    moves, squares = (each.astype(object) ** power for each in largest_moves(unit))
    return Fraction(2 * int((int(first * scale) * moves + int(second * scale) * squares).max()), scale)


@dataclass(frozen=True, init=False, repr=False)
class GeometricSums(Additive[NumberSums], Sized[NumberSums], kind="GeometricSums", version=2):
    """Noisy sums for means, sums and variances of a number: pure epsilon-DP under replacement of one record.

    Every record is one unit that is divided among the ends of its group (`NumberSums`), so a replaced record moves at
    most one unit from some ends to others: its change c sums to zero and has ||c||_1 <= 2. As for a histogram,

        P(u) ~ e^(-epsilon_1 ||u||_1 / 2),   sum u = 0,

    costs at most epsilon_1, whatever the number of groups and whether or not the record has a value. Without groups and
    missing values there are two ends, and this is one geometric number on the sum. Squared distances from the middle
    are divided in the same way with epsilon_2, from which a reader learns how far a mean of the population may lie from
    that of the records. Both stand in the ratio (1 - s) : s, s being `squares`. Between two groups, or a value and a
    missing value, a record may move wholly in both at once, and both add up to epsilon. Otherwise it cannot: if its
    position moves by d >= 1/2, its squared distance moves by at most 4 d (1 - d), so that both may be larger,

        epsilon_1 + epsilon_2 = epsilon / max over d of (1 - s) d + s 4 d (1 - d):

    1.25 epsilon for s = 1/5, 1.28 epsilon for s = 1/2. Up to s = 1/5 the largest move is that of a whole record, so
    that squares cost the positions nothing: these keep the whole epsilon. On the grid every d is considered.

    `squares` is the share of epsilon for squared distances; see `squares_share` of the model. Totals are kept.

    >>> GeometricSums(NumberSums("age", bounds=(0, 100)), size=1200, epsilon="0.5").guarantee.epsilon
    Fraction(1, 2)
    """

    model: NumberSums
    size: int
    epsilon: Fraction
    squares: Fraction

    def __init__(self, model: NumberSums, size: int, epsilon: Exact, squares: Exact | None = None) -> None:
        if not isinstance(model, NumberSums):
            raise DeclarationError(
                f"GeometricSums publishes the sums of a NumberSums model; got a {type(model).__name__}."
            )
        require_public_persons(self, model)
        share = self.usual_squares(model) if squares is None else exact(squares, "squares")
        if not 0 < share < 1:
            raise DeclarationError(f"squares must be a share between 0 and 1; got {exact_text(share)}.")
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "size", whole(size, "size", most=2**53 // model.unit))
        object.__setattr__(self, "epsilon", within_bounds(positive(epsilon, "epsilon"), "epsilon"))
        object.__setattr__(self, "squares", share)
        if min(self.noise.rates) < LEAST_RATE:
            raise DeclarationError(
                f"With epsilon = {exact_text(self.epsilon)} and this share for squares, the noise would leave no "
                "information. Raise epsilon."
            )

    @classmethod
    def usual_squares(cls, model: NumberSums) -> Fraction:
        """Return the share for squares that suits the quantities asked for."""
        return model.squares_share

    @property
    def derived_fields(self) -> Collection[str]:
        return ("squares",) if self.squares == self.usual_squares(self.model) else ()

    @property
    def reason(self) -> str:
        who = self.model.protects.removeprefix("one ")
        return f"every {who} is one unit, divided among ends; noise on both kinds hides what moves together"

    @cached_property
    def quantities(self) -> Ends:
        return Ends(self.model)

    @cached_property
    def noise(self) -> ZeroSumLaplace:
        """Return Laplace noise that sums to zero among the ends of each kind; the largest change costs epsilon."""
        parts, blocks = (1 - self.squares, self.squares), self.quantities.blocks
        rate = self.epsilon / self.quantities.most(parts, blocks, 1)
        return ZeroSumLaplace(tuple(part * rate for part in parts), blocks)

    @property
    def parts(self) -> tuple[Fraction, ...]:
        """Return epsilon_1 and epsilon_2: the cost of a record that moves fully in positions, and in squares."""
        return tuple(2 * self.model.unit * rate for rate in self.noise.rates)

    def computed_loss(self) -> PrivacyLoss:
        """Return a loss that dominates those of all changes, and never exceeds the worst case of epsilon.

        Where stretches of changes are put together each distribution is above those of its stretch. Between two values
        of any of them all curves are straight in e^epsilon, so the chords through the lowest bound at every value hold.
        """
        if self.quantities.move_wholly:
            return super().computed_loss()
        worst = PrivacyLoss.worst_case(self.epsilon)
        losses = [self.noise.privacy_loss(change).curve for change in self.quantities.changes()]
        values = {value for loss in (worst, *losses) for value in loss.losses}
        epsilons = sorted(value for value in values if abs(value) <= self.epsilon)
        bounds = [min(worst.delta_at(epsilon), max(loss.delta_at(epsilon) for loss in losses)) for epsilon in epsilons]
        return PrivacyLoss.from_curve(epsilons, bounds)

    @property
    def rho(self) -> Fraction:
        """Return the largest zCDP parameter of all changes, and no more than any mechanism of this epsilon has."""
        found = super().rho
        return found if self.quantities.move_wholly else min(found, pure_rho(self.epsilon))

    def checked(self, counts: ArrayLike) -> Counts:
        """Return simulated sums as an array; they must add up to the public size."""
        return self.model.checked(counts, self.size)

    def small_instance_fields(self, model: Model) -> Iterator[Mapping[str, object]]:
        """Yield no alternatives: a small instance has the same share."""
        yield {}


@dataclass(frozen=True, init=False, repr=False)
class MetricSums(MetricMechanism[NumberSums], GeometricSums, kind="MetricSums", version=1):
    """Sums for means, sums and variances, with metric privacy: `epsilon` holds for any change between the bounds.

    Noise on sums of positions a, and of squared distances from the middle b(a), is private under |x - y| by itself. A
    record that moves by d steps of the grid moves its position by d and b by at most d max |b(a + 1) - b(a)|, so its
    loss is at most

        epsilon_per_unit |x - y|,   epsilon_per_unit = (2 r_1 + 2 r_2 max_a |b(a + 1) - b(a)|) steps / (high - low),

    r_1 and r_2 the rates of the noise on both; by the triangle inequality the same holds for data sets at any distance.
    It is attained by a step at a bound, where squares move most. For any change whatever the ordinary epsilon of
    GeometricSums holds, which is less than epsilon_per_unit times the distance of the bounds: no record moves both
    wholly. With groups, a record that changes its group moves wholly whatever its values are: all of another group is
    as far away as that loses, epsilon / epsilon_per_unit, which is more than half of the distance of the bounds.

    >>> ages = NumberSums("age", bounds=(0, 100), missing=40)
    >>> sums = MetricSums.per_unit(ages, size=1000, epsilon_per_unit="0.01")
    >>> sums.guarantee.metric.at(35, 38).epsilon <= Fraction("0.03001")
    True
    """

    loses_every_distance = False

    def __init__(self, model: NumberSums, size: int, epsilon: Exact, squares: Exact | None = None) -> None:
        super().__init__(model, size, epsilon, squares)
        if model.leaves_gaps_out or model.persons is not None or type(model) is not NumberSums:
            raise DeclarationError(
                "Metric privacy needs a distance between any two records. Declare `missing`, the number that missing "
                "values count as, and count records, without weights, rather than persons."
            )

    @classmethod
    def usual_squares(cls, model: NumberSums) -> Fraction:
        """Return a tenth, or a half for spreads: near a bound, squares move four steps per step of positions."""
        return Fraction(1, 2 if model.asks_for_spread else 10)

    @classmethod
    def per_unit(
        cls, model: NumberSums, size: int, epsilon_per_unit: Exact, squares: Exact | None = None
    ) -> "MetricSums":
        """Return the mechanism with this epsilon for each unit of the column."""
        wanted = positive(epsilon_per_unit, "epsilon_per_unit")
        return cls(model, size, wanted / cls(model, size, 1, squares).epsilon_per_unit, squares)

    @property
    def reason(self) -> str:
        return "sums that move little where values are close (triangle inequality, at any distance)"

    @property
    def _inside(self) -> Steps:
        own = self.model.bounds
        return Steps(own.name, own.low, own.high, self.model.unit, own.missing, own.dates)

    @property
    def metric(self) -> Steps | GroupSteps:
        """Return the metric: the distance of values, rounded to steps; to another group, the loss of a whole record."""
        if self.model.by is None:
            return self._inside
        between = Fraction(self.pure_epsilon) / self.epsilon_per_unit
        return GroupSteps(self._inside, self.model.by, between)

    @property
    def epsilon_per_unit(self) -> Fraction:
        """Return epsilon for each unit: the largest privacy loss of one step, per unit."""
        positions, squares = self.noise.rates
        return (2 * positions + 2 * squares * _steepest(self.model.unit)) / self._inside.nearest

    def records_at(self, indices: Sequence[int]) -> Counts:
        return self.model.at_indices(np.asarray(indices))


@lru_cache(maxsize=64)
def _steepest(unit: int) -> int:
    """Return the most that a squared distance moves in one step of the grid."""
    return int(np.abs(np.diff(squared(np.arange(unit + 1), unit))).max())
