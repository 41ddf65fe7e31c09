"""What goes to ArviZ: chains and draws, log likelihoods, predictive outputs and the prior, read back and compared."""

import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

import discreet as dc
from discreet.inference import PosteriorSample
from discreet.inference._arviz import log_likelihoods_of
from discreet.networks._simulate import counts_of, simulated_records, simulated_tables
from discreet.regression._posterior import new_targets

pytest.importorskip("arviz_base", reason="ArviZ is an optional extra")
ALL = {"posterior", "sample_stats", "log_likelihood", "posterior_predictive", "prior", "prior_predictive"}
LOOP = dc.Network.from_edges("a -> b -> d", "a -> c -> d", levels=dict.fromkeys("abcd", (0, 1)), outside=0, prior=1)
PAIR = dc.Network.from_edges("a -> b", levels={"a": (0, 1), "b": (0, 1, 2)}, outside=0)
TABLE = dc.Categories("x", levels=("a", "b", "c"), outside="a", prior=1)
LINE = dc.LinearRegression("y", ["x"], {"x": (0, 10), "y": (0, 20)}, missing="middle")


def tree_of(posterior: Any, draws: int = 200) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what other libraries warn of is not about us
        return posterior.to_arviz(draws=draws, seed=3)


@cache
def table() -> Any:
    return dc.infer(dc.simulate(dc.GeometricHistogram(TABLE, 30, "0.3"), [5, 10, 15], dc.SeededBits(1), "sales/2026"))


@cache
def pair() -> Any:
    release = dc.simulate(dc.networks.FamilyHistograms(PAIR, 20, 1), [3, 4, 5, 2, 2, 4], dc.SeededBits(1), "b")
    return dc.infer(release, prior=1)


@cache
def loop() -> Any:
    generator = np.random.default_rng(5)
    counts = counts_of(LOOP, simulated_records(LOOP, simulated_tables(LOOP, generator), 400, generator))
    return dc.infer(dc.simulate(dc.networks.FamilyHistograms(LOOP, 400, 1), counts, dc.SeededBits(1), "loop"))


@cache
def line() -> Any:
    x = np.linspace(0, 10, 300)
    y = 2 + 1.5 * x + np.random.default_rng(1).normal(0, 1, 300)
    release = dc.simulate(dc.regression.BoxMoments(LINE, 300, 10), LINE.rehearse({"x": x, "y": y}), dc.SeededBits(1))
    return dc.infer(release)


@cache
def family() -> Any:
    model = dc.PoissonRate("visits", most=3, shape=2, rate=2, outside=3)
    mechanism = dc.draws.PosteriorSampling(model, 200, 5, "0.5", power="0.05")
    return dc.infer(dc.simulate(mechanism, [60, 90, 40, 10], dc.SeededBits(1), "visits"))


@pytest.mark.parametrize("kind", [table, pair, loop, family])
def test_every_group_is_there_with_its_axes(kind: Any) -> None:
    posterior, tree = kind(), tree_of(kind())
    assert set(tree.children) == {*ALL, "observed_data"}
    assert tree.attrs["left_out"] == ""
    assert tree.attrs["method"] == posterior.method
    (release,) = posterior.releases
    (name,) = tree["observed_data"].data_vars
    assert "/" not in name
    assert tree["observed_data"][name].values.tolist() == list(release.output)
    assert set(tree["posterior"].data_vars) == set(tree["prior"].data_vars) == set(posterior.dims)
    for group in ("posterior_predictive", "prior_predictive"):
        assert tree[group][name].dims == ("chain", "draw", f"{name} number")
    shape = tree["posterior"][next(iter(posterior.dims))].shape[:2]
    assert tree["log_likelihood"][name].shape == tree["sample_stats"]["log_likelihood"].shape == shape


def test_chains_stay_chains_and_other_draws_are_independent() -> None:
    posterior = loop()
    tree, reached = tree_of(posterior, draws=700), posterior.solutions[0].counts.diagnostics
    assert tree["posterior"]["d"].shape == (256, 2, 2, 2, 2)
    assert tree.attrs["r_hat"] == reached.r_hat
    assert tree.attrs["effective_size"] == reached.effective_size
    kept = posterior.solutions[0].counts.by_chain(700)
    states = posterior.sample(700, seed=3)
    own = kept[[variable.name for variable in LOOP.variables].index("d")]
    whole = LOOP.split(states.hidden.reshape(256, 2, -1)[7, 1])[[f[-1] for f in LOOP.maximal_families].index("d")]
    np.testing.assert_array_equal(whole.ravel(), own[7, 1].ravel())
    np.testing.assert_allclose(tree["posterior"]["d"].values.mean((0, 1)), posterior.mean_tables()["d"], atol=0.04)
    single = tree_of(table())["posterior"]["theta"]
    assert single.shape == (1, 200, 3)
    np.testing.assert_array_equal(single.values[0], table().draws(200, seed=3)["theta"])
    np.testing.assert_array_equal(tree_of(pair())["posterior"]["b"].values[0], pair().draws(200, seed=3)["b"])


@pytest.mark.parametrize("kind", [table, pair, loop])
def test_log_likelihoods_are_those_of_the_mechanism_at_the_counts_of_each_draw(kind: Any) -> None:
    posterior = kind()
    states, (release,) = posterior.sample(300, seed=3), posterior.releases
    slow = [float(release.mechanism.log_prob(np.array(release.output), row)) for row in states.hidden]
    found = tree_of(posterior, draws=300)["log_likelihood"]
    np.testing.assert_allclose(next(iter(found.data_vars.values())).values.ravel(), slow, atol=1e-9)


@pytest.mark.parametrize("kind", [table, pair, family])
def test_the_prior_and_the_likelihoods_give_the_evidence(kind: Any) -> None:
    """P(release) = E[P(release | counts)] over the prior: 20,000 draws, within 4 of their standard errors."""
    posterior, generator = kind(), np.random.default_rng(4)
    prior = posterior.prior_sample(20_000, generator)
    hidden = None if kind is family else posterior.replicate(prior, generator)
    logs = log_likelihoods_of(posterior, PosteriorSample(prior.parameters, hidden))[0]
    chances = np.exp(logs - logs.max())
    error = chances.std() / np.sqrt(len(chances)) / chances.mean()
    assert error < 0.1
    assert logsumexp(logs) - np.log(len(logs)) == pytest.approx(posterior.log_evidence, abs=4 * error)


def test_predictive_outputs_are_those_of_further_records_with_noise_of_their_own() -> None:
    """Means within 5 standard errors; the variance is that of 30 records, of their shares and of the noise."""
    posterior, tree = table(), tree_of(table(), draws=1_000)
    found = tree["posterior_predictive"]["sales|2026"].values[0]
    theta = posterior.draws(20_000, seed=9)["theta"]
    noise = posterior.releases[0].mechanism.noise.variance[0]
    wanted = 30 * (theta * (1 - theta)).mean(axis=0) + 900 * theta.var(axis=0) + noise
    np.testing.assert_allclose(found.mean(axis=0), 30 * theta.mean(axis=0), atol=5 * np.sqrt(wanted.max() / 1_000))
    np.testing.assert_allclose(found.var(axis=0), wanted, rtol=0.25)
    np.testing.assert_array_equal(found.sum(axis=1), 30)  # this mechanism keeps the number of records


def test_new_targets_have_the_moments_of_records_that_are_drawn() -> None:
    """A slow twin draws 600 times 40 targets: means within 5 standard errors, deviations within 20 %, 5 errors."""
    x, draws = np.linspace(1, 9, 40), 600
    known = LINE.rehearse({"x": x, "y": 10 + 0 * x})
    generator = np.random.default_rng(2)
    coefficients = np.tile([4.0, 1.2], (draws, 1))
    half = LINE.ranges["y"].half
    variance = np.full(draws, float((0.8 / half) ** 2))
    fast = new_targets(LINE, 40, np.tile(np.asarray(known, float), (draws, 1)), coefficients, variance, generator)
    slow = np.stack([LINE.rehearse({"x": x, "y": 4 + 1.2 * x + generator.normal(0, 0.8, 40)}) for _ in range(draws)])
    spread = np.maximum(slow.std(axis=0), 1.0)
    np.testing.assert_array_less(np.abs(fast.mean(axis=0) - slow.mean(axis=0)), 5 * spread * np.sqrt(2 / draws) + 1)
    np.testing.assert_allclose(fast.std(axis=0), slow.std(axis=0), rtol=0.2, atol=1)


def test_what_is_not_known_is_left_out_and_said() -> None:
    tree = tree_of(line())
    assert "prior" in tree.children
    assert set(tree.children) == {*ALL, "observed_data"} - {"prior_predictive"}
    assert "the prior says nothing about the features" in tree.attrs["left_out"]
    numbers = dc.NumberTable("age", (0, 100), 10, missing=0)
    ages = numbers.rehearse({"age": [20, 30, 40, 50, 60] * 10})
    tree = tree_of(dc.infer(dc.simulate(dc.numbers.TreeTable(numbers, 50, 1), ages, dc.SeededBits(1), "ages")))
    assert set(tree.children) == {*ALL, "observed_data"} - {"prior", "prior_predictive"}
    assert "tests that are valid for any records" in tree.attrs["left_out"]


def test_margins_that_are_read_along_have_likelihoods_and_predictions_of_their_own() -> None:
    wide = loop().releases[0]
    margin = dc.Categories("a", levels=(0, 1), outside=0)
    own = dc.simulate(dc.GeometricHistogram(margin, 400, 1), [150, 250], dc.SeededBits(2), "loop")
    posterior = loop()
    both = type(posterior)(posterior.model, (wide, own), posterior.solutions)
    tree = tree_of(both)
    assert set(tree["log_likelihood"].data_vars) == {"loop (1)", "loop (2)"}
    states = both.sample(200, seed=3)
    ones = LOOP.split(states.hidden)[0].sum(axis=2)
    slow = own.mechanism.log_prob(np.array(own.output), ones)
    np.testing.assert_allclose(tree["log_likelihood"]["loop (2)"].values.ravel(), slow, atol=1e-9)
    assert tree["posterior_predictive"]["loop (2)"].shape[-1] == 2


def test_a_file_holds_what_the_tree_holds(tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table().to_netcdf(tmp_path / "table.nc", draws=200, seed=3)
        found = xarray.open_datatree(tmp_path / "table.nc", engine="h5netcdf").load()
    tree = tree_of(table())
    assert set(found.children) == set(tree.children)
    assert found.attrs["method"] == tree.attrs["method"]
    for group in tree.children:
        for name in tree[group].data_vars:
            np.testing.assert_array_equal(found[group][name].values, tree[group][name].values)
    assert found["posterior"]["cell"].values.tolist() == ["a", "b", "c"]


def test_what_takes_too_long_is_left_out_and_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.inference._arviz._OPERATIONS", 10.0)
    tree = tree_of(table())
    assert set(tree.children) == {"posterior", "prior", "observed_data", "sample_stats"}
    assert "fewer draws need fewer" in tree.attrs["left_out"]


@cache
def sums() -> tuple[Any, Any]:
    """Return made-up ages by ward, of which every tenth is missing, and what a release of their sums tells."""
    model = dc.NumberSums("age", (0, 100), ("mean", "sum", "variance"), by=dc.Column("ward", ("A", "B"), outside="A"))
    release = dc.simulate(dc.numbers.GeometricSums(model, 400, 2), ages(model, 0), dc.SeededBits(1), "ages")
    return model, dc.infer(release)


def ages(model: Any, seed: int) -> Any:
    generator = np.random.default_rng(seed)
    values = [float(age) if generator.random() > 0.1 else None for age in 100 * generator.beta(4, 6, 400)]
    return model.rehearse({"age": values, "ward": generator.choice(["A", "B"], 400, p=[0.3, 0.7]).tolist()})


def test_sums_of_numbers_travel_with_likelihoods_and_further_records() -> None:
    """Other records have the same moments: means of 1,000 draws within 4 % of records, deviations within 25 %.

    A predicted sum varies by the records behind it, by as many further ones and by both noises.
    """
    model, posterior = sums()
    tree, (release,) = tree_of(posterior, draws=1_000), posterior.releases
    assert set(tree.children) == {*ALL, "observed_data"} - {"prior", "prior_predictive"}
    states = posterior.sample(1_000, seed=3)
    slow = [float(release.mechanism.log_prob(np.array(release.output), row)) for row in states.hidden[:50]]
    np.testing.assert_allclose(tree["log_likelihood"]["ages"].values[0, :50], slow, atol=1e-6)
    for name, drawn in posterior.draws(4_000, seed=1).items():
        own = tree["posterior"][name].values[0]
        np.testing.assert_allclose(own.mean(axis=0), drawn.mean(axis=0), atol=float(drawn.std(axis=0).max()) / 4)
        np.testing.assert_allclose(own.std(axis=0), drawn.std(axis=0), rtol=0.35)
    found = tree["posterior_predictive"]["ages"].values[0] / model.unit
    np.testing.assert_allclose(found.reshape(-1, 2, 5).sum(axis=2), 400, atol=1e-9)
    others = np.stack([ages(model, seed) for seed in range(1, 121)]) / model.unit
    noise = np.concatenate([m.noise.variance for m in release.mechanism.evidence(np.array(release.output))])
    wanted = np.sqrt(2 * others.var(axis=0) + 2 * noise / model.unit**2)
    np.testing.assert_allclose(found.mean(axis=0), np.array(release.output) / model.unit, atol=16)
    np.testing.assert_allclose(found.std(axis=0), wanted, rtol=0.25)


@pytest.fixture(scope="module")
def pooled() -> Any:
    crossed = dc.Categories(("g", "e"), levels={"g": tuple("abcd"), "e": (0, 1)}, outside={"g": "a", "e": 0})
    counts = [12, 28, 30, 5, 20, 20, 44, 41]
    return dc.infer(dc.simulate(dc.GeometricHistogram(crossed, 200, 1), counts, dc.SeededBits(2), "rates")).pooled(
        "e=1", by="g"
    )


def test_pooled_rates_travel_with_every_group(pooled: Any) -> None:
    """Likelihoods are the mechanism's own at the cells of each draw; predicted tables are those of 200 records."""
    tree, states, (release,) = tree_of(pooled, draws=1_000), pooled.sample(1_000, seed=3), pooled.releases
    assert set(tree.children) == {*ALL, "observed_data"}
    cells = states.hidden.reshape(-1, 4, 2)[:, :, ::-1].reshape(-1, 8)  # the event is the second level
    slow = release.mechanism.log_prob(np.array(release.output), cells)
    np.testing.assert_allclose(tree["log_likelihood"]["rates"].values[0], slow, atol=1e-9)
    np.testing.assert_array_equal(tree["posterior"]["rate"].values[0], pooled.draws(1_000, seed=3)["rate"])
    found = tree["posterior_predictive"]["rates"].values[0]
    np.testing.assert_array_equal(found.sum(axis=1), 200)
    np.testing.assert_allclose(found.mean(axis=0), cells.mean(axis=0), atol=3)
    before = tree["prior"]["rate"].values[0]
    assert before.mean() == pytest.approx(0.5, abs=0.05)
    alike = np.corrcoef(before[:, 0], before[:, 1])[0, 1]
    assert alike == pytest.approx(0.5, abs=0.12)  # E[kappa / (1 + kappa)] = 1/2: 1/(1 + kappa) is uniform


def test_pooled_rates_of_sums_of_cells_predict_no_cells() -> None:
    crossed = dc.Categories(("g", "e"), levels={"g": tuple("abc"), "e": (0, 1, 2)}, outside={"g": "a", "e": 0})
    release = dc.simulate(dc.GeometricHistogram(crossed, 90, 1), [10] * 9, dc.SeededBits(2), "rates")
    tree = tree_of(dc.infer(release).pooled("e=0", by="g"))
    assert "posterior_predictive" not in tree.children
    assert "say nothing about the single cells of a sum" in tree.attrs["left_out"]
