from discreet.synthesis._junction_tree import Tree as Tree
from discreet.synthesis._junction_tree import TreeDistribution as TreeDistribution
from discreet.synthesis._junction_tree import cells_of as cells_of
from discreet.synthesis._junction_tree import triangulated as triangulated
from discreet.synthesis._junction_tree import within as within
from discreet.synthesis._latent_classes import ClassMixture as ClassMixture
from discreet.synthesis._latent_classes import latent_classes
from discreet.synthesis._maximum_entropy import NoisyTable, maximum_entropy
from discreet.synthesis._mechanisms import GaussianPairTables, NoisyPairs, PairGaussians
from discreet.synthesis._model import Synthesis
from discreet.synthesis._numbers import RULES as RULES
from discreet.synthesis._own_sums import OwnSums as OwnSums
from discreet.synthesis._posterior import BY_THE_MODEL as BY_THE_MODEL
from discreet.synthesis._posterior import SynthesisMargin, SynthesisPosterior
from discreet.synthesis._precision import ExpectedLoss as ExpectedLoss
from discreet.synthesis._precision import expected_scores as expected_scores
from discreet.synthesis._records import SyntheticRecords
from discreet.synthesis._records import several as several

__all__ = [
    "GaussianPairTables",
    "NoisyPairs",
    "NoisyTable",
    "PairGaussians",
    "Synthesis",
    "SynthesisMargin",
    "SynthesisPosterior",
    "SyntheticRecords",
    "latent_classes",
    "maximum_entropy",
]
