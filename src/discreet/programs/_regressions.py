"""Regressions of one categorical outcome on categorical or banded covariates, read from the crossed table.

With groups g, the patterns of covariates, and x_g their row of effects,

    logistic     log odds P(event | g) = x_g' b + v_w(g),
    multinomial  log P(level c | g) / P(first level | g) = x_g' b_c,

v_w = tau u_w the intercepts that vary around a common mean: u_w ~ Normal(0, 1) for (1 | w), which draws an outlying
group towards the others, and u_w ~ t with 3 degrees of freedom for (1 | w, t), which does so less.

The shares of the patterns are integrated out (`Likelihood.given`), so that a regression has as many parameters as
coefficients. With s_g = E[k_g,event] - E[K_g] q_g the derivative by b is sum_g x_g s_g.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, log_expit, log_softmax, softmax

from discreet._core.arrays import Counts, Floats
from discreet._core.documents import Document
from discreet._core.errors import DeclarationError
from discreet.mechanism import Declared, Key
from discreet.programs._formula import Design, design_of, formula_of_levels, level_name
from discreet.programs._priors import NormalPrior, ParameterPrior, StudentTPrior, prior_of
from discreet.programs._program import AskedProgram, Cells, Program, chosen
from discreet.records import Column, text_of
from discreet.regression import Formula

USUAL = "Normal(0, 2.5)"
"""The default prior of a coefficient: an effect of 2.5 multiplies odds by 12."""
USUAL_SPREAD = "HalfNormal(2.5)"
"""The default prior of the spread of intercepts that vary."""
_STEPS, _STEPS_WITH_TAILS = NormalPrior(0, 1), StudentTPrior(3, 0, 1)
_LOG_ODDS = "log odds"


@dataclass(frozen=True, init=False, repr=False)
class Regression(Program):
    """A formula, and one prior for all coefficients."""

    formula: str
    prior: str = USUAL

    def __init__(
        self, formula: str, columns: Sequence[Column] | None = None, prior: str | ParameterPrior = USUAL
    ) -> None:
        read = formula_of_levels(formula)
        if not read.outcome or not read.covariates:
            raise DeclarationError(
                f"A regression needs an outcome and covariates, as in 'falls ~ age + ward'; got {formula!r}."
            )
        object.__setattr__(self, "formula", formula)
        object.__setattr__(self, "prior", repr(prior_of(prior, "a coefficient", "real")))
        if columns is not None:
            own = chosen(columns, [*read.covariates, read.outcome])
            object.__setattr__(self, "columns", own)
            self.on(own)

    def __repr__(self) -> str:
        own = "" if self.prior == USUAL else f", prior={self.prior}"
        return f"{type(self).__name__}({self.formula!r}{own})"

    @property
    def read(self) -> Formula:
        """Return the formula's parts."""
        return formula_of_levels(self.formula)

    def canonical_document(self) -> Document:
        """Return the regression with the terms of its formula in the order of their names."""
        return super().canonical_document() | {"formula": self.read.canonical}

    def fitted(self, columns: Sequence[Column]) -> tuple[Column, Design]:
        """Return the outcome and the matrix of patterns; refuse a table that has other columns."""
        read = self.read
        outcome = chosen(columns, [read.outcome, *read.covariates])[0]
        if read.outcome in read.covariates:
            raise DeclarationError(f"{read.outcome!r} is on both sides of {self.formula!r}.")
        if extra := [c.name for c in columns if c.name not in (read.outcome, *read.covariates)]:
            raise DeclarationError(
                f"The table has {extra[0]!r}, which {self.formula!r} does not name. Publish a table of the formula's "
                "columns, or add it to the formula."
            )
        return outcome, design_of(columns, read.covariates, read.terms, read.varying)

    def in_words(self) -> str:
        return (
            f"Every coefficient of {self.formula} has the prior {self.prior}{self._spread_in_words}; the shares of the "
            "covariates have a Dirichlet prior with all parameters 1."
        )

    @property
    def _spread_in_words(self) -> str:
        return ""


@dataclass(frozen=True, init=False, repr=False)
class Logistic(Regression, kind="Logistic"):
    """A logistic regression of a column with two levels; the event is its last level, or the one named `falls=yes`.

    `spread` is the prior of the standard deviation of intercepts that vary, of (1 | ward) or (1 | ward, t).

    >>> Logistic("falls ~ age + ward")
    Logistic('falls ~ age + ward')
    >>> Logistic("falls ~ age + (1 | ward, t)", spread="HalfStudentT(3, 2.5)")
    Logistic('falls ~ age + (1 | ward, t)', spread=HalfStudentT(3, 2.5))
    """

    subject: ClassVar[str] = "a logistic regression"
    spread: str | None = None
    """The prior of the spread, if it is not the default."""

    def __init__(
        self,
        formula: str,
        columns: Sequence[Column] | None = None,
        prior: str | ParameterPrior = USUAL,
        spread: str | ParameterPrior | None = None,
    ) -> None:
        varying = formula_of_levels(formula).varying
        if spread is not None and varying is None:
            raise DeclarationError(
                f"spread is the prior of how far intercepts vary, but none do in {formula!r}: write (1 | column), or "
                "leave it out."
            )
        own = repr(prior_of(spread or USUAL_SPREAD, "the spread", "positive"))
        object.__setattr__(self, "spread", None if own == USUAL_SPREAD else own)
        super().__init__(formula, columns, prior)

    def __repr__(self) -> str:
        return super().__repr__() if self.spread is None else f"{super().__repr__()[:-1]}, spread={self.spread})"

    @property
    def _spread_in_words(self) -> str:
        read = self.read
        if read.varying is None:
            return ""
        tails = ", in units of which they have a t distribution with 3 degrees of freedom" if read.has_tails else ""
        return f", the spread of varying intercepts {self.spread or USUAL_SPREAD}{tails}"

    @classmethod
    def asked_as(cls) -> Mapping[str, AskedProgram]:
        about = "How the chance of an event depends on other columns, all of them with levels."
        keys = {"formula": Key("Formula", example="fall ~ age + ward")}
        return {"logistic": AskedProgram(cls._asked, "Logistic regression", about, keys)}

    @classmethod
    def _asked(
        cls,
        declared: Declared,
        formula: str,
        prior: str = USUAL,
        spread: str | None = None,
        guessed_shares: Mapping[str, list[float] | dict[str, float]] | None = None,
    ) -> "Logistic":
        return cls(formula, _declared(declared, formula), prior, spread).guessing(guessed_shares)

    def on(self, columns: Sequence[Column]) -> Cells:
        outcome, design = self.fitted(columns)
        event = _event(outcome, self.read.event)
        if len(outcome.levels) != 2:
            raise DeclarationError(
                f"{outcome.name!r} has the levels {', '.join(str(text_of(x)) for x in outcome.levels)}, but a "
                "logistic regression needs exactly two. Use a multinomial regression, or name one of two levels "
                "`outside`."
            )
        indices = _cell_indices(columns, self.read.covariates, outcome)
        yes, no = indices[:, event], indices[:, 1 - event]
        return _Intercepts(self, columns, design, yes, no).cells


@dataclass(frozen=True, init=False, repr=False)
class Multinomial(Regression, kind="Multinomial"):
    """A multinomial regression of a column with any number of levels; the first level is the reference."""

    subject: ClassVar[str] = "a multinomial regression"

    @classmethod
    def asked_as(cls) -> Mapping[str, AskedProgram]:
        about = "How the chances of several levels of a column depend on other columns."
        keys = {"formula": Key("Formula", example="ward ~ age + smoker")}
        return {"multinomial": AskedProgram(cls._asked, "Multinomial regression", about, keys)}

    @classmethod
    def _asked(
        cls,
        declared: Declared,
        formula: str,
        prior: str = USUAL,
        guessed_shares: Mapping[str, list[float] | dict[str, float]] | None = None,
    ) -> "Multinomial":
        return cls(formula, _declared(declared, formula), prior).guessing(guessed_shares)

    def on(self, columns: Sequence[Column]) -> Cells:
        outcome, design = self.fitted(columns)
        if self.read.varying is not None or self.read.event is not None:
            raise DeclarationError("Varying intercepts, and an outcome such as falls=yes, are only for Logistic.")
        indices, levels = _cell_indices(columns, self.read.covariates, outcome), len(outcome.levels)
        effects = design.matrix.shape[1]

        def predictors(theta: Floats) -> Floats:
            own = design.matrix @ theta.reshape(len(theta), levels - 1, effects).swapaxes(1, 2)
            return np.concatenate([np.zeros((*own.shape[:2], 1)), own], axis=2)

        def log_of(theta: Floats) -> Floats:
            found = np.empty((len(theta), indices.size))
            found[:, indices] = log_softmax(predictors(theta), axis=2)
            return found

        def pull(theta: Floats, expected: Floats) -> Floats:
            counts = expected[:, indices]
            score = (counts - counts.sum(axis=2, keepdims=True) * softmax(predictors(theta), axis=2))[:, :, 1:]
            return np.asarray(np.einsum("bgc,ge->bce", score, design.matrix).reshape(len(theta), -1))

        names = tuple(f"{level_name(outcome, c)}: {name}" for c in range(1, levels) for name in design.names)
        priors = (prior_of(self.prior, "a coefficient"),) * len(names)
        return Cells(tuple(columns), names, priors, log_of, pull, self.read.covariates, unit=_LOG_ODDS)


class _Intercepts:
    """A logistic regression, with or without intercepts that vary: parameters are b, then u and log tau."""

    def __init__(self, program: Logistic, columns: Sequence[Column], design: Design, yes: Counts, no: Counts) -> None:
        self._design, self._yes, self._no = design, yes, no
        self._effects, varying = design.matrix.shape[1], program.read.varying
        prior = prior_of(program.prior, "a coefficient")
        priors, names, shown = (prior,) * self._effects, design.names, design.names
        spreads: tuple[int, ...] = ()
        if varying is not None:
            (column,) = chosen(columns, [varying])
            levels = tuple(level_name(column, index) for index in range(len(column.levels)))
            steps = _STEPS_WITH_TAILS if program.read.has_tails else _STEPS
            priors += (steps,) * len(levels) + (prior_of(program.spread or USUAL_SPREAD, "the spread"),)
            names += (*(f"{level} in spreads" for level in levels), f"spread of {varying}")
            spreads = (self._effects + len(levels),)
            shown += (f"spread of {varying}", *(f"{level} from the mean" for level in levels))
        covariates = program.read.covariates
        self.cells = Cells(
            tuple(columns), names, priors, self._log_of, self._pull, covariates, shown,
            None if varying is None else self._shown, _LOG_ODDS, spreads,
        )  # fmt: skip

    def _parts(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return the effects of the groups in spreads, and the spread; nothing and 0 if none vary."""
        if not self._design.groups.size:
            return np.zeros((len(theta), 0)), np.zeros(len(theta))
        return theta[:, self._effects : -1], np.exp(theta[:, -1])

    def _predictor(self, theta: Floats) -> Floats:
        found = theta[:, : self._effects] @ self._design.matrix.T
        own, spread = self._parts(theta)
        return found if not own.shape[1] else found + spread[:, None] * own[:, self._design.groups]

    def _log_of(self, theta: Floats) -> Floats:
        predictor = self._predictor(theta)
        found = np.empty((len(theta), 2 * len(self._yes)))
        found[:, self._yes], found[:, self._no] = log_expit(predictor), log_expit(-predictor)
        return found

    def _pull(self, theta: Floats, expected: Floats) -> Floats:
        yes, no = expected[:, self._yes], expected[:, self._no]
        score = yes - (yes + no) * expit(self._predictor(theta))
        found = score @ self._design.matrix
        own, spread = self._parts(theta)
        if not own.shape[1]:
            return np.asarray(found)
        by_group = score @ np.eye(own.shape[1])[self._design.groups]
        return np.hstack([found, spread[:, None] * by_group, (spread * (own * by_group).sum(axis=1))[:, None]])

    def _shown(self, theta: Floats) -> Floats:
        own, spread = self._parts(theta)
        return np.hstack([theta[:, : self._effects], spread[:, None], spread[:, None] * own])


def _cell_indices(columns: Sequence[Column], covariates: Sequence[str], outcome: Column) -> Counts:
    """Return the cell of every pattern (rows) and level of the outcome (columns)."""
    names = [column.name for column in columns]
    shape = [len(column.levels) for column in columns]
    axes = [names.index(name) for name in (*covariates, outcome.name)]
    return np.arange(int(np.prod(shape))).reshape(shape).transpose(axes).reshape(-1, len(outcome.levels))


def _event(outcome: Column, written: str | None) -> int:
    texts = [str(text_of(level)) for level in outcome.levels]
    if written is None:
        return len(texts) - 1
    if written not in texts:
        raise DeclarationError(f"{outcome.name!r} has the levels {', '.join(texts)}; got {written!r}.")
    return texts.index(written)


def _declared(declared: Declared, formula: str) -> list[Column]:
    read = formula_of_levels(formula)
    return list(declared.levels("formula", [*read.covariates, read.outcome]).values())
