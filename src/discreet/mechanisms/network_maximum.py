"""The most probable tables of a network, privately, in the forms that keep their promise.

- `NetworkMaximum`: finitely many networks, drawn with P ~ e^(scale u), u the posterior *probability*;
- `tempered_network_maximum`: a draw from the truncated posterior with the likelihood to the power epsilon / R;
- `maximum_of_noisy_tables`: the maximum of the posterior of noisy tables, which costs nothing more.

One record changes the log odds of any candidate by at most R = 2 sum_i ln M_i, M_i the largest ratio of two entries of
a row of node i, so its probability changes by at most Delta = tanh(R / 4) = (prod_i M_i - 1) / (prod_i M_i + 1). The
published Delta = sqrt(L r) bounds probabilities of sets, not densities; see `maximum_posterior.published_epsilon`. So
epsilon / (2 Delta) is a scale that is proved for every network; where all neighbours can be compared it is the largest
that keeps epsilon.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from math import comb, prod
from typing import ClassVar

import numpy as np
from flint import arb
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp, softmax

from discreet.arrays import Counts, Floats
from discreet.certificates import PrivacyLoss, compositions, neighbouring
from discreet.certificates.choice_scale import MOST_SCORES, ScoreChanges, score_error
from discreet.certificates.data_sets import number_of_pairs
from discreet.errors import DeclarationError, DocumentError
from discreet.exact import Exact, ball, positive, whole
from discreet.guarantees.guarantee import Guarantee
from discreet.mechanisms.evidence import Choice, Chooser
from discreet.mechanisms.maximum_posterior import MOST_CANDIDATES, calibrated_scale, choice_guarantee, choice_rho
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.network_sampling import NetworkSampling
from discreet.mechanisms.parts import Cost
from discreet.models.network import Network
from discreet.randomness import FiniteLaw, RandomBits

_MOST_PAIRS = 100_000  # of neighbours that are listed


@dataclass(frozen=True, init=False, repr=False)
class NetworkChoice(Mechanism[Network], Chooser):
    """A choice among all tables whose rows are vectors of `resolution`-ths without a zero: P(c | k) ~ e^(scale u)."""

    model: Network
    size: int
    epsilon: Fraction
    resolution: int

    def __init__(self, model: Network, size: int, epsilon: Exact, resolution: int = 6) -> None:
        if not isinstance(model, Network):
            raise DeclarationError(f"NetworkMaximum is for a Network; got a {type(model).__name__}.")
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "size", whole(size, "size"))
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        most = max(len(variable.levels) for variable in model.variables)
        object.__setattr__(self, "resolution", whole(resolution, "resolution", least=most + 1, most=10**6))
        if self._number > MOST_CANDIDATES:
            raise DeclarationError(
                f"There may be at most {MOST_CANDIDATES} candidates: lower the resolution, or use "
                "tempered_network_maximum or noisy counts."
            )

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
    def _row_levels(self) -> list[int]:
        """Return the number of levels of each row of each table, in the order of the output."""
        shapes = (self.model.shape(family) for family in self.model.families)
        return [shape[-1] for shape in shapes for _ in range(prod(shape[:-1]))]

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
        """Return Delta = tanh(R / 4) = (M - 1) / (M + 1), M the product of the largest ratios of the nodes."""
        most = prod(self.resolution - len(variable.levels) + 1 for variable in self.model.variables)
        return Fraction(most - 1, most + 1)

    @property
    def strength(self) -> Fraction:
        """Return the scale by which scores are multiplied: epsilon / (2 Delta), unless another one is calibrated."""
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
        """Return the loss that dominates every pure epsilon mechanism."""
        return PrivacyLoss.worst_case(self.epsilon)

    @property
    def length(self) -> int:
        """Return how many numbers all rows of all tables have."""
        return sum(self._row_levels)

    def listed_candidates(self) -> Counts:
        """Return all candidates, one row each."""
        return self.candidates

    def evidence(self, output: Counts) -> Choice:
        """Return the candidate that was chosen."""
        return Choice(np.asarray(output), self)

    def _powers(self, counts: Counts) -> NDArray[np.object_]:
        """Return alpha - 1 + k exactly for every cell of every table, in the order of the output."""
        parts = []
        for variable, prior in zip(self.model.variables, self.model.prior, strict=True):
            table = self.model.table(variable.name, counts)
            alpha = np.array([Fraction(value) - 1 for value in prior], dtype=object)
            parts.append((table.astype(object) + alpha).reshape(*counts.shape[:-1], -1))
        return np.concatenate(parts, axis=-1)

    def sample(self, counts: Counts, bits: RandomBits) -> Counts:
        """Draw an output for each row of made-up counts; secret statistics are refused, they go through `publish`."""
        table = self.model.counts(counts)
        if any((t.reshape(*table.shape[:-1], -1).sum(axis=-1) != self.size).any() for t in self.model.split(table)):
            raise DeclarationError(f"The counts of every family must sum to the public size {self.size}.")
        rows, places = np.unique(table.reshape(-1, table.shape[-1]), axis=0, return_inverse=True)
        drawn = np.empty((len(places.ravel()), self.candidates.shape[1]), dtype=np.int64)
        for number, row in enumerate(rows):
            same = np.flatnonzero(places.ravel() == number)
            law = FiniteLaw(lambda row=row: self._weights(row))  # type: ignore[misc]
            drawn[same] = self.candidates[law.sample(len(same), bits)]
        return drawn.reshape(*table.shape[:-1], -1)

    def _weights(self, row: Counts) -> list[arb]:
        """Return e^(scale u), enclosed, at the working precision."""
        logs = [(arb(c) / self.resolution).log() for c in range(1, self.resolution)]
        powers = [ball(power) for power in self._powers(row)]
        scores = [[power * log for log in logs] for power in powers]
        weights = [
            sum((score[c - 1] for score, c in zip(scores, candidate, strict=True)), arb(0)).exp()
            for candidate in self.candidates.tolist()
        ]
        scale = ball(self.strength) / sum(weights, arb(0))
        return [(weight * scale).exp() for weight in weights]

    def _chances(self, counts: Counts) -> Floats:
        """Return the posterior probabilities of all candidates, for rows of counts."""
        powers = self._powers(counts).astype(float)
        return np.asarray(softmax(powers @ np.log(self.candidates / self.resolution).T, axis=-1))

    @property
    def likelihood_cost(self) -> Cost:
        """Return that of the posterior probabilities of all candidates."""
        cells = sum(self._row_levels)
        return Cost(20.0 * self._number * cells + 1e4 * cells, 4.0 * self._number * cells)

    def log_likelihood(self, output: Counts, counts: Counts) -> Floats:
        """Return log P(output | counts), for rows of either."""
        logs = float(self.strength) * self._chances(np.asarray(counts))
        logs = logs - logsumexp(logs, axis=-1, keepdims=True)
        matches = (np.asarray(output)[..., None, :] == self.candidates).all(axis=-1)
        return np.asarray(np.where(matches, logs, -np.inf).max(axis=-1))

    def outputs_for(self, counts: Counts, most: int) -> Counts | None:
        """Return all candidates, or nothing if there are more than `most`."""
        return self.candidates if self._number <= most else None

    def parameters(self, output: Counts) -> dict[str, Floats]:
        """Return the tables P(variable | parents) by name, axes (parents..., levels)."""
        shapes = [self.model.shape(family) for family in self.model.families]
        parts = np.split(np.asarray(output) / self.resolution, np.cumsum([prod(shape) for shape in shapes])[:-1])
        named = zip(self.model.families, parts, shapes, strict=True)
        return {family[-1]: part.reshape(shape) for family, part, shape in named}

    def check_output(self, output: Counts) -> None:
        """Refuse an output that this mechanism cannot have given."""
        if output.shape != (sum(self._row_levels),) or (output < 1).any():
            raise DocumentError(f"The output must be {sum(self._row_levels)} whole numbers from 1 on.")
        starts = np.cumsum([0, *self._row_levels[:-1]])
        if (np.add.reduceat(output, starts) != self.resolution).any():
            raise DocumentError(f"The numbers of every row must sum to {self.resolution}.")


@dataclass(frozen=True, init=False, repr=False)
class NetworkMaximum(NetworkChoice, kind="NetworkMaximum", version=2):
    """Tables near the posterior's maximum, every row a vector of `resolution`-ths without a zero: pure epsilon-DP.

    The output holds for each variable and each row of its table whole numbers c >= 1 with sum `resolution`, which mean
    theta = c / resolution. All combinations of rows are candidates, so this is for small networks; for larger ones use
    `tempered_network_maximum` or noisy counts. The scale is found if it is left out, as for `MaximumPosterior`.
    """

    calibrated: ClassVar[tuple[str, ...]] = ("scale",)
    calibrated_to: ClassVar[tuple[str, ...]] = ("model", "size", "epsilon", "resolution")
    scale: Fraction

    def __init__(
        self, model: Network, size: int, epsilon: Exact, resolution: int = 6, scale: Exact | None = None
    ) -> None:
        super().__init__(model, size, epsilon, resolution)
        found = calibrated_scale(self._compared, self.epsilon, self.proved_scale, scale)
        object.__setattr__(self, "scale", found)

    @property
    def strength(self) -> Fraction:
        """Return the scale."""
        return self.scale

    @cached_property
    def _compared(self) -> ScoreChanges | None:
        records = prod(len(variable.levels) for variable in self.model.variables)
        pairs = number_of_pairs(records, self.size, MOST_SCORES)
        if pairs > _MOST_PAIRS or pairs * self._number > MOST_SCORES:
            return None
        return _score_changes(NetworkChoice(self.model, self.size, 1, self.resolution))

    @property
    def guarantee(self) -> Guarantee:
        """Return pure epsilon, by comparing all neighbours where that can be done, else by the sensitivity."""
        return choice_guarantee(self._compared, super().guarantee, self.size)

    @property
    def rho(self) -> Fraction:
        """Return (scale w)^2 / 8, w the widest interval in which one pair's scores change; at most epsilon's."""
        return choice_rho(self._compared, self.epsilon, self.scale)


@lru_cache(maxsize=8)
def _score_changes(choice: NetworkChoice) -> ScoreChanges:
    """Compare the scores of all neighbours once; epsilon plays no part in them."""
    rows, _ = choice.model.contributions(MOST_SCORES)
    sets = neighbouring(rows, choice.size, most=MOST_SCORES)
    logs = np.log(choice.candidates / choice.resolution).T
    error = score_error(choice._powers(sets.tables).astype(float), logs)
    return ScoreChanges(choice._chances(sets.tables), sets.pairs, error)


def tempered_network_maximum(model: Network, size: int, epsilon: Exact, least: Exact) -> NetworkSampling:
    """Return a draw from prior * likelihood^(epsilon / R) with every probability at least `least`: pure epsilon-DP."""
    return NetworkSampling.truncated(model, size=size, epsilon=epsilon, least=least)


def maximum_of_noisy_tables(model: Network, tables: Mapping[str, ArrayLike]) -> dict[str, Floats]:
    """Return the maximum of Dirichlet(alpha + z) for every row, z noisy tables cut off at zero: post-processing."""
    found = {}
    for family, prior in zip(model.families, model.prior, strict=True):
        noisy = np.asarray(tables[family[-1]], dtype=float)
        if noisy.shape != model.shape(family):
            raise DeclarationError(f"The table of {family[-1]!r} must have the shape {model.shape(family)}.")
        weights = np.maximum(0.0, np.array(prior) + np.maximum(0.0, noisy) - 1)
        totals = weights.sum(axis=-1, keepdims=True)
        found[family[-1]] = np.where(totals > 0, weights / np.where(totals > 0, totals, 1.0), 1 / len(prior))
    return found
