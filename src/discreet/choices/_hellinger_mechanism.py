"""The exponential mechanism over posteriors: P(r | k) ~ e^(-c(k) H(k, r)), c(k) = t/S(k).

Candidates are all posteriors Dirichlet(alpha + r), r a table of n counts, and H is the Hellinger distance from the true
posterior Dirichlet(alpha + k). A mechanism of this kind says how strong it is (t) and which sensitivity S it divides
by. Published draws follow this very distribution: weights are enclosed by balls of as many digits as a draw needs, so
neither t nor S nor H is ever rounded. All that is stated about privacy is computed from the same three. Few candidates
are listed; many are never looked at one by one, but drawn from a mixture of products that lies above the distribution.

What one pair of neighbours can tell apart is certified at any size, by bounds on the two normalisers. Let P(r | x) =
e^(-c H(x, r))/Z and P(r | x') with c' >= c and Z'. For h = H(x, x') the triangle inequality and H <= 1 put c' H' - c H
between -c h and c h + (c' - c), as for `pair_bound`. There the ratio of the normalisers is bounded in the same way;
here it is computed, between bounds, so that

    |ln P(r | x)/P(r | x')| <= max(c h + (c' - c) + ln Z'/Z,  c h - ln Z'/Z).

At large sizes Z' is nearly Z, and this is about half of `pair_bound`.

How much the posteriors of two tables overlap is enclosed by balls, for all tables of one total in turn. BC(k, r) is a
product over cells of Gamma((a + b)/2) / sqrt(Gamma(a) Gamma(b)), up to what totals share; a table differs from the one
before it in its last cells only, so that most of the product is kept.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import comb

import numpy as np
from flint import arb, ctx

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError, VerificationError
from discreet._core.exact import Exact, ball, exact_text, positive, whole
from discreet.choices._adjacent_pairs import AdjacentPairs, can_compare, compare_neighbours, dominating_loss
from discreet.choices._hellinger_approximate import (
    MOST_ENUMERATED,
    MOST_NEAR_CELLS,
    NEAR_OPERATIONS,
    ApproximateNormaliser,
)
from discreet.choices._hellinger_draws import ExactDraws
from discreet.choices._hellinger_envelope import MOST_CELLS, Envelope, can_draw
from discreet.choices._hellinger_moments import HellingerMoments, hellinger_moments
from discreet.choices._hellinger_sensitivity import (
    RELATIVE_ERROR,
    Decay,
    global_sensitivity_ball,
    least_sensitivity_ball,
    line_sensitivities,
    sensitivity,
    sensitivity_ball,
)
from discreet.choices._hellinger_series import pair_sums, series_epsilon
from discreet.choices._hellinger_sums import can_sum, log_normalisers, operations_of_sum
from discreet.choices._pair_bound import pair_bound, rounded_up
from discreet.choices._posterior_distances import Tables, line_log_normalisers
from discreet.mathematics import log_affinities
from discreet.mechanism import Choice, Cost, OutputSpace, Sized
from discreet.noise.randomness import FiniteDistribution, RandomBits
from discreet.privacy import Evidence, Guarantee, PrivacyLoss, compositions, number_of_tables
from discreet.tables import Categories


def pair_certificate(
    alpha: Floats, first: Counts, second: Counts, scales: tuple[float, float], scale_error: float = 0.0
) -> float:
    """Return an upper bound of the largest |ln P/Q| of two tables with their scales, known up to a share.

    >>> bound = pair_certificate(np.ones(3), np.array([200, 200, 200]), np.array([201, 199, 200]), (9.0, 9.0))
    >>> bound < 0.52 * pair_bound(9.0, 9.0, 0.0353)
    True
    """
    (x, c), (y, d) = sorted(zip((first, second), scales, strict=True), key=lambda each: each[1])
    logs = float(log_affinities(alpha + x, alpha + y, y - x).sum())
    distance = float(np.sqrt(-np.expm1(logs))) * (1 + 1e-13)
    one, two = (hellinger_moments(alpha, *each, scale_error).log_normaliser for each in ((x, c), (y, d)))
    slack = d * (3 * scale_error + 1e-14)
    above = c * distance + (d - c) + two.upper - one.lower + slack
    below = c * distance + one.upper - two.lower + slack
    return min(max(above, below), pair_bound(c, d, distance) + slack)


def promised_loss(pure: Fraction, epsilon: Fraction, delta: Fraction) -> PrivacyLoss:
    """Return the worst loss that a pure epsilon and a guarantee (epsilon, delta) allow together.

    Pure epsilon p allows delta(e) = (e^p - e^e)/(1 + e^p); (epsilon, delta) allows (e^epsilon - 1 + 2 delta)/
    (e^epsilon + 1) at e = 0.
    """
    most = ball(pure).exp()
    if epsilon >= pure:
        return dominating_loss((Fraction(0), pure), (float(((most - 1) / (most + 1)).upper()), 0.0))
    inner, small = ball(epsilon).exp(), ball(delta)
    at_zero = ((most - 1) / (most + 1)).min((inner - 1 + 2 * small) / (inner + 1))
    at_epsilon = ((most - inner) / (most + 1)).min(small)
    heights = (float(at_zero.upper()), float(at_epsilon.upper()), 0.0)
    return dominating_loss((Fraction(0), epsilon, pure), heights)


def affinity_balls(alpha: Floats, table: Counts) -> Iterator[arb]:
    """Yield enclosures of BC(k, r) for all tables r of the same total, in the order of `compositions`."""
    size = int(table.sum())
    cells = [_cell_affinities(float(prior), int(count), size) for prior, count in zip(alpha, table, strict=True)]
    before: tuple[int, ...] = ()
    products = [arb(1)]
    for counts in compositions(size, len(table)):
        same = next((i for i, (x, y) in enumerate(zip(before, counts, strict=False)) if x != y), 0)
        del products[same + 1 :]
        for cell in range(same, len(counts)):
            products.append(products[-1] * cells[cell][counts[cell]])
        before = counts
        yield products[-1]


def _cell_affinities(prior: float, count: int, size: int) -> list[arb]:
    """Return Gamma((a + b)/2) / sqrt(Gamma(a) Gamma(b)), a = prior + count, b = prior + r, for r = 0, ..., n.

    One step multiplies by q(a + b)/sqrt(b), q(s) = Gamma((s + 1)/2)/Gamma(s/2), and q(s) q(s + 1) = s/2.
    """
    alpha = arb(prior)
    total = 2 * alpha + count
    ratio = (((total + 1) / 2).lgamma() - (total / 2).lgamma()).exp()
    found = [((total / 2).lgamma() - ((alpha + count).lgamma() + alpha.lgamma()) / 2).exp()]
    for r in range(size):
        found.append(found[-1] * ratio / (alpha + r).sqrt())
        ratio = (total + r) / 2 / ratio
    return found


FEW_CANDIDATES, MOST_CANDIDATES = 20_000, 200_000
"""Up to how many candidates draws go through a list of all, and how many can be listed at all."""
LEAST_EPSILON, MOST_EPSILON = Fraction(1, 10**6), Fraction(10**3)
_ONE_BY_ONE = 2  # up to this many tables have certified sums; more have the same in floats, at a tenth of the price
_FEW = 32  # up to this many tables are computed one by one, more by a list of all
_POINTS, _PUBLIC_BITS = 16, 128  # of a privacy curve; at which public bounds are computed


@dataclass(frozen=True, init=False, repr=False)
class HellingerMechanism(Sized[Categories]):
    """Chooses a posterior of `size` records by its Hellinger distance from the true one; `epsilon` says how freely."""

    model: Categories
    size: int
    epsilon: Fraction

    def __init__(self, model: Categories, size: int, epsilon: Exact) -> None:
        if not isinstance(model, Categories):
            raise DeclarationError(f"{type(self).__name__} publishes counts of Categories; got {type(model).__name__}.")
        number = positive(epsilon, "epsilon")
        if not LEAST_EPSILON <= number <= MOST_EPSILON:
            raise DeclarationError(
                f"epsilon must lie between {exact_text(LEAST_EPSILON)} and {exact_text(MOST_EPSILON)}; "
                f"got {exact_text(number)}."
            )
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "size", whole(size, "size"))
        object.__setattr__(self, "epsilon", number)
        self._check_candidates()

    def _check_candidates(self) -> None:
        """Refuse more candidates than can be drawn from."""
        if not self.is_listed and not self._mixed:
            raise DeclarationError(
                f"{self.size} records in {len(self.model.cells)} cells at epsilon = {exact_text(self.epsilon)} give "
                f"more candidate posteriors than {type(self).__name__} can choose from: at most {MOST_CANDIDATES}, or "
                f"a million records in up to {MOST_CELLS} cells. Use fewer cells or records, or GeometricHistogram."
            )

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """Return the best guarantee that is proved or computed."""

    @property
    @abstractmethod
    def claim(self) -> Guarantee:
        """Return what was claimed when the mechanism was proposed."""

    @abstractmethod
    def strength(self) -> arb:
        """Return an enclosure of t at the working precision."""

    @property
    @abstractmethod
    def decay(self) -> Decay:
        """Return how fast the influence of a large local sensitivity decays with distance."""

    @abstractmethod
    def proved_pure_epsilon(self) -> Fraction:
        """Return a pure epsilon that holds without any enumeration."""

    @property
    def is_exponential(self) -> bool:
        """Return whether the distribution is P(r | k) ~ e^(-c(k) H(k, r)), on which bounds of tails rest."""
        return True

    @property
    def is_smooth(self) -> bool:
        """Return whether S(x) falls by at most a fixed factor from a table to its neighbours, so that N(n) is known."""
        return True

    @property
    def candidates(self) -> int:
        """Return |R| = C(n + m - 1, m - 1)."""
        return comb(self.size + len(self.model.cells) - 1, len(self.model.cells) - 1)

    @property
    def space(self) -> OutputSpace:
        """Return all tables of the size."""
        return OutputSpace(len(self.model.cells), self._why_impossible, "counts")

    def listed_candidates(self) -> Counts:
        """Return all candidates, if they are few enough to list."""
        if not self.is_listed:
            there = f"There are {self.candidates} candidate posteriors; at most {MOST_CANDIDATES} can be listed."
            raise DeclarationError(f"{there} Use fewer cells or records.")
        return self.tables.all

    @property
    def is_listed(self) -> bool:
        """Return whether there are few enough candidates to list them."""
        return number_of_tables(self.size, len(self.model.cells), MOST_CANDIDATES) <= MOST_CANDIDATES

    @property
    def _mixed(self) -> bool:
        """Return whether draws can be made without a list; public facts alone decide, so c is replaced by a bound."""
        alpha = self.model.concentration
        with ctx.workprec(_PUBLIC_BITS):
            most = float((ball(self.epsilon) / least_sensitivity_ball(alpha, self.size)).upper())
        return can_draw(self.size, float(alpha.sum()), len(alpha), most)

    @property
    def draws_from_list(self) -> bool:
        """Return whether a draw goes through all candidates: if they are few, or if there is no other way."""
        few = number_of_tables(self.size, len(self.model.cells), FEW_CANDIDATES) <= FEW_CANDIDATES
        return few or not self._mixed

    @cached_property
    def tables(self) -> Tables:
        """Return all tables of this size with the distances of their posteriors."""
        return Tables(self.model.concentration, self.size)

    def sensitivity_ball(self, table: Counts) -> arb:
        """Return an enclosure of S(k)."""
        return sensitivity_ball(self.model.concentration, table, self.decay)

    def _sensitivity(self, table: Counts) -> float:
        return sensitivity(self.model.concentration, table, self.decay)

    def _line_sensitivities(self) -> Floats:
        return line_sensitivities(self.model.concentration, self.size, self.decay)

    @cached_property
    def _sensitivities(self) -> Floats:
        """Return S of one table of each class of tables that symmetry makes equal; with two cells of all."""
        if len(self.model.cells) == 2:
            return self._line_sensitivities()
        return np.array([self._sensitivity(table) for table in self.tables.representatives[0]])

    def sensitivities(self, tables: Counts) -> Floats:
        """Return S(k) for rows of counts."""
        if not self.is_listed:
            return np.array([self._sensitivity(table) for table in tables])
        if len(self.model.cells) == 2:
            return self._sensitivities[tables[:, 0]]
        if len(tables) <= _FEW and "_sensitivities" not in self.__dict__:
            return np.array([self._sensitivity(table) for table in tables])
        return self._sensitivities[self.tables.representatives[1][self.tables.indices(tables)]]

    def scales(self, tables: Counts) -> Floats:
        """Return c(k) = t/S(k) for rows of counts."""
        return np.asarray(float(self.strength().mid()) / self.sensitivities(tables))

    @cached_property
    def _log_normalisers(self) -> Floats:
        """Return log Z of one table of each class; with two cells of all."""
        if len(self.model.cells) == 2:
            return line_log_normalisers(self.model.concentration, self.size, self.scales(self.tables.all))
        distinct = self.tables.representatives[0]
        return self.tables.log_normalisers(distinct, self.scales(distinct))

    def log_normalisers(self, tables: Counts, scales: Floats | None = None) -> Floats:
        """Return log Z(k) = log sum_r e^(-c(k) H(k, r)) for rows of counts; c(k) may be given where it is known."""
        if len(tables) > _ONE_BY_ONE and self.is_summed:
            return log_normalisers(self.model.concentration, tables, self.scales(tables) if scales is None else scales)
        if not self.is_listed:
            return np.array([self.moments(table).log_normaliser.middle for table in tables])
        if len(self.model.cells) == 2:
            return self._log_normalisers[tables[:, 0]]
        if len(tables) <= _FEW and "_log_normalisers" not in self.__dict__:
            return self.tables.log_normalisers(tables, self.scales(tables))
        return self._log_normalisers[self.tables.representatives[1][self.tables.indices(tables)]]

    def series_epsilon(self, scale: Fraction) -> float:
        """Return an upper bound on epsilon if c = scale / GS for all tables, by `_hellinger_series`."""
        alpha = self.model.concentration
        with ctx.workprec(_PUBLIC_BITS):
            sensitivity = global_sensitivity_ball(alpha, self.size)
        return series_epsilon(scale, sensitivity, self.candidates, pair_sums(tuple(alpha.tolist()), self.size))

    def moments(self, table: Counts) -> HellingerMoments:
        """Return bounds on log Z, E[H], E[H^2] and P(r = k) for one table of simulated counts, at any size."""
        scale = float(self.scales(table[None])[0])
        return hellinger_moments(self.model.concentration, table, scale, 2 * RELATIVE_ERROR)

    @property
    def likelihood_cost(self) -> Cost:
        """Return the cost of computing the distances to all candidates, or of the sums that replace them."""
        if self.is_summed:
            return Cost(NEAR_OPERATIONS + operations_of_sum(self.size, len(self.model.cells)))
        return Cost(30.0 * self.candidates if self.is_listed or not self.has_near_sums else NEAR_OPERATIONS)

    @property
    def is_summed(self) -> bool:
        """Return whether normalisers of many tables are computed together: there are too many candidates to list."""
        return not self.is_listed and can_sum(self.size, len(self.model.cells))

    @property
    def has_near_sums(self) -> bool:
        """Return whether a normaliser is a uniform part plus a near one, as there are too many candidates to sum."""
        many = self.candidates > MOST_ENUMERATED
        return many and self.is_exponential and not self.is_summed and len(self.model.cells) <= MOST_NEAR_CELLS

    def near_sums(self) -> ApproximateNormaliser | None:
        """Return likelihoods for many counts by a uniform part of the normaliser and a near one."""
        if not self.has_near_sums:
            return None
        return ApproximateNormaliser(self.model.concentration, self.size, self.scales, self.distances)

    def log_prob(self, output: Counts, counts: Counts) -> Floats:
        """Return log P(output | counts), for rows of either; -inf for an output that is not a candidate."""
        outputs, tables = np.broadcast_arrays(np.asarray(output), np.asarray(counts))
        shape, cells = outputs.shape[:-1], outputs.shape[-1]
        outputs, tables = outputs.reshape(-1, cells), tables.reshape(-1, cells)
        if (tables < 0).any() or (tables.sum(axis=1) != self.size).any():
            raise DeclarationError(f"The counts must not be negative and must add up to the public size {self.size}.")
        possible = (outputs >= 0).all(axis=1) & (outputs.sum(axis=1) == self.size)
        distinct, inverse = np.unique(tables, axis=0, return_inverse=True)
        own = self.scales(distinct)
        scales, normalisers = own[inverse.ravel()], self.log_normalisers(distinct, own)[inverse.ravel()]
        distances = self.distances(np.where(possible[:, None], outputs, tables), tables)
        return np.asarray(np.where(possible, -scales * distances - normalisers, -np.inf).reshape(shape))

    def distances(self, outputs: Counts, tables: Counts) -> Floats:
        """Return H between rows, computing each pair of counts of a cell once."""
        logs = np.zeros(len(outputs))
        for cell, alpha in enumerate(self.model.concentration):
            codes = outputs[:, cell] * (self.size + 1) + tables[:, cell]
            pairs, inverse = np.unique(codes, return_inverse=True)
            one, two = np.divmod(pairs, self.size + 1)
            logs += log_affinities(alpha + one, alpha + two, two - one)[inverse]
        return np.asarray(np.sqrt(-np.expm1(logs)))

    def evidence(self, output: Counts) -> Choice:
        return Choice(np.asarray(output), self)

    def outputs_for(self, counts: Counts, most: int) -> Counts | None:
        """Return all candidates, or None if there are more than `most`."""
        return self.tables.all if self.is_listed and self.candidates <= most else None

    def log_probs(self, outputs: Counts, tables: Counts) -> Floats:
        """Return log P(output | counts) for all rows of counts (rows) and all outputs (columns)."""
        logs = -self.scales(tables)[:, None] * self.tables.distances(tables) - self.log_normalisers(tables)[:, None]
        return np.asarray(logs[:, self.tables.indices(outputs)])

    def count_distance(self, counts: Counts) -> HellingerMoments:
        """Return the certified moments of the distance, at any size."""
        return self.moments(counts)

    def _why_impossible(self, output: Counts) -> str | None:
        possible = all(int(value) >= 0 for value in output) and sum(map(int, output)) == self.size
        return None if possible else f"The output must hold counts of 0 or more that add up to the size {self.size}."

    def sample(self, counts: Counts, bits: RandomBits) -> Counts:
        table = self.model.counts(counts)
        if (table.sum(axis=-1) != self.size).any():
            raise DeclarationError(f"The counts must add up to the public size {self.size}.")
        rows = table.reshape(-1, len(self.model.cells))
        distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
        drawn = np.empty_like(rows)
        for number, row in enumerate(distinct):
            chosen = np.flatnonzero(inverse.ravel() == number)
            drawn[chosen] = self._draw(row, len(chosen), bits)
        return drawn.reshape(table.shape)

    def _draw(self, table: Counts, count: int, bits: RandomBits) -> Counts:
        """Draw rows for one table: from the list of all candidates, or from the mixture above the distribution."""
        if self.draws_from_list:
            return np.asarray(self.tables.all[FiniteDistribution(lambda: self.weights(table)).sample(count, bits)])
        draws = self.exact_draws(table)
        return np.stack([draws.draw(bits) for _ in range(count)])

    def envelope(self, table: Counts) -> Envelope:
        """Return the mixture that lies above the distribution for one table."""
        return Envelope(self.model.concentration, table, float(self.scales(table[None])[0]))

    def exact_draws(self, table: Counts) -> ExactDraws:
        """Return a sampler for one table that needs no list of candidates."""
        scales: dict[int, arb] = {}  # by working precision

        def weight(candidate: Counts) -> arb:
            if ctx.prec not in scales:
                scales[ctx.prec] = self.strength() / self.sensitivity_ball(table)
            return self.weight(table, candidate, scales[ctx.prec])

        return ExactDraws(self.envelope(table), weight)

    def weight(self, table: Counts, candidate: Counts, scale: arb) -> arb:
        """Return an enclosure of e^(-c H(k, r)) for one candidate r, given one of c."""
        if (table == candidate).all():
            return arb(1)
        logs = arb(0)
        for prior, one, two in zip(self.model.concentration.tolist(), table.tolist(), candidate.tolist(), strict=True):
            if one != two:
                a, b = arb(prior) + one, arb(prior) + two
                logs += ((a + b) / 2).lgamma() - (a.lgamma() + b.lgamma()) / 2
        return (-scale * (-logs.expm1()).sqrt()).exp()

    def weights(self, table: Counts) -> list[arb]:
        """Return enclosures of e^(-c H(k, r)) for all candidates r, in the order of `compositions`."""
        scale = self.strength() / self.sensitivity_ball(table)
        here = int(self.tables.indices(table[None])[0])
        affinities = affinity_balls(self.model.concentration, table)
        logs = (-scale * (1 - affinity).sqrt() if r != here else arb(0) for r, affinity in enumerate(affinities))
        return [log.exp() for log in logs]

    def pair_epsilon(self, first: Counts, second: Counts) -> float:
        """Return an upper bound on the largest |ln P/Q| of two tables of simulated counts, at any size."""
        one, two = self.scales(np.stack([first, second])).tolist()
        return pair_certificate(self.model.concentration, first, second, (one, two), 2 * RELATIVE_ERROR)

    def neighbours(self, epsilons: Sequence[float] = ()) -> AdjacentPairs:
        """Compare all pairs of neighbouring data sets."""
        return _compared(self, tuple(epsilons))

    @cached_property
    def pure_epsilon(self) -> Fraction:
        """Return the pure epsilon over all neighbours: enumerated where that can be done, else proved.

        The enumerated value must lie below the proved one. If it does not, one of them is wrong, and an error says so.
        """
        proved = self.proved_pure_epsilon()
        if not self._enumerable:
            return proved
        found = self.neighbours()
        if float(found.losses.max()) - found.error > proved:
            raise VerificationError(
                f"{type(self).__name__} contradicts its proof: the pure epsilon is proved to be at most "
                f"{float(proved):.9g}, but among all neighbouring tables of {self.size} records a loss of "
                f"{float(found.losses.max()):.9g} was found. Nothing it states can be trusted; do not publish with it."
            )
        return min(proved, rounded_up(found.epsilon))  # they may differ by the rounding of floats

    def recomputed_delta(self) -> Fraction:
        """Return delta at the stated epsilon: recomputed by comparison where possible, else the proved value."""
        guarantee = self.guarantee
        if self._enumerable:
            return self.delta_at(guarantee.epsilon)
        stated = guarantee.evidence is Evidence.PROVED
        return guarantee.delta if stated else Fraction(self.privacy_loss().delta_at(guarantee.epsilon))

    def delta_at(self, epsilon: Fraction) -> Fraction:
        """Return an upper bound on delta(epsilon) over all neighbours, by enumeration."""
        return Fraction(self.neighbours((float(epsilon) * (1 - 1e-15),)).delta(0))  # a float no larger than epsilon

    @property
    def _enumerable(self) -> bool:
        return can_compare(self.size, len(self.model.cells))

    @property
    def _comparison(self) -> str:
        return f"all neighbouring tables of {self.size} records compared on all {self.candidates} candidates"

    @property
    def rho(self) -> Fraction:
        """Return the zCDP parameter: epsilon^2/2 of the pure epsilon."""
        return self.pure_epsilon**2 / 2

    def privacy_loss(self) -> PrivacyLoss:
        """Return a loss that dominates all pairs both ways: the envelope of their curves, or the pure worst case."""
        largest = self.pure_epsilon
        if not self._enumerable:
            return promised_loss(largest, self.guarantee.epsilon, self.guarantee.delta)
        steps = {largest * step / _POINTS for step in range(_POINTS)} | {min(self.guarantee.epsilon, largest)}
        epsilons = sorted(steps - {largest})
        found = self.neighbours(tuple(float(epsilon) * (1 - 1e-15) for epsilon in epsilons))  # no larger than epsilon
        return dominating_loss([*epsilons, largest], [*(found.delta(number) for number in range(len(epsilons))), 0.0])


@lru_cache(maxsize=32)
def _compared(mechanism: HellingerMechanism, epsilons: tuple[float, ...]) -> AdjacentPairs:
    """Compare all neighbours once for each mechanism; nothing in it depends on data."""
    alpha, tables = mechanism.model.concentration, mechanism.tables
    every = mechanism.scales(tables.all)
    return compare_neighbours(alpha, mechanism.size, lambda rows: every[tables.indices(rows)], RELATIVE_ERROR, epsilons)
