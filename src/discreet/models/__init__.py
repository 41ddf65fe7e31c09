"""What is learnt: a model turns records into secret statistics, and statistics into a posterior."""

from discreet.on_demand import names_on_demand

__getattr__, __dir__, __all__ = names_on_demand(__name__, __file__)
