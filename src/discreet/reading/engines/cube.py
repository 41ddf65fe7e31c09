"""Yes/no variables that share a class or have none, through noise with one radius for each class: exact."""

from dataclasses import dataclass

import numpy as np

from discreet.mechanisms.quantities import Measurement
from discreet.models.network import Network
from discreet.reading.case import Case, Engine, Work
from discreet.reading.counts.cube import FARTHEST, CubeClass
from discreet.reading.counts.naive_bayes import NaiveBayesCounts
from discreet.reading.measured import log_constant
from discreet.reading.readings import NetworkReading

_CALL = 2e4  # operations that one class count costs beside its sums


class CubeEngine(Engine, place=20):
    """Sums over the radius of each class and over the class counts."""

    models = (Network,)

    def misfit(self, case: Case) -> str | None:
        """Refuse everything but one measurement of signed counts, class by class, through noise of the max norm."""
        return None if _signed(case) is not None else "its noise has no single radius for all signed counts of a class"

    def work(self, case: Case) -> Work:
        """Return the class counts that are looked at, times the radii and the counts that each of them goes through."""
        found = _signed(case)
        assert found is not None
        size, rate, features = case.size, found.rate, found.features[0].of.length
        looked = 1.0 if found.classes is None else min(size + 1.0, size * rate / 2 + 90 / rate)
        each = 12.0 * size + 4 * features * min(size + 92 / rate, 180 / rate) + _CALL
        words = f"going through {looked:.0f} counts of each class of {size} records"
        return Work(words, len(found.features) * looked * each, 40.0 * (2 * size + FARTHEST * (features + 1) / rate))

    def read(self, case: Case) -> NetworkReading:
        """Return the exact joint posterior of all tables."""
        found = _signed(case)
        assert found is not None
        model, size = case.model, case.size
        alpha = np.array(model.prior if found.classes is None else model.prior[1:])
        classes = [CubeClass(each.values, found.rate, alpha, size) for each in found.features]
        own, kernel = np.ones(1), np.zeros((1, size + 1))
        if found.classes is not None:
            own, counts = np.array(model.prior[0]), np.arange(size + 1.0)
            kernel = found.classes.log_terms(counts, np.arange(found.classes.of.length)[:, None])
        return NetworkReading(model, NaiveBayesCounts(classes, own, kernel, log_constant(case)))


@dataclass(frozen=True, eq=False)
class _Signed:
    """What was measured: the class counts, if there is a class, and the features of each class."""

    classes: Measurement | None
    features: tuple[Measurement, ...]
    rate: float


def _signed(case: Case) -> _Signed | None:
    """Return the measured classes and features, if one release holds these and nothing else."""
    if len(case.observed) != 1 or not case.is_measured:
        return None
    target, measurements = case.model.target, case.measurements
    classes = None if target is None else measurements[0]
    features = measurements if target is None else measurements[1:]
    wanted = 1 if target is None else len(case.model.variables[0].levels)
    rates = {each.noise.cube_rate for each in features}
    rate = rates.pop() if len(rates) == 1 else None
    if len(features) != wanted or rate is None:
        return None
    parts = [part for each in features for part in each.of.parts or ()]
    signed = (False,) if target is None else (True, False)
    if len(parts) != wanted * (len(case.model.variables) - (wanted > 1)) or any(p.cells != signed for p in parts):
        return None
    if classes is not None:
        own = classes.of.parts
        if own is None or [part.names for part in own] != [(target,)] or not classes.noise.is_product:
            return None
    return _Signed(classes, features, rate)
