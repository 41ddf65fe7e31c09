"""What is promised: guarantees, what they cost together, and the ledger that keeps their sum within a limit."""

from discreet.on_demand import names_on_demand

__getattr__, __dir__, __all__ = names_on_demand(__name__, __file__)
