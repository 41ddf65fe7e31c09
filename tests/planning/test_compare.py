"""The ranking of mechanisms under one guarantee."""

import json
from pathlib import Path
from typing import Any

import pytest
from discreet.planning.accuracy import accuracy

import discreet as dc
from discreet.planning.compare import Ranking, compare
from discreet.show.charts import distance_chart, ranking_chart, render

COIN, DIE = (dc.Categories("x", levels=levels, outside=levels[0]) for levels in (("no", "yes"), ("a", "b", "c")))


@pytest.fixture(scope="module")
def pure() -> Ranking:
    return compare(COIN, 20, 1)


@pytest.fixture(scope="module")
def approximate() -> Ranking:
    return compare(COIN, 12, 1, "1e-6")


def test_the_geometric_histogram_comes_first(pure: Ranking, approximate: Ranking) -> None:
    for ranking in (pure, approximate):
        scores = [entry.accuracy.log_score for entry in ranking.entries]
        assert scores == sorted(scores, reverse=True)
        assert ranking.best.name == "GeometricHistogram"


def test_every_mechanism_keeps_the_guarantee_and_may_be_published(pure: Ranking, approximate: Ranking) -> None:
    for ranking in (pure, approximate):
        for entry in ranking.entries:
            guarantee = entry.mechanism.guarantee
            assert guarantee.epsilon <= ranking.epsilon == 1
            assert guarantee.delta <= ranking.delta
            assert guarantee.evidence is not dc.Evidence.CLAIMED
    assert {"DiscreteGaussianHistogram", "HellingerSmooth"} <= {entry.name for entry in approximate.entries}


def test_nothing_is_below_the_floor_and_the_first_reaches_it(pure: Ranking) -> None:
    assert pure.floor is not None
    for entry in pure.entries:
        assert entry.accuracy.remapped_hellinger is not None
        assert entry.accuracy.remapped_hellinger >= pure.floor
    assert pure.best.accuracy.remapped_hellinger == pytest.approx(pure.floor, abs=1e-6)


def test_the_smoothing_is_the_best_of_those_tried(pure: Ranking) -> None:
    from discreet.mechanisms.hellinger_calibrated import SMOOTHINGS, HellingerCalibrated

    (chosen,) = (entry for entry in pure.entries if isinstance(entry.mechanism, HellingerCalibrated))
    mechanisms: list[Any] = [HellingerCalibrated(COIN, 20, 1, 0, smoothing) for smoothing in SMOOTHINGS]
    tried = [accuracy(mechanism).log_score for mechanism in mechanisms]
    assert chosen.accuracy.log_score == max(tried)


def test_mechanisms_that_hardly_look_at_the_data_are_marked(pure: Ranking) -> None:
    assert "mostly the prior" in pure.named("PermuteAndFlip").warning
    assert "mostly the prior" in pure.named("MaximumPosterior").warning
    assert pure.named("HellingerGlobal").warning == ""  # it tells more since its scale uses up epsilon
    assert pure.best.warning == ""
    assert "mostly the prior" in str(pure)


def test_three_cells_say_what_is_left_out() -> None:
    ranking = compare(DIE, 4, "0.7")
    assert ranking.best.name == "GeometricHistogram"
    assert set(ranking.left_out) == {"PosteriorSampling"}
    assert ranking.floor is not None


def test_large_tables_are_simulated_with_their_error() -> None:
    ranking = compare(dc.Categories("x", levels=tuple(range(6)), outside=0), 300, 1, repeats=4)
    assert ranking.floor is None
    assert ranking.best.accuracy.errors["log_score"] > 0
    assert "HellingerGlobal" in ranking.left_out
    assert "+-" in str(ranking)


def test_a_ranking_is_a_document_and_a_picture(pure: Ranking) -> None:
    document = json.loads(json.dumps(pure.document(), allow_nan=False))
    assert document["entries"][0]["name"] == "GeometricHistogram"
    assert document["epsilon"] == "1"
    assert document["floor"] == pytest.approx(0.147664, abs=1e-6)
    chart = ranking_chart(pure)
    assert [row["score"] for row in chart["data"]["values"]] == [entry.accuracy.log_score for entry in pure.entries]
    json.dumps(chart, allow_nan=False)


def test_names_and_arguments_are_checked(pure: Ranking) -> None:
    with pytest.raises(dc.DeclarationError, match="'x' is not in this ranking"):
        pure.named("x")
    for epsilon, delta in (("0", "0"), ("1", "1")):
        with pytest.raises(dc.DeclarationError):
            compare(COIN, 5, epsilon, delta)
    with pytest.raises(dc.DeclarationError, match="Categories"):
        compare("a model", 5, 1)  # type: ignore[call-overload]


def test_pictures_are_drawn(pure: Ranking, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    render(ranking_chart(pure), tmp_path / "ranking.svg")
    assert "GeometricHistogram" in (tmp_path / "ranking.svg").read_text()
    chart = distance_chart(accuracy(dc.GeometricHistogram(COIN, 10, 1)))
    assert len(chart["data"]["values"]) == 11
    with pytest.raises(dc.DeclarationError, match="two cells"):
        distance_chart(accuracy(dc.GeometricHistogram(DIE, 3, 1)))
