"""What to expect of a network before any budget is spent. Nothing here touches data.

How much noise a count gets is known exactly and at once: `count_sd` of the mechanism. How wide intervals will be needs
whole made-up studies, drawn from the prior, published and read; that is done for naive Bayes networks that are small
enough to be read in seconds.
"""

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Counts
from discreet.inference import NetworkPosterior, infer
from discreet.mechanisms import Mechanism
from discreet.models import Network
from discreet.models.network_records import Tables, by_row, counts_of, known_tables, made_up_records, made_up_tables
from discreet.randomness import SeededBits
from discreet.reading import Case, Exactness, engine_for
from discreet.releases import simulate

_STUDIES = 4
_FRESH = 500  # records to classify in each made-up study
_MOST_WORK = 150_000  # cells times records that are made up within seconds
_QUICK = 1e10  # operations of one reading


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
    mechanism: Mechanism, level: float, studies: int = _STUDIES, seed: int = 1
) -> ExpectedNetwork | None:
    """Return what to expect of a naive Bayes network, or nothing if that would take long."""
    network: Network = mechanism.model
    if network.target is None or network.cells * mechanism.size > _MOST_WORK or not _is_quick(mechanism):
        return None
    figures = [_one_study(mechanism, level, np.random.default_rng([seed, each]), each) for each in range(studies)]
    return ExpectedNetwork(studies, *(float(mean) for mean in np.mean(figures, axis=0)))


def _is_quick(mechanism: Mechanism) -> bool:
    """Tell whether one release is read in about a second."""
    case = Case.before(mechanism)
    engine = engine_for(case)
    return engine is not None and engine.exactness is Exactness.EXACT and engine.work(case).operations <= _QUICK


def _one_study(mechanism: Mechanism, level: float, generator: np.random.Generator, seed: int) -> list[float]:
    network: Network = mechanism.model
    tables = made_up_tables(network, generator)
    counts = counts_of(network, made_up_records(network, tables, mechanism.size, generator))
    posterior: NetworkPosterior = infer(simulate(mechanism, counts, SeededBits(seed)))
    truth, found = by_row(network, tables), posterior.rows(level)
    fresh = made_up_records(network, tables, _FRESH, generator)
    known, widths = known_tables(network, counts, level)
    target, codes = network.variables[0], np.stack([fresh[column.name] for column in network.variables[1:]], axis=1)
    rows = {c.name: [c.levels[code] for code in fresh[c.name]] for c in network.variables[1:]}
    guesses = np.array([target.levels.index(guess) for guess in posterior.predict(rows)])
    return [
        float(np.mean([row.high - row.low for row in found])),
        float(np.mean(by_row(network, widths))),
        float(np.mean([abs(row.mean - true) for row, true in zip(found, truth, strict=True)])),
        float(np.mean(np.concatenate([np.abs(known[name] - tables[name]).ravel() for name in tables]))),
        float(np.mean(guesses == fresh[target.name])),
        float(np.mean(_classified(network, known, codes) == fresh[target.name])),
    ]


def _classified(network: Network, tables: Tables, codes: Counts) -> Counts:
    """Return the most probable class of each record under these tables."""
    logs = np.log(tables[network.variables[0].name])[0][None, :]
    for place, column in enumerate(network.variables[1:]):
        logs = logs + np.log(tables[column.name]).T[codes[:, place]]
    return np.asarray(logs.argmax(axis=1))
