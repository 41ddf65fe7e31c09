"""Noise distributions: whole numbers drawn exactly, independently of the secret, with their privacy loss."""

from discreet.on_demand import names_on_demand

__getattr__, __dir__, __all__ = names_on_demand(__name__, __file__)
