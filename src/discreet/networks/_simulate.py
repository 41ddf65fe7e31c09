"""Simulated records of a network: probabilities from the prior, records from these, and posteriors of exact counts."""

from math import prod

import numpy as np
from scipy.special import betaincinv

from discreet._core.arrays import Counts, Floats
from discreet.mathematics.distributions import tails
from discreet.networks._model import Network

Tables = dict[str, Floats]
"""Probabilities of every variable, axes (rows of parents, levels)."""
Records = dict[str, Counts]
"""The indices of the levels of records, by variable."""


def simulated_tables(network: Network, generator: np.random.Generator) -> Tables:
    """Draw probabilities from the prior."""
    rows = [prod(network.shape(family[:-1])) for family in network.families]
    return {
        variable.name: generator.dirichlet(prior, size=count)
        for variable, prior, count in zip(network.variables, network.prior, rows, strict=True)
    }


def simulated_records(network: Network, tables: Tables, size: int, generator: np.random.Generator) -> Records:
    """Draw records, parents before children."""
    records: Records = {}
    for family in network.families:
        above, name = family[:-1], family[-1]
        shape = network.shape(above)
        row = np.ravel_multi_index([records[parent] for parent in above], shape) if above else np.zeros(size, int)
        edges = np.cumsum(tables[name], axis=1)[row]
        records[name] = np.minimum((generator.random(size)[:, None] >= edges).sum(axis=1), edges.shape[1] - 1)
    return records


def counts_of(network: Network, records: Records) -> Counts:
    """Count records in every maximal family."""
    tables = []
    for family in network.maximal_families:
        table = np.zeros(network.shape(family), dtype=np.int64)
        np.add.at(table, tuple(records[name] for name in family), 1)
        tables.append(table.ravel())
    return np.concatenate(tables)


def by_row(network: Network, tables: Tables) -> tuple[float, ...]:
    """Return the numbers of every row of every table, in the order of a posterior's rows."""
    return tuple(float(chance) for family in network.families for chance in tables[family[-1]].ravel())


def tables_by_row(network: Network, rows: tuple[float, ...]) -> Tables:
    """Return the tables of which `by_row` gave these numbers."""
    found, first = {}, 0
    for family in network.families:
        shape = network.shape(family)
        found[family[-1]] = np.array(rows[first : first + prod(shape)]).reshape(-1, shape[-1])
        first += prod(shape)
    return found


def exact_rows(network: Network, counts: Counts, level: float) -> list[tuple[float, float]]:
    """Return mean and width of the interval of each number, in the order of a posterior's rows."""
    means, widths = known_tables(network, counts, level)
    return list(zip(by_row(network, means), by_row(network, widths), strict=True))


def known_ends(a: Floats, b: Floats, level: float, is_opened: bool) -> tuple[Floats, Floats]:
    """Return the ends of intervals of Beta(a, b), opened to 0 and 1 where the density is highest there."""
    low, high = (np.asarray(betaincinv(a, b, tail), dtype=np.float64) for tail in tails(level))
    if not is_opened:
        return low, high
    return np.where((a <= 1) & (b > 1), 0.0, low), np.where((b <= 1) & (a > 1), np.ones_like(high), high)


def known_tables(network: Network, counts: Counts, level: float) -> tuple[Tables, Tables]:
    """Return the posterior means given exact counts, and the widths of intervals, under the prior that is read.

    Where none was declared, an interval reaches 0 or 1 where the density is highest there: Beta(a, b) with a <= 1.
    """
    means, widths, is_opened = {}, {}, network.is_prior_open
    (network,) = network.proposals(is_evidence_known=False) if is_opened else (network,)
    for variable, prior in zip(network.variables, network.prior, strict=True):
        shapes = network.table(variable.name, counts).reshape(-1, len(prior)) + np.array(prior)
        totals = shapes.sum(axis=1, keepdims=True)
        low, high = known_ends(shapes, totals - shapes, level, is_opened)
        means[variable.name], widths[variable.name] = shapes / totals, high - low
    return means, widths
