"""A private probabilistic program: parameters with a prior, and how probable each declared cell is under them.

Records enter only as counts of declared cells: one replaced record moves one unit between two cells, whatever the
program says. So the type of a program is its list of columns, its sensitivity never depends on what it computes, and
everything after the table is post-processing. A program is for the reader: one release serves all of them.

A `Program` is what is declared, and can stand in a document; `on(columns)` makes it `Cells`, arrays that work.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from discreet._core.arrays import Floats
from discreet._core.documents import Document, Documented, Kinds, document_of
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact
from discreet.mechanism import Key
from discreet.programs._priors import ParameterPrior
from discreet.records import Column, text_of

if TYPE_CHECKING:
    from discreet.programs._model import ModelledTable

_STEP = 1e-5  # of central differences


@dataclass(frozen=True, eq=False)
class Cells:
    """A program on the columns of a table: log probabilities of its cells for rows of parameters without ends.

    `priors` has the prior of every parameter, `names` their names. Where `given` names columns, `log_of` gives log
    P(cell | its levels of these), and their shares are integrated out. `shown` turns rows of parameters into rows of
    what is shown, by `shown_names`. `pull` is the derivative: rows of parameters and of expected counts give J'
    expected; where it is left out it is computed by differences.
    """

    columns: tuple[Column, ...]
    names: tuple[str, ...]
    priors: tuple[ParameterPrior, ...]
    log_of: Callable[[Floats], Floats]
    pull: Callable[[Floats, Floats], Floats] | None = None
    given: tuple[str, ...] = ()
    shown_names: tuple[str, ...] = ()
    shown: Callable[[Floats], Floats] | None = None
    unit: str = "parameter"
    spreads: tuple[int, ...] = ()
    """The indices of logarithms of spreads, which are learnt from effects in units of them."""

    @property
    def dimension(self) -> int:
        """Return the number of parameters."""
        return len(self.priors)

    def log_prior(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return the log density of rows of parameters, and its derivative."""
        columns = [(prior.log_density(theta[:, i]), prior.slope(theta[:, i])) for i, prior in enumerate(self.priors)]
        return np.sum([value for value, _ in columns], axis=0), np.stack([slope for _, slope in columns], axis=1)

    def pull_back(self, theta: Floats, expected: Floats) -> Floats:
        """Return J' expected, J the derivative of the log probabilities by the parameters."""
        if self.pull is not None:
            return self.pull(theta, expected)
        found = np.empty_like(theta)
        for index in range(self.dimension):
            step = _STEP * (np.arange(self.dimension) == index)
            with np.errstate(invalid="ignore"):  # -inf less -inf, where nothing is expected
                change = self.log_of(theta + step) - self.log_of(theta - step)
                found[:, index] = np.where(expected > 0, expected * change, 0.0).sum(axis=1) / (2 * _STEP)
        return found

    def natural(self, theta: Floats) -> Floats:
        """Return what is shown, for rows of parameters: by default every parameter on its own scale."""
        if self.shown is not None:
            return self.shown(theta)
        return np.stack([prior.natural(theta[:, i]) for i, prior in enumerate(self.priors)], axis=1)

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the names of what is shown."""
        return self.shown_names or self.names

    def prior_draws(self, count: int, generator: np.random.Generator) -> Floats:
        """Draw rows of parameters from the prior."""
        return np.stack([prior.draw(count, generator) for prior in self.priors], axis=1)


class Program(Documented, ABC):
    """A reader's model of a table: a formula or a family, with priors; `columns` are those of its table."""

    kinds = Kinds("program")
    subject: ClassVar[str]
    """What it is, in words: 'a logistic regression'."""
    columns: tuple[Column, ...] | None = None
    """The columns of the table that it needs, if it was made with them."""
    exchangeable: tuple[str, ...] = ()
    """Parameters that differ between populations that are read together, around a common mean; others are shared."""

    guessed_shares: Mapping[str, Floats] = MappingProxyType({})
    """What the holder expects: the shares of the levels of columns that are given. Plans alone use them."""

    def guessing(self, shares: Mapping[str, Sequence[float] | Mapping[str, float]] | None) -> Self:
        """Return the program with guesses of how records are divided among the levels of given columns, for plans.

        Shares are a list in the order of the levels, or a mapping from levels to shares; they add up to 1. Columns that
        are not named are divided anew in every simulated study, evenly on average. No release says or needs them.
        """
        columns, found = {column.name: column for column in self.columns or ()}, dict[str, Floats]()
        given = self.table.bound.given if shares else ()
        for name, own in (shares or {}).items():
            if name not in given:
                raise DeclarationError(
                    f"guessed_shares names {name!r}, whose shares are not given in this model; those that are: "
                    f"{', '.join(given) or 'none'}."
                )
            found[name] = _guess(columns[name], own)
        made = copy(self)
        object.__setattr__(made, "guessed_shares", MappingProxyType(found))
        return made

    def varying(self, *names: str) -> Self:
        """Return the program with parameters that vary between populations around a common mean (partial pooling)."""
        made = copy(self)
        object.__setattr__(made, "exchangeable", names)
        return made

    def canonical_document(self) -> Document:
        """Return the program as a document that is the same in whichever order the terms of a formula were written."""
        return document_of(self)

    @abstractmethod
    def on(self, columns: Sequence[Column]) -> Cells:
        """Return the program on the columns of a table; refuse a table that it does not fit in words."""

    @abstractmethod
    def in_words(self) -> str:
        """Say what the program believes beforehand, for a page."""

    @classmethod
    def asked_as(cls) -> "Mapping[str, AskedProgram]":
        """Return by which names a study asks for such a program, and what makes it of keys."""
        return {}

    @property
    def table(self) -> "ModelledTable":
        """Return the table that must be published so that a reader can use this program."""
        from discreet.programs._model import ModelledTable  # which holds a program

        if self.columns is None:
            raise DeclarationError(
                f"This {type(self).__name__} names columns without their levels. Pass columns=[...], each a Column "
                "with declared levels or bands."
            )
        return ModelledTable(self.columns, program=self)

    def mechanism(self, size: int, epsilon: Exact) -> Any:
        """Return a mechanism that publishes the table that this program needs, under pure epsilon."""
        return import_module("discreet.planning").suggest(self, size, epsilon).mechanism  # a room above this one


def _guess(column: Column, written: Sequence[float] | Mapping[str, float]) -> Floats:
    """Return the shares of a column's levels, or refuse what is none."""
    levels = [str(text_of(level)) for level in column.levels]
    if isinstance(written, Mapping) and set(written) == set(levels):
        written = [written[level] for level in levels]
    try:
        shares = np.array([] if isinstance(written, Mapping) else written, dtype=float)
    except (TypeError, ValueError):
        shares = np.empty(0)
    if len(shares) != len(levels) or not (shares > 0).all() or abs(float(shares.sum()) - 1) > 0.01:
        raise DeclarationError(
            f"The guessed shares of {column.name!r} must be positive, one for each of its levels, and add up to 1: "
            f"{', '.join(levels)}; got {written!r}."
        )
    return np.asarray(shares / shares.sum())


def chosen(columns: Sequence[Column], names: Sequence[str]) -> tuple[Column, ...]:
    """Return some of the declared columns by their names; refuse one that is missing."""
    known = {column.name: column for column in columns}
    if missing := [name for name in names if name not in known]:
        raise DeclarationError(f"The model names {missing[0]!r}; the table has {', '.join(known)}.")
    return tuple(known[name] for name in names)


@dataclass(frozen=True)
class AskedProgram:
    """What makes a program of keys, and how a form asks for them; see `mechanism.Asked`."""

    make: Callable[..., Program]
    title: str = ""
    about: str = ""
    keys: Mapping[str, Key] = field(default_factory=dict)
