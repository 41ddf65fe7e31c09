"""Hellinger choices with one scale for all tables: their weights are known without a normaliser, at any size."""

from fractions import Fraction

from flint import ctx

from discreet.certificates.hellinger_series import pair_sums, series_epsilon
from discreet.mechanisms.hellinger_law import HellingerMechanism
from discreet.mechanisms.hellinger_sensitivity import global_sensitivity_ball

_BITS = 128


class OneScale(HellingerMechanism):
    """P(r | k) ~ e^(-c H(k, r)), c the same for all tables."""

    def series_epsilon(self, scale: Fraction) -> float:
        """Return an upper bound on epsilon under c = scale / GS, by `certificates.hellinger_series`."""
        alpha = self.model.concentration
        with ctx.workprec(_BITS):
            sensitivity = global_sensitivity_ball(alpha, self.size)
        return series_epsilon(scale, sensitivity, self.candidates, pair_sums(tuple(alpha.tolist()), self.size))
