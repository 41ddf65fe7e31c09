"""TotalVariationChoice: a posterior of two levels, chosen by its total variation distance from the true one.

P(r | k) ~ e^(-scale TV(k, r)). The total variation is a metric and at most 1, so it carries the exponential mechanism
as the Hellinger distance does: max_r |TV(x, r) - TV(y, r)| = TV(x, y), and between neighbours

    TV = D(s, t; 0) = I_x(s, t + 1) - I_x(s + 1, t),   x = s / (s + t),

the privacy curve of a posterior draw at epsilon 0 (`draws._loss`), s and t the parameters without the
record that moves. Beta(a, b) and Beta(a + d, b - d) have densities of the ratio (theta / (1 - theta))^d times a
constant, which cross once, at logit x = ln(B(a + d, b - d) / B(a, b)) / d, so TV = I_x(a, b) - I_x(a + d, b - d). Of
three or more levels densities cross along a surface and no such sum is known: there it is not offered.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np
from flint import arb
from scipy.special import betainc, betaln, expit, logsumexp

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, ball, exact_text, positive, rounded_down, rounded_up, whole
from discreet.choices._choice_scale import ScoreChanges
from discreet.draws import posterior_draw_delta
from discreet.mechanism import Choice, Cost, Model, OutputSpace, Sized
from discreet.noise.randomness import FiniteDistribution, RandomBits
from discreet.privacy import Evidence, Guarantee, PrivacyLoss, pure_rho
from discreet.tables import Categories

MOST_RECORDS = 1_000
_ERROR = 1e-11  # of a distance in floats; tested against balls
_MARGIN = 1 + 1e-9  # of the sensitivity, which is known to eleven digits
_LEAST_EPSILON, _MOST_EPSILON = Fraction(1, 10**6), Fraction(10**3)


@dataclass(frozen=True, init=False, repr=False)
class TotalVariationChoice(Sized[Categories], kind="TotalVariationChoice"):
    """Choose a posterior of `size` records in two levels, near the true one in total variation: pure epsilon-DP.

    The scale is public. If it is left out, it is the largest that keeps epsilon over all neighbours.

    >>> coin = Categories("coin", levels=("heads", "tails"), outside="heads")
    >>> float(TotalVariationChoice(coin, size=10, epsilon=1).scale)
    2.13481
    """

    calibrated: ClassVar[tuple[str, ...]] = ("scale",)
    calibrated_to: ClassVar[tuple[str, ...]] = ("model", "size", "epsilon")
    model: Categories
    size: int
    epsilon: Fraction
    scale: Fraction

    def __init__(self, model: Categories, size: int, epsilon: Exact, scale: Exact | None = None) -> None:
        if not isinstance(model, Categories) or len(model.cells) != 2:
            raise DeclarationError(
                "TotalVariationChoice works for Categories with two levels: with more, the total variation distance "
                "of two posteriors has no closed form. Use HellingerGlobal, or noisy counts."
            )
        number = positive(epsilon, "epsilon")
        if not _LEAST_EPSILON <= number <= _MOST_EPSILON:
            raise DeclarationError(f"epsilon must lie between 1e-6 and 1000; got {exact_text(number)}.")
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "size", whole(size, "size", most=MOST_RECORDS))
        object.__setattr__(self, "epsilon", number)
        found = self._changes.largest_scale(number, self.proved_scale) if scale is None else positive(scale, "scale")
        object.__setattr__(self, "scale", found)
        if found > self.proved_scale and self._changes.epsilon(float(found)) > number:
            raise DeclarationError(
                f"A scale of {exact_text(found)} does not give epsilon = {exact_text(number)}. Leave the scale out to "
                "have the largest sufficient one chosen."
            )

    @classmethod
    def candidate_mechanisms(cls, model: Model, size: int, epsilon: Fraction, delta: Fraction) -> Iterator[Sized]:
        """Yield nothing: `HellingerGlobal` represents choices by a distance in rankings, and is slightly better."""
        return iter(())

    @property
    def _changes(self) -> ScoreChanges:
        return _score_changes(*self.model.concentration.tolist(), self.size)

    @property
    def sensitivity(self) -> float:
        """Return the largest total variation between neighbours, rounded up: over all n pairs."""
        first, second = self.model.concentration.tolist()
        moved = np.arange(self.size)
        return float(np.max(posterior_draw_delta(0.0, first + moved, second + self.size - 1 - moved))) * _MARGIN

    @property
    def proved_scale(self) -> Fraction:
        """Return epsilon / (2 GS): score and normaliser each cost a half."""
        return rounded_down(self.epsilon / (2 * Fraction(self.sensitivity)), 6)

    @property
    def guarantee(self) -> Guarantee:
        """Return pure epsilon, by comparing all neighbours."""
        reason = f"all neighbours of {self.size} records compared on all {self.size + 1} candidates"
        return Guarantee(self.epsilon, evidence=Evidence.ENUMERATED, reason=reason)

    @property
    def rho(self) -> Fraction:
        """Return (scale w)^2 / 8, as log ratios lie in an interval of length scale w, or the rho of epsilon."""
        width = self.scale * Fraction(self._changes.range)
        return min(rounded_up(width**2 / 8, 9), pure_rho(self.epsilon))

    def privacy_loss(self) -> PrivacyLoss:
        return PrivacyLoss.worst_case(self.epsilon)

    @property
    def space(self) -> OutputSpace:
        """Return the counts of both levels."""
        return OutputSpace(2, self._why_impossible, "counts")

    def listed_candidates(self) -> Counts:
        """Return all tables of the size."""
        first = np.arange(self.size + 1)
        return np.stack([first, self.size - first], axis=1)

    def outputs_for(self, counts: Counts, most: int) -> Counts | None:
        """Return all candidates, or None if there are more than `most`."""
        return self.listed_candidates() if self.size < most else None

    def evidence(self, output: Counts) -> Choice:
        return Choice(np.asarray(output), self)

    @property
    def likelihood_cost(self) -> Cost:
        """Return the cost of one entry in a table of all distributions."""
        return Cost(30.0 * (self.size + 1))

    @cached_property
    def _log_prob_table(self) -> Floats:
        logs = float(self.scale) * self._changes.scores
        return np.asarray(logs - logsumexp(logs, axis=1, keepdims=True))

    def log_prob(self, output: Counts, counts: Counts) -> Floats:
        """Return log P(output | counts), for rows of either; -inf for an output that is not a candidate."""
        outputs, tables = np.broadcast_arrays(np.asarray(output), np.asarray(counts))
        possible = (outputs >= 0).all(axis=-1) & (outputs.sum(axis=-1) == self.size)
        chosen = np.where(possible, outputs[..., 0], 0)
        return np.where(possible, self._log_prob_table[tables[..., 0], chosen], -np.inf)

    def sample(self, counts: Counts, bits: RandomBits) -> Counts:
        table = self.model.counts(counts)
        if (table.sum(axis=-1) != self.size).any():
            raise DeclarationError(f"The counts must add up to the public size {self.size}.")
        firsts = table[..., 0].ravel()
        drawn = np.empty(len(firsts), dtype=np.int64)
        for first in np.unique(firsts).tolist():
            same = np.flatnonzero(firsts == first)
            distribution = FiniteDistribution(lambda first=first: self.weights(first))  # type: ignore[misc]
            drawn[same] = distribution.sample(len(same), bits)
        return np.stack([drawn, self.size - drawn], axis=-1).reshape(table.shape)

    def weights(self, first: int) -> list[arb]:
        """Return enclosures of e^(-scale TV(k, r)) for all candidates; k is the count of the first level."""
        scale = ball(self.scale)
        return [(-scale * self.distance_ball(first, other)).exp() for other in range(self.size + 1)]

    def distance_ball(self, first: int, other: int) -> arb:
        """Return an enclosure of the total variation between two posteriors, given by counts of the first level.

        The densities of Beta(a, b) and Beta(a + d, b - d) cross once, at x, and TV = I_x(a, b) - I_x(a + d, b - d)
        = sum over j < d of x^(a + j) (1 - x)^(b - j - 1) Gamma(a + b) / (Gamma(a + j + 1) Gamma(b - j)), all positive.
        As many terms are worked out as there are records, whatever d is, so that time does not tell the counts.
        """
        if first == other:
            return arb(0)
        low, steps = min(first, other), abs(first - other)
        alpha, beta = (arb(float(value)) for value in self.model.concentration)
        a, b = alpha + low, beta + self.size - low
        log_odds = ((a + steps).lgamma() + (b - steps).lgamma() - a.lgamma() - b.lgamma()) / steps
        log_x, log_rest = -(-log_odds).exp().log1p(), -log_odds.exp().log1p()
        term = ((a + b).lgamma() - (a + 1).lgamma() - b.lgamma() + a * log_x + (b - 1) * log_rest).exp()
        odds, totals = log_odds.exp(), [term]
        for index in range(1, self.size):
            term *= odds * (b - index) / (a + index)
            totals.append(totals[-1] + term)
        return totals[steps - 1]

    def _why_impossible(self, output: Counts) -> str | None:
        possible = all(int(value) >= 0 for value in output) and int(output.sum()) == self.size
        words = f"The output must hold two counts of 0 or more that add up to the size {self.size}."
        return None if possible else words

    def small_instance_fields(self, model: Model) -> Iterator[Mapping[str, object]]:
        """Yield a small instance that finds its own scale."""
        yield {"scale": None}


@lru_cache(maxsize=8)
def _score_changes(alpha: float, beta: float, size: int) -> ScoreChanges:
    """Return 1 - TV between all posteriors of this many records, and which of them are neighbours."""
    counts = np.arange(size + 1)
    a, b = alpha + counts, beta + size - counts
    logs = betaln(a, b)
    steps = counts[None] - counts[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        x = expit((logs[None] - logs[:, None]) / steps)
    distances = np.abs(betainc(a[:, None], b[:, None], x) - betainc(a[None], b[None], x))
    np.fill_diagonal(distances, 0.0)
    return ScoreChanges(1 - distances, np.stack([counts[:-1], counts[1:]], axis=1), _ERROR)
