"""Laws of single parameters: what a reader believes before anything is read, on an unconstrained scale.

A parameter x that is positive is worked on as u = log x, one between 0 and 1 as u = log(x / (1 - x)), any other as
itself. `log_density(u)` is the logarithm of the density of u, so the derivative dx/du is in it; `slope(u)` is its own
derivative. Every law is proper: a flat prior on a coefficient leaves nothing where a group has no events.
"""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from math import isfinite, log, pi
from typing import ClassVar

import numpy as np
from scipy.special import betaln, expit, gammaln, log_expit, logit

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError


@dataclass(frozen=True)
class Law(ABC):
    """The prior distribution of one parameter.

    >>> Normal(0, 2.5)
    Normal(0, 2.5)
    """

    support: ClassVar[str]

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, int | float) or not isfinite(value) or (value <= 0 and field.name != "mean"):
                wanted = "a finite number" if field.name == "mean" else "a finite number above 0"
                raise DeclarationError(f"{field.name} of {type(self).__name__} must be {wanted}; got {value!r}.")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{getattr(self, each.name):g}' for each in fields(self))})"

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


class PositiveLaw(Law):
    """A law of a positive parameter, worked on as its logarithm."""

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
class Normal(Law):
    """A normal law: density ~ e^(-(x - mean)^2 / (2 sd^2))."""

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
class LogNormal(PositiveLaw):
    """A positive parameter whose logarithm is normal."""

    mean: float
    sd: float

    def log_density(self, u: Floats) -> Floats:
        return Normal(self.mean, self.sd).log_density(u)

    def slope(self, u: Floats) -> Floats:
        return Normal(self.mean, self.sd).slope(u)

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        return generator.normal(self.mean, self.sd, count)


@dataclass(frozen=True, repr=False)
class HalfNormal(PositiveLaw):
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
class Gamma(PositiveLaw):
    """A Gamma law: density ~ x^(shape - 1) e^(-rate x)."""

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
class Beta(Law):
    """A Beta law of a parameter between 0 and 1, worked on as its log odds."""

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


LAWS: dict[str, type[Law]] = {each.__name__: each for each in (Normal, LogNormal, HalfNormal, Gamma, Beta)}
"""The laws that studies and documents may write, by name."""


def law_of(written: "str | Law", what: str, support: str | None = None) -> Law:
    """Return the distribution that a study or a document writes as text, such as 'Normal(0, 2.5)'.

    >>> law_of("Gamma(4, 3)", "rate")
    Gamma(4, 3)
    """
    found = written if isinstance(written, Law) else _read(written, what)
    if support is not None and found.support != support:
        kinds = ", ".join(name for name, law in LAWS.items() if law.support == support)
        raise DeclarationError(
            f"The prior of {what} must be a distribution for a {support} parameter ({kinds}); got {found!r}."
        )
    return found


def _read(written: object, what: str) -> Law:
    match = re.fullmatch(r"\s*([A-Za-z]+)\s*\(([^()]*)\)\s*", written) if isinstance(written, str) else None
    if match is None or match[1] not in LAWS:
        raise DeclarationError(
            f"The prior of {what} must be a distribution such as 'Normal(0, 2.5)', one of {', '.join(LAWS)}; got "
            f"{written!r}."
        )
    kind = LAWS[match[1]]
    try:
        numbers = [float(each) for each in match[2].split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != len(fields(kind)):
        wanted = ", ".join(each.name for each in fields(kind))
        raise DeclarationError(
            f"The prior of {what} must be written as {kind.__name__}({wanted}) with numbers; got {written!r}."
        )
    return kind(*numbers)
