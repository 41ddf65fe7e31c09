"""How much one record can change the Hellinger score: local, global, smooth and reciprocal-Lipschitz sensitivity.

H is a metric and a true posterior is itself a candidate, so max_r |H(x, r) - H(y, r)| = H(x, y): only distances between
neighbours matter. Moving a record between cells i and j joins two posteriors of affinity r(a_i) r(a_j), where a_i and
a_j are the parameters without that record and

    r(t) = Gamma(t + 1/2) / sqrt(Gamma(t) Gamma(t + 1)),    ln r increasing and strictly concave.

Each sensitivity here is S(x) = max over such edges e of what is left of H(e) at distance cost(x, e). Because ln r is
concave, for a given cost it is best to drain one cell completely and then another, which leaves few edges to look at.
Floats choose the edge; balls give its value where a published distribution rests on it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import comb, expm1, floor

import numpy as np
from flint import arb

from discreet._core.arrays import Counts, Floats
from discreet._core.exact import ball
from discreet.mathematics import log_r

_NEAR = 1e-9  # floats are trusted to tell which edges are this close to the best one
RELATIVE_ERROR = 2e-13  # of any sensitivity computed here with floats; tested against balls


def _r_ball(t: arb) -> arb:
    return ((t + 0.5).lgamma() - t.lgamma()).exp() / t.sqrt()


@dataclass(frozen=True, eq=False)
class Edges:
    """Pairs of neighbours: two cells, how many records each holds besides the one that moves, and how far it is."""

    first: Counts
    first_level: Counts
    second: Counts
    second_level: Counts
    cost: Counts

    def distances(self, alpha: Floats) -> Floats:
        """Return H(e) = sqrt(1 - r(a_i) r(a_j)) of every edge."""
        logs = log_r(alpha[self.first] + self.first_level) + log_r(alpha[self.second] + self.second_level)
        return np.asarray(np.sqrt(-np.expm1(logs)))

    def distance_ball(self, alpha: Floats, index: int) -> arb:
        """Return an enclosure of H(e) of one edge."""
        one = arb(float(alpha[self.first[index]])) + int(self.first_level[index])
        two = arb(float(alpha[self.second[index]])) + int(self.second_level[index])
        return (1 - _r_ball(one) * _r_ball(two)).sqrt()

    def joined(self, other: "Edges") -> "Edges":
        """Return the edges of both."""
        names = self.__dataclass_fields__
        return Edges(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))


@dataclass(frozen=True)
class Decay:
    """How much of an edge counts at a distance: gain(S) = max_e gain(H(e)) - rate cost(e), for an increasing gain."""

    gain: Callable[[Floats], Floats]
    back: Callable[[Floats], Floats]
    gain_ball: Callable[[arb], arb]
    back_ball: Callable[[arb], arb]
    rate: Callable[[], arb]

    @property
    def speed(self) -> float:
        """Return the rate as a float."""
        return float(self.rate().mid())

    def reach(self, nearest: float, largest: float, size: int) -> int:
        """Return the largest cost at which an edge can still win over the nearest one."""
        least, most = self.gain(np.array([nearest, largest]))
        steps = (most - least) / self.speed if self.speed * size > most - least else size
        return min(size, floor(steps) + 1)


def exponential(gamma: Callable[[], arb]) -> Decay:
    """Return the decay of smooth sensitivity: S(x) = max_e H(e) e^(-gamma cost(x, e))."""
    return Decay(np.log, np.exp, arb.log, arb.exp, gamma)


def reciprocal(lipschitz: Fraction) -> Decay:
    """Return the decay that keeps 1/S Lipschitz: 1/S(x) = min_e 1/H(e) + L cost(x, e)."""
    return Decay(_negative_inverse, _negative_inverse, lambda x: -1 / x, lambda x: -1 / x, lambda: ball(lipschitz))


def _negative_inverse(values: Floats) -> Floats:
    return np.asarray(-1 / values)


def local_sensitivity(alpha: Floats, counts: Counts) -> float:
    """Return LS(x): the smallest occupied cell gives a record to the smallest other cell."""
    return float(edges_around(alpha, counts, 0).distances(alpha).max())


def global_sensitivity(alpha: Floats, size: int) -> float:
    """Return GS = max_x LS(x): both cells as empty as they can be."""
    return float(_emptiest(alpha, size).distances(alpha)[0])


def smooth_sensitivity(alpha: Floats, counts: Counts, gamma: float) -> float:
    """Return S(x) = max_x' LS(x') e^(-gamma d(x, x'))."""
    return sensitivity(alpha, counts, exponential(lambda: arb(gamma)))


def reciprocal_sensitivity(alpha: Floats, counts: Counts, lipschitz: float) -> float:
    """Return S(x) with 1/S(x) = min_x' 1/LS(x') + L d(x, x')."""
    return sensitivity(alpha, counts, reciprocal(Fraction(lipschitz)))


def sensitivity(alpha: Floats, counts: Counts, decay: Decay) -> float:
    """Return S(x) for one table, by draining cells."""
    edges = _worth_a_look(alpha, counts, decay)
    return float(decay.back((decay.gain(edges.distances(alpha)) - decay.speed * edges.cost).max()))


def sensitivity_ball(alpha: Floats, counts: Counts, decay: Decay) -> arb:
    """Return an enclosure of S(x): the largest of those edges that floats cannot tell from the best one."""
    edges = _worth_a_look(alpha, counts, decay)
    values = decay.back(decay.gain(edges.distances(alpha)) - decay.speed * edges.cost)
    rate = decay.rate()
    gains = [decay.gain_ball(edges.distance_ball(alpha, e)) - rate * int(edges.cost[e]) for e in _near_best(values)]
    return decay.back_ball(reduce(arb.max, gains))


def local_sensitivity_ball(alpha: Floats, counts: Counts) -> arb:
    """Return an enclosure of LS(x)."""
    edges = edges_around(alpha, counts, 0)
    return reduce(arb.max, [edges.distance_ball(alpha, e) for e in _near_best(edges.distances(alpha))])


def _near_best(values: Floats) -> Counts:
    return np.flatnonzero(values >= values.max() * (1 - _NEAR))


def global_sensitivity_ball(alpha: Floats, size: int) -> arb:
    """Return an enclosure of GS."""
    return _emptiest(alpha, size).distance_ball(alpha, 0)


def line_sensitivities(alpha: Floats, size: int, decay: Decay) -> Floats:
    """Return S(x) for all tables (x, n - x) of two cells, x = 0, ..., n: one sweep from either side.

    The edge between x = s and s + 1 costs s - x steps from the left and x - s - 1 from the right.
    """
    indices = np.arange(size)
    gains = decay.gain(_line(size, indices, np.zeros(size, dtype=np.int64)).distances(alpha))
    slope = decay.speed * indices
    ahead = np.maximum.accumulate((gains - slope)[::-1])[::-1] + slope
    behind = np.maximum.accumulate(gains + slope) - slope
    return decay.back(np.maximum(np.append(ahead, behind[-1]), np.append(ahead[0], behind)))


def line_local_sensitivities(alpha: Floats, size: int) -> Floats:
    """Return LS(x) for all tables (x, n - x) of two cells: the larger of the two edges beside x."""
    edges = _line(size, np.arange(size), np.zeros(size, dtype=np.int64)).distances(alpha)
    return np.asarray(np.maximum(np.append(edges, edges[-1]), np.append(edges[0], edges)))


def least_sensitivity_ball(alpha: Floats, size: int) -> arb:
    """Return a lower bound of LS(x) over all x: sqrt(1 - r(A/(m - 1))), A = n + sum alpha.

    The cell that receives is the smallest but one at most, so it is no larger than A/(m - 1); r increases.
    """
    total = sum((arb(float(value)) for value in alpha), arb(size))
    return (1 - _r_ball(total / (len(alpha) - 1))).sqrt()


def _worth_a_look(alpha: Floats, counts: Counts, decay: Decay) -> Edges:
    size = int(counts.sum())
    largest = _emptiest(alpha, size)
    if decay.rate() == 0:
        return largest
    nearest = local_sensitivity(alpha, counts)
    return edges_around(alpha, counts, decay.reach(nearest, float(largest.distances(alpha)[0]), size))


def _emptiest(alpha: Floats, size: int) -> Edges:
    """Return the edge of the global sensitivity: two smallest priors; of two cells one must hold the other records."""
    first, second = np.argsort(alpha, kind="stable")[:2]
    rest = size - 1 if len(alpha) == 2 else 0
    return Edges(*(np.array([value]) for value in (first, 0, second, rest, 0)))


def edges_around(alpha: Floats, counts: Counts, farthest: int) -> Edges:
    """Return edges that hold the best one at every cost up to `farthest`, as seen from one table."""
    if len(alpha) == 2:
        size, here = int(counts.sum()), int(counts[0])
        indices = np.arange(max(0, here - 1 - farthest), min(size - 1, here + farthest) + 1)
        return _line(size, indices, np.maximum(0, np.maximum(indices - here, here - 1 - indices)))
    order = np.argsort(alpha + counts, kind="stable")
    found = _drain_one(order, counts, farthest)
    for cell in _undominated(alpha, counts):
        if 0 < counts[cell] <= farthest:
            found = found.joined(_drain_after(int(cell), order, counts, farthest))
    empty = np.flatnonzero(counts == 0)
    if farthest >= 1 and len(empty) >= 2:  # a record comes into one of two empty cells first
        first, second = empty[np.argsort(alpha[empty], kind="stable")[:2]]
        found = found.joined(Edges(*(np.array([value]) for value in (first, 0, second, 0, 1))))
    return found


def _line(size: int, indices: Counts, cost: Counts) -> Edges:
    """Return edges between (s, n - s) and (s + 1, n - s - 1)."""
    return Edges(np.zeros_like(indices), indices, np.ones_like(indices), size - 1 - indices, cost)


def _drain_one(order: Counts, counts: Counts, farthest: int) -> Edges:
    """Drain one cell by q = 1, 2, ...: the smallest that holds q records, beside the smallest other cell."""
    tallest = np.maximum.accumulate(counts[order])
    q = np.arange(1, min(farthest + 1, int(tallest[-1])) + 1)
    index = np.searchsorted(tallest, q)
    drained, other = order[index], np.where(index == 0, order[1], order[0])
    return Edges(other, counts[other], drained, counts[drained] - q, q - 1)


def _drain_after(cell: int, order: Counts, counts: Counts, farthest: int) -> Edges:
    """Drain a cell completely, then the smallest other that holds q records by q = 1, 2, ..."""
    others = order[order != cell]
    left = Edges(*(part[:0] for part in (others,) * 5))
    tallest = np.maximum.accumulate(counts[others])
    q = np.arange(1, min(farthest + 1 - int(counts[cell]), int(tallest[-1])) + 1)
    if not q.size:
        return left
    drained = others[np.searchsorted(tallest, q)]
    return Edges(np.full_like(q, cell), np.zeros_like(q), drained, counts[drained] - q, counts[cell] + q - 1)


def _undominated(alpha: Floats, counts: Counts) -> list[int]:
    """Return the cells that have at most one other with no larger prior and no larger count."""
    smallest, second, kept = np.inf, np.inf, []
    for cell in np.lexsort((counts, alpha)):
        if counts[cell] < second:
            kept.append(int(cell))
            smallest, second = sorted((smallest, second, float(counts[cell])))[:2]
    return kept


def published_gamma(epsilon: Fraction, delta: Fraction, candidates: int) -> arb:
    """Return the papers' smoothing, gamma = ln(1 - epsilon / (2 ln(delta / (2 |R|)))); they write n + 1 for |R|."""
    return (1 - ball(epsilon) / (2 * (ball(delta) / (2 * candidates)).log())).log()


def proved_gamma(epsilon: Fraction, delta: Fraction, candidates: int) -> arb:
    """Return the smoothing of the proved variant: e^gamma - 1 = epsilon / (3 ln(|R| / delta))."""
    return (1 + ball(epsilon) / (3 * (candidates / ball(delta)).log())).log()


def normaliser_bound(epsilon: float, gamma: float, size: int, cells: int, least: float = 0.0) -> float:
    """Return N(n), a lower bound of sum_r e^(-epsilon H(x, r) / (2 S(x))) that holds for all data x.

    A candidate k steps away has H/S <= g(k) = (e^(gamma k) - 1)/(e^gamma - 1), at least C(k + m - 1, m - 1) candidates
    lie within k steps, and H <= 1:  N(n) = sum_k C(k + m - 2, m - 2) e^(-(epsilon/2) min(g(k), 1/least)).

    >>> round(normaliser_bound(1, 0.0231910018784999068, 8, 2), 12)
    2.462140635502
    """
    cap = 1 / least if least else np.inf
    grown = ((expm1(gamma * k) / expm1(gamma)) if gamma else k for k in range(size + 1))
    return float(sum(comb(k + cells - 2, cells - 2) * np.exp(-epsilon / 2 * min(g, cap)) for k, g in enumerate(grown)))
