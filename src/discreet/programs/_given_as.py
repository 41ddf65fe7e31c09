"""What a reader may give as a program: one of these, a family with one parameter, or a formula."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from fractions import Fraction

import numpy as np

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError
from discreet.mathematics.distributions import CertifiedGamma, CertifiedNormal
from discreet.programs._formula import formula_of_levels
from discreet.programs._loglinear import LogLinear
from discreet.programs._priors import GammaPrior, NormalPrior, ParameterPrior
from discreet.programs._program import Cells, Program, chosen
from discreet.programs._regressions import Logistic, Multinomial
from discreet.programs._written import priors_written
from discreet.programs.families import ReadableFamily
from discreet.records import Column


class FamilyProgram(Program):
    """A family of posterior draws as a program: it is read from a noisy table of its levels too."""

    subject = "a family with one parameter"

    def __init__(self, family: ReadableFamily) -> None:
        self.family, self.columns = family, (family.column,)

    def __repr__(self) -> str:
        return repr(self.family)

    def _distribution(self) -> ParameterPrior:
        found: object = self.family.posterior_given_total(Fraction(0), 0)
        if isinstance(found, CertifiedGamma):
            return GammaPrior(float(found.shape), float(found.rate))
        if isinstance(found, CertifiedNormal):
            return NormalPrior(float(found.mean), float(found.variance) ** 0.5)
        raise DeclarationError(
            f"The prior of {self.family!r} is neither a Gamma nor a normal distribution, so the family can only be "
            "read from posterior draws."
        )

    def on(self, columns: Sequence[Column]) -> Cells:
        if tuple(columns) != self.columns:
            raise DeclarationError(f"{self.family!r} is about {self.family.column!r}; the table has {list(columns)!r}.")
        prior = self._distribution()

        def log_of(theta: Floats) -> Floats:
            with np.errstate(divide="ignore"):
                logs = np.log(self.family.level_probabilities(prior.natural(theta[:, 0])))
            return np.asarray(logs - np.logaddexp.reduce(logs, axis=1)[:, None])

        unit = f"parameter of {type(self.family).__name__}"
        name = f"{type(self.family).__name__} {self.family.column.name}"
        return Cells(tuple(columns), (name,), (prior,), log_of, unit=unit)

    def in_words(self) -> str:
        return f"The prior is {self._distribution()!r}."


def program_of(model: object, columns: Sequence[Column]) -> Program:
    """Return what a reader gave as a program: one as it is, a family, or a formula; refuse anything else."""
    if isinstance(model, Program):
        return model
    if isinstance(model, ReadableFamily):
        return FamilyProgram(model)
    if isinstance(model, str):
        formula, *written = model.split(";")
        read, priors = formula_of_levels(formula), priors_written(written)
        if not read.outcome:
            return _with_priors(LogLinear, formula, priors)
        (outcome,) = chosen(columns, [read.outcome])
        return _with_priors(Logistic if len(outcome.levels) == 2 else Multinomial, formula, priors)
    raise DeclarationError(
        "model must be a program such as discreet.Logistic('falls ~ age + ward'), one of discreet.programs, a "
        f"family such as discreet.PoissonRate, or a formula; got a {type(model).__name__}. Nothing was read."
    )


def _with_priors(kind: type[LogLinear | Logistic | Multinomial], formula: str, priors: Mapping[str, str]) -> Program:
    known = [each.name for each in fields(kind) if each.name != "formula"]
    if strange := [name for name in priors if name not in known]:
        raise DeclarationError(
            f"The priors of {kind.subject} are {' and '.join(known)}; got {strange[0]!r}. Nothing was read."
        )
    return kind(formula.strip(), None, **priors)
