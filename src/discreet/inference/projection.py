"""Plug-in readings of a network, kept as reproductions to compare with: noisy counts taken for true ones.

`truncated_reading` is what Zhang, Rubinstein and Dimitrakakis (2016, algorithm 1) do: cut every noisy count to [0, n]
and update the prior with it. `projected_reading` first makes the tables agree with each other and with the known size,
by least squares, and then moves them to the nearest tables without negative counts. Neither knows about the noise, so
both are too sure of themselves; `read_network` is the reading to use.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from discreet.errors import DeclarationError
from discreet.inference.naive_bayes_reading import SPREAD_KINDS, released_tables
from discreet.inference.network_queries import codes_of
from discreet.reading.counts.states import log_chances
from discreet.mechanisms.cube_counts import CubeCounts
from discreet.mechanisms.joint_histograms import JointHistograms
from discreet.models.network import Network
from discreet.releases import Release

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PlugInNetwork:
    """A network with counts that are taken for true; `tables` has axes (parent levels, levels), a root one row."""

    model: Network
    tables: Mapping[str, Floats]

    def mean_tables(self) -> dict[str, Floats]:
        """Return the conjugate posterior means (prior + count) / (total of both), axes (parents..., levels)."""
        means = {}
        for column, family, prior in zip(self.model.variables, self.model.families, self.model.prior, strict=True):
            shapes = np.array(prior) + self.tables[column.name]
            means[column.name] = (shapes / shapes.sum(axis=-1, keepdims=True)).reshape(self.model.shape(family))
        return means

    def predict_proba(self, rows: Any) -> Floats:
        """Return P(class | features) of a naive Bayes network under the means."""
        if self.model.target is None:
            raise DeclarationError("Only naive Bayes networks have a class to predict.")
        classes, *features = self.mean_tables().values()
        codes = codes_of(rows, self.model.variables[1:])
        parts = [log_chances(np.log(p)[None], [f[y][None] for f in features], codes) for y, p in enumerate(classes)]
        logs = np.stack(parts, axis=1)
        return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))


def truncated_reading(release: Release) -> PlugInNetwork:
    """Return the published reading: each noisy count cut to [0, n], then taken for true."""
    size = release.mechanism.size
    if isinstance(release.mechanism, CubeCounts):
        classes, features = _cube_tables(release)
        noisy = _named(release.model, classes, features)
    elif isinstance(release.mechanism, SPREAD_KINDS):
        found = release.mechanism.tables(release.counts)
        noisy = {name: table.reshape(-1, table.shape[-1]) for name, table in found.items()}
    else:
        noisy = _with_margins(release.model, {name: table for name, (table, _) in _noisy_tables(release).items()})
    return PlugInNetwork(release.model, {name: np.clip(table, 0, size) for name, table in noisy.items()})


def projected_reading(release: Release) -> PlugInNetwork:
    """Return naive Bayes tables made consistent by least squares, then non-negative, then taken for true.

    A margin of a table with K_i levels sums K_i noisy cells, so it has weight precision_i / K_i in the class counts.
    """
    network: Network = release.model
    if network.target is None:
        raise DeclarationError("The projected reading is for naive Bayes networks.")
    size = float(release.mechanism.size)
    if isinstance(release.mechanism, CubeCounts):
        noisy_classes, _ = release.mechanism.parts(release.counts)
        classes = nearest_counts(noisy_classes.astype(float), size)
        _, features = _cube_tables(release, classes)
    else:
        tables = _noisy_tables(release)
        classes = nearest_counts(_class_counts(tables, network.target, size), size)
        features = [tables[column.name][0] for column in network.variables[1:]]
        features = [t + (classes - t.sum(axis=1))[:, None] / t.shape[1] for t in features]
    fitted = [np.stack([nearest_counts(r, float(n)) for r, n in zip(t, classes, strict=True)]) for t in features]
    return PlugInNetwork(network, _named(network, classes, fitted))


def nearest_counts(values: Floats, total: float) -> Floats:
    """Return the nearest vector, in Euclidean distance, without negative entries and with this sum.

    It is max(0, values - t) with t such that the sum is right (Held, Wolfe and Crowder, 1974).
    """
    falling = np.sort(values)[::-1]
    shifts = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    last = int(np.flatnonzero(falling - shifts >= 0)[-1]) if (falling - shifts >= 0).any() else 0
    return np.asarray(np.maximum(0.0, values - shifts[last]))


def _noisy_tables(release: Release) -> dict[str, tuple[Floats, float]]:
    """Return every released table with a number that grows as its noise gets smaller: how fast the kernel falls."""
    if isinstance(release.mechanism, JointHistograms):  # one radius for all tables
        tables = zip(release.model.maximal_families, release.model.split(release.counts), strict=True)
        return {family[-1]: (t.reshape(-1, t.shape[-1]).astype(float), 1.0) for family, t in tables}
    return {n: (t.astype(float), -float(kernel(np.ones(1))[0])) for n, t, kernel in released_tables(release)}


def _class_counts(tables: Mapping[str, tuple[Floats, float]], target: str, size: float) -> Floats:
    """Return the weighted mean of what all tables say about the class counts, shifted to the known size."""
    estimates, weights = [], []
    for name, (table, scale) in tables.items():
        own = name == target
        estimates.append(table[0] if own else table.sum(axis=1))
        weights.append(scale**2 / (1 if own else table.shape[1]))
    mean = np.average(np.stack(estimates), axis=0, weights=weights)
    return np.asarray(mean + (size - mean.sum()) / len(mean))


def _cube_tables(release: Release, classes: Floats | None = None) -> tuple[Floats, list[Floats]]:
    """Return class counts and tables (classes, no/yes) of a release by cube noise: k = (n_y +- z) / 2."""
    mechanism: Any = release.mechanism
    noisy, blocks = mechanism.parts(release.counts)
    counts = noisy.astype(float) if classes is None else classes
    counts = counts if counts.size else np.array([float(mechanism.size)])
    return counts, [np.stack([counts - z, counts + z], axis=1) / 2 for z in blocks.T]


def _named(network: Network, classes: Floats, features: list[Floats]) -> dict[str, Floats]:
    tables = features if network.target is None else [classes[None], *features]
    return {column.name: table for column, table in zip(network.variables, tables, strict=True)}


def _with_margins(network: Network, tables: dict[str, Floats]) -> dict[str, Floats]:
    """Add the tables that were not released, as margins of the first released table that holds them."""
    found = dict(tables)
    for column, above in zip(reversed(network.variables), reversed(network.parents), strict=True):
        if column.name in tables and above and above[0] not in tables:
            found[above[0]] = tables[column.name].sum(axis=1)[None]
    return {column.name: found[column.name] for column in network.variables}
