"""A table with a program: counts of declared cells are published, and a reader's model of them goes along.

What one record can do is what it can do to the table, whatever the program is; so it is published, verified and charged
as the table alone. The program is the holder's proposal: `infer` reads the release by it, by another program
(`model=...`), or as a plain table (`prior=...`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import ClassVar

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.documents import Document
from discreet._core.errors import DeclarationError
from discreet.mathematics import LogDensity, WeightedPoints, along, by_draws, on_a_grid, peak_of
from discreet.mathematics.distributions import tails
from discreet.mechanism import Asked, Simulated
from discreet.programs._families import ASKED_FAMILY
from discreet.programs._given_as import program_of
from discreet.programs._program import AskedProgram, Cells, Program, chosen
from discreet.programs._target import ProgramTarget
from discreet.records import Column
from discreet.tables import Categories, Prior

DRAWS, MANY_DRAWS, MOST_DRAWS, WORTH = 1_500, 2_500, 20_000, 1_000.0
"""First draws of a proposal, or where a spread is learnt; most draws of all; the effective sample size aimed for."""


_STEPS_TO_THE_MODE = 4


@dataclass(frozen=True, init=False, repr=False)
class ModelledTable(Categories, kind="ModelledTable"):
    """A table of declared columns, crossed, and the program (a reader's model) proposed for its inference."""

    document_types: ClassVar[Mapping[str, object]] = {"prior": None, "program": Program.kinds}
    reads_number: ClassVar[bool] = False

    program: Program

    def __init__(self, columns: Sequence[Column], program: Program, prior: None = None) -> None:
        if not isinstance(program, Program):
            raise DeclarationError(f"A program must be one of discreet.programs; got a {type(program).__name__}.")
        super().__init__(columns)
        object.__setattr__(self, "program", program)
        self.bound  # noqa: B018 - refuses a program that does not fit the columns

    @classmethod
    def with_program(cls, table: object, model: object) -> "ModelledTable":
        """Return a published table with what its reader gave as a model; refuse what is no table, or no model."""
        if not isinstance(table, Categories):
            raise DeclarationError(
                f"A model reads releases of one table of categories; this one is about a {type(table).__name__}. "
                "Nothing was read."
            )
        return cls(table.columns, program_of(model, table.columns))

    def tables_too(self) -> dict[str, Categories]:
        """Return nothing: it is published as the table that it is, and in no other way."""
        return {}

    def __repr__(self) -> str:
        return f"ModelledTable({', '.join(column.name for column in self.columns)}; {self.program!r})"

    def document_values(self) -> dict[str, object]:
        """Return that no prior of the table was declared: the program has its own."""
        return {"prior": None}

    def canonical_document(self) -> Document:
        """Return the table with its columns, and the terms of its program's formula, in the order of their names."""
        return super().canonical_document() | {"program": self.program.canonical_document()}

    @classmethod
    def asked_as(cls) -> dict[str, Asked]:
        found = {"family": _table_made_by(ASKED_FAMILY)}
        for kind in Program.kinds.known().values():
            assert issubclass(kind, Program)
            found |= {name: _table_made_by(asked) for name, asked in kind.asked_as().items()}
        return found

    @cached_property
    def bound(self) -> Cells:
        """Return the program on these columns."""
        return self.program.on(self.columns)

    @property
    def is_prior_open(self) -> bool:
        """Return False: the program has a prior."""
        return False

    def with_prior(self, prior: Prior | None) -> Categories:
        return Categories(self.columns, prior=prior)

    def parts(self) -> Iterator[Categories]:
        """Yield smaller plain tables: what one record can do does not depend on the program."""
        return Categories(self.columns).parts()

    @cached_property
    def groups(self) -> Counts | None:
        """Return the cells of every pattern of the columns that are given, one row each; None if none are."""
        if not self.bound.given:
            return None
        names, shape = [c.name for c in self.columns], [len(c.levels) for c in self.columns]
        axes = [names.index(name) for name in self.bound.given]
        others = [axis for axis in range(len(names)) if axis not in axes]
        cells = np.arange(len(self.cells)).reshape(shape).transpose([*axes, *others])
        return cells.reshape(int(np.prod([shape[axis] for axis in axes])), -1)

    def chances(self, theta: Floats, generator: np.random.Generator) -> Floats:
        """Return probabilities of all cells for rows of parameters, with shares of what is given (`_shares`)."""
        found = np.exp(self.bound.log_of(theta))
        if self.groups is None:
            return found
        by_cell = np.empty_like(found)
        by_cell[:, self.groups] = self._shares(len(theta), generator)[:, :, None]
        return np.asarray(found * by_cell)

    def _shares(self, count: int, generator: np.random.Generator) -> Floats:
        """Return rows of shares of the patterns: drawn evenly, or products of those that are guessed for columns.

        Where only some columns are guessed, the shares of every other column are drawn evenly.
        """
        guessed = self.program.guessed_shares
        if not guessed:
            patterns = np.ones(int(np.prod([len(column.levels) for column in self._given])))
            return generator.dirichlet(patterns, size=count)
        found = np.ones((count, 1))
        for column in self._given:
            own = guessed.get(column.name)
            shares = generator.dirichlet(np.ones(len(column.levels)), size=count) if own is None else own[None]
            found = (found[:, :, None] * shares[:, None]).reshape(count, -1)
        return found

    @property
    def _given(self) -> tuple[Column, ...]:
        return chosen(self.columns, self.bound.given)

    def studies_in_words(self) -> str:
        """Say from what a plan simulates studies."""
        guessed = [name for name in self.bound.given if name in self.program.guessed_shares]
        others = [name for name in self.bound.given if name not in guessed]
        parts = [f"the shares of {' and '.join(guessed)} as guessed"] if guessed else []
        parts += [f"those of {' and '.join(others)} drawn evenly"] if guessed and others else []
        if others and not guessed:
            parts = [f"the shares of {' and '.join(others)} drawn evenly, as none are guessed (guessed_shares)"]
        return ", ".join(["drawn from the prior", *parts])

    def simulate(self, size: int, generator: np.random.Generator) -> Simulated:
        theta = self.bound.prior_draws(1, generator)
        (chances,) = self.chances(theta, generator)
        truth = self.bound.natural(theta)[0]
        return Simulated(tuple(truth.tolist()), generator.multinomial(size, chances / chances.sum()))

    def simulation_cost(self, size: int) -> tuple[float, float]:
        """Return about how many operations `simulate` and inference from exact counts take."""
        return 3e7, 1e6

    def exact(self, statistics: Counts | Floats, size: int, level: float) -> list[tuple[float, float]]:
        """Return the mean and the width of each row, from exact counts: as a release is read, without noise."""
        found = points_of(_Known(self.bound, np.asarray(statistics, dtype=float)), self.bound)
        distributions = found.distributions(self.bound.natural)
        low, high = tails(level)
        return [
            (distribution.mean, distribution.quantile(high) - distribution.quantile(low))
            for distribution in distributions
        ]


@dataclass(frozen=True, eq=False)
class _Known:
    """Prior times the likelihood of counts that are known."""

    bound: Cells
    counts: Floats

    def values(self, theta: Floats) -> Floats:
        """Return log densities of rows of parameters."""
        logs = np.where(self.counts > 0, self.bound.log_of(theta), 0.0)
        return np.asarray(self.bound.log_prior(theta)[0] + logs @ self.counts)

    def __call__(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return log densities and their derivatives."""
        slope = self.bound.log_prior(theta)[1]
        return self.values(theta), slope + self.bound.pull_back(theta, np.tile(self.counts, (len(theta), 1)))


def points_of(
    target: LogDensity, cells: Cells, most: int = MOST_DRAWS, seed: int = 0, share: float = 1.0
) -> WeightedPoints:
    """Return a posterior on a grid of one or two parameters, else by weighted draws: along a spread, or at the mode.

    The same seed means the same random units, so that results for two tables differ by the tables. `share` is which
    part of the usual draws is made.
    """
    generator = np.random.default_rng(seed)
    if cells.spreads:
        proposal = along(target, cells.spreads[0], starts_of(cells)[0])
        return by_draws(target, proposal, int(share * MANY_DRAWS), share * WORTH, most, generator)
    peak = peak_of(target, _near_the_mode(target, cells) or starts_of(cells))
    if is_on_a_grid(cells):
        return on_a_grid(target, peak, most)
    return by_draws(target, peak, int(share * DRAWS), share * WORTH, most, generator)


def is_on_a_grid(cells: Cells) -> bool:
    """Return whether a program has so few parameters that its posterior is computed on a grid."""
    return cells.dimension <= 2 and not cells.spreads


def _near_the_mode(target: LogDensity, cells: Cells) -> list[Floats]:
    """Return where a regression fits the expected true counts, and does so again with those that are expected there.

    Its log likelihood of known counts has one peak, and each such step (of an EM algorithm) raises that of the release.
    Known counts take next to no time, so that few values of the release's likelihood are needed.
    """
    if not (isinstance(target, ProgramTarget) and cells.given):
        return []
    found = starts_of(cells)[0]
    for _ in range(_STEPS_TO_THE_MODE):
        found = peak_of(_Known(cells, target.expected(found)), [found]).location
    return [found]


def starts_of(bound: Cells) -> list[Floats]:
    """Return where the search for a mode begins: medians of prior draws, and some of these."""
    draws = bound.prior_draws(201, np.random.default_rng(0))
    return [np.median(draws, axis=0), *draws[:1]]


def _table_made_by(asked: AskedProgram) -> Asked:
    @wraps(asked.make)
    def made(*given: object, **keys: object) -> ModelledTable:
        return asked.make(*given, **keys).table

    return Asked(made, title=asked.title, about=asked.about, keys=asked.keys)
