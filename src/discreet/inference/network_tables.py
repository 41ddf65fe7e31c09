"""The conditional tables of a network as a reader knows them: one entry for each level in each row.

Means are those of `NetworkPosterior.mean_tables`; all else is computed from 4,000 independent draws of the
probabilities, always the same ones.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from discreet.distributions.interval import tails
from discreet.inference.network import NetworkPosterior
from discreet.records.columns import Level
from discreet.records.values import text_of

_DRAWS = 4_000
_SEED = 0


@dataclass(frozen=True)
class TableEntry:
    """What is known about P(variable = level | parents): `given` names each parent and its level."""

    variable: str
    given: tuple[tuple[str, Level], ...]
    level: Level
    mean: float
    median: float
    low: float
    high: float
    sd: float

    @property
    def key(self) -> tuple[str, tuple[tuple[str, Level], ...], Level]:
        """Return what tells this entry from all others."""
        return self.variable, self.given, self.level

    @property
    def event(self) -> str:
        """Return the event in words, such as 'cancer=yes'."""
        return f"{self.variable}={text_of(self.level)}"

    @property
    def condition(self) -> str:
        """Return what is given in words, such as 'smoker=yes'; nothing for a variable without parents."""
        return ", ".join(f"{name}={text_of(level)}" for name, level in self.given)


@lru_cache(maxsize=2)  # tables, pictures and statements ask for the same
def table_entries(posterior: NetworkPosterior, level: float = 0.9) -> tuple[TableEntry, ...]:
    """Return every entry of every table in the order of the variables, with intervals of this level."""
    low, high = tails(level)
    columns = {column.name: column for column in posterior.model.variables}
    means, draws = posterior.mean_tables(), posterior.draws(_DRAWS, _SEED)
    entries = []
    for *parents, name in posterior.model.families:
        quantiles = np.quantile(draws[name], (low, 0.5, high), axis=0)
        spreads = draws[name].std(axis=0, ddof=1)
        for place in np.ndindex(means[name].shape):
            levels = [columns[each].levels[code] for each, code in zip((*parents, name), place, strict=True)]
            least, middle, most = (float(quantile[place]) for quantile in quantiles)
            given = tuple(zip(parents, levels, strict=False))
            figures = (float(means[name][place]), middle, least, most, float(spreads[place]))
            entries.append(TableEntry(name, given, levels[-1], *figures))
    return tuple(entries)
