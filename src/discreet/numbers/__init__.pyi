from discreet.numbers._bounded_number import BoundedNumber as BoundedNumber
from discreet.numbers._persons import ONE_PERSON as ONE_PERSON
from discreet.numbers._persons import Persons
from discreet.numbers._quantiles_mechanisms import ChosenCounts, ChosenTable
from discreet.numbers._quantiles_model import NumberQuantiles
from discreet.numbers._quantiles_model import why_table as why_table
from discreet.numbers._quantiles_posterior import NumberQuantilesPosterior
from discreet.numbers._secret_size_mechanisms import CubeSums, LaplaceSums
from discreet.numbers._sums_mechanisms import GeometricSums, MetricSums
from discreet.numbers._sums_model import NumberSums
from discreet.numbers._sums_posterior import NumberSumsPosterior
from discreet.numbers._table_mechanisms import BlockTable, GroupPaths, PathTable, TreeTable
from discreet.numbers._table_model import NumberTable
from discreet.numbers._table_model import suitable_cells as suitable_cells
from discreet.numbers._table_model import suitable_path_cells as suitable_path_cells
from discreet.numbers._table_posterior import NumberTablePosterior
from discreet.numbers._weighted_model import WeightedSums
from discreet.numbers._weights import PersonRows, Weights

__all__ = [
    "BlockTable",
    "ChosenCounts",
    "ChosenTable",
    "CubeSums",
    "GeometricSums",
    "GroupPaths",
    "LaplaceSums",
    "MetricSums",
    "NumberQuantiles",
    "NumberQuantilesPosterior",
    "NumberSums",
    "NumberSumsPosterior",
    "NumberTable",
    "NumberTablePosterior",
    "PathTable",
    "PersonRows",
    "Persons",
    "TreeTable",
    "WeightedSums",
    "Weights",
]
