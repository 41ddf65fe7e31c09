"""Draws of a network: true tables from every reading, probabilities given them, further records, and the prior."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import prod
from typing import Self
from zlib import crc32

import numpy as np
from scipy.special import logsumexp

from discreet.arrays import Counts, Floats
from discreet.errors import DeclarationError
from discreet.exact import whole
from discreet.inference.further_records import further_counts
from discreet.inference.posteriors.events import EventPosterior
from discreet.inference.posteriors.states import States
from discreet.mathematics.distributions.proportions import log_dirichlet_rows
from discreet.models.elimination import Tables
from discreet.models.network import Network
from discreet.reading.readings import NetworkReading
from discreet.records.values import text_of
from discreet.releases import Release

DRAWS, _ROUGH_DRAWS = 4_000, 500
"""The number of draws from which questions are answered; and in a plan."""


class NetworkDraws(EventPosterior[Network]):
    """What draws a network's posterior gives; its tables have axes (draws, rows of parents, levels) in here."""

    subject = "a network"
    rough_draws: int | None = None
    """From how many draws rows come in a plan; None for the usual number."""
    seed = 0
    """The seed of the draws from which questions are answered."""

    def __init__(
        self, model: Network, releases: Sequence[Release[Network]], readings: Sequence[NetworkReading]
    ) -> None:
        super().__init__(model, tuple(releases), releases[0].mechanism.size)
        self.readings = tuple(readings)
        equal = -np.log(len(self.readings))
        self._log_weights = np.array([equal if r.log_weight is None else r.log_weight for r in readings])
        self.log_evidences = np.array([reading.log_evidence for reading in readings]) + self._log_weights
        only = len(self.readings) == 1  # with a single reading, its evidence does not matter and need not be known
        self.shares = np.ones(1) if only else np.exp(self.log_evidences - logsumexp(self.log_evidences))

    @property
    def roughly(self) -> Self:
        """Return the same with rows from fewer draws."""
        made = type(self)(self.model, self.releases, self.readings)
        made.rough_draws, made.seed = _ROUGH_DRAWS, crc32(repr(self.releases[0].output).encode())
        return made

    def _drawn(self, count: int, seed: int | None) -> tuple[dict[str, Counts], Counts, np.random.Generator]:
        """Draw true tables from every reading in proportion to its share, in random order, with the reading's index."""
        generator = np.random.default_rng(seed)
        numbers = generator.multinomial(whole(count, "count"), self.shares / self.shares.sum())
        parts = [r.draw(int(n), generator) for n, r in zip(numbers, self.readings, strict=True) if n]
        order = generator.permutation(count)
        found = {name: np.concatenate([part[name] for part in parts])[order] for name in parts[0]}
        return found, np.repeat(np.arange(len(numbers)), numbers)[order], generator

    def _with_prior(self, tables: Mapping[str, Counts], which: Counts) -> Tables:
        """Return the Dirichlet parameters of every row, under the prior of the reading that it was drawn from."""
        priors = zip(*(reading.model.row_priors for reading in self.readings), strict=True)
        pairs = zip(self.model.variables, priors, strict=True)
        return {v.name: np.array(own)[which] + tables[v.name] for v, own in pairs}

    def _shapes(self, count: int, seed: int | None) -> tuple[Tables, np.random.Generator]:
        """Draw Dirichlet parameters."""
        tables, which, generator = self._drawn(count, seed)
        return self._with_prior(tables, which), generator

    @cached_property
    def _standard(self) -> tuple[Tables, np.random.Generator]:
        """Return the Dirichlet parameters from which questions are answered, and what draws probabilities of them."""
        return self._shapes(self.rough_draws or DRAWS, self.seed)

    @property
    def standard_shapes(self) -> Tables:
        """Return the draws of Dirichlet parameters from which questions are answered."""
        return self._standard[0]

    @cached_property
    def predictive_tables(self) -> Tables:
        """Return draws of P(next record | true tables): the means of the Dirichlet rows."""
        return {name: table / table.sum(axis=-1, keepdims=True) for name, table in self.standard_shapes.items()}

    def shaped(self, name: str, table: Floats) -> Floats:
        """Return a table with one axis for each parent, instead of one row for each of their levels."""
        family = self.model.families[[variable.name for variable in self.model.variables].index(name)]
        return table.reshape(*table.shape[:-2], *self.model.shape(family))

    def draws(self, count: int, seed: int | None = None) -> dict[str, Floats]:
        """Draw tables of probabilities, axes (draws, parents..., levels): true tables, then Dirichlets.

        They are independent, except that chains give as many independent ones as their effective size says.
        """
        return {name: self.shaped(name, table) for name, table in self.parameters(count, seed).items()}

    def parameters(self, count: int, seed: int | None) -> Tables:
        """Draw tables of probabilities, axes (draws, rows of parents, levels)."""
        return self._drawn_rows(*self._shapes(count, seed))

    @staticmethod
    def _drawn_rows(shapes: Tables, generator: np.random.Generator) -> Tables:
        return {name: np.exp(log_dirichlet_rows(table, generator)) for name, table in shapes.items()}

    @cached_property
    def standard_parameters(self) -> Tables:
        """Return the draws of probabilities from which questions are answered."""
        shapes, generator = self._standard
        return self._drawn_rows(shapes, generator)

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Return the axes of each table: one for each parent, and one for its own levels."""
        return {family[-1]: tuple(f"{name}_level" for name in family) for family in self.model.families}

    @property
    def coords(self) -> Mapping[str, tuple[str, ...]]:
        """Return the names of the levels."""
        return {f"{c.name}_level": tuple(str(text_of(level)) for level in c.levels) for c in self.model.variables}

    def states(self, count: int, seed: int | None = None) -> States:
        """Draw probabilities and the counts behind them: by chain if they come from chains, else independently."""
        chained = self.readings[0].counts.by_chain(whole(count, "count")) if len(self.readings) == 1 else None
        if chained is None:
            chains, (tables, which, generator) = 1, self._drawn(count, seed)
        else:
            chains, generator = len(chained[0]), np.random.default_rng(seed)
            names = [variable.name for variable in self.model.variables]
            tables = {n: own.reshape(-1, *own.shape[2:]) for n, own in zip(names, chained, strict=True)}
            which = np.zeros(len(tables[names[0]]), dtype=np.int64)
        drawn = self._drawn_rows(self._with_prior(tables, which), generator)
        families = [tables[family[-1]].reshape(len(which), -1) for family in self.model.maximal_families]
        parameters = {name: self.shaped(name, table) for name, table in drawn.items()}
        return States(parameters, np.concatenate(families, axis=1), chains, {"prior_place": which})

    def further(self, states: States, generator: np.random.Generator) -> Counts:
        """Draw the counts of as many further records, under each draw of the probabilities."""
        tables = {n: t.reshape(len(t), -1, t.shape[-1]) for n, t in states.parameters.items()}
        return further_counts(self.model, tables, self.size, generator)

    def prior_states(self, count: int, generator: np.random.Generator) -> States:
        """Draw probabilities from the prior; with several, from each in proportion to its prior probability."""
        weights = np.exp(self._log_weights)
        if abs(weights.sum() - 1) > 1e-6:
            raise DeclarationError(
                "priors that the evidence all but rules out were not read, so not all of them are known"
            )
        which = generator.choice(len(weights), size=count, p=weights / weights.sum())
        rows = [prod(self.model.shape(above)) for above in self.model.parents]
        none = {
            v.name: np.zeros((count, row, len(v.levels)), dtype=np.int64)
            for v, row in zip(self.model.variables, rows, strict=True)
        }
        drawn = self._drawn_rows(self._with_prior(none, which), generator)
        return States({name: self.shaped(name, table) for name, table in drawn.items()})
