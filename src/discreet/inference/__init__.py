"""Inference of the truth behind the noise: problems, solvers, posteriors, and the sums over tables behind them."""

from discreet._core.on_demand import names_on_demand

__getattr__, __dir__, __all__ = names_on_demand(__name__, __file__)
