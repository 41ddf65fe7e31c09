"""What a reader learns: the posterior given a release, noise and all."""

from discreet.inference.categories import CategoriesPosterior
from discreet.inference.infer import infer
from discreet.inference.plug_in import plug_in

__all__ = ["CategoriesPosterior", "infer", "plug_in"]
