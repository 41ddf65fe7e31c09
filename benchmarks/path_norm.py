"""Places near several quantiles, chosen by the norm of their path: what it would gain over the score in use.

    python benchmarks/path_norm.py [data sets]

`RankChoice` weighs places by how many records the worst of them is off. JointExp (Gillenwater, Joseph and Kulesza,
"Differentially private quantiles", 2021) weighs them by the cells between them: if c_0, ..., c_m records are counted
there and t_0, ..., t_m are wanted, by

    e^(-b s),   s = (|c_0 - t_0| + ... + |c_m - t_m|) / 2.

**It costs the same.** Let every record belong to a cell whose closed ends it lies between, and let s be the least
over all ways to share records at a place out. A replaced record leaves one cell and enters one, whatever the way: two
terms move by 1 at most, s by 1 at most, and the choice costs 2 b. Where a record is added, and each t_i = w_i n for
fixed parts w_i, its own cell's term moves by 1 - w_i at most and any other's by its own part: together by 2 (1 - w_i)
at most, and s by 1 - min w. Ranks that are rounded one by one break this: several t_i may go up while others go down.

**It is steeper.** c_0 - t_0 + ... + c_i - t_i is how far place i is off. It is 0 at both ends of the column, so s is
never less than the worst of these, and it is more where they go up and down: if one place is off by k, and the next
by k the other way, s = 2 k.

**How it is drawn here**, by floats, for a comparison and not for a release. Records are moved to random points of
their places, each by itself, so that none are alike and one replaced record is still one point. The weight of a gap
between two records as the last one that holds place i is a sum over the gaps before it, by running sums that shrink
by e^(-b/2) for every record; then places are drawn from the last one on. Places that share a gap are in rising order,
so k of them have the k-th power of its length over k!.

Both choices spend all of epsilon = 1. Errors are over the records' own values, each data set is chosen from three
times; a ratio pools the squared errors of all quantiles, each in units of today's. Then both begin a `ChosenTable` of
10,000 records, whose edges are as far from the places as they are today, or three quarters of that, and what is
published is compared: points, median widths of intervals, how many hold the records' own quantile, and how many run
to a bound.
"""

import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil, factorial
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from figures import ratio_of
from number_peers import DRAWS, TRUTHS, Truth
from numpy.typing import NDArray
from scipy.signal import lfilter

import discreet as dc
from discreet.numbers._quantiles_mechanisms import ChosenPlaces, ChosenTable
from discreet.numbers._rank_choice import RankChoice

PLACES = 200_000
LEVELS = (
    ("0.5",),
    ("0.25", "0.5", "0.75"),
    ("0.1", "0.25", "0.5", "0.75", "0.9"),
    tuple(f"0.{i}" for i in range(1, 10)),
)
PARTS = (1.0, 0.75)
Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


class PathChoice:
    """The choice by path norm among points of [0, P) that are all different from those of records."""

    def __init__(self, rate: float, points: Floats, places: int, ranks: Sequence[int]) -> None:
        self.half, self.size, self.places = rate / 2, len(points), places
        self.ends = np.concatenate([[0.0], points, [float(places)]])
        self.lengths = np.diff(self.ends) / places
        off = np.array([each - 0.5 for each in ranks])
        self.wanted = np.diff(np.concatenate([[0.0], off, [float(self.size)]]))
        self.arrived = [self._weight(np.arange(self.size + 1.0), 0)]  # at the first place of a gap, for each quantile
        self.held, self.logs = list[Floats](), [0.0]  # gaps that hold place j as their last one, and their scales
        for last in range(len(ranks)):
            parts = self._parts(last, slice(None))
            total = sum(parts, np.zeros(self.size + 1))
            self.held.append(total / total.max())
            self.logs.append(float(np.log(total.max())) + self.logs[last])
            if last + 1 < len(ranks):
                self.arrived.append(self._moved(self.held[last], last + 1))

    def _weight(self, counted: Floats, cell: int) -> Floats:
        return np.asarray(np.exp(-self.half * np.abs(counted - self.wanted[cell])))

    def _parts(self, last: int, gaps: Any) -> list[Floats]:
        """Return the weights of gaps that hold 1, 2, ... places, up to this one, in units of the place before it."""
        found = []
        for number in range(1, last + 2):
            first = last - number + 1
            empty = self.half * self.wanted[first + 1 : last + 1].sum()
            scale = np.exp(self.logs[first] - self.logs[last] - empty) / factorial(number)
            found.append(scale * self.lengths[gaps] ** number * self.arrived[first][gaps])
        return found

    def _moved(self, held: Floats, cell: int) -> Floats:
        """Return for every gap the sum over all gaps before it, by how many records lie between."""
        shrink, away = np.exp(-self.half), int(self.wanted[cell])
        before = lfilter([1.0], [1.0, -shrink], held)
        behind = lfilter([1.0], [1.0, -shrink], held[::-1])[::-1]
        found = -np.exp(-self.half * away) * behind
        found[away:] += before[: self.size + 1 - away] + (behind - held)[: self.size + 1 - away]
        found[:away] += behind[0] * np.exp(-self.half * np.arange(away, 0, -1.0))[: self.size + 1]
        return np.asarray(np.maximum(found, 0.0))

    @property
    def log_normaliser(self) -> float:
        """Return the log of the sum of all weights, where the column has the length 1."""
        last = self.held[-1] * self._weight(self.size - np.arange(self.size + 1.0), -1)
        return float(np.log(last.sum())) + self.logs[-1]

    def draw(self, generator: np.random.Generator) -> Counts:
        """Draw one place for each quantile."""
        found, last = list[float](), len(self.held) - 1
        weights = self.held[last] * self._weight(self.size - np.arange(self.size + 1.0), -1)
        while True:
            gap = _one_of(weights, generator)
            number = 1 + _one_of(np.array(self._parts(last, gap)), generator)
            found += generator.uniform(self.ends[gap], self.ends[gap + 1], number).tolist()
            last -= number
            if last < 0:
                return np.sort(np.minimum(np.array(found), self.places - 1).astype(np.int64))
            weights = self.held[last][:gap] * self._weight(gap - np.arange(float(gap)), last + 1)


def _one_of(weights: Floats, generator: np.random.Generator) -> int:
    sums = np.cumsum(weights)
    return int(np.searchsorted(sums, generator.random() * sums[-1], side="right"))


def placed(truth: Truth, records: Floats) -> tuple[Counts, int]:
    """Return the places of sorted records, and how many places there are."""
    if truth.is_whole:
        return (records - truth.low).astype(np.int64), truth.high - truth.low + 1
    scaled = (records - truth.low) / (truth.high - truth.low) * PLACES
    return np.minimum(scaled.astype(np.int64), PLACES - 1), PLACES


def choices_of(name: str, size: int, levels: tuple[str, ...], repeats: int) -> tuple[Floats, Floats]:
    """Return errors of places by the score in use and by path norm: data sets, draws, quantiles; in % of the range."""
    truth, generator = TRUTHS[name], np.random.default_rng([20261201, size, len(levels)])
    ranks = [ceil(Fraction(level) * size) for level in levels]
    errors = np.zeros((2, repeats, DRAWS, len(levels)))
    for number in range(repeats):
        at, places = placed(truth, np.sort(truth.draw(size, generator)))
        below = np.append(0, np.cumsum(np.bincount(at, minlength=places)))
        bits = dc.SeededBits(int(generator.integers(2**32)))
        used = RankChoice(Fraction(1, 2), below, np.array(ranks), size + 2)
        path = PathChoice(0.5, np.sort(at + generator.random(size)), places, ranks)
        for draw in range(DRAWS):
            both = np.sort(used.sample(bits)), path.draw(generator)
            errors[:, number, draw] = 100 * (np.array(both) - at[np.array(ranks) - 1]) / places
    return errors[0], errors[1]


def compared(used: Floats, path: Floats) -> tuple[float, float]:
    """Return the ratio of errors, each quantile's in units of the score in use, and its standard error."""
    unit = np.sqrt(np.square(used).mean(axis=(0, 1)))
    known = unit > 0
    own, theirs = ((each[..., known] / unit[known]).reshape(len(each), -1) for each in (path, used))
    return ratio_of(own, theirs)


class Placed(NamedTuple):
    """Places that were chosen already, where a mechanism expects a choice."""

    places: Counts

    def sample(self, _: object) -> Counts:
        return self.places


def closer(part: float) -> Callable[..., Floats]:
    """Return the rule for edges of `ChosenTable`, so many times as far from the places as it has them."""
    usual = ChosenTable.next_edges

    def edges(self: ChosenTable, middles: Floats, tables: list[Floats]) -> Floats:
        (low, high), ends = np.split(usual(self, middles, tables), 2, axis=-1), middles + 1
        return np.concatenate([np.floor(middles + part * (low - middles)), np.ceil(ends + part * (high - ends))], -1)

    return edges


def published(name: str, levels: tuple[str, ...], repeats: int) -> None:
    """Print how far off the points of `ChosenTable` are, and how wide its intervals, after either choice."""
    truth, generator, size = TRUTHS[name], np.random.default_rng([20261202, len(levels)]), 10_000
    ranks = [ceil(Fraction(level) * size) for level in levels]
    model = dc.NumberQuantiles("x", (truth.low, truth.high), levels, missing=0, is_whole=truth.is_whole)
    mechanism = ChosenTable(model, size, 1)
    rate = mechanism.rate
    found = np.zeros((2, len(PARTS), 4, repeats, len(levels)))  # errors, widths, held, at a bound
    for number in range(repeats):
        records = np.sort(truth.draw(size, generator))
        true, counts = records[np.array(ranks) - 1], model.rehearse({"x": records})
        own = counts[: model.places]
        at, below = np.repeat(np.arange(model.places), own), np.append(0, np.cumsum(own))
        bits = dc.SeededBits(int(generator.integers(2**32)))
        used = RankChoice(rate, below, np.array(ranks), size + 2).sample(bits)
        path = PathChoice(float(rate), np.sort(at + generator.random(size)), model.places, ranks).draw(generator)
        for way, chosen in enumerate((used, path)):
            for index, part in enumerate(PARTS):
                with (
                    patch.object(ChosenPlaces, "_choices", return_value=[Placed(chosen)]),
                    patch.object(ChosenTable, "next_edges", closer(part)),
                ):
                    rows = dc.infer(dc.simulate(mechanism, counts, bits)).rows()[::2]
                point, low, high = np.array([(row.mean, row.low, row.high) for row in rows]).T
                is_far = (low <= truth.low) | (high >= truth.high)
                found[way, index, :, number] = point - true, high - low, (low <= true) & (true <= high), is_far
    errors, widths = found[0, 0, 0], np.median(found[0, 0, 1], axis=0)
    for index, part in enumerate(PARTS):
        for way, who in enumerate(("today's", "path norm")):
            error, width, held, far = found[way, index]
            ratio = "{:.2f} ± {:.2f}".format(*compared(errors[:, None], error[:, None]))
            narrower = (np.median(width, axis=0) / np.maximum(widths, 1e-9)).mean()
            figures = f"{ratio} | {narrower:.2f} | {held.mean():.3f} | {far.mean():.3f}"
            print(f"| {name} | {len(levels)} | {who} | {part:g} | {figures} |", flush=True)


def main(repeats: int) -> None:
    print("| column | n epsilon | one | three | five | nine |\n|---|---:|---:|---:|---:|---:|")
    for name in TRUTHS:
        for size in (100, 1_000, 10_000):
            cells = ["{:.2f} ± {:.2f}".format(*compared(*choices_of(name, size, own, repeats))) for own in LEVELS]
            print(f"| {name} | {size:,} | " + " | ".join(cells) + " |", flush=True)
    print("| column | quantiles | by | edges as far | error / today's | width / today's | held | at a bound |")
    print("|---|---:|---|---:|---:|---:|---:|---:|")
    for name in TRUTHS:
        for levels in LEVELS[2:]:
            published(name, levels, repeats)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
