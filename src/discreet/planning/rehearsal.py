"""A rehearsal: one made-up study of any model, published by the same sampler and read by the same reading."""

from functools import singledispatch
from typing import Any

import numpy as np

from discreet.inference import Posterior, infer
from discreet.mechanisms import Mechanism
from discreet.models import Categories, LinearRegression, Network
from discreet.planning.made_up import made_up_family
from discreet.planning.network_accuracy import rehearsed
from discreet.planning.regression_accuracy import rehearsed_regression
from discreet.randomness import SeededBits
from discreet.releases import simulate

Rehearsal = tuple[Posterior, tuple[float, ...]]
"""What a reader makes of made-up records, and the made-up truth of each row."""


def rehearsal(mechanism: Mechanism, label: str, seed: int) -> Rehearsal:
    """Make up parameters and records, publish and read them; the same ones for the same seed."""
    return _rehearsal(mechanism.model, mechanism, label, seed)


@singledispatch
def _rehearsal(model: Any, mechanism: Mechanism, label: str, seed: int) -> Rehearsal:
    parameter, counts = made_up_family(model, mechanism.size, np.random.default_rng(seed))
    return infer(simulate(mechanism, counts, SeededBits(seed), label)), (parameter,)


@_rehearsal.register
def _(model: Categories, mechanism: Mechanism, label: str, seed: int) -> Rehearsal:
    generator = np.random.default_rng(seed)
    chances = generator.dirichlet(model.concentration)
    counts = generator.multinomial(mechanism.size, chances)
    return infer(simulate(mechanism, counts, SeededBits(seed), label)), tuple(chances.tolist())


@_rehearsal.register
def _(_: Network, mechanism: Mechanism, label: str, seed: int) -> Rehearsal:
    return rehearsed(mechanism, label, seed)


@_rehearsal.register
def _(_: LinearRegression, mechanism: Mechanism, label: str, seed: int) -> Rehearsal:
    return rehearsed_regression(mechanism, label, seed)
