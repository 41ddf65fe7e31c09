"""Solvers that infer the true counts behind a release; the first suitable one reads it."""

from discreet.on_demand import names_on_demand

__getattr__, __dir__, __all__ = names_on_demand(__name__, __file__)
