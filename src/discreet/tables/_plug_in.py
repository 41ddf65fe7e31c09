"""What not to do, kept for comparison: read what was published as if it were the truth."""

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet.mathematics.distributions import Dirichlet
from discreet.mechanism import Draw, Drawer, Mechanism, Sized, sized
from discreet.release import Release
from discreet.tables._model import Categories


def plug_in(release: Release) -> Dirichlet:
    """Return the posterior that ignores the noise: noisy counts are taken at face value, after removing negative ones.

    Negative counts become 0 and the rest is scaled to the public size. Where the mechanism publishes parameters, such
    as draws from a posterior, shares theta are taken as the counts n theta, with the mean of several draws. Its
    intervals are too narrow; it is here for comparison.
    """
    if not isinstance(release.model, Categories):
        raise DeclarationError(
            f"plug_in works for releases about Categories; {release.label!r} is about a "
            f"{type(release.model).__name__}. Nothing was read. Read it with infer."
        )
    if not has_plain_counts(release.mechanism):
        raise DeclarationError(
            f"plug_in takes published counts at face value, but {release.label!r}, by "
            f"{type(release.mechanism).__name__}, does not hold a count of each cell. Nothing was read. Read it with "
            "infer."
        )
    return Dirichlet(release.model.concentration + plain_counts(release.mechanism, release.counts[None])[0])


def has_plain_counts(mechanism: Mechanism) -> bool:
    """Return whether an output about categories holds something that could pass for the count of each cell.

    That is a number for each cell, or a draw of their shares.
    """
    return mechanism.space.length == len(mechanism.model.even_parameters()) or _drawn(mechanism) is not None


def plain_counts(mechanism: Mechanism, outputs: Counts) -> Floats:
    """Return the counts that a reader who ignores the noise would take from rows of outputs.

    Negative ones become 0, and the rest is scaled to the public size, or where that is secret to the sum of all counts.
    Of drawn shares it is n theta, with theta the mean of all draws.
    """
    if (drawer := _drawn(mechanism)) is not None:
        drawn = drawer.drawn_rows(outputs)[0].probabilities.reshape(len(outputs), drawer.draws, -1)
        return np.asarray(sized(mechanism).size * drawn.mean(axis=1))
    clipped = np.maximum(outputs, 0).astype(float)
    totals = clipped.sum(axis=1, keepdims=True)
    sums = np.maximum(1, np.asarray(outputs).sum(axis=1, keepdims=True))
    size = np.full_like(totals, mechanism.size) if isinstance(mechanism, Sized) else sums
    equal = np.broadcast_to(size / clipped.shape[1], clipped.shape).copy()
    return np.asarray(np.divide(size * clipped, totals, out=equal, where=totals > 0))  # whole if they add up


def _drawn(mechanism: Mechanism) -> Drawer | None:
    """Return what draws the shares of all cells together, as the one row of a table; None if that is not drawn."""
    found = mechanism.evidence(np.zeros(mechanism.space.length, dtype=np.int64))
    return found.drawer if isinstance(found, Draw) and [rows.count for rows in found.rows] == [1] else None
