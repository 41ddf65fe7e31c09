"""What a reader learns: the posterior given a release, noise and all."""

from discreet.inference.categories import CategoriesPosterior
from discreet.inference.infer import infer
from discreet.inference.network import NetworkPosterior
from discreet.inference.plug_in import plug_in
from discreet.inference.pooling import PooledRates
from discreet.inference.projection import PlugInNetwork, projected_reading, truncated_reading

__all__ = [
    "CategoriesPosterior",
    "NetworkPosterior",
    "PlugInNetwork",
    "PooledRates",
    "infer",
    "plug_in",
    "projected_reading",
    "truncated_reading",
]
