"""The reproductions of Zhang, Rubinstein and Dimitrakakis (2016) have the digits that are written about them."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta

import discreet as dc
from discreet_papers import Outcome, as_published, reproduction_named
from discreet_papers.figure_1_004 import (
    fourier_counts,
    fourier_updates,
    laplace_updates,
    readings,
    without_privacy,
)
from discreet_papers.figure_1_004.setting import FEATURES, NETWORK, plug_in_scores, predictive, scores, splits
from discreet_papers.paper_004 import appendix_d_privacy, figure_2


def outcome(name: str) -> Outcome:
    return reproduction_named(name).run(True)


def row(found: Outcome, **where: Any) -> dict[str, Any]:
    return next(row for row in found.rows if all(row[key] == value for key, value in where.items()))


def test_the_sensitivity_is_attained_in_every_network() -> None:
    for found in outcome("004-lemma-1").rows:
        assert found["largest_distance"] == found["bound"] == 2 * found["variables"]
        assert found["epsilon_at_1"] == 1


def test_the_noise_of_sixteen_features_has_its_digits() -> None:
    found = row(outcome("004-algorithm-1"), features=16)
    assert found["scale"] == 34
    assert found["cell_sd"] == pytest.approx(48.08, abs=5e-3)
    assert found["count_sd"] == pytest.approx(34.00, abs=5e-3)
    assert found["cube_count_sd"] == pytest.approx(10.78, abs=0.05)


def test_proposition_1_is_nearly_exact() -> None:
    found = row(outcome("004-proposition-1"), delta=0.05)
    assert (round(found["bound"], 3), round(found["exact_quantile"], 3)) == (244.303, 243.448)
    assert found["integer_quantile"] == 243
    assert found["chance_beyond_bound"] == pytest.approx(0.0488, abs=5e-5)


def test_the_printed_mean_of_a_truncated_count_leaves_its_range() -> None:
    found = row(outcome("004-mean-of-z"), count=45)
    assert found["printed"] == pytest.approx(57.19, abs=5e-3)
    assert found["exact"] == pytest.approx(42.0229, abs=5e-5)


def test_lemma_a3_is_about_another_function() -> None:
    found = row(outcome("004-lemma-a3"), first_noisy_count=12)
    assert found["divergence"] == pytest.approx(1.12336, abs=5e-6)
    assert found["printed_function"] == pytest.approx(22.4533, abs=5e-5)
    assert found["printed_function"] > found["lemma_bound"]


def test_theorem_1_needs_squares() -> None:
    rows = outcome("004-theorem-1-deviation").rows
    assert rows[0]["beyond_printed"] == pytest.approx(0.491, abs=5e-4)
    assert all(found["beyond_proved"] <= 0.05 for found in rows)


def test_the_refined_mean_of_theorem_1_is_too_small() -> None:
    found = row(outcome("004-theorem-1-mean"), epsilon=1.0)
    assert found["mean"] == pytest.approx(0.5613, abs=5e-5)
    assert found["refined_bound"] == pytest.approx(2.757e-9, rel=1e-3)


def test_figure_1_has_the_shape_that_the_paper_describes() -> None:
    found = outcome("004-figure-1")

    def accuracy(epsilon: float, method: str) -> float:
        return float(row(found, epsilon=epsilon, method=method)["accuracy"])

    for method in (laplace_updates.NAME, fourier_updates.NAME, fourier_counts.NAME, readings.AWARE, readings.CUBE):
        assert accuracy(1.0, method) < accuracy(10.0, method) <= accuracy(10.0, without_privacy.NAME) + 0.01
    assert accuracy(1.0, readings.CUBE) > accuracy(1.0, laplace_updates.NAME)


FIGURE_1 = {  # another program, other seeds: 12 sets of probabilities, 25 splits each; standard errors up to 0.008
    laplace_updates: (0.568, 0.637, 0.688, 0.735, 0.803, 0.870, 0.921, 0.946, 0.955),
    fourier_updates: (0.557, 0.616, 0.673, 0.728, 0.788, 0.871, 0.930, 0.947, 0.956),
    fourier_counts: (0.573, 0.663, 0.724, 0.765, 0.834, 0.891, 0.936, 0.950, 0.956),
}


@pytest.mark.parametrize("method", FIGURE_1, ids=lambda module: module.__name__.rpartition(".")[2])
def test_figure_1_agrees_with_an_independent_computation(method: Any) -> None:
    (curve,) = method.CURVES
    for epsilon, expected in zip(("0.5", "1", "1.5", "2", "3", "5", "10", "20", "100"), FIGURE_1[method], strict=True):
        accuracies = curve.scores(splits(60), epsilon)[:, 0]
        between = accuracies.std(ddof=1)  # between sets of probabilities: theirs is a mean of 12, ours of 60
        assert abs(accuracies.mean() - expected) <= 4 * between * np.sqrt(1 / 12 + 1 / 60)
        assert abs(accuracies.mean() - expected) <= 4 * np.hypot(0.008, between / np.sqrt(60))


def test_curves_of_all_repeats_at_once_are_those_of_the_library_one_by_one() -> None:
    records = splits(200).first(4)
    assert np.array_equal(records.counts, splits(4).counts)
    (curve,) = fourier_updates.CURVES
    assert np.array_equal(curve.scores(records, "1"), curve.scores(records, "1"))
    found = laplace_updates.one_release(records, "2", dc.SeededBits(1))
    outputs = as_published.LaplaceUpdates(NETWORK, 50, "2").sample(records.counts.reshape(4, -1), dc.SeededBits(1))
    for repeat, output in enumerate(outputs):
        release = dc.Release(
            as_published.LaplaceUpdates(NETWORK, 50, "2"), tuple(output.tolist()), "made up", simulated=True
        )
        chances = as_published.truncated_reading(release).predict_proba(records.rows(repeat))[None, :, 1]
        assert found[repeat] == pytest.approx(scores(chances, records.truth[[repeat]])[0])


def test_the_kept_runs_of_algorithm_2_have_no_negative_cell() -> None:
    records = splits(4)
    mechanism = as_published.FourierUpdates(NETWORK, 50, "1")
    tables = {name: np.ones((4, *shape)) for name, shape in {"y": (2,), **dict.fromkeys(FEATURES, (2, 2))}.items()}
    assert plug_in_scores(records, tables)[:, 1] == pytest.approx(np.log(2))  # tables that say nothing
    drawn = mechanism.sample(np.tile(records.counts[0].ravel(), (2000, 1)), dc.SeededBits(5))
    passed = mechanism.looks_like_counts(drawn, fourier_updates.SHIFT).mean()
    assert 0.85 < passed < 0.99  # more than nine in ten may pass, as not all cells of these records are empty
    (curve,) = fourier_updates.CURVES
    assert np.isfinite(curve.scores(records, "1")).all()


def test_the_shares_for_classification_meet_two_worst_patterns_at_once() -> None:
    mechanism = fourier_counts.mechanism_at("1")
    rates = dict(zip(mechanism.basis.blocks, mechanism.rates, strict=True))
    assert (rates["y",], rates["x1",], rates["y", "x1"]) == (Fraction(3, 10), Fraction(3, 160), Fraction(7, 160))


def test_counting_is_the_bayes_update_of_example_1() -> None:
    records = np.array([[0, 1], [1, 1], [1, 0], [1, 1]])  # a, b with a -> b
    prior = 2.0, 3.0
    given = records[records[:, 0] == 1, 1]  # the row of b where a = 1
    counted = beta(prior[0] + given.sum(), prior[1] + (1 - given).sum())

    def joint(theta: float) -> float:
        return float(beta(*prior).pdf(theta) * np.prod(np.where(given, theta, 1 - theta)))

    evidence = quad(joint, 0, 1)[0]
    for theta in (0.1, 0.5, 0.9):
        assert joint(theta) / evidence == pytest.approx(counted.pdf(theta), rel=1e-9)


def test_the_predictive_of_appendix_c1_is_an_integral() -> None:
    a, b = 4.0, 2.5
    for x in (0, 1):
        integral = quad(lambda theta, x=x: theta**x * (1 - theta) ** (1 - x) * beta(a, b).pdf(theta), 0, 1)[0]
        assert integral == pytest.approx(a**x * b ** (1 - x) / (a + b), rel=1e-9)


def test_the_predictive_without_privacy_is_what_the_library_reads_without_noise() -> None:
    counts = np.random.default_rng(7).multinomial(50, [0.2, 0.3, 0.4, 0.1]).reshape(2, 2)
    tables = np.stack([counts] * 16)
    test = {name: [0, 1] for name in FEATURES}
    release = dc.simulate(as_published.LaplaceUpdates(NETWORK, 50, 2000), tables.ravel(), dc.SeededBits(1))
    codes = np.array([[[0] * 16, [1] * 16]])
    chances = predictive(tables[0].sum(axis=1)[None].astype(float), tables[None].astype(float), codes)
    assert dc.infer(release).predict_proba(test)[:, 1] == pytest.approx(chances[0], abs=1e-9)


def test_figure_2_has_the_shape_that_the_paper_describes() -> None:
    rows = outcome("004-figure-2").rows
    ridge, draw = ([found[name] for found in rows] for name in ("ridge", "draw"))
    assert ridge == sorted(ridge)
    assert draw == sorted(draw)
    assert all(found["draw"] > found["ridge"] for found in rows)
    assert [round(found["record_epsilon"], 3) for found in rows] == [121, 1.789, 0.4]
    assert all(found["claimed_epsilon"] > 1e5 for found in rows)
    assert all(found["acceptance"] >= 0.02 for found in rows)


@pytest.mark.parametrize("precision", figure_2.PRECISIONS)
def test_every_setting_of_figure_2_keeps_one_draw_in_fifty(precision: int) -> None:
    records = figure_2.made_up(np.random.default_rng([2016, 0]))
    assert figure_2.truncated(records, precision).acceptance(20_000, np.random.default_rng(1)) >= 0.02


def test_the_printed_gradient_is_not_the_gradient() -> None:
    for found in outcome("004-appendix-d-gradient").rows:
        assert found["exact_off_by"] < 1e-9 < 1 < found["printed_off_by"]
        assert found["largest_norm"] == pytest.approx(found["proved_bound"]) == pytest.approx(11 * np.sqrt(101))
        assert found["largest_norm"] > found["printed_bound"]


def test_the_posterior_of_lemma_d1_is_bayes_rule() -> None:
    assert all(found["off_by"] < 1e-10 for found in outcome("004-lemma-d1").rows)


def test_the_printed_privacy_of_a_draw_is_too_small_and_too_large() -> None:
    found = row(outcome("004-appendix-d-privacy"), w=-10.0)
    assert found["printed_1"] == 31
    assert found["largest_loss"] == pytest.approx(59.1, abs=0.05)
    assert found["record_bound"] == 121
    assert found["printed_37000"] == 1_147_000
    assert appendix_d_privacy.largest_range(1, 10.0) == pytest.approx(61.1, abs=0.05)
    assert appendix_d_privacy.largest_range(2, 10.0) == pytest.approx(121, abs=0.1)
    assert appendix_d_privacy.largest_range(2, 0.5) == pytest.approx(2, abs=0.01)


def test_the_truncated_density_of_appendix_d_integrates_to_one() -> None:
    def density(w: float) -> float:
        return float(np.exp(appendix_d_privacy.log_posterior(np.array(w), 0.5, -1.0, 10.0, 0.01)))

    assert quad(density, -10, 10)[0] == pytest.approx(1, abs=1e-9)
