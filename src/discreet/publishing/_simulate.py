"""Rehearsal: the same sampler on public counts, never a release of real records."""

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.errors import DeclarationError, SecretError
from discreet.mechanism import Mechanism, ModelT
from discreet.noise.randomness import RandomBits
from discreet.privacy import Unit
from discreet.records import Statistics
from discreet.release import Release


def simulate(
    mechanism: Mechanism[ModelT], counts: ArrayLike, bits: RandomBits, label: str = "simulated"
) -> Release[ModelT]:
    """Draw an output for public counts and return it as a release marked as simulated.

    >>> import discreet as dc
    >>> coin = dc.Categories("coin", levels=("heads", "tails"), outside="heads")
    >>> mechanism = dc.GeometricHistogram(coin, size=100, epsilon=1)
    >>> release = dc.simulate(mechanism, [60, 40], dc.SeededBits(1))
    >>> release.simulated, sum(release.output)
    (True, 100)

    Args:
        mechanism: how noise is added.
        counts: made-up or public statistics, as the model counts them.
        bits: the random bits; `SeededBits` draw the same noise again.
        label: what readers will see.

    Returns:
        the release, marked as simulated in every output.

    Raises:
        SecretError: for secret statistics: that would be a release that was never charged.
    """
    if isinstance(counts, Statistics):
        raise SecretError(
            "simulate takes public counts, not secret statistics, which it would publish without a charge. Nothing "
            "was drawn. Use discreet.publish."
        )
    if not isinstance(mechanism, Mechanism):
        raise DeclarationError(f"simulate takes a mechanism; got a {type(mechanism).__name__}.")
    if not callable(getattr(bits, "words", None)):
        raise DeclarationError("simulate draws from random bits such as SeededBits(1), given as its third argument.")
    table = np.asarray(counts)
    if table.ndim != 1:
        raise DeclarationError("simulate takes one table of counts, a flat sequence with one number for each cell.")
    output, unit = mechanism.sample(table, bits), Unit(mechanism.model.protects)
    return Release(mechanism, tuple(int(value) for value in output), label, unit, simulated=True)
