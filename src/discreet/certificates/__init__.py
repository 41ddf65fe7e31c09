"""Checks of guarantees: exact privacy losses, and comparisons of all neighbouring data sets."""

from discreet.on_demand import names_on_demand

__getattr__, __dir__, __all__ = names_on_demand(__name__, __file__)
