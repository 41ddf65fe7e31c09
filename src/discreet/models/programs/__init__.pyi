from discreet.models.programs.families import (
    Binomial,
    Exponential,
    Gamma,
    LogNormal,
    NegativeBinomial,
    Normal,
    Poisson,
)
from discreet.models.programs.loglinear import LogLinear
from discreet.models.programs.own import CellModel
from discreet.models.programs.program import Cells, Program
from discreet.models.programs.regressions import Logistic, Multinomial

__all__ = [
    "Binomial",
    "CellModel",
    "Cells",
    "Exponential",
    "Gamma",
    "LogLinear",
    "LogNormal",
    "Logistic",
    "Multinomial",
    "NegativeBinomial",
    "Normal",
    "Poisson",
    "Program",
]
