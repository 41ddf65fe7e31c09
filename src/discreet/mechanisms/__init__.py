"""Privacy mechanisms. Each is a conditional distribution P(output | secret statistics), with a proved guarantee."""

from discreet.on_demand import names_on_demand

__getattr__, __dir__, __all__ = names_on_demand(__name__, __file__)
