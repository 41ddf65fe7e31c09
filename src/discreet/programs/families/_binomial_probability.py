"""Successes among tries: binomial records with a Beta prior on the chance of success.

With theta ~ Beta(alpha, beta) and x_i successes among `trials` tries of each record the posterior, its likelihood
raised to `power`, is Beta(alpha + power sum x, beta + power (trials n - sum x)). Replacing a record moves at most
`trials` tries from one side to the other, so a draw is as private as one of two cells, of which one record moves
`trials` counts. This is the family of lemma 5 of Dimitrakakis, Nelson, Mitrokotsa and Rubinstein (2014).
"""

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property, partial
from typing import ClassVar

import numpy as np
from flint import arb
from numpy.typing import ArrayLike
from scipy.special import expit, gammaln, logit, xlog1py, xlogy

from discreet._core.arrays import Floats
from discreet._core.exact import positive, whole
from discreet._core.fields import Converted, Number, Whole, computed, converted, frozen
from discreet.mathematics.distributions import CertifiedBeta, beta_log_mass
from discreet.programs.families._readable_family import ReadableFamily, home_of
from discreet.records import Column

MOST_TRIALS = 100_000


@frozen()
class BinomialProbability(ReadableFamily, kind="Binomial"):
    """The probability of success, from a column with the number of successes in `trials` trials for each record.

    Missing values, and those that are not whole numbers from 0 to `trials`, count as the level `outside`, which must
    be declared, as every record counts.

    >>> BinomialProbability("caught", trials=3, alpha=2, beta=2, outside=0).posterior((1, 0, 0, 2))
    CertifiedBeta(a=Fraction(8, 1), b=Fraction(5, 1))
    """

    strength: ClassVar[tuple[str, ...]] = ("alpha", "beta")
    name: str
    trials: Whole = converted(partial(whole, most=MOST_TRIALS))
    alpha: Number = converted(positive, default=1)
    beta: Number = converted(positive, default=1)
    outside: Converted[int | None, int] = computed(
        lambda made, given: home_of(given, made.trials, made.name), default=None
    )

    def __post_init__(self) -> None:
        self.column  # noqa: B018 - refuses a name that is none

    @cached_property
    def column(self) -> Column:
        """Return the column with the levels 0..trials."""
        return Column(self.name, tuple(range(self.trials + 1)), self.outside)

    @cached_property
    def values(self) -> tuple[Fraction, ...]:
        """Return what each level stands for: itself."""
        return tuple(Fraction(number) for number in range(self.trials + 1))

    def even_parameters(self) -> Floats:
        return np.full(1, 0.5)

    def tries(self) -> tuple[Fraction, Fraction, int]:
        return self.alpha, self.beta, self.trials

    def posterior_given_total(self, total: Fraction, size: int, power: Fraction = Fraction(1)) -> CertifiedBeta:
        """Return Beta(alpha + power total, beta + power (trials n - total))."""
        failed, most = size * self.trials - total, self.alpha + self.beta + power * size * self.trials
        return CertifiedBeta(self.alpha + power * total, self.beta + power * failed, most)

    def draw_log_mass(self, totals: Floats, size: int, power: float, cell: tuple[ArrayLike, ArrayLike]) -> Floats:
        failed = size * self.trials - totals
        return beta_log_mass(float(self.alpha) + power * totals, float(self.beta) + power * failed, *cell)

    def natural(self, parameter: arb) -> arb:
        """Return ln(theta / (1 - theta)), which multiplies what a record stands for."""
        return parameter.log() - (-parameter).log1p()

    def within_rate(self, middle: float, rate: float, unit: float) -> tuple[float, float]:
        """Return the chances whose logit is rate / 2 below and above that of the middle."""
        centre = float(logit(middle))
        return float(expit(centre - rate / 2)), float(expit(centre + rate / 2))

    def level_probabilities(self, parameters: Floats) -> Floats:
        """Return C(trials, x) theta^x (1 - theta)^(trials - x) for x = 0..trials."""
        chances, counts = np.asarray(parameters, dtype=float)[:, None], np.arange(self.trials + 1)
        ways = gammaln(self.trials + 1) - gammaln(counts + 1) - gammaln(self.trials - counts + 1)
        return np.asarray(np.exp(ways + xlogy(counts, chances) + xlog1py(self.trials - counts, -chances)))

    def neighbours(self, size: int, power: Fraction) -> Iterable[tuple[CertifiedBeta, CertifiedBeta]]:
        """Return the pair of one record among none, which dominates all others: more records only blur.

        A smaller step lies between the two. Draws use `tries` instead, by which all totals of the other records are
        compared; this pair is what holds whatever their number.
        """
        step = power * self.trials
        yield CertifiedBeta(self.alpha, self.beta + step), CertifiedBeta(self.alpha + step, self.beta)
