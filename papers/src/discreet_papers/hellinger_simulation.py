"""Many draws of Hellinger mechanisms by floating point, for simulation; never for publishing.

One table drawn from often, many tables of one size, or many small tables of different sizes: few candidates are drawn
from a list of all, side by side, many from the mixture above the law. The law is the one that is published, up to the
rounding of floats.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts
from discreet._core.errors import DeclarationError
from discreet.choices import HellingerMechanism

_AT_ONCE = 1_000_000  # weights held in memory together


def simulate_draws(mechanism: HellingerMechanism, counts: ArrayLike, generator: np.random.Generator) -> Counts:
    """Draw an output for each row of made-up counts; secret statistics are refused."""
    if not mechanism.is_exponential:
        raise DeclarationError(
            f"simulate_draws works for exponential mechanisms only, and {type(mechanism).__name__} is not one."
        )
    table = mechanism.model.counts(counts)
    if (table.sum(axis=-1) != mechanism.size).any():
        raise DeclarationError(f"The counts must add up to the public size {mechanism.size}.")
    rows = table.reshape(-1, table.shape[-1])
    kinds, inverse = np.unique(rows, axis=0, return_inverse=True)
    draw = _from_list if mechanism.draws_from_list else _from_mixture
    return draw(mechanism, kinds, inverse.ravel(), generator).reshape(table.shape)


def simulate_batch(
    mechanism_of: Callable[[int], HellingerMechanism], tables: ArrayLike, generator: np.random.Generator
) -> Counts:
    """Draw an output for each row of made-up counts, rows of any sizes; `mechanism_of(n)` is made once for each size.

    The sizes are public facts here: each row is a release of its own with a guarantee for its own records.
    """
    rows = np.asarray(tables)
    sizes, drawn = rows.sum(axis=1), np.empty_like(rows)
    for size in np.unique(sizes):
        chosen = np.flatnonzero(sizes == size)
        drawn[chosen] = simulate_draws(mechanism_of(int(size)), rows[chosen], generator)
    return drawn


def _from_mixture(
    mechanism: HellingerMechanism, kinds: Counts, inverse: Counts, generator: np.random.Generator
) -> Counts:
    drawn = np.empty((len(inverse), kinds.shape[1]), dtype=np.int64)
    for number, kind in enumerate(kinds):
        chosen = np.flatnonzero(inverse == number)
        drawn[chosen] = mechanism.envelope(kind).draw(len(chosen), generator)
    return drawn


def _from_list(mechanism: HellingerMechanism, kinds: Counts, inverse: Counts, generator: np.random.Generator) -> Counts:
    """Invert the cumulative weights of several tables at once: those of table j are shifted by j."""
    scales, tables = mechanism.scales(kinds), mechanism.tables
    places, uniforms = np.empty(len(inverse), dtype=np.int64), generator.random(len(inverse))
    step = max(1, _AT_ONCE // len(tables.all))
    for start in range(0, len(kinds), step):
        part = slice(start, start + step)
        edges = np.cumsum(np.exp(-scales[part, None] * tables.distances(kinds[part])), axis=1)
        edges = edges / edges[:, -1:] + np.arange(len(edges))[:, None]
        chosen = np.flatnonzero((inverse >= start) & (inverse < start + step))
        own = inverse[chosen] - start
        found = np.searchsorted(edges.ravel(), own + uniforms[chosen], side="right") - own * edges.shape[1]
        places[chosen] = np.clip(found, 0, edges.shape[1] - 1)
    return np.asarray(tables.all[places])
