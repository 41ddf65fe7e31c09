from discreet.programs._cell_model import CellModel
from discreet.programs._families import Binomial, Exponential, Gamma, LogNormal, NegativeBinomial, Normal, Poisson
from discreet.programs._families import Family as Family
from discreet.programs._infer import infer_program as infer_program
from discreet.programs._likelihood import Likelihood, Likelihoods
from discreet.programs._loglinear import LogLinear
from discreet.programs._model import ModelledTable
from discreet.programs._posterior import ModelPosterior
from discreet.programs._program import Cells, Program
from discreet.programs._regressions import Logistic, Multinomial
from discreet.programs._written import program_written as program_written

__all__ = [
    "Binomial",
    "CellModel",
    "Cells",
    "Exponential",
    "Gamma",
    "Likelihood",
    "Likelihoods",
    "LogLinear",
    "LogNormal",
    "Logistic",
    "ModelPosterior",
    "ModelledTable",
    "Multinomial",
    "NegativeBinomial",
    "Normal",
    "Poisson",
    "Program",
]
