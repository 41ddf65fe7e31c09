"""Networks to pgmpy and back, and questions answered alike."""

import sys
import warnings
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.networks._elimination import chance_of, joint_chances
from discreet.networks._events import read_event
from discreet.networks._pgmpy import read_pgmpy, write_pgmpy

LEVELS = {"sky": ("clear", "grey"), "grass": ("dry", "wet", "white"), "tap": ("off", "on"), "shoes": (0, 1)}
GARDEN = dc.Network.from_edges(
    "sky -> tap -> grass",
    "sky -> grass",
    "grass -> shoes",
    levels=LEVELS,
    outside={name: each[0] for name, each in LEVELS.items()},
)


@pytest.fixture(scope="module", autouse=True)
def pgmpy() -> Any:
    """Return the package; it takes seconds to load, so this is left to the process that runs these tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pgmpy.inference
        import pgmpy.models
    return pgmpy


def tables_of(network: dc.Network, seed: int) -> dict[str, Any]:
    generator = np.random.default_rng(seed)
    shapes = {family[-1]: network.shape(family) for family in network.families}
    return {name: generator.dirichlet(np.ones(shape[-1]), size=shape[:-1]) for name, shape in shapes.items()}


def test_graph_levels_and_tables_survive_the_way_there_and_back() -> None:
    tables = tables_of(GARDEN, seed=1)
    there = GARDEN.to_pgmpy(tables)
    assert there.check_model()
    back, found = read_pgmpy(there)
    for name, table in tables.items():
        families = [next(f for f in network.families if f[-1] == name) for network in (GARDEN, back)]
        assert set(families[0]) == set(families[1])
        order = [families[1].index(each) for each in families[0]]
        np.testing.assert_allclose(found[name].transpose(order), table, atol=1e-12)
    assert {v.name: v.levels for v in back.variables} == {v.name: v.levels for v in GARDEN.variables}
    assert dc.Network.from_pgmpy(there, prior=2).prior[0] == (2.0, 2.0)


def test_questions_have_the_same_answers_there(pgmpy: Any) -> None:
    tables = tables_of(GARDEN, seed=2)
    rows = {name: table.reshape(-1, table.shape[-1]) for name, table in tables.items()}
    peer = pgmpy.inference.VariableElimination(GARDEN.to_pgmpy(tables))
    wanted = peer.query(["sky", "grass"], evidence={"shoes": 1}, show_progress=False)
    event = read_event("shoes=1", GARDEN.variables)
    found = joint_chances(("sky", "grass"), event, rows, GARDEN) / chance_of(event, rows, GARDEN)
    values = wanted.values if wanted.variables == ["sky", "grass"] else wanted.values.T
    np.testing.assert_allclose(found, values, atol=1e-12)


def test_a_reading_goes_to_pgmpy_with_its_expected_probabilities() -> None:
    network = dc.Network.naive_bayes("y", ["a"], {"y": ("no", "yes"), "a": ("no", "yes")}, outside="no")
    posterior = dc.infer(dc.simulate(dc.FamilyHistograms(network, 40, 1), [10, 5, 5, 20], dc.SeededBits(1)))
    found = posterior.to_pgmpy().get_cpds("a").values
    np.testing.assert_allclose(found.T, posterior.mean_tables()["a"], atol=1e-9)


def test_what_is_no_network_of_pgmpy_is_refused_in_words(pgmpy: Any) -> None:
    with pytest.raises(dc.DeclarationError, match="got a str"):
        read_pgmpy("a network")
    with pytest.raises(dc.DeclarationError, match="no table of probabilities for 'a', 'b'"):
        read_pgmpy(pgmpy.models.DiscreteBayesianNetwork([("a", "b")]))
    with pytest.raises(dc.DeclarationError, match="must have the axes"):
        write_pgmpy(GARDEN, {name: np.ones(2) for name in LEVELS})


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pgmpy.models", None)
    with pytest.raises(dc.DiscreetError, match=r"discreet\[pgmpy\]"):
        GARDEN.to_pgmpy()
