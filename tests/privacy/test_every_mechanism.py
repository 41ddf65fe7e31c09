"""Privacy by listing: all data sets of a few records, all neighbours, all outputs, from the stated likelihood alone.

Nothing here is shared with the library's own referee or with tests/contracts. A case is a mechanism, the records that a
row (or a person) may consist of, and a window of outputs. Data sets are all sequences of such records; neighbours
differ in one place. Each is counted through the same door as real records, and the law of its output is what
`log_prob` says. From these laws alone follow

    epsilon    the largest |ln P(z | x) / P(z | y)| over neighbours x, y and outputs z
    delta      the largest sum_z max(0, P(z | x) - e^epsilon P(z | y))
    rho        the largest ln sum_z P(z | x)^a P(z | y)^(1 - a) / (a (a - 1)) over some orders a > 1

Outputs outside of the window could only add to each of these, so what is found is never too large; what the window
leaves out is stated and checked. Nothing that a mechanism states may be below what is found. Under a metric, all pairs
of data sets are compared at their distance, which is written down here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dc
from discreet.numbers import NumberQuantiles, NumberSums, NumberTable, PersonRows, Persons, WeightedSums, Weights

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Record = Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""A row, or all rows of one person."""

ROUNDING = 1e-9  # of what floating point adds to a loss, for each unit of it
ORDERS = (1.01, 1.5, 2.0, 4.0, 16.0)  # of Renyi divergences


def log_prob(mechanism: Any, outputs: Counts, statistics: Counts) -> Floats:
    """Return log P(output | statistics) for rows of outputs: the one thing that is asked of a mechanism's law."""
    return np.asarray(mechanism.log_prob(outputs, statistics), dtype=float)


def statistics_of(model: Any, rows: Sequence[Mapping[str, Any]]) -> Counts:
    """Return what is counted of rows, through the door that real records take."""
    names = sorted({name for row in rows for name in row})
    columns = {name: [row[name] for row in rows] for name in names}
    return np.asarray(model.statistics(columns).open_for_publishing(), dtype=np.int64)


def box(*ranges: tuple[int, int]) -> Counts:
    """Return all whole vectors between these bounds, both of which belong to them."""
    return np.array(list(product(*(range(low, high + 1) for low, high in ranges))), dtype=np.int64)


def tied(total: int, free: Counts) -> Counts:
    """Return vectors with one number more, so that each adds up to the total."""
    return np.column_stack([free, total - free.sum(axis=1)])


def beside(*parts: Counts) -> Counts:
    """Return all vectors that are put together of one from each part."""
    return np.array([np.concatenate(rows) for rows in product(*parts)], dtype=np.int64)


def around(rows: Counts, reach: int) -> Counts:
    """Return all whole vectors that lie within `reach` of one of these rows in every number."""
    near = box(*[(-reach, reach)] * rows.shape[1])
    return np.unique((rows[:, None, :] + near[None, :, :]).reshape(-1, rows.shape[1]), axis=0)


def compositions(total: int, cells: int, least: int = 0) -> Counts:
    """Return all whole vectors from `least` on that add up to a total."""
    found = box(*[(least, total)] * cells)
    return np.asarray(found[found.sum(axis=1) == total])


@dataclass(frozen=True)
class Case:
    """A mechanism small enough to list, the records of its data sets, its outputs and what they leave out at most.

    Outputs are all of a window; or, where noise is added to many numbers, all within some units of those of any data
    set, which leave out most. Under a metric `apart` is the distance of two records.
    """

    make: Callable[[Any], Any]
    records: Sequence[Record]
    outputs: Counts | int
    left_out: float = 1e-9
    apart: Callable[[Any, Any], float] | None = None


def levels(column: str, *values: object) -> list[Record]:
    return [{column: value} for value in values]


def crossed(**columns: Sequence[object]) -> list[Record]:
    return [dict(zip(columns, values, strict=True)) for values in product(*columns.values())]


def categories(*prior: float) -> dc.Categories:
    return dc.Categories("x", levels=tuple("abc"[: len(prior)]), prior=prior, outside="a")


def network(*edges: str, **sizes: int) -> dc.Network:
    known = {name: tuple(range(count)) for name, count in sizes.items()}
    return dc.Network.from_edges(*edges, levels=known, outside=dict.fromkeys(known, 0))


COIN, SKEWED, THREE = categories(1, 1), categories(0.1, 7), categories(1, 1, 1)
OF_COIN, OF_THREE = levels("x", "a", "b", "strange", None), levels("x", "a", "b", "c", None)
ONE, ROOTS, ARROW = network("a", a=2), network("a", "b", a=2, b=2), network("a -> b", a=2, b=2)
OF_ONE, OF_TWO = levels("a", 0, 1, 7), crossed(a=(0, 1), b=(0, 1))
BOTH = dc.Synthesis(("a", "b"), levels={"a": (0, 1), "b": (0, 1)}, outside=0)
OF_STEPS = {"delta": "0.1", "rounds": 1, "one_way": "0.3", "scores": "0.3"}  # one pair, so its table gets all parts
STEPS = beside(box(*[(-1, 2)] * 4), box((-1, 4)), np.array([[2**20 - 1]]), box(*[(-1, 2)] * 4))
LINE = dc.LinearRegression(
    "y", ["x"], {"x": (0, 1), "y": (0, 1)}, noise="0.5", intercept=False, grid=8, norm_bound=1, missing="middle"
)
SLOPE = dc.LinearRegression(
    "y", ["x"], {"x": (0, 1), "y": (0, 1)}, noise=dc.regression.InverseGamma(2, 1), grid=8, missing="middle"
)
OF_BULK = dc.WeightedRegression("y", (), {"y": (0, 1)}, grid=8).changed(grid=3)
OF_LINE = crossed(x=(0.0, 0.5, 1.0, 9.0), y=(0.0, 1.0, None))
OF_SLOPE = crossed(x=(0.0, 0.5, 1.0), y=(0.0, 1.0))
GROUP = dc.Column("g", ("a", "b"), outside="a")
FILLED, GAPPED = NumberSums("x", (0, 1), missing=0, unit=2), NumberSums("x", (0, 1), unit=2)
OF_SUMS = levels("x", 0.0, 0.5, 1.0, -3.0, None)
TABLE = NumberTable("x", (0, 4), 4, missing=0)
UNEVEN = NumberTable("x", (0, 4), edges=(0, 1, 3, 4), missing=0)
GROUPED = NumberTable("x", (0, 3), 3, missing=0, by=GROUP)
A_MEDIAN = NumberQuantiles("x", (0, 3), ("0.5",), missing=0, is_whole=True)
A_GAPPED = NumberQuantiles("x", (0, 3), ("2/3",), is_whole=True)
BY_WARD = NumberQuantiles("x", (0, 3), ("0.5",), missing=0, is_whole=True, by=GROUP)
EVENTS = dc.PoissonRate("x", most=3, outside=3)
MEAN = dc.NormalMean("x", low=-1, high=1, variance=1, bands=3, outside="usual")
OF_MEAN = levels("x", -1.0, 0.0, 1.0)


def persons(*rows: Sequence[object], column: str = "x") -> list[Record]:
    """Return what all rows of one person may be."""
    return [[{column: value} for value in own] for own in rows]


TOTALS = NumberSums("x", (0, 2), missing=0, unit=2, persons=Persons("id", 2, "total", (0, 1)))
LARGEST = NumberTable("x", (0, 3), 3, missing=0, persons=Persons("id", 2, "largest"))
ROWS = WeightedSums("x", (0, 1), unit=2, rows=PersonRows("id", 2, 2))
SECRET_ROWS = WeightedSums("x", (0, 1), unit=2, rows=PersonRows("id", None, 2))
SECRET_TOTALS = NumberSums("x", (0, 2), missing=0, unit=2, persons=Persons("id", None, "total", (0, 1)))
SECRET_LARGEST = NumberTable("x", (0, 3), 3, missing=0, persons=Persons("id", None, "largest"))
WEIGHED = WeightedSums("x", (0, 1), missing=0, unit=2, weights=Weights("w", 2, "fixed by design"))
OF_PERSONS = persons((), (0.0,), (1.0,), (1.0, 1.0), (9.0, 0.0, 9.0))


BY_GROUP = NumberSums("x", (0, 1), ("mean", "variance"), by=GROUP, missing=0, unit=2)
WEIGHTED_SUMS = beside(tied(4, box((-2, 6), (-2, 6))), tied(4, box(*[(-2, 6)] * 3)))


def of(model: Any, size: int, epsilon: Any, **more: Any) -> Callable[[Any], Any]:
    return lambda kind: kind(model, size, epsilon, **more)


def of_secret_number(model: Any, epsilon: Any, **more: Any) -> Callable[[Any], Any]:
    return lambda kind: kind(model, epsilon, **more)


def by(name: str, model: Any, **more: Any) -> Callable[[Any], Any]:
    return lambda kind: getattr(kind, name)(model, **more)


def between_values(one: Mapping[str, float], two: Mapping[str, float]) -> float:
    return abs(one["x"] - two["x"])


def over_the_middle(one: Mapping[str, Any], two: Mapping[str, Any]) -> float:
    """Return the distance inside a group, or to the middle cell at 1, by 2 to that of the other group, and on."""
    if one["g"] == two["g"]:
        return between_values(one, two)
    return float(abs(one["x"] - 1) + 2 + abs(two["x"] - 1))


def to_another_group(one: Mapping[str, Any], two: Mapping[str, Any]) -> float:
    """Return the distance inside a group; all of another group is 2/3 away.

    A record is 2 steps in places and 2 in squares, with the same noise. A step at a bound moves 1 and 2 of them, half
    of the range of the column; a change of group all 4. So that is as far as 4/3 of a step at a bound.
    """
    return between_values(one, two) if one["g"] == two["g"] else 2 / 3


def on_the_tree(one: Mapping[str, str], two: Mapping[str, str]) -> float:
    """Return the length of the way between levels: a and b hang on c by edges of length 1 and 1/2."""
    far = {"a": 1.0, "b": 0.5, "c": 0.0}
    return 0.0 if one["x"] == two["x"] else far[one["x"]] + far[two["x"]]


NOISY = [
    Case(of(COIN, 2, "0.7"), OF_COIN, tied(2, box((-30, 32))), 1e-8),
    Case(of(THREE, 2, 3), OF_THREE, tied(2, box((-14, 16), (-14, 16))), 1e-6),
]
LAPLACE = [
    Case(of(COIN, 2, 3), OF_COIN, box((-16, 18), (-16, 18)), 1e-8),
    Case(of(THREE, 2, 4), OF_THREE, box(*[(-9, 11)] * 3), 1e-6),
]
CHOICES = [
    Case(of(COIN, 3, "0.5"), OF_COIN, compositions(3, 2)),
    Case(of(SKEWED, 3, 2), OF_COIN, compositions(3, 2)),
    Case(of(THREE, 2, 1), OF_THREE, compositions(2, 3)),
    Case(of(COIN, 5, 4), levels("x", "a", "b"), compositions(5, 2)),
    Case(of(THREE, 3, 4), levels("x", "a", "b", "c"), compositions(3, 3)),
]
CHOICES_WITH_DELTA = [replace(case, make=with_delta) for case, with_delta in zip(
    CHOICES, (of(COIN, 3, "0.5", delta="0.05"), of(SKEWED, 3, 2, delta="1e-3"), of(THREE, 2, 1, delta="0.1"),
              of(COIN, 5, 4, delta="1e-4"), of(THREE, 3, 2, delta="0.01")), strict=True,
)]  # fmt: skip
PUBLISHED = [
    Case(of(COIN, 2, 2, sensitivity=2, noisy_cells=1), OF_COIN, box((-26, 28), (-26, 28)), 1e-8),
    Case(of(COIN, 2, 2, sensitivity=2, noisy_cells=2), OF_COIN, box((-26, 28), (-26, 28)), 1e-8),
]
SUMS = [
    Case(of(FILLED, 2, 6, squares="1/2"), OF_SUMS, beside(*[tied(4, box((-10, 14)))] * 2), 1e-5),
    Case(of(TOTALS, 2, 6, squares="1/2"), OF_PERSONS, beside(*[tied(4, box((-10, 14)))] * 2), 1e-5),
]

CASES: dict[str, list[Case]] = {
    "GeometricHistogram": NOISY,
    "DiscreteLaplaceCounts": LAPLACE,
    "LaplaceTable": [
        Case(of_secret_number(COIN, "1.5"), OF_COIN, box((-16, 18), (-16, 18)), 1e-8),
        Case(of_secret_number(COIN, 4, total="1/2"), OF_COIN, box((-9, 11), (-9, 11), (-9, 11)), 1e-6),
    ],
    "CubeSums": [
        Case(of_secret_number(FILLED, 8), OF_SUMS, box((-7, 11), (-11, 11), (-11, 11)), 1e-8),
        Case(of_secret_number(BY_GROUP, 8), crossed(x=(0.0, 0.5, 1.0), g=("a", "b")),
             beside(*[box((0, 4), (-4, 4), (-4, 4))] * 2), 1.0),
        Case(of_secret_number(GAPPED, 16), OF_SUMS, box((-2, 6), (-6, 6), (-6, 6), (-2, 6)), 1e-6),
        Case(of_secret_number(SECRET_TOTALS, 6), OF_PERSONS, box((-9, 13), (-13, 13), (-13, 13)), 1e-6),
    ],
    "CubeTables": [
        Case(of_secret_number(ROOTS, 3), OF_TWO, box((-10, 12), (-12, 12), (-12, 12)), 1e-8),
        Case(of_secret_number(ARROW, 10), OF_TWO, beside(*[box((-3, 5), (-5, 5))] * 2), 1e-8),
    ],
    "LaplaceSums": [
        Case(of_secret_number(FILLED, 16, squares="1/2"), OF_SUMS, box(*[(-5, 9)] * 4), 1e-5),
        Case(of_secret_number(SECRET_ROWS, 8), OF_PERSONS, 1, 1.0),
    ],
    "BlockTable": [
        Case(of_secret_number(TABLE, 8, blocks=2), levels("x", 0, 1, 2, 3, 9, None), box(*[(-4, 6)] * 4), 1e-3),
        Case(of_secret_number(SECRET_LARGEST, 5, blocks=2), OF_PERSONS, box(*[(-9, 11)] * 3), 1e-4),
        Case(of_secret_number(GROUPED, 8, blocks=2), crossed(x=(0, 1, 2), g=("a", "b")), 1, 1.0),
    ],
    "GaussianTable": [
        Case(of_secret_number(COIN, 1, delta="0.01"), OF_COIN, box((-20, 22), (-20, 22))),
        Case(of_secret_number(COIN, 4, delta="0.1", total="1/2"), OF_COIN, box((-9, 11), (-9, 11), (-9, 11)), 1e-6),
    ],
    "PairGaussians": [Case(of(BOTH, 1, 90, **OF_STEPS), OF_TWO, STEPS, 1e-4)],
    "GaussianPairTables": [Case(of_secret_number(BOTH, 70, **OF_STEPS), OF_TWO, STEPS, 1e-2)],
    "DiscreteGaussianHistogram": [
        Case(of(COIN, 2, 1, delta="0.01"), OF_COIN, tied(2, box((-20, 22)))),
        Case(of(THREE, 2, 2, delta="0.1"), OF_THREE, tied(2, box((-10, 12), (-10, 12)))),
    ],
    "DiscreteGaussianCounts": [Case(of(COIN, 2, 1, delta="0.01"), OF_COIN, box((-20, 22), (-20, 22)))],
    "CubeCounts": [
        Case(of(ROOTS, 2, 2), OF_TWO, box((-20, 22), (-20, 22)), 1e-6),
        Case(of(ARROW, 1, 16, class_share="1/2"), OF_TWO, beside(tied(1, box((-8, 9))), box(*[(-6, 6)] * 2)), 1e-5),
    ],
    "JointHistograms": [
        Case(of(ROOTS, 2, 3), OF_TWO, beside(*[tied(2, box((-20, 22)))] * 2), 1e-5),
        Case(of(ARROW, 1, 4), OF_TWO, tied(1, box(*[(-8, 9)] * 3)), 1e-4),
    ],
    "FamilyHistograms": [
        Case(of(ROOTS, 2, 3), OF_TWO, beside(*[tied(2, box((-14, 16)))] * 2), 1e-6),
        Case(of(ROOTS, 2, 3, shares=(1, 2)), OF_TWO, beside(*[tied(2, box((-14, 16)))] * 2), 1e-4),
    ],
    "FamilyGaussians": [
        Case(of(ONE, 2, 1, delta="0.01"), OF_ONE, box((-20, 22), (-20, 22))),
        Case(of(ROOTS, 1, 4, delta="0.1"), OF_TWO, box(*[(-6, 7)] * 4), 1e-5),
    ],
    "LaplaceUpdates": [Case(of(ONE, 2, 2), OF_ONE, box((-24, 26), (-24, 26)), 1e-8)],
    "FourierUpdates": [Case(of(ONE, 2, 4), OF_ONE, box((-24, 26), (-24, 26)), 1e-8)],
    "FourierCounts": [
        Case(of(ROOTS, 2, 4), OF_TWO, box((-16, 18), (-16, 18)), 1e-8),
        Case(of(ARROW, 1, 9, shares=(1, 1, 2)), OF_TWO, box(*[(-9, 10)] * 3), 1e-4),
    ],
    "ContrastGaussians": [
        Case(of(ONE, 2, 1, delta="0.01"), OF_ONE, box((-40, 42))),
        Case(of(ARROW, 1, 4, delta="0.1"), OF_TWO, box(*[(-12, 13)] * 3), 1e-6),
    ],
    "HellingerGlobal": CHOICES,
    "HellingerReciprocal": CHOICES,
    "HellingerSmooth": CHOICES_WITH_DELTA,
    "HellingerSmoothProved": CHOICES_WITH_DELTA,
    "HellingerCalibrated": [*CHOICES_WITH_DELTA, replace(CHOICES[0], make=of(COIN, 3, "0.5", delta=0))],
    "HellingerLocal": CHOICES,
    "HellingerTable": CHOICES,
    "PublishedHellingerGlobal": CHOICES,
    "PublishedHellingerSmooth": CHOICES_WITH_DELTA,
    "PermuteAndFlip": CHOICES,
    "TotalVariationChoice": [CHOICES[0], CHOICES[1], CHOICES[3]],
    "MaximumPosterior": [
        Case(of(COIN, 2, 1, resolution=5), OF_COIN, compositions(5, 2)),
        Case(of(THREE, 2, 1, resolution=4), OF_THREE, compositions(4, 3)),
    ],
    "NetworkMaximum": [
        Case(of(ONE, 2, 2, resolution=3), OF_ONE, compositions(3, 2)),
        Case(of(ARROW, 2, 1, resolution=4), OF_TWO, beside(*[compositions(4, 2)] * 3)),
    ],
    "RoundedLaplace": PUBLISHED,
    "FlooredLaplace": PUBLISHED,
    "TruncatedLaplace": PUBLISHED,
    "ClampedLaplace": PUBLISHED,
    "PosteriorSampling": [
        Case(of(COIN, 2, 1, power="0.3", least="0.2", grid_bits=4), OF_COIN, box((0, 15))),
        Case(of(THREE, 2, 3, power="0.3", least="0.1", grid_bits=4), OF_THREE, box((0, 15), (0, 15))),
        Case(by("tempered", COIN, size=3, epsilon=1, delta="0.01", grid_bits=5), OF_COIN, box((0, 31))),
        Case(by("tempered", EVENTS, size=2, epsilon=1, delta="0.05", grid_bits=2), levels("x", 0, 1, 2, 3, 9, None),
             box((0, 120)), 1e-9),
        Case(by("tempered", MEAN, size=2, epsilon=1, delta="0.05", grid_bits=3), OF_MEAN, box((-60, 60)), 1e-6),
        Case(of(COIN, 2, 6, least="0.2", draws=2, power="0.9", grid_bits=3), OF_COIN, box((0, 7), (0, 7))),
    ],
    "NetworkSampling": [
        Case(of(ONE, 2, 1, power="0.3", least="0.2", grid_bits=4), OF_ONE, box((0, 15))),
        Case(of(ARROW, 2, 3, power="0.54", least="0.2", grid_bits=3), OF_TWO, box(*[(0, 7)] * 3)),
        Case(of(ARROW, 2, 1, delta="0.9", grid_bits=3), OF_TWO, box(*[(0, 7)] * 3)),
    ],
    "RateTruncation": [
        Case(of(EVENTS, 2, 3, lowest="0.5", highest=2, grid_bits=3), levels("x", 0, 1, 2, 3), box((0, 40)),
             apart=between_values),
        Case(by("tempered", MEAN, size=2, epsilon=1, lowest=-1, highest=1, grid_bits=3), OF_MEAN, box((-20, 20))),
        Case(of(EVENTS, 1, 9, lowest="0.5", highest=2, draws=2, grid_bits=2), levels("x", 0, 1, 2, 3),
             box((0, 12), (0, 12)), apart=between_values),
    ],
    "BoxMoments": [
        Case(of(LINE, 2, 128), OF_LINE, box((-16, 272), (-140, 140)), 1e-4),
        Case(of(LINE, 2, 2), OF_LINE, 12, 1.0),
        Case(of(SLOPE, 3, 40), OF_SLOPE, 1, 1.0),
    ],
    "LaplaceMoments": [
        Case(of(LINE, 2, 256), OF_LINE, box((-12, 268), (-136, 136)), 1e-4),
        Case(of(LINE, 2, 2), OF_LINE, 12, 1.0),
        Case(of(SLOPE, 3, 40), OF_SLOPE, 1, 1.0),
    ],
    "GaussianMoments": [
        Case(of(LINE, 2, 2000, delta="0.01"), OF_LINE, box((-30, 286), (-150, 150)), 1e-4),
    ],
    "GaussianBallMoments": [
        Case(of(OF_BULK, 2, 2000, delta="0.01", rounds=0), levels("y", 0.0, 0.5, 1.0, None),
             beside(box((-2, 10), (-11, 11), (-2, 10)), np.array([[2**24, 0, 0, 2**24, 2**25]])), 1e-4),
    ],
    "BallDraw": [Case(of(LINE, 2, 1, steps=16), OF_LINE, box((-16, 16)))],
    "GeometricSums": [
        *SUMS,
        Case(of(GAPPED, 2, 12, squares="1/2"), OF_SUMS, beside(*[tied(4, box((-4, 8), (-4, 8)))] * 2), 1e-2),
        Case(of(ROWS, 2, 20, squares="1/2"), OF_PERSONS, WEIGHTED_SUMS, 1e-2),
        Case(of(WEIGHED, 2, 20, squares="1/2"), crossed(x=(0.0, 1.0), w=(0, 1, 9, None)), WEIGHTED_SUMS, 1e-2),
        Case(of(BY_GROUP, 2, 20, squares="1/2"), crossed(x=(0.0, 0.5, 1.0, None), g=("a", "b", "?")), 1, 1.0),
    ],
    "MetricSums": [
        Case(of(FILLED, 2, 6, squares="1/2"), levels("x", 0.0, 0.5, 1.0), beside(*[tied(4, box((-10, 14)))] * 2), 1e-5,
             between_values),
        Case(of(BY_GROUP, 2, 20, squares="1/2"), crossed(x=(0.0, 0.5, 1.0), g=("a", "b")), 1, 1.0, to_another_group),
    ],
    "TreeTable": [
        Case(of(GROUPED, 1, 20, blocks=1), crossed(x=(0, 1, 2), g=("a", "b")), tied(1, box(*[(-2, 3)] * 5)), 1e-2),
        Case(of(TABLE, 2, 5, blocks=2), levels("x", 0.5, 1.5, 2.5, 3.5, None), tied(2, box(*[(-6, 8)] * 3)), 1e-3),
        Case(of(LARGEST, 2, 5, blocks=2), OF_PERSONS, tied(2, box((-12, 14), (-12, 14))), 1e-3),
    ],
    "ChosenCounts": [
        Case(of(A_MEDIAN, 1, 20), levels("x", 0, 1, 2, 3, None),
             beside(box((0, 3), (0, 3)), tied(1, box(*[(-5, 6)] * 2)), tied(1, box(*[(-1, 2)] * 2))), 1e-3),
    ],
    "ChosenTable": [
        Case(of(A_MEDIAN, 2, 8), levels("x", 0, 1, 2, 3, None), beside(box((0, 3)), tied(2, box(*[(-4, 6)] * 2))),
             1e-3),
        Case(of(BY_WARD, 1, 20), crossed(x=(0, 1, 2, 3), g=("a", "b")),
             beside(box((0, 3), (0, 3)), tied(1, box(*[(-1, 2)] * 5))), 1e-2),
        Case(of(A_GAPPED, 2, 10), levels("x", 0, 1, 2, 3, None), beside(box((0, 3)), tied(2, box(*[(-3, 5)] * 3))),
             1e-2),
    ],
    "PathTable": [
        Case(of(UNEVEN, 2, 6), levels("x", 0, 1, 3), tied(2, box((-9, 11), (-9, 11))), 1e-3, between_values),
    ],
    "GroupPaths": [
        Case(of(GROUPED, 1, 24, between=2), crossed(x=(0, 1, 2), g=("a", "b")), box(*[(-2, 3)] * 6), 1e-2,
             over_the_middle),
    ],
    "TreeLevels": [
        Case(of(THREE, 2, 4, parents=(2, 2), lengths=(1, "1/2")), levels("x", "a", "b", "c"),
             tied(2, box((-12, 14), (-20, 22))), 1e-5, on_the_tree),
    ],
}  # fmt: skip
_INTEGRATED = "tests/privacy/test_cone_noise.py integrates the law that it states"
WITHOUT_A_LIKELIHOOD = {"ConeMoments": _INTEGRATED, "BallMoments": _INTEGRATED}


def own_kinds() -> dict[str, type[Any]]:
    """Return the registered kinds of the library itself, and not those of other tests."""
    return {
        kind: made
        for kind, made in dc.Mechanism.registered().items()
        if made.__module__.startswith(("discreet.", "discreet_papers."))
    }


class Listed:
    """All data sets of a case, all pairs of neighbours, and the law of every data set over all outputs."""

    def __init__(self, mechanism: Any, case: Case) -> None:
        self.mechanism, self.case = mechanism, case
        places = range(len(case.records))
        self.is_sized = hasattr(mechanism, "size")
        sizes = [mechanism.size] if self.is_sized else [0, 1, 2]
        self.sets = [each for size in sizes for each in product(places, repeat=size)]
        found = np.array([self._statistics(each) for each in self.sets])
        self.statistics, own = np.unique(found, axis=0, return_inverse=True)
        self.law_of = dict(zip(self.sets, own.ravel().tolist(), strict=True))
        outputs = around(self.statistics, case.outputs) if isinstance(case.outputs, int) else case.outputs
        self.logs = np.stack([log_prob(mechanism, outputs, row) for row in self.statistics])

    def _statistics(self, chosen: Sequence[int]) -> Counts:
        if not chosen:  # nobody; what a table without rows counts is tested for every source
            cells = self.mechanism.model.cells
            return np.zeros(cells if isinstance(cells, int) else len(cells), dtype=np.int64)
        return statistics_of(self.mechanism.model, self._rows(chosen))

    def _rows(self, chosen: Sequence[int]) -> list[Mapping[str, Any]]:
        rows: list[Mapping[str, Any]] = []
        for person, place in enumerate(chosen):
            record = self.case.records[place]
            rows += [record] if isinstance(record, Mapping) else [{"id": f"p{person}", **row} for row in record]
        return rows or [{"id": None, "x": None}]  # a table without rows has no columns

    def neighbours(self) -> set[tuple[int, int]]:
        """Return all pairs of laws whose data sets differ in one record, which is replaced or is absent, both ways."""
        found = set()
        for data in self.sets if not self.is_sized else ():
            for place in range(len(data)):
                rest = self.law_of[data[:place] + data[place + 1 :]]
                found |= {(self.law_of[data], rest), (rest, self.law_of[data])}
        for data in self.sets if self.is_sized else ():
            for place, other in product(range(len(data)), range(len(self.case.records))):
                changed = (*data[:place], other, *data[place + 1 :])
                found.add((self.law_of[data], self.law_of[changed]))
        return {(one, two) for one, two in found if one != two}

    def loss(self, one: int, two: int) -> float:
        """Return the largest ln P / Q over outputs that one of both can give."""
        p, q = self.logs[one], self.logs[two]
        used = np.isfinite(p)
        return float(np.max(p[used] - q[used]))

    def epsilon(self) -> float:
        return max(self.loss(one, two) for one, two in self.neighbours())

    def delta(self, epsilon: float) -> float:
        return max(self._beyond(self.logs[one], self.logs[two], epsilon) for one, two in self.neighbours())

    @staticmethod
    def _beyond(p: Floats, q: Floats, epsilon: float) -> float:
        """Return sum max(0, P - e^epsilon Q), as P (1 - e^(epsilon + q - p)) where that is above 0."""
        used = np.isfinite(p)
        p, q = p[used], q[used]
        return float((np.exp(p) * -np.expm1(np.minimum(0.0, epsilon + q - p))).sum())

    def rho(self) -> float:
        return max(self._divergence(one, two, order) / order for one, two in self.neighbours() for order in ORDERS)

    def _divergence(self, one: int, two: int, order: float) -> float:
        p, q = self.logs[one], self.logs[two]
        used = np.isfinite(p)
        if np.any(np.isneginf(q[used])):
            return np.inf
        exponents = order * p[used] + (1 - order) * q[used]
        top = exponents.max()
        return float(top + np.log(np.exp(exponents - top).sum())) / (order - 1)

    def distances(self) -> Iterator[tuple[int, int, float]]:
        """Yield pairs of data sets with their distance: that of their records in the best order."""
        apart = self.case.apart
        assert apart is not None
        far = [[apart(one, two) for two in self.case.records] for one in self.case.records]
        for one, two in product(self.sets, repeat=2):
            ways = (sum(far[a][b] for a, b in zip(one, other, strict=True)) for other in permutations(two))
            yield self.law_of[one], self.law_of[two], min(ways)


def at_most(found: float, stated: float) -> bool:
    return found <= stated + ROUNDING * max(1.0, abs(stated))


def mistakes(mechanism: Any, case: Case) -> list[str]:
    """Return in words what the listed laws say against what a mechanism states; nothing if all of it holds."""
    listed, guarantee, found = Listed(mechanism, case), mechanism.guarantee, []
    totals = np.exp(listed.logs).sum(axis=1)
    if totals.max() > 1 + ROUNDING or totals.min() < 1 - case.left_out - ROUNDING:
        found.append(f"probabilities add up to {totals.min():.10g} to {totals.max():.10g}")
    loss = mechanism.privacy_loss()
    is_claimed = guarantee.evidence.value == "claimed"  # what is charged for it is the loss, not the claim
    epsilon, delta = (float(loss.epsilon), 0.0) if is_claimed else (float(guarantee.epsilon), float(guarantee.delta))
    if not delta and not at_most(true := listed.epsilon(), epsilon):
        found.append(f"epsilon is {true:.6g}, stated is {epsilon:.6g}")
    if not at_most(true := listed.delta(epsilon), delta):
        found.append(f"delta at epsilon {epsilon:.6g} is {true:.6g}, stated is {delta:.6g}")
    up_to = mechanism.rho_delta() if hasattr(mechanism, "rho_delta") else 0  # rho may hold only up to a delta
    if not up_to and not at_most(true := listed.rho(), float(mechanism.rho)):
        found.append(f"rho is {true:.6g}, stated is {float(mechanism.rho):.6g}")
    for share in (0.0, 0.25, 0.5, 0.75, 0.95):
        if not at_most(true := listed.delta(share * epsilon), stated := float(loss.delta_at(share * epsilon))):
            found.append(f"the loss has delta {true:.6g} at epsilon {share * epsilon:.6g}, stated is {stated:.6g}")
    if case.apart is not None:
        per_unit = float(guarantee.metric.epsilon)
        worst = max(listed.loss(one, two) - per_unit * far for one, two, far in listed.distances() if one != two)
        if worst > ROUNDING * max(1.0, per_unit):
            found.append(f"under the metric a loss is {worst:.6g} above {per_unit:.6g} for each unit")
    return found


NUMBERED = [(kind, number) for kind, cases in CASES.items() for number in range(len(cases))]


@pytest.mark.parametrize(("kind", "number"), NUMBERED, ids=[f"{kind}-{number}" for kind, number in NUMBERED])
def test_no_output_reveals_more_than_is_stated(kind: str, number: int) -> None:
    case = CASES[kind][number]
    assert mistakes(case.make(own_kinds()[kind]), case) == []


def test_every_registered_kind_has_a_case() -> None:
    assert set(CASES) | set(WITHOUT_A_LIKELIHOOD) == set(own_kinds())


class Noting:
    """A kind that notes which epsilon it is asked for."""

    def __init__(self, kind: Any) -> None:
        self.kind, self.asked = kind, Fraction(0)

    def __call__(self, model: Any, *size_and_epsilon: Any, **more: Any) -> Any:
        self.asked = Fraction(size_and_epsilon[-1])
        return self.kind(model, *size_and_epsilon, **more)

    def tempered(self, model: Any, **more: Any) -> Any:
        self.asked = Fraction(more["epsilon"])
        return self.kind.tempered(model, **more)


def test_no_mechanism_states_more_than_was_asked_for() -> None:
    """Noise that is too small for the epsilon that was asked for is not made good by a guarantee that says so."""
    more = set()
    for kind, cases in CASES.items():
        for case in cases:
            noting = Noting(own_kinds()[kind])
            if case.make(noting).guarantee.epsilon > noting.asked:
                more.add(kind)
    assert more == {"TruncatedLaplace"}, "which is kept as it was printed, and says that it costs more"


def test_every_promise_under_a_metric_has_a_case() -> None:
    promised = {kind for kind, cases in CASES.items() for case in cases
                if case.make(own_kinds()[kind]).guarantee.metric is not None}  # fmt: skip
    assert promised == {kind for kind, cases in CASES.items() for case in cases if case.apart is not None}


def test_a_claim_of_the_papers_that_is_false_is_found_and_only_claimed() -> None:
    broken = set()
    for kind in ("HellingerLocal", "HellingerTable"):
        for case in CASES[kind]:
            mechanism = case.make(own_kinds()[kind])
            is_kept = at_most(Listed(mechanism, case).epsilon(), float(mechanism.guarantee.epsilon))
            if mechanism.guarantee.evidence.value == "claimed" and not is_kept:
                broken.add(kind)
    assert broken == {"HellingerTable"}


class Planted:
    """A mechanism with a mistake: what is changed is stated here, all else is the true one's."""

    def __init__(self, true: Any, **changed: Any) -> None:
        self.true, self.changed = true, changed

    def __getattr__(self, name: str) -> Any:
        return self.changed[name] if name in self.changed else getattr(self.true, name)


def made(kind: str, number: int = 0) -> tuple[Any, Case]:
    case = CASES[kind][number]
    return case.make(own_kinds()[kind]), case


class Doubled:
    """A kind that is made with twice the epsilon that is asked for."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind

    def __call__(self, model: Any, *size_and_epsilon: Any, **more: Any) -> Any:
        *size, epsilon = size_and_epsilon
        return self.kind(model, *size, 2 * Fraction(epsilon), **more)


@pytest.mark.parametrize("kind", sorted(set(CASES) - {"PosteriorSampling", "NetworkSampling", "RateTruncation"}))
def test_noise_of_twice_the_rate_is_found(kind: str) -> None:
    """Draws take a power of the likelihood rather than epsilon, and a claim is charged by its loss: see below."""
    case = CASES[kind][0]
    true, louder = case.make(own_kinds()[kind]), case.make(Doubled(own_kinds()[kind]))
    assert mistakes(Planted(true, log_prob=louder.log_prob), case)


@pytest.mark.parametrize(("kind", "number"), [("PosteriorSampling", 0), ("NetworkSampling", 0), ("RateTruncation", 1)])
def test_a_draw_that_takes_the_likelihood_to_too_high_a_power_is_found(kind: str, number: int) -> None:
    true, case = made(kind, number)
    louder = dc.mechanism.with_fields(true, epsilon=100, power=1)
    assert any("epsilon" in each for each in mistakes(Planted(true, log_prob=louder.log_prob), case))


def geometric(noise: NDArray[Any], rate: float) -> Floats:
    """Return log P(u) = ln tanh(rate / 2) - rate |u|."""
    return np.asarray(np.log(np.tanh(rate / 2)) - rate * np.abs(noise))


def test_noise_that_forgets_one_cell_is_found() -> None:
    true, case = made("DiscreteLaplaceCounts")
    rate = float(true.epsilon)

    def forgetful(outputs: Counts, counts: Counts) -> Floats:
        noise = np.asarray(outputs) - counts
        return np.where(noise[..., -1] == 0, geometric(noise[..., :-1], rate).sum(axis=-1), -np.inf)

    assert mistakes(Planted(true, log_prob=lambda z, k: geometric(z - k, rate / 2).sum(axis=-1)), case) == []
    assert "epsilon is inf" in mistakes(Planted(true, log_prob=forgetful), case)[0]


def test_one_sided_noise_is_found() -> None:
    true, case = made("DiscreteLaplaceCounts")
    rate = float(true.epsilon) / 2

    def one_sided(outputs: Counts, counts: Counts) -> Floats:
        noise = np.asarray(outputs) - counts
        laws = np.log(-np.expm1(-rate)) - rate * noise
        return np.asarray(np.where(noise >= 0, laws, -np.inf).sum(axis=-1))

    assert "epsilon is inf" in mistakes(Planted(true, log_prob=one_sided), case)[0]


def test_noise_on_every_cell_as_if_a_record_changed_only_one_is_found() -> None:
    true, case = made("DiscreteLaplaceCounts")
    rate = float(true.epsilon)
    planted = Planted(true, log_prob=lambda z, k: geometric(z - k, rate).sum(axis=-1))
    assert "epsilon is 6, stated is 3" in mistakes(planted, case)


@pytest.mark.parametrize("kind", ["GeometricHistogram", "HellingerGlobal", "BoxMoments", "TreeTable", "PathTable"])
def test_an_understated_epsilon_is_found(kind: str) -> None:
    true, case = made(kind)
    less = replace(true.guarantee, epsilon=true.guarantee.epsilon * Fraction(99, 100))
    assert any(each.startswith("epsilon is") for each in mistakes(Planted(true, guarantee=less), case))


@pytest.mark.parametrize("kind", ["DiscreteGaussianHistogram", "DiscreteGaussianCounts", "HellingerSmooth"])
def test_an_understated_delta_is_found(kind: str) -> None:
    true, case = made(kind)
    less = replace(true.guarantee, delta=true.guarantee.delta * Fraction(99, 100))
    assert any(each.startswith("delta at") for each in mistakes(Planted(true, guarantee=less), case))


def test_an_understated_rho_is_found() -> None:
    true, case = made("GeometricHistogram")
    assert "rho" in mistakes(Planted(true, rho=true.rho * Fraction(98, 100)), case)[0]


def test_an_understated_loss_is_found() -> None:
    true, case = made("GeometricHistogram")
    quieter = own_kinds()["GeometricHistogram"](COIN, 2, "0.6")
    assert "the loss has delta" in mistakes(Planted(true, privacy_loss=quieter.privacy_loss), case)[0]


@pytest.mark.parametrize("kind", ["PathTable", "GroupPaths", "TreeLevels", "MetricSums"])
def test_an_understated_epsilon_for_each_unit_of_a_metric_is_found(kind: str) -> None:
    true, case = made(kind)
    metric = SimpleNamespace(epsilon=true.guarantee.metric.epsilon * Fraction(99, 100))
    less = SimpleNamespace(epsilon=true.guarantee.epsilon, delta=0, evidence=true.guarantee.evidence, metric=metric)
    assert "under the metric" in mistakes(Planted(true, guarantee=less), case)[0]


def test_probabilities_that_do_not_add_up_to_one_are_found() -> None:
    true, case = made("GeometricHistogram")
    planted = Planted(true, log_prob=lambda z, k: true.log_prob(z, k) + 1e-6)
    assert "add up" in mistakes(planted, case)[0]


class Miscounted:
    """A model that counts its records in another way."""

    def __init__(self, model: Any, count: Callable[[Any], Any]) -> None:
        self.model, self.count = model, count

    def statistics(self, columns: Any) -> Any:
        return SimpleNamespace(open_for_publishing=lambda: self.count(columns["x"]))


def test_a_record_that_decides_how_others_are_counted_is_found() -> None:
    """Levels are numbered as they come: the first record decides what the others are."""
    true, case = made("GeometricHistogram")

    def as_they_come(values: Sequence[object]) -> list[int]:
        same = sum(value == values[0] for value in values)
        return [same, len(values) - same]

    assert mistakes(Planted(true, model=Miscounted(COIN, as_they_come), size=2), case) == []
    wide = replace(case, make=of(COIN, 3, "0.7"), outputs=tied(3, box((-30, 33))))
    three = wide.make(own_kinds()["GeometricHistogram"])
    assert mistakes(three, wide) == []
    assert "epsilon is 1.4" in mistakes(Planted(three, model=Miscounted(COIN, as_they_come)), wide)[0]


def test_numbers_that_are_not_cut_off_at_their_bounds_are_found() -> None:
    true, case = made("GeometricSums")

    def uncut(values: Sequence[float | None]) -> list[int]:
        places = [round(2 * (value or 0.0)) for value in values]
        squares = [(2 * place - 2) ** 2 // 2 for place in places]
        return [sum(places), 4 - sum(places), sum(squares), 4 - sum(squares)]

    ordinary = replace(case, records=levels("x", 0.0, 0.5, 1.0, None))
    assert mistakes(Planted(true, model=Miscounted(FILLED, uncut)), ordinary) == []
    assert mistakes(Planted(true, model=Miscounted(FILLED, uncut)), case)
