"""Places that are chosen by the ranks of records: the layers are the definition, exactly, and privacy is twice b."""

from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

import discreet as dc
from discreet._core.arrays import Counts, Floats
from discreet.numbers._rank_choice import RankChoice

PLACES, RATE = 6, Fraction(35, 100)
ALL = np.array(list(product(range(PLACES), repeat=2)))


class Balls(RankChoice):
    """Draws every layer by ball arithmetic."""

    def _layer(self, bits: dc.noise.randomness.RandomBits) -> int:
        return self._refined(int(bits.words(1)[0]), 64, bits)


ASKED: list[int] = []


class Recorded(RankChoice):
    """Notes which words floats leave open."""

    def _refined(self, word: int, length: int, bits: dc.noise.randomness.RandomBits) -> int:
        ASKED.append(word)
        return 0


def choice(
    records: tuple[int, ...], ranks: tuple[int, ...] = (2, 3), made_by: type[RankChoice] = RankChoice
) -> RankChoice:
    below = np.append(0, np.cumsum(np.bincount(records, minlength=PLACES)))
    return made_by(RATE, below, np.array(ranks), len(records) + max(map(abs, ranks)) + 2)


def by_definition(records: tuple[int, ...], ranks: tuple[int, ...], rate: Fraction) -> Floats:
    """Weigh every pair of places by its distance, record by record."""

    def distance(places: Counts) -> int:
        found = list[int]()
        for place, rank in zip(places, ranks, strict=True):
            lower, most = sum(each < int(place) for each in records), sum(each <= int(place) for each in records)
            found.append(max(0, lower - (rank - 1), rank - most))
        return max(found)

    weights = np.exp([-float(rate) * distance(places) for places in ALL])
    return np.asarray(weights / weights.sum())


@pytest.mark.parametrize("ranks", [(2, 3), (1, 4), (-1, 7), (0, 2)])
@pytest.mark.parametrize("records", [(1, 2, 2, 5), (0, 0, 0, 0), (5, 5, 5, 5), (0, 1, 4, 5)])
def test_the_layers_are_the_definition(records: tuple[int, ...], ranks: tuple[int, ...]) -> None:
    found = np.exp(choice(records, ranks).log_prob(ALL))
    np.testing.assert_allclose(found, by_definition(records, ranks, RATE), rtol=1e-12)
    assert found.sum() == pytest.approx(1, abs=1e-12)


def test_pinned_probabilities() -> None:
    found = np.exp(choice((1, 2, 2, 5)).log_prob(np.array([[2, 2], [1, 3], [5, 0]])))
    np.testing.assert_allclose(found, [0.0527500728, 0.037172348, 0.0184592417], rtol=1e-8)


def test_the_worst_loss_over_all_neighbours_is_the_pinned_one_and_below_twice_the_rate() -> None:
    sets = list(combinations_with_replacement(range(PLACES), 4))
    logs: dict[tuple[int, ...], Floats] = {each: choice(each).log_prob(ALL) for each in sets}
    worst = 0.0
    for records in sets:
        for index, value in product(range(4), range(PLACES)):
            other = tuple(sorted((*records[:index], value, *records[index + 1 :])))
            worst = max(worst, float(np.abs(logs[records] - logs[other]).max()))
    assert worst == pytest.approx(0.6660220298, abs=1e-9)
    assert worst <= 2 * RATE


@pytest.mark.parametrize(("how", "seed"), [("floats", 1), ("balls", 2)])
def test_draws_follow_the_distribution_by_floats_and_by_ball_arithmetic(how: str, seed: int) -> None:
    made, bits = choice((1, 2, 2, 5), made_by=Balls if how == "balls" else RankChoice), dc.SeededBits(seed)
    drawn = np.array([made.sample(bits) for _ in range(6000)])
    expected = 6000 * np.exp(made.log_prob(ALL))
    seen = np.bincount(drawn[:, 0] * PLACES + drawn[:, 1], minlength=len(ALL))
    assert chi2.sf(float(((seen - expected) ** 2 / expected).sum()), len(ALL) - 1) > 1e-4


def test_a_float_is_never_trusted_beyond_its_error() -> None:
    """Random words at a boundary of two layers are decided by ball arithmetic, and those between are not."""
    made = choice((1, 2, 2, 5), made_by=Recorded)
    weights = np.exp(made.log_weights - made.log_weights.max())
    edge = int(np.cumsum(weights)[1] / weights.sum() * 2.0**64)
    ASKED.clear()

    class Fixed:
        def __init__(self, word: int) -> None:
            self.word = word

        def words(self, count: int) -> Any:
            return np.full(count, self.word, dtype=np.uint64)

    for word in (edge, edge - 100, edge + 100):
        made._layer(Fixed(word))
    assert len(ASKED) == 3
    made._layer(Fixed(edge + 2**58))
    assert len(ASKED) == 3


def test_far_places_stay_possible_however_many_records_there_are() -> None:
    below = np.append(0, np.cumsum([0, 100_000, 0, 0, 0, 0]))
    found = RankChoice(Fraction(1), below, np.array([50_000, 50_000]), 150_002).log_prob(np.array([[5, 1], [1, 1]]))
    assert np.isfinite(found).all()
    assert found[1] - found[0] == pytest.approx(50_001, rel=1e-9)  # no record lies above the place 1
