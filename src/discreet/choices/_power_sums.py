"""Sums of powers of the affinity over all tables: Z_K = sum_r BC(x, r)^K, for any real K > 0, with an error bound.

BC^K is a product over cells, so Z_K is one coefficient of a product of one-dimensional series. With the tables scaled
to probabilities and tilted to the right total, it is a probability near the middle of a distribution, and a Fourier
transform gives it with all the digits that a float has. What is bounded:

- rounding of the transform: an FFT of length M has relative error below 8 u log2 M in the 2-norm (u = 2^-53);
- wrapping around: a total that is wrong by M or more, by Chernoff's bound, which only adds to the sum;
- rounding of the tables, whose logarithms are known to 4e-15 of themselves.

What the tables leave out, at most e^-floor for each table r, is left to the caller.
"""

from dataclasses import dataclass
from math import ceil, exp, log, log2

import numpy as np

from discreet.choices._posterior_distances import UNIT
from discreet.choices._posterior_powers import CellPowers, PosteriorPowers

AFFINITY_ERROR = 4e-15  # of ln phi, relative; tested against balls
_DEVIATIONS, _SHORT = 12, 1_024  # the total wraps around only beyond this many deviations and this many records


@dataclass(frozen=True)
class PowerSum:
    """ln of a sum of powers, and by which share it may be too large or too small."""

    log: float
    error: float


def power_sum(powers: PosteriorPowers, power: float) -> PowerSum:
    """Return sum_r BC(x, r)^K over all tables r within the floor."""
    balanced = powers.balanced(powers.at(power))
    tables, deviation = balanced.tables, balanced.deviation
    length = _length(powers, tables, deviation)
    spectrum, logs, norms, start = np.ones(length // 2 + 1, dtype=complex), 0.0, 0.0, 0
    for table, cells in zip(tables, powers.sizes.tolist(), strict=True):
        weights = np.exp(table.logs - table.logs.max())
        total = float(weights.sum())
        spectrum *= np.fft.rfft(weights / total, length) ** cells
        logs += cells * (float(table.logs.max()) + log(total))
        norms += cells * float(np.sqrt(weights @ weights)) / total
        start += cells * table.start
    distribution = np.fft.irfft(spectrum, length)
    found = max(float(distribution[-start % length]), UNIT)
    rounding = 8 * UNIT * (log2(length) + powers.cells) * (norms + float(np.sqrt(distribution @ distribution)))
    wrapped = _wrapped(powers, tables, length, deviation)
    return PowerSum(logs + log(found), (rounding + wrapped) / found + _table_error(powers, tables, balanced.theta))


def _length(powers: PosteriorPowers, tables: list[CellPowers], deviation: float) -> int:
    """Return a power of two: so long that nothing wraps around, or else far more than the total deviates."""
    widths = np.array([len(table.logs) for table in tables])
    whole = int(powers.sizes @ (widths - 1)) + 1
    enough = max(int(widths.max()), ceil(_DEVIATIONS * deviation), _SHORT)
    return 1 << max(1, (min(whole, enough) - 1).bit_length())


def _wrapped(powers: PosteriorPowers, tables: list[CellPowers], length: int, deviation: float) -> float:
    """Return a bound on P(|total change| >= M) of independent changes: e^(-lambda M) E e^(lambda S), both ways."""
    if sum(cells * (len(table.logs) - 1) for table, cells in zip(tables, powers.sizes, strict=True)) < length:
        return 0.0
    rate, found = min(1.0, length / (2 * deviation**2)), 0.0
    for sign in (1, -1):
        logs = -rate * length
        for table, cells in zip(tables, powers.sizes.tolist(), strict=True):
            tilted = table.tilted(sign * rate).logs
            tops = float(tilted.max()), float(table.logs.max())
            sums = (float(np.exp(each - top).sum()) for each, top in zip((tilted, table.logs), tops, strict=True))
            logs += cells * (tops[0] - tops[1] + log(next(sums)) - log(next(sums)))
        found += exp(min(0.0, logs))
    return found


def _table_error(powers: PosteriorPowers, tables: list[CellPowers], theta: float) -> float:
    """Return by which share a product of entries, one of each cell, may be wrong."""
    reach = max(max(abs(table.start), abs(table.start + len(table.logs))) for table in tables)
    exponents = AFFINITY_ERROR * powers.floor + 4 * UNIT * abs(theta) * reach
    return powers.cells * (exponents + (16 + log2(1 + reach)) * UNIT)
