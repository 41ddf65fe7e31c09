"""The law of permute-and-flip, and its exact privacy over all pairs of neighbouring data sets.

Candidates come in the order of independent uniform times u, and candidate r is taken with probability p_r:

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

from collections.abc import Callable
from functools import lru_cache
from math import ceil, sqrt

import numpy as np
from flint import arb, ctx

from discreet.arrays import Counts, Floats
from discreet.certificates.adjacent_pairs import AdjacentPairs, pair_losses
from discreet.certificates.choice_scale import all_tables
from discreet.certificates.posterior_distances import UNIT, Tables, line_error

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
        pairs = [arb.legendre_p_root(number, place, weight=True) for place in range(number)]
        found = np.array([(float(((point + 1) / 2).mid()), float((weight / 2).mid())) for point, weight in pairs])
    return found[:, 0], found[:, 1]


def flip_log_law(logs: Floats, places: Counts | slice = slice(None)) -> Floats:
    """Return ln P(r) for all candidates, or for those at some places, given ln p of all."""
    points, weights = flip_rule(len(logs))
    misses = points[:, None] * np.exp(logs)
    np.subtract(1, misses, out=misses)
    return np.asarray(logs[places] + np.log((weights * misses.prod(axis=1)) @ (1 / misses[:, places])))


def can_compare_flips(candidates: int) -> bool:
    """Tell whether the laws of all data sets can be computed in a second or two."""
    return candidates * candidates * (candidates // 2 + 1) <= MOST_FLIPS


def compare_flips(tables: Tables, scale: float, scale_error: float, epsilons: tuple[float, ...] = ()) -> AdjacentPairs:
    """Compare all pairs of neighbours under the scale c, whose relative error is bounded by `scale_error`."""
    _, pairs = all_tables(tables.size, len(tables.alpha))
    laws = np.stack([flip_log_law(row) for row in -scale * tables.distances(tables.all)])
    losses, deltas = pair_losses(laws[pairs[:, 0]], laws[pairs[:, 1]], epsilons)
    first, second = tables.all[pairs[:, 0]], tables.all[pairs[:, 1]]
    return AdjacentPairs(first, second, losses, epsilons, deltas, flip_error(tables, scale, scale_error))


def compare_flips_of(
    tables: Tables, first: Counts, second: Counts, error: float, epsilons: tuple[float, ...] = ()
) -> Callable[[float], AdjacentPairs]:
    """Return a function of the scale c that compares only these pairs, with a given error of ln P/Q."""
    sides = [tables.distances(rows) for rows in (first, second)]

    def compare(scale: float) -> AdjacentPairs:
        p, q = (np.stack([flip_log_law(row) for row in -scale * distances]) for distances in sides)
        losses, deltas = pair_losses(p, q, epsilons)
        return AdjacentPairs(first, second, losses, epsilons, deltas, error)

    return compare


def flip_error(tables: Tables, scale: float, scale_error: float) -> float:
    """Return a bound on the error of ln P/Q: twice that of ln P."""
    distance = line_error(tables.size) if len(tables.alpha) == 2 else 64 * UNIT
    relative = scale * (scale_error + distance + 4 * UNIT) + 8 * UNIT
    return float(4 * relative + 2 * (3 * len(tables.all) + 64) * UNIT * (1 + scale))
