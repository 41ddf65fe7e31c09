"""The reproductions of the notes have the printed digits, and those that are written about them."""

from math import exp, log, log1p

import numpy as np
import pytest

from discreet.choices._hellinger_sensitivity import global_sensitivity
from discreet.mathematics._divergences import hellinger, hockey_stick
from discreet_papers import Outcome, as_published, reproduction_named
from discreet_papers.paper_003 import (
    DistanceLaw,
    exponential_law,
    floored_law,
    laplace_law,
    model_of,
    smooth_law,
    smooth_of,
)
from discreet_papers.paper_003.figure_4 import PRINTED_GAMMA, PRINTED_GLOBAL, gamma_with_n


def outcome(name: str) -> Outcome:
    return reproduction_named(name).run(True)


def digits(value: float) -> str:
    """Return a number as the notes print it."""
    return "0.0" if value == 0 else f"{value:.12g}"


def test_every_printed_digit_of_table_1() -> None:
    for row in outcome("003-table-1").rows:
        for key in ("distance", "exponential", "laplace"):
            assert digits(row[key]) == row[f"printed_{key}"]


def test_the_columns_of_table_1_cost_more_than_they_say() -> None:
    verdict = outcome("003-table-1").verdict
    assert "0.9966-private" in verdict
    assert "1.0932" in verdict


def test_every_printed_digit_of_table_2() -> None:
    rows = outcome("003-table-2").rows
    for row in rows[:4]:
        for key in ("distance", "exponential", "laplace"):
            assert digits(row[key]) == row[f"printed_{key}"]


def test_two_steps_have_three_distances() -> None:
    found = [row["distance"] for row in outcome("003-table-2").rows if row["steps"] == 2]
    assert found == pytest.approx([0.187421762881, 0.191973996583, 0.218471931415], abs=6e-13)


def test_figure_11_has_its_digits() -> None:
    found = {row["size"]: row["epsilon_over_all_data"] for row in outcome("003-figure-11").rows}
    assert found == pytest.approx({90: 0.425352581839, 120: 0.422087625504, 180: 0.417985117395}, abs=6e-13)


def test_figure_6_turns_at_the_printed_sizes() -> None:
    verdict = outcome("003-figure-6").verdict
    assert "from n = 12 in two dimensions and from n = 15 in three" in verdict
    assert "wins again from n = 450 on" in verdict


def test_noise_of_the_right_scale_wins_from_six_records_on() -> None:
    for size in range(2, 31, 2):
        counts = (size // 2, size // 2)
        noise = as_published.FlooredLaplace(model_of((1, 1)), size, "0.8", 1, 1)
        assert (smooth_law((1, 1), counts).mean > laplace_law(noise, counts).mean) == (size >= 6)


def test_the_captions_of_figure_4() -> None:
    assert {size: digits(gamma_with_n(size)) for size in PRINTED_GAMMA} == PRINTED_GAMMA
    assert digits(hellinger((7, 4, 5), (8, 3, 5))) == PRINTED_GLOBAL
    assert digits(global_sensitivity(np.array([7.0, 4.0, 5.0]), 100)) == "0.233629480709"


def test_figure_3_needs_the_missing_half() -> None:
    found = {row["mechanism"]: row["mean"] for row in outcome("003-figure-3").rows if row["size"] == 500}
    assert found["exponential, smooth"] == pytest.approx(0.1462, abs=5e-5)
    assert found["Laplace, scale 2/epsilon"] == pytest.approx(0.1231, abs=5e-5)
    assert found["exponential, smooth, without the half"] == pytest.approx(0.0609, abs=5e-5)
    assert found["Laplace, scale 1/epsilon, rounded"] == pytest.approx(0.0616, abs=5e-5)
    assert found["exponential, global"] == pytest.approx(0.8318, abs=5e-5)


def test_both_measures_of_figure_5_rank_alike() -> None:
    rows = outcome("003-figure-5").rows
    by_distance = sorted(rows, key=lambda row: row["mean"])
    assert by_distance[0]["mechanism"] == "Laplace, scale 2/epsilon"
    assert by_distance == sorted(rows, key=lambda row: row["l1_mean"])


def test_the_dimension_hardly_moves_the_turn() -> None:
    verdict = outcome("003-figure-7").verdict
    assert all(words in verdict for words in ("n = 10", "3 dimensions (n = 12)", "4 dimensions (n = 12)"))


def test_only_balanced_data_of_ten_records_win() -> None:
    assert "with 4, 5 ones among 10." in outcome("003-figure-8").verdict


def test_figure_9_ties_at_prior_four() -> None:
    rows = outcome("003-figure-9").rows
    means = {alpha: [row["mean"] for row in rows if row["prior"] == alpha] for alpha in (1, 4)}
    assert means[1] == pytest.approx([0.668, 0.619], abs=5e-4)
    assert means[4] == pytest.approx([0.5217, 0.5216], abs=5e-5)


def test_a_growing_prior_helps_both() -> None:
    verdict = outcome("003-figure-10").verdict
    assert "exponential with 5 ones from 0.4145 to 0.1925, by 54%" in verdict
    assert "Laplace with 5 ones from 0.4228 to 0.2328, by 45%" in verdict


@pytest.mark.parametrize("name", ["003-figure-1", "003-figure-2"])
def test_the_largest_values_are_where_the_notes_say(name: str) -> None:
    rows = outcome(name).rows
    if name == "003-figure-1":
        own = [row["local"] for row in rows if row["total"] == 24]
        assert own.index(min(own)) == 11
    else:
        own = [row["largest_change"] for row in rows if row["truth"] == 10]
        assert own[10] == max(own)


def test_distances_do_not_come_in_pairs_at_unbalanced_data() -> None:
    ones = exponential_law((1, 1), (2, 6), 1.0).distances
    assert np.diff(np.sort(ones)).min() > 1e-3
    balanced = exponential_law((1, 1), (4, 4), 1.0).distances
    assert len(np.unique(balanced.round(12))) == 5


def test_a_shifted_score_is_not_attained() -> None:
    """The right sides of lemmas 2.1 and 2.2 are delta/2 there, and the left sides are not."""
    law, smooth = smooth_law((1, 1), (4, 4), "1", "1e-8"), smooth_of((1, 1), (4, 4), "1", "1e-8")
    for shifted in (law.distances + smooth / 2, law.distances[law.distances > 0] * exp(0.01)):
        assert np.abs(shifted[:, None] - law.distances).min() > 1e-4
    assert law.chances.min() > 1e-2


def test_the_argument_of_lemma_2_3_would_prove_too_much() -> None:
    """Three data sets w - x - y in a row and 1,020 candidates of two kinds; the score obeys all that the proof uses."""
    epsilon, delta, many, few = 1.0, 1e-8, 1000, 20
    gamma = log1p(epsilon / (2 * log(2 * (many + few) / delta)))
    small = exp(-gamma)
    scores = {"w": (1.0, 4.0), "x": (1.0, 5.0), "y": (1 - small, 5 + small)}

    def local(*pair: str) -> float:
        return max(abs(a - b) for a, b in zip(scores[pair[0]], scores[pair[1]], strict=True))

    sensitivity = {"w": local("w", "x"), "x": max(local("w", "x"), local("x", "y")), "y": local("x", "y")}
    smooth = {"x": sensitivity["x"], "y": max(sensitivity["y"], sensitivity["x"] * small)}
    laws = {}
    for name, scale in smooth.items():
        weights = np.repeat(np.exp(-epsilon / 2 * np.array(scores[name]) / scale), (many, few))
        laws[name] = weights / weights.sum()
    found = max(
        hockey_stick(laws["x"], laws["y"], 1),
        hockey_stick(laws["y"], laws["x"], 1),
    )
    assert found == pytest.approx(9.715534388073e-05, rel=1e-6)
    assert found > 9000 * delta


@pytest.mark.parametrize("distance", [0.1, 0.3, 0.5, 0.9])
def test_the_tail_bounds_hold_with_the_half_in_the_exponent(distance: float) -> None:
    counts, candidates = (200, 200), 401
    smooth, largest = smooth_of((1, 1), counts, "1", "1e-8"), global_sensitivity(np.ones(2), 400)
    for scale in (0.5 / smooth, 0.5 / largest):
        law = exponential_law((1, 1), counts, scale)
        normaliser = 1 / law.chances.max()
        tail = 1 - law.within(distance)
        assert tail <= candidates * exp(-scale * distance) / normaliser
        assert tail <= candidates * exp(-scale * distance)


def test_the_printed_tail_is_far_too_small() -> None:
    smooth = smooth_of((1, 1), (200, 200), "1", "1e-8")
    law = exponential_law((1, 1), (200, 200), 0.5 / smooth)
    far = law.distances >= 0.5
    assert law.chances[far].sum() == pytest.approx(1.05e-3, rel=5e-3)
    assert (law.chances[far] ** 2 * law.chances.max() ** -1).sum() == pytest.approx(3.4e-7, rel=2e-2)


def test_accuracy_improves_as_the_sensitivity_falls() -> None:
    means = [exponential_law((1, 1), (10, 10), 0.4 / sensitivity).mean for sensitivity in (0.4, 0.2, 0.1)]
    assert means[0] > means[1] > means[2]


def test_laws_are_probabilities_and_quantiles_are_theirs() -> None:
    for law in (floored_law((1, 1, 1), (5, 5, 5)), smooth_law((7, 4), (6, 4)), floored_law((1,) * 4, (2,) * 4)):
        assert law.chances.sum() == pytest.approx(1, abs=1e-12)
        assert law.quantile(0.25) <= law.quantile(0.5) <= law.quantile(0.75)
        assert law.within(law.quantile(0.5)) >= 0.5 - 1e-12
    assert DistanceLaw(np.array([0.0, 1.0]), np.array([0.4, 0.6])).quantile(0.4) == 0


def test_laplace_laws_are_those_of_draws() -> None:
    mechanism = as_published.FlooredLaplace(model_of((1, 2, 3)), 12, "0.8", 2, 2)
    generator = np.random.default_rng(5)
    noise = np.floor(generator.laplace(scale=2.5, size=(4000, 2))).astype(int)
    noisy = np.clip(np.array([4, 5]) + noise, 0, 12)
    last = np.maximum(12 - noisy.sum(axis=1), 0)
    draws = [hellinger((5, 7, 6), (1 + a, 2 + b, 3 + c)) for (a, b), c in zip(noisy, last, strict=True)]
    assert laplace_law(mechanism, (4, 5, 3)).mean == pytest.approx(np.mean(draws), abs=4 * float(np.std(draws)) / 63)
