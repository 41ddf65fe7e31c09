"""Plug-in readings of a network, kept as reproductions to compare with: noisy counts taken for true ones.

`truncated_reading` is what Zhang, Rubinstein and Dimitrakakis (2016, algorithm 1) do: cut every noisy count to [0, n]
and update the prior with it. `projected_reading` first makes the tables agree with each other and with the known size,
by least squares, and then moves them to the nearest tables without negative counts. Neither knows about the noise, so
both are too sure of themselves; `infer` is the reading to use.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError
from discreet.inference import Problem
from discreet.mechanism import HasConditionals
from discreet.networks import Network, fit, noisy_parts
from discreet.networks._class_states import log_chances
from discreet.networks._consistent_tables import nearest_counts
from discreet.networks._records_to_predict import codes_of
from discreet.noise import product_of
from discreet.release import Release


@dataclass(frozen=True, eq=False)
class PlugInNetwork:
    """A network whose noisy counts are taken at face value; `tables` has axes (parent levels, levels)."""

    model: Network
    tables: Mapping[str, Floats]

    def mean_tables(self) -> dict[str, Floats]:
        """Return the conjugate posterior means (prior + count) / (total of both), axes (parents..., levels)."""
        means = {}
        for column, family, prior in zip(self.model.variables, self.model.families, self.model.prior, strict=True):
            shapes = np.array(prior) + self.tables[column.name]
            means[column.name] = (shapes / shapes.sum(axis=-1, keepdims=True)).reshape(self.model.shape(family))
        return means

    def predict_proba(self, rows: object) -> Floats:
        """Return P(class | features) of a naive Bayes network under the means."""
        if self.model.target is None:
            raise DeclarationError("Only a naive Bayes network has a class to predict.")
        classes, *features = self.mean_tables().values()
        codes = codes_of(rows, self.model.variables[1:])
        parts = [log_chances(np.log(p)[None], [f[y][None] for f in features], codes) for y, p in enumerate(classes)]
        logs = np.stack(parts, axis=1)
        return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))


def truncated_reading(release: Release) -> PlugInNetwork:
    """Return the published reading: each noisy count is clipped to [0, n] and taken at face value."""
    problem = _measured(release)
    tables = {name: np.clip(table, 0, problem.size) for name, table in _noisy_tables(problem).items()}
    return PlugInNetwork(release.model, tables)


def projected_reading(release: Release) -> PlugInNetwork:
    """Return naive Bayes tables made consistent by least squares, then non-negative, then taken at face value.

    A margin of a table with K_i levels sums K_i noisy cells, so it has weight precision_i / K_i in the class counts.
    """
    problem = _measured(release)
    network: Network = problem.model
    if network.target is None:
        raise DeclarationError("The projected reading works for naive Bayes networks only.")
    size, tables = float(problem.size), _noisy_tables(problem)
    classes = nearest_counts(_class_counts(problem, tables), size)
    features = [tables[column.name] for column in network.variables[1:]]
    features = [t + (classes - t.sum(axis=1))[:, None] / t.shape[1] for t in features]
    fitted = [np.stack([nearest_counts(r, float(n)) for r, n in zip(t, classes, strict=True)]) for t in features]
    names = [column.name for column in network.variables]
    return PlugInNetwork(network, dict(zip(names, [classes[None], *fitted], strict=True)))


def _measured(release: Release) -> Problem:
    """Return the problem of one release of measured tables of a network."""
    problem = Problem.of((release,))
    is_network = isinstance(problem.model, HasConditionals)
    if not is_network or not problem.is_measured or None in [m.of.parts for m in problem.measurements]:
        raise DeclarationError(f"{release.label!r} does not hold noisy tables of a network's counts.")
    return problem


def _noisy_tables(problem: Problem) -> dict[str, Floats]:
    """Return a table (parent rows, levels) of every variable: as published, or a margin of the first that holds it.

    Where contrasts were published, the tables are those that follow from them.
    """
    published = _published_tables(problem)
    found = {}
    for family, variable in zip(problem.model.families, problem.model.variables, strict=True):
        around = min((names for names in published if set(family) <= set(names)), key=len)
        kept = [name for name in around if name in family]
        margin = published[around].sum(axis=tuple(i for i, name in enumerate(around) if name not in family))
        table = margin.transpose([kept.index(name) for name in family])
        found[variable.name] = table.reshape(-1, table.shape[-1])
    return found


def _published_tables(problem: Problem) -> dict[tuple[str, ...], Floats]:
    pairs = [(measured, part) for measured in problem.measurements for part in measured.of.parts or ()]
    if all(all(part.cells) for _, part in pairs):
        return {part.names: measured.values[part.indices].astype(float) for measured, part in pairs}
    named = getattr(problem.observed[0].mechanism, "tables", None)
    if callable(named):  # contrasts: the mechanism says what its tables are, with the total that it published
        tables = named(problem.observed[0].output)
        return {family: tables[family[-1]] for family in problem.model.families}
    fitted = fit(problem.model, problem.size, noisy_parts(problem.measurements, problem.size) or ())
    return {family: fitted.table(*family) for family in problem.model.families}


def _class_counts(problem: Problem, tables: Mapping[str, Floats]) -> Floats:
    """Return the weighted mean of what all released tables say about the class counts, shifted to the known size."""
    estimates, weights = [], []
    pairs = [(measured, part) for measured in problem.measurements for part in measured.of.parts or ()]
    for measured, part in pairs:
        if not all(part.cells) or part.names[0] != problem.model.target:
            continue  # signed counts say nothing about the class
        own = len(part.names) == 1
        table, place = tables[part.names[-1]], int(part.indices.flat[0])
        product = product_of(measured.noise.structure)
        scale = 1.0 if product is None else -float(product.log_terms(np.ones(1), np.array([place]))[0])
        estimates.append(table[0] if own else table.sum(axis=1))
        weights.append(scale**2 / (1 if own else table.shape[1]))
    mean = np.average(np.stack(estimates), axis=0, weights=weights)
    return np.asarray(mean + (problem.size - mean.sum()) / len(mean))
