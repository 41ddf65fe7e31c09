"""BallMoments and GaussianBallMoments: moments of weighted records, in units that are learnt first.

Both are sequences of steps: what each step may cost is fixed in advance, and in which units it measures follows from
what the steps before it published. All of it is charged before the first draw.

A record is v = (x, y, 1), whole numbers a over M. A step with a public map T and a squared radius R^2 makes t = T v of
each record, shrinks it to t sqrt(rho), rho = min(1, R^2 / |t|^2), so that |t| <= R, and publishes

    S = sum tt' + noise,    all D = m(m+1)/2 entries, in units of R^2 / M^2.

t M / R is rounded towards zero to whole numbers b, with |b| <= M checked in whole numbers as the last thing. So bb'
lies in M^2 E, E = {A positive semidefinite, tr A <= 1}, to the last digit, whatever floats did before; b = 0 of a
record that is left out does too. E is no larger than the hull of all bb' (`noise.trace_body`), and noise in its shape
hides one record.

With d the deviation of noise off the diagonal for R = 1, and n records, T and R^2 follow from the S before:

    T = I, R^2 = m                                       at first: |v_i| <= 1, so nothing is shrunk
    c = max(1, sqrt(n) / (m d))                          how far this step reaches, in mean squared lengths
    S <- S / k(c),  k(c) = E min(chi2_m, c m) / m        undoes the shrinking of normal records; not in the first step
    lam = min(1, f 2 sqrt(m) R^2 d / n)                  a part f of the edge of the spectrum of noise
    S / n = Q diag(v) Q',  w = max(v, lam)               T <- diag(w)^(-1/2) in the axes Q, times T
    R^2 = c tr,  tr = max(1.5, sum max(v, 0) / w)        tr estimates E|t|^2 in the new units; c of the next step

lam above 1 would shrink all records into the noise of a step that learnt nothing. The last step has c = max(2,
sqrt(n) / (m d)) or the declared `cutoff`: noise in a coefficient is then no larger than its error of sampling if n
allows that.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammainc, gammaincc

from discreet._core.arrays import Counts, Floats, NumbersT
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact, positive, whole
from discreet._core.fields import Checked, Number, OptionalNumber, Whole, computed, converted, frozen, optional
from discreet.mechanism import (
    Measurement,
    OutputSpace,
    ProofAssumption,
    Sized,
    Trial,
    TrialPart,
    accepted,
    noise_epsilon,
    with_fields,
)
from discreet.noise import Cone, Noise, RoundedGaussian, TraceBody
from discreet.noise.randomness import RandomBits
from discreet.privacy import SLACK, Guarantee, PrivacyLoss, concentrated_loss, pure_rho, zcdp_limit
from discreet.regression._mechanisms import check_rate
from discreet.regression._model import Regression
from discreet.regression._moments import Moments, RegressionQuantities
from discreet.regression._weighted_model import WeightedRegression
from discreet.tables import gaussian_delta

MOST_ROUNDS = 8
MOST_NUMBERS = 2**27
"""The most whole numbers of all records that are held for the several passes of one publication (1 GiB)."""
_STEPS = 2.0**24  # to one: the grid on which T and R^2 are published
_NARROWEST = 2.0**-16  # the least eigenvalue that a step can tell: no column is stretched more than 2^8 times in it
_BLOCK = 2**15  # records that are multiplied together, so that floats hold all sums exactly
_TOLERANCE = 1e-5  # by which T that is computed again may differ, on another machine, relative to its largest number
_FARTHEST = 10**6  # mean radii of noise beyond which outputs are not read
_TRIED = 64  # records in the trial that `verify` makes: noise does not depend on how many there are


@dataclass(frozen=True, eq=False)
class WeightedMoments(RegressionQuantities):
    """sum bb' over all records, in the units of a map T and a squared radius R^2: the lower triangle, row by row."""

    model: WeightedRegression
    transform: Floats
    squared_radius: float

    @property
    def blocks(self) -> tuple[int, ...]:
        return (len(self._triangle[0]),)

    @cached_property
    def _triangle(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        rows, columns = np.tril_indices(self.model.coordinates)
        return rows, columns

    def wholes(self, rows: Floats) -> Floats:
        """Return b of every record, whole numbers with |b| <= M, by looking at that record alone."""
        grid = float(self.model.grid)
        found = rows @ (self.transform.T / sqrt(self.squared_radius))
        lengths = np.sqrt(np.square(found).sum(axis=-1, keepdims=True))
        found = np.trunc(found * np.minimum(1.0, grid / np.maximum(lengths, 1e-300)))
        found = np.where(self._is_within(found), found, found - np.sign(found))  # where rounding of floats went too far
        return np.where(self._is_within(found), found, 0.0)

    def _is_within(self, found: Floats) -> NDArray[np.bool_]:
        """Tell where sum b_i^2 <= M^2, in whole numbers, which floats hold exactly."""
        return np.asarray(np.square(found).sum(axis=-1, keepdims=True) <= float(self.model.grid) ** 2)

    def apply(self, counts: NumbersT) -> NumbersT:
        """Return the sums for one or many sets of records; blocks of fixed length, so time depends on n alone."""
        every = np.asarray(counts)
        sets = every.reshape(-1, every.shape[-1] // self.model.coordinates, self.model.coordinates)
        found = np.array([self._summed(rows.astype(np.float64)) for rows in sets])
        return np.asarray(found.reshape(*every.shape[:-1], self.length))

    def _summed(self, rows: Floats) -> Counts:
        total = np.zeros((self.model.coordinates, self.model.coordinates), dtype=np.int64)
        for start in range(0, len(rows), _BLOCK):
            block = self.wholes(rows[start : start + _BLOCK])
            total += (block.T @ block).astype(np.int64)
        return total[self._triangle]

    def transpose(self, values: NumbersT) -> NumbersT:
        """Refuse: weights are no linear map of the records."""
        raise DeclarationError("Weighted moments are not linear in the records: their slope by a record is not used.")

    def changes(self) -> None:
        """Return None: what one record can do are all differences of two matrices of a body, too many to list."""

    @property
    def per_record(self) -> int:
        return self.model.grid**2

    def products(self, values: NDArray[np.generic]) -> Floats:
        """Return S = sum tt' as matrices, from rows of numbers."""
        m = self.model.coordinates
        entries = np.asarray(values, dtype=float) * (self.squared_radius / self.per_record)
        found = np.empty((*entries.shape[:-1], m, m))
        rows, columns = self._triangle
        found[..., rows, columns] = entries
        found[..., columns, rows] = entries
        return found

    def moments(self, values: NDArray[np.generic], size: int) -> Moments:
        """Return the moments of weighted records: sum rho vv' = T^-1 S T'^-1."""
        inverse = np.linalg.inv(self.transform)
        return self.model.moments_of_products(inverse @ self.products(values) @ inverse.T)

    @cached_property
    def weights_of(self) -> Floats:
        """Return what S is multiplied by, entry by entry, to give the sum of all weights: sum rho 1^2."""
        last = np.linalg.inv(self.transform)[-1]
        return np.outer(last, last)

    def weight(self, values: NDArray[np.generic]) -> Floats:
        """Return the sum of all weights, from rows of numbers."""
        return np.asarray((self.products(values) * self.weights_of).sum(axis=(-2, -1)))

    def after(self, values: Counts, size: int, lam: float, undone: float, cut: float) -> "WeightedMoments":
        """Return the moments in the units that follow from what was published in these."""
        values_, axes = np.linalg.eigh(self.products(values) / (undone * size))
        widths = np.minimum(np.maximum(values_, max(lam, _NARROWEST)), self.squared_radius)
        length = max(1.5, float((np.maximum(values_, 0.0) / widths).sum()))
        turned = (axes / np.sqrt(widths)) @ axes.T @ self.transform
        return replace(self, transform=turned, squared_radius=cut * length)

    @property
    def published(self) -> Counts:
        """Return T and R^2 as whole numbers of 2^-24."""
        return np.rint(np.append(self.transform.ravel(), self.squared_radius) * _STEPS).astype(np.int64)

    def on_the_grid(self, numbers: Counts) -> "WeightedMoments":
        """Return the moments in published units."""
        m = self.model.coordinates
        found = np.asarray(numbers, dtype=float) / _STEPS
        return replace(self, transform=found[:-1].reshape(m, m), squared_radius=float(found[-1]))


def kept_by_normal(cut: float, coordinates: int) -> float:
    """Return k(c) = E min(chi2_m, c m) / m: what is left of the squared lengths of normal records.

    >>> round(kept_by_normal(1, 5), 6), round(kept_by_normal(2, 10), 6)
    (0.755917, 0.991419)
    """
    top = cut * coordinates
    return float(gammainc(coordinates / 2 + 1, top / 2) + cut * gammaincc(coordinates / 2, top / 2))


LEAST_LEARNT = 23
"""How many times m^2 records times epsilon must be for the first round to tell more than noise."""


def why_unweighted(model: Regression, size: int, epsilon: Exact) -> str | None:
    """Return why moments in declared units suit a regression better than learnt units; None if they do not.

    Records, coordinates and epsilon decide, which are public: never data.

    >>> line = WeightedRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)})
    >>> why_unweighted(line, size=1000, epsilon=1)
    >>> why_unweighted(line, size=100, epsilon=1)
    'units of 3 numbers are learnt well only from more than 207 records x epsilon; here it is 100'
    """
    m, known = model.coordinates, size * exact(epsilon, "epsilon")
    if size * m > MOST_NUMBERS:
        return f"rounds would hold {size * m:,} numbers of all records, more than {MOST_NUMBERS:,}"
    if known <= LEAST_LEARNT * m**2:
        return (
            f"units of {m} numbers are learnt well only from more than {LEAST_LEARNT * m**2:,} records x epsilon; "
            f"here it is {float(known):,.4g}"
        )
    return None


class LearntMoments(Sized[WeightedRegression]):
    """Rounds that learn units for the moments, then a step that is read."""

    epsilon: Fraction
    rounds: int
    cutoff: Fraction | None
    part_of_edge: ClassVar[float]
    """The part f of the edge of the spectrum of noise below which an eigenvalue is not trusted."""

    def __post_init__(self) -> None:
        m = self.model.coordinates
        if self.size <= self.model.dimension:
            raise DeclarationError(
                f"{type(self).__name__} needs more records than the model has coefficients ({self.model.dimension}); "
                f"got {self.size}."
            )
        if self.size * m > MOST_NUMBERS:
            raise DeclarationError(
                f"{type(self).__name__} holds {m} numbers of every record while it publishes, and {self.size:,} "
                f"records would be more than {MOST_NUMBERS:,} numbers. Nothing was charged. Use ConeMoments with a "
                "LinearRegression, which needs one pass."
            )
        check_rate(Fraction(1, 1 + int(max(float(noise.decay_length.max()) for noise in self.noises))))

    @property
    @abstractmethod
    def noises(self) -> tuple[Noise, ...]:
        """Return the noise of every step, the last of which is read."""

    @property
    @abstractmethod
    def deviations(self) -> tuple[float, ...]:
        """Return d of every step: the standard deviation of noise off the diagonal for R = 1."""

    @abstractmethod
    def trial_parts(self) -> tuple[TrialPart, ...]:
        """Return the noise of every step, where it stands, and what it costs."""

    @property
    def length(self) -> int:
        """Return D, how many numbers a step publishes."""
        m = self.model.coordinates
        return m * (m + 1) // 2

    def entries(self) -> tuple[tuple[int, int], ...]:
        """Return the entries of the lower triangle, in the order in which they are published."""
        return tuple((i, j) for i in range(self.model.coordinates) for j in range(i + 1))

    @cached_property
    def cuts(self) -> tuple[float, ...]:
        """Return c of every step after the first."""
        found = [sqrt(self.size) / (self.model.coordinates * deviation) for deviation in self.deviations]
        last = max(2.0, found[-1]) if self.cutoff is None else float(self.cutoff)
        return (*(max(1.0, each) for each in found[1:-1]), last)

    @cached_property
    def first_units(self) -> WeightedMoments:
        """Return the moments as the first step measures them: nobody is shrunk."""
        m = self.model.coordinates
        return WeightedMoments(self.model, np.eye(m), float(m))

    def units_after(self, units: WeightedMoments, step: int, values: Counts) -> WeightedMoments:
        """Return the units of the next step from what a step published."""
        m, deviation = self.model.coordinates, self.deviations[step]
        lam = min(1.0, self.part_of_edge * 2 * sqrt(m) * units.squared_radius * deviation / self.size)
        undone = kept_by_normal(self.cuts[step - 1], m) if step else 1.0
        found = units.after(values, self.size, lam, undone, self.cuts[step])
        return found.on_the_grid(found.published) if step == self.rounds - 1 else found

    def checked(self, counts: ArrayLike) -> Counts:
        """Return simulated records as rows of whole numbers, or refuse what cannot be those of `size` records."""
        return self.model.rows_of(counts, self.size)

    def sample(self, counts: Counts, bits: RandomBits) -> Counts:
        """Draw all steps for each set of simulated records; secret ones must go through `publish`."""
        sets = self.checked(counts)
        flat = sets.reshape(-1, self.size * self.model.coordinates)
        drawn = [self._drawn(rows, bits) for rows in flat]
        return np.array(drawn, dtype=np.int64).reshape(*sets.shape[:-2], -1)

    def _drawn(self, rows: Counts, bits: RandomBits) -> Counts:
        units, found = self.first_units, []
        for step, noise in enumerate(self.noises):
            found.append(units.apply(rows) + noise.sample(1, bits).ravel())
            if step < self.rounds:
                units = self.units_after(units, step, found[-1])
        return np.concatenate([*found, units.published])

    def _split(self, output: Counts) -> tuple[list[Counts], Counts]:
        """Return what every step published, and T and R^2 of the last one."""
        *steps, units = np.split(np.asarray(output), np.arange(1, self.rounds + 2) * self.length, axis=-1)
        return steps, units

    def units_of(self, output: Counts) -> list[WeightedMoments]:
        """Return the units of every step of an output; those of the last step are the published ones."""
        steps, published = self._split(output)
        found = [self.first_units]
        for step in range(self.rounds):
            found.append(self.units_after(found[-1], step, steps[step]))
        return [*found[:-1], self.first_units.on_the_grid(published)]

    def measured(self, counts: Counts) -> Counts:
        """Return what would be published without any noise."""
        sets = self.checked(counts)
        flat, found = sets.reshape(-1, self.size * self.model.coordinates), []
        for rows in flat:
            units, steps = self.first_units, []
            for step in range(self.rounds + 1):
                steps.append(units.apply(rows))
                if step < self.rounds:
                    units = self.units_after(units, step, steps[-1])
            found.append(np.concatenate([*steps, units.published]))
        return np.array(found, dtype=np.int64).reshape(*sets.shape[:-2], -1)

    def log_prob(self, output: Counts, counts: Counts) -> Floats:
        """Return log P(output | records), where the noise of every step has a density."""
        found, sets = np.asarray(output), self.checked(counts)
        shape = np.broadcast_shapes(found.shape[:-1], sets.shape[:-2])
        outputs = np.broadcast_to(found, (*shape, found.shape[-1])).reshape(-1, found.shape[-1])
        records = np.broadcast_to(sets, (*shape, *sets.shape[-2:])).reshape(len(outputs), -1)
        logs = [self._log_prob(each, rows) for each, rows in zip(outputs, records, strict=True)]
        return np.array(logs).reshape(shape)

    def _log_prob(self, output: Counts, rows: Counts) -> float:
        steps, _ = self._split(output)
        parts = zip(steps, self.units_of(output), self.noises, strict=True)
        return float(sum(noise.log_prob(values - units.apply(rows)) for values, units, noise in parts))

    def log_prob_of_counts(self, output: Counts, counts: Counts) -> Floats:
        """Return log P(what the last step published | its units, records): what is read, where noise has a density."""
        (last,) = self.evidence(output)
        return np.asarray(last.log_likelihood(self.checked(counts).reshape(*np.shape(counts))))

    def evidence(self, output: Counts) -> tuple[Measurement, ...]:
        """Return the last step alone: those before it have other weights, and said in which units to measure."""
        given = np.asarray(output)
        if len(given) != self.space.length:  # not drawn
            return (Measurement(self.first_units, np.zeros(self.length, dtype=np.int64), self.noises[-1]),)
        steps, published = self._split(given)
        return (Measurement(self.first_units.on_the_grid(published), steps[-1], self.noises[-1]),)

    @property
    def space(self) -> OutputSpace:
        """Return D numbers for each step, then T and R^2 of the last one, which must follow from the others."""
        length = (self.rounds + 1) * self.length + self.model.coordinates**2 + 1
        return OutputSpace(length, self._why_impossible)

    def _why_impossible(self, output: Counts) -> str | None:
        steps, published = self._split(output)
        possible = self.size * self.model.grid**2
        for values, noise in zip(steps, self.noises, strict=True):
            most = (possible + _FARTHEST * (1 + noise.decay_length)).tolist()
            if any(abs(int(value)) > limit for value, limit in zip(values, most, strict=True)):
                return "The output holds numbers too large to be read."
        units = self.first_units
        for step in range(self.rounds):
            units = self.units_after(units, step, steps[step])
        expected = units.published.astype(float)
        room = 64 + _TOLERANCE * float(np.abs(expected).max())
        if np.abs(published.astype(float) - expected).max() > room:
            return "The published units of the moments do not follow from the steps before them."
        return None

    def proof_assumption(self) -> ProofAssumption:
        """Return that every record lies in the body, in the first units and in such as may be learnt."""
        m, square = self.model.coordinates, self.model.grid**2
        body, rows = TraceBody(m), self.model.contributions(16)[0]
        generator = np.random.default_rng(m)
        learnt = [generator.standard_normal((m, m)) * 2.0 ** generator.integers(-4, 9, (m, 1)) for _ in range(8)]
        every = [self.first_units, *(replace(self.first_units, transform=each) for each in learnt)]
        probes = np.concatenate([[units.apply(row) for row in rows] for units in every])

        def holds(row: Counts) -> bool:
            matrix = [[0] * m for _ in range(m)]
            for (i, j), value in zip(self.entries(), row.tolist(), strict=True):
                matrix[i][j] = matrix[j][i] = value
            return body.holds(matrix, square)

        text = "lies in the body of the noise, in the first units and in others: positive semidefinite, trace at most 1"
        tried = with_fields(self, size=min(self.size, max(_TRIED, self.model.dimension + 1)))
        empty = np.zeros(tried.size * m, dtype=np.int64)  # records that are left out: their sums are 0 in any units
        return ProofAssumption(text, probes, holds, Trial(tried, empty, tried.trial_parts()))


@frozen(repr=False)
class BallMoments(LearntMoments, kind="BallMoments"):
    """Moments of weighted records in learnt units, with noise shaped like one record's products: pure epsilon-DP.

    In each step z = sum bb' + round(M^2 R (A - B)), R ~ Gamma(2 D + 1, rate e), A and B uniform in E: by the cone
    theorem (`noise.cone`) a step is pure e-differential privacy under replacement of one record, for every history,
    because every bb' lies in M^2 E in any units. The shares of the steps add up to epsilon: half for the rounds,
    alike, and half for the last step.

    >>> model = WeightedRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)})
    >>> BallMoments(model, size=1000, epsilon="0.5").guarantee.epsilon
    Fraction(1, 2)
    """

    model: Checked[WeightedRegression] = computed(
        accepted(WeightedRegression, "publishes the weighted moments of a WeightedRegression; got a")
    )
    size: Whole = converted(whole)
    epsilon: Number = converted(noise_epsilon)
    rounds: Whole = converted(lambda value, name: whole(value, name, 0, MOST_ROUNDS), default=4)
    cutoff: OptionalNumber = converted(optional(positive), default=None)

    part_of_edge: ClassVar[float] = 0.1

    @cached_property
    def shares(self) -> tuple[Fraction, ...]:
        """Return the parts of epsilon, step by step."""
        if not self.rounds:
            return (Fraction(1),)
        return (*[Fraction(1, 2 * self.rounds)] * self.rounds, Fraction(1, 2))

    @cached_property
    def noises(self) -> tuple[Cone, ...]:
        body, square = TraceBody(self.model.coordinates), Fraction(self.model.grid**2)
        terms = tuple(((i, j, square),) for i, j in self.entries())
        return tuple(Cone(share * self.epsilon, body, terms) for share in self.shares)

    @cached_property
    def deviations(self) -> tuple[float, ...]:
        """Return sqrt(2 E R^2 Var A_21) of every step."""
        body, square = TraceBody(self.model.coordinates), float(self.noises[0].shape * (self.noises[0].shape + 1))
        spread = sqrt(2 * square * float(body.variance([((1, 0, Fraction(1)),)])[0]))
        return tuple(spread / float(noise.epsilon) for noise in self.noises)

    def trial_parts(self) -> tuple[TrialPart, ...]:
        step = self.length
        return tuple(
            TrialPart(slice(index * step, (index + 1) * step), noise, epsilon=noise.epsilon)
            for index, noise in enumerate(self.noises)
        )

    @property
    def guarantee(self) -> Guarantee:
        """Return epsilon, the sum of all steps."""
        why = f"{len(self.noises)} steps fixed in advance, each with cone noise in the shape of one record's products"
        return Guarantee(self.epsilon, reason=f"{why} (basic composition)")

    def privacy_loss(self) -> PrivacyLoss:
        """Return the loss of randomised response, which dominates every pure epsilon."""
        return PrivacyLoss.worst_case(self.epsilon)

    @property
    def rho(self) -> Fraction:
        """Return the sum of the steps' zCDP parameters, e tanh(e / 2) each."""
        return sum((pure_rho(noise.epsilon) for noise in self.noises), Fraction(0))


@frozen(repr=False)
class GaussianBallMoments(LearntMoments, kind="GaussianBallMoments"):
    """Moments of weighted records in learnt units, with Gaussian noise: (epsilon, delta)-DP and zCDP.

    For records b and c of a step, |b|, |c| <= M in any units,

        |bb' - cc'|_F^2 = |b|^4 + |c|^4 - 2 (b'c)^2 <= 2 M^4,

    so noise of variance M^4 / rho on the diagonal and M^4 / (2 rho) off it, where each entry is published once, makes a
    step rho-zCDP for every history. The steps add up to the largest rho that gives (epsilon, delta): two fifths for the
    rounds, alike, and three for the last step. What is published is rounded afterwards.

    >>> model = WeightedRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)})
    >>> round(float(GaussianBallMoments(model, size=1000, epsilon=1, delta="1e-6").rho), 8)
    0.02435597
    """

    model: Checked[WeightedRegression] = computed(
        accepted(WeightedRegression, "publishes the weighted moments of a WeightedRegression; got a")
    )
    size: Whole = converted(whole)
    epsilon: Number = converted(noise_epsilon)
    delta: Number = converted(lambda value, name: gaussian_delta(value))
    rounds: Whole = converted(lambda value, name: whole(value, name, 0, MOST_ROUNDS), default=4)
    cutoff: OptionalNumber = converted(optional(positive), default=None)

    part_of_edge: ClassVar[float] = 0.25

    @cached_property
    def rhos(self) -> tuple[Fraction, ...]:
        """Return the zCDP parameter of every step; a little of delta is left for rounding where it is read."""
        whole_rho = zcdp_limit(self.epsilon, self.delta * SLACK)
        if not self.rounds:
            return (whole_rho,)
        return (*[whole_rho * Fraction(2, 5 * self.rounds)] * self.rounds, whole_rho * Fraction(3, 5))

    @cached_property
    def noises(self) -> tuple[RoundedGaussian, ...]:
        most = Fraction(self.model.grid**4)
        per_entry = [1 if i == j else 2 for i, j in self.entries()]
        alone = (1,) * self.length
        return tuple(RoundedGaussian(tuple(most / (rho * count) for count in per_entry), alone) for rho in self.rhos)

    @cached_property
    def deviations(self) -> tuple[float, ...]:
        """Return 1 / sqrt(2 rho) of every step."""
        return tuple(1 / sqrt(2 * float(rho)) for rho in self.rhos)

    def trial_parts(self) -> tuple[TrialPart, ...]:
        step = self.length
        return tuple(
            TrialPart(slice(index * step, (index + 1) * step), noise, rho=self.model.grid**4 / noise.variances[0])
            for index, noise in enumerate(self.noises)
        )

    @property
    def guarantee(self) -> Guarantee:
        """Return (epsilon, delta), as stated."""
        why = f"{len(self.noises)} steps fixed in advance, each with Gaussian noise on products of bounded length"
        return Guarantee(self.epsilon, self.delta, reason=f"{why} (zCDP: rhos added)")

    def privacy_loss(self) -> PrivacyLoss:
        """Return the loss that the sum of the zCDP parameters allows: losses of adaptive steps are not convolved."""
        return concentrated_loss(self.rho, self.epsilon)

    @property
    def rho(self) -> Fraction:
        """Return the sum of the steps' zCDP parameters."""
        return sum(self.rhos, Fraction(0))
