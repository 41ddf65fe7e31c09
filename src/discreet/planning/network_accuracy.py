"""What to expect of a network before any budget is spent. Nothing here touches data.

How much noise a count gets is known exactly and at once: `count_sd` of the mechanism. How wide intervals will be needs
whole made-up studies, drawn from the prior, published and read; that is done for naive Bayes networks that are small
enough to be read in seconds.
"""

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from discreet.inference import NetworkPosterior, infer
from discreet.mathematics.distributions.dirichlet import tails
from discreet.mechanisms import Mechanism, NetworkCounts
from discreet.models import Network
from discreet.randomness import SeededBits
from discreet.reading import Case, Exactness, engine_for
from discreet.releases import simulate

_STUDIES = 4
_FRESH = 500  # records to classify in each made-up study
_MOST_WORK = 150_000  # cells times records that are made up within seconds
_QUICK = 1e10  # operations of one reading

Tables = dict[str, NDArray[np.float64]]
Records = dict[str, NDArray[np.int64]]
Truth = tuple[float, ...]
"""Made-up probabilities, one for each row of a posterior."""


def made_up_tables(network: Network, generator: np.random.Generator) -> Tables:
    """Draw probabilities from the prior, axes (rows of parents, levels)."""
    rows = [prod(network.shape(family[:-1])) for family in network.families]
    return {
        variable.name: generator.dirichlet(prior, size=count)
        for variable, prior, count in zip(network.variables, network.prior, rows, strict=True)
    }


def made_up_records(network: Network, tables: Tables, size: int, generator: np.random.Generator) -> Records:
    """Draw records, parents before children, as the places of their levels."""
    records: Records = {}
    for family in network.families:
        above, name = family[:-1], family[-1]
        shape = network.shape(above)
        row = np.ravel_multi_index([records[parent] for parent in above], shape) if above else np.zeros(size, int)
        edges = np.cumsum(tables[name], axis=1)[row]
        records[name] = np.minimum((generator.random(size)[:, None] >= edges).sum(axis=1), edges.shape[1] - 1)
    return records


def counts_of(network: Network, records: Records) -> NDArray[np.int64]:
    """Count records in every maximal family."""
    tables = []
    for family in network.maximal_families:
        table = np.zeros(network.shape(family), dtype=np.int64)
        np.add.at(table, tuple(records[name] for name in family), 1)
        tables.append(table.ravel())
    return np.concatenate(tables)


def rehearsed(mechanism: Mechanism, label: str, seed: int) -> tuple[NetworkPosterior, Truth]:
    """Publish made-up records of a network and read the release; return the reading and the truth."""
    network: Network = mechanism.model
    generator = np.random.default_rng(seed)
    tables = made_up_tables(network, generator)
    counts = counts_of(network, made_up_records(network, tables, mechanism.size, generator))
    posterior: NetworkPosterior = infer(simulate(mechanism, counts, SeededBits(seed), label))
    return posterior, by_row(network, tables)


def by_row(network: Network, tables: Tables) -> Truth:
    """Return the numbers of every row of every table, in the order of a posterior's rows."""
    return tuple(float(chance) for family in network.families for chance in tables[family[-1]].ravel())


@dataclass(frozen=True)
class ExpectedNetwork:
    """Averages over made-up studies of a naive Bayes network, each beside what exact counts would give."""

    studies: int
    width: float
    non_private_width: float
    error: float
    non_private_error: float
    classified: float
    non_private_classified: float


def expected_network(
    mechanism: NetworkCounts, level: float, studies: int = _STUDIES, seed: int = 1
) -> ExpectedNetwork | None:
    """Return what to expect of a naive Bayes network, or nothing if that would take long."""
    network = mechanism.model
    if network.target is None or network.cells * mechanism.size > _MOST_WORK or not _is_quick(mechanism):
        return None
    figures = [_one_study(mechanism, level, np.random.default_rng([seed, each]), each) for each in range(studies)]
    return ExpectedNetwork(studies, *(float(mean) for mean in np.mean(figures, axis=0)))


def _is_quick(mechanism: Mechanism) -> bool:
    """Tell whether one release is read in about a second."""
    case = Case.before(mechanism)
    engine = engine_for(case)
    return engine is not None and engine.exactness is Exactness.EXACT and engine.work(case).operations <= _QUICK


def _one_study(mechanism: NetworkCounts, level: float, generator: np.random.Generator, seed: int) -> list[float]:
    network = mechanism.model
    tables = made_up_tables(network, generator)
    counts = counts_of(network, made_up_records(network, tables, mechanism.size, generator))
    posterior: NetworkPosterior = infer(simulate(mechanism, counts, SeededBits(seed)))
    truth, found = by_row(network, tables), posterior.rows(level)
    fresh = made_up_records(network, tables, _FRESH, generator)
    known, widths = _known_tables(network, counts, level)
    target, codes = network.variables[0], np.stack([fresh[column.name] for column in network.variables[1:]], axis=1)
    rows = {c.name: [c.levels[code] for code in fresh[c.name]] for c in network.variables[1:]}
    guesses = np.array([target.levels.index(guess) for guess in posterior.predict(rows)])
    return [
        float(np.mean([row.high - row.low for row in found])),
        widths,
        float(np.mean([abs(row.mean - true) for row, true in zip(found, truth, strict=True)])),
        float(np.mean(np.concatenate([np.abs(known[name] - tables[name]).ravel() for name in tables]))),
        float(np.mean(guesses == fresh[target.name])),
        float(np.mean(_classified(network, known, codes) == fresh[target.name])),
    ]


def _known_tables(network: Network, counts: NDArray[np.int64], level: float) -> tuple[Tables, float]:
    """Return the posterior means given exact counts, and the mean width of intervals."""
    means: Tables = {}
    widths = []
    for variable, prior in zip(network.variables, network.prior, strict=True):
        shapes = network.table(variable.name, counts).reshape(-1, len(prior)) + np.array(prior)
        totals = shapes.sum(axis=1, keepdims=True)
        means[variable.name] = shapes / totals
        low, high = (betaincinv(shapes, totals - shapes, tail) for tail in tails(level))
        widths.append((high - low).ravel())
    return means, float(np.mean(np.concatenate(widths)))


def _classified(network: Network, tables: Tables, codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the most probable class of each record under these tables."""
    logs = np.log(tables[network.variables[0].name])[0][None, :]
    for place, column in enumerate(network.variables[1:]):
        logs = logs + np.log(tables[column.name]).T[codes[:, place]]
    return np.asarray(logs.argmax(axis=1))
