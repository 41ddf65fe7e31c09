"""Yes/no variables that share a class or have none, through noise with one radius for each class: exact."""

import numpy as np

from discreet.mechanisms.evidence import Measurement
from discreet.models.network import Network
from discreet.noise import NoiseLaw
from discreet.reading.case import Case
from discreet.reading.counts.cube import CubeClass
from discreet.reading.counts.naive_bayes import NaiveBayesCounts
from discreet.reading.engines.engine import Engine
from discreet.reading.readings import NetworkReading
from discreet.reading.work import Work

_CALL = 2e4  # operations that one class count costs beside its sums


class CubeEngine(Engine):
    """Sums over the radius of each class and over the class counts."""

    models = (Network,)

    def misfit(self, case: Case) -> str | None:
        """Refuse everything but one measurement of signed counts through noise of the max norm."""
        return None if _signed(case) is not None else "its noise has no single radius for all signed counts of a class"

    def work(self, case: Case) -> Work:
        """Return the class counts that are looked at, times the radii and the counts that each of them goes through."""
        measured = _signed(case)
        assert measured is not None
        rate, features, size = _rate(measured), _features(measured), case.size
        looked = 1.0 if case.model.target is None else min(size + 1.0, size * rate / 2 + 90 / rate)
        each = 12.0 * size + 4 * features * min(size + 92 / rate, 180 / rate) + _CALL
        classes = 1 if case.model.target is None else len(case.model.variables[0].levels)
        words = f"going through {looked:.0f} counts of each class of {size} records"
        return Work(words, classes * looked * each, 40.0 * (size + 60 * (features + 1) / rate))

    def read(self, case: Case) -> NetworkReading:
        """Return the exact joint posterior of all tables."""
        model, measured = case.model, _signed(case)
        assert measured is not None
        features, size, has_class = _features(measured), case.size, model.target is not None
        alpha = np.array(model.prior[1:] if has_class else model.prior)
        first = measured.of.blocks[0] if has_class else 0
        classes = [
            CubeClass(block, _rate(measured), alpha, size) for block in measured.values[first:].reshape(-1, features)
        ]
        kernel, own = np.zeros((1, size + 1)), np.ones(1)
        if has_class:
            own = np.array(model.prior[0])
            kernel = measured.log_terms_of_block(0, np.arange(size + 1.0))
        return NetworkReading(model, NaiveBayesCounts(classes, own, kernel, -measured.noise.log_normaliser))
