"""RateTruncation: draws from the posterior of a family, kept to parameters under which no record can say much.

Of a family with ln p(x | theta) = eta(theta) t(x) + ... one record that is replaced by another changes the log
likelihood by eta(theta) (t(x) - t(y)). If parameters are kept to an interval on which eta takes values from a to b,
that differs between any two of them by at most R = (b - a) D, D the largest difference of t. So draws, with the
likelihood raised to a power tau, are pure tau R-DP, and under the metric |t(x) - t(y)| they lose tau (b - a) for each
unit. This is theorem 2(i) of Dimitrakakis, Nelson, Mitrokotsa and Rubinstein (2014) with the set of parameters that
their assumption 1 asks for; they state twice as much, as they bound the two parts of the loss one by one.

What is charged is less, and exact. Let S be the total of all t. The loss of neighbours S, S + d at theta is

    tau integral_S^(S+d) (eta(theta) - E_u eta) du,    E_u the mean of eta in the truncated posterior given the total u,

which rises with u. So no pair of neighbours loses more than the pair with the least totals at the largest eta, or the
pair with the largest totals at the least eta.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from math import ceil, floor, inf
from typing import ClassVar

import numpy as np
from flint import arb, ctx
from scipy.special import logsumexp

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, ball, exact, exact_text, positive, rounded_down, rounded_up, whole
from discreet._core.fields import Checked, Number, Whole, converted, frozen
from discreet.draws._calibration import MOST_DRAWS, REMEDY, nearest
from discreet.draws._loss import upper_float
from discreet.draws._privacy_curves import short_decimal
from discreet.mathematics.distributions import CertifiedDistribution
from discreet.mechanism import (
    MOST_GRID_BITS,
    Cost,
    Draw,
    DrawnRows,
    GridDistribution,
    MetricMechanism,
    Model,
    OutputSpace,
    coarser,
    grid_points,
)
from discreet.noise.randomness import RandomBits
from discreet.privacy import Guarantee, MetricGuarantee, PrivacyLoss, Tree, last_that_fits, pure_rho
from discreet.programs.families import ReadableFamily

GRID_BITS = 32
_FIELDS = ("model", "size", "epsilon", "lowest", "highest", "power", "draws", "grid_bits")
_OPERATIONS = 5e5  # of the certified mass of one cell
_PRECISION = 192
_DIGITS = 6  # of a stated loss
_STANDS_FOR = "two of its levels stand for the same number"
_LEAST_POWER = 1e-9
_LARGEST = 2 * 10**6  # of a shape, or of all shapes together: series of some ten thousand terms
_HALVINGS = 24  # parts of the interval, halved towards each end, over which its mass is summed for readers


def _model(given: ReadableFamily, _: str) -> ReadableFamily:
    if not isinstance(given, ReadableFamily):
        raise DeclarationError(
            f"RateTruncation draws from the posterior of a family such as PoissonRate; got a {type(given).__name__}."
        )
    return given


@frozen(repr=False)
class RateTruncation(MetricMechanism[ReadableFamily], kind="RateTruncation", version=1):
    """Draws of a family's parameter between `lowest` and `highest`: pure epsilon-DP, and metric privacy.

    `power` is the exponent of the likelihood; `tempered` finds the largest that epsilon allows, and `at_rate` the
    widest interval that needs no tempering.

    >>> from discreet.programs.families import ExponentialRate
    >>> waits = ExponentialRate("wait", high=10, bands=20, shape=2, rate=8, outside="usual")
    >>> RateTruncation(waits, size=50, epsilon=2, lowest="0.01", highest="0.2").guarantee.epsilon
    Fraction(181199, 100000)
    """

    calibrated: ClassVar[tuple[str, ...]] = ("power",)
    calibrated_to: ClassVar[tuple[str, ...]] = ("model", "size", "epsilon", "draws")
    most_tables: ClassVar[int] = 40
    loses_every_distance = False
    model: Checked[ReadableFamily] = converted(_model)
    size: Whole = converted(whole)
    epsilon: Number = converted(positive)
    lowest: Number = converted(exact)
    highest: Number = converted(exact)
    power: Number = converted(positive, default=1)
    draws: Whole = converted(partial(whole, most=MOST_DRAWS), default=1)
    grid_bits: Whole = converted(partial(whole, most=MOST_GRID_BITS), default=GRID_BITS)

    def __post_init__(self) -> None:
        if self.power > 1:
            raise DeclarationError(f"power must be at most 1; got {exact_text(self.power)}.")
        self._check_interval()
        if self.loss > self.epsilon:
            raise DeclarationError(
                f"These draws cost epsilon = {float(self.loss):.9g}, above the stated {exact_text(self.epsilon)}."
                f"{REMEDY}RateTruncation.tempered or .at_rate."
            )

    def _check_interval(self) -> None:
        start, end = self.model.posterior_given_total(Fraction(0), 0).support
        if not (start is None or self.lowest > start) or not (end is None or self.highest < end):
            inside = f"above {start}" if end is None else f"between {start} and {end}"
            raise DeclarationError(f"lowest and highest must lie {inside}, like the parameter of this family.")
        distribution = self._distribution(max(self.model.values) * self.size)
        if max(getattr(distribution, name, None) or 0 for name in ("largest", "shape")) > _LARGEST:
            raise DeclarationError(
                f"The distribution of these draws has parameters above {_LARGEST:,}, and certifying its tails would "
                "take too long. Use fewer records or a smaller power of the likelihood."
            )
        if self.last < self.first:
            raise DeclarationError(
                f"No cell of a grid of {self.grid_bits} bits lies between lowest = {exact_text(self.lowest)} and "
                f"highest = {exact_text(self.highest)}. State a wider interval, or use more grid_bits."
            )

    @classmethod
    def tempered(
        cls,
        model: ReadableFamily,
        *,
        size: int,
        epsilon: Exact,
        lowest: Exact,
        highest: Exact,
        draws: int = 1,
        grid_bits: int = GRID_BITS,
    ) -> "RateTruncation":
        """Return the draws within an interval with the largest power of the likelihood that fits epsilon."""

        def build(power: float, epsilon: Exact = epsilon) -> RateTruncation:
            rounded = short_decimal(power, -1)
            return cls(model, size, epsilon, lowest, highest, rounded, draws, grid_bits)

        def excess(power: float) -> float:
            return float(np.log(float(build(power, 10**9)._bounded_loss) / allowed))

        allowed = _allowed(epsilon)
        return nearest(build, last_that_fits(excess, _LEAST_POWER, 1.0), -1)

    @classmethod
    def at_rate(
        cls, model: ReadableFamily, *, size: int, epsilon: Exact, draws: int = 1, grid_bits: int = GRID_BITS
    ) -> "RateTruncation":
        """Return untempered draws from the widest interval around the prior's median that epsilon allows.

        On it the natural parameter eta takes values `rate` apart; where eta is -theta, it is all up to a rate.
        """
        middle = model.posterior_given_total(Fraction(0), 0).guess(0.5)
        unit = 2.0 ** -whole(grid_bits, "grid_bits", most=MOST_GRID_BITS)

        def build(rate: float, epsilon: Exact = epsilon) -> RateTruncation:
            low, high = model.within_rate(middle, rate, unit)
            return cls(model, size, epsilon, short_decimal(low, 1), short_decimal(high, -1), 1, draws, grid_bits)

        def excess(rate: float) -> float:
            return float(np.log(float(build(rate, 10**9)._bounded_loss) / allowed))

        allowed = _allowed(epsilon)
        span = float(max(model.values) - min(model.values)) * whole(draws, "draws", most=MOST_DRAWS)
        return nearest(build, last_that_fits(excess, allowed / span / 2, 64 * allowed / span), -1)

    def recalibrated(self, **changed: object) -> "RateTruncation":
        """Return the draws of another guarantee, size, model or number, with the power that it allows."""
        facts = {name: changed.get(name, getattr(self, name)) for name in _FIELDS if name != "power"}
        return self.tempered(**facts)  # type: ignore[arg-type]

    @property
    def first(self) -> int:
        """Return the first cell of the grid that lies within the interval."""
        return ceil(self.lowest * (1 << self.grid_bits))

    @property
    def last(self) -> int:
        """Return the last cell of the grid that lies within the interval."""
        return floor(self.highest * (1 << self.grid_bits)) - 1

    @property
    def _ends(self) -> tuple[Fraction, Fraction]:
        """Return where the first cell begins, and where the last one ends."""
        unit = Fraction(1, 1 << self.grid_bits)
        return self.first * unit, (self.last + 1) * unit

    @property
    def space(self) -> OutputSpace:
        """Return the cells of the interval, for each draw."""
        return OutputSpace(self.draws, self._why_impossible)

    @cached_property
    def loss(self) -> Fraction:
        """Return the exact loss of all draws together, rounded up to six digits: see the module."""
        return rounded_up(self._bounded_loss, _DIGITS)

    @cached_property
    def _bounded_loss(self) -> Fraction:
        """Return the loss of all draws together, not yet rounded: it is smooth, so that searches take few steps."""
        values, ends = self.model.values, self._ends
        least, most = min(values) * self.size, max(values) * self.size
        step = max(values) - min(values)
        with ctx.workprec(_PRECISION):
            rising = self.model.natural(ball(ends[1])) > self.model.natural(ball(ends[0]))
            high, low = (ends[1], ends[0]) if rising else ends
            found = max(
                upper_float(self._log_ratio(least + step, least, high)),
                upper_float(self._log_ratio(most - step, most, low)),
                0.0,
            )
        if found == inf:
            raise DeclarationError("The privacy loss of these draws could not be bounded. State a narrower interval.")
        return min(Fraction(found) * self.draws, self.range)

    def _log_ratio(self, total: Fraction, other: Fraction, index: Fraction) -> arb:
        """Return by how much the density given one total exceeds that given another, at a point, both truncated."""
        one, two = (self._distribution(each) for each in (total, other))
        x, masses = (
            ball(index),
            [self._grid(distribution).mass(self.first, self.last + 1).log() for distribution in (one, two)],
        )
        return one.log_density(x) - masses[0] - two.log_density(x) + masses[1]

    def _distribution(self, total: Fraction) -> CertifiedDistribution:
        return self.model.posterior_given_total(total, self.size, self.power)

    def _grid(self, distribution: CertifiedDistribution) -> GridDistribution:
        return GridDistribution(distribution, self.grid_bits, self.first, self.last)

    @cached_property
    def rate(self) -> Fraction:
        """Return tau (b - a) of all draws together, rounded up: the privacy loss for each unit of the metric."""
        with ctx.workprec(_PRECISION):
            low, high = (self.model.natural(ball(end)) for end in self._ends)
            each = Fraction(upper_float(abs(high - low)))
        return rounded_up(self.draws * self.power * each, 9)

    @property
    def range(self) -> Fraction:
        """Return q tau R: the loss of all draws lies in an interval of this length."""
        return self.rate * (max(self.model.values) - min(self.model.values))

    @cached_property
    def _order(self) -> list[int]:
        """Return the levels by what they stand for."""
        return sorted(range(len(self.model.values)), key=lambda index: self.model.values[index])

    @cached_property
    def metric(self) -> Tree:
        """Return the distance between the numbers of levels; refused where two levels represent the same number."""
        values, names = self.model.values, [self.model.cells[index] for index in self._order]
        lengths = [values[two] - values[one] for one, two in pairwise(self._order)]
        return Tree(self.model.column, range(1, len(names)), lengths, names)

    @property
    def epsilon_per_unit(self) -> Fraction:
        """Return the privacy loss for each unit of the numbers that levels represent."""
        return self.rate

    def records_at(self, indices: Sequence[int]) -> Counts:
        """Return what a record at each of these points adds to the counts: one, to its level."""
        return np.asarray(np.eye(len(self._order), dtype=np.int64)[np.asarray(self._order)[np.asarray(indices)]])

    @property
    def reason(self) -> str:
        return f"bounded natural parameter of a truncated posterior, {self.draws} drawn"

    @property
    def guarantee(self) -> Guarantee:
        """Return the exact pure epsilon for any change, and the promise for each unit of the metric."""
        if len(set(self.model.values)) < len(self.model.values):
            words = f"1 of what {self.model.column.name} is counted as ({_STANDS_FOR})"
            return Guarantee(self.loss, reason=self.reason, metric=MetricGuarantee(self.rate, metric=words))
        held = MetricGuarantee(self.rate, metric=self.metric, most=self.loss)
        return Guarantee(self.loss, reason=self.reason, metric=held)

    @property
    def rho(self) -> Fraction:
        """Return q (R/q)^2 / 8, as the loss of each draw lies in an interval of length R/q, or the rho of epsilon."""
        return self.draws * min((self.range / self.draws) ** 2 / 8, pure_rho(self.loss / self.draws))

    def privacy_loss(self) -> PrivacyLoss:
        """Return the loss of randomised response, which dominates every pure epsilon."""
        return PrivacyLoss.worst_case(self.loss)

    def _distributions(self, counts: Counts) -> CertifiedDistribution:
        return self.model.posterior(counts, self.power)

    def sample(self, counts: Counts, bits: RandomBits) -> Counts:
        table = self.model.counts(counts)
        if (table.sum(axis=-1) != self.size).any():
            raise DeclarationError(f"The counts must add up to the public size {self.size}.")
        rows, indices = np.unique(table.reshape(-1, table.shape[-1]), axis=0, return_inverse=True)
        drawn = np.empty((len(indices.ravel()), self.draws), dtype=np.int64)
        for number, row in enumerate(rows):
            same = np.flatnonzero(indices.ravel() == number)
            drawn[same] = (
                self._grid(self._distributions(row)).sample(len(same) * self.draws, bits).reshape(len(same), -1)
            )
        return drawn.reshape(*table.shape[:-1], -1)

    def log_prob(self, output: Counts, counts: Counts) -> Floats:
        """Return log P(output | counts), for rows of either: a sum over draws of the share of a cell."""
        outputs, tables = np.asarray(output), np.asarray(counts)
        shape = np.broadcast_shapes(outputs.shape[:-1], tables.shape[:-1])
        outputs = np.broadcast_to(outputs, (*shape, self.draws)).reshape(-1, self.draws)
        tables = np.broadcast_to(tables, (*shape, tables.shape[-1])).reshape(-1, tables.shape[-1])
        sums = tables @ np.array([float(value) for value in self.model.values])
        totals, indices = np.unique(sums, return_inverse=True)
        cells, drawn = np.unique(outputs, return_inverse=True)
        shares = self._log_shares(cells, totals)
        found = shares[drawn.reshape(outputs.shape), indices.reshape(-1, 1)].sum(axis=1)
        return np.asarray(found.reshape(shape))

    def log_prob_of_totals(self, output: Counts, totals: Floats) -> Floats:
        """Return log P(output | total of the records' values), for several totals."""
        return np.asarray(self._log_shares(np.asarray(output), totals).sum(axis=0))

    def _log_shares(self, cells: Counts, totals: Floats) -> Floats:
        """Return the log of the share that cells (rows) have of the interval's mass, given several totals (columns)."""
        unit, column = 2.0**-self.grid_bits, np.asarray(cells, dtype=float)[:, None]
        shares = self._log_mass(column * unit, (column + 1) * unit, totals) - self._log_masses(totals)
        return np.where((column >= self.first) & (column <= self.last), shares, -inf)

    def _log_mass(self, low: Floats, high: Floats, totals: Floats) -> Floats:
        return self.model.draw_log_mass(totals, self.size, float(self.power), (low, high))

    def _log_masses(self, totals: Floats) -> Floats:
        """Return the log of the interval's mass, summed over parts that are halved towards both ends.

        There the mass of a posterior lies whose own mode is far outside, and may be below all floats.
        """
        low, high = (float(end) for end in self._ends)
        parts = (high - low) * 0.5 ** np.arange(_HALVINGS, 0, -1)
        edges = np.unique([low, *(low + parts), *(high - parts), high])[:, None]
        return np.asarray(logsumexp(self._log_mass(edges[:-1], edges[1:], totals), axis=0))

    def evidence(self, output: Counts) -> Draw:
        return Draw(np.asarray(output), self)

    def drawn_rows(self, output: Counts) -> tuple[DrawnRows, ...]:
        """Return nothing: rows of probabilities are not drawn here."""
        return ()

    def first_draw(self, output: Counts) -> Floats:
        """Return the parameter of the first draw."""
        return (np.asarray(output, dtype=float)[:1] + 0.5) / 2.0**self.grid_bits

    @property
    def likelihood_cost(self) -> Cost:
        """Return about a millisecond for each draw."""
        return Cost(_OPERATIONS * self.draws, self.draws)

    def outputs_for(self, counts: Counts, most: int) -> Counts | None:
        """Return all cells of the interval, for each draw; None if more than `most`."""
        return grid_points([(self.first, self.last)] * self.draws, most)

    def small_instance_fields(self, model: Model) -> Iterator[Mapping[str, object]]:
        """Yield what a small instance may have instead: a coarser grid."""
        return coarser(self.grid_bits, self.draws)

    def _why_impossible(self, output: Counts) -> str | None:
        outside = (output < self.first).any() or (output > self.last).any()
        return "The output holds parameters outside the declared interval." if outside else None


def _allowed(epsilon: Exact) -> float:
    """Return the largest loss below epsilon that has as few digits as a stated one."""
    return float(rounded_down(positive(epsilon, "epsilon") * (1 - Fraction(1, 10**12)), _DIGITS))
