"""Additive mechanisms: measured numbers plus noise. Their cost is computed from both, never written by hand.

z = A k + u. Over all pairs of records x, y and both directions, the privacy loss is that of the noise if the measured
numbers move by A e_x - A e_y: epsilon is the largest of these losses, the privacy loss is their upper envelope, and rho
is the largest zCDP parameter. A mechanism states its quantities and its noise, and what it was calibrated to; one for a
table of counts (`NoisyCounts`) states only its noise.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Counts
from discreet.certificates import PrivacyLoss
from discreet.errors import DeclarationError
from discreet.exact import Exact, exact_text, positive, whole
from discreet.guarantees.guarantee import Guarantee
from discreet.mechanisms.quantities import Cells, Measurement, Quantities
from discreet.mechanisms.refereed_numbers import RefereedCounts, RefereedNumbers
from discreet.models import Categories
from discreet.models.model import ModelT
from discreet.noise.concentrated import concentrated_loss
from discreet.noise.laplace_kernel import by_block
from discreet.noise.losses import envelope
from discreet.noise.noise import pieces_of
from discreet.noise.structure import epsilon_weights, rho_weights
from discreet.randomness import RandomBits


class Additive(RefereedNumbers[ModelT]):
    """Publishes z = A k + u, with `quantities` A and `noise` u."""

    def measured(self, counts: ArrayLike) -> Counts:
        return self.quantities.apply(np.asarray(counts))

    @property
    def guarantee(self) -> Guarantee:
        """Return the pure epsilon that quantities and noise give."""
        if self.pure_epsilon == inf:
            raise DeclarationError(
                f"{type(self).__name__} has no pure epsilon: one replaced record can cause any privacy loss. Nothing "
                "was published. Use noise that hides everything that one record moves, totals included."
            )
        return Guarantee(Fraction(self.pure_epsilon), reason=self.reason)

    @cached_property
    def pure_epsilon(self) -> Fraction | float:
        """Return the largest loss over all neighbours, computed from quantities and noise; infinite for Gaussians."""
        law, quantities = self.noise, self.quantities
        if (weights := epsilon_weights(law.structure)) is not None and quantities.are_kept_by(law):
            return quantities.most(weights, law.blocks, 1)
        changes = quantities.changes()
        return inf if changes is None else max(law.privacy_loss(change).epsilon for change in changes)

    @property
    def rho(self) -> Fraction:
        """Return the largest zCDP parameter over all neighbours, computed from quantities and noise."""
        law, quantities = self.noise, self.quantities
        if (weights := rho_weights(law.structure)) is not None and quantities.are_kept_by(law):
            return quantities.most(weights, law.blocks, 2)
        return max(law.privacy_loss(change).rho for change in quantities.changes() or ())

    def computed_loss(self) -> PrivacyLoss:
        """Return the upper envelope of the losses of all neighbours, computed from quantities and noise.

        If there are too many changes to list, it is that of the worst mechanism with this epsilon, or this rho.
        """
        changes, epsilon = self.quantities.changes(), self.pure_epsilon
        if changes is not None and (
            epsilon < inf or rho_weights(self.noise.structure) is None or self._is_attained(changes)
        ):
            losses = [self.noise.privacy_loss(change).curve for change in changes]
            return losses[0] if len(losses) == 1 else envelope(losses)
        return PrivacyLoss.worst_case(Fraction(epsilon)) if epsilon < inf else concentrated_loss(self.rho)

    def _is_attained(self, changes: tuple[Counts, ...]) -> bool:
        """Tell whether the changes that are listed cost no more than the largest zCDP parameter."""
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
        laws = pieces_of(self.noise, lengths)
        if laws is None:
            return (Measurement(self.quantities, np.asarray(output), self.noise),)
        values = by_block(np.asarray(output), lengths)
        return tuple(Measurement(*each) for each in zip(pieces, values, laws, strict=True))


LEAST_EPSILON, MOST_EPSILON = Fraction(1, 10**6), Fraction(10**4)


@dataclass(frozen=True, init=False, repr=False)
class NoisyCounts(RefereedCounts, Additive[Categories]):
    """A noisy table of counts: `model` declares the cells, `size` is the public number of records."""

    model: Categories
    size: int
    epsilon: Fraction

    def __init__(self, model: Categories, size: int, epsilon: Exact) -> None:
        if not isinstance(model, Categories):
            raise DeclarationError(f"{type(self).__name__} publishes counts of Categories; got {type(model).__name__}.")
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "size", whole(size, "size"))
        object.__setattr__(self, "epsilon", noise_epsilon(epsilon, "epsilon"))

    @cached_property
    def quantities(self) -> Quantities:
        return Cells(self.model)

    def checked(self, counts: ArrayLike) -> Counts:
        """Return made-up counts as an array; they must add up to the public size."""
        table = self.model.counts(counts)
        if (table.sum(axis=-1) != self.size).any():
            raise DeclarationError(f"The counts must add up to the public size {self.size}.")
        return table


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
