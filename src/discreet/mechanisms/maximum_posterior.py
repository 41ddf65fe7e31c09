"""The most probable parameter, privately: three forms that keep their promise.

The maximum of a posterior cannot be published as it is. Zhang, Rubinstein and Dimitrakakis (2016), algorithm 3, draw
theta with density ~ e^(epsilon u / (2 Delta)), u the posterior *density* and Delta = sqrt(L r). That Delta bounds
probabilities of sets, not densities: in an example with claimed epsilon = 1 the true one is 5 (`published_epsilon`).
Sound are

- `MaximumPosterior`: finitely many parameters, u = posterior *probability*, Delta = tanh(R / 4);
- `tempered_maximum`: a draw from the truncated posterior with the likelihood raised to the power epsilon / R;
- `maximum_of_noisy_counts`: the maximum of the posterior of noisy counts, which costs nothing more.

Delta = tanh(R / 4) is exact: one record changes the log odds of any candidate by at most R, and
|expit(z + R) - expit(z)| is largest at z = -R/2, where it is tanh(R/4). But no data set of n records comes near it
for all candidates at once, so epsilon / (2 Delta) wastes most of epsilon: where all neighbours can be compared, the
scale is the largest that keeps epsilon.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import comb, log, sqrt
from typing import ClassVar

import numpy as np
from flint import arb
from numpy.typing import ArrayLike
from scipy.special import logsumexp, softmax

from discreet.arrays import Counts, Floats
from discreet.certificates import PrivacyLoss, compositions
from discreet.certificates.choice_scale import ScoreChanges, all_tables, can_list, score_error
from discreet.errors import DeclarationError, DocumentError
from discreet.exact import Exact, ball, exact_text, positive, rounded_up, whole
from discreet.guarantees.guarantee import Evidence, Guarantee
from discreet.guarantees.zcdp import pure_rho
from discreet.mechanisms.evidence import Choice, Chooser
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.parts import Cost
from discreet.mechanisms.posterior_sampling import PosteriorSampling
from discreet.models import Categories
from discreet.randomness import FiniteLaw, RandomBits

MOST_CANDIDATES = 20_000


@dataclass(frozen=True, init=False, repr=False)
class PosteriorChoice(Mechanism[Categories], Chooser):
    """A choice among all vectors of `resolution`-ths without a zero, with P(c | k) ~ e^(scale u_c(k))."""

    model: Categories
    size: int
    epsilon: Fraction
    resolution: int

    def __init__(self, model: Categories, size: int, epsilon: Exact, resolution: int = 20) -> None:
        if not isinstance(model, Categories):
            raise DeclarationError(f"MaximumPosterior is for Categories; got a {type(model).__name__}.")
        cells = len(model.cells)
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "size", whole(size, "size"))
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "resolution", whole(resolution, "resolution", least=cells + 1))
        if cells > 64 or comb(self.resolution - 1, cells - 1) > MOST_CANDIDATES:
            raise DeclarationError(f"There may be at most {MOST_CANDIDATES} candidates: lower the resolution.")

    @property
    def strength(self) -> Fraction:
        """Return the scale by which scores are multiplied: epsilon / (2 Delta), unless another one is calibrated."""
        return self.proved_scale

    @property
    def proved_scale(self) -> Fraction:
        """Return epsilon / (2 Delta), which needs no comparison."""
        return self.epsilon / (2 * self.sensitivity)

    @property
    def candidates(self) -> Counts:
        """Return all candidates, one row each."""
        cells = len(self.model.cells)
        return np.array(list(compositions(self.resolution - cells, cells)), dtype=np.int64) + 1

    @property
    def sensitivity(self) -> Fraction:
        """Return Delta = tanh(R / 4) = (M - 1) / (M + 1), exactly."""
        most = self.resolution - len(self.model.cells) + 1
        return Fraction(most - 1, most + 1)

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

    def _chances(self, tables: Counts) -> Floats:
        """Return the posterior probabilities of all candidates, for rows of counts."""
        powers = np.asarray(self.model.prior) - 1 + tables
        return np.asarray(softmax(powers @ np.log(self.candidates / self.resolution).T, axis=-1))

    @property
    def length(self) -> int:
        """Return the number of cells."""
        return len(self.model.cells)

    def listed_candidates(self) -> Counts:
        """Return all candidates, one row each."""
        return self.candidates

    def evidence(self, output: Counts) -> Choice:
        """Return the candidate that was chosen."""
        return Choice(np.asarray(output), self)

    def sample(self, counts: Counts, bits: RandomBits) -> Counts:
        """Draw an output for each row of made-up counts; secret statistics are refused, they go through `publish`."""
        table = self.model.counts(counts)
        if (table.sum(axis=-1) != self.size).any():
            raise DeclarationError(f"The counts must sum to the public size {self.size}.")
        candidates = self.candidates
        rows, places = np.unique(table.reshape(-1, table.shape[-1]), axis=0, return_inverse=True)
        drawn = np.empty((len(places.ravel()), len(self.model.cells)), dtype=np.int64)
        for number, row in enumerate(rows):
            same = np.flatnonzero(places.ravel() == number)
            law = FiniteLaw(lambda row=row: self._weights(row, candidates))  # type: ignore[misc]
            drawn[same] = candidates[law.sample(len(same), bits)]
        return drawn.reshape(table.shape)

    def _weights(self, row: Counts, candidates: Counts) -> list[arb]:
        """Return e^(scale u), enclosed, at the working precision."""
        logs = {c: (arb(c) / self.resolution).log() for c in range(1, self.resolution)}
        exponents = [ball(Fraction(a) - 1 + int(k)) for a, k in zip(self.model.prior, row, strict=True)]
        weights = [
            sum((e * logs[int(c)] for e, c in zip(exponents, candidate, strict=True)), arb(0)).exp()
            for candidate in candidates
        ]
        scale = ball(self.strength) / sum(weights, arb(0))
        return [(weight * scale).exp() for weight in weights]

    def log_likelihood(self, output: Counts, counts: Counts) -> Floats:
        """Return log P(output | counts), for rows of either."""
        candidates = self.candidates
        logs = float(self.strength) * self._chances(np.asarray(counts))
        logs = logs - logsumexp(logs, axis=-1, keepdims=True)
        matches = (np.asarray(output)[..., None, :] == candidates).all(axis=-1)
        found = np.where(matches, logs, -np.inf)
        return np.asarray(found.max(axis=-1))

    def outputs_for(self, counts: Counts, most: int) -> Counts | None:
        """Return all candidates, or nothing if there are more than `most`."""
        cells = len(self.model.cells)
        return self.candidates if comb(self.resolution - 1, cells - 1) <= most else None

    @property
    def likelihood_cost(self) -> Cost:
        """Return that of the posterior probabilities of all candidates."""
        cells = len(self.model.cells)
        number = comb(self.resolution - 1, cells - 1)
        return Cost(20.0 * number * cells, 4.0 * number * cells)

    def parameters(self, output: Counts) -> Floats:
        """Return theta = c / resolution."""
        return np.asarray(output) / self.resolution

    def check_output(self, output: Counts) -> None:
        """Refuse an output that this mechanism cannot have given."""
        if output.shape != (len(self.model.cells),) or (output < 1).any() or int(output.sum()) != self.resolution:
            raise DocumentError(f"The output must be whole numbers from 1 on that sum to {self.resolution}.")


@dataclass(frozen=True, init=False, repr=False)
class MaximumPosterior(PosteriorChoice, kind="MaximumPosterior", version=2):
    """A parameter near the posterior's maximum, among all vectors of `resolution`-ths without a zero: pure epsilon-DP.

    The output is a vector of whole numbers c >= 1 with sum `resolution`, which means theta = c / resolution, drawn with

        P(c | k) ~ e^(scale u_c(k)),     u = posterior probability among the candidates.

    The scale is found if it is left out: the largest that keeps epsilon over all neighbours, where they can be
    compared; else epsilon / (2 Delta), Delta = tanh(R / 4) = (M - 1) / (M + 1), M = resolution - m + 1 the largest c,
    R = 2 ln M.

    >>> coin = Categories("coin", levels=("heads", "tails"), outside="heads")
    >>> round(float(MaximumPosterior(coin, size=10, epsilon=1).scale), 3)
    4.216
    """

    calibrated: ClassVar[tuple[str, ...]] = ("scale",)
    calibrated_to: ClassVar[tuple[str, ...]] = ("model", "size", "epsilon", "resolution")
    scale: Fraction

    def __init__(
        self, model: Categories, size: int, epsilon: Exact, resolution: int = 20, scale: Exact | None = None
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
        candidates = comb(self.resolution - 1, len(self.model.cells) - 1)
        if not can_list(self.size, len(self.model.cells), candidates):
            return None
        return _score_changes(PosteriorChoice(self.model, self.size, 1, self.resolution))

    @property
    def guarantee(self) -> Guarantee:
        """Return pure epsilon, by comparing all neighbours where that can be done, else by the sensitivity."""
        return choice_guarantee(self._compared, super().guarantee, self.size)

    @property
    def rho(self) -> Fraction:
        """Return (scale w)^2 / 8, w the widest interval in which one pair's scores change; at most epsilon^2 / 8."""
        return choice_rho(self._compared, self.epsilon, self.scale)


@lru_cache(maxsize=8)
def _score_changes(choice: PosteriorChoice) -> ScoreChanges:
    """Compare the scores of all neighbours once; epsilon plays no part in them."""
    tables, pairs = all_tables(choice.size, len(choice.model.cells))
    logs = np.log(choice.candidates / choice.resolution).T
    powers = np.asarray(np.asarray(choice.model.prior) - 1 + tables, dtype=float)
    return ScoreChanges(choice._chances(tables), pairs, score_error(powers, logs))


def calibrated_scale(
    compared: ScoreChanges | None, epsilon: Fraction, proved: Fraction, given: Exact | None
) -> Fraction:
    """Return the scale of a choice: the largest that keeps epsilon, or a given one, which has to keep it."""
    if given is None:
        return proved if compared is None else compared.largest_scale(epsilon, proved)
    scale = positive(given, "scale")
    if scale > proved and (compared is None or compared.epsilon(float(scale)) > epsilon):
        raise DeclarationError(
            f"A scale of {exact_text(scale)} does not give epsilon = {exact_text(epsilon)}. Leave the scale out to "
            "have the largest one found."
        )
    return scale


def choice_guarantee(compared: ScoreChanges | None, proved: Guarantee, size: int) -> Guarantee:
    """Return the guarantee of a calibrated choice, and why it holds."""
    if compared is None:
        return proved
    reason = f"all neighbours of {size} records compared on all {compared.scores.shape[1]} candidates"
    return Guarantee(proved.epsilon, evidence=Evidence.ENUMERATED, reason=reason)


def choice_rho(compared: ScoreChanges | None, epsilon: Fraction, scale: Fraction) -> Fraction:
    """Return (scale w)^2 / 8: the log ratio of a pair lies in an interval of length scale w."""
    if compared is None:
        return min(epsilon**2 / 8, pure_rho(epsilon))
    return min(rounded_up((scale * Fraction(compared.range)) ** 2 / 8, 9), pure_rho(epsilon))


def tempered_maximum(model: Categories, size: int, epsilon: Exact, least: Exact) -> PosteriorSampling:
    """Return a draw from prior * likelihood^(epsilon / R) with every probability at least `least`: pure epsilon-DP."""
    return PosteriorSampling.truncated(model, size=size, epsilon=epsilon, least=least)


def maximum_of_noisy_counts(model: Categories, noisy: ArrayLike) -> Floats:
    """Return the maximum of Dirichlet(alpha + z), z noisy counts cut off at zero: post-processing of a release."""
    weights = np.maximum(0.0, model.concentration + np.maximum(0, np.asarray(noisy)) - 1)
    return weights / weights.sum() if weights.sum() > 0 else np.full(len(weights), 1 / len(weights))


def utility_bound(epsilon: float, sensitivity: float, gap: float, share: float) -> float:
    """Return a bound on the chance of a utility more than 2 t below the best, when a `share` is within t of it.

    e^(-epsilon t / (2 Delta)) / mu(S_t); the published exponent epsilon t misses the factor 2 Delta.
    """
    return min(1.0, float(np.exp(-epsilon * gap / (2 * sensitivity))) / share)


def published_sensitivity(constant: float, distance: float = 1.0) -> float:
    """Return sqrt(L r), the published Delta of algorithm 3, which does not bound a posterior density."""
    return sqrt(constant * distance)


def published_epsilon(claimed: float, half_width: float, nodes: int = 1) -> float:
    """Return the true epsilon of the published mechanism for one record of yes/no nodes, theta in 1/2 +- half_width.

    With p nodes without arrows and a uniform prior the densities of an all-yes and an all-no record are
    prod_i theta_i / h and prod_i (1 - theta_i) / h, so they differ by up to ((1/2 + h)/h)^p - ((1/2 - h)/h)^p, whereas
    L r = p ln((1/2 + h) / (1/2 - h)); both laws have the same normaliser, by symmetry.

    >>> round(published_epsilon(1.0, 0.01), 5)
    4.99967
    """
    constant = log((0.5 + half_width) / (0.5 - half_width))
    gap = ((0.5 + half_width) / half_width) ** nodes - ((0.5 - half_width) / half_width) ** nodes
    return claimed / (2 * published_sensitivity(constant, nodes)) * gap
