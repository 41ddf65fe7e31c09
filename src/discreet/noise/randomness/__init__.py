"""Exact randomness: secure bits, and samplers that draw from precisely the distribution that they state."""

from discreet._core.on_demand import names_on_demand

__getattr__, __dir__, __all__ = names_on_demand(__name__, __file__)
