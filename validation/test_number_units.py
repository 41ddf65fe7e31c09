"""How often intervals of persons and of weighted means hold the truth, by the exact samplers.

Each setting is a test with one literal seed and goes the whole way from rows to intervals: `rehearse`, `simulate`,
`infer`, `rows`. Persons have some rows each, those with more rows dearer ones, and a tenth has none; weights go with
the values. The truth of a population is that of 400,000 units, clipped as the study clips them. Few releases are made
by default (200, standard error .021), 1,000 in a full run (.0095). Means are held to 87 to 93 % by the rule of
test_number_coverage.py.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from kept_results import repeats
from numpy.typing import NDArray
from test_number_coverage import assert_means_are_held

import discreet as dc

RELEASES, MANY = repeats(200, 1000), 400_000
BOTH = ("mean", "sum")
Floats = NDArray[np.float64]


def stays(size: int, g: np.random.Generator) -> tuple[NDArray[np.int64], Floats]:
    """Return the number of each row's person, and what the row cost: dearer for those with many rows."""
    rows = np.where(g.random(size) < 0.1, 0, 1 + g.poisson(1.5, size))
    ids = np.repeat(np.arange(size), rows)
    return ids, g.gamma(2, 20 * (1 + rows[ids] / 4))


def pay(size: int, g: np.random.Generator) -> tuple[Floats, Floats]:
    """Return values and their weights, which are larger for larger values."""
    values = g.lognormal(10.4, 0.7, size)
    return values, np.clip(4 * (values / 35_000) ** 0.5 * g.gamma(4, 0.25, size), 0, 20)


def totals(size: int, g: np.random.Generator) -> Floats:
    ids, costs = stays(size, g)
    return np.asarray(np.clip(np.bincount(ids, np.clip(costs, 0, 300), size), 0, 600))


def largest(size: int, g: np.random.Generator) -> Floats:
    ids, costs = stays(size, g)
    found = np.full(size, -np.inf)
    np.maximum.at(found, ids, np.clip(costs, 0, 300))
    return np.asarray(found[np.isfinite(found)])


def per_row(size: int, g: np.random.Generator) -> tuple[float, float]:
    """Return the sum of the rows of persons who count with at most 3 of them, and how many these are."""
    ids, costs = stays(size, g)
    rows = np.bincount(ids, minlength=size)
    counted = 3 / np.maximum(rows, 3)[ids]
    return float((counted * np.clip(costs, 0, 300)).sum()), float(counted.sum())


def weighted(size: int, g: np.random.Generator) -> tuple[float, float]:
    values, weights = pay(size, g)
    return float((np.clip(values, 0, 200_000) * weights).sum()), float(weights.sum())


def both_of(draw: Callable[[int, np.random.Generator], Any], size: int, g: np.random.Generator) -> tuple[float, float]:
    """Return the mean and the sum of what is drawn."""
    found = draw(size, g)
    total, count = found if isinstance(found, tuple) else (found.sum(), len(found))
    return float(total / count), float(total)


@lru_cache(maxsize=8)
def in_population(draw: Callable[[int, np.random.Generator], Any]) -> tuple[float, float]:
    """Return the mean, and the sum for each unit."""
    mean, total = both_of(draw, MANY, np.random.default_rng(2))
    return mean, total / MANY


def persons_rows(size: int, g: np.random.Generator) -> dict[str, Any]:
    ids, costs = stays(size, g)
    return {"id": [f"p{person}" for person in ids], "x": costs.tolist()}


def weighted_rows(size: int, g: np.random.Generator) -> dict[str, Any]:
    values, weights = pay(size, g)
    return {"x": values.tolist(), "w": weights.tolist()}


KINDS: dict[str, tuple[Callable[[int], Any], Callable[..., Any], Callable[..., Any]]] = {
    "total": (
        lambda size: dc.NumberSums("x", (0, 600), BOTH, missing=0, persons=dc.Persons("id", size, "total", (0, 300))),
        totals,
        persons_rows,
    ),
    "largest": (
        lambda size: dc.NumberSums("x", (0, 300), BOTH, persons=dc.Persons("id", size, "largest")),
        largest,
        persons_rows,
    ),
    "rows": (
        lambda size: dc.WeightedSums("x", (0, 300), BOTH, rows=dc.numbers.PersonRows("id", size, 3)),
        per_row,
        persons_rows,
    ),
    "weights": (
        lambda _: dc.WeightedSums("x", (0, 200_000), BOTH, weights=dc.Weights("w", 20, "fixed by design")),
        weighted,
        weighted_rows,
    ),
}
UNITS = [
    ("total", 300, "1", 301), ("total", 2000, ".1", 302), ("largest", 300, "1", 303), ("largest", 2000, ".1", 304),
    ("rows", 300, "1", 305), ("rows", 2000, ".1", 306), ("weights", 300, "1", 307), ("weights", 2000, ".1", 308),
    ("weights", 5000, "1", 309),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "size", "epsilon", "seed"), UNITS)
def test_means_of_persons_and_weighted_means_are_held_as_often_as_stated(
    kind: str, size: int, epsilon: str, seed: int
) -> None:
    make, draw, rows_of = KINDS[kind]
    model, (mean, each) = make(size), in_population(draw)
    mechanism = dc.GeometricSums(model, size, epsilon)
    held, widths = np.zeros(4), np.zeros(4)
    for number in range(RELEASES):
        records = model.rehearse(rows_of(size, np.random.default_rng([seed, number])))
        own, total = both_of(draw, size, np.random.default_rng([seed, number]))
        found = dc.infer(dc.simulate(mechanism, records, dc.SeededBits(1000 * seed + number))).rows(0.9)
        for place, (row, value) in enumerate(zip(found, (own, mean, total, size * each), strict=True)):
            held[place] += row.low <= value <= row.high
            widths[place] += row.high - row.low
    held, widths = held / RELEASES, widths / RELEASES
    for name, (these, law), wide in zip(BOTH, held.reshape(2, 2), widths.reshape(2, 2), strict=True):
        print(f"\n{kind}, n = {size}, epsilon = {epsilon}, {name}: these {these:.3f}, population {law:.3f}")
        print(f"  widths {wide[0]:.4g}, {wide[1]:.4g}")
    assert_means_are_held(held, RELEASES)
