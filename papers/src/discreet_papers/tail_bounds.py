"""How far from the truth a Hellinger mechanism goes: three tail bounds, the last free of the data.

For P(r | x) = e^(-c H(x, r)) / NL(x), c = t/S(x), the later Hellinger notes give three bounds of P(H >= d); their
exponent epsilon/S is twice too large and understates the tail. With t = epsilon/2 and R the candidates:

    exact:           sum over H(x, r) >= d of e^(-c H(x, r)) / NL(x)
    counted:         #{r : H(x, r) >= d} e^(-c d) / NL(x)
    by size alone:   |R| e^(-c d) / N(n)

N(n) <= NL(x) for all data x is the normaliser bound that the notes leave open: a candidate k steps away has
H/S <= (e^(gamma k) - 1)/(e^gamma - 1), because each step is at most as long as the local sensitivity where it starts,
and S(x) e^(gamma j) bounds that after j steps; at least C(k + m - 1, m - 1) candidates lie within k steps.
"""

from math import exp

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts
from discreet._core.errors import DeclarationError
from discreet.choices import HellingerMechanism
from discreet.choices._hellinger_sensitivity import global_sensitivity, least_sensitivity_ball, normaliser_bound

_MOST_TABLES = 5_000
_SAFE = 1e-12  # relative margin by which floats of a bound are moved to the safe side


def tail_probability(mechanism: HellingerMechanism, counts: ArrayLike, distance: float) -> float:
    """Return P(H(x, r) >= distance) for data x, exactly.

    >>> from discreet_papers.as_published import PublishedHellingerSmooth
    >>> from discreet.tables import Categories
    >>> coin = Categories("coin", levels=("heads", "tails"), outside="heads")
    >>> round(tail_probability(PublishedHellingerSmooth(coin, 400, 1, "1e-8"), (200, 200), 0.5), 5)
    0.00105
    """
    table, distances = _row(mechanism, counts, distance)
    far = mechanism.tables.all[distances >= distance]
    return float(np.exp(mechanism.log_prob(far, table)).sum())


def counted_tail_bound(mechanism: HellingerMechanism, counts: ArrayLike, distance: float) -> float:
    """Return #{r : H(x, r) >= distance} e^(-c distance) / NL(x), at most 1."""
    table, distances = _row(mechanism, counts, distance)
    number = int((distances >= distance).sum())
    log_normaliser = float(mechanism.log_normalisers(table[None])[0])
    return min(1.0, number * exp(-_scale(mechanism, table) * distance - log_normaliser) * (1 + _SAFE))


def size_only_tail_bound(mechanism: HellingerMechanism, counts: ArrayLike, distance: float) -> float:
    """Return |R| e^(-c distance) / N(n), at most 1; it needs only S(x) of the data, and no sum over candidates."""
    table, number = _table(mechanism, counts, distance), mechanism.candidates
    return min(1.0, number * exp(-_scale(mechanism, table) * distance) / least_normaliser(mechanism) * (1 + _SAFE))


def tail_bound_for_all_data(mechanism: HellingerMechanism, distance: float) -> float:
    """Return |R| e^(-t distance / GS) / N(n), at most 1, which holds for all data."""
    _check_distance(distance)
    largest = global_sensitivity(mechanism.model.concentration, mechanism.size)
    strength = float(mechanism.strength().mid())
    return min(1.0, mechanism.candidates * exp(-strength * distance / largest) / least_normaliser(mechanism))


def least_normaliser(mechanism: HellingerMechanism) -> float:
    """Return N(n), rounded down: no data set of this size has a smaller normaliser."""
    if not mechanism.is_smooth:
        raise DeclarationError(
            f"N(n) is known for mechanisms with global or smooth sensitivity, not for {type(mechanism).__name__}."
        )
    strength, cells = float(mechanism.strength().mid()), len(mechanism.model.cells)
    least = _least_sensitivity(mechanism) * (1 - _SAFE)
    return normaliser_bound(2 * strength, mechanism.decay.speed, mechanism.size, cells, least) * (1 - _SAFE)


def _least_sensitivity(mechanism: HellingerMechanism) -> float:
    """Return min_x S(x) or, for many tables, a lower bound that needs none of them."""
    if mechanism.candidates <= _MOST_TABLES:
        return float(mechanism.sensitivities(mechanism.tables.all).min())
    return float(least_sensitivity_ball(mechanism.model.concentration, mechanism.size).lower())


def _scale(mechanism: HellingerMechanism, table: Counts) -> float:
    return float(mechanism.scales(table[None])[0]) * (1 - _SAFE)


def _row(mechanism: HellingerMechanism, counts: ArrayLike, distance: float) -> tuple[Counts, Counts]:
    """Return checked counts, and the distances of all candidates from them."""
    if not mechanism.is_exponential:
        raise DeclarationError(
            f"Tail bounds are known for exponential mechanisms only, and {type(mechanism).__name__} is not one."
        )
    table = _table(mechanism, counts, distance)
    return table, mechanism.tables.distances(table[None])[0]


def _table(mechanism: HellingerMechanism, counts: ArrayLike, distance: float) -> Counts:
    _check_distance(distance)
    table = mechanism.model.counts(counts)
    if table.ndim != 1 or int(table.sum()) != mechanism.size:
        raise DeclarationError(
            f"A tail bound needs one table of made-up counts that add up to the public size {mechanism.size}."
        )
    return table


def _check_distance(distance: float) -> None:
    if not 0 <= distance <= 1:
        raise DeclarationError(f"A Hellinger distance must lie between 0 and 1; got {distance}.")
