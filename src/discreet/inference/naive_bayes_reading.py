"""From releases of a network to the engines that read them: which noise every released cell carries.

Apart from the cube and the joint ball, all network mechanisms add noise that is independent between cells (or is once
the totals are known): the log kernel of a cell at count k is log g(z - k), and the mechanism's own probability of no
noise at all is the constant that makes it a likelihood.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DeclarationError
from discreet.reading.counts.cube import CubeClass
from discreet.reading.counts.naive_bayes import NaiveBayesCounts, ProductClass
from discreet.reading.counts.row_counts import log_prior_factors
from discreet.reading.counts.tree_counts import TreeCounts, TreeNode
from discreet.mechanisms.contrast_gaussians import ContrastGaussians
from discreet.mechanisms.cube_counts import CubeCounts
from discreet.mechanisms.family_gaussians import FamilyGaussians
from discreet.mechanisms.family_histograms import FamilyHistograms
from discreet.mechanisms.laplace_updates import LaplaceUpdates
from discreet.mechanisms.network_counts import NetworkCounts
from discreet.mechanisms.parity_counts import ParityCounts
from discreet.models.network import Network
from discreet.releases import Release

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

PRODUCT_KINDS = (FamilyHistograms, LaplaceUpdates, FamilyGaussians)
"""The mechanisms whose noise is independent between cells, given the totals."""

SPREAD_KINDS = (ParityCounts, ContrastGaussians)
"""The mechanisms whose noise lies on sums over many cells; their own `tables` are consistent."""

SPREAD_REFUSAL = (
    "its noise lies on sums over many cells, and only noise on the cells of tables can be read so far; "
    "its `tables` turns an output into noisy tables that agree with each other"
)


def released_tables(release: Release) -> list[tuple[str, Counts, Callable[[Floats], Floats]]]:
    """Return for each released table its variable, its cells (parent rows, levels), and the log kernel of a cell."""
    mechanism: Any = release.mechanism
    if not isinstance(release.mechanism, NetworkCounts):
        raise DeclarationError(f"{type(mechanism).__name__} publishes no noisy tables of counts.")
    network: Network = mechanism.model
    if isinstance(mechanism, LaplaceUpdates):
        rate = float(mechanism.rate)
        named = mechanism.tables(release.counts).items()
        return [(name, _by_rows(table), lambda u: -rate * np.abs(u)) for name, table in named]
    if isinstance(mechanism, FamilyGaussians):
        precision = 1 / float(mechanism.variance)
        kernels: list[Callable[[Floats], Floats]] = [lambda u: -0.5 * precision * u * u] * len(network.maximal_families)
    else:
        kernels = [_laplace(float(epsilon) / 2) for epsilon in mechanism.family_epsilons]
    tables = zip(network.maximal_families, network.split(release.counts), kernels, strict=True)
    return [(family[-1], _by_rows(table), kernel) for family, table, kernel in tables]


def _laplace(rate: float) -> Callable[[Floats], Floats]:
    return lambda u: -rate * np.abs(u)


def _by_rows(table: Counts) -> Counts:
    return table.reshape(-1, table.shape[-1])


def log_constant(release: Release) -> float:
    """Return the log probability of no noise, to which kernels are relative."""
    mechanism: Any = release.mechanism
    return float(mechanism.log_noise(np.zeros(mechanism.length, dtype=np.int64)))


def log_noise(releases: Sequence[Release], model: Network) -> dict[str, Floats]:
    """Return the log kernel of every cell of every family at every count: arrays (parent rows, levels, counts)."""
    size = releases[0].mechanism.size
    counts = np.arange(size + 1.0)
    shapes = [model.shape(family) for family in model.families]
    names = [variable.name for variable in model.variables]
    logs = {n: np.zeros((prod(s[:-1]), s[-1], size + 1)) for n, s in zip(names, shapes, strict=True)}
    for release in releases:
        for name, table, kernel in released_tables(release):
            logs[name] += kernel(table[:, :, None] - counts)
    return logs


def level_counts(releases: Sequence[Release], model: Network) -> dict[str, Floats]:
    """Return a rough count of each level of each variable: the mean margin of the released tables, made to fit n."""
    size = float(releases[0].mechanism.size)
    margins: dict[str, list[Floats]] = {variable.name: [] for variable in model.variables}
    parents = {v.name: above for v, above in zip(model.variables, model.parents, strict=True)}
    for release in releases:
        for name, table, _ in released_tables(release):
            margins[name].append(table.sum(axis=0))
            for parent in parents[name]:  # at most one: the graph is a tree
                margins[parent].append(table.sum(axis=1))
    rough = {name: np.clip(np.mean(found, axis=0), 0.5, size) for name, found in margins.items()}
    return {name: counts * size / counts.sum() for name, counts in rough.items()}


def read_product(releases: Sequence[Release], model: Network) -> NaiveBayesCounts:
    """Read a naive Bayes network through noise that is independent between cells."""
    noise, centres = log_noise(releases, model), level_counts(releases, model)
    alpha = [np.array(prior) for prior in model.prior]
    size = releases[0].mechanism.size
    target, features = model.variables[0].name, model.variables[1:]
    priors = [log_prior_factors(a, size) for a in alpha[1:]]
    classes = [
        ProductClass(
            [prior + noise[column.name][y] for prior, column in zip(priors, features, strict=True)], alpha[1:], centre
        )
        for y, centre in enumerate(centres[target].tolist())
    ]
    return NaiveBayesCounts(classes, alpha[0], noise[target][0], sum(map(log_constant, releases)))


def read_cube(release: Release, model: Network) -> NaiveBayesCounts:
    """Read a naive Bayes network, or yes/no items without a class, through cube noise."""
    mechanism: Any = release.mechanism
    assert isinstance(mechanism, CubeCounts)
    size, rate = mechanism.size, float(mechanism.feature_epsilon) / 2
    noisy_classes, blocks = mechanism.parts(release.counts)
    has_class = model.target is not None
    alpha = np.array(model.prior[1:] if has_class else model.prior)
    classes = [CubeClass(block, rate, alpha, size) for block in blocks]
    if not has_class:
        return NaiveBayesCounts(classes, np.ones(1), np.zeros((1, size + 1)), log_constant(release))
    kernel = -0.5 * float(mechanism.class_epsilon) * np.abs(noisy_classes[:, None] - np.arange(size + 1.0))
    return NaiveBayesCounts(classes, np.array(model.prior[0]), kernel, log_constant(release))


def read_tree(releases: Sequence[Release], model: Network) -> TreeCounts:
    """Read a tree or forest through noise that is independent between cells."""
    noise, centres = log_noise(releases, model), level_counts(releases, model)
    places = {variable.name: place for place, variable in enumerate(model.variables)}
    nodes = [
        TreeNode(v.name, places[above[0]] if above else None, np.array(prior), noise[v.name])
        for v, above, prior in zip(model.variables, model.parents, model.prior, strict=True)
    ]
    middles = [centres[variable.name] for variable in model.variables]
    return TreeCounts(nodes, releases[0].mechanism.size, middles, sum(map(log_constant, releases)))
