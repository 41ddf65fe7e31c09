"""Algorithm 1 as published: every noisy count cut to [0, n] and taken for true."""

from discreet._core.arrays import Floats
from discreet.noise.randomness._samplers import RandomBits
from discreet_papers import as_published
from discreet_papers.figure_1_004.setting import NETWORK, SIZE, Curve, Splits, averaged, plug_in_scores

NAME = "Algorithm 1 as published (cut to 0..n)"


def one_release(records: Splits, epsilon: str, bits: RandomBits) -> Floats:
    """Return the scores of one release for each repeat."""
    mechanism = as_published.LaplaceUpdates(NETWORK, SIZE, epsilon)
    noisy = mechanism.sample(records.counts.reshape(len(records), -1), bits)
    tables = mechanism.tables(mechanism.truncated(noisy))
    return plug_in_scores(records, {name: table.astype(float) for name, table in tables.items()})


CURVES = (Curve(NAME, averaged(one_release)),)
