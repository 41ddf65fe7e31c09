"""Accuracy of Hellinger mechanisms whose candidates cannot be listed."""

import numpy as np
import pytest

import discreet as dc
from discreet_papers.exact_sums.distance_accuracy import distance_accuracy
from discreet_papers.exact_sums.ranking import exact_ranking


def model_of(cells: int) -> dc.Categories:
    return dc.Categories("x", levels=tuple(f"level {number}" for number in range(cells)), outside="level 0")


def test_distances_agree_with_a_list_of_all_candidates() -> None:
    mechanism = dc.choices.HellingerReciprocal(model_of(3), 30, 4)
    found = distance_accuracy(mechanism, repeats=5, seed=3)
    generator = np.random.default_rng(3)
    tables = np.stack([mechanism.model.simulate(30, generator).statistics for _ in range(5)])
    distances = mechanism.tables.distances(tables)
    laws = np.exp(np.stack([mechanism.log_prob(mechanism.tables.all, table) for table in tables]))
    assert found.hellinger == pytest.approx((laws * distances).sum(axis=1).mean(), abs=1e-9)
    assert found.hellinger_square == pytest.approx((laws * distances**2).sum(axis=1).mean(), abs=1e-9)
    assert found.truth == pytest.approx(laws.max(axis=1).mean(), abs=1e-9)
    assert found.errors["hellinger"] == pytest.approx((laws * distances).sum(axis=1).std(ddof=1) / np.sqrt(5), abs=1e-9)
    assert found.gap < 1e-9


def test_a_draw_that_says_nothing_is_marked_at_any_size() -> None:
    nothing = distance_accuracy(dc.choices.HellingerGlobal(model_of(4), 600, 1), repeats=3)
    assert nothing.uniform_share > 0.99
    assert "its output hardly depends on the data" in nothing.warning
    assert nothing.document()["warning"] == nothing.warning
    telling = distance_accuracy(dc.choices.HellingerReciprocal(model_of(4), 600, 40), repeats=3)
    assert telling.hellinger < 0.2
    assert telling.warning == ""


def test_a_ranking_says_what_is_known_without_a_log_score() -> None:
    ranking = exact_ranking(model_of(4), 600, 1, repeats=2)
    assert "its output hardly depends on the data" in ranking.left_out["HellingerGlobal"]


def test_two_cells_are_ranked_by_exact_sums_above_the_floor() -> None:
    coin = dc.Categories("x", levels=("no", "yes"), outside="no")
    ranking = exact_ranking(coin, 20, 1)
    assert ranking.floor is not None
    assert ranking.floor == pytest.approx(0.147664, abs=1e-6)
    assert ranking.entries[0].name == "GeometricHistogram"
    for entry in ranking.entries:
        assert entry.accuracy.remapped_hellinger is not None
        assert entry.accuracy.remapped_hellinger >= ranking.floor
    assert ranking.entries[0].accuracy.remapped_hellinger == pytest.approx(ranking.floor, abs=1e-6)
