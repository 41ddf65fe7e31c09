"""What one replaced record can do to the blocks of a network: the worst pattern of variables that change.

How far a block g of contrasts moves depends only on the pattern z of variables in which the two records differ:

    D_g(z) = prod_{i in g} s_i - prod_{i in g} (s_i if i agrees, else -e_i),

where s_i = 1 - 1/K_i and e_i = 1/K_i for contrasts (half the squared distance, in units of |h_a|^2), and s_i = e_i = 1,
halved, for the number of records with an even number of yes. Every pattern is possible. So the sensitivity of weighted
blocks is max over z of sum_g w_g D_g(z): a sum of functions of single families, maximised exactly by eliminating one
variable after another. All numbers are whole; nothing is rounded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import gcd, lcm, prod

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError
from discreet.networks._contrasts import ContrastBasis, contrast_basis
from discreet.networks._model import Network

Pattern = frozenset[str]
"""The names of the variables in which two records differ."""

_WIDEST = 20  # variables in one table of the elimination: a million cells
_FINEST = 1000  # the smallest weight of a best choice; others are rounded by 0.05 % at most
_ROUNDS, _STEPS, _GAP = 100, 300, 1e-3


@dataclass(frozen=True, eq=False)
class RecordChanges:
    """The movements D of all blocks. `steps` holds whole (c, c s, c e) for each variable, and D is divided by `parts`.

    The divisor is `parts` times the product of c over the variables of a family.
    """

    basis: ContrastBasis
    steps: Mapping[str, tuple[int, int, int]]
    parts: int

    def worst(self, weights: Sequence[int]) -> tuple[Fraction, Pattern]:
        """Return max over z of sum_g w_g D_g(z) exactly, and a pattern that attains it; weights are whole, >= 0."""
        families = self.basis.network.maximal_families
        divisors = [prod(self.steps[name][0] for name in family) for family in families]
        common = lcm(*divisors)
        dtype = np.int64 if sum(weights) * common * 4 < 2**62 else object
        factors = []
        for family, divisor, inside in zip(families, divisors, self._own, strict=True):
            owned = np.zeros((2,) * len(family), dtype=dtype)
            for index, corner in inside:
                owned[corner] = weights[index]
            for axis, name in enumerate(family):
                c, rise, fall = self.steps[name]
                owned = np.moveaxis(np.tensordot(owned, np.array([[c, rise], [c, -fall]], dtype), (axis, 1)), -1, axis)
            factors.append((family, (owned[(0,) * len(family)] - owned) * (common // divisor)))
        value, pattern = _largest_sum(self._order, factors)
        return Fraction(value, common * self.parts), frozenset(pattern)

    def moves(self, pattern: Pattern) -> Floats:
        """Return D_g of every block for one pattern."""
        return self._moves({name: -e / c if name in pattern else s / c for name, (c, s, e) in self.steps.items()})

    def mean_moves(self) -> Floats:
        """Return D_g of every block, averaged over all patterns."""
        return self._moves({name: (s - e) / (2 * c) for name, (c, s, e) in self.steps.items()})

    def _moves(self, factors: Mapping[str, float]) -> Floats:
        still = {name: s / c for name, (c, s, _) in self.steps.items()}
        blocks = self.basis.blocks
        return np.array([prod(still[n] for n in g) - prod(factors[n] for n in g) for g in blocks]) / self.parts

    @cached_property
    def _own(self) -> list[list[tuple[int, tuple[int, ...]]]]:
        """Return for each maximal family the indices of its own blocks, and which of its variables they hold."""
        found: list[list[tuple[int, tuple[int, ...]]]] = [[] for _ in self.basis.network.maximal_families]
        for block, home in self.basis.homes.items():
            family = self.basis.network.maximal_families[home]
            found[home].append((self.basis.indices[block], tuple(int(name in block) for name in family)))
        return found

    @cached_property
    def _order(self) -> list[tuple[str, tuple[str, ...]]]:
        """Return the variables in an order of elimination, fewest neighbours first, each with its neighbours then."""
        around: dict[str, set[str]] = {variable.name: set() for variable in self.basis.network.variables}
        for family in self.basis.network.maximal_families:
            for name in family:
                around[name] |= set(family) - {name}
        order = []
        while around:
            name = min(around, key=lambda each: len(around[each]))
            others = around.pop(name)
            if len(others) >= _WIDEST:
                raise DeclarationError(
                    "The graph is too densely connected: finding its worst change involves tables of more than "
                    f"{_WIDEST} variables. Use FamilyHistograms or FamilyGaussians."
                )
            for other in others:
                around[other] = (around[other] | others) - {name, other}
            order.append((name, tuple(sorted(others))))
        return order

    def best_weights(self, costs: Floats, power: int) -> tuple[int, ...]:
        """Return whole weights that nearly minimise sum_g costs_g / w_g^power for a given worst change.

        With multipliers on the patterns, and L_g the mean of D_g under them, the optimum has w_g^(1 + power) ~
        costs_g / L_g. The multipliers are raised on the patterns found so far in proportion to what these weights cost
        there, and the worst pattern of the result is added, until it is hardly worse than the mean.
        """
        atoms, seen = [self.mean_moves()], {frozenset[str]()}
        matrix, chances = np.array(atoms), np.ones(1)
        weights = (costs / matrix[0]) ** (1 / (1 + power))
        for _ in range(_ROUNDS):
            rounded = _whole(weights)
            value, pattern = self.worst(rounded)
            if float(value) <= np.array(rounded, dtype=float) @ (chances @ matrix) * (1 + _GAP):
                break
            if pattern not in seen:
                seen.add(pattern)
                atoms.append(self.moves(pattern))
                matrix, chances = np.array(atoms), np.append(chances * (1 - 1 / len(atoms)), 1 / len(atoms))
            for _ in range(_STEPS):
                weights = (costs / (chances @ matrix)) ** (1 / (1 + power))
                chances = chances * (matrix @ weights)
                chances = chances / chances.sum()
        return _whole(weights)


@lru_cache(maxsize=16)
def parity_changes(network: Network) -> RecordChanges:
    """Return how numbers of records with an even number of yes move: by 1 if the pattern meets the block oddly."""
    steps = {variable.name: (1, 1, 1) for variable in network.variables}
    return RecordChanges(contrast_basis(network), steps, parts=2)


@lru_cache(maxsize=16)
def contrast_changes(network: Network) -> RecordChanges:
    """Return half the squared distance by which blocks of contrasts move, in units of |h_a|^2."""
    levels = {variable.name: len(variable.levels) for variable in network.variables}
    steps = {name: (count, count - 1, 1) for name, count in levels.items()}
    return RecordChanges(contrast_basis(network), steps, parts=1)


def pattern_records(network: Network, pattern: Pattern) -> NDArray[np.int64]:
    """Return two records, as numbers of levels, that differ in exactly these variables: the first level, the last."""
    last = [len(variable.levels) - 1 if variable.name in pattern else 0 for variable in network.variables]
    return np.array([[0] * len(last), last], dtype=np.int64)


def _whole(weights: Floats) -> tuple[int, ...]:
    """Return weights as whole numbers, the smallest 1000, without a common divisor."""
    numbers = [round(float(weight)) for weight in weights / min(weights) * _FINEST]
    shared = gcd(*numbers)
    return tuple(number // shared for number in numbers)


def _largest_sum(
    order: Sequence[tuple[str, tuple[str, ...]]], factors: Sequence[tuple[tuple[str, ...], NDArray[np.generic]]]
) -> tuple[int, list[str]]:
    """Return the largest sum of functions of 0/1 variables, and the variables that are 1 there.

    Each variable in turn is maximised out of the sum of all functions of it, which leaves a function of its neighbours.
    """
    turn = {name: number for number, (name, _) in enumerate(order)}
    waiting: dict[str, list[tuple[tuple[str, ...], NDArray[np.generic]]]] = {name: [] for name, _ in order}
    for names, table in factors:
        waiting[min(names, key=turn.__getitem__)].append((names, table))
    value, choices = 0, []
    for name, others in order:
        total = sum(_aligned(names, table, (name, *others)) for names, table in waiting[name])
        best = np.max(total, axis=0)
        choices.append((name, others, np.broadcast_to(np.argmax(total, axis=0), (2,) * len(others))))
        if others:
            waiting[min(others, key=turn.__getitem__)].append((others, np.broadcast_to(best, (2,) * len(others))))
        else:
            value += int(best)
    chosen: dict[str, int] = {}
    for name, others, indices in reversed(choices):
        chosen[name] = int(indices[tuple(chosen[other] for other in others)])
    return value, [name for name, is_one in chosen.items() if is_one]


def _aligned(names: tuple[str, ...], table: NDArray[np.generic], scope: tuple[str, ...]) -> NDArray[np.generic]:
    """Return a function of some variables as one of a larger scope, with axes of length one for the others."""
    inside = [name for name in scope if name in names]
    moved = table.transpose([names.index(name) for name in inside])
    return moved.reshape([2 if name in inside else 1 for name in scope])
