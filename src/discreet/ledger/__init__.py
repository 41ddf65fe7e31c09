"""The ledger: how much privacy has been spent, written down before it is spent, and signatures."""

from discreet._core.on_demand import names_on_demand

__getattr__, __dir__, __all__ = names_on_demand(__name__, __file__)
