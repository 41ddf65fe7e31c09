"""What a reader learns: the posterior given a release, noise and all."""

from discreet.inference.categories import CategoriesPosterior
from discreet.inference.infer import infer
from discreet.inference.plug_in import plug_in
from discreet.inference.pooling import PooledRates

__all__ = ["CategoriesPosterior", "PooledRates", "infer", "plug_in"]
