"""Tables of counts whose number of records is secret too: one record may be added or removed.

An added record moves one cell by 1 and the number of records n by 1, so with independent two-sided geometric noise

    P(z | k) = tanh(r/2)^m tanh(s/2) e^(-r sum_i |z_i - k_i| - s |z_T - n|),      r + s = epsilon,

is pure epsilon-DP, and tight: the loss is a sum of two randomised responses. The number of records needs no number of
its own, as it is the sum of the cells; but the noise of that sum grows with the square root of their number. With few
cells it is left out (s = 0); with more than 20 a fifth of epsilon is spent on it. Then the standard deviation of n is
7.1 / epsilon whatever the number of cells, and that of a cell 1.25 times what it would be.

With independent discrete Gaussian noise of the variance v on each cell, and v_T on n if it is measured,

    P(z | k) ~ prod_i e^(-(z_i - k_i)^2 / (2 v)) e^(-(z_T - n)^2 / (2 v_T)),

it is zCDP with rho = 1/(2 v) + 1/(2 v_T), half of what a replaced record costs where n is public. Without n one number
u moves and the loss is (u + 1/2) / v, so delta(epsilon) is a sum over one discrete Gaussian; with n it is bounded by
rho. Here n takes a fifth of rho.
"""

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts, NumbersT
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact, exact_text, positive, rounded_up
from discreet.mechanism import MOST_RECORDS, Additive, Quantities, noise_epsilon
from discreet.noise import Gaussian, Laplace
from discreet.privacy import (
    DIGITS,
    LARGEST_VARIANCE,
    Adjacency,
    Evidence,
    Guarantee,
    curve_variance,
    last_fitting,
    raised_to_fit,
    zcdp_limit,
)
from discreet.tables._mechanisms import LEAST_VARIANCE, TableCells, gaussian_delta
from discreet.tables._model import Categories

FEW_CELLS = 20
"""Up to so many cells the number of records has no noise of its own: the sum of the cells tells enough of it."""
TOTAL_SHARE = Fraction(1, 5)
"""The share of epsilon that is spent on the number of records where there are more cells."""
_NEAR = Fraction(1, 10**5)  # by this share more variance may be used than is needed
_LARGEST_COUNT = 2**40  # counts of cells are clamped there: of a million cells the sum still fits into 64 bits


@dataclass(frozen=True)
class NumberOfRecords(Quantities):
    """The number of records, as the sum of all cells of a table."""

    model: Categories

    @property
    def blocks(self) -> tuple[int, ...]:
        return (1,)

    def apply(self, counts: NumbersT) -> NumbersT:
        sums: NumbersT = np.minimum(np.asarray(counts).sum(axis=-1, keepdims=True), MOST_RECORDS)
        return sums

    def transpose(self, values: NumbersT) -> NumbersT:
        return np.repeat(np.asarray(values), len(self.model.cells), axis=-1)

    def changes(self) -> tuple[Counts, ...]:
        """Return nothing: a replaced record leaves the number of records as it is."""
        return (np.zeros(1, dtype=np.int64),)

    def additions(self) -> tuple[Counts, ...]:
        return (np.ones(1, dtype=np.int64),)


@dataclass(frozen=True)
class CellsAndNumber(Quantities):
    """All cells of a table, and after them the number of records."""

    model: Categories

    @property
    def blocks(self) -> tuple[int, ...]:
        return (len(self.model.cells), 1)

    def pieces(self) -> tuple[Quantities, ...]:
        return (TableCells(self.model), NumberOfRecords(self.model))

    def apply(self, counts: NumbersT) -> NumbersT:
        return np.concatenate([piece.apply(counts) for piece in self.pieces()], axis=-1)

    def transpose(self, values: NumbersT) -> NumbersT:
        cells, number = self.pieces()
        return cells.transpose(np.asarray(values)[..., :-1]) + number.transpose(np.asarray(values)[..., -1:])

    def changes(self) -> tuple[Counts, ...]:
        """Return one unit that moves from one cell to another, beside the same number of records."""
        cells, number = self.pieces()
        return tuple(np.concatenate([a, b]) for a in cells.changes() or () for b in number.changes() or ())

    def additions(self) -> tuple[Counts, ...]:
        """Return one unit more in a cell and in the number of records."""
        cells, number = self.pieces()
        return tuple(np.concatenate([a, b]) for a in cells.additions() or () for b in number.additions() or ())


@dataclass(frozen=True, init=False, repr=False)
class SecretNumberTable(Additive[Categories]):
    """A noisy table of counts of a secret number of records, which has noise of its own where `total` is above 0."""

    neighbours: ClassVar[Adjacency] = Adjacency.ADD_OR_REMOVE

    model: Categories
    epsilon: Fraction
    total: Fraction

    def __init__(self, model: Categories, epsilon: Exact, total: Exact | None = None) -> None:
        if not isinstance(model, Categories):
            raise DeclarationError(f"{type(self).__name__} publishes counts of Categories; got {type(model).__name__}.")
        share = self.usual_total(model) if total is None else exact(total, "total")
        if not 0 <= share < 1:
            raise DeclarationError(
                "total is the share of epsilon, or of rho, that is spent on the number of records: at least 0, which "
                f"leaves it out, and less than 1; got {exact_text(share)}."
            )
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "epsilon", noise_epsilon(epsilon, "epsilon"))
        object.__setattr__(self, "total", share)

    @classmethod
    def usual_total(cls, model: Categories) -> Fraction:
        """Return the share that suits a number of cells."""
        return Fraction(0) if len(model.cells) <= FEW_CELLS or not model.reads_number else TOTAL_SHARE

    @property
    def derived_fields(self) -> Collection[str]:
        return ("total",) if self.total == self.usual_total(self.model) else ()

    @cached_property
    def quantities(self) -> Quantities:
        return CellsAndNumber(self.model) if self.total else TableCells(self.model)

    def checked(self, counts: ArrayLike) -> Counts:
        """Return simulated counts as an array, clamped where they are beyond all reason."""
        return np.minimum(self.model.counts(counts), _LARGEST_COUNT)


@dataclass(frozen=True, init=False, repr=False)
class LaplaceTable(SecretNumberTable, kind="LaplaceTable", version=1):
    """A noisy table of counts of a secret number of records: pure epsilon-DP if one is added or removed.

    `total` is the share of epsilon that is spent on the number of records itself.

    >>> smoking = Categories("smoking", levels=("never", "former", "current"), outside="never")
    >>> table = LaplaceTable(smoking, epsilon="0.5")
    >>> table.guarantee
    Guarantee(epsilon=0.5, delta=0, add or remove one record, proved: discrete Laplace noise of scale 1/epsilon)
    >>> table.epsilon_for(Adjacency.REPLACE_ONE)
    Fraction(1, 1)
    """

    def __init__(self, model: Categories, epsilon: Exact, total: Exact | None = None) -> None:
        super().__init__(model, epsilon, total)
        for rate in self.noise.rates:
            noise_epsilon(rate, "epsilon times its share")

    @property
    def reason(self) -> str:
        if not self.total:
            return "discrete Laplace noise of scale 1/epsilon"
        return f"discrete Laplace noise on cells and on their number, which takes {exact_text(self.total)} of epsilon"

    @cached_property
    def noise(self) -> Laplace:
        """Return independent noise; an added record costs the rate of one cell and that of the number of records."""
        rates = ((1 - self.total) * self.epsilon, self.total * self.epsilon)
        return Laplace(rates[: len(self.quantities.blocks)], self.quantities.blocks)

    @property
    def rho(self) -> Fraction:
        """Return r tanh(r/2) + s tanh(s/2), rounded up: the zCDP parameter of two randomised responses."""
        return self.privacy_loss().sharp_rho


@dataclass(frozen=True, init=False, repr=False)
class GaussianTable(SecretNumberTable, kind="GaussianTable", version=1):
    """A table of a secret number of records with Gaussian noise: (epsilon, delta)-DP if one is added or removed.

    `total` is the share of rho that is spent on the number of records itself. The `variance` of each cell is calibrated
    to (epsilon, delta); a larger one may be given, a smaller one is refused.

    >>> coin = Categories("answer", levels=("no", "yes"), outside="no")
    >>> GaussianTable(coin, epsilon="1", delta="1e-6").variance
    Fraction(44749, 2500)
    """

    calibrated: ClassVar[tuple[str, ...]] = ("variance",)

    delta: Fraction
    variance: Fraction

    def __init__(
        self,
        model: Categories,
        epsilon: Exact,
        delta: Exact,
        total: Exact | None = None,
        variance: Exact | None = None,
    ) -> None:
        super().__init__(model, epsilon, total)
        object.__setattr__(self, "delta", gaussian_delta(delta))
        chosen = (
            _least_variance(self.epsilon, self.delta, self.total)
            if variance is None
            else positive(variance, "variance")
        )
        object.__setattr__(self, "variance", chosen)
        if not LEAST_VARIANCE <= chosen <= LARGEST_VARIANCE:
            raise DeclarationError(
                f"The variance must lie between {exact_text(LEAST_VARIANCE)} and {exact_text(LARGEST_VARIANCE)}; got "
                f"{exact_text(chosen)}."
            )
        if variance is not None and not _fits(chosen, self.epsilon, self.delta, self.total):
            raise DeclarationError(
                f"A variance of {exact_text(chosen)} does not give delta = {exact_text(self.delta)} at epsilon = "
                f"{exact_text(self.epsilon)}. Leave the variance out to have the smallest sufficient one chosen."
            )

    @property
    def reason(self) -> str:
        if not self.total:
            return f"discrete Gaussian noise of variance {exact_text(self.variance)}: exact privacy loss of one cell"
        number = f"{exact_text(self.total)} of rho on the number of records"
        return f"discrete Gaussian noise of variance {exact_text(self.variance)} on cells and {number}: by rho"

    @property
    def guarantee(self) -> Guarantee:
        """Return (epsilon, delta), computed from the privacy loss."""
        return Guarantee(self.epsilon, self.delta, self.neighbours, Evidence.ENUMERATED, self.reason)

    @cached_property
    def noise(self) -> Gaussian:
        return _gaussian(self.variance, self.total, self.quantities.blocks)

    @property
    def rho(self) -> Fraction:
        """Return 1/(2 v) + 1/(2 v_T), rounded up."""
        return rounded_up(super().rho, 9)


def _gaussian(variance: Fraction, total: Fraction, blocks: tuple[int, ...]) -> Gaussian:
    """Return noise of which the number of records, if it is measured, takes the share `total` of rho."""
    return Gaussian((variance, variance * (1 - total) / total) if total else (variance,), blocks)


def _fits(variance: Fraction, epsilon: Fraction, delta: Fraction, total: Fraction) -> bool:
    """Return whether one cell, and the number of records beside it, keep (epsilon, delta)."""
    blocks = (1, 1) if total else (1,)
    loss = _gaussian(variance, total, blocks).privacy_loss(np.ones(len(blocks), dtype=np.int64)).curve
    return Fraction(loss.delta_at(epsilon)) <= delta


@lru_cache(maxsize=256)
def _least_variance(epsilon: Fraction, delta: Fraction, total: Fraction) -> Fraction:
    """Return a variance of six digits that suffices, hardly larger than needed.

    The search begins at that of a continuous Gaussian, or of rho where the number of records is measured.
    """

    def fits(variance: Fraction) -> bool:
        return _fits(variance, epsilon, delta, total)

    alone = curve_variance(Fraction(1), epsilon, delta)
    high = low = rounded_up(1 / (2 * zcdp_limit(epsilon, delta) * (1 - total)), DIGITS) if total else alone
    while not fits(high):
        low, high = high, high * Fraction(101, 100)
        if high > LARGEST_VARIANCE:
            raise DeclarationError(
                f"epsilon = {exact_text(epsilon)} and delta = {exact_text(delta)} need Gaussian noise with a variance "
                f"above {exact_text(LARGEST_VARIANCE)}, the largest that is supported. Choose a larger epsilon."
            )
    while low == high or fits(low):
        low, high = low * Fraction(99, 100), low
    return raised_to_fit(fits, last_fitting(fits, high, low, _NEAR), Fraction(1, 10 ** (DIGITS - 1)))
