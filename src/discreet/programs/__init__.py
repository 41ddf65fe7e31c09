"""Any model of the cells of a table: programs, families, their inference and posterior, bridges to other tools."""

from discreet._core.on_demand import names_on_demand

__getattr__, __dir__, __all__ = names_on_demand(__name__, __file__)
