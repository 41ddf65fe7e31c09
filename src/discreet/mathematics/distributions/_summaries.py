"""Summaries of many proportions at once: the same numbers as one by one, in a few passes over arrays."""

from collections.abc import Sequence

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet.mathematics.distributions._dirichlet import ROUNDED, BetaMixture, Share, reaches_end
from discreet.mathematics.distributions._mixture_batch import BetaRows, MixtureBatch

_ALIKE = 1e-9  # relative: totals that differ by less were rounded differently

Summary = tuple[float, float, float, float, float, float | None]


def batch_of(mixtures: Sequence[BetaMixture]) -> MixtureBatch | None:
    """Return distributions as rows of one batch, or None where their Betas are not counts behind totals.

    Each distribution may have parts, one after the other, of Beta(a, T - a) with a rising by whole numbers (several
    priors).
    """
    split = [_parts(mixture) for mixture in mixtures]
    if not mixtures or any(parts is None or len(parts) != len(split[0] or ()) for parts in split):
        return None
    return MixtureBatch(
        [_stacked([parts[number] for parts in split if parts]) for number in range(len(split[0] or ()))]
    )


def summaries(mixtures: Sequence[BetaMixture], level: float) -> list[Summary]:
    """Return `mixture.summary(level)` of each distribution: mean, median, both ends, sd, share due to privacy."""
    opened = {isinstance(mixture, Share) for mixture in mixtures}
    if len(opened) != 1 or (batch := batch_of(mixtures)) is None:
        return [mixture.summary(level) for mixture in mixtures]
    return summaries_of(batch, level, opened.pop())


def summaries_of(batch: MixtureBatch, level: float, opened: bool) -> list[Summary]:
    """Return the summary of each row; intervals of shares are `opened` to 0 or 1 where that cannot be excluded."""
    low, high = ends_of(batch, level, opened)
    shares = np.maximum(0.0, 1 - batch.known_widths(level) / np.maximum(high - low, 1e-300))
    columns = (batch.mean, batch.median, low, high, batch.sd, shares)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def end_errors(batch: MixtureBatch, weight_error: float | None, found: Sequence[Summary]) -> list[float | None]:
    """Return what `mixture.numerical_error(level)` says of each row, given its summary."""
    if weight_error is None:
        return [None] * len(found)
    ends = np.array([(low, high) for _, _, low, high, _, _ in found]).T
    inside = (ends > 0) & (ends < 1)
    heights = np.stack([batch.log_density(np.where(kept, own, 0.5)) for own, kept in zip(ends, inside, strict=True)])
    off = weight_error + ROUNDED
    with np.errstate(over="ignore"):
        moved = np.where(inside, off * np.exp(-heights), 0.0).max(axis=0)
    return [float(each) for each in np.clip(moved, off, 1.0)]


def ends_of(batch: MixtureBatch, level: float, opened: bool) -> tuple[Floats, Floats]:
    """Return both ends of the interval of each row, opened where `reaches_end`, or equal-tailed."""
    low, high = batch.intervals(level)
    if opened:
        for end, ends, at, probability in zip(
            (0.0, 1.0), (low, high), batch.densities_at_ends, (level, 1 - level), strict=True
        ):
            (near,) = np.nonzero(at >= 1 - level)
            if near.size:
                rows = batch.rows(near)
                ends[near[reaches_end(at[near], rows.log_density(rows.quantile(probability)), level)]] = end
    return low, high


def _parts(mixture: BetaMixture) -> list[tuple[Floats, Counts, float, float]] | None:
    """Return for each run of a mixture its weights, steps, first parameter and total; None if steps are not whole."""
    totals = mixture.a + mixture.b
    rising = np.diff(mixture.a)
    starts = np.flatnonzero((rising < 0.5) | (np.abs(np.diff(totals)) > _ALIKE * totals[1:])) + 1
    found = []
    for here in np.split(np.arange(len(mixture.a)), starts):
        steps = mixture.a[here] - mixture.a[here[0]]
        whole = np.rint(steps).astype(np.int64)
        if np.abs(steps - whole).max() > _ALIKE * mixture.a[here[-1]]:
            return None
        found.append((mixture.weights[here], whole, float(mixture.a[here[0]]), float(totals[here[0]])))
    return found


def _stacked(runs: Sequence[tuple[Floats, Counts, float, float]]) -> BetaRows:
    width = max(int(steps[-1]) for _, steps, _, _ in runs) + 1
    table = np.zeros((len(runs), width))
    for row, (weights, steps, _, _) in zip(table, runs, strict=True):
        row[steps] = weights
    return BetaRows.of(table, [start for _, _, start, _ in runs], [total for _, _, _, total in runs])
