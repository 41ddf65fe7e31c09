"""What exact counts of a table of numbers would tell: the widths beside which those of a release are shown."""

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import bdtr, ndtri

from discreet.arrays import Counts, Floats
from discreet.mathematics.distributions.dirichlet import tails
from discreet.mathematics.distributions.mixture_batch import MixtureBatch, Part
from discreet.mathematics.distributions.summaries import ends_of

if TYPE_CHECKING:
    from discreet.models.number_table import NumberTable


def exact_rows(model: "NumberTable", statistics: Counts, level: float) -> list[tuple[float, float]]:
    """Return estimate and width of every row, from exact counts."""
    table = np.asarray(statistics).reshape(len(model.groups), -1)[:, : model.count]
    return [row for own in table for row in _group(model, own.astype(float), level)]


def _group(model: "NumberTable", counts: Floats, level: float) -> list[tuple[float, float]]:
    below, total = np.concatenate([[0.0], np.cumsum(counts)]), max(1.0, float(counts.sum()))
    low, high = tails(level)
    edges, found, z = model.places, [], 2 * float(ndtri(high))
    if "quantiles" in model.asks:
        for share in map(float, model.quantiles):
            cell = int(np.clip(np.searchsorted(below, share * total - 1e-9) - 1, 0, model.count - 1))
            inside = bdtr(np.minimum(np.floor(below[1:-1]), total), int(total), share)
            first = int((inside < low).sum())
            last = model.count - 1 - int((inside > high).sum())
            inside_cell = float(np.clip((share * total - below[cell]) / max(counts[cell], 1.0), 0, 1))
            point, one = edges[cell] + inside_cell * (edges[cell + 1] - edges[cell]), 1.0 if model.is_whole else 0.0
            point = min(np.floor(point), edges[cell + 1] - 1) if model.is_whole else point
            wide = edges[max(last, first) + 1] - edges[first]
            found += [(point, edges[cell + 1] - edges[cell] - one), (point, wide - one)]
    if "distribution" in model.asks:
        for place in model.shown_edges:
            part = float(below[place] / total)
            found += [(part, 0.0), (part, _share_width(model, float(below[place]), total, level))]
    if "mean" in model.asks:
        middles, widths = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
        mean, wide_by = float(counts @ middles) / total, float(counts @ widths) / total
        spread = float(counts @ (middles - mean) ** 2) / total
        found += [(mean, wide_by), (mean, wide_by + z * float(np.sqrt(spread / total)))]
    return [(float(value), float(width)) for value, width in found]


def _share_width(model: "NumberTable", count: float, total: float, level: float) -> float:
    """Return how wide the interval of a share in the population is: as the tests of a release read it.

    Where all records count it is that of Beta(1 + k, 1 + n - k), opened to 0 and 1; else by the normal law.
    """
    if model.by is None and not model.leaves_gaps_out:
        low, high = ends_of(MixtureBatch([Part.of(np.ones((1, 1)), np.array([1.0 + count]), total + 2.0)]), level, True)
        return float(high[0] - low[0])
    part = count / total
    return 2 * float(ndtri(tails(level)[1])) * float(np.sqrt(part * (1 - part) / total))
