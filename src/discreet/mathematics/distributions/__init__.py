"""Distributions of the quantities that a reader asks about. Each has an `interval`, under the same name everywhere."""

from discreet._core.on_demand import names_on_demand

__getattr__, __dir__, __all__ = names_on_demand(__name__, __file__)
