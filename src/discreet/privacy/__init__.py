"""Guarantees: what is promised to whom, neighbours and metrics, privacy loss, composition and calibration."""

from discreet._core.on_demand import names_on_demand

__getattr__, __dir__, __all__ = names_on_demand(__name__, __file__)
