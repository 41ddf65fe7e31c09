"""One posterior for users: every kind has the same methods by key, and what they say fits together and is right."""

import inspect
import json
import warnings
from collections.abc import Callable, Hashable
from functools import cache
from importlib import import_module
from itertools import product
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import betainc, gammaln, logsumexp

import discreet as dc
from discreet._core.kinds import POSTERIORS
from discreet._core.on_demand import load_all_kinds
from discreet.inference import DAYS, Comparison, Posterior, PosteriorProbability
from discreet.tables._margins import MarginPosterior

YES_NO = ("no", "yes")
SMOKING = dc.Categories("smoking", levels=("never", "former", "current"), outside="never")
ONE_RECORD = 1 / 200
"""Shares of some 200 records, and what tests say of them, are no finer."""
FALLS = dc.Categories(
    ("ward", "fall"), levels={"ward": ("A", "B", "C"), "fall": YES_NO}, outside={"ward": "A", "fall": "no"}
)
REGION = dc.Column("region", ("West", "East"), outside="West")
VISITS = dc.Column("visits", range(7), outside=6)
RECORDS = {
    "pay": [20.0, 40.0, 60.0] * 200 + [30.0, 50.0, 70.0] * 200,
    "region": ["West"] * 600 + ["East"] * 600,
    "weight": [1.0] * 1200,
}


def released(mechanism: Any, statistics: Any) -> Any:
    return dc.simulate(mechanism, statistics, dc.SeededBits(3), "made up")


def numbers(model: Any, kind: Any, epsilon: Any = 2) -> Any:
    return released(kind(model, 1200, epsilon), model.rehearse(RECORDS))


def secret_numbers(model: Any, kind: Any) -> Any:
    return released(kind(model, 2), model.rehearse(RECORDS))


def table() -> Any:
    return dc.infer(released(dc.GeometricHistogram(SMOKING, 500, 1), [300, 120, 80]))


def crossed() -> Any:
    return dc.infer(released(dc.GeometricHistogram(FALLS, 600, 2), [160, 40, 140, 60, 120, 80]))


def network() -> Any:
    model = dc.Network.from_edges("smoker -> ill", levels={"smoker": YES_NO, "ill": YES_NO}, outside="no")
    return dc.infer(released(dc.FamilyHistograms(model, 200, 2), [90, 30, 40, 40]))


def synthesis() -> Any:
    model = dc.Synthesis(
        ("smoker", "ill", "ward"), levels={"smoker": YES_NO, "ill": YES_NO, "ward": ("A", "B", "C")},
        outside={"smoker": "no", "ill": "no", "ward": "A"},
    )  # fmt: skip
    made = model.simulate(2000, np.random.default_rng(6)).statistics
    return dc.infer(released(dc.synthesis.PairGaussians(model, 2000, 2, "1e-6"), made))


def regression() -> Any:
    model = dc.LinearRegression("y", ["x"], {"x": (0, 10), "y": (0, 20)}, missing="middle")
    x = np.linspace(0, 10, 300)
    y = 2 + 1.5 * x + np.random.default_rng(1).normal(0, 1, 300)
    return dc.infer(released(dc.regression.BoxMoments(model, 300, 10), model.rehearse({"x": x, "y": y})))


def weighted_regression() -> Any:
    model = dc.WeightedRegression("y", ["x"], {"x": (0, 10), "y": (0, 20)})
    x = np.linspace(0, 10, 2000)
    y = 2 + 1.5 * x + np.random.default_rng(1).normal(0, 1, 2000)
    return dc.infer(released(dc.BallMoments(model, 2000, 4), model.rehearse({"x": x, "y": y})))


def family() -> Any:
    model = dc.PoissonRate("visits", most=3, shape=2, rate=2, outside=3)
    return dc.infer(released(dc.PosteriorSampling(model, 200, 5, "0.5", power="0.05"), [60, 90, 40, 10]))


def program() -> Any:
    plain = released(dc.GeometricHistogram(FALLS, 600, 2), [160, 40, 140, 60, 120, 80])
    return dc.infer(plain, model="fall ~ ward")


def means() -> Any:
    model = dc.NumberSums("pay", (0, 100), asks=("mean",), by=REGION)
    return dc.infer(numbers(model, dc.GeometricSums))


def statistics() -> Any:
    model = dc.NumberSums("pay", (0, 100), asks=("mean", "sum", "variance"))
    return dc.infer(numbers(model, dc.GeometricSums))


def weighted() -> Any:
    model = dc.WeightedSums(
        "pay", (0, 100), asks=("mean", "sum"), by=REGION, weights=dc.Weights("weight", 2, "fixed by design")
    )
    return dc.infer(numbers(model, dc.GeometricSums))


def quantiles() -> Any:
    model = dc.NumberTable("pay", (0, 100), 20, asks=("quantiles", "distribution", "mean"), quantiles=("0.5", "0.9"))
    return dc.infer(numbers(model, dc.TreeTable))


def medians() -> Any:
    model = dc.NumberTable("pay", (0, 100), 20, quantiles=("0.5",), by=REGION)
    return dc.infer(numbers(model, dc.TreeTable))


def chosen_by_group() -> Any:
    model = dc.NumberQuantiles("pay", (0, 100), ("0.5",), by=REGION)
    return dc.infer(numbers(model, dc.numbers.ChosenTable))


def secret_means() -> Any:
    model = dc.NumberSums("pay", (0, 100), asks=("mean", "variance"), by=REGION)
    return dc.infer(secret_numbers(model, dc.CubeSums))


def secret_weighted() -> Any:
    model = dc.WeightedSums("pay", (0, 100), asks=("mean", "sum"), weights=dc.Weights("weight", 2, "fixed by design"))
    return dc.infer(secret_numbers(model, dc.LaplaceSums))


def secret_quantiles() -> Any:
    model = dc.NumberTable("pay", (0, 100), 20, asks=("quantiles", "distribution"), quantiles=("0.5",), by=REGION)
    return dc.infer(secret_numbers(model, dc.BlockTable))


def secret_network() -> Any:
    levels = dict.fromkeys(("ill", "smoker"), YES_NO)
    model = dc.Network.naive_bayes("ill", ["smoker"], levels, outside="no", prior=1)
    generator = np.random.default_rng(4)
    data = {name: [YES_NO[int(each)] for each in generator.random(300) < 0.4] for name in levels}
    counts = model.statistics(data).open_for_publishing()
    return dc.infer(dc.simulate(dc.CubeTables(model, 1), counts, dc.SeededBits(4)))


def secret_number() -> Any:
    model = dc.Categories("smoking", levels=("never", "former", "current"), outside="never", prior=1)
    return dc.infer(dc.simulate(dc.tables.LaplaceTable(model, 1), [60, 25, 15], dc.SeededBits(3)))


WARDS = [(ward, fall) for ward in "ABC" for fall in YES_NO]
HERE = "these records"
EXAMPLES: dict[str, tuple[Callable[[], Any], list[Hashable] | None]] = {
    "a table": (table, ["never", "former", "current"]),
    "a table of a secret number of records": (secret_number, ["never", "former", "current"]),
    "means of a secret number of records": (
        secret_means,
        [
            key
            for level in ("West", "East")
            for name in ("mean", "variance")
            for key in ((name, level, HERE), (name, level))
        ],
    ),
    "weighted sums of a secret number of records": (
        secret_weighted,
        [key for name in ("mean", "sum") for key in ((name, HERE), name)],
    ),
    "medians of a secret number of records": (secret_quantiles, None),
    "naive Bayes of a secret number of records": (
        secret_network,
        ["ill=no", "ill=yes", *(f"smoker={smoker} | ill={ill}" for ill in YES_NO for smoker in YES_NO)],
    ),
    "a crossed table": (crossed, [*WARDS]),
    "a margin": (lambda: crossed().margin("ward"), ["A", "B", "C"]),
    "pooled rates": (lambda: crossed().pooled("fall=yes", "ward"), ["A", "B", "C"]),
    "a network": (
        network,
        ["smoker=no", "smoker=yes", *(f"ill={ill} | smoker={smoker}" for smoker in YES_NO for ill in YES_NO)],
    ),
    "all columns at once": (synthesis, None),
    "a regression": (regression, ["intercept", "x"]),
    "a weighted regression": (weighted_regression, ["intercept", "x"]),
    "a family": (family, ["parameter"]),
    "a program": (program, None),
    "means by group": (means, [("West", HERE), "West", ("East", HERE), "East"]),
    "several statistics": (
        statistics,
        [key for name in ("mean", "sum", "variance") for key in ((name, HERE), name)],
    ),
    "weighted sums": (
        weighted,
        [key for level in ("West", "East") for name in ("mean", "sum") for key in ((name, level, HERE), (name, level))],
    ),
    "quantiles": (quantiles, None),
    "medians by group": (medians, [("West", HERE), "West", ("East", HERE), "East"]),
    "medians at chosen places": (chosen_by_group, [("West", HERE), "West", ("East", HERE), "East"]),
}


@cache
def posterior_of(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.LittleInformationWarning)
        return EXAMPLES[name][0]()


def test_every_registered_posterior_has_an_example() -> None:
    load_all_kinds("model")
    for home in POSTERIORS.values():
        import_module(home)
    ours = {each for each in Posterior.registered.values() if each.__module__.startswith("discreet.")}
    shown = {type(posterior_of(name)) for name in EXAMPLES}
    assert shown >= {*ours, MarginPosterior, dc.tables.PooledRates}


@pytest.mark.parametrize("name", EXAMPLES)
def test_keys_are_as_declared_and_means_and_intervals_those_of_the_rows(name: str) -> None:
    posterior, (_, keys) = posterior_of(name), EXAMPLES[name]
    assert keys is None or list(posterior.keys()) == keys
    rows = posterior.rows(0.8)
    assert len(set(posterior.keys())) == len(rows)
    assert list(posterior.mean) == list(posterior.sd) == list(posterior.keys())
    for key, row in zip(posterior.keys(), rows, strict=True):
        assert posterior.mean[key] == pytest.approx(posterior.rows()[posterior.keys().index(key)].mean, rel=1e-9)
        assert posterior.sd[key] == pytest.approx(posterior.rows()[posterior.keys().index(key)].sd, rel=1e-6)
        assert tuple(posterior.interval(key, 0.8)) == pytest.approx((row.low, row.high), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("name", EXAMPLES)
def test_joint_draws_by_key_are_those_of_the_rows(name: str) -> None:
    """Draws of tests are not their intervals, but have about their width and place; posteriors' are theirs."""
    posterior = posterior_of(name)
    drawn = posterior.draws_by_key(4_000, seed=5)
    assert list(drawn) == list(posterior.keys())
    np.testing.assert_array_equal(*(each.draws_by_key(50, seed=5)[posterior.keys()[-1]] for each in [posterior] * 2))
    for key, row in zip(posterior.keys(), posterior.rows(0.9), strict=True):
        low, high = np.quantile(drawn[key], [0.05, 0.95])
        width = max(row.high - row.low, 1e-9)
        near = max(0.45 * width, ONE_RECORD if row.unit == "probability" and "share" in str(key) else 0.0)
        assert abs(low - row.low) < near, key
        assert abs(high - row.high) < near, key


@pytest.mark.parametrize("name", EXAMPLES)
def test_differences_and_probabilities_are_those_of_draws(name: str) -> None:
    posterior = posterior_of(name)
    first, second = posterior.keys()[0], posterior.keys()[-1]
    found, drawn = posterior.difference(first, second, seed=1), posterior.draws_by_key(20_000, seed=2)
    assert isinstance(found, Comparison)
    minus = drawn[first] - drawn[second]
    if name == "a table":  # read from their own sums, where draws are of all cells together
        minus = posterior.difference_distribution(first, second, seed=7).draws
    spread = max(float(minus.std()), 1e-12)
    assert found.mean == pytest.approx(float(minus.mean()), abs=0.15 * spread)
    assert found.sd == pytest.approx(spread, rel=0.15, abs=1e-9)
    assert found.probability_above_zero == pytest.approx(float((minus > 0).mean()), abs=0.03)
    assert found.monte_carlo_error is not None
    turned = posterior.difference(second, first, seed=1)
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low), abs=0.1 * spread)
    above = posterior.probability_that(first, above=posterior.mean[first])
    assert isinstance(above, PosteriorProbability)
    assert above + posterior.probability_that(first, below=posterior.mean[first]) == pytest.approx(1, abs=1e-9)
    greater = posterior.probability_that(lambda draws: draws[first] > draws[second])
    assert greater.monte_carlo_error is not None
    assert posterior.probability_that(first, greater_than=second) == pytest.approx(greater, abs=0.03)


@pytest.mark.parametrize("name", EXAMPLES)
def test_unknown_keys_are_refused_in_words_with_the_nearest(name: str) -> None:
    posterior = posterior_of(name)
    known = next(key for key in posterior.mean if isinstance(key, str | tuple))
    wrong = f"{known}z" if isinstance(known, str) else (f"{known[0]}z", *known[1:])
    unknown: list[Callable[[], object]] = [
        lambda: posterior.mean[wrong],
        lambda: posterior.interval(wrong),
        lambda: posterior.difference(wrong, known),
        lambda: posterior.difference(known, wrong),
        lambda: posterior.probability_that(wrong, above=0),
        lambda: posterior.probability_that(known, greater_than=wrong),
    ]
    for ask in unknown:
        with pytest.raises(dc.DeclarationError, match=f"There is no .*{'Did you mean' if name == 'a table' else ''}"):
            ask()
    unclear: list[Callable[[], object]] = [
        lambda: posterior.probability_that(known),
        lambda: posterior.probability_that(known, above=0, below=1),
        lambda: posterior.probability_that("nothing > nowhere"),
        lambda: posterior.probability_that(lambda draws: len(draws)),
    ]
    for ask in unclear:
        with pytest.raises(dc.DeclarationError, match=r"State one comparison|Write a comparison|True or False"):
            ask()


@pytest.mark.parametrize("name", EXAMPLES)
def test_all_posteriors_have_one_interface(name: str, tmp_path: Path) -> None:
    posterior = posterior_of(name)
    wanted = {
        "interval": ["key", "level"],
        "difference": ["first", "second", "level", "draws", "seed"],
        "probability_that": ["what", "above", "below", "greater_than", "draws", "seed"],
        "draws": ["count", "seed"],
        "to_frame": ["backend", "level"],
        "to_arviz": ["draws", "seed"],
        "plot": ["path", "level"],
        "keys": [],
    }
    for method, parameters in wanted.items():
        assert list(inspect.signature(getattr(posterior, method)).parameters) == parameters
    picture = posterior.plot(tmp_path / "chart.json", level=0.5)
    assert json.loads((tmp_path / "chart.json").read_text())["$schema"] == picture["$schema"]
    assert len(posterior.to_frame("pandas")) == len(posterior.keys())


def brute_force(output: tuple[int, ...], prior: float, rate: float, size: int) -> tuple[np.ndarray[Any, Any], Any]:
    """Return all tables of a size, and their posterior probabilities given noisy counts that keep their total."""
    tables = np.array([k for k in product(range(size + 1), repeat=len(output)) if sum(k) == size])
    logs = (gammaln(tables + prior) - gammaln(tables + 1.0)).sum(axis=1)
    logs = logs - rate * np.abs(np.array(output) - tables).sum(axis=1)
    return tables, np.exp(logs - logsumexp(logs))


def test_the_difference_of_two_shares_is_that_of_all_tables() -> None:
    model = dc.Categories("x", levels=("a", "b", "c"), outside="a", prior=1)
    mechanism = dc.GeometricHistogram(model, 12, 1)
    posterior = dc.infer(dc.Release(mechanism, (5, 4, 3), "small", simulated=True))
    rate = float(mechanism.noise.rates[0])
    tables, weights = brute_force((5, 4, 3), 1.0, rate, 12)
    assert sum(posterior.mean.values()) == pytest.approx(1)
    assert posterior.mean["a"] == pytest.approx(float(weights @ (1 + tables[:, 0])) / 15, abs=1e-9)
    found = posterior.difference("a", "c", draws=200_000)
    exact = float(weights @ (tables[:, 0] - tables[:, 2])) / 15
    assert found.mean == pytest.approx(exact, abs=5 * (found.monte_carlo_error or 0))
    greater = float(weights @ (1 - betainc(1.0 + tables[:, 0], 1.0 + tables[:, 2], 0.5)))
    assert found.probability_above_zero == pytest.approx(greater, abs=1e-9)
    assert posterior.probability_that("a", greater_than="c") == posterior.probability_that("a > c")
    assert posterior.probability_that("a > c").monte_carlo_error is None
    generator = np.random.default_rng(4)
    shapes = 1.0 + tables[generator.choice(len(tables), 200_000, p=weights)]
    theta = generator.standard_gamma(shapes)
    minus = (theta[:, 0] - theta[:, 2]) / theta.sum(axis=1)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(minus, [0.05, 0.95])), abs=0.005)


def test_the_difference_of_two_means_is_that_of_two_samples_where_noise_is_small() -> None:
    model = dc.NumberSums("pay", (0, 100), asks=("mean",), by=REGION)
    posterior: Any = dc.infer(numbers(model, dc.GeometricSums, 1000))
    found = posterior.difference("East", "West", draws=20_000)
    west, east = np.split(np.array(RECORDS["pay"]), 2)
    sd = sqrt(west.var(ddof=1) / 600 + east.var(ddof=1) / 600)
    assert found.mean == pytest.approx(10, abs=0.05)
    assert found.sd == pytest.approx(sd, rel=0.05)
    assert (found.low, found.high) == pytest.approx((10 - 1.645 * sd, 10 + 1.645 * sd), abs=0.1)
    assert found.unit == "pay"


def test_the_noise_of_two_groups_does_not_cancel() -> None:
    """The records' own means: both have noise of their own, which adds up in their difference."""
    model = dc.NumberSums("pay", (0, 100), asks=("mean",), by=REGION)
    posterior: Any = dc.infer(numbers(model, dc.GeometricSums, "0.2"))
    drawn = posterior.draws_by_key(20_000, seed=1)
    one, two = drawn["West", HERE], drawn["East", HERE]
    assert (one - two).std() == pytest.approx(sqrt(one.var() + two.var()), rel=0.15)
    release = posterior.releases[0]
    mechanism = release.mechanism
    outputs = mechanism.sample(np.tile(model.rehearse(RECORDS), (300, 1)), dc.SeededBits(8))
    pairs = [
        dc.infer(dc.Release(mechanism, tuple(map(int, z)), "again", simulated=True)).solution for z in outputs[:300]
    ]
    published = np.array([[each.point(0), each.point(1)] for each in pairs]) * 100
    assert (published[:, 0] - published[:, 1]).std() == pytest.approx((one - two).std(), rel=0.2)


def test_several_releases_of_sums_are_drawn_as_their_average() -> None:
    model = dc.NumberSums("pay", (0, 100), asks=("mean",), by=REGION)
    releases = [numbers(model, dc.GeometricSums, epsilon) for epsilon in ("0.5", "1")]
    both: Any = dc.infer(*releases)
    for key, row in zip(both.keys(), both.rows(), strict=True):
        low, high = np.quantile(both.draws_by_key(8_000, seed=3)[key], [0.05, 0.95])
        assert (low, high) == pytest.approx((row.low, row.high), abs=0.15 * (row.high - row.low))


def test_differences_of_dates_are_days() -> None:
    model = dc.NumberSums("day", ("2026-01-01", "2026-12-31"), asks=("mean",), by=REGION, missing="2026-06-01")
    data = {"day": ["2026-03-05"] * 600 + ["2026-03-25"] * 600, "region": RECORDS["region"]}
    posterior: Any = dc.infer(released(dc.GeometricSums(model, 1200, 20), model.rehearse(data)))
    found = posterior.difference("East", "West")
    assert posterior.rows()[0].unit == DAYS
    assert found.unit == "days"
    assert found.low < 20 < found.high


def test_medians_by_group_differ_by_no_less_than_their_cells_allow() -> None:
    posterior = posterior_of("medians by group")
    found = posterior.difference("East", "West")
    east, west = posterior.interval("East"), posterior.interval("West")
    assert east.low - west.high <= found.low < found.high <= east.high - west.low


def test_statements_in_words_are_read_for_every_posterior() -> None:
    posterior = posterior_of("means by group")
    words = posterior.probability_that("East > 1.1 * West")
    assert words == posterior.probability_that(lambda draws: draws["East"] > 1.1 * draws["West"])
    assert posterior.probability_that("West > 35") == posterior.probability_that("West", above=35)
    with pytest.raises(dc.DeclarationError, match="Write a comparison of quantities and numbers"):
        posterior.probability_that("Wst > 3")


def test_a_probability_that_no_draw_contradicts_still_has_an_error() -> None:
    assert PosteriorProbability(1.0, 4_000).monte_carlo_error == pytest.approx(1 / 4_000, rel=0.01)
    assert PosteriorProbability(0.5, 400).monte_carlo_error == pytest.approx(0.025, rel=0.01)
    assert PosteriorProbability(0.5).monte_carlo_error is None
    assert repr(PosteriorProbability(0.5)) == "PosteriorProbability(0.5)"
