"""PosteriorSampling: publish parameters drawn from the posterior itself.

One draw theta ~ posterior is private if no record can move the posterior far: because the prior is concentrated, or
because the likelihood is raised to a power below one, or because the parameters are kept away from zero. This is the
sampler of Dimitrakakis, Nelson, Mitrokotsa and Rubinstein (2014) and of Zhang, Rubinstein and Dimitrakakis (2016), with
its exact privacy curve (see `_loss`) in place of their bounds.

What is published is a cell of a grid. A vector of probabilities is drawn by breaking a stick: v_i ~ Beta(a_i, sum of
the later a), theta_i = v_i (1 - v_1) ... (1 - v_(i-1)), and each v_i is published as floor(2^grid_bits v_i).
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property, partial
from math import exp
from typing import ClassVar

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact, exact_text, positive, probability, whole
from discreet._core.fields import Checked, Number, OptionalNumber, Whole, converted, frozen, optional
from discreet.draws._calibration import (
    MOST_DRAWS,
    NO_PURE_EPSILON,
    REMEDY,
    asked_of,
    check_chance,
    check_model,
    check_reach,
    nearest,
    with_strength,
)
from discreet.draws._lipschitz import categories_range
from discreet.draws._posterior_draws import PosteriorDraws
from discreet.draws._privacy_curves import (
    SLACK,
    Drawable,
    certified_curve,
    certified_delta,
    certified_loss,
    exact_divergence,
    excess,
    gaussian_rho,
    least_epsilon,
    short_decimal,
)
from discreet.draws._truncation import enough_grid_bits
from discreet.mathematics.distributions import CertifiedDistribution
from discreet.mechanism import (
    FARTHEST,
    MOST_GRID_BITS,
    GridDistribution,
    Model,
    Sized,
    broken_sticks,
    grid_points,
    likely_cells,
    stick_distributions,
    with_fields,
)
from discreet.privacy import PrivacyLoss, last_that_fits
from discreet.records import Column, Level
from discreet.tables import Categories, Levels

GRID_BITS = 32
_COARSE = 9  # bits; finer than any posterior of two cells that is drawn from is wide
_LEAST_RANGE = "least is a probability for Categories: it must be above 0 and below one divided by the number of cells."


@frozen(repr=False)
class PosteriorSampling(PosteriorDraws, kind="PosteriorSampling", version=2):
    """Draws from a posterior, on a grid: (epsilon, delta)-DP, or pure epsilon-DP if probabilities have a `least`.

    `power` is the exponent of the likelihood, `draws` the number of draws that are published together. `strength` is
    that of the prior that draws are made under, `drawn_under`, if privacy demands a stronger one than the model's: the
    parameter of every cell of a table, or what a family's own prior is multiplied by. Readers keep the model's prior.
    The guarantee is certified when the mechanism is made; `concentrated`, `tempered` and `truncated` find settings that
    satisfy it.

    >>> from discreet.tables import Categories
    >>> coin = Categories("fall", levels=("no", "yes"), outside="no")
    >>> round(float(PosteriorSampling.tempered(coin, size=100, epsilon="1", delta="1e-6").power), 7)
    0.0918305
    """

    calibrated: ClassVar[tuple[str, ...]] = ("power", "least")
    calibrated_to: ClassVar[tuple[str, ...]] = ("model", "size", "epsilon", "delta", "draws")
    free_parameter = "power"
    why_private = "exact curve of a posterior draw"
    model: Checked[Drawable] = converted(lambda model, _: check_model(model))
    size: Whole = converted(whole)
    epsilon: Number = converted(positive)
    delta: Number = converted(probability, default=0)
    power: Number = converted(positive, default=1)
    draws: Whole = converted(partial(whole, most=MOST_DRAWS), default=1)
    grid_bits: Whole = converted(partial(whole, most=MOST_GRID_BITS), default=GRID_BITS)
    least: Number = converted(probability, default=0)
    strength: OptionalNumber = converted(optional(positive), default=None, left_out=None)

    def __post_init__(self) -> None:
        if self.power > 1:
            raise DeclarationError(f"power must be at most 1; got {exact_text(self.power)}.")
        if not isinstance(drawn := self.drawn_under, Categories):
            check_chance(drawn)
        if self.least:
            self._certify_truncated()
        else:
            self._certify()
        if not isinstance(drawn, Categories):
            check_reach(drawn, self.size, self.power, self.grid_bits)

    @cached_property
    def drawn_under(self) -> Drawable:
        """Return the model under the prior that draws are made from: its own, or the stronger one of `strength`."""
        return self.model if self.strength is None else with_strength(self.model, self.strength)

    def _certify(self) -> None:
        """Refuse numbers that do not give the stated guarantee, by certified arithmetic."""
        if not self.delta:
            raise DeclarationError(NO_PURE_EPSILON)
        allowed = float(self.delta) * (1 - SLACK)
        single, curve = certified_delta, certified_curve(*self._facts, self.draws, self.delta)
        found = single(*self._facts, self.epsilon, allowed) if self.draws == 1 else curve(self.epsilon)
        if found > allowed:
            raise DeclarationError(
                f"These draws have delta = {found:.6g} at epsilon = {exact_text(self.epsilon)}, above the stated "
                f"{exact_text(self.delta)}.{REMEDY}PosteriorSampling.tempered, .concentrated or .truncated."
            )

    def _certify_truncated(self) -> None:
        if not isinstance(table := self.drawn_under, Categories) or self.least * len(table.cells) >= 1:
            raise DeclarationError(_LEAST_RANGE)
        if self.delta:
            raise DeclarationError("With a least probability the guarantee is pure (delta = 0): leave delta out.")
        if self.loss_range > self.epsilon:
            raise DeclarationError(
                f"These draws cost epsilon = {float(self.loss_range):.9g}, above the stated {exact_text(self.epsilon)}."
                f"{REMEDY}PosteriorSampling.truncated."
            )
        truncation = self._truncation(len(table.cells))
        if truncation.is_empty:
            raise DeclarationError("The grid is too coarse for this least probability: use more grid_bits.")
        prior = [Fraction(value) for value in table.prior]
        if (refusal := truncation.refusal(sum(prior, self.power * self.size), min(prior))) is not None:
            raise DeclarationError(refusal)

    @classmethod
    def concentrated(
        cls,
        model: Drawable | str | Column | Sequence[str | Column] = "value",
        levels: Levels | None = None,
        outside: Level | None = None,
        *,
        size: int,
        epsilon: Exact,
        delta: Exact,
        draws: int = 1,
        grid_bits: int = GRID_BITS,
    ) -> "PosteriorSampling":
        """Return the draw under the weakest prior that fits: a symmetric one, or a multiple of a family's own.

        That prior is a cost of privacy, like noise, and nobody's belief: readers keep the prior of the model.
        """
        named = Categories(model, levels, outside=outside) if isinstance(model, str | Column | Sequence) else model
        asked = asked_of(named, size, epsilon, delta, draws)

        def above(strength: float) -> float:
            return excess(with_strength(named, short_decimal(strength, 1)), asked[0], 1.0, draws, *asked[1:])

        def build(strength: float) -> PosteriorSampling:
            return cls(named, *asked, draws=draws, grid_bits=grid_bits, strength=short_decimal(strength, 1))

        return nearest(build, last_that_fits(above, 1e6, 1e-3), 1)

    @classmethod
    def tempered(
        cls, model: Drawable, *, size: int, epsilon: Exact, delta: Exact, draws: int = 1, grid_bits: int = GRID_BITS
    ) -> "PosteriorSampling":
        """Return the draw with the largest power of the likelihood that gives this guarantee."""
        asked = asked_of(model, size, epsilon, delta, draws)

        def build(power: float) -> PosteriorSampling:
            return cls(model, *asked, power=short_decimal(power, -1), draws=draws, grid_bits=grid_bits)

        found = last_that_fits(lambda power: excess(model, asked[0], power, draws, *asked[1:]), 1e-9, 1.0)
        return nearest(build, found, -1)

    @classmethod
    def truncated(
        cls,
        model: Categories,
        *,
        size: int,
        epsilon: Exact,
        least: Exact | None = None,
        draws: int = 1,
        grid_bits: int = GRID_BITS,
    ) -> "PosteriorSampling":
        """Return a pure epsilon draw in which every probability is at least `least`.

        R = 2 ln((1 - (m - 1) least) / least) bounds the effect of one record; the power is epsilon / R, at most 1. By
        default `least` is 1 / (m - 1 + e^(epsilon/2)), which needs no tempering, but at least one cell.
        """
        if not isinstance(model, Categories):
            raise DeclarationError(f"Truncated draws are made for a Categories model; got a {type(model).__name__}.")
        each, cells = positive(epsilon, "epsilon") / whole(draws, "draws", most=MOST_DRAWS), len(model.cells)
        wished = whole(grid_bits, "grid_bits", most=MOST_GRID_BITS)

        def build(floor: Fraction, power: Fraction = Fraction(1)) -> PosteriorSampling:
            prior, added = [Fraction(value) for value in model.prior], power * whole(size, "size")
            bits = enough_grid_bits(wished, cells, floor, prior, added)
            return cls(model, size, epsilon, power=power, draws=draws, grid_bits=bits, least=floor)

        if least is not None:
            if not 0 < (floor := exact(least, "least")) < Fraction(1, cells):
                raise DeclarationError(_LEAST_RANGE)
            return build(floor, short_decimal(min(Fraction(1), each / categories_range(cells, floor)), -1))
        even = max(1 / (cells - 1 + exp(min(float(each) / 2, 700.0))), 2.0**-wished)
        if (1 / cells - even) * 2.0**wished < 2:
            raise DeclarationError(
                f"epsilon = {exact_text(each)} for each draw is so small that all {cells} probabilities would be "
                "equal on the grid. Raise epsilon, or state a least probability, so that the power of the likelihood "
                "is lowered instead."
            )
        return nearest(lambda floor: build(short_decimal(floor, 1)), even, 1)

    def recalibrated(self, **changed: object) -> "PosteriorSampling":
        """Return the draws of another guarantee, size, model or number, with the power, least or prior it allows."""
        names = ("model", "size", "epsilon", "draws", "grid_bits")
        facts = {name: changed.get(name, getattr(self, name)) for name in names}
        find: Callable[..., PosteriorSampling] = self.tempered if self.strength is None else self.concentrated
        if self.least:
            find = self.truncated
        kept = {"least": self.least if self.power < 1 else None} if self.least else {"delta": self.delta}
        return find(**facts, **{name: changed.get(name, value) for name, value in kept.items()})

    @property
    def loss_range(self) -> Fraction:
        return self.draws * self.power * categories_range(len(self.model.cells), self.least)

    @property
    def least_epsilon(self) -> Fraction:
        return least_epsilon(*self._facts, self.draws, self.epsilon, self.delta)

    @property
    def gaussian_rho(self) -> Fraction | None:
        """Return q mu^2 / 2 for draws of a normal mean."""
        return gaussian_rho(*self._facts, self.draws)

    @property
    def concentration(self) -> float:
        """Return the smallest parameter of the prior of a table that draws are made under."""
        if not isinstance(table := self.drawn_under, Categories):
            raise DeclarationError(f"A {type(self.model).__name__} has no concentration; only a table has one.")
        return float(min(table.prior))

    def divergence(self) -> float | None:
        """Return the largest Kullback-Leibler divergence between neighbours; None for truncated draws."""
        return None if self.least else self.draws * exact_divergence(*self._facts)

    def privacy_loss(self) -> PrivacyLoss:
        """Return a loss that dominates all neighbours: randomised response if pure, else chords of the exact curve."""
        if self.least:
            return PrivacyLoss.worst_case(self.cost)
        return certified_loss(*self._facts, self.draws, self.cost, self.delta)

    def delta_at(self, epsilon: Fraction) -> float:
        """Return the exact delta of one draw at another epsilon, rounded up."""
        return certified_delta(*self._facts, epsilon)

    @property
    def _facts(self) -> tuple[Drawable, int, Fraction]:
        return self.drawn_under, self.size, self.power

    @property
    def sticks(self) -> int:
        """Return how many numbers one draw has."""
        return len(self.model.cells) - 1 if isinstance(self.model, Categories) else 1

    @property
    def row_sticks(self) -> tuple[int, ...]:
        return (self.sticks,)

    def _rows_of(self, tables: Counts) -> Iterator[tuple[int, Counts]]:
        """Yield the counts as they are: there is one row."""
        yield 0, tables

    def _row_distributions(self, number: int, counts: Sequence[int]) -> tuple[CertifiedDistribution, ...]:
        if not isinstance(drawn := self.drawn_under, Categories):
            return (drawn.posterior(counts, self.power),)
        shapes = [Fraction(a) + self.power * int(k) for a, k in zip(drawn.prior, counts, strict=True)]
        return stick_distributions(shapes, sum(map(Fraction, drawn.prior), self.power * self.size))

    def _checked(self, counts: Counts) -> Counts:
        table = self.model.counts(counts)
        if (table.sum(axis=-1) != self.size).any():
            raise DeclarationError(f"The counts must add up to the public size {self.size}.")
        return table

    def outputs_for(self, counts: Counts, most: int) -> Counts | None:
        """Return all outputs on this grid, or those of non-negligible probability; None if more than `most`."""
        distributions = zip(*(self._row_distributions(0, row.tolist()) for row in counts), strict=True)
        return grid_points([likely_cells(of_stick, self.grid_bits) for of_stick in distributions] * self.draws, most)

    def parameters(self, output: Counts) -> Floats:
        """Return the drawn parameters, one row for each draw: probabilities of the cells, or the one parameter."""
        sticks = (np.asarray(output, dtype=float).reshape(-1, self.sticks) + 0.5) / 2.0**self.grid_bits
        return broken_sticks(sticks) if isinstance(self.model, Categories) else sticks

    def first_draw(self, output: Counts) -> Floats:
        return np.asarray(self.parameters(output)[0])

    @classmethod
    def candidate_mechanisms(cls, model: Model, size: int, epsilon: Fraction, delta: Fraction) -> Iterator[Sized]:
        """Yield one draw: tempered, or truncated if there is no delta; for two cells, on a grid that can be listed."""
        if not delta and not isinstance(model, Categories):
            raise DeclarationError(NO_PURE_EPSILON)
        coarse = {"grid_bits": _COARSE} if isinstance(model, Categories) and len(model.cells) == 2 else {}
        if delta:
            yield with_fields(cls.tempered(check_model(model), size=size, epsilon=epsilon, delta=delta), **coarse)
        elif isinstance(model, Categories):
            if not coarse:
                raise DeclarationError(
                    "Truncated draws of three or more cells cannot be read. Tempered draws, which need a delta, can."
                )
            yield with_fields(cls.truncated(model, size=size, epsilon=epsilon), **coarse)

    def drawn_tables(self) -> list[tuple[tuple[str, ...], Floats, int]]:
        """Return the one row of probabilities that is drawn; none for a family with one parameter."""
        if not isinstance(table := self.drawn_under, Categories):
            return []
        return [(tuple(column.name for column in table.columns), table.concentration, 1)]

    def _why_impossible(self, output: Counts) -> str | None:
        grids = [
            GridDistribution(distribution, self.grid_bits)
            for distribution in self._row_distributions(0, [0] * len(self.model.cells))
        ]
        cells = output.reshape(-1, self.sticks)
        first, last = ([getattr(grid, end) for grid in grids] for end in ("first", "last"))
        if (cells < first).any() or (cells > last).any() or (abs(cells) > FARTHEST).any():
            return "The output holds numbers outside the grid of the draws."
        if self.least and not self._truncation(self.sticks + 1).holds(cells).all():
            return "The output holds probabilities below the declared least."
        return None
