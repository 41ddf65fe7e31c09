from discreet.synthesis._junction_tree import Tree as Tree
from discreet.synthesis._junction_tree import TreeDistribution as TreeDistribution
from discreet.synthesis._junction_tree import cells_of as cells_of
from discreet.synthesis._junction_tree import triangulated as triangulated
from discreet.synthesis._junction_tree import within as within
from discreet.synthesis._latent_classes import ClassMixture as ClassMixture
from discreet.synthesis._latent_classes import latent_classes
from discreet.synthesis._maximum_entropy import NoisyTable, maximum_entropy
from discreet.synthesis._precision import ExpectedLoss as ExpectedLoss
from discreet.synthesis._precision import expected_scores as expected_scores

__all__ = ["NoisyTable", "latent_classes", "maximum_entropy"]
