"""Where records live: every value of a declared column becomes a small whole number before anything else is done."""

from discreet.on_demand import names_on_demand

__getattr__, __dir__, __all__ = names_on_demand(__name__, __file__)
