"""A choice among candidates as evidence about counts, by the weights of the candidates."""

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.mechanisms.evidence import Choice, Normalised
from discreet.reading.counts.fits import Fit


class ChoiceFit(Fit):
    """A candidate whose probability is known at once for any counts; no slope is known."""

    sharpness = 2.0  # single coordinates are rotated, too

    def __init__(self, choice: Choice) -> None:
        self._choice = choice

    def log_likelihood(self, counts: Counts) -> Floats:
        """Return the log chance of the candidate."""
        kinds, places = np.unique(counts.T, axis=0, return_inverse=True)
        return np.asarray(self._choice.log_likelihood(kinds)[places.ravel()])

    def slope(self, counts: Floats) -> Floats:
        return np.zeros(counts.shape)

    def directions(self, counts: Floats) -> tuple[Floats, Floats]:
        return np.zeros((0, len(counts))), np.zeros(0)


class NearFit(ChoiceFit):
    """A candidate whose probability is known roughly, and better once `normalised` has been refined."""

    normalised: Normalised

    def __init__(self, choice: Choice, normalised: Normalised) -> None:
        super().__init__(choice)
        self.normalised = normalised

    def log_likelihood(self, counts: Counts) -> Floats:
        kinds, places = np.unique(counts.T, axis=0, return_inverse=True)
        return self.normalised.log_prob(self._choice.candidate, kinds)[places.ravel()]
