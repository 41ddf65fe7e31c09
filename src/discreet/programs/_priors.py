"""Prior distributions of single parameters, on an unconstrained scale.

A parameter x that is positive is worked on as u = log x, one between 0 and 1 as u = log(x / (1 - x)), any other as
itself. `log_density(u)` is the logarithm of the density of u, so the derivative dx/du is in it; `slope(u)` is its
derivative. Every prior is proper: a flat prior on a coefficient leaves nothing where a group has no events.
"""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from math import isfinite, lgamma, log, pi
from typing import ClassVar

import numpy as np
from scipy.special import betaln, expit, gammaln, log_expit, logit

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError


@dataclass(frozen=True)
class ParameterPrior(ABC):
    """The prior distribution of one parameter.

    >>> NormalPrior(0, 2.5)
    Normal(0, 2.5)
    """

    support: ClassVar[str]

    @classmethod
    def name(cls) -> str:
        """Return the name under which studies and documents write this distribution, such as 'Normal'."""
        return cls.__name__.removesuffix("Prior")

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, int | float) or not isfinite(value) or (value <= 0 and field.name != "mean"):
                wanted = "a finite number" if field.name == "mean" else "a finite number above 0"
                raise DeclarationError(f"{field.name} of {self.name()} must be {wanted}; got {value!r}.")

    def __repr__(self) -> str:
        return f"{self.name()}({', '.join(f'{getattr(self, each.name):g}' for each in fields(self))})"

    @abstractmethod
    def log_density(self, u: Floats) -> Floats:
        """Return the log density of u."""

    @abstractmethod
    def slope(self, u: Floats) -> Floats:
        """Return the derivative of the log density of u."""

    @abstractmethod
    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        """Draw values of u."""

    def natural(self, u: Floats) -> Floats:
        """Return the parameter itself."""
        return u

    def stretch(self, u: Floats) -> Floats:
        """Return dx/du."""
        return np.ones_like(u)

    def without_ends(self, value: float) -> float:
        """Return u of a parameter's value."""
        return float(value)


class PositivePrior(ParameterPrior):
    """The prior of a positive parameter, on the scale of its logarithm."""

    support = "positive"

    def without_ends(self, value: float) -> float:
        return log(value)

    def natural(self, u: Floats) -> Floats:
        """Return e^u."""
        return np.asarray(np.exp(u))

    def stretch(self, u: Floats) -> Floats:
        """Return e^u."""
        return np.asarray(np.exp(u))


@dataclass(frozen=True, repr=False)
class NormalPrior(ParameterPrior):
    """A normal prior: density ~ e^(-(x - mean)^2 / (2 sd^2))."""

    support = "real"
    mean: float
    sd: float

    def log_density(self, u: Floats) -> Floats:
        return np.asarray(-(((u - self.mean) / self.sd) ** 2) / 2 - log(self.sd) - log(2 * pi) / 2)

    def slope(self, u: Floats) -> Floats:
        return np.asarray((self.mean - u) / self.sd**2)

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        return generator.normal(self.mean, self.sd, count)


@dataclass(frozen=True, repr=False)
class StudentTPrior(ParameterPrior):
    """A t prior: like a normal one, but values far from its middle are not rare."""

    support = "real"
    degrees: float
    mean: float
    scale: float

    def log_density(self, u: Floats) -> Floats:
        """Return log of Gamma((v+1)/2) / (Gamma(v/2) sqrt(v pi) s) (1 + y^2 / v)^(-(v+1)/2), y = (x - mean) / s."""
        half = (self.degrees + 1) / 2
        constant = lgamma(half) - lgamma(self.degrees / 2) - log(self.degrees * pi) / 2 - log(self.scale)
        return np.asarray(constant - half * np.log1p(((u - self.mean) / self.scale) ** 2 / self.degrees))

    def slope(self, u: Floats) -> Floats:
        away = u - self.mean
        return np.asarray(-(self.degrees + 1) * away / (self.degrees * self.scale**2 + away**2))

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        return np.asarray(self.mean + self.scale * generator.standard_t(self.degrees, count))


@dataclass(frozen=True, repr=False)
class LogNormalPrior(PositivePrior):
    """A positive parameter whose logarithm is normal."""

    mean: float
    sd: float

    def log_density(self, u: Floats) -> Floats:
        return NormalPrior(self.mean, self.sd).log_density(u)

    def slope(self, u: Floats) -> Floats:
        return NormalPrior(self.mean, self.sd).slope(u)

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        return generator.normal(self.mean, self.sd, count)


@dataclass(frozen=True, repr=False)
class HalfNormalPrior(PositivePrior):
    """The absolute value of a normal variable with mean 0: the usual prior for a standard deviation."""

    sd: float

    def log_density(self, u: Floats) -> Floats:
        """Return log(2) - x^2 / (2 sd^2) - log(sd sqrt(2 pi)) + u."""
        return np.asarray(u - np.exp(2 * u) / (2 * self.sd**2) - log(self.sd) + log(2 / pi) / 2)

    def slope(self, u: Floats) -> Floats:
        return np.asarray(1 - np.exp(2 * u) / self.sd**2)

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        return np.asarray(np.log(np.abs(generator.normal(0, self.sd, count))))


@dataclass(frozen=True, repr=False)
class HalfStudentTPrior(PositivePrior):
    """The absolute value of a t variable around 0: a prior for a standard deviation that may be large."""

    degrees: float
    scale: float

    def log_density(self, u: Floats) -> Floats:
        """Return log 2 and the log density of the t distribution at e^u, + u."""
        return np.asarray(log(2) + self._whole.log_density(np.exp(u)) + u)

    def slope(self, u: Floats) -> Floats:
        return np.asarray(1 + np.exp(u) * self._whole.slope(np.exp(u)))

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        return np.asarray(np.log(np.abs(self._whole.draw(count, generator))))

    @property
    def _whole(self) -> StudentTPrior:
        return StudentTPrior(self.degrees, 0, self.scale)


@dataclass(frozen=True, repr=False)
class ExponentialPrior(PositivePrior):
    """An exponential prior: density = rate e^(-rate x)."""

    rate: float

    def log_density(self, u: Floats) -> Floats:
        return np.asarray(log(self.rate) - self.rate * np.exp(u) + u)

    def slope(self, u: Floats) -> Floats:
        return np.asarray(1 - self.rate * np.exp(u))

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        return np.asarray(np.log(generator.exponential(1 / self.rate, count)))


@dataclass(frozen=True, repr=False)
class GammaPrior(PositivePrior):
    """A Gamma prior: density ~ x^(shape - 1) e^(-rate x)."""

    shape: float
    rate: float

    def log_density(self, u: Floats) -> Floats:
        """Return shape u - rate e^u + shape log rate - log Gamma(shape)."""
        return np.asarray(
            self.shape * u - self.rate * np.exp(u) + self.shape * log(self.rate) - float(gammaln(self.shape))
        )

    def slope(self, u: Floats) -> Floats:
        return np.asarray(self.shape - self.rate * np.exp(u))

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        return np.asarray(np.log(generator.gamma(self.shape, 1 / self.rate, count)))


@dataclass(frozen=True, repr=False)
class BetaPrior(ParameterPrior):
    """A Beta prior of a parameter between 0 and 1, on the scale of its log odds."""

    support = "unit"
    a: float
    b: float

    def without_ends(self, value: float) -> float:
        """Return log(x / (1 - x))."""
        return log(value / (1 - value))

    def log_density(self, u: Floats) -> Floats:
        """Return a log x + b log(1 - x) - log B(a, b)."""
        return np.asarray(self.a * log_expit(u) + self.b * log_expit(-u) - float(betaln(self.a, self.b)))

    def slope(self, u: Floats) -> Floats:
        return np.asarray(self.a * expit(-u) - self.b * expit(u))

    def natural(self, u: Floats) -> Floats:
        """Return e^u / (1 + e^u)."""
        return np.asarray(expit(u))

    def stretch(self, u: Floats) -> Floats:
        """Return x (1 - x)."""
        return np.asarray(expit(u) * expit(-u))

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        return np.asarray(logit(generator.beta(self.a, self.b, count)))


PRIORS: dict[str, type[ParameterPrior]] = {
    each.name(): each
    for each in (
        NormalPrior, StudentTPrior, LogNormalPrior, HalfNormalPrior, HalfStudentTPrior, ExponentialPrior, GammaPrior,
        BetaPrior,
    )
}  # fmt: skip
"""The priors that studies and documents may write, by name."""


def prior_of(written: "str | ParameterPrior", what: str, support: str | None = None) -> ParameterPrior:
    """Return the distribution that a study or a document writes as text, such as 'Normal(0, 2.5)'.

    >>> prior_of("Gamma(4, 3)", "rate")
    Gamma(4, 3)
    """
    found = written if isinstance(written, ParameterPrior) else _read(written, what)
    if support is not None and found.support != support:
        names = ", ".join(name for name, prior in PRIORS.items() if prior.support == support)
        raise DeclarationError(
            f"The prior of {what} must be a distribution for a {support} parameter ({names}); got {found!r}."
        )
    return found


def _read(written: object, what: str) -> ParameterPrior:
    match = re.fullmatch(r"\s*([A-Za-z]+)\s*\(([^()]*)\)\s*", written) if isinstance(written, str) else None
    if match is None or match[1] not in PRIORS:
        raise DeclarationError(
            f"The prior of {what} must be a distribution such as 'Normal(0, 2.5)', one of {', '.join(PRIORS)}; got "
            f"{written!r}."
        )
    prior = PRIORS[match[1]]
    try:
        numbers = [float(each) for each in match[2].split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != len(fields(prior)):
        wanted = ", ".join(each.name for each in fields(prior))
        raise DeclarationError(
            f"The prior of {what} must be written as {prior.name()}({wanted}) with numbers; got {written!r}."
        )
    return prior(*numbers)
