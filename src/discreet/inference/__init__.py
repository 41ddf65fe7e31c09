"""What a reader learns: posteriors given releases, with the noise accounted for."""

from discreet.on_demand import names_on_demand

__getattr__, __dir__, __all__ = names_on_demand(__name__, __file__)
