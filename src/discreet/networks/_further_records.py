"""Further records of a network: the tables of as many simulated records, for draws of its probabilities.

Tables are filled in an order in which each starts from a margin of an earlier one (`cliques`): the records in a cell of
that margin are split among the levels of the next variable by its probabilities given its parents. So a million records
cost as much as ten. Expected tables are computed in the same way, with shares instead of random splits. Graphs too
dense for these tables get their records one by one.
"""

from collections.abc import Callable

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet.inference import MOST_CELLS, clique_cells, cliques
from discreet.networks._elimination import Tables, joint_chances
from discreet.networks._model import Network
from discreet.networks._simulate import counts_of, simulated_records
from discreet.networks._solution import graph_of

_NUMBERS = 5_000_000  # numbers held at a time


def further_counts(model: Network, tables: Tables, size: int, generator: np.random.Generator) -> Counts:
    """Draw the counts (draws, cells) of all maximal families among `size` records, one data set per draw of tables.

    `tables` are P(variable | parents), axes (draws, rows of parents, levels).
    """
    if clique_cells(*graph_of(model)) > MOST_CELLS:
        draws = range(len(next(iter(tables.values()))))
        each = ({name: table[index] for name, table in tables.items()} for index in draws)
        return np.stack([counts_of(model, simulated_records(model, one, size, generator)) for one in each])

    def split(totals: Floats, chances: Floats) -> Floats:
        shares = chances / chances.sum(axis=-1, keepdims=True)
        return generator.multinomial(np.rint(totals).astype(np.int64), shares).astype(float)

    return np.rint(_in_parts(model, tables, size, split)).astype(np.int64)


def expected_counts(model: Network, tables: Tables, size: int) -> Floats:
    """Return the expected counts (draws, cells) of all maximal families among `size` records, for draws of tables."""
    if clique_cells(*graph_of(model)) > MOST_CELLS:
        found = [joint_chances(family, {}, tables, model) for family in model.maximal_families]
        return size * np.concatenate([table.reshape(len(table), -1) for table in found], axis=1)
    return _in_parts(model, tables, size, lambda totals, chances: totals[..., None] * chances)


_Split = Callable[[Floats, Floats], Floats]


def _in_parts(model: Network, tables: Tables, size: int, split: _Split) -> Floats:
    """Fill the tables, a few draws at a time."""
    draws = len(next(iter(tables.values())))
    step = max(1, _NUMBERS // int(clique_cells(*graph_of(model))))
    parts = []
    for first in range(0, draws, step):
        some = {name: table[first : first + step] for name, table in tables.items()}
        parts.append(_filled(model, some, size, split))
    return np.concatenate(parts)


def _filled(model: Network, tables: Tables, size: int, split: _Split) -> Floats:
    """Return the tables of all maximal families (draws, cells), filled one after another."""
    draws = len(next(iter(tables.values())))
    found: list[Floats] = []
    families: dict[str, Floats] = {}
    for clique in cliques(*graph_of(model)):
        name = model.variables[clique.variable].name
        totals = np.full((draws, 1), float(size)) if clique.home is None else found[clique.home] @ clique.margin.T
        rows = totals.reshape(draws, clique.rows, clique.contexts)
        table = split(rows, np.broadcast_to(tables[name][:, :, None], (*rows.shape, clique.levels)))
        found.append(table.reshape(draws, -1))
        families[name] = table.sum(axis=2).reshape(draws, -1)
    return np.concatenate([families[family[-1]] for family in model.maximal_families], axis=1)
