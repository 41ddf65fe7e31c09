"""Hellinger choices with one scale for all tables: their weights are known without a normaliser, at any size."""

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.mechanisms.hellinger_law import HellingerMechanism


class OneScale(HellingerMechanism):
    """P(r | k) ~ e^(-c H(k, r)), c the same for all tables."""

    @property
    def has_smooth_normaliser(self) -> bool:
        """Return True, but where sums are worked out for many tables at once."""
        return not self.is_summed

    def log_weights_of(self, output: Counts, counts: Counts) -> Floats:
        """Return -c H(k, r)."""
        scale = float(self.scales(np.asarray(counts)[:1])[0])
        return -scale * self._distances(np.broadcast_to(output, counts.shape), counts)
