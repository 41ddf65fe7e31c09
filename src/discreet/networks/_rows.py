"""The conditional tables of a network as rows: one for each level in each row of each table.

Medians, intervals and deviations are those of 4,000 draws of the probabilities, always the same ones. Where no prior
was declared, intervals are opened to 0 or 1 if these cannot be excluded (`draws_reach_ends`). The share due to privacy
compares an interval with the mean width that known counts would give, over some of these draws.
"""

from collections.abc import Mapping

import numpy as np

from discreet._core.arrays import Floats
from discreet.inference import PROBABILITY, Row, TableEntry
from discreet.mathematics.distributions import draws_reach_ends, tails
from discreet.networks._model import Network
from discreet.networks._simulate import known_ends

Tables = Mapping[str, Floats]
_COMPARED = 200  # draws of the counts over which the width with known counts is averaged


def table_entries(
    network: Network, means: Tables, draws: Tables, shapes: Tables, level: float, errors: Tables | None = None
) -> tuple[TableEntry, ...]:
    """Return every entry of every table in the order of the variables.

    `means` has the axes (parents..., levels); `draws` of probabilities and `shapes` of their Dirichlet distributions
    given the counts have the axes (draws, rows, levels). `errors` are the Monte Carlo errors of the means, if chains
    found them; else means are exact, and what is stated is the error that the mean of the draws would have.
    """
    columns = {column.name: column for column in network.variables}
    entries = []
    for *parents, name in network.families:
        median, (least, most) = np.median(draws[name], axis=0), ends_of_draws(network, draws[name], level)
        known = _known_widths(network, shapes[name][:_COMPARED], level)
        shares = np.maximum(0.0, 1 - known / np.maximum(most - least, 1e-300))
        figures = (means[name], median, least, most, draws[name].std(axis=0, ddof=1), shares)
        drawn = figures[4] / np.sqrt(len(draws[name])) if errors is None else errors[name]
        own = np.asarray(drawn).ravel().tolist()
        listed = (np.asarray(figure).ravel().tolist() for figure in figures)
        for index, numbers, error in zip(np.ndindex(means[name].shape), zip(*listed, strict=True), own, strict=True):
            *above, last = (columns[each].levels[code] for each, code in zip((*parents, name), index, strict=True))
            given = tuple(zip(parents, above, strict=True))
            mean, middle, start, end, sd, share = numbers
            event, condition = TableEntry.names(name, last, given)
            row = Row(event, condition, mean, middle, start, end, sd, share, PROBABILITY, error)
            entries.append(TableEntry(name, last, given, row))
    return tuple(entries)


def ends_of_draws(network: Network, draws: Floats, level: float) -> tuple[Floats, Floats]:
    """Return the ends of intervals from draws (first axis): equal-tailed, and opened where no prior was declared."""
    low, high = np.quantile(draws, tails(level), axis=0)
    if not network.is_prior_open:
        return low, high
    zero, one = draws_reach_ends(np.sort(draws, axis=0), level)
    return np.where(zero, 0.0, low), np.where(one, 1.0, high)


def _known_widths(network: Network, shapes: Floats, level: float) -> Floats:
    """Return the mean widths of intervals that each of several distributions Beta(a, total - a) alone would give."""
    rest = shapes.sum(axis=-1, keepdims=True) - shapes
    low, high = known_ends(shapes, rest, level, network.is_prior_open)
    return np.asarray((high - low).mean(axis=0))
