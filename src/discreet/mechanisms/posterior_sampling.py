"""PosteriorSampling: publish parameters drawn from the posterior itself.

One draw theta ~ posterior is private if no record can move the posterior far: because the prior is concentrated, or
because the likelihood is raised to a power below one, or because the parameters are kept away from zero. This is the
sampler of Dimitrakakis, Nelson, Mitrokotsa and Rubinstein (2014) and of Zhang, Rubinstein and Dimitrakakis (2016), with
its exact privacy curve (see `certificates.posterior_draw`) in place of their bounds.

What is published is a cell of a grid. A vector of probabilities is drawn by breaking a stick: v_i ~ Beta(a_i, sum of
the later a), theta_i = v_i (1 - v_1) ... (1 - v_(i-1)), and each v_i is published as floor(2^grid_bits v_i).
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from math import exp
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.certificates import PrivacyLoss
from discreet.certificates.lipschitz import categories_range
from discreet.certificates.posterior_draw import (
    certified_draw_delta,
    certified_pair_delta,
    certified_two_cell_delta,
    composed_curve,
    dominating_loss,
    last_that_fits,
    posterior_draw_delta,
)
from discreet.columns import Level
from discreet.errors import DeclarationError, DocumentError
from discreet.exact import Exact, exact_text, positive, probability, whole
from discreet.guarantees.guarantee import Guarantee
from discreet.mechanisms.posterior_grid import FARTHEST, MOST_GRID_BITS, GridLaw, broken_sticks, stick_laws
from discreet.mechanisms.truncation import Truncation, enough_grid_bits
from discreet.models import Categories
from discreet.models.bounded_family import BoundedFamily, Law
from discreet.randomness import RandomBits

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
Made = TypeVar("Made")

GRID_BITS = 32
SLACK = 1e-9
"""A draw must stay this far, in relative terms, below its stated delta: room for the rounding of a composed loss."""


@dataclass(frozen=True, init=False, repr=False)
class PosteriorSampling:
    """Draws from a posterior, on a grid: (epsilon, delta)-DP, or pure epsilon-DP if probabilities have a `least`.

    `power` is the exponent of the likelihood, `draws` the number of fresh draws that are published together. All
    numbers are certified when the mechanism is made; `concentrated`, `tempered` and `truncated` find such numbers.

    >>> from discreet.models import Categories
    >>> coin = Categories("fall", levels=("no", "yes"))
    >>> round(float(PosteriorSampling.tempered(coin, size=100, epsilon="1", delta="1e-6").power), 7)
    0.0918305
    """

    model: Any
    size: int
    epsilon: Fraction
    delta: Fraction
    power: Fraction
    draws: int
    grid_bits: int
    least: Fraction

    def __init__(
        self,
        model: Any,
        size: int,
        epsilon: Exact,
        delta: Exact = 0,
        power: Exact = 1,
        draws: int = 1,
        grid_bits: int = GRID_BITS,
        least: Exact = 0,
    ) -> None:
        if not isinstance(model, Categories | BoundedFamily):
            raise DeclarationError(
                f"PosteriorSampling draws for Categories or a BoundedFamily; got a {type(model).__name__}."
            )
        values: dict[str, Any] = {
            "model": model,
            "size": whole(size, "size"),
            "epsilon": positive(epsilon, "epsilon"),
            "delta": probability(delta, "delta"),
            "power": positive(power, "power"),
            "draws": whole(draws, "draws", most=1000),
            "grid_bits": whole(grid_bits, "grid_bits", most=MOST_GRID_BITS),
            "least": probability(least, "least"),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if self.power > 1:
            raise DeclarationError(f"power must be at most 1; got {exact_text(self.power)}.")
        if self.least:
            self._certify_truncated()
        else:
            self._certify()

    def _certify(self) -> None:
        """Refuse numbers that do not give the stated guarantee, by certified arithmetic."""
        if not self.delta:
            raise DeclarationError("One draw from a posterior has no pure epsilon: state a delta above 0, or a least.")
        allowed = float(self.delta) * (1 - SLACK)
        found = _delta(self, allowed) if self.draws == 1 else self._composed(self.epsilon)
        if found > allowed:
            raise DeclarationError(
                f"These draws have delta = {found:.6g} at epsilon = {exact_text(self.epsilon)}, above the stated "
                f"{exact_text(self.delta)}. Find numbers that fit with PosteriorSampling.tempered, .concentrated or "
                ".truncated."
            )

    def _certify_truncated(self) -> None:
        if not isinstance(self.model, Categories) or self.least * len(self.model.cells) >= 1:
            raise DeclarationError("least is for Categories, and must be below one divided by the number of cells.")
        if self.delta:
            raise DeclarationError("With a least probability the guarantee is pure: leave delta out.")
        cost = self.draws * self.power * categories_range(len(self.model.cells), self.least)
        if cost > self.epsilon:
            raise DeclarationError(
                f"These draws cost epsilon = {float(cost):.9g}, above the stated {exact_text(self.epsilon)}. Find "
                "numbers that fit with PosteriorSampling.truncated."
            )
        if self._truncation.is_empty:
            raise DeclarationError("No cell of the grid has all probabilities at their least: use more grid_bits.")
        prior = [Fraction(value) for value in self.model.prior]
        if (refusal := self._truncation.refusal(sum(prior, self.power * self.size), min(prior))) is not None:
            raise DeclarationError(refusal)

    @classmethod
    def concentrated(
        cls,
        columns: Any = "value",
        levels: Any = None,
        outside: Level | None = None,
        *,
        size: int,
        epsilon: Exact,
        delta: Exact,
        draws: int = 1,
    ) -> "PosteriorSampling":
        """Return the draw under the weakest symmetric prior that gives this guarantee; columns as in `Categories`."""
        asked = positive(epsilon, "epsilon"), probability(delta, "delta")

        def build(concentration: float) -> PosteriorSampling:
            prior = float(_short_decimal(concentration, 1))
            return cls(Categories(columns, levels, prior=prior, outside=outside), size, *asked, draws=draws)

        def fits(concentration: float) -> bool:
            prior = Categories(columns, levels, prior=concentration, outside=outside)
            return _about(prior, whole(size, "size"), 1.0, *asked, draws) <= float(asked[1]) * (1 - 2 * SLACK)

        return nearest(build, last_that_fits(fits, 1e6, 1e-3), 1)

    @classmethod
    def tempered(cls, model: Any, *, size: int, epsilon: Exact, delta: Exact, draws: int = 1) -> "PosteriorSampling":
        """Return the draw with the largest power of the likelihood that gives this guarantee."""
        asked = positive(epsilon, "epsilon"), probability(delta, "delta")

        def fits(power: float) -> bool:
            return _about(model, whole(size, "size"), power, *asked, draws) <= float(asked[1]) * (1 - 2 * SLACK)

        found = last_that_fits(fits, 1e-9, 1.0)
        return nearest(lambda power: cls(model, size, *asked, power=_short_decimal(power, -1), draws=draws), found, -1)

    @classmethod
    def truncated(
        cls, model: Categories, *, size: int, epsilon: Exact, least: Exact | None = None, draws: int = 1
    ) -> "PosteriorSampling":
        """Return a pure epsilon draw in which every probability is at least `least`.

        R = 2 ln((1 - (m - 1) least) / least) bounds what one record can do; the power is epsilon / R, at most 1. Left
        out, `least` is 1 / (m - 1 + e^(epsilon/2)), which needs no power.
        """
        each = positive(epsilon, "epsilon") / whole(draws, "draws", most=1000)
        cells = len(model.cells)

        def build(floor: Fraction, power: Fraction = Fraction(1)) -> PosteriorSampling:
            prior, added = [Fraction(value) for value in model.prior], power * whole(size, "size")
            grid_bits = enough_grid_bits(GRID_BITS, cells, floor, prior, added)
            return cls(model, size, epsilon, power=power, draws=draws, grid_bits=grid_bits, least=floor)

        if least is None:
            even = _short_decimal(1 / (cells - 1 + exp(float(each) / 2)), 1)
            return nearest(lambda floor: build(_short_decimal(floor, 1)), even, 1)
        floor = positive(least, "least")
        return build(floor, _short_decimal(min(Fraction(1), each / categories_range(cells, floor)), -1))

    def __repr__(self) -> str:
        shown = {field.name: getattr(self, field.name) for field in fields(self)}
        texts = {n: repr(exact_text(v)) if isinstance(v, Fraction) else repr(v) for n, v in shown.items()}
        return f"PosteriorSampling({', '.join(f'{name}={text}' for name, text in texts.items())})"

    @property
    def guarantee(self) -> Guarantee:
        """Return what was certified when the mechanism was made."""
        why = "bounded likelihood ratio of a truncated posterior" if self.least else "exact curve of a posterior draw"
        return Guarantee(self.epsilon, self.delta, reason=f"{why}, {self.draws} drawn")

    @property
    def rho(self) -> Fraction:
        """Return the zCDP cost: q (R/q)^2 / 8 for pure draws of bounded range, else epsilon^2 / 2 beside delta."""
        return self.epsilon**2 / (8 * self.draws) if self.least else self.epsilon**2 / 2

    @property
    def rho_needs_delta(self) -> bool:
        """Tell whether rho holds up to delta only: for draws that are not truncated."""
        return not self.least

    @property
    def concentration(self) -> float:
        """Return the smallest parameter of the prior."""
        return float(min(self.model.prior))

    def privacy_loss(self) -> PrivacyLoss:
        """Return a loss that dominates all neighbours: randomised response if pure, else chords of the exact curve."""
        if self.least:
            return PrivacyLoss.worst_case(self.epsilon)
        if self.draws == 1:
            return _single_loss(self)
        return dominating_loss(self._composed, self.epsilon, float(self.delta) / 10)

    def delta_at(self, epsilon: Fraction) -> float:
        """Return the exact delta of one draw at another epsilon, rounded up."""
        return _delta_at(self.model, self.size, self.power, epsilon, 0.0)

    @cached_property
    def _composed(self) -> Any:
        return composed_curve(_single_loss(self), self.draws)

    @property
    def sticks(self) -> int:
        """Return how many numbers one draw has."""
        return len(self.model.cells) - 1 if isinstance(self.model, Categories) else 1

    @cached_property
    def _truncation(self) -> Truncation:
        return Truncation(len(self.model.cells), self.least, self.grid_bits)

    def laws(self, counts: Counts) -> tuple[Law, ...]:
        """Return the independent laws of the numbers of one draw, given one row of counts."""
        if not isinstance(self.model, Categories):
            return (self.model.posterior(counts, self.power),)
        shapes = [Fraction(a) + self.power * int(k) for a, k in zip(self.model.prior, counts, strict=True)]
        return stick_laws(shapes)

    def sample(self, counts: Counts, bits: RandomBits) -> Counts:
        """Draw an output for each row of made-up counts; secret statistics are refused, they go through `publish`."""
        table = self.model.counts(counts)
        if (table.sum(axis=-1) != self.size).any():
            raise DeclarationError(f"The counts must sum to the public size {self.size}.")
        rows, places = np.unique(table.reshape(-1, table.shape[-1]), axis=0, return_inverse=True)
        drawn = np.empty((len(places.ravel()), self.draws * self.sticks), dtype=np.int64)
        for number, row in enumerate(rows):
            same = np.flatnonzero(places.ravel() == number)
            drawn[same] = self._draw(self.laws(row), len(same) * self.draws, bits).reshape(len(same), -1)
        return drawn.reshape(*table.shape[:-1], -1)

    def _draw(self, laws: tuple[Any, ...], count: int, bits: RandomBits) -> Counts:
        if self.least:
            return self._truncation.sample(laws, count, bits)
        return np.column_stack([GridLaw(law, self.grid_bits).sample(count, bits) for law in laws])

    def log_likelihood(self, output: Counts, counts: Counts) -> Floats:
        """Return log P(output | counts), for rows of either: a sum over draws and sticks of the mass of a cell."""
        outputs, tables = np.asarray(output), np.asarray(counts)
        shape = np.broadcast_shapes(outputs.shape[:-1], tables.shape[:-1])
        outputs = np.broadcast_to(outputs, (*shape, outputs.shape[-1])).reshape(-1, self.draws, self.sticks)
        tables = np.broadcast_to(tables, (*shape, tables.shape[-1])).reshape(-1, tables.shape[-1])
        rows, places = np.unique(tables, axis=0, return_inverse=True)
        logs = np.empty(len(tables))
        for number, row in enumerate(rows):
            same = np.flatnonzero(places.ravel() == number)
            logs[same] = self._log_masses(outputs[same], self.laws(row)).sum(axis=1)
        return logs.reshape(shape)

    def _log_masses(self, outputs: Counts, laws: tuple[Law, ...]) -> Floats:
        unit = 2.0**-self.grid_bits
        parts = [law.log_mass(outputs[..., i] * unit, (outputs[..., i] + 1) * unit) for i, law in enumerate(laws)]
        logs = np.asarray(sum(parts))
        if not self.least:
            return logs
        return np.where(self._truncation.holds(outputs), logs - self._truncation.log_normaliser(laws), -np.inf)

    def parameters(self, output: Counts) -> Floats:
        """Return the drawn parameters, one row for each draw: probabilities of the cells, or the one parameter."""
        sticks = (np.asarray(output, dtype=float).reshape(-1, self.sticks) + 0.5) / 2.0**self.grid_bits
        return broken_sticks(sticks) if isinstance(self.model, Categories) else sticks

    def check_output(self, output: Counts) -> None:
        """Refuse an output that this mechanism cannot have given."""
        wanted = self.draws * self.sticks
        if output.shape != (wanted,):
            raise DocumentError(f"The output must have {wanted} numbers; it has {output.size}.")
        grids = [GridLaw(law, self.grid_bits) for law in self.laws(np.zeros(len(self.model.cells), dtype=np.int64))]
        cells = output.reshape(-1, self.sticks)
        first, last = ([getattr(grid, end) for grid in grids] for end in ("first", "last"))
        if (cells < first).any() or (cells > last).any() or (abs(cells) > FARTHEST).any():
            raise DocumentError("The output holds numbers beyond the grid of the draws.")
        if self.least and not self._truncation.holds(cells).all():
            raise DocumentError("The output holds probabilities below the declared least.")


def _short_decimal(number: Any, direction: int, digits: int = 12) -> Fraction:
    """Return a short decimal next to a number: above it if the direction is 1, below it if it is -1."""
    context = Context(prec=digits, rounding=ROUND_CEILING if direction > 0 else ROUND_FLOOR)
    return Fraction(context.divide(Decimal(Fraction(number).numerator), Decimal(Fraction(number).denominator)))


def nearest(build: Callable[[float], Made], found: Any, direction: int) -> Made:
    """Return the mechanism at a number that floats found, moved to the safe side until it is certified."""
    for shift in (0.0, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3):
        try:
            return build(float(found) * (1 + direction * shift))
        except DeclarationError as problem:
            words = str(problem)
    raise DeclarationError(words)


def _about(model: Any, size: int, power: float, epsilon: Fraction, delta: Fraction, draws: int) -> float:
    """Return about the delta of `draws` draws, in floats, to search with; what is found is certified afterwards."""

    def curve(allowed: Fraction) -> float:
        if not isinstance(model, Categories):
            return _delta_at(model, size, _short_decimal(power, -1), allowed, 0.0)
        a, b = sorted(model.prior)[:2]
        more = (size - 1) * power if len(model.cells) == 2 else 0.0
        s, t = np.array([a, b + more, b, a + more]), np.array([b + more, a, a + more, b])
        return float(np.max(posterior_draw_delta(float(allowed), s, t, power)))

    if draws == 1:
        return curve(epsilon)
    return composed_curve(dominating_loss(curve, epsilon, 1e-3 * float(delta) / draws), draws)(epsilon)


def _delta(mechanism: PosteriorSampling, enough: float) -> float:
    return _delta_at(mechanism.model, mechanism.size, mechanism.power, mechanism.epsilon, enough)


def _delta_at(model: Any, size: int, power: Fraction, epsilon: Fraction, enough: float) -> float:
    """Return an upper bound on delta over all neighbours: two cells, the two smallest priors, or a family's pairs."""
    if not isinstance(model, Categories):
        return max(certified_pair_delta(epsilon, *pair) for pair in model.neighbours(size, power))
    smallest, second = sorted(Fraction(value) for value in model.prior)[:2]
    if len(model.cells) == 2:
        return certified_two_cell_delta(epsilon, smallest, second, size, power, enough)
    pairs = ((smallest, second), (second, smallest))
    return max(certified_draw_delta(epsilon, *pair, power) for pair in pairs)


@lru_cache(maxsize=32)
def _single_loss(mechanism: PosteriorSampling) -> PrivacyLoss:
    """Return the loss of one draw, certified and cut where it is negligible beside the stated delta."""
    negligible = float(mechanism.delta) / (1000 * mechanism.draws)
    return dominating_loss(mechanism.delta_at, mechanism.epsilon, negligible)
