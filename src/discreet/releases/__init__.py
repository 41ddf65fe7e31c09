"""What leaves: `publish` is the one door, a `Release` is what went through it."""

from discreet.on_demand import names_on_demand

__getattr__, __dir__, __all__ = names_on_demand(__name__, __file__)
