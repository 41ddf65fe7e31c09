"""What a table of numbers is asked for: quantiles, shares below edges, a mean; each of them is one class.

An estimand says all that is its own: what its quantities are called, what they are in a made-up population, how wide
exact counts leave them, their intervals, and draws. A further one is a further class here, in `ESTIMANDS`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.special import bdtr, ndtri

from discreet._core.arrays import Floats
from discreet.inference import IntervalLine, Intervals, Ratio, Row, percent_text
from discreet.mathematics.distributions import ROUNDED, BetaRows, MixtureBatch, ends_of, tails

if TYPE_CHECKING:
    from discreet.numbers._table_inference import NumberTableSolution
    from discreet.numbers._table_model import NumberTable

QUANTILES, DISTRIBUTION, MEAN = "quantiles", "distribution", "mean"

Widths = list[tuple[float, float]]
"""Estimate and width of every quantity from exact counts: among these records, then in the population."""


class Estimand(ABC):
    """What a question asks of a column whose cells are counted; `word` is its word in a study's `ask`."""

    word: ClassVar[str]
    is_share: ClassVar[bool] = False
    """Whether its quantities are shares of the records, and not values of the column."""

    @abstractmethod
    def names(self, model: "NumberTable", of: str = "") -> list[str]:
        """Return what each quantity is called; `of`, such as ' of age', says of what."""

    @abstractmethod
    def true(self, model: "NumberTable", values: Floats, weights: Floats) -> list[float]:
        """Return the quantities of a distribution, or of counted records: these values with these weights."""

    @abstractmethod
    def exact(self, model: "NumberTable", counts: Floats, level: float) -> Widths:
        """Return what exact counts of the cells of one group would tell."""

    @abstractmethod
    def intervals(self, solution: "NumberTableSolution", group: int, level: float, sampled: bool) -> list[Ratio]:
        """Return the intervals of one group: among these records or, if `sampled`, in the population."""

    @abstractmethod
    def drawn(self, model: "NumberTable", below: Floats, generator: np.random.Generator) -> list[Floats]:
        """Return each quantity for draws (rows) of the shares below all edges, from 0 to 1.

        A table does not tell where in a cell its records lie, so that is drawn too.
        """

    def remarks(self, solution: "NumberTableSolution", level: float) -> list[str]:
        """Say what a reader should know of its intervals."""
        return []


class TableQuantiles(Estimand):
    """The declared quantiles, up to whole cells: by tests at every edge, which are exact whatever the records are."""

    word = QUANTILES

    def names(self, model: "NumberTable", of: str = "") -> list[str]:
        return [f"{quantile_name(share)}{of}" for share in model.quantiles]

    def true(self, model: "NumberTable", values: Floats, weights: Floats) -> list[float]:
        below, total = np.cumsum(weights), float(weights.sum()) or 1.0
        ranks = [max(1e-12, float(each) * total) for each in model.quantiles]
        return [float(values[min(int(np.searchsorted(below, rank - 1e-9)), len(values) - 1)]) for rank in ranks]

    def exact(self, model: "NumberTable", counts: Floats, level: float) -> Widths:
        below, total = _below(counts), _total(counts)
        (low, high), edges, found = tails(level), model.edge_values, Widths()
        one = 1.0 if model.is_whole else 0.0
        for share in map(float, model.quantiles):
            cell = int(np.clip(np.searchsorted(below, share * total - 1e-9) - 1, 0, model.count - 1))
            inside = bdtr(np.minimum(np.floor(below[1:-1]), total), int(total), share)
            first = int((inside < low).sum())
            last = model.count - 1 - int((inside > high).sum())
            inside_cell = float(np.clip((share * total - below[cell]) / max(counts[cell], 1.0), 0, 1))
            point = edges[cell] + inside_cell * (edges[cell + 1] - edges[cell])
            point = min(np.floor(point), edges[cell + 1] - 1) if model.is_whole else point
            wide = edges[max(last, first) + 1] - edges[first]
            found += [(point, edges[cell + 1] - edges[cell] - one), (point, wide - one)]
        return found

    def intervals(self, solution: "NumberTableSolution", group: int, level: float, sampled: bool) -> list[Ratio]:
        return [self.interval(solution, group, share, level, sampled) for share in solution.model.quantiles]

    def interval(
        self, solution: "NumberTableSolution", group: int, share: Fraction, level: float, sampled: bool
    ) -> Ratio:
        """Return one quantile; its ends are edges, which are rounded only, unless draws decided between them."""
        model, tests = solution.model, solution.tests[group]
        edges, guess = model.edge_values, tests.point(share, model.edge_values)
        first, last = tests.cells_left(share, level, sampled)
        low, high = float(edges[first]), float(edges[last + 1]) - (1.0 if model.is_whole else 0.0)
        guess = float(np.floor(guess)) if model.is_whole else guess
        off = ROUNDED * float(np.abs(edges).max()) if solution.is_exact else None
        return Ratio(min(max(guess, low), high), low, high, off)

    def drawn(self, model: "NumberTable", below: Floats, generator: np.random.Generator) -> list[Floats]:
        edges, found = model.edge_values, list[Floats]()
        for share in model.quantiles:
            cells = np.clip((below[:, 1:] < float(share)).sum(axis=1), 0, model.count - 1)
            values = edges[cells] + generator.random(len(below)) * np.diff(edges)[cells]
            found.append(np.floor(values) if model.is_whole else values)
        return found

    def remarks(self, solution: "NumberTableSolution", level: float) -> list[str]:
        """Say where intervals reach a bound, and where they are as narrow as cells allow."""
        model = solution.model
        cells = [
            solution.tests[index].cells_left(share, level, False)
            for index in range(len(model.groups))
            for share in model.quantiles
        ]
        found = [f"Quantiles are located only up to whole cells, of which there are {model.count}."]
        if all(last - first <= 1 for first, last in cells) and not model.has_a_cell_for_each:
            found.append(
                "Their intervals are limited by the cells, not by the noise: more cells would make them narrower."
            )
        beyond = ["An interval that reaches a bound includes everything beyond that bound."]
        return found + (beyond if any(first == 0 or last == model.count - 1 for first, last in cells) else [])


class TableShares(Estimand):
    """The shares of values below about seven of the edges."""

    word, is_share = DISTRIBUTION, True

    def names(self, model: "NumberTable", of: str = "") -> list[str]:
        return [self.name(model, edge, of) for edge in model.shown_edges]

    def name(self, model: "NumberTable", edge: int, of: str) -> str:
        """Return the name of the share of values below an edge."""
        return f"share{of} below {model.shown(float(model.edge_values[edge]))}"

    def true(self, model: "NumberTable", values: Floats, weights: Floats) -> list[float]:
        total = float(weights.sum()) or 1.0
        return [float(weights[values < model.edge_values[edge]].sum()) / total for edge in model.shown_edges]

    def exact(self, model: "NumberTable", counts: Floats, level: float) -> Widths:
        below, total, found = _below(counts), _total(counts), Widths()
        for edge in model.shown_edges:
            part = float(below[edge] / total)
            found += [(part, 0.0), (part, _share_width(model, float(below[edge]), total, level))]
        return found

    def intervals(self, solution: "NumberTableSolution", group: int, level: float, sampled: bool) -> list[Ratio]:
        return [solution.tests[group].share_below(edge, level, sampled) for edge in solution.model.shown_edges]

    def drawn(self, model: "NumberTable", below: Floats, generator: np.random.Generator) -> list[Floats]:
        return [below[:, edge] for edge in model.shown_edges]


class TableMean(Estimand):
    """The mean: every record lies between the ends of its cell, so it lies between two sums of the table."""

    word = MEAN

    def names(self, model: "NumberTable", of: str = "") -> list[str]:
        return [f"{MEAN}{of}"]

    def true(self, model: "NumberTable", values: Floats, weights: Floats) -> list[float]:
        return [float(weights @ values) / (float(weights.sum()) or 1.0)]

    def exact(self, model: "NumberTable", counts: Floats, level: float) -> Widths:
        edges, total = model.edge_values, _total(counts)
        middles, widths = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
        mean, wide_by = float(counts @ middles) / total, float(counts @ widths) / total
        spread = float(counts @ (middles - mean) ** 2) / total
        return [(mean, wide_by), (mean, wide_by + 2 * float(ndtri(tails(level)[1])) * float(np.sqrt(spread / total)))]

    def intervals(self, solution: "NumberTableSolution", group: int, level: float, sampled: bool) -> list[Ratio]:
        return [solution.mean_of(*cell_ends(solution.model), group, level, sampled)]

    def drawn(self, model: "NumberTable", below: Floats, generator: np.random.Generator) -> list[Floats]:
        shares, (low, high) = np.diff(below, axis=1), cell_ends(model)
        return [shares @ low + generator.random(len(below)) * (shares @ (high - low))]

    def remarks(self, solution: "NumberTableSolution", level: float) -> list[str]:
        return [
            "The interval of a mean from a table is at least a cell wide; in a question of its own it is much narrower."
        ]


ESTIMANDS: Mapping[str, Estimand] = {each.word: each for each in (TableQuantiles(), TableShares(), TableMean())}
"""All that a table may be asked for, in the order in which it is shown."""


def cell_ends(model: "NumberTable") -> tuple[Floats, Floats]:
    """Return the smallest and the largest value of every cell; of whole numbers the largest is the last that it holds.

    >>> from discreet.numbers import NumberTable
    >>> cell_ends(NumberTable("age", (0, 119), cells=3, is_whole=True))
    (array([ 0., 40., 80.]), array([ 39.,  79., 119.]))
    """
    edges = model.edge_values
    return edges[:-1], edges[1:] - (1.0 if model.is_whole else 0.0)


def quantile_name(share: Fraction) -> str:
    """Return a quantile in words.

    >>> quantile_name(Fraction(1, 2)), quantile_name(Fraction(9, 10))
    ('median', '90 % quantile')
    """
    return "median" if share == Fraction(1, 2) else f"{float(100 * share):g} % quantile"


def quantile_intervals(rows: Sequence[Row], quantity: str, unit: str, level: float, more: str = "") -> Intervals:
    """Return the lines of a picture of quantiles, those of the records and of the population side by side."""
    lines = []
    for row in rows:
        name, _, of = row.quantity.removesuffix(")").rpartition(" (")
        guess, low, high = row.texts
        group = f"{name.removesuffix(f' of {quantity}')} {row.given}".strip()
        lines.append(IntervalLine(of, row.mean, row.low, row.high, group, f"{guess}  ({low} to {high})"))
    title = f"{quantity}: best estimate and {percent_text(level)} interval{more}"
    return Intervals(title, tuple(lines), heading="guess (interval)", unit=unit)


def _below(counts: Floats) -> Floats:
    return np.concatenate([[0.0], np.cumsum(counts)])


def _total(counts: Floats) -> float:
    return max(1.0, float(counts.sum()))


def _share_width(model: "NumberTable", count: float, total: float, level: float) -> float:
    """Return how wide the interval of a share in the population is: as the tests of a release read it.

    Where all records count it is that of Beta(1 + k, 1 + n - k), opened to 0 and 1; else by the normal distribution.
    """
    if model.by is None and not model.leaves_gaps_out:
        low, high = ends_of(
            MixtureBatch([BetaRows.of(np.ones((1, 1)), np.array([1.0 + count]), total + 2.0)]), level, True
        )
        return float(high[0] - low[0])
    part = count / total
    return 2 * float(ndtri(tails(level)[1])) * float(np.sqrt(part * (1 - part) / total))
