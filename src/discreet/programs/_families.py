"""Families over declared bands or levels: Poisson, Binomial, NegativeBinomial, Exponential, Gamma, LogNormal, Normal.

A cell is a band a <= x < b (the last one includes its upper edge) or a whole number, and has the probability that the
family gives it, P(x < b) - P(x < a), on the side where both are small. What lies in no band is counted as the level
`outside`, as the records are, so that clipping needs no correction. Missing values among the records are counted there
as well.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil, log
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, gammainc, gammaincc, log_ndtr

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError, meant
from discreet._core.exact import whole
from discreet.mechanism import Declared, Key, of_levels, one_of
from discreet.programs._priors import BetaPrior, HalfNormalPrior, LogNormalPrior, NormalPrior, ParameterPrior, prior_of
from discreet.programs._program import AskedProgram, Cells, Program
from discreet.records import Column

Written = str | ParameterPrior | None
Tails = tuple[Floats, Floats]
"""log P(x < edge) and log P(x >= edge), for rows of parameters and columns of edges."""


@dataclass(frozen=True, init=False, repr=False)
class Family(Program):
    """The parameters of a family, each with a prior; the default priors are wide for the declared bands."""

    supports: ClassVar[Mapping[str, str]]
    is_discrete: ClassVar[bool] = False

    priors: tuple[str, ...]

    def __init__(self, column: Column | None = None, **priors: Written) -> None:
        if strange := [name for name in priors if name not in self.supports]:
            raise DeclarationError(
                f"The parameters of {type(self).__name__} are {', '.join(self.supports)}; got {strange[0]!r}."
                f"{meant(strange[0], self.supports)}"
            )
        written = [priors.get(name) for name in self.supports]
        found = [each and prior_of(each, n, s) for (n, s), each in zip(self.supports.items(), written, strict=True)]
        object.__setattr__(self, "priors", tuple("" if each is None or each == "" else repr(each) for each in found))
        if column is not None:
            object.__setattr__(self, "columns", (column,))
            self.on((column,))

    @classmethod
    def restored(cls, **values: object) -> "Family":
        priors = values.pop("priors")
        if not isinstance(priors, tuple) or len(priors) != len(cls.supports):
            raise DeclarationError(f"{cls.__name__} has {len(cls.supports)} priors.")
        return cls(**dict(zip(cls.supports, priors, strict=True)), **values)  # type: ignore[arg-type]  # texts

    def __repr__(self) -> str:
        own = [f"{name}={prior}" for name, prior in zip(self.supports, self.priors, strict=True) if prior]
        return f"{type(self).__name__}({', '.join(own)})"

    @property
    def subject(self) -> str:  # type: ignore[override]  # which the family's name tells
        """Return what it is, in words."""
        return f"the family {type(self).__name__} over bands"

    @abstractmethod
    def tails(self, parameters: Sequence[Floats], edges: Floats) -> Tails:
        """Return log P(x < edge) and log P(x >= edge), given columns of parameters."""

    @abstractmethod
    def usual(self, low: float, high: float) -> tuple[ParameterPrior, ...]:
        """Return wide priors for numbers between two public ends."""

    def parameter_priors(self, column: Column) -> tuple[ParameterPrior, ...]:
        """Return the prior of each parameter."""
        marks, _ = intervals(column, self.is_discrete)
        usual = self.usual(float(marks[0]), float(marks[-1]))
        return tuple(
            prior_of(own, "a parameter") if own else prior for own, prior in zip(self.priors, usual, strict=True)
        )

    def on(self, columns: Sequence[Column]) -> Cells:
        if len(columns) != 1:
            raise DeclarationError(
                f"{type(self).__name__} describes one column; the table has {', '.join(c.name for c in columns)}. "
                "Publish that column alone, or use a regression."
            )
        marks, homes = intervals(columns[0], self.is_discrete)
        priors, cells = self.parameter_priors(columns[0]), len(columns[0].levels)

        def log_of(theta: Floats) -> Floats:
            parameters = [prior.natural(theta[:, index])[:, None] for index, prior in enumerate(priors)]
            return _gathered(_between(*self.tails(parameters, marks)), homes, cells)

        names = tuple(self.supports)
        return Cells(tuple(columns), names, priors, log_of, unit=f"parameter of {type(self).__name__}")

    def in_words(self) -> str:
        own = [
            f"{name} {prior or 'wide for the declared bands'}"
            for name, prior in zip(self.supports, self.priors, strict=True)
        ]
        return f"The prior is {'; '.join(own)}."


def intervals(column: Column, is_discrete: bool) -> tuple[Floats, list[int]]:
    """Return rising marks, and for each interval between them, the two open ends included, its cell."""
    if column.edges:
        marks = [float(ceil(edge)) if is_discrete else edge for edge in column.edges]
        if is_discrete:
            marks[-1] = float(np.floor(column.edges[-1])) + 1
        found = {(low, high): index for index, (low, high) in enumerate(pairwise(marks))}
    else:
        numbers = {_number(level): index for index, level in enumerate(column.levels)}
        wrong = [column.levels[index] for number, index in numbers.items() if number is None]
        if not is_discrete or any(level != column.outside for level in wrong) or len(numbers) < 2:
            wanted = "whole numbers as levels, or bands" if is_discrete else "bands: declare it by their edges"
            raise DeclarationError(f"{column.name!r} needs {wanted}. Nothing was read.")
        found = {(float(number), float(number + 1)): p for number, p in numbers.items() if number is not None}
        marks = sorted({end for pair in found for end in pair})
    inner = [found.get(pair, column.home) for pair in pairwise(marks)]
    return np.array(marks), [column.home, *inner, column.home]


def _number(level: str | int) -> int | None:
    try:
        return int(level)
    except ValueError:
        return None


def _between(below: Floats, above: Floats) -> Floats:
    """Return log P of every interval between marks and beyond both ends, from the tail where it is small."""
    rows = len(below)
    low = np.concatenate([np.full((rows, 1), -np.inf), below, np.zeros((rows, 1))], axis=1)
    high = np.concatenate([np.zeros((rows, 1)), above, np.full((rows, 1), -np.inf)], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        left = low[:, 1:] + np.log(-np.expm1(np.minimum(low[:, :-1] - low[:, 1:], 0.0)))
        right = high[:, :-1] + np.log(-np.expm1(np.minimum(high[:, 1:] - high[:, :-1], 0.0)))
    found = np.where(low[:, :-1] <= high[:, :-1], left, right)
    return np.where(np.isnan(found), -np.inf, found)


def _gathered(logs: Floats, homes: Sequence[int], cells: int) -> Floats:
    """Return the log probability of every cell, which may hold several intervals or none."""
    found = np.full((len(logs), cells), -np.inf)
    for index, cell in enumerate(homes):
        found[:, cell] = np.logaddexp(found[:, cell], logs[:, index])
    return np.asarray(found - np.logaddexp.reduce(found, axis=1)[:, None])


def _logs(below: ArrayLike, above: ArrayLike) -> Tails:
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(below, dtype=float)), np.log(np.asarray(above, dtype=float))


def _middle(low: float, high: float) -> float:
    return log(max(abs(low), abs(high), 1e-3) / 2)


class Normal(Family, kind="Normal"):
    """Mean and standard deviation of normal values in bands (interval-censored)."""

    supports: ClassVar[Mapping[str, str]] = {"mean": "real", "sd": "positive"}

    def tails(self, parameters: Sequence[Floats], edges: Floats) -> Tails:
        """Return log Phi((x - mean) / sd) and that of the other tail."""
        mean, sd = parameters
        scaled = (edges - mean) / sd
        return np.asarray(log_ndtr(scaled)), np.asarray(log_ndtr(-scaled))

    def usual(self, low: float, high: float) -> tuple[ParameterPrior, ...]:
        """Return a mean as far as the bands reach, and a spread up to their range."""
        return NormalPrior((low + high) / 2, high - low), HalfNormalPrior(high - low)


class LogNormal(Family, kind="LogNormal"):
    """Mean and standard deviation of the logarithm of positive values in bands."""

    supports: ClassVar[Mapping[str, str]] = {"mean": "real", "sd": "positive"}

    def tails(self, parameters: Sequence[Floats], edges: Floats) -> Tails:
        """Return log Phi((log x - mean) / sd) and that of the other tail."""
        mean, sd = parameters
        with np.errstate(divide="ignore"):
            scaled = (np.log(np.maximum(edges, 0.0)) - mean) / sd
        return np.asarray(log_ndtr(scaled)), np.asarray(log_ndtr(-scaled))

    def usual(self, low: float, high: float) -> tuple[ParameterPrior, ...]:
        """Return a mean within a few factors of e of the middle, and a spread of about 1."""
        return NormalPrior(_middle(low, high), 2), HalfNormalPrior(1)


class Exponential(Family, kind="Exponential"):
    """The rate of waiting times in bands."""

    supports: ClassVar[Mapping[str, str]] = {"rate": "positive"}

    def tails(self, parameters: Sequence[Floats], edges: Floats) -> Tails:
        """Return log(1 - e^(-rate x)) and -rate x."""
        turns = parameters[0] * np.maximum(edges, 0.0)
        with np.errstate(divide="ignore"):
            return np.log(-np.expm1(-turns)), -turns

    def usual(self, low: float, high: float) -> tuple[ParameterPrior, ...]:
        """Return a rate within a few factors of e of one over the middle."""
        return (LogNormalPrior(-_middle(low, high), 2),)


class Gamma(Family, kind="Gamma"):
    """Shape and mean of Gamma-distributed values in bands; the rate is shape / mean."""

    supports: ClassVar[Mapping[str, str]] = {"shape": "positive", "mean": "positive"}

    def tails(self, parameters: Sequence[Floats], edges: Floats) -> Tails:
        """Return the logarithms of both incomplete Gamma functions."""
        shape, mean = parameters
        scaled = shape / mean * np.maximum(edges, 0.0)
        return _logs(gammainc(shape, scaled), gammaincc(shape, scaled))

    def usual(self, low: float, high: float) -> tuple[ParameterPrior, ...]:
        """Return a shape within a few factors of e of 1, and a mean within a few of the middle."""
        return LogNormalPrior(0, 1.5), LogNormalPrior(_middle(low, high), 2)


class Poisson(Family, kind="Poisson"):
    """The Poisson rate of event counts, as levels or in bands."""

    supports: ClassVar[Mapping[str, str]] = {"rate": "positive"}
    is_discrete = True

    def tails(self, parameters: Sequence[Floats], edges: Floats) -> Tails:
        """Return log P(x < k) = log Q(k, rate) and log P(x >= k) = log P(k, rate)."""
        (rate,) = parameters
        least = np.maximum(edges, 1.0)
        below, above = _logs(gammaincc(least, rate), gammainc(least, rate))
        return np.where(edges < 1, -np.inf, below), np.where(edges < 1, 0.0, above)

    def usual(self, low: float, high: float) -> tuple[ParameterPrior, ...]:
        """Return a rate within a few factors of e of the middle."""
        return (LogNormalPrior(_middle(low, high), 2),)


class NegativeBinomial(Family, kind="NegativeBinomial"):
    """Mean and size of overdispersed event counts: the variance is mean + mean^2 / size."""

    supports: ClassVar[Mapping[str, str]] = {"mean": "positive", "size": "positive"}
    is_discrete = True

    def tails(self, parameters: Sequence[Floats], edges: Floats) -> Tails:
        """Return the logarithms of both incomplete Beta functions."""
        mean, size = parameters
        least, success = np.maximum(edges, 1.0), size / (size + mean)
        below, above = _logs(betainc(size, least, success), betainc(least, size, mean / (size + mean)))
        return np.where(edges < 1, -np.inf, below), np.where(edges < 1, 0.0, above)

    def usual(self, low: float, high: float) -> tuple[ParameterPrior, ...]:
        """Return a mean within a few factors of e of the middle, and a size within a few of 1."""
        return LogNormalPrior(_middle(low, high), 2), LogNormalPrior(0, 1.5)


@dataclass(frozen=True, init=False, repr=False)
class Binomial(Family, kind="Binomial"):
    """The probability of success in a public number of trials, as levels or in bands."""

    supports: ClassVar[Mapping[str, str]] = {"probability": "unit"}
    is_discrete = True

    trials: int = field(default=1)

    def __init__(self, column: Column | None = None, trials: int = 1, **priors: Written) -> None:
        object.__setattr__(self, "trials", whole(trials, "trials"))
        super().__init__(column, **priors)

    def __repr__(self) -> str:
        return f"Binomial(trials={self.trials}{', ' if self.priors[0] else ''}{super().__repr__()[9:-1]})"

    def tails(self, parameters: Sequence[Floats], edges: Floats) -> Tails:
        """Return the logarithms of both incomplete Beta functions."""
        (chance,) = parameters
        least = np.clip(edges, 1.0, self.trials)
        below, above = _logs(
            betainc(self.trials - least + 1, least, 1 - chance), betainc(least, self.trials - least + 1, chance)
        )
        below = np.where(edges < 1, -np.inf, np.where(edges > self.trials, 0.0, below))
        return below, np.where(edges < 1, 0.0, np.where(edges > self.trials, -np.inf, above))

    def usual(self, low: float, high: float) -> tuple[ParameterPrior, ...]:
        return (BetaPrior(1, 1),)


FAMILIES: Mapping[str, Callable[..., Family]] = {
    "poisson": Poisson,
    "binomial": Binomial,
    "negative-binomial": NegativeBinomial,
    "exponential": Exponential,
    "gamma": Gamma,
    "log-normal": LogNormal,
    "normal": Normal,
}
"""Families by the names that studies and the command line write."""


def family_of(
    declared: Declared, column: str, family: str, priors: Mapping[str, str] | None = None, trials: int | None = None
) -> Family:
    """Return the family that a study asks for: a declared column, the family's name, and priors by parameter."""
    if family not in FAMILIES:
        raise DeclarationError(
            f"the family is {family!r}; known families are {', '.join(map(repr, FAMILIES))}.{meant(family, FAMILIES)}"
        )
    if (trials is not None) != (family == "binomial"):
        raise DeclarationError(
            "trials, the public number of trials, is required with family = 'binomial' and not allowed otherwise."
        )
    further: dict[str, object] = {} if trials is None else {"trials": trials}
    found = declared.levels("column", [column])[column]
    return FAMILIES[family](found, **further, **dict(priors or {}))


ASKED_FAMILY = AskedProgram(
    family_of,
    "Distribution family",
    "The parameters of a named distribution, such as a Poisson rate, for a column of counts or of banded numbers.",
    {
        "column": Key("Column", of_levels),
        "family": Key("Family", one_of(*FAMILIES)),
        "trials": Key("Number of trials, for the binomial family only"),
    },
)
"""How a study or a form asks for a family."""
