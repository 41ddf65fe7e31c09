"""The posterior density of a program, prior times likelihood, for rows of unconstrained parameters; and of populations.

log p(theta | release) = log prior(theta) + log P(release | p(theta)) up to a constant, and its derivative is that of
the prior plus J' E[k | release, p(theta)]. Likelihoods of several populations add up. Parameters that are exchangeable
are m + t u_j in population j, u_j ~ Normal(0, 1), on the unconstrained scale; all others are shared.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError
from discreet.programs._likelihood import CellFunction
from discreet.programs._priors import NormalPrior, prior_of
from discreet.programs._program import Cells

SPREAD = "HalfNormal(1)"
"""The prior of the spread of exchangeable parameters between populations, on the unconstrained scale."""


@dataclass(frozen=True, eq=False)
class ProgramTarget:
    """One program and one likelihood."""

    cells: Cells
    likelihood: CellFunction

    def __call__(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return log densities of rows of parameters, and their derivatives."""
        value, slope = self.cells.log_prior(theta)
        log_likelihood, pulled = self.log_likelihood_and_score(theta)
        return value + log_likelihood, slope + pulled

    @property
    def populations(self) -> tuple[str, ...]:
        """Return no names: there is one population."""
        return ()

    @property
    def is_rough(self) -> bool:
        """Return whether the derivative is taken by differences."""
        return self.cells.pull is None

    def expected(self, theta: Floats) -> Floats:
        """Return the expected true counts given the release and one row of parameters."""
        return self.likelihood.unchecked(self.cells.log_of(theta[None])[0])[1]

    def values(self, theta: Floats) -> Floats:
        """Return log densities alone."""
        return self.cells.log_prior(theta)[0] + self.log_likelihoods(theta)

    def log_likelihoods(self, theta: Floats) -> Floats:
        """Return log P(release | parameters) alone."""
        return self.likelihood.values(self.cells.log_of(theta))

    def log_likelihood_and_score(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return log P(release | parameters), and its derivative."""
        logs = self.cells.log_of(theta)
        log_likelihood, expected = self.likelihood.unchecked(logs)
        return log_likelihood, self.cells.pull_back(theta, expected)


@dataclass(frozen=True, eq=False)
class PopulationLayout:
    """Where the parameters of several populations stand, given those of a program and which of them differ.

    First those that are shared; then of each exchangeable one the mean, the log spread, and one step for every
    population.
    """

    one: Cells
    populations: tuple[str, ...]
    exchangeable: tuple[str, ...]

    def check(self) -> None:
        """Refuse parameters that the program does not have."""
        for name in self.exchangeable:
            if name not in self.one.names:
                raise DeclarationError(
                    f"{name!r} cannot vary between populations: the parameters of this model are "
                    f"{', '.join(self.one.names)}. Nothing was read."
                )

    @cached_property
    def _indices(self) -> tuple[list[int], list[int]]:
        """Return the program's indices of shared parameters, and of exchangeable ones."""
        names = self.one.names
        moving = [names.index(name) for name in self.exchangeable]
        return [index for index in range(len(names)) if index not in moving], moving

    def _starts(self) -> list[tuple[int, int]]:
        """Return every exchangeable parameter's index in the program, and where its mean stands here."""
        shared, moving = self._indices
        return [(index, len(shared) + k * (len(self.populations) + 2)) for k, index in enumerate(moving)]

    @cached_property
    def cells(self) -> Cells:
        """Return names, distributions and what is shown, of all populations together."""
        one, shared = self.one, self._indices[0]
        priors, names = [one.priors[i] for i in shared], [one.names[i] for i in shared]
        shown, spreads = list(names), []
        for index, start in self._starts():
            own = one.names[index]
            spreads.append(start + 1)
            priors += [one.priors[index], prior_of(SPREAD, own), *[NormalPrior(0, 1)] * len(self.populations)]
            names += [own, f"spread of {own}", *(f"{own} of {name} in spreads" for name in self.populations)]
            shown += [f"{own} (common)", f"spread of {own}", *(f"{own} of {name}" for name in self.populations)]
        spreads += [shared.index(index) for index in one.spreads if index in shared]
        return Cells(
            one.columns, tuple(names), tuple(priors), lambda theta: theta, None, (), tuple(shown), self._shown,
            one.unit, tuple(spreads),
        )  # fmt: skip

    def _shown(self, theta: Floats) -> Floats:
        columns = [self.one.priors[index].natural(theta[:, k]) for k, index in enumerate(self._indices[0])]
        for index, start in self._starts():
            prior, mean, spread = self.one.priors[index], theta[:, start], np.exp(theta[:, start + 1])
            steps = theta[:, start + 2 : start + 2 + len(self.populations)]
            columns += [prior.natural(mean), spread, *prior.natural(mean[:, None] + spread[:, None] * steps).T]
        return np.stack(columns, axis=1)

    def own(self, theta: Floats, number: int) -> Floats:
        """Return rows of the parameters of one population."""
        shared = self._indices[0]
        found = np.empty((len(theta), self.one.dimension))
        found[:, shared] = theta[:, : len(shared)]
        for index, start in self._starts():
            found[:, index] = theta[:, start] + np.exp(theta[:, start + 1]) * theta[:, start + 2 + number]
        return found

    def pull_back(self, theta: Floats, slope: Floats, number: int) -> Floats:
        """Return the derivative by all parameters, given that by those of one population."""
        shared = self._indices[0]
        found = np.zeros_like(theta)
        found[:, : len(shared)] = slope[:, shared]
        for index, start in self._starts():
            spread, step, by = np.exp(theta[:, start + 1]), theta[:, start + 2 + number], slope[:, index]
            found[:, start], found[:, start + 1], found[:, start + 2 + number] = by, by * spread * step, by * spread
        return found


@dataclass(frozen=True, eq=False)
class Populations:
    """A program for each of several populations, and which parameters differ between them."""

    parts: Mapping[str, ProgramTarget]
    exchangeable: tuple[str, ...]

    @property
    def populations(self) -> tuple[str, ...]:
        """Return the names of the populations."""
        return tuple(self.parts)

    @property
    def is_rough(self) -> bool:
        """Return whether a derivative is taken by differences."""
        return any(part.is_rough for part in self.parts.values())

    def expected(self, theta: Floats) -> Floats | None:
        """Return nothing: each population has separate counts."""
        return None

    @cached_property
    def layout(self) -> PopulationLayout:
        """Return where the parameters stand."""
        return PopulationLayout(next(iter(self.parts.values())).cells, self.populations, self.exchangeable)

    @property
    def cells(self) -> Cells:
        """Return names, distributions and what is shown, of all populations together."""
        return self.layout.cells

    def values(self, theta: Floats) -> Floats:
        """Return log densities alone."""
        return self.cells.log_prior(theta)[0] + self.log_likelihoods(theta)

    def log_likelihoods(self, theta: Floats) -> Floats:
        """Return the sum of all log likelihoods alone."""
        parts = enumerate(self.parts.values())
        return np.asarray(sum(part.log_likelihoods(self.layout.own(theta, number)) for number, part in parts))

    def log_likelihood_and_score(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return the sum of all log likelihoods, and its derivative."""
        value, slope = np.zeros(len(theta)), np.zeros_like(theta)
        for number, part in enumerate(self.parts.values()):
            log_likelihood, pulled = part.log_likelihood_and_score(self.layout.own(theta, number))
            value, slope = value + log_likelihood, slope + self.layout.pull_back(theta, pulled, number)
        return value, slope

    def __call__(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return log densities of rows of parameters, and their derivatives."""
        value, slope = self.cells.log_prior(theta)
        log_likelihood, pulled = self.log_likelihood_and_score(theta)
        return value + log_likelihood, slope + pulled
