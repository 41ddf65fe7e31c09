from discreet.inference._infer import infer
from discreet.inference._plug_in import plug_in
from discreet.inference.consistent import consistent_tables
from discreet.inference.pooling import PooledRates
from discreet.inference.posteriors.categories import CategoriesPosterior
from discreet.inference.posteriors.family import FamilyPosterior
from discreet.inference.posteriors.model import ModelPosterior
from discreet.inference.posteriors.network import NetworkPosterior
from discreet.inference.posteriors.number_sums import NumberSumsPosterior
from discreet.inference.posteriors.number_table import NumberTablePosterior
from discreet.inference.posteriors.posterior import Posterior
from discreet.inference.posteriors.regression import RegressionPosterior
from discreet.inference.posteriors.row import Row
from discreet.reading.cells.likelihood import Likelihood, Likelihoods
from discreet.reading.consistent_tables import ConsistentTables

__all__ = [
    "CategoriesPosterior",
    "ConsistentTables",
    "FamilyPosterior",
    "Likelihood",
    "Likelihoods",
    "ModelPosterior",
    "NetworkPosterior",
    "NumberSumsPosterior",
    "NumberTablePosterior",
    "PooledRates",
    "Posterior",
    "RegressionPosterior",
    "Row",
    "consistent_tables",
    "infer",
    "plug_in",
]
