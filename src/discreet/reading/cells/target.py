"""The target of a program's reading: prior times likelihood, for rows of unconstrained parameters; also of populations.

log p(theta | release) = log prior(theta) + log P(release | p(theta)) up to a constant, and its derivative is that of
the prior plus J' E[k | release, p(theta)]. Likelihoods of several populations add up. Parameters that are exchangeable
are m + t u_j in population j, u_j ~ Normal(0, 1), on the unconstrained scale; all others are shared.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats
from discreet.errors import DeclarationError
from discreet.models.priors import Normal, law_of
from discreet.models.programs.program import Cells
from discreet.reading.cells.likelihood import CellFunction

SPREAD = "HalfNormal(1)"
"""The prior of the spread of exchangeable parameters between populations, on the unconstrained scale."""


@dataclass(frozen=True, eq=False)
class Target:
    """One program and one likelihood."""

    cells: Cells
    likelihood: CellFunction

    def __call__(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return log densities of rows of parameters, and their derivatives."""
        value, slope = self.cells.log_prior(theta)
        told, pulled = self.told(theta)
        return value + told, slope + pulled

    @property
    def populations(self) -> tuple[str, ...]:
        """Return no names: there is one population."""
        return ()

    @property
    def is_rough(self) -> bool:
        """Tell whether the derivative is taken by differences."""
        return self.cells.pull is None

    def expected(self, theta: Floats) -> Floats | None:
        """Return the expected true counts given the release and one row of parameters."""
        return self.likelihood.unchecked(self.cells.log_of(theta[None])[0])[1]

    def values(self, theta: Floats) -> Floats:
        """Return log densities alone."""
        return self.cells.log_prior(theta)[0] + self.told_values(theta)

    def told_values(self, theta: Floats) -> Floats:
        """Return log P(release | parameters) alone."""
        return self.likelihood.values(self.cells.log_of(theta))

    def told(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return log P(release | parameters), and its derivative."""
        logs = self.cells.log_of(theta)
        told, expected = self.likelihood.unchecked(logs)
        return told, self.cells.pull_back(theta, expected)


@dataclass(frozen=True, eq=False)
class Populations:
    """A program for each of several populations, and which parameters differ between them.

    The parameters are the shared ones; then, for each exchangeable one, the mean, the log spread, and one step for
    every population.
    """

    parts: Mapping[str, Target]
    exchangeable: tuple[str, ...]

    @property
    def populations(self) -> tuple[str, ...]:
        """Return the names of the populations."""
        return tuple(self.parts)

    @property
    def is_rough(self) -> bool:
        """Tell whether a derivative is taken by differences."""
        return any(part.is_rough for part in self.parts.values())

    def expected(self, theta: Floats) -> Floats | None:
        """Return nothing: each population has counts of its own."""
        return None

    @property
    def _first(self) -> Cells:
        return next(iter(self.parts.values())).cells

    def check(self) -> None:
        """Refuse programs that do not have the same parameters."""
        for name, part in self.parts.items():
            if part.cells.names != self._first.names:
                first = next(iter(self.parts))
                raise DeclarationError(
                    f"The model has different parameters for {name!r} than for {first!r}; all populations must share "
                    "them."
                )

    @property
    def _layout(self) -> tuple[list[int], list[int]]:
        names = self._first.names
        moving = [names.index(name) for name in self.exchangeable]
        return [place for place in range(len(names)) if place not in moving], moving

    @property
    def cells(self) -> Cells:
        """Return names, laws and what is shown, for all populations together."""
        first, (shared, moving), count = self._first, self._layout, len(self.parts)
        laws, names = [first.laws[i] for i in shared], [first.names[i] for i in shared]
        shown, spreads = list(names), []
        for place in moving:
            spreads.append(len(names) + 1)
            own = first.names[place]
            laws += [first.laws[place], law_of(SPREAD, own), *[Normal(0, 1)] * count]
            names += [own, f"spread of {own}", *(f"{own} of {name} in spreads" for name in self.parts)]
            shown += [f"{own} (common)", f"spread of {own}", *(f"{own} of {name}" for name in self.parts)]
        return Cells(
            first.columns, tuple(names), tuple(laws), lambda theta: theta, None, (), tuple(shown), self._shown,
            first.unit, tuple(spreads),
        )  # fmt: skip

    def _shown(self, theta: Floats) -> Floats:
        first, (shared, moving), count = self._first, self._layout, len(self.parts)
        columns = [first.laws[place].natural(theta[:, k]) for k, place in enumerate(shared)]
        for k, place in enumerate(moving):
            start, law = len(shared) + k * (count + 2), first.laws[place]
            mean, spread = theta[:, start], np.exp(theta[:, start + 1])
            steps = theta[:, start + 2 : start + 2 + count]
            columns += [law.natural(mean), spread, *law.natural(mean[:, None] + spread[:, None] * steps).T]
        return np.stack(columns, axis=1)

    def own(self, theta: Floats, number: int) -> Floats:
        """Return rows of the parameters of one population."""
        (shared, moving), count = self._layout, len(self.parts)
        found = np.empty((len(theta), len(shared) + len(moving)))
        found[:, shared] = theta[:, : len(shared)]
        for k, place in enumerate(moving):
            start = len(shared) + k * (count + 2)
            found[:, place] = theta[:, start] + np.exp(theta[:, start + 1]) * theta[:, start + 2 + number]
        return found

    def values(self, theta: Floats) -> Floats:
        """Return log densities alone."""
        return self.cells.log_prior(theta)[0] + self.told_values(theta)

    def told_values(self, theta: Floats) -> Floats:
        """Return the sum of all log likelihoods alone."""
        parts = enumerate(self.parts.values())
        return np.asarray(sum(part.told_values(self.own(theta, number)) for number, part in parts))

    def told(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return the sum of all log likelihoods, and its derivative."""
        (shared, moving), count = self._layout, len(self.parts)
        value, slope = np.zeros(len(theta)), np.zeros_like(theta)
        for number, part in enumerate(self.parts.values()):
            told, pulled = part.told(self.own(theta, number))
            value = value + told
            slope[:, : len(shared)] += pulled[:, shared]
            for k, place in enumerate(moving):
                start, by = len(shared) + k * (count + 2), pulled[:, place]
                spread, step = np.exp(theta[:, start + 1]), theta[:, start + 2 + number]
                slope[:, start] += by
                slope[:, start + 1] += by * spread * step
                slope[:, start + 2 + number] += by * spread
        return value, slope

    def __call__(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return log densities of rows of parameters, and their derivatives."""
        value, slope = self.cells.log_prior(theta)
        told, pulled = self.told(theta)
        return value + told, slope + pulled
