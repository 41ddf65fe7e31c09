"""Log-linear models of a table, with the interactions that are chosen.

log p = X b - log sum e^(X b), X with one column for each combination of levels of every term. Terms that are left out
say that columns are independent given the others. The derivative by b is X'(E[k] - n p).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import log_softmax, softmax

from discreet._core.arrays import Floats
from discreet._core.documents import Document
from discreet._core.errors import DeclarationError
from discreet.mechanism import Declared, Key
from discreet.programs._formula import design_of, formula_of_levels
from discreet.programs._priors import ParameterPrior, prior_of
from discreet.programs._program import AskedProgram, Cells, Program, chosen
from discreet.programs._regressions import USUAL
from discreet.records import Column


@dataclass(frozen=True, init=False, repr=False)
class LogLinear(Program, kind="LogLinear"):
    """A log-linear model of a crossed table, such as '~ age + ward + falls + age:falls'.

    >>> LogLinear("~ age*falls")
    LogLinear('~ age*falls')
    """

    subject: ClassVar[str] = "a log-linear model"

    formula: str
    prior: str = USUAL

    def __init__(
        self, formula: str, columns: Sequence[Column] | None = None, prior: str | ParameterPrior = USUAL
    ) -> None:
        read = formula_of_levels(formula)
        if read.outcome or read.varying or not read.terms:
            raise DeclarationError(
                "A log-linear model has terms only to the right of ~, as in '~ age + ward + age:ward'; got "
                f"{formula!r}."
            )
        object.__setattr__(self, "formula", formula)
        object.__setattr__(self, "prior", repr(prior_of(prior, "an effect", "real")))
        if columns is not None:
            own = chosen(columns, read.covariates)
            object.__setattr__(self, "columns", own)
            self.on(own)

    def canonical_document(self) -> Document:
        """Return the model with the terms of its formula in the order of their names."""
        return super().canonical_document() | {"formula": formula_of_levels(self.formula).canonical}

    def __repr__(self) -> str:
        return f"LogLinear({self.formula!r}{'' if self.prior == USUAL else f', prior={self.prior}'})"

    @classmethod
    def asked_as(cls) -> Mapping[str, AskedProgram]:
        about = "Which columns go together in a table: main effects and interactions of a log-linear model."
        keys = {"formula": Key("Formula, with nothing to the left of ~", example="~ ward + fall + ward:fall")}
        return {"log-linear": AskedProgram(cls._asked, "Log-linear model", about, keys)}

    @classmethod
    def _asked(cls, declared: Declared, formula: str, prior: str = USUAL) -> "LogLinear":
        names = formula_of_levels(formula).covariates
        return cls(formula, list(declared.levels("formula", names).values()), prior)

    def on(self, columns: Sequence[Column]) -> Cells:
        read, names = formula_of_levels(self.formula), [column.name for column in columns]
        if set(names) != set(read.covariates):
            raise DeclarationError(
                f"{self.formula!r} names {', '.join(read.covariates)}; the table has {', '.join(names)}."
            )
        design = design_of(columns, names, read.terms, None)
        matrix = design.matrix[:, 1:]  # what multiplies every cell is known: probabilities add up to 1

        def log_of(theta: Floats) -> Floats:
            return np.asarray(log_softmax(theta @ matrix.T, axis=1))

        def pull(theta: Floats, expected: Floats) -> Floats:
            chances = softmax(theta @ matrix.T, axis=1)
            return np.asarray((expected - expected.sum(axis=1, keepdims=True) * chances) @ matrix)

        priors = (prior_of(self.prior, "an effect"),) * matrix.shape[1]
        return Cells(tuple(columns), design.names[1:], priors, log_of, pull, unit="log of a probability")

    def in_words(self) -> str:
        return f"Every effect of {self.formula} has the prior {self.prior}."
