"""Noisy family tables made to agree: the best linear estimate of the true ones, on any graph.

A table splits into orthogonal effects, one for each set S of its variables: what the margin on S says beyond all
smaller margins. Tables agree on every margin that they share exactly if they have the same effects there, and nothing
else ties effects together.
The noise is equally large in all directions of a table of family f (apart from its known total), with variance c_f, and
in the effect S of the margin with variance c_f R, where R is how many cells of f fall on one of S. So generalised least
squares with all constraints is a weighted mean for each effect by itself,

    e_S = sum_f w_f e_S(f) / sum_f w_f,   w_f = 1 / (c_f R),   over the families f around S;   e_0 = n,

without a matrix to solve. Fitted tables may have negative cells, as unbiased estimates have; `infer` is the reading
that knows that counts are not negative, and this one is its quick companion.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, combinations
from math import prod, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import helmert

from discreet.errors import DeclarationError
from discreet.inference.projection import nearest_counts
from discreet.mechanisms.family_gaussians import FamilyGaussians
from discreet.mechanisms.family_histograms import FamilyHistograms
from discreet.mechanisms.joint_histograms import JointHistograms
from discreet.mechanisms.laplace_updates import LaplaceUpdates
from discreet.mechanisms.network_counts import histogram_variance
from discreet.models.network import Family, Network
from discreet.releases import Release

Floats = NDArray[np.float64]
Names = tuple[str, ...]

AGREEING_KINDS = (FamilyHistograms, FamilyGaussians, LaplaceUpdates, JointHistograms)
"""The mechanisms whose noise is alike in all directions of a table and uncorrelated between tables."""


@dataclass(frozen=True, eq=False)
class NoisyTable:
    """A released table with axes `names`, and the variance of its noise in every direction."""

    names: Names
    values: Floats
    variance: float


@dataclass(frozen=True, eq=False)
class ConsistentTables:
    """Tables that agree on every margin and sum to the size; `effects` holds coefficients and their variance by set."""

    model: Network
    size: int
    effects: Mapping[Names, tuple[Floats, float]]

    def table(self, *names: str) -> Floats:
        """Return the fitted counts of some variables of one family, axes in the order in which they are named."""
        ordered = _ordered(self.model, names)
        if len(ordered) < len(names) or ordered not in self.effects:
            raise DeclarationError(
                f"Consistent tables are known for variables of one family, each named once; got "
                f"{', '.join(map(repr, names)) or 'none'}."
            )
        coefficients = np.zeros(self.model.shape(ordered))
        coefficients[(0,) * len(ordered)] = self.size / sqrt(coefficients.size)
        for inside, place, rest in _parts(self.model, ordered):
            coefficients[place] = self.effects[inside][0] / sqrt(rest)
        return _turned(coefficients, backwards=True).transpose([ordered.index(name) for name in names])

    def standard_error(self, *names: str) -> float:
        """Return the standard deviation of the fitted noise in each cell of such a table, the same in all of them.

        An effect's coefficients, prod_(i in S) (K_i - 1) of them, are spread evenly over all prod_i K_i cells.
        """
        ordered = _ordered(self.model, names)
        self.table(*names)
        total = 0.0
        for inside, _, rest in _parts(self.model, ordered):
            total += self.effects[inside][0].size / prod(self.model.shape(ordered)) * self.effects[inside][1] / rest
        return sqrt(total)

    @cached_property
    def tables(self) -> dict[Family, Floats]:
        """Return the fitted table of every maximal family."""
        return {family: self.table(*family) for family in self.model.maximal_families}

    def mean_tables(self) -> dict[str, Floats]:
        """Return (prior + count) / (their total) in every row, axes (parents..., levels): counts taken for true.

        A row with negative counts is first moved to the nearest one without, of the same total.
        """
        means = {}
        for family, prior in zip(self.model.families, self.model.prior, strict=True):
            fitted = self.table(*family)
            rows = fitted.reshape(-1, fitted.shape[-1])
            rows = np.stack([r if r.min() >= 0 else nearest_counts(r, max(0.0, float(r.sum()))) for r in rows])
            shapes = rows + np.array(prior)
            means[family[-1]] = (shapes / shapes.sum(axis=1, keepdims=True)).reshape(fitted.shape)
        return means


def consistent_tables(*releases: Release) -> ConsistentTables:
    """Return the best linear unbiased estimate of all family tables, from one release or several of the same tables."""
    if not releases or not all(isinstance(release, Release) for release in releases):
        raise DeclarationError("consistent_tables takes one or more releases of a network.")
    for release in releases:
        if not isinstance(release.mechanism, AGREEING_KINDS):
            known = ", ".join(kind.__name__ for kind in AGREEING_KINDS)
            raise DeclarationError(
                f"Tables are made consistent for releases by {known}; got {type(release.mechanism).__name__}."
            )
    first: Any = releases[0].mechanism
    facts = {(r.model.variables, r.model.parents, r.mechanism.size) for r in releases}
    if len(facts) > 1:
        raise DeclarationError("These releases do not publish the same tables: their graphs, levels or sizes differ.")
    return fit(first.model, first.size, [table for release in releases for table in noisy_tables(release)])


def fit(model: Network, size: int, tables: Sequence[NoisyTable]) -> ConsistentTables:
    """Return the weighted mean of every effect over all tables that have it."""
    sums: dict[Names, tuple[Floats, float]] = {}
    for table in tables:
        ordered = _ordered(model, table.names)
        turned = _turned(table.values.transpose([table.names.index(name) for name in ordered]))
        for inside, place, rest in _parts(model, ordered):
            weight = 1 / (table.variance * rest)
            seen = weight * sqrt(rest) * turned[place]
            before = sums.get(inside)
            sums[inside] = (seen, weight) if before is None else (before[0] + seen, before[1] + weight)
    return ConsistentTables(model, size, {names: (seen / weight, 1 / weight) for names, (seen, weight) in sums.items()})


def noisy_tables(release: Release) -> list[NoisyTable]:
    """Return every released table with the variance of its noise."""
    mechanism: Any = release.mechanism
    network: Network = mechanism.model
    if isinstance(mechanism, LaplaceUpdates):
        tables = mechanism.tables(release.counts)
        return [NoisyTable(f, tables[f[-1]].astype(float), mechanism.cell_sd() ** 2) for f in network.families]
    pairs = zip(network.maximal_families, network.split(release.counts), _variances(mechanism), strict=True)
    return [NoisyTable(family, table.astype(float), variance) for family, table, variance in pairs]


def _variances(mechanism: Any) -> list[float]:
    """Return the variance of the noise in a direction that does not change a table's total, for each maximal family.

    Noise that sums to zero has m / (m - 1) times the variance of a cell in all other directions.
    """
    sizes = [prod(mechanism.model.shape(family)) for family in mechanism.model.maximal_families]
    if isinstance(mechanism, FamilyGaussians):
        return [float(mechanism.variance)] * len(sizes)
    if isinstance(mechanism, JointHistograms):
        cells = {m: mechanism.cell_variance(m) for m in set(sizes)}
        return [cells[m] * m / (m - 1) for m in sizes]
    pairs = zip(sizes, mechanism.family_epsilons, strict=True)
    return [_histogram_variance(m, float(epsilon)) * m / (m - 1) for m, epsilon in pairs]


_histogram_variance = lru_cache(maxsize=256)(histogram_variance)


def _ordered(model: Network, names: Sequence[str]) -> Names:
    """Return names in the order of the network's variables."""
    wanted = set(names)
    return tuple(variable.name for variable in model.variables if variable.name in wanted)


def _parts(model: Network, ordered: Names) -> Iterator[tuple[Names, tuple[slice | int, ...], int]]:
    """Give for each non-empty set of a table's variables: its names, the place of its effect, and the other cells."""
    axes, shape = range(len(ordered)), model.shape(ordered)
    for inside in chain.from_iterable(combinations(axes, count) for count in range(1, len(ordered) + 1)):
        place = tuple(slice(1, None) if axis in inside else 0 for axis in axes)
        rest = prod(shape[axis] for axis in axes if axis not in inside)
        yield tuple(ordered[axis] for axis in inside), place, rest


def _turned(table: Floats, backwards: bool = False) -> Floats:
    """Return the coefficients of a table in an orthonormal basis of effects: the mean first on each axis."""
    for axis, levels in enumerate(table.shape):
        basis = _basis(levels).T if backwards else _basis(levels)
        table = np.moveaxis(np.tensordot(basis, table, (1, axis)), 0, axis)
    return table


@lru_cache(maxsize=256)
def _basis(levels: int) -> Floats:
    """Return Helmert's contrasts as rows, after the constant one."""
    return np.asarray(helmert(levels, full=True)) if levels > 1 else np.ones((1, 1))
