"""PermuteAndFlip: candidates in random order, each taken with a probability that falls with its distance.

With p_r = e^(-scale H(k, r) / GS), the true posterior has p = 1, so some candidate is always taken. With scale =
epsilon/2 it is pure epsilon-DP for any score of this sensitivity, and never worse in expectation than the exponential
mechanism with the same epsilon (McKenna and Sheldon, 2020). That proof lets every score change by GS at once, which no
neighbours do: about half of epsilon is left unused. So where all neighbours can be compared, by the closed distribution
of `flip_log_prob`, the scale is the largest that keeps epsilon.

Its exact privacy over all pairs of neighbouring data sets follows from its distribution. Candidates come in the order
of independent uniform times u, and candidate r is taken with probability p_r:

    P(r | x) = p_r integral_0^1 prod_{s != r} (1 - u p_s) du,     p_s = e^(-c H(x, s)).

The integrand is a polynomial of degree |R| - 1 that falls from 1, so Gauss's rule with |R|/2 + 1 points gives its
integral I, and all terms are positive. Many candidates need fewer points: on an ellipse around [0, 1] whose axes have
the sum rho/2 the integrand is at most e^(a |R|), a = (rho + 1/rho - 2)/4, as it is largest at the left end, -a. Gauss's
rule with N points is right to (64/15) e^(a |R|) rho^(-2 N) / (1 - rho^-2), and I is at least 1 / (|R| + 1). With
N = 4 sqrt(|R|) + 16 some rho makes that less than 2^-80 of I, for up to 10,000 candidates. What floats do to ln P:

- p_s and the points u are right to a relative error d (so is their product). I lies between what it is if all products
  are larger by d and if all are smaller, and w I(w), the integral up to w, rises with w while I(w) falls: ln I changes
  by d at most, and so does ln p_r;
- factors, products and sums of |R| positive terms are right to 3 |R| units.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, sqrt

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet.choices._adjacent_pairs import AdjacentPairs, pair_losses
from discreet.choices._choice_scale import all_tables
from discreet.choices._hellinger import GlobalSensitivity
from discreet.choices._hellinger_sensitivity import RELATIVE_ERROR
from discreet.choices._posterior_distances import UNIT, Tables, line_error
from discreet.mechanism import Cost
from discreet.noise.randomness import RandomBits, uniform_below

MOST_FLIPS = 100_000_000
"""The most data sets times candidates times points of the rule that are computed to compare all neighbours."""
_PRECISION = 128


def flip_points(candidates: int) -> int:
    """Return how many points the rule has: enough for all digits of a float.

    >>> [flip_points(candidates) for candidates in (3, 100, 1_891)]
    [2, 51, 190]
    """
    return min(candidates // 2 + 1, ceil(4 * sqrt(candidates)) + 16)


@lru_cache(maxsize=8)
def flip_rule(candidates: int) -> tuple[Floats, Floats]:
    """Return points in (0, 1) and weights, right to a unit, of a rule for the integrals over all `candidates`."""
    number = flip_points(candidates)
    with ctx.workprec(_PRECISION):
        pairs = [arb.legendre_p_root(number, index, weight=True) for index in range(number)]
        found = np.array([(float(((point + 1) / 2).mid()), float((weight / 2).mid())) for point, weight in pairs])
    return found[:, 0], found[:, 1]


def flip_log_prob(logs: Floats, indices: Counts | slice = slice(None)) -> Floats:
    """Return ln P(r) for all candidates, or for those at some indices, given ln p of all."""
    points, weights = flip_rule(len(logs))
    misses = points[:, None] * np.exp(logs)
    np.subtract(1, misses, out=misses)
    return np.asarray(logs[indices] + np.log((weights * misses.prod(axis=1)) @ (1 / misses[:, indices])))


def can_compare_flips(candidates: int) -> bool:
    """Return whether the distributions of all data sets can be computed in a second or two."""
    return candidates * candidates * (candidates // 2 + 1) <= MOST_FLIPS


def compare_flips(tables: Tables, scale: float, scale_error: float, epsilons: tuple[float, ...] = ()) -> AdjacentPairs:
    """Compare all pairs of neighbours under the scale c, whose relative error is bounded by `scale_error`."""
    _, pairs = all_tables(tables.size, len(tables.alpha))
    distributions = np.stack([flip_log_prob(row) for row in -scale * tables.distances(tables.all)])
    losses, deltas = pair_losses(distributions[pairs[:, 0]], distributions[pairs[:, 1]], epsilons)
    first, second = tables.all[pairs[:, 0]], tables.all[pairs[:, 1]]
    return AdjacentPairs(first, second, losses, epsilons, deltas, flip_error(tables, scale, scale_error))


def compare_flips_of(
    tables: Tables, first: Counts, second: Counts, error: float, epsilons: tuple[float, ...] = ()
) -> Callable[[float], AdjacentPairs]:
    """Return a function of the scale c that compares only these pairs, with a given error of ln P/Q."""
    sides = [tables.distances(rows) for rows in (first, second)]

    def compare(scale: float) -> AdjacentPairs:
        p, q = (np.stack([flip_log_prob(row) for row in -scale * distances]) for distances in sides)
        losses, deltas = pair_losses(p, q, epsilons)
        return AdjacentPairs(first, second, losses, epsilons, deltas, error)

    return compare


def flip_error(tables: Tables, scale: float, scale_error: float) -> float:
    """Return a bound on the error of ln P/Q: twice that of ln P."""
    distance = line_error(tables.size) if len(tables.alpha) == 2 else 64 * UNIT
    relative = scale * (scale_error + distance + 4 * UNIT) + 8 * UNIT
    return float(4 * relative + 2 * (3 * len(tables.all) + 64) * UNIT * (1 + scale))


Words = NDArray[np.uint64]
MOST_ORDERED = 2_000
_CHUNK = 1_000  # draws made side by side
_BITS = 63
_PROOF = "permute-and-flip with the global sensitivity of its score"


@dataclass(frozen=True, init=False, repr=False)
class PermuteAndFlip(GlobalSensitivity, kind="PermuteAndFlip", version=2):
    """Go through candidate posteriors in random order, flipping a coin for each, until one is taken: pure epsilon-DP.

    >>> from discreet.tables import Categories
    >>> coin = Categories("coin", levels=("heads", "tails"), outside="heads")
    >>> PermuteAndFlip(coin, size=10, epsilon=1).scale
    Fraction(631939, 1000000)
    """

    def _check_candidates(self) -> None:
        super()._check_candidates()
        if self.candidates > MOST_ORDERED:
            raise DeclarationError(
                f"{self.size} records in {len(self.model.cells)} cells give {self.candidates} candidate posteriors; "
                f"PermuteAndFlip can go through at most {MOST_ORDERED}. Use HellingerGlobal."
            )

    @property
    def is_exponential(self) -> bool:
        """Return False: its distribution is another one."""
        return False

    @property
    def is_smooth(self) -> bool:
        """Return False: it has no normaliser."""
        return False

    def log_probs(self, outputs: Counts, tables: Counts) -> Floats:
        """Return log P(output | counts) for all rows of counts (rows) and all outputs (columns)."""
        indices = self.tables.indices(outputs)
        return np.stack([self.log_probs_of(table)[indices] for table in tables])

    def log_probs_of(self, table: Counts, indices: Counts | slice = slice(None)) -> Floats:
        """Return log P(r | table) for all candidates r, or for those at some indices."""
        return flip_log_prob(-self.scales(table[None])[0] * self.tables.distances(table[None])[0], indices)

    @property
    def likelihood_cost(self) -> Cost:
        """Return the cost of all points of the rule, for each candidate."""
        return Cost(40.0 * self.candidates * flip_points(self.candidates))

    def log_prob(self, output: Counts, counts: Counts) -> Floats:
        """Return log P(output | counts), for rows of either; -inf for what is no candidate."""
        outputs, tables = np.broadcast_arrays(np.asarray(output), np.asarray(counts))
        shape, cells = outputs.shape[:-1], outputs.shape[-1]
        outputs, tables = outputs.reshape(-1, cells), tables.reshape(-1, cells)
        possible = (outputs >= 0).all(axis=1) & (outputs.sum(axis=1) == self.size)
        distinct, inverse = np.unique(tables, axis=0, return_inverse=True)
        found = np.full(len(outputs), -np.inf)
        for number, table in enumerate(distinct):
            rows = np.flatnonzero(possible & (inverse.ravel() == number))
            found[rows] = self.log_probs_of(table, self.tables.indices(outputs[rows]))
        return found.reshape(shape)

    def _draw(self, table: Counts, count: int, bits: RandomBits) -> Counts:
        chunks = [min(_CHUNK, count - start) for start in range(0, count, _CHUNK)]
        bounds = self._bounds(table, _BITS)
        indices = np.concatenate([self._draw_chunk(table, bounds, size, bits) for size in chunks])
        return np.asarray(self.tables.all[indices])

    def _draw_chunk(self, table: Counts, bounds: tuple[Words, Words], count: int, bits: RandomBits) -> Counts:
        """Draw side by side; a candidate that was seen already is passed over, which makes the order uniform."""
        lower, upper = bounds
        seen = np.zeros((count, len(lower)), dtype=np.bool_)
        taken, late = np.zeros(count, dtype=np.int64), np.arange(count)
        while late.size:
            picks = uniform_below(len(lower), late.size, bits).astype(np.int64)
            words = bits.words(late.size) >> np.uint64(1)
            new = ~seen[late, picks]
            seen[late, picks] = True
            yes = words < lower[picks]
            for index in np.flatnonzero(new & ~yes & (words < upper[picks])):
                yes[index] = self._refined(table, int(picks[index]), int(words[index]), _BITS, bits)
            taken[late[new & yes]] = picks[new & yes]
            late = late[~(new & yes)]
        return taken

    def _refined(self, table: Counts, pick: int, word: int, length: int, bits: RandomBits) -> bool:
        """Decide a coin whose first bits are those of its probability, with as many more as it takes."""
        word, length = word << 64 | int(bits.words(1)[0]), length + 64
        with ctx.workprec(2 * length + 64):
            edge = self.weights(table)[pick] * arb(2) ** length
            if edge > word + 1:
                return True
            if edge < word:
                return False
        return self._refined(table, pick, word, length, bits)

    def _bounds(self, table: Counts, length: int) -> tuple[Words, Words]:
        """Return for each candidate below which word it is surely taken, and from which on it is surely passed over."""
        with ctx.workprec(2 * length + 64):
            edges = [weight * arb(2) ** length for weight in self.weights(table)]
            lower = [int(str(edge.lower().floor().unique_fmpz())) for edge in edges]
            upper = [int(str(edge.upper().ceil().unique_fmpz())) for edge in edges]
        return np.array(lower, dtype=np.uint64), np.array(upper, dtype=np.uint64)

    def proved_scale(self) -> tuple[Fraction, str]:
        """Return epsilon/2."""
        return self.epsilon / 2, f"{_PROOF}; about half of epsilon may be unused, as neighbours were not compared"

    @property
    def _enumerable(self) -> bool:
        return can_compare_flips(self.candidates)

    @property
    def _steepness(self) -> float:
        """Return 1/GS, by which the scale is multiplied."""
        return float(1 / self.sensitivities(self.tables.all[:1])[0])

    def compared(self, scale: Fraction, epsilons: Sequence[float] | None = None) -> AdjacentPairs:
        at = (float(self.epsilon) * (1 - 1e-15),) if epsilons is None else tuple(epsilons)
        return compare_flips(self.tables, float(scale) * self._steepness, RELATIVE_ERROR, at)

    def compared_few(self, pairs: Counts, error: float) -> Callable[[float], AdjacentPairs]:
        steepness = self._steepness
        compare = compare_flips_of(self.tables, pairs[:, 0], pairs[:, 1], error, (float(self.epsilon),))
        return lambda scale: compare(scale * steepness)

    def neighbours(self, epsilons: Sequence[float] = ()) -> AdjacentPairs:
        return self.compared(self.scale, epsilons)
