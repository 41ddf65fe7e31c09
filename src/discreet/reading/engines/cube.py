"""Yes/no variables that share a class or have none, through noise with one radius for each class: exact."""

import numpy as np

from discreet.mechanisms.evidence import Measurement
from discreet.models.network import Network
from discreet.noise import Cube, NoiseLaw, SideBySide
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
        """Refuse everything but one measurement of signed counts, class by class, through noise of the max norm."""
        return None if _signed(case) is not None else "its noise has no single radius for all signed counts of a class"

    def work(self, case: Case) -> Work:
        """Return the class counts that are looked at, times the radii and the counts that each of them goes through."""
        found = _signed(case)
        assert found is not None
        law, size, target = found[1], case.size, case.model.target
        rate, features = float(law.rates[0]), law.sizes[0]
        looked = 1.0 if target is None else min(size + 1.0, size * rate / 2 + 90 / rate)
        each = 12.0 * size + 4 * features * min(size + 92 / rate, 180 / rate) + _CALL
        words = f"going through {looked:.0f} counts of each class of {size} records"
        return Work(words, len(law.sizes) * looked * each, 40.0 * (size + 60 * (features + 1) / rate))

    def read(self, case: Case) -> NetworkReading:
        """Return the exact joint posterior of all tables."""
        found = _signed(case)
        assert found is not None
        (measured, law), model, size = found, case.model, case.size
        has_class = model.target is not None
        alpha = np.array(model.prior[1:] if has_class else model.prior)
        first = measured.of.length - law.length
        blocks = measured.values[first:].reshape(len(law.sizes), -1)
        classes = [CubeClass(block, float(rate), alpha, size) for block, rate in zip(blocks, law.rates, strict=True)]
        own, kernel = np.ones(1), np.zeros((1, size + 1))
        if has_class:
            own, kernel = np.array(model.prior[0]), _class_kernel(measured, first, size)
        return NetworkReading(model, NaiveBayesCounts(classes, own, kernel, -measured.noise.log_normaliser))


def _class_kernel(measured: Measurement, classes: int, size: int) -> np.ndarray:
    """Return the log kernel of each class at each count."""
    law: NoiseLaw = measured.noise
    assert isinstance(law, SideBySide)
    noise = measured.values[:classes, None] - np.arange(size + 1.0)
    return law.laws[0].log_terms(noise, np.arange(classes)[:, None])


def _signed(case: Case) -> tuple[Measurement, Cube] | None:
    """Return the one measurement and the law of its signed counts, if that is what the case holds."""
    if len(case.observed) != 1 or len(case.measurements) != 1:
        return None
    (measured,) = case.measurements
    law, parts = measured.noise, measured.of.parts or ()
    has_class = case.model.target is not None
    signed = [part for part in parts if part.cells == ((True, False) if has_class else (False,))]
    if not signed or len(signed) + has_class != len(parts) or len(parts) != len(case.model.variables):
        return None
    if not has_class:
        return (measured, law) if isinstance(law, Cube) and len(law.sizes) == 1 else None
    if not isinstance(law, SideBySide) or len(law.laws) != 2 or not isinstance(law.laws[1], Cube):
        return None
    return (measured, law.laws[1]) if law.laws[0].is_product else None
