"""Belief propagation over counts against sums over all tables."""

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp

import discreet as dc
from discreet.inference import Problem
from discreet.mathematics import log_prior, log_prior_constant
from discreet.networks._trees import TreeCounts, TreeNode, TreesSolver
from discreet.privacy import compositions

Tables = list[np.ndarray]


def all_tables(nodes: list[TreeNode], size: int, place: int = 0, above: Tables | None = None) -> list[Tables]:
    above = [] if above is None else above
    if place == len(nodes):
        return [above]
    parent = nodes[place].parent
    totals = [size] if parent is None else above[parent].sum(axis=0).tolist()
    rows = itertools.product(*(list(compositions(total, nodes[place].levels)) for total in totals))
    return [done for row in rows for done in all_tables(nodes, size, place + 1, [*above, np.array(row)])]


def log_weight(nodes: list[TreeNode], tables: Tables, size: int) -> float:
    total = 0.0
    for node, table in zip(nodes, tables, strict=True):
        factors, constant = (
            log_prior(node.alpha[:, None], np.arange(size + 1)),
            log_prior_constant(float(node.alpha.sum()), np.arange(size + 1)),
        )
        for noise, row in zip(node.log_noise, table, strict=True):
            total += constant[row.sum()] + sum(factors[x, k] + noise[x, k] for x, k in enumerate(row))
    return total


def made_up(shape: list[tuple[int | None, int]], size: int, seed: int) -> list[TreeNode]:
    generator = np.random.default_rng(seed)
    nodes = []
    for place, (parent, levels) in enumerate(shape):
        rows = 1 if parent is None else shape[parent][1]
        noise = generator.normal(scale=1.5, size=(rows, levels, size + 1))
        nodes.append(TreeNode(f"v{place}", parent, generator.uniform(0.3, 3, levels), noise))
    return nodes


SHAPES: dict[str, tuple[int, list[tuple[int | None, int]]]] = {
    "chain of three": (4, [(None, 2), (0, 2), (1, 2)]),
    "chain through three levels": (3, [(None, 2), (0, 3), (1, 2)]),
    "root of three levels": (3, [(None, 3), (0, 2), (1, 2), (None, 2)]),
    "naive Bayes": (3, [(None, 2), (0, 2), (0, 3)]),
    "no edges": (4, [(None, 2), (None, 3)]),
    "two branches": (2, [(None, 2), (0, 2), (1, 2), (1, 2), (0, 2)]),
    "chain of four": (2, [(None, 2), (0, 2), (1, 2), (2, 2)]),
}


@pytest.mark.parametrize("name", SHAPES)
def test_trees_are_read_as_by_summing_over_all_tables(name: str) -> None:
    size, shape = SHAPES[name]
    nodes = made_up(shape, size, seed=11)
    tree = TreeCounts(nodes, size, [np.full(levels, size / levels) for _, levels in shape])
    tables = all_tables(nodes, size)
    logs = np.array([log_weight(nodes, each, size) for each in tables])
    assert tree.log_evidence == pytest.approx(logsumexp(logs), abs=1e-11)
    weights, draws = np.exp(logs - logsumexp(logs)), 8_000
    drawn = tree.tables(draws, np.random.default_rng(12))
    for place in range(len(nodes)):
        values = np.stack([each[place] for each in tables])
        mean = np.tensordot(weights, values, 1)
        spread = np.sqrt(np.tensordot(weights, (values - mean) ** 2, 1))
        assert (np.abs(drawn[place].mean(axis=0) - mean) <= 4.5 * spread / np.sqrt(draws) + 1e-9).all()


def test_whole_drawn_trees_follow_the_joint_law() -> None:
    size, shape = SHAPES["chain of three"]
    nodes = made_up(shape, size, seed=13)
    tree = TreeCounts(nodes, size, [np.full(2, 2.0)] * 3)
    tables = all_tables(nodes, size)
    logs = np.array([log_weight(nodes, each, size) for each in tables])
    draws = 20_000
    drawn = np.concatenate([t.reshape(draws, -1) for t in tree.tables(draws, np.random.default_rng(14))], axis=1)
    seen, counts = np.unique(drawn, axis=0, return_counts=True)
    place = {tuple(np.concatenate([t.ravel() for t in each]).tolist()): i for i, each in enumerate(tables)}
    observed = np.zeros(len(tables))
    observed[[place[tuple(row.tolist())] for row in seen]] = counts
    chance = np.exp(logs - logsumexp(logs))
    common = chance * draws >= 10
    squares = (observed[common] - draws * chance[common]) ** 2 / (draws * chance[common])
    assert squares.sum() < common.sum() + 5 * np.sqrt(2 * common.sum())


def test_too_much_work_is_refused_with_words() -> None:
    levels = {"a": (0, 1, 2), "b": (0, 1, 2), "c": (0, 1)}
    network = dc.Network.from_edges(
        "a -> b -> c", levels=levels, outside={name: each[0] for name, each in levels.items()}
    )
    problem = Problem.before(dc.FamilyHistograms(network, 200, 1))
    assert "exact inference for 'b' given 'a' for 200 records" in str(TreesSolver().rejection(problem))
    assert TreesSolver().rejection(Problem.before(dc.FamilyHistograms(network, 20, 1))) is None
