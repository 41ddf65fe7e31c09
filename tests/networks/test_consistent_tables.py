"""Consistent tables against generalised least squares with the whole joint table as unknown."""

import itertools
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.networks import Network, fit
from discreet.networks._consistent_tables import NoisyPart
from discreet_papers import as_published

TWO, THREE = (0, 1), (0, 1, 2)
LOOP = Network.from_edges(
    "a -> b -> d",
    "a -> c -> d",
    levels={"a": TWO, "b": THREE, "c": TWO, "d": TWO},
    outside={"a": TWO[0], "b": THREE[0], "c": TWO[0], "d": TWO[0]},
)
GRAPHS = {
    "loop": LOOP,
    "chain": Network.from_edges(
        "a -> b -> c -> d",
        levels={"a": THREE, "b": TWO, "c": TWO, "d": TWO},
        outside={"a": THREE[0], "b": TWO[0], "c": TWO[0], "d": TWO[0]},
    ),
    "complete": Network.from_edges(
        "a -> b",
        "a -> c",
        "b -> c",
        levels={"a": TWO, "b": THREE, "c": TWO},
        outside={"a": TWO[0], "b": THREE[0], "c": TWO[0]},
    ),
    "naive Bayes": Network.naive_bayes(
        "y",
        ["a", "b", "c"],
        {"y": THREE, "a": TWO, "b": THREE, "c": TWO},
        outside={"y": THREE[0], "a": TWO[0], "b": THREE[0], "c": TWO[0]},
    ),
    "apart": Network.from_edges(
        "a", "b -> c", levels={"a": THREE, "b": TWO, "c": TWO}, outside={"a": THREE[0], "b": TWO[0], "c": TWO[0]}
    ),
}


def dense(network: Network, size: int, tables: list[NoisyPart]) -> tuple[dict[Any, np.ndarray], dict[Any, float]]:
    """Return fitted tables and variances of cells by one large least squares problem under the constraint of the sum.

    The unknown is a joint table that may be negative; x = 1/cells + null(1) y keeps its sum, scaled by n.
    """
    names = [variable.name for variable in network.variables]
    shape = network.shape(names)
    cells = prod(shape)

    def margin(family: tuple[str, ...]) -> Any:
        unit = np.eye(cells).reshape(*shape, cells)
        drop = tuple(axis for axis, name in enumerate(names) if name not in family)
        left = [name for name in names if name in family]
        return unit.sum(axis=drop).transpose(*(left.index(n) for n in family), len(family)).reshape(-1, cells)

    free = np.eye(cells)[:, 1:] - np.eye(cells)[:, :1]
    start = np.full(cells, size / cells)
    rows = np.concatenate([margin(t.names) @ free / np.sqrt(t.variance) for t in tables])
    right = np.concatenate([(t.values.ravel() - margin(t.names) @ start) / np.sqrt(t.variance) for t in tables])
    inverse = np.linalg.pinv(rows, rcond=1e-10)
    joint = start + free @ (inverse @ right)
    fitted, variances = {}, {}
    for family in network.families:
        fitted[family] = (margin(family) @ joint).reshape(network.shape(family))
        spread = margin(family) @ free @ inverse
        variances[family] = float((spread**2).sum(axis=1).mean())
    return fitted, variances


def counts_of(network: Network, seed: int) -> Any:
    generator = np.random.default_rng(seed)
    records = {v.name: generator.integers(0, len(v.levels), 60) for v in network.variables}
    tables = []
    for family in network.maximal_families:
        table = np.zeros(network.shape(family), dtype=np.int64)
        np.add.at(table, tuple(records[name] for name in family), 1)
        tables.append(table.ravel())
    return np.concatenate(tables)


def release_of(network: Network, kind: str, seed: int) -> dc.Release:
    kinds: dict[str, Any] = {
        "histograms": lambda: dc.FamilyHistograms(network, 60, 1),
        "gaussians": lambda: dc.networks.FamilyGaussians(network, 60, 1, "1e-4"),
        "updates": lambda: as_published.LaplaceUpdates(network, 60, 1),
        "joint": lambda: dc.networks.JointHistograms(network, 60, 1),
    }
    return dc.simulate(kinds[kind](), counts_of(network, seed), dc.SeededBits(seed))


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("seed", [3, 4])
def test_effects_by_themselves_solve_the_whole_problem(name: str, seed: int) -> None:
    network, generator = GRAPHS[name], np.random.default_rng(seed)
    tables = [
        NoisyPart.table(f, generator.normal(10, 5, network.shape(f)), float(generator.uniform(0.2, 5)))
        for f in network.families
    ]
    found, (wanted, variances) = fit(network, 50, tables), dense(network, 50, tables)
    for family in network.families:
        np.testing.assert_allclose(found.table(*family), wanted[family], atol=1e-9)
        assert found.standard_error(*family) ** 2 == pytest.approx(variances[family], rel=1e-9)


@pytest.mark.parametrize("kind", ["histograms", "gaussians", "updates", "joint"])
def test_released_tables_agree_with_each_other_and_with_the_size(kind: str) -> None:
    found = dc.networks.consistent_tables(release_of(LOOP, kind, seed=5))
    for one, two in itertools.combinations(LOOP.maximal_families, 2):
        shared = tuple(name for name in one if name in two)
        first, second = (LOOP.marginal(found.tables[f], f, shared) for f in (one, two))
        np.testing.assert_allclose(first, second, atol=1e-9)
    for family, table in found.tables.items():
        assert table.sum() == pytest.approx(60, abs=1e-9)
        np.testing.assert_allclose(found.table(*family[::-1]), table.transpose(), atol=1e-9)
    for table in found.mean_tables().values():
        np.testing.assert_allclose(table.sum(axis=-1), 1)
        assert table.min() > 0


@pytest.mark.parametrize("kind", ["histograms", "gaussians", "joint"])
def test_the_stated_error_is_that_of_many_releases(kind: str) -> None:
    mechanism, counts = release_of(LOOP, kind, seed=6).mechanism, counts_of(LOOP, seed=6)
    outputs = mechanism.sample(np.tile(counts, (1_000, 1)), dc.SeededBits(9))
    releases = [dc.Release(mechanism, tuple(row.tolist()), "made up", simulated=True) for row in outputs]
    fitted = [dc.networks.consistent_tables(release) for release in releases]
    tables = np.stack([each.table("b", "c", "d") for each in fitted])
    error = fitted[0].standard_error("b", "c", "d")
    assert np.abs(tables.mean(axis=0) - LOOP.table("d", counts)).max() < 4.5 * error / np.sqrt(1_000)
    assert (tables.var(axis=0).mean() / error**2) == pytest.approx(1, abs=0.12)  # 12 cells, 1,000 releases


def binary(*edges: str) -> Network:
    names = {name.strip() for edge in edges for name in edge.split("->")}
    return Network.from_edges(*edges, levels=dict.fromkeys(names, TWO), outside=TWO[0])


ASIA = binary("a -> t", "s -> l", "s -> b", "t -> e", "l -> e", "e -> x", "e -> d", "b -> d")
PUBLISHED = {  # mean variance of a cell over family tables at epsilon 1: all families projected, maximal ones projected
    "NB4": (binary(*(f"y -> {x}" for x in "abcd")), 100, 67.6),
    "chain8": (binary("a -> b -> c -> d -> e -> f -> g -> h"), 256, 222),
    "indep8": (binary(*"abcdefgh"), 256, 256),
    "complete5": (binary(*(f"{p} -> {c}" for p, c in itertools.combinations("abcde", 2))), 100, 16.6),
    "asia": (ASIA, 284, 184),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_projected_variances_are_those_of_the_comparison_of_strategies(name: str) -> None:
    """Laplace noise of scale 2 F on F tables: variance 8 F^2 in every cell. Figures are given to three digits."""
    network, every, maximal = PUBLISHED[name]
    for families, wanted in ((network.families, every), (network.maximal_families, maximal)):
        tables = [NoisyPart.table(f, np.zeros(network.shape(f)), 8.0 * len(families) ** 2) for f in families]
        found = fit(network, 0, tables)
        cells = [found.standard_error(*f) ** 2 for f in network.families for _ in range(prod(network.shape(f)))]
        assert np.mean(cells) == pytest.approx(wanted, rel=0.01), name


def test_several_releases_are_fitted_together() -> None:
    releases = [release_of(LOOP, "histograms", seed=7), release_of(LOOP, "histograms", seed=7)]
    alone, both = dc.networks.consistent_tables(releases[0]), dc.networks.consistent_tables(*releases)
    np.testing.assert_allclose(alone.table("a", "b"), both.table("a", "b"), atol=1e-9)  # the same one twice
    assert both.standard_error("a", "b") == pytest.approx(alone.standard_error("a", "b") / np.sqrt(2))


def test_what_cannot_be_made_consistent_is_refused_in_words() -> None:
    naive = Network.naive_bayes("y", ["a"], {"y": TWO, "a": TWO}, outside=TWO[0])
    draw = dc.simulate(dc.draws.NetworkSampling.plain(naive, size=4, delta="0.1"), [1, 1, 1, 1], dc.SeededBits(1))
    with pytest.raises(dc.DeclarationError, match="holds something else"):
        dc.networks.consistent_tables(draw)
    with pytest.raises(dc.DeclarationError, match="one or more releases"):
        dc.networks.consistent_tables()
    found = dc.networks.consistent_tables(release_of(LOOP, "histograms", seed=8))
    for names in (("a", "d"), ("a", "a"), ("a", "z"), ()):
        with pytest.raises(dc.DeclarationError, match="variables of one family"):
            found.table(*names)
    with pytest.raises(dc.DeclarationError, match="do not publish the same counts"):
        dc.networks.consistent_tables(release_of(LOOP, "histograms", 8), release_of(GRAPHS["chain"], "histograms", 8))


MEASURING: dict[str, Callable[[Network], Any]] = {
    "cube": lambda net: dc.CubeCounts(net, 200, 2),
    "joint": lambda net: dc.networks.JointHistograms(net, 200, 2),
    "histograms": lambda net: dc.FamilyHistograms(net, 200, 2),
    "gaussians": lambda net: dc.networks.FamilyGaussians(net, 200, 2, "1e-3"),
    "updates": lambda net: as_published.LaplaceUpdates(net, 200, 2),
    "fourier": lambda net: dc.networks.FourierCounts(net, 200, 2),
    "published fourier": lambda net: as_published.FourierUpdates(net, 200, 2),
    "contrasts": lambda net: dc.networks.ContrastGaussians(net, 200, 2, "1e-3"),
}


@pytest.mark.parametrize("kind", MEASURING)
def test_tables_of_any_measurement_are_unbiased_with_the_stated_error_and_add_up_in_whole_numbers(kind: str) -> None:
    naive = Network.naive_bayes("y", ["a", "b"], {"y": TWO, "a": TWO, "b": TWO}, outside=TWO[0])
    mechanism = MEASURING[kind](naive)
    truth = np.array([60, 40, 30, 70, 20, 80, 55, 45])
    outputs = mechanism.sample(np.tile(truth, (400, 1)), dc.SeededBits(11))
    found = [
        dc.networks.consistent_tables(dc.Release(mechanism, tuple(o.tolist()), "x", simulated=True)) for o in outputs
    ]
    cells = np.array([each.table("y", "a").ravel() for each in found])
    error = found[0].standard_error("y", "a")
    assert np.abs(cells.mean(axis=0) - truth[:4]).max() < 5 * error / 20
    assert cells.std(axis=0) == pytest.approx(np.full(4, error), rel=0.2)
    for each in found[:20]:
        for tables in (each.signed_counts(), each.counts()):
            (one, two) = (tables["y", "a"], tables["y", "b"])
            assert one.sum() == two.sum() == 200
            assert (one.sum(axis=1) == two.sum(axis=1)).all()
            assert one.dtype == two.dtype == np.int64
        assert all(table.min() >= 0 for table in each.counts().values())
        assert np.abs(each.signed_counts()["y", "a"] - each.table("y", "a")).max() <= 2


def test_whole_tables_of_a_loop_and_of_categories_agree_too() -> None:
    fitted = dc.networks.consistent_tables(release_of(LOOP, "histograms", seed=9))
    for tables in (fitted.signed_counts(), fitted.counts()):
        margins: dict[str, list[list[int]]] = {}
        for names, table in tables.items():
            for axis, name in enumerate(names):
                others = tuple(other for other in range(len(names)) if other != axis)
                margins.setdefault(name, []).append(table.sum(axis=others).tolist())
        assert all(each == seen[0] for seen in margins.values() for each in seen)
    crossed = dc.Categories(("x", "y"), levels={"x": ("a", "b"), "y": ("c", "d", "e")}, outside={"x": "a", "y": "c"})
    release = dc.simulate(dc.tables.DiscreteLaplaceCounts(crossed, 12, 1), [0, 5, 0, 4, 3, 0], dc.SeededBits(3))
    found = dc.networks.consistent_tables(release)
    assert found.counts()["x", "y"].sum() == found.signed_counts()["x", "y"].sum() == 12
    assert found.counts()["x", "y"].min() >= 0
