"""Mathematics that is independent of privacy and records: distributions, divergences, roots, diagnostics of chains."""

from discreet._core.on_demand import names_on_demand

__getattr__, __dir__, __all__ = names_on_demand(__name__, __file__)
