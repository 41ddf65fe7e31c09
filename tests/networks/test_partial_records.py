"""Predictions for partial records, against a slow twin that lists everything that is not known."""

from collections.abc import Callable, Mapping
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

import discreet as dc
from discreet.networks._simulate import counts_of, simulated_records, simulated_tables

LEVELS = {"a": (0, 1), "b": (0, 1, 2), "c": (0, 1), "d": (0, 1, 2), "e": (0, 1)}
LOOP = dc.Network.from_edges("a -> b -> d", "a -> c -> d", "d -> e", levels=LEVELS, outside=0)
TREE = dc.Network.from_edges("a -> b", "a -> c -> d", "c -> e", levels=dict.fromkeys("abcde", (0, 1)), outside=0)
NAIVE = dc.Network.naive_bayes("a", ["b", "c", "e"], {name: LEVELS[name] for name in "abce"}, outside=0)
KNOWN: tuple[dict[str, int], ...] = (
    {"a": 0, "e": 1},
    {"b": 1},
    {},
    {"a": 1, "b": 0, "c": 0, "d": 1, "e": 0},
    {"d": 0, "e": 1},
    {"a": 1, "b": 0, "c": 1, "d": 0},
    {"a": 0, "e": 1},
)


def posterior_of(network: dc.Network, mechanism: Any = None) -> dc.networks.NetworkPosterior:
    generator = np.random.default_rng(5)
    counts = counts_of(network, simulated_records(network, simulated_tables(network, generator), 200, generator))
    how = mechanism or dc.networks.FamilyHistograms(network, 200, 2)
    found: dc.networks.NetworkPosterior = dc.infer(dc.simulate(how, counts, dc.SeededBits(1)))
    return found


@pytest.fixture(scope="module")
def posteriors() -> dict[str, dc.networks.NetworkPosterior]:
    return {"loop by chains": posterior_of(LOOP), "tree, exact": posterior_of(TREE)}


def twin(posterior: dc.networks.NetworkPosterior, record: Mapping[str, int], target: str) -> Any:
    """List all that is not known, and average the product of all tables over the draws of the posterior."""
    network, tables = posterior.model, posterior.predictive_tables
    levels = {variable.name: len(variable.levels) for variable in network.variables}
    open_ = [name for name in levels if name not in record or name == target]
    found = np.zeros(levels[target])
    for values in product(*(range(levels[name]) for name in open_)):
        whole = {**record, **dict(zip(open_, values, strict=True))}
        chance: Any = 1.0
        for family in network.families:
            row = (
                np.ravel_multi_index([whole[name] for name in family[:-1]], network.shape(family[:-1]))
                if family[1:]
                else 0
            )
            chance = chance * tables[family[-1]][:, row, whole[family[-1]]]
        found[whole[target]] += chance.mean()
    return found / found.sum()


@pytest.mark.parametrize("kind", ["loop by chains", "tree, exact"])
@pytest.mark.parametrize("target", "ade")
def test_any_graph_predicts_any_variable_from_any_part_of_a_record(
    kind: str, target: str, posteriors: dict[str, dc.networks.NetworkPosterior]
) -> None:
    posterior = posteriors[kind]
    records = [{name: value for name, value in record.items() if name != target} for record in KNOWN]
    found = posterior.predict_proba(records, target=target)
    np.testing.assert_allclose(found, [twin(posterior, record, target) for record in records], atol=1e-12)


NAIVE_MECHANISMS: dict[str, Callable[[], Any]] = {
    "exact": lambda: dc.networks.FamilyHistograms(NAIVE, 200, 2),
    "gaussian": lambda: dc.networks.FamilyGaussians(NAIVE, 200, 1, "1e-6"),
    "a draw": lambda: dc.draws.NetworkSampling.tempered(NAIVE.with_prior(1), size=200, epsilon=3, delta="0.1"),
}


@cache
def naive_posterior(kind: str) -> dc.networks.NetworkPosterior:
    return posterior_of(NAIVE, NAIVE_MECHANISMS[kind]())


@pytest.mark.parametrize("kind", NAIVE_MECHANISMS)
@pytest.mark.parametrize("target", "ac")
def test_naive_bayes_is_summed_where_its_posterior_is_a_finite_sum(kind: str, target: str) -> None:
    """The twin sums the joint chances of all whole records, which an older test compares with brute force."""
    posterior = naive_posterior(kind)
    records = [{n: v for n, v in record.items() if n != target and n in "abce"} for record in KNOWN]
    cells = list(product(*(range(len(LEVELS[name])) for name in "abce")))
    features = np.array(sorted({cell[1:] for cell in cells}))
    logs = posterior._log_joint(features)
    joint = {(y, *x): logs[i, y] for i, x in enumerate(map(tuple, features.tolist())) for y in (0, 1)}
    place = "abce".index(target)
    for record, found in zip(records, posterior.predict_proba(records, target=target), strict=True):
        fitting = [cell for cell in cells if all(cell["abce".index(n)] == v for n, v in record.items())]
        sums = [logsumexp([joint[cell] for cell in fitting if cell[place] == x]) for x in range(len(LEVELS[target]))]
        np.testing.assert_allclose(found, np.exp(sums - logsumexp(sums)), atol=1e-12)


def test_what_is_not_known_is_said_in_three_ways(posteriors: dict[str, dc.networks.NetworkPosterior]) -> None:
    pandas = pytest.importorskip("pandas")
    posterior = posteriors["loop by chains"]
    wanted = posterior.predict_proba([{"a": 1, "e": 0}, {"e": 1}], target="d")
    marked = {"a": [1, "?"], "e": [0, 1], "b": [None, None]}
    np.testing.assert_array_equal(posterior.predict_proba(marked, "d", unknown=("?", None)), wanted)
    frame = pandas.DataFrame({"a": [1.0, float("nan")], "e": [0, 1], "d": [0, 0]})  # the target is not looked at
    np.testing.assert_array_equal(posterior.predict_proba(frame, "d", unknown=(None,)), wanted)
    outside = posterior.predict_proba([{"a": None, "e": 1}], "d")  # without a mark it is the level for missing values
    np.testing.assert_array_equal(outside, posterior.predict_proba([{"a": 0, "e": 1}], "d"))
    assert posterior.predict(marked, "d", unknown=("?", None)) == [LEVELS["d"][i] for i in wanted.argmax(axis=1)]
    columns = posterior.predictions([{"a": 1, "e": 0}, {"e": 1}], "d")
    assert list(columns) == ["d", "P(d=0)", "P(d=1)", "P(d=2)"]
    np.testing.assert_array_equal(columns["P(d=2)"], wanted[:, 2])
    assert posterior.predict_proba([], "d").shape == (0, 3)


def test_misspelt_columns_are_refused_and_not_summed_out(posteriors: dict[str, dc.networks.NetworkPosterior]) -> None:
    posterior = posteriors["loop by chains"]
    with pytest.raises(
        dc.SourceError, match=r"no column 'a', 'b', 'c', but do have 'A', .* If a name is misspelt, correct it"
    ):
        posterior.predict_proba([{"A": 1, "e": 1}], target="d")
    with pytest.raises(dc.SourceError, match="their lengths differ"):
        posterior.predict_proba({"a": [1], "e": [1, 0]}, target="d")
    with pytest.raises(dc.DeclarationError, match="unknown must list the values"):
        posterior.predict_proba([{"a": 1}], target="d", unknown="?")
    everything = [{**dict.fromkeys("abce", 1), "patient": 7}]
    assert posterior.predict_proba(everything, target="d").shape == (1, 3)  # nothing is missing: others do not matter


def test_a_hundred_variables_do_not_vanish() -> None:
    """P(record) is below 1e-400 in the middle of the way; shares are found all the same."""
    names = [f"v{i}" for i in range(120)]
    edges = [f"{one} -> {two}" for one, two in pairwise(names)]
    chain = dc.Network.from_edges(*edges, levels=dict.fromkeys(names, tuple(range(5))), outside=0)
    tables = {name: np.full((3, 5 if name != "v0" else 1, 5), 0.2) for name in names}
    from discreet.networks._prediction import chances_of

    for table in tables.values():
        table[:, :, 0] = 1e-6
        table[:, :, 1] = 0.4 - 1e-6
    codes = np.zeros((2, 120), dtype=np.int64)
    codes[1, 60] = -1
    found = chances_of("v1", codes, chain, None, lambda: tables)
    np.testing.assert_allclose(found, [[1e-6, 0.4 - 1e-6, 0.2, 0.2, 0.2]] * 2, rtol=1e-9)


def test_a_regression_predicts_its_target_alone() -> None:
    line = dc.LinearRegression("y", ["x"], {"x": (0, 10), "y": (0, 20)}, missing="middle")
    x = np.linspace(0, 10, 200)
    release = dc.simulate(
        dc.regression.BoxMoments(line, 200, 20), line.rehearse({"x": x, "y": 1.5 * x + 2}), dc.SeededBits(1)
    )
    posterior = dc.infer(release)
    found = posterior.predictions({"x": [0, 10]})
    assert list(found) == ["y", "low", "high"]
    with pytest.raises(dc.DeclarationError, match="predicts its own target, 'y'"):
        posterior.predictions({"x": [0]}, target="x")


def test_a_band_may_be_named_in_a_record_to_predict_and_is_not_taken_for_a_stranger() -> None:
    """A name means its band, as a number in the band does; what names none still goes to the level for such values."""
    levels = {
        "ill": dc.Column("ill", ("no", "yes"), outside="no"),
        "age": dc.Column.banded("age", (0, 40, 90), outside="no age"),
        "seen": dc.Column.banded("seen", ("2026-01-01", "2026-07-01", "2026-12-31"), names=("spring", "autumn")),
    }
    network = dc.Network.naive_bayes("ill", ["age", "seen"], levels)
    counts = [50, 2, 1, 2, 45, 0, 40, 10, 3, 10, 30, 7]
    release = dc.simulate(dc.networks.FamilyHistograms(network, 100, 20), counts, dc.SeededBits(2))
    posterior: dc.networks.NetworkPosterior = dc.infer(release)
    numbers = posterior.predict_proba({"age": [70, 20, None], "seen": ["2026-08-03", "2026-03-01", "2027-01-01"]})
    named = posterior.predict_proba(
        {"age": ["40 to 90", "0 to under 40", "old"], "seen": ["autumn", "spring", "other"]}
    )
    np.testing.assert_array_equal(numbers, named)
    assert numbers[0, 1] > 0.9 > 0.1 > numbers[1, 1]
    assert levels["age"].code("40 to 90") == levels["age"].code(None) == 2  # records are counted as before
