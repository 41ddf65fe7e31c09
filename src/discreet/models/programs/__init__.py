"""Private probabilistic programs: what a reader may believe about the cells of a table, with a prior."""

from discreet.on_demand import names_on_demand

__getattr__, __dir__, __all__ = names_on_demand(__name__, __file__)
