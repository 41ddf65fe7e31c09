"""Yes/no variables that share a class or have none, through noise with one radius for each class: exact."""

from dataclasses import dataclass

import numpy as np

from discreet.mechanisms.quantities import Measurement
from discreet.models.network import Network
from discreet.noise.structure import SharedRadius, product_of
from discreet.reading.counts.class_reading import OwnFactor
from discreet.reading.counts.cube import FARTHEST, CubeClass, CubeKernel
from discreet.reading.counts.cube_classes import cube_classes
from discreet.reading.counts.naive_bayes import NaiveBayesCounts
from discreet.reading.counts.windows import Windowed
from discreet.reading.measured import log_constant, own_factors, seen_row
from discreet.reading.network_readings import NetworkReading
from discreet.reading.problem import CostEstimate, Problem, Solver

_CALL = 2e5  # operations that one class count costs beside its sums
_EACH = 30.0  # operations for each feature and radius of a class count
_LOOKED = 60.0  # nats of the class counts' own noise within which a first look goes, and 10 for each feature


class CubeSolver(Solver):
    """Sums over the radius of each class and over the class counts."""

    models = (Network,)

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse everything but one measurement of signed counts, class by class, through noise of the max norm."""
        return (
            None if _signed(problem) is not None else "its noise has no single radius for all signed counts of a class"
        )

    def cost(self, problem: Problem) -> CostEstimate:
        """Return the class counts that are weighed, times the radii and features that each of them goes through."""
        found = _signed(problem)
        assert found is not None
        size, rate, features = problem.size, found.rate, found.features[0].of.length
        radii = min(2 * size + 1.0, FARTHEST * (features + 1) / rate)  # at most; the usual ones are far fewer
        usual = min(radii, (3 * features + 90) / rate)
        looked = 1.0
        if found.classes is not None:
            reach = float(found.classes.noise.decay_length.max())
            looked = min(size + 1.0, 100 / rate + (_LOOKED + 10 * features) * reach * rate)
        words = f"going through {looked:.0f} counts of each class of {size} records"
        return CostEstimate(
            words, len(found.features) * looked * (_EACH * features * usual + _CALL), 8 * features * radii
        )

    def solve(self, problem: Problem) -> NetworkReading:
        """Return the exact joint posterior of all tables."""
        found = _signed(problem)
        assert found is not None
        model, size = problem.model, problem.size
        alpha = np.array(model.prior if found.classes is None else model.prior[1:])
        kernels = [CubeKernel(each.values, found.rate, alpha, size) for each in found.features]
        if found.classes is None:
            own, weight = [OwnFactor(1.0)], np.array([kernels[0].log_weight(size)])
            classes = [CubeClass(kernels[0], Windowed(size, weight), (0, size))]
        else:
            seen = seen_row(found.classes, np.arange(found.classes.of.length))
            own = own_factors(model.prior[0], [seen])
            classes = cube_classes(kernels, seen, own, size)
        return NetworkReading(model, NaiveBayesCounts(classes, own, size, log_constant(problem)))


@dataclass(frozen=True, eq=False)
class _Signed:
    """What was measured: the class counts, if there is a class, and the features of each class."""

    classes: Measurement | None
    features: tuple[Measurement, ...]
    rate: float


def _signed(problem: Problem) -> _Signed | None:
    """Return the measured classes and features, if one release holds these and nothing else."""
    if len(problem.observed) != 1 or not problem.is_measured:
        return None
    target, measurements = problem.model.target, problem.measurements
    classes = None if target is None else measurements[0]
    features = measurements if target is None else measurements[1:]
    wanted = 1 if target is None else len(problem.model.variables[0].levels)
    rates = {_rate(each) for each in features}
    rate = rates.pop() if len(rates) == 1 else None
    if len(features) != wanted or rate is None:
        return None
    parts = [part for each in features for part in each.of.parts or ()]
    signed = (False,) if target is None else (True, False)
    if len(parts) != wanted * (len(problem.model.variables) - (wanted > 1)) or any(p.cells != signed for p in parts):
        return None
    if classes is not None:
        own = classes.of.parts
        if own is None or [part.names for part in own] != [(target,)] or product_of(classes.noise.structure) is None:
            return None
    return _Signed(classes, features, rate)


def _rate(measurement: Measurement) -> float | None:
    match measurement.noise.structure:
        case SharedRadius(rate=rate):
            return rate
        case _:
            return None
