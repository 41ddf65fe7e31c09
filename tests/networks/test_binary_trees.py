"""Binary trees on windows against sums over all tables, and against belief propagation over all counts."""

import itertools
from functools import cache

import numpy as np
import pytest
from scipy.special import logsumexp

import discreet as dc
from discreet.inference import NoisyRow, Problem, solver_for
from discreet.mathematics import log_prior, log_prior_constant
from discreet.networks import NetworkCounts
from discreet.networks import _tree_edges as tree_edges
from discreet.networks._binary_trees import BinaryTable, BinaryTreeCounts, BinaryTreesSolver
from discreet.networks._trees import TreesSolver
from discreet.privacy import compositions
from discreet_papers import as_published

Tables = list[np.ndarray]

SHAPES: dict[str, tuple[int, list[tuple[int | None, int]]]] = {
    "chain of three": (5, [(None, 2), (0, 2), (1, 2)]),
    "chain of four": (3, [(None, 2), (0, 2), (1, 2), (2, 2)]),
    "a leaf of three levels": (4, [(None, 2), (0, 2), (1, 3)]),
    "two branches and a lone one": (3, [(None, 2), (0, 2), (1, 2), (0, 2), (None, 3)]),
}


def made_up(shape: list[tuple[int | None, int]], size: int, seed: int) -> list[BinaryTable]:
    """Tables seen through Laplace noise, some of them far from all that can be."""
    rng, tables = np.random.default_rng(seed), []
    for place, (parent, levels) in enumerate(shape):
        inner = any(other == place for other, _ in shape)
        rows: list[list[NoisyRow]] = []
        for _ in range(1 if parent is None else 2):
            values, rate = rng.integers(-4, size + 4, levels), float(rng.uniform(0.2, 1.5))

            def kernel(counts: np.ndarray, z: np.ndarray = values, r: float = rate) -> np.ndarray:
                return np.asarray(-r * np.abs(z[:, None] - counts))

            seen = NoisyRow(kernel, values, np.full(levels, 1 / rate), np.full(levels, rate**2 / 2))
            rows.append([] if parent is None and inner and place else [seen])
        tables.append(BinaryTable(f"v{place}", parent, rng.uniform(0.3, 3, levels), rows))
    return tables


def all_tables(tables: list[BinaryTable], size: int, place: int = 0, above: Tables | None = None) -> list[Tables]:
    above = [] if above is None else above
    if place == len(tables):
        return [above]
    parent = tables[place].parent
    totals = [size] if parent is None else above[parent].sum(axis=0).tolist()
    rows = itertools.product(*(list(compositions(total, len(tables[place].alpha))) for total in totals))
    return [done for row in rows for done in all_tables(tables, size, place + 1, [*above, np.array(row)])]


def log_weight(tables: list[BinaryTable], counts: Tables, priors: list[tuple[np.ndarray, np.ndarray]]) -> float:
    total = 0.0
    for table, own, (factors, constant) in zip(tables, counts, priors, strict=True):
        for seen, row in zip(table.seen, own, strict=True):
            total += constant[row.sum()] + sum(factors[x, k] for x, k in enumerate(row))
            total += sum(float(each.log_kernel(row[:, None]).sum()) for each in seen)
    return total


def log_weights(tables: list[BinaryTable], every: list[Tables], size: int) -> np.ndarray:
    priors = [
        (
            log_prior(table.alpha[:, None], np.arange(size + 1)),
            log_prior_constant(float(table.alpha.sum()), np.arange(size + 1)),
        )
        for table in tables
    ]
    return np.array([log_weight(tables, each, priors) for each in every])


@cache
def listed(name: str) -> tuple[list[BinaryTable], list[Tables], np.ndarray]:
    """Return made-up noisy tables of a tree, all true tables behind them, and the logarithms of their weights."""
    size, shape = SHAPES[name]
    tables = made_up(shape, size, seed=31)
    every = all_tables(tables, size)
    return tables, every, log_weights(tables, every, size)


@pytest.mark.parametrize("directly", [True, False])
@pytest.mark.parametrize("name", SHAPES)
def test_binary_trees_are_read_as_by_summing_over_all_tables(
    name: str, directly: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not directly:
        monkeypatch.setattr(tree_edges, "_DIRECT", 0)
    size = SHAPES[name][0]
    tables, every, logs = listed(name)
    tree = BinaryTreeCounts(tables, size)
    assert tree.log_evidence == pytest.approx(logsumexp(logs), abs=1e-11)
    weights, draws = np.exp(logs - logsumexp(logs)), 8_000
    drawn = tree.tables(draws, np.random.default_rng(32))
    for place, table in enumerate(tables):
        values = np.stack([each[place] for each in every])
        shares = (table.alpha + values) / (table.alpha.sum() + values.sum(axis=2, keepdims=True))
        np.testing.assert_allclose(tree.means()[place], np.tensordot(weights, shares, 1), atol=1e-11)
        mean = np.tensordot(weights, values, 1)
        spread = np.sqrt(np.tensordot(weights, (values - mean) ** 2, 1))
        assert (np.abs(drawn[place].mean(axis=0) - mean) <= 4.5 * spread / np.sqrt(draws) + 1e-9).all()
        for row in range(values.shape[1]):
            inside = np.arange(values.shape[2]) == 1
            wanted = np.zeros((size + 1, size + 1))
            np.add.at(wanted, (values[:, row].sum(axis=1), values[:, row, 1]), weights)
            split, found = tree.split(place, row, inside), np.zeros((size + 1, size + 1))
            totals = np.rint(split.inside + split.outside).astype(int)
            np.add.at(found, (totals, np.rint(split.inside).astype(int)), split.chances)
            np.testing.assert_allclose(found, wanted, atol=1e-11)


def test_whole_drawn_trees_follow_the_joint_law() -> None:
    size, shape = 4, SHAPES["chain of three"][1]
    tables = made_up(shape, size, seed=33)
    every, draws = all_tables(tables, size), 20_000
    logs = log_weights(tables, every, size)
    tree = BinaryTreeCounts(tables, size)
    drawn = np.concatenate([t.reshape(draws, -1) for t in tree.tables(draws, np.random.default_rng(34))], axis=1)
    place = {tuple(np.concatenate([t.ravel() for t in each]).tolist()): i for i, each in enumerate(every)}
    seen, counts = np.unique(drawn, axis=0, return_counts=True)
    observed = np.zeros(len(every))
    observed[[place[tuple(row.tolist())] for row in seen]] = counts
    expected = draws * np.exp(logs - logsumexp(logs))
    common = expected >= 10
    squares = (observed[common] - expected[common]) ** 2 / expected[common]
    assert squares.sum() < common.sum() + 5 * np.sqrt(2 * common.sum())


def network(*edges: str) -> dc.Network:
    names = sorted({name.strip() for edge in edges for name in edge.split("->")})
    return dc.Network.from_edges(*edges, levels=dict.fromkeys(names, (0, 1)), outside=0)


def released(mechanism: NetworkCounts, seed: int) -> dc.Release:
    counts = mechanism.model.simulate(mechanism.size, np.random.default_rng(seed)).statistics
    return dc.simulate(mechanism, counts, dc.SeededBits(seed))


@pytest.mark.parametrize("prior", [1, 0.5, 2])
@pytest.mark.parametrize("edges", [("a -> b -> c -> d -> e",), ("a -> b -> c", "b -> d", "a -> e -> f")])
def test_windows_give_the_evidence_of_belief_propagation_over_all_counts(edges: tuple[str, ...], prior: float) -> None:
    net = network(*edges)
    for mechanism in (dc.FamilyHistograms(net, 200, 1), dc.networks.FamilyGaussians(net, 150, 2, "1e-6")):
        problem = Problem.of([released(mechanism, 35)], None if prior == 1 else prior)
        fast, slow = BinaryTreesSolver().solve(problem), TreesSolver().solve(problem)
        assert fast.log_evidence == pytest.approx(slow.log_evidence, rel=1e-13, abs=1e-11)


def test_two_releases_of_a_tree_are_read_together_as_by_belief_propagation() -> None:
    net = network("a -> b -> c", "b -> d")
    problem = Problem.of(
        [released(dc.FamilyHistograms(net, 150, 1), 36), released(as_published.LaplaceUpdates(net, 150, 2), 36)]
    )
    fast, slow = BinaryTreesSolver().solve(problem), TreesSolver().solve(problem)
    assert fast.log_evidence == pytest.approx(slow.log_evidence, rel=1e-13, abs=1e-11)


def test_a_tree_of_a_million_records_is_read_exactly_and_on_the_windows_of_ten_thousand() -> None:
    net = network("a -> b -> c -> d", "b -> e", "a -> f")
    windows = []
    for size in (10**4, 10**6):
        problem = Problem.of([released(dc.FamilyHistograms(net, size, 1), 37)])
        assert isinstance(solver_for(problem), BinaryTreesSolver)
        tree = BinaryTreesSolver().solve(problem).counts
        assert isinstance(tree, BinaryTreeCounts)
        assert tree.error < 1e-11
        means, drawn = tree.means(), tree.tables(2_000, np.random.default_rng(38))
        for mean, table, (alpha, *_) in zip(means, drawn, net.prior, strict=True):
            shares = (alpha + table) / (2 * alpha + table.sum(axis=2, keepdims=True))
            error = shares.std(axis=0) / np.sqrt(2_000)
            assert (np.abs(shares.mean(axis=0) - mean) <= 4.5 * error + 1e-12).all()
        windows.append([len(law.values) for law in tree.chances.values()])
    np.testing.assert_allclose(windows[0], windows[1], atol=2)


def test_inner_variables_of_three_levels_are_left_to_other_engines() -> None:
    levels = {"a": (0, 1), "b": (0, 1, 2), "c": (0, 1)}
    net = dc.Network.from_edges("a -> b -> c", levels=levels, outside=0)
    assert "'b' has children and more than two levels" in str(
        BinaryTreesSolver().rejection(Problem.before(dc.FamilyHistograms(net, 20, 1)))
    )
