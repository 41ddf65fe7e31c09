"""A regression with the moments of a reader's own records in its prior."""

from discreet._core.errors import DeclarationError
from discreet.mechanism import Informed, are_counts, refuse_statistics
from discreet.regression._model import LinearRegression
from discreet.regression._moments import Moments, sum_moments


class InformedRegression(LinearRegression):
    """A regression with the moments of own records, in public units."""

    _own: tuple[Moments, int]

    @classmethod
    def of(cls, model: LinearRegression, own: Moments, size: int) -> "InformedRegression":
        """Return a regression as it is known to somebody who has summed these moments."""
        found = object.__new__(cls)
        found.__dict__.update(model.__dict__ | {"_own": (own, size), "is_prior_declared": True})
        return found

    @property
    def own(self) -> tuple[Moments, int]:
        return self._own


def informed_regression(model: LinearRegression, own: object) -> Informed:
    """Return a regression with the moments of own records in its prior."""
    refuse_statistics(own)
    if are_counts(own):
        raise DeclarationError("For a regression, pass your own records themselves, not counts. Nothing was read.")
    sums, records = sum_moments(own, model.layout.plan)
    moments = model.layout.unpack(sums * model.layout.weights, records)
    counted = int(moments.count)
    return Informed((InformedRegression.of(model, moments, counted),), (0.0,), counted)
