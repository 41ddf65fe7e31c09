"""All columns at once: noisy tables of pairs, their reading with error bars, and synthetic records."""

from discreet._core.on_demand import names_on_demand

__getattr__, __dir__, __all__ = names_on_demand(__name__, __file__)
