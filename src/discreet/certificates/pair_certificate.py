"""What one pair of neighbours can tell apart, certified at any size: by bounds on the two normalisers.

Let P(r | x) = e^(-c H(x, r))/Z and P(r | x') with c' >= c and Z'. For h = H(x, x') the triangle inequality and H <= 1
put c' H' - c H between -c h and c h + (c' - c), as for `pair_bound`. There the ratio of the normalisers is bounded in
the same way; here it is computed, between bounds, so that

    |ln P(r | x)/P(r | x')| <= max(c h + (c' - c) + ln Z'/Z,  c h - ln Z'/Z).

At large sizes Z' is nearly Z, and this is about half of `pair_bound`.
"""

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.certificates.hellinger_moments import hellinger_moments
from discreet.certificates.pair_bound import pair_bound
from discreet.mathematics.divergences import log_affinities


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
