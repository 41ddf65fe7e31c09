"""Made-up studies of one table, read all at once: what each reader would find, in a few passes over arrays.

The laws are those of `infer`: all cells together under the declared prior, or under one whose strength is learnt, and
where none was declared every cell from its own noisy count. Studies of other kinds are read one after the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import numpy as np
from scipy.special import logsumexp

from discreet.arrays import Counts, Floats
from discreet.inference.posteriors.table import JointLaws
from discreet.mathematics.distributions.mixture_batch import MixtureBatch, Part
from discreet.mathematics.distributions.summaries import ends_of
from discreet.mechanisms import Mechanism
from discreet.mechanisms.quantities import Measurement
from discreet.models import Categories
from discreet.randomness import SeededBits
from discreet.reading import Case
from discreet.reading.case import Observed
from discreet.reading.counts.many_tables import ManyTables
from discreet.reading.engines.tables import log_prior_total
from discreet.reading.known_sum import MANY
from discreet.reading.own_cells import pairs_through
from discreet.reading.own_sums import summed_measurements
from discreet.reading.readings import TableReading
from discreet.reading.strengths import read_learnt


@dataclass(frozen=True, eq=False)
class MadeUpTables:
    """Made-up studies (rows): true probabilities, counts, and which cells are considered; no epsilon changes them."""

    truths: Floats
    tables: Counts
    places: Counts

    @classmethod
    @lru_cache(maxsize=16)
    def of(cls, model: Categories, size: int, studies: int, seed: int, most: int) -> "MadeUpTables":
        """Draw probabilities from the prior, counts from these, and at most this many cells of each."""
        generator, cells = np.random.default_rng(seed), len(model.cells)
        truths = generator.dirichlet(model.concentration, size=studies)
        tables = generator.multinomial(size, truths)
        if most == 1:
            places = generator.integers(cells, size=(studies, 1))
        else:
            places = generator.permuted(np.tile(np.arange(cells), (studies, 1)), axis=1)[:, :most]
        return cls(truths, tables, places)

    def outputs(self, mechanism: Mechanism, seed: int) -> Counts:
        """Draw what is published of each study."""
        return np.asarray(mechanism.sample(self.tables, SeededBits(seed)))

    def chosen(self, values: Floats) -> Floats:
        """Return the values of the cells that are considered."""
        return np.take_along_axis(values, self.places, axis=1)


@dataclass(frozen=True, eq=False)
class ManyStudies:
    """What readers of many studies (rows) know about chosen cells (columns): the index of a law."""

    kinds: Counts
    laws: MixtureBatch
    are_opened: bool

    @classmethod
    def read(cls, mechanism: Mechanism, outputs: Counts, chosen: Counts) -> "ManyStudies":
        """Read outputs (studies, cells) about some cells of each, as intervals are read by default."""
        model, shape = mechanism.model, chosen.shape
        pair = own_pair(mechanism)
        if pair is None:
            laws, kinds = _joint(mechanism, outputs, chosen), np.arange(chosen.size)
            return cls(kinds.reshape(shape), laws, not model.is_prior_declared)
        own = np.take_along_axis(outputs, chosen, axis=1).ravel()
        rest = np.repeat(outputs.sum(axis=1), shape[1]) - own
        different, kinds = np.unique(np.stack([own, rest], axis=1), axis=0, return_inverse=True)
        first, weights = pairs_through([(different, pair.noise)], mechanism.size)
        laws = MixtureBatch([Part.of(weights, 1.0 + first, mechanism.size + 2.0)])
        return cls(kinds.reshape(shape), laws, True)

    @classmethod
    def known(cls, model: Categories, size: int, made_up: MadeUpTables) -> "ManyStudies":
        """Read exact counts in the same way."""
        declared, alpha = model.is_prior_declared, model.concentration
        tables = made_up.tables + (alpha if declared else np.ones(len(alpha)))
        shapes, kinds = np.unique(made_up.chosen(tables), return_inverse=True)
        total = (float(alpha.sum()) if declared else 2.0) + size
        laws = MixtureBatch([Part.of(np.ones((shapes.size, 1)), shapes, total)])
        return cls(kinds.reshape(made_up.places.shape), laws, not declared)

    @property
    def means(self) -> Floats:
        """Return the means of the same laws."""
        return np.asarray(self.laws.mean[self.kinds])

    def widths(self, level: float) -> Floats:
        """Return the widths of all intervals."""
        low, high = ends_of(self.laws, level, self.are_opened)
        return np.asarray((high - low)[self.kinds])

    def log_densities(self, truths: Floats) -> Floats:
        """Return the log densities at the true probabilities."""
        inside = np.clip(truths, 1e-12, 1 - 1e-12).ravel()
        return self.laws.log_density(inside, self.kinds.ravel()).reshape(self.kinds.shape)


def joint_means(mechanism: Mechanism, outputs: Counts, chosen: Counts) -> Floats:
    """Return the means that readers of some outputs see: all cells read together, so that they add up."""
    if len(mechanism.model.cells) <= MANY:
        return np.asarray(_joint(mechanism, outputs, chosen).mean.reshape(chosen.shape))
    found = []
    for output, places in zip(outputs, chosen, strict=True):
        case = Case(mechanism.model, mechanism.size, (Observed(mechanism, output, "planned"),))
        readings = [cast(TableReading, each) for each in read_learnt(case)]
        found.append(JointLaws(readings).cells(places.tolist()).mean)
    return np.array(found)


def are_read_together(mechanism: Mechanism) -> bool:
    """Tell whether intervals of made-up studies can be read at once: all cells alike, through product noise.

    Cells that are read from their own noisy counts may be many.
    """
    case = Case.before(mechanism)
    if not mechanism.model.is_table or not case.is_measured or len(case.measurements) != 1:
        return False
    (measurement,) = case.measurements
    places, cells = measurement.of.single_cells, len(mechanism.model.cells)
    is_whole = places is not None and np.array_equal(places, np.arange(cells))
    if not is_whole or not measurement.noise.is_product or len(measurement.noise.blocks) != 1:
        return False
    return cells <= MANY if mechanism.model.is_prior_declared or cells == 2 else own_pair(mechanism) is not None


def own_pair(mechanism: Mechanism) -> Measurement | None:
    """Return what is measured of one cell and of all others, if cells are read from their own sums."""
    model = mechanism.model
    if model.is_prior_declared or len(model.cells) == 2:
        return None
    summed = summed_measurements(_planned(mechanism), np.minimum(np.arange(len(model.cells)), 1))
    return None if summed is None else summed[0]


def _planned(mechanism: Mechanism) -> Case:
    zeros = np.zeros(len(mechanism.model.cells), dtype=np.int64)
    return Case(mechanism.model, mechanism.size, (Observed(mechanism, zeros, "planned"),))


def _joint(mechanism: Mechanism, outputs: Counts, chosen: Counts) -> MixtureBatch:
    """Read all cells together, under one prior or under the candidates of a learnt one."""
    model, size = mechanism.model, mechanism.size
    (measurement,) = Case.before(mechanism).measurements
    models: Sequence[Categories] = [model] if model.is_prior_declared else model.proposals(True)
    readings = [ManyTables(measurement.noise, each.concentration, outputs, size, chosen) for each in models]
    totals = [log_prior_total(each.concentration, size) for each in models]
    logs = np.array([reading.log_sums + total for reading, total in zip(readings, totals, strict=True)])
    shares = np.exp(logs - logsumexp(logs, axis=0))
    parts = []
    for share, reading, each in zip(shares, readings, models, strict=True):
        weights = (share[:, None, None] * reading.laws).reshape(chosen.size, -1)
        starts = (each.concentration[chosen] + reading.first).ravel()
        parts.append(Part.of(weights, starts, each.concentration.sum() + size))
    return MixtureBatch(parts)
