"""A choice near the maximum of a posterior: P(c | k) ~ e^(scale u_c(k)), u the posterior *probability* of a candidate.

A candidate is a table, or all tables of a network, whose every row is a vector of `resolution`-ths without a zero:
whole numbers c >= 1 that mean theta = c / resolution. With theta's powers alpha - 1 + k,

    u_c(k) = prod theta^(alpha - 1 + k) / sum over all candidates.

One record changes the log odds of any candidate by at most R = 2 sum_i ln M_i, M_i the largest ratio of two entries of
a row of node i, so its probability changes by at most Delta = tanh(R / 4) = (prod_i M_i - 1) / (prod_i M_i + 1): the
largest change of expit(z + R) - expit(z), at z = -R/2. So epsilon / (2 Delta) is a scale that is proved for every model
and size. But no data set of n records comes near that bound for all candidates at once, so it wastes most of epsilon.
Where all neighbours can be compared, the scale is the largest that keeps epsilon.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import comb, prod
from typing import ClassVar

import numpy as np
from flint import arb
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, ball, exact_text, positive, rounded_up, whole
from discreet.choices._choice_scale import ScoreChanges, score_error
from discreet.mechanism import Choice, Cost, ModelT, OutputSpace, Sized
from discreet.noise.randomness import FiniteDistribution, RandomBits
from discreet.privacy import Evidence, Guarantee, PrivacyLoss, compositions, pure_rho

MOST_CANDIDATES = 20_000


@dataclass(frozen=True, init=False, repr=False)
class PosteriorChoice(Sized[ModelT]):
    """A choice among all tables of `resolution`-ths without a zero, with the scale epsilon / (2 Delta)."""

    epsilon: Fraction
    resolution: int

    def __init__(self, model: ModelT, size: int, epsilon: Exact, resolution: int) -> None:
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "size", whole(size, "size"))
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        least = max(self._row_levels) + 1
        object.__setattr__(self, "resolution", whole(resolution, "resolution", least=least, most=10**6))
        if self._number > MOST_CANDIDATES:
            raise DeclarationError(
                f"There are more than {MOST_CANDIDATES} candidates, the most that are allowed. Lower the resolution, "
                "or use a tempered draw or noisy counts."
            )

    @cached_property
    @abstractmethod
    def _row_levels(self) -> Sequence[int]:
        """Return the number of levels of each row of each table, in the order of the output."""

    @property
    @abstractmethod
    def _node_levels(self) -> Sequence[int]:
        """Return the number of levels of each variable."""

    @abstractmethod
    def _powers(self, counts: Counts) -> NDArray[np.object_]:
        """Return alpha - 1 + k exactly for every number of the output, for rows of counts."""

    @abstractmethod
    def _checked(self, counts: Counts) -> Counts:
        """Return simulated counts in rows; refuse secret ones, and those that do not sum to the public size."""

    @property
    def _number(self) -> int:
        """Return how many candidates there are, or a number above the limit."""
        number = 1
        for levels in self._row_levels:
            number *= comb(self.resolution - 1, levels - 1) if levels <= 64 else MOST_CANDIDATES + 1
            if number > MOST_CANDIDATES:
                break
        return number

    @cached_property
    def candidates(self) -> Counts:
        """Return all candidates, one row each: every combination of a vector for each row of each table."""
        choices = {
            k: [tuple(c + 1 for c in v) for v in compositions(self.resolution - k, k)] for k in set(self._row_levels)
        }
        rows = product(*(choices[levels] for levels in self._row_levels))
        return np.array([[c for vector in row for c in vector] for row in rows], dtype=np.int64)

    @property
    def sensitivity(self) -> Fraction:
        """Return Delta = tanh(R / 4) = (M - 1) / (M + 1), exactly, M the product of the largest ratios of the nodes."""
        most = prod(self.resolution - levels + 1 for levels in self._node_levels)
        return Fraction(most - 1, most + 1)

    @property
    def strength(self) -> Fraction:
        """Return the scale by which scores are multiplied: epsilon / (2 Delta), unless it was calibrated."""
        return self.proved_scale

    @property
    def proved_scale(self) -> Fraction:
        """Return epsilon / (2 Delta), which needs no comparison."""
        return self.epsilon / (2 * self.sensitivity)

    @property
    def guarantee(self) -> Guarantee:
        """Return pure epsilon, by the exponential mechanism with an exact sensitivity."""
        return Guarantee(self.epsilon, reason="exponential mechanism on posterior probabilities, sensitivity tanh(R/4)")

    @property
    def rho(self) -> Fraction:
        """Return epsilon^2 / 8: the log ratio of an exponential mechanism lies in an interval of length epsilon."""
        return self.epsilon**2 / 8

    def privacy_loss(self) -> PrivacyLoss:
        return PrivacyLoss.worst_case(self.epsilon)

    @property
    def space(self) -> OutputSpace:
        """Return the candidates: rows of whole numbers from 1 on that add up to the resolution."""
        return OutputSpace(sum(self._row_levels), self._why_impossible)

    def listed_candidates(self) -> Counts:
        """Return all candidates, one row each."""
        return self.candidates

    def evidence(self, output: Counts) -> Choice:
        return Choice(np.asarray(output), self)

    def sample(self, counts: Counts, bits: RandomBits) -> Counts:
        table = self._checked(counts)
        rows, indices = np.unique(table.reshape(-1, table.shape[-1]), axis=0, return_inverse=True)
        drawn = np.empty((len(indices.ravel()), self.space.length), dtype=np.int64)
        for number, row in enumerate(rows):
            same = np.flatnonzero(indices.ravel() == number)
            distribution = FiniteDistribution(lambda row=row: self._weights(row))  # type: ignore[misc]
            drawn[same] = self.candidates[distribution.sample(len(same), bits)]
        return drawn.reshape(*table.shape[:-1], -1)

    def _weights(self, row: Counts) -> list[arb]:
        """Return e^(scale u), enclosed, at the working precision."""
        logs = [(arb(c) / self.resolution).log() for c in range(1, self.resolution)]
        scores = [[ball(power) * log for log in logs] for power in self._powers(row)]
        weights = [
            sum((score[c - 1] for score, c in zip(scores, candidate, strict=True)), arb(0)).exp()
            for candidate in self.candidates.tolist()
        ]
        scale = ball(self.strength) / sum(weights, arb(0))
        return [(weight * scale).exp() for weight in weights]

    def scores(self, counts: Counts) -> Floats:
        """Return the posterior probabilities of all candidates, for rows of counts."""
        powers = self._powers(counts).astype(float)
        return np.asarray(softmax(powers @ np.log(self.candidates / self.resolution).T, axis=-1))

    def changes(self, tables: Counts, pairs: Counts) -> ScoreChanges:
        """Return the scores of all data sets, of which `pairs` are neighbours; epsilon plays no part in them."""
        error = score_error(self._powers(tables).astype(float), np.log(self.candidates / self.resolution).T)
        return ScoreChanges(self.scores(tables), pairs, error)

    @property
    def likelihood_cost(self) -> Cost:
        """Return the cost of the posterior probabilities of all candidates."""
        numbers = sum(self._row_levels)
        return Cost(20.0 * self._number * numbers + 1e4 * numbers, 4.0 * self._number * numbers)

    def log_prob(self, output: Counts, counts: Counts) -> Floats:
        logs = float(self.strength) * self.scores(np.asarray(counts))
        logs = logs - logsumexp(logs, axis=-1, keepdims=True)
        matches = (np.asarray(output)[..., None, :] == self.candidates).all(axis=-1)
        return np.asarray(np.where(matches, logs, -np.inf).max(axis=-1))

    def outputs_for(self, counts: Counts, most: int) -> Counts | None:
        """Return all candidates, or None if there are more than `most`."""
        return self.candidates if self._number <= most else None

    def _why_impossible(self, output: Counts) -> str | None:
        starts = np.cumsum([0, *self._row_levels[:-1]])
        if not (output < 1).any() and (np.add.reduceat(output, starts) == self.resolution).all():
            return None
        return (
            f"The output must hold {len(output)} whole numbers of 1 or more, and those in each row of a table must add "
            f"up to {self.resolution}."
        )


class CalibratedChoice(PosteriorChoice[ModelT]):
    """A choice whose scale, if left out, is the largest that keeps epsilon over all neighbours."""

    calibrated: ClassVar[tuple[str, ...]] = ("scale",)
    calibrated_to: ClassVar[tuple[str, ...]] = ("model", "size", "epsilon", "resolution")
    scale: Fraction

    @cached_property
    @abstractmethod
    def _compared(self) -> ScoreChanges | None:
        """Return the scores of all neighbours, or None if they are too many."""

    def _calibrate(self, given: Exact | None) -> None:
        """Find the scale, or hold a given one against epsilon."""
        compared, proved = self._compared, self.proved_scale
        if given is None:
            found = proved if compared is None else compared.largest_scale(self.epsilon, proved)
            object.__setattr__(self, "scale", found)
            return
        scale = positive(given, "scale")
        if scale > proved and (compared is None or compared.epsilon(float(scale)) > self.epsilon):
            raise DeclarationError(
                f"A scale of {exact_text(scale)} does not give epsilon = {exact_text(self.epsilon)}. Leave the scale "
                "out to have the largest sufficient one chosen."
            )
        object.__setattr__(self, "scale", scale)

    @property
    def strength(self) -> Fraction:
        return self.scale

    @property
    def guarantee(self) -> Guarantee:
        """Return pure epsilon, by comparing all neighbours where possible, else by the sensitivity."""
        if self._compared is None:
            return super().guarantee
        reason = f"all neighbours of {self.size} records compared on all {self._number} candidates"
        return Guarantee(self.epsilon, evidence=Evidence.ENUMERATED, reason=reason)

    @property
    def rho(self) -> Fraction:
        """Return (scale w)^2 / 8, as a pair's log ratio lies in an interval of length scale w, or epsilon's rho.

        w is the widest interval in which the scores of one pair change; without a comparison scale w <= epsilon.
        """
        if self._compared is None:
            return min(super().rho, pure_rho(self.epsilon))
        return min(rounded_up((self.scale * Fraction(self._compared.range)) ** 2 / 8, 9), pure_rho(self.epsilon))
