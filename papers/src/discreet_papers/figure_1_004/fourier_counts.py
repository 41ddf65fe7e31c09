"""FourierCounts with shares for classification: cut to [0, n] and taken for true.

With d features a share f of what one record may change goes to the pairs of class and feature, which classify: rates
f epsilon / d for pairs, (1 - f) epsilon / d for features, and what is left, (1 - f) epsilon, for the class. f = 0.7.
"""

import numpy as np

import discreet as dc
from discreet._core.arrays import Floats
from discreet.noise.randomness._samplers import RandomBits
from discreet_papers.figure_1_004.setting import FEATURES, NETWORK, SIZE, Curve, Splits, averaged, plug_in_scores

NAME = "FourierCounts, weighted for classification"
PAIR, FEATURE = 7, 3


def mechanism_at(epsilon: str) -> dc.networks.FourierCounts:
    """Return the mechanism with shares 7 for pairs, 3 for features and 3 d for the class."""
    by_size = {
        block: PAIR if len(block) == 2 else FEATURE
        for block in dc.networks.FourierCounts(NETWORK, SIZE, 1).basis.blocks
    }
    shares = [len(FEATURES) * FEATURE if block == ("y",) else share for block, share in by_size.items()]
    return dc.networks.FourierCounts(NETWORK, SIZE, epsilon, shares=shares)


def one_release(records: Splits, epsilon: str, bits: RandomBits) -> Floats:
    """Return the scores of one release for each repeat."""
    mechanism = mechanism_at(epsilon)
    noisy = mechanism.sample(records.counts.reshape(len(records), -1), bits)
    return plug_in_scores(records, {name: np.clip(t, 0, SIZE) for name, t in mechanism.tables(noisy).items()})


CURVES = (Curve(NAME, averaged(one_release)),)
