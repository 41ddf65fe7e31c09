"""Choose before you spend, and check before you trust: suggestions, expected accuracy, verification and audits."""

from discreet.on_demand import names_on_demand

__getattr__, __dir__, __all__ = names_on_demand(__name__, __file__)
