from discreet.tables._enumeration import table_likelihoods as table_likelihoods
from discreet.tables._mechanisms import (
    DiscreteGaussianCounts,
    DiscreteGaussianHistogram,
    DiscreteLaplaceCounts,
    GeometricHistogram,
    NoisyCounts,
)
from discreet.tables._mechanisms import gaussian_delta as gaussian_delta
from discreet.tables._model import MOST_CELLS, Categories
from discreet.tables._model import Levels as Levels
from discreet.tables._model import Prior as Prior
from discreet.tables._plug_in import plug_in
from discreet.tables._pooling import PooledRates
from discreet.tables._posterior import CategoriesPosterior
from discreet.tables._secret_size import SecretGroupwiseDistributions as SecretGroupwiseDistributions
from discreet.tables._secret_size import SecretSizePosterior
from discreet.tables._secret_size import cell_measurements as cell_measurements
from discreet.tables._secret_size import on_nodes as on_nodes
from discreet.tables._secret_size import published_number as published_number
from discreet.tables._secret_size import secret_number_refusal as secret_number_refusal
from discreet.tables._secret_size_mechanisms import GaussianTable, LaplaceTable
from discreet.tables._solution import EXACTLY as EXACTLY
from discreet.tables._solver import MeasuredCells as MeasuredCells
from discreet.tables._solver import no_product as no_product
from discreet.tables._tree_levels import TreeLevels

__all__ = [
    "MOST_CELLS",
    "Categories",
    "CategoriesPosterior",
    "DiscreteGaussianCounts",
    "DiscreteGaussianHistogram",
    "DiscreteLaplaceCounts",
    "GaussianTable",
    "GeometricHistogram",
    "LaplaceTable",
    "NoisyCounts",
    "PooledRates",
    "SecretSizePosterior",
    "TreeLevels",
    "plug_in",
]
