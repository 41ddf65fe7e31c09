"""Additive mechanisms: measured numbers plus noise. Their cost is computed from both, never written by hand.

z = A k + u. Over all neighbours and both directions, the privacy loss is that of the noise if the measured numbers move
by what one record can move them: A e_x - A e_y where one is replaced, A e_x where one is added or removed. Epsilon is
the largest of these losses, the privacy loss is their upper envelope, and rho is the largest zCDP parameter. A
mechanism states its quantities, its noise and its neighbours, and what it was calibrated to; one for a table of counts
(`NoisyCounts`) states only its noise. Where records are replaced their number is public, and the mechanism is `Sized`
besides.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from math import ceil, inf
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact_text, positive
from discreet.mechanism._measurement import Measurement, Quantities
from discreet.mechanism._mechanism import Mechanism, OutputSpace, Sized
from discreet.mechanism._model import Model, ModelT
from discreet.noise import MARGIN, Noise, by_block, epsilon_weights, has_density, pieces_of, preserved, rho_weights
from discreet.noise.randomness import RandomBits
from discreet.privacy import Adjacency, Guarantee, PrivacyLoss, concentrated_loss, envelope, window

_FARTHEST = 10**6  # outputs this many reaches beyond the possible numbers are not read: their probability is e^-1000000
MOST_RECORDS = 2**53
"""The most records where their number is secret: larger counts are clamped, which moves no neighbours apart."""


class Additive(Mechanism[ModelT]):
    """Publishes z = A k + u, with `quantities` A and `noise` u."""

    neighbours: ClassVar[Adjacency] = Adjacency.REPLACE_ONE
    """Which change of one record the guarantee covers."""

    @property
    @abstractmethod
    def quantities(self) -> Quantities:
        """Return what is measured."""

    @property
    @abstractmethod
    def noise(self) -> Noise:
        """Return the distribution of the noise."""

    @property
    @abstractmethod
    def reason(self) -> str:
        """Say in a few words why the guarantee holds."""

    @abstractmethod
    def checked(self, counts: ArrayLike) -> Counts:
        """Return public counts as an array, or refuse what cannot be those of `size` records."""

    def measured(self, counts: ArrayLike) -> Counts:
        """Return A k, what would be published without noise, for one or many rows of counts."""
        return self.quantities.apply(np.asarray(counts))

    @property
    def guarantee(self) -> Guarantee:
        """Return the pure epsilon that quantities and noise give."""
        if self.pure_epsilon == inf:
            raise DeclarationError(
                f"{type(self).__name__} has no pure epsilon: one record can cause any privacy loss. Nothing was "
                "published. Use noise that hides everything that one record moves, totals included."
            )
        return Guarantee(Fraction(self.pure_epsilon), adjacency=self.neighbours, reason=self.reason)

    @cached_property
    def pure_epsilon(self) -> Fraction | float:
        """Return the largest loss over all neighbours, computed from quantities and noise; infinite for Gaussians."""
        return self.epsilon_for(self.neighbours)

    def epsilon_for(self, neighbours: Adjacency) -> Fraction | float:
        """Return the largest loss that this noise has over other neighbours than its own as well."""
        noise, quantities = self.noise, self.quantities
        if (
            neighbours is Adjacency.REPLACE_ONE
            and (weights := epsilon_weights(noise.structure)) is not None
            and quantities.are_kept_by(noise)
        ):
            return quantities.most(weights, noise.blocks, 1)
        moves = self._moves(neighbours)
        return inf if moves is None else max(noise.privacy_loss(move).epsilon for move in moves)

    def _moves(self, neighbours: Adjacency) -> tuple[Counts, ...] | None:
        """Return what stands for all that one record of these neighbours can move; None if it is not listed."""
        is_replaced = neighbours is Adjacency.REPLACE_ONE
        return self.quantities.changes() if is_replaced else self.quantities.additions()

    @property
    def rho(self) -> Fraction:
        """Return the largest zCDP parameter over all neighbours, computed from quantities and noise."""
        noise, quantities = self.noise, self.quantities
        if (
            self.neighbours is Adjacency.REPLACE_ONE
            and (weights := rho_weights(noise.structure)) is not None
            and quantities.are_kept_by(noise)
        ):
            return quantities.most(weights, noise.blocks, 2)
        return max(noise.privacy_loss(move).rho for move in self._moves(self.neighbours) or ())

    def computed_loss(self) -> PrivacyLoss:
        """Return the upper envelope of the losses of all neighbours, computed from quantities and noise.

        If there are too many changes to list, it is that of the worst mechanism with this epsilon, or this rho.
        """
        changes, epsilon = self._moves(self.neighbours), self.pure_epsilon
        if changes is not None and (
            epsilon < inf or rho_weights(self.noise.structure) is None or self._is_attained(changes)
        ):
            losses = [self.noise.privacy_loss(change).curve for change in changes]
            return losses[0] if len(losses) == 1 else envelope(losses)
        return PrivacyLoss.worst_case(Fraction(epsilon)) if epsilon < inf else concentrated_loss(self.rho)

    def _is_attained(self, changes: tuple[Counts, ...]) -> bool:
        """Return whether the changes that are listed cost no more than the largest zCDP parameter."""
        return max(self.noise.privacy_loss(change).rho for change in changes) <= self.rho * (1 + Fraction(1, 10**8))

    def privacy_loss(self) -> PrivacyLoss:
        """Return the loss that is charged when releases are composed: the computed one, or more if a kind says so."""
        return self.computed_loss()

    def sample(self, counts: Counts, bits: RandomBits) -> Counts:
        measured = self.measured(self.checked(counts))
        return measured + self.noise.sample(int(np.prod(measured.shape[:-1])), bits).reshape(measured.shape)

    def evidence(self, output: Counts) -> tuple[Measurement, ...]:
        """Return one measurement for each table (or other unit) with independent noise, or one for everything."""
        pieces = self.quantities.pieces()
        lengths = [piece.length for piece in pieces]
        noises = pieces_of(self.noise, lengths)
        if noises is None:
            return (Measurement(self.quantities, np.asarray(output), self.noise),)
        values = by_block(np.asarray(output), lengths)
        return tuple(Measurement(*each) for each in zip(pieces, values, noises, strict=True))

    @property
    def space(self) -> OutputSpace:
        """Return numbers not too far from the possible ones; blocks whose noise adds up to zero add up to the size."""
        return OutputSpace(self.quantities.length, self._why_impossible)

    def log_prob(self, output: ArrayLike, counts: ArrayLike) -> Floats:
        return self.noise.log_prob(np.asarray(output) - self.measured(counts))

    @property
    def reach(self) -> float:
        """Return how far the noise of the noisiest number reaches, for the width of windows."""
        return float(self.noise.decay_length.max())

    def outputs_for(self, counts: Counts, most: int) -> Counts | None:
        """Return outputs near these data sets, at most `most`, until the probability beyond is about e^-40.

        None if the probability of an output is not known in closed form.
        """
        if not has_density(self.noise.structure):
            return None
        ends = list(accumulate((0, *self.noise.blocks)))
        blocks = [slice(start, end) for start, end in pairwise(ends)]
        tied = [block for block, keeps in zip(blocks, preserved(self.noise.structure), strict=True) if keeps]
        return window(self.measured(counts), ceil(MARGIN * self.reach) + 2, most, tied)

    def small_instance_fields(self, model: Model) -> Iterator[Mapping[str, object]]:
        """Yield the fields of a small instance on another model; shares belong to the tables of a network."""
        yield {"shares": None} if hasattr(self, "shares") and model != self.model else {}

    def _why_impossible(self, output: Counts) -> str | None:
        records = self.size if isinstance(self, Sized) else MOST_RECORDS
        possible = records * self.quantities.per_record
        farthest = possible + _FARTHEST * (1 + self.noise.decay_length)
        if any(abs(int(value)) > most for value, most in zip(output, farthest.tolist(), strict=True)):
            return "The output holds numbers too large to be read."
        for keeps, block in zip(preserved(self.noise.structure), by_block(output, self.noise.blocks), strict=True):
            if keeps and (total := sum(int(value) for value in block)) != possible:
                return f"The output must add up to the size {possible}; it adds up to {total}."
        return None


LEAST_EPSILON, MOST_EPSILON = Fraction(1, 10**6), Fraction(10**4)


def within_bounds(epsilon: Fraction, name: str) -> Fraction:
    """Return an epsilon for which noise can be drawn, or refuse it and say what is allowed."""
    if not LEAST_EPSILON <= epsilon <= MOST_EPSILON:
        raise DeclarationError(
            f"{name} must lie between {exact_text(LEAST_EPSILON)} and {exact_text(MOST_EPSILON)}; "
            f"got {exact_text(epsilon)}."
        )
    return epsilon


def noise_epsilon(value: Exact, name: str) -> Fraction:
    """Return an exact epsilon above zero for which noise can be drawn, or say what is wrong with it."""
    return within_bounds(positive(value, name), name)
