"""What readers of a regression do: other priors, several releases, draws, and what is refused."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

import discreet as dc
from discreet.draws import BallDraw
from discreet.inference import Problem, why_unreadable
from discreet.regression import BoxMoments, GaussianMoments, InverseGamma, LinearRegression, read_regression
from discreet.regression._solver import MomentsSolver, tempered
from discreet_papers.as_published.regression_points import adaptive_ridge, plug_in_regression
from pinned_regression import NAMES, PRIOR_SD, pinned_model, pinned_records, target_of


def test_unknown_noise_is_learnt_and_levels_and_units_come_back() -> None:
    ward = dc.Column("ward", ("A", "B"), outside="A")
    bounds = {"age": (0, 100), "y": (0, 200)}
    model = LinearRegression("y", ["age", ward], bounds, prior_precision="0.1", missing="middle")
    generator, size = np.random.default_rng(7), 20_000
    age, place = generator.uniform(0, 100, size), generator.integers(2, size=size)
    y = 60 + 0.5 * age + 10 * place + generator.normal(0, 8, size)
    data = {"age": age.tolist(), "ward": ["AB"[p] for p in place], "y": y.tolist()}
    release = dc.simulate(BoxMoments(model, size, 2), model.rehearse(data), dc.SeededBits(8))
    posterior = read_regression(release)
    for name, truth in (("intercept", 60), ("age", 0.5), ("ward=B", 10)):
        assert posterior.mean[name] == pytest.approx(truth, abs=4 * posterior.sd[name])
    assert posterior.noise.mean == pytest.approx(8, abs=4 * posterior.noise.sd)
    (forecast,) = posterior.predict({"age": [40], "ward": ["B"]})
    assert forecast.mean == pytest.approx(90, abs=2)
    assert forecast.high - forecast.low == pytest.approx(2 * 1.645 * 8, rel=0.15)
    assert "ward=B" in str(posterior)
    assert posterior.coefficient("age").mean == pytest.approx(posterior.mean["age"], abs=posterior.sd["age"])


def test_a_reading_repeats_and_draws_have_the_right_shape() -> None:
    generator = np.random.default_rng(9)
    _, data = pinned_records(2000, generator)
    model = pinned_model()
    release = dc.simulate(GaussianMoments(model, 2000, 1, "1e-6"), model.rehearse(data), dc.SeededBits(9))
    first, second = (read_regression(release, seed=3) for _ in range(2))
    assert first.mean == second.mean
    assert (first.draws(50, seed=1)["coefficient"] == second.draws(50, seed=1)["coefficient"]).all()
    assert first.draws(50, seed=1)["coefficient"].shape == (50, 4)
    level = first.interval("a", 0.5).width
    assert 0 < level < first.interval("a", 0.95).width
    with pytest.raises(dc.DeclarationError, match="no quantity 'z'"):
        first.coefficient("z")


def test_two_releases_say_more_than_one() -> None:
    generator, size = np.random.default_rng(10), 3000
    _, data = pinned_records(size, generator)
    model = pinned_model()
    bits, moments = dc.SeededBits(10), model.rehearse(data)
    releases = [dc.simulate(BoxMoments(model, size, 1), moments, bits, f"release {k}") for k in range(2)]
    alone = np.mean([sum(read_regression(release).sd.values()) for release in releases])
    assert sum(read_regression(*releases).sd.values()) < 0.9 * alone


def test_constant_and_collinear_features_leave_the_prior_where_the_data_are_silent() -> None:
    generator, size = np.random.default_rng(11), 5000
    _, data = pinned_records(size, generator)
    model = pinned_model()
    for changed in (data | {"c": [0.0] * size}, data | {"c": data["a"]}):
        release = dc.simulate(BoxMoments(model, size, 5), model.rehearse(changed), dc.SeededBits(11))
        posterior = read_regression(release)
        assert 3 * posterior.sd["b"] < posterior.sd["c"] <= 1.1 * PRIOR_SD / np.sqrt(3)


def test_a_reader_may_bring_another_prior() -> None:
    generator, size = np.random.default_rng(12), 1000
    _, data = pinned_records(size, generator)
    model = pinned_model()
    release = dc.simulate(BoxMoments(model, size, 1), model.rehearse(data), dc.SeededBits(12))
    firm = read_regression(release, model=pinned_model(prior_precision=10_000))
    assert max(abs(value) for value in firm.mean.values()) < 0.02
    with pytest.raises(dc.DeclarationError, match="columns, bounds and grid"):
        read_regression(release, model=pinned_model(grid=1024))


def test_infer_takes_a_readers_prior_in_every_form() -> None:
    generator, size = np.random.default_rng(15), 1000
    _, data = pinned_records(size, generator)
    known, unknown = pinned_model(), pinned_model(noise=InverseGamma(2, "0.08"))
    release = dc.simulate(BoxMoments(known, size, 2), known.rehearse(data), dc.SeededBits(15))
    firm = dc.infer(release, prior=1000)
    assert firm.mean == read_regression(release, model=pinned_model(prior_precision=1000)).mean
    assert not firm.text.has_holders_prior
    assert dc.infer(release.with_prior(1000)).mean == firm.mean
    assert dc.infer(release, prior={"precision": 1000}).mean == firm.mean
    wide = dc.infer(release, prior={"noise": 0.4})
    assert wide.mean == read_regression(release, model=pinned_model(noise="0.4")).mean
    assert wide.noise.mean == pytest.approx(0.4)
    assert dc.infer(release, prior="declared").mean == dc.infer(release).mean
    other = dc.simulate(BoxMoments(unknown, size, 2), unknown.rehearse(data), dc.SeededBits(16))
    told = dc.infer(other, prior={"precision": "100/9", "noise": {"shape": 50, "scale": "4.5"}})
    assert told.noise.mean > dc.infer(other).noise.mean
    evidence = [dc.infer(release, prior=precision).solution.log_evidence for precision in (12, 100_000)]
    assert evidence[0] > evidence[1] + 10  # coefficients that are not 0 speak against a prior that says so
    for wrong, words in (
        ({"noise": {"shape": 1, "scale": 1}}, "declared as known"),
        ({"precision": -1}, "precision of a prior"),
        ({"spread": 1}, "A reader's prior for a regression"),
        ([1, 2], "A reader's prior for a regression"),
        ("learnt", "cannot be learnt"),
        ("flat", "A prior must be a number"),
    ):
        with pytest.raises(dc.DeclarationError, match=words):
            dc.infer(release, prior=wrong)
    with pytest.raises(dc.DeclarationError, match="declared as unknown"):
        dc.infer(other, prior={"noise": 0.2})


def test_plugging_noisy_moments_in_is_too_sure_of_itself() -> None:
    generator, size = np.random.default_rng(13), 2000
    _, data = pinned_records(size, generator)
    model = pinned_model()
    release = dc.simulate(BoxMoments(model, size, 1), model.rehearse(data), dc.SeededBits(13))
    plugged, aware = plug_in_regression(release), read_regression(release)
    assert all(plugged[name][1] < 0.6 * aware.sd[name] for name in NAMES)
    ridge = adaptive_ridge(release)
    assert all(abs(ridge[name]) < 1 for name in NAMES)


def test_a_release_that_says_nothing_gives_the_prior() -> None:
    generator, size = np.random.default_rng(14), 100
    _, data = pinned_records(size, generator)
    model = pinned_model()
    release = dc.simulate(BoxMoments(model, size, "0.05"), model.rehearse(data), dc.SeededBits(14))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.LittleInformationWarning)
        posterior = read_regression(release)
    assert [posterior.sd[name] for name in NAMES] == pytest.approx([PRIOR_SD / np.sqrt(3)] * 3, rel=0.15)


def test_what_cannot_be_read_is_refused() -> None:
    categories = dc.GeometricHistogram(dc.Categories("x", levels=("a", "b"), outside="a"), 10, 1)
    counted = dc.simulate(categories, [5, 5], dc.SeededBits(1))
    with pytest.raises(dc.DeclarationError, match="no noisy moments"):
        read_regression(counted)
    with pytest.raises(dc.DeclarationError, match="one or more releases"):
        read_regression()
    one, other = (
        dc.simulate(BoxMoments(pinned_model(), size, 1), np.zeros(9, dtype=np.int64), dc.SeededBits(1))
        for size in (9, 8)
    )
    with pytest.raises(dc.DeclarationError, match="same records"):
        read_regression(one, other)


def test_a_single_draw_is_refused_with_the_reason() -> None:
    model = pinned_model(norm_bound=1)
    _, data = pinned_records(100, np.random.default_rng(70))
    draw = dc.simulate(BallDraw(model, 100, 4), model.rehearse(data), dc.SeededBits(70))
    with pytest.raises(dc.DeclarationError, match="a draw of the coefficients does not tell how far"):
        dc.infer(draw)


def test_the_work_of_a_reading_is_known_from_public_facts_and_has_an_end() -> None:
    """Many records let 30 coordinates be read; few do not, and that is told before anything is charged."""
    names = [f"x{number}" for number in range(29)]
    model = LinearRegression("y", names, dict.fromkeys((*names, "y"), (-1, 1)), missing="middle")
    assert MomentsSolver().rejection(Problem.before(BoxMoments(model, 10**6, 1))) is None
    why = why_unreadable(BoxMoments(model, 1000, 1))
    assert why is not None
    assert "operations" in why
    small, size = pinned_model(), 200
    _, data = pinned_records(size, np.random.default_rng(81))
    release = dc.simulate(BoxMoments(small, size, "0.05"), small.rehearse(data), dc.SeededBits(82))
    problem = replace(Problem.of([release]), work_limit=1e-4)
    with pytest.raises(dc.DeclarationError, match=r"Nothing was read. patience=0.0004"):
        tempered(target_of(release), np.random.default_rng(1), problem)


def test_what_cannot_be_read_or_predicted_is_refused_in_words() -> None:
    model, size = pinned_model(), 400
    _, data = pinned_records(size, np.random.default_rng(90))
    release = dc.simulate(BoxMoments(model, size, 20), model.rehearse(data), dc.SeededBits(91))
    with pytest.raises(dc.DeclarationError, match="precision of its coefficients"):
        release.with_prior("x")
    with pytest.raises(dc.DeclarationError, match="reader's model"):
        read_regression(release, model="x")  # type: ignore[arg-type]
    with pytest.raises(dc.DeclarationError, match="given twice"):
        read_regression(release, release)
    posterior = read_regression(release)
    row = {"a": [0.5], "b": [0.1], "c": [-1.0]}
    assert posterior.predict(pd.DataFrame(row)) == posterior.predict(pl.DataFrame(row)) == posterior.predict(row)
    for rows in ({"a": [0.5, 0.6], "b": [0.1], "c": [0.0]}, {"a": 0.5, "b": 0.1, "c": 0.0}, 5, None, [1, 2]):
        with pytest.raises(dc.SourceError):
            posterior.predict(rows)
    with pytest.raises(dc.DeclarationError, match="no column 'b', 'c'"):
        posterior.predict({"a": [0.5]})


def cone_of(columns: int, size: int) -> dc.regression.ConeMoments:
    features = [f"x{place}" for place in range(columns - 1)]
    bounds = dict.fromkeys((*features, "y"), (0, 1))
    return dc.regression.ConeMoments(dc.LinearRegression("y", features, bounds, noise="0.5", missing="middle"), size, 1)


def test_moments_that_drown_in_noise_are_refused_with_the_walk_that_they_need() -> None:
    why = why_unreadable(cone_of(12, 1_000))
    assert why is not None
    assert "finding 89 moments of 1000 records behind their noise takes about" in why
    assert why_unreadable(cone_of(12, 100_000)) is None
    assert why_unreadable(cone_of(8, 1_000)) is None
