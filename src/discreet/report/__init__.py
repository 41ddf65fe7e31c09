"""Presentation of posteriors: tables, charts, pages and files, each written once for all models."""

from discreet._core.on_demand import names_on_demand

__getattr__, __dir__, __all__ = names_on_demand(__name__, __file__)
