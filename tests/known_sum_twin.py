"""Counts given their sum, as one would write them down first: the slow twins of `KnownSum`."""

import numpy as np

from discreet._core.arrays import Floats
from discreet.mathematics import tilted_to


class ConvolvedRow:
    """The counts of one row for every total, from `log_factors[x, k]` for k = 0, ..., n: all convolutions are direct.

    Factors are multiplied by e^(lambda k), which changes no law given the total, so that they are large around
    `centre`; what lies 10^-290 below that underflows to zero.
    """

    def __init__(self, log_factors: Floats, centre: float) -> None:
        self.levels, self.most = log_factors.shape[0], log_factors.shape[1] - 1
        self._steps = np.arange(self.most + 1)
        self.tilt = tilted_to(log_factors, self._steps, centre, absolute=0.5, relative=0.1, steepest=50.0).tilt
        tilted = log_factors + self.tilt * self._steps
        self._peaks = tilted.max(axis=1)
        self._weights = np.exp(tilted - self._peaks[:, None])

    def _convolved(self, factors: Floats) -> Floats:
        found = np.zeros(self.most + 1)
        found[0] = 1.0
        for each in factors:
            found = np.convolve(found, each)[: self.most + 1]
        return found

    @property
    def log_sums(self) -> Floats:
        """Return log sum_k prod_x f_x(k_x) over all counts of total t, for t = 0, ..., n."""
        with np.errstate(divide="ignore"):
            logs = np.log(self._convolved(self._weights))
        return np.asarray(logs + self._peaks.sum() - self.tilt * self._steps)

    def _others(self, level: int) -> Floats:
        return self._convolved(np.delete(self._weights, level, axis=0))

    @property
    def means(self) -> Floats:
        """Return E[k_x | total] for each level (rows) and total (columns)."""
        moments = [np.convolve(self._steps * w, self._others(x))[: self.most + 1] for x, w in enumerate(self._weights)]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nan_to_num(np.stack(moments) / self._convolved(self._weights))

    def marginals(self, total: int) -> Floats:
        """Return P(k_x = k | total) for each level (rows) and k (columns)."""
        joint = np.zeros((self.levels, self.most + 1))
        for level, weights in enumerate(self._weights):
            joint[level, : total + 1] = weights[: total + 1] * self._others(level)[total::-1]
        return np.asarray(joint / joint.sum(axis=1, keepdims=True))
