"""Families of records with one parameter, as the source papers draw from their posteriors."""

from discreet._core.on_demand import names_on_demand

__getattr__, __dir__, __all__ = names_on_demand(__name__, __file__)
