"""A rehearsal: one made-up study of any model, published by the same sampler and read by the same reading."""

import numpy as np

from discreet.inference import Posterior, infer
from discreet.mechanisms import Mechanism
from discreet.randomness import SeededBits
from discreet.releases import simulate

Rehearsal = tuple[Posterior, tuple[float, ...]]
"""What a reader makes of made-up records, and the made-up truth of each row."""


def rehearsal(mechanism: Mechanism, label: str, seed: int) -> Rehearsal:
    """Make up parameters and records, publish and read them; the same ones for the same seed."""
    made = mechanism.model.made_up(mechanism.size, np.random.default_rng(seed))
    return infer(simulate(mechanism, made.statistics, SeededBits(seed), label)), made.truth
