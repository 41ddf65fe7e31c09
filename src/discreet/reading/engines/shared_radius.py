"""Naive Bayes networks, or variables without parents, through one radius for all tables: exact, for few records."""

from math import comb, prod

import numpy as np

from discreet.models.network import Network
from discreet.reading.case import Case, Engine, Work
from discreet.reading.counts.shared_radius import SharedRadiusCounts, products, usual_radius
from discreet.reading.readings import NetworkReading

_EACH = 40 / 3  # operations that one product costs
_HELD = 4 / 3  # numbers in memory for each weight of a row
_VECTOR = 400 / 3  # numbers in memory for each vector of class counts


class SharedRadiusEngine(Engine, place=30):
    """Sums over the radius, and lists the vectors of class counts."""

    models = (Network,)

    def misfit(self, case: Case) -> str | None:
        """Refuse other laws of noise, several releases, and other trees."""
        if len(case.observed) != 1 or len(case.measurements) != 1 or _rate(case) is None:
            return "its noise has no single radius for all tables"
        if case.model.target is None and any(case.model.parents):
            return "a shared radius can be read exactly for naive Bayes networks and for variables without parents only"
        return None

    def work(self, case: Case) -> Work:
        """Return the products that are added for all vectors of class counts, up to the usual radius."""
        model, size, rate = case.model, case.size, _rate(case)
        assert rate is not None
        classes = 1 if model.target is None else len(model.variables[0].levels)
        cells = [prod(model.shape(family)) for family in model.maximal_families]
        radius, vectors = usual_radius(cells, rate), comb(size + classes - 1, classes - 1)
        held = max(_VECTOR * vectors, _HELD * sum(cells) * (size + 1) * 2 * radius)
        words = f"exactly reading {len(cells)} tables of {size} records through a shared radius"
        return Work(words, _EACH * products(size, classes, len(cells), radius), held)

    def read(self, case: Case) -> NetworkReading:
        """Return the exact joint posterior of all tables."""
        model, (measured,), rate = case.model, case.measurements, _rate(case)
        assert rate is not None
        noisy = [table.reshape(-1, table.shape[-1]) for table in model.split(measured.values)]
        has_class = model.target is not None
        alpha = [np.array(prior) for prior in (model.prior[1:] if has_class else model.prior)]
        class_alpha = np.array(model.prior[0]) if has_class else np.ones(1)
        constant = -measured.noise.log_normaliser
        return NetworkReading(model, SharedRadiusCounts(noisy, class_alpha, alpha, rate, case.size, constant))


def _rate(case: Case) -> float | None:
    return case.measurements[0].noise.table_rate
