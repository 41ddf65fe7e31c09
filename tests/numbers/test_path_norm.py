"""The path norm of `benchmarks/path_norm.py`: how far one record moves it, and that draws follow its definition."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product
from math import ceil, factorial, log
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2

ROOT = Path(__file__).parents[2]
PLACES = 4
Records = tuple[int, ...]
Wanted = tuple[Fraction, ...]


@pytest.fixture
def choice(monkeypatch: pytest.MonkeyPatch) -> type:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    from path_norm import PathChoice

    return PathChoice


def score(records: Records, places: tuple[int, ...], wanted: Wanted) -> Fraction:
    """Return half of the path norm, the least over all ways to share out records at a place to the cells beside it."""
    ends = (-1, *places, PLACES)
    cells = [[i for i, (low, high) in enumerate(pairwise(ends)) if low <= each <= high] for each in records]
    found = []
    for way in product(*cells):
        counts = Counter(way)
        found.append(sum(abs(counts[cell] - t) for cell, t in enumerate(wanted)) / 2)
    return Fraction(min(found))


def tables(size: int) -> Iterator[Records]:
    return combinations_with_replacement(range(PLACES), size)


def moved(one: Records, other: Records) -> int:
    """Return how many records of one are not in the other."""
    return (Counter(one) - Counter(other)).total()


def cells(shares: tuple[Fraction, ...]) -> Wanted:
    return tuple(high - low for low, high in pairwise((Fraction(0), *shares, Fraction(1))))


def most_by_one_more(wanted_of: dict[int, Wanted], size: int, count: int) -> Fraction:
    """Return how far a score moves at most where a record is added to so many."""
    return max(
        abs(score(own, at, wanted_of[size]) - score((*own, more), at, wanted_of[size + 1]))
        for at in combinations_with_replacement(range(PLACES), count)
        for own in tables(size)
        for more in range(PLACES)
    )


@pytest.mark.parametrize("ranks", [(2,), (1, 3), (1, 2, 4)])
def test_a_replaced_record_moves_it_by_one_at_most(ranks: tuple[int, ...]) -> None:
    off = [Fraction(0), *(each - Fraction(1, 2) for each in ranks), Fraction(4)]
    wanted = tuple(high - low for low, high in pairwise(off))
    worst = Fraction(0)
    for places in combinations_with_replacement(range(PLACES), len(ranks)):
        scores = {own: score(own, places, wanted) for own in tables(4)}
        for one, other in product(scores, repeat=2):
            if moved(one, other) == 1:
                worst = max(worst, abs(scores[one] - scores[other]))
    assert worst == 1


def test_an_added_record_moves_it_by_one_less_the_least_part_if_parts_are_not_rounded() -> None:
    wanted = cells((Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)))
    own = {size: tuple(part * size for part in wanted) for size in (3, 4)}
    assert most_by_one_more(own, 3, 3) == 1 - min(wanted)


def test_ranks_that_are_rounded_one_by_one_break_it() -> None:
    own = dict[int, Wanted]()
    for size in (3, 4):
        ranks = [Fraction(ceil(Fraction(share) * size)) for share in ("0.3", "0.4", "0.6")]
        own[size] = tuple(high - low for low, high in pairwise([Fraction(0), *ranks, Fraction(size)]))
    assert most_by_one_more(own, 3, 3) > 1


def by_definition(points: np.ndarray, ranks: tuple[int, ...], rate: float) -> dict[tuple[int, ...], float]:
    """Return the weight of every way to put places into gaps between records, in a column of the length 1."""
    lengths, size = np.diff([0.0, *points, 1.0]), len(points)
    wanted = np.diff([0.0, *(each - 0.5 for each in ranks), size])
    found = {}
    for gaps in combinations_with_replacement(range(size + 1), len(ranks)):
        distance = np.abs(np.diff([0, *gaps, size]) - wanted).sum() / 2
        volumes = [lengths[gap] ** number / factorial(number) for gap, number in Counter(gaps).items()]
        found[gaps] = float(np.exp(-rate * distance) * np.prod(volumes))
    return found


@pytest.mark.parametrize(("size", "ranks"), [(5, (3,)), (6, (2, 4)), (7, (1, 3, 6)), (6, (2, 3, 5, 6))])
def test_the_running_sums_are_the_definition(choice: type, size: int, ranks: tuple[int, ...]) -> None:
    points = np.sort(np.random.default_rng(size).uniform(0, 1, size))
    expected = log(sum(by_definition(points, ranks, 0.7).values()))
    assert choice(0.7, 1000 * points, 1000, ranks).log_normaliser == pytest.approx(expected, abs=1e-12)


def test_draws_follow_it(choice: type) -> None:
    points, ranks, generator = np.array([0.1, 0.35, 0.4, 0.8]), (1, 3), np.random.default_rng(7)
    made = choice(0.7, 100_000 * points, 100_000, ranks)
    gaps = Counter(tuple(np.searchsorted(points, made.draw(generator) / 1e5).tolist()) for _ in range(4000))
    weights = by_definition(points, ranks, 0.7)
    expected = {way: 4000 * weight / sum(weights.values()) for way, weight in weights.items()}
    statistic = sum((gaps[way] - number) ** 2 / number for way, number in expected.items())
    assert chi2.sf(statistic, len(expected) - 1) > 1e-3
