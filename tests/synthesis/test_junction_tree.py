"""Junction trees against tables of all cells: margins, log probabilities, conditionals, records."""

from itertools import combinations

import numpy as np
import pytest

from discreet.synthesis import Tree, TreeDistribution, cells_of, triangulated, within

LEVELS = (2, 3, 2, 4, 2, 3)
TABLES = [(0, 1), (1, 2), (2, 3), (0, 3), (4,), (4, 5)]


def _fitted(seed: int) -> tuple[TreeDistribution, np.ndarray, float]:
    """Return a distribution with random potentials, its table of all cells, and log Z, both by brute force."""
    generator = np.random.default_rng(seed)
    potentials = {columns: generator.standard_normal([LEVELS[v] for v in columns]) for columns in TABLES}
    logs = np.zeros(LEVELS)
    for columns, values in potentials.items():
        logs = logs + values.reshape([LEVELS[v] if v in columns else 1 for v in range(len(LEVELS))])
    tree = Tree.over(LEVELS, TABLES)
    margins, log_z = tree.calibrated(potentials)
    assert log_z == pytest.approx(np.log(np.exp(logs).sum()), rel=1e-12)
    table = np.exp(logs - log_z)
    return TreeDistribution(tree, tuple(margins)), table, log_z


def _margin(table: np.ndarray, columns: tuple[int, ...]) -> np.ndarray:
    summed = table.sum(axis=tuple(v for v in range(table.ndim) if v not in columns))
    left = [v for v in range(table.ndim) if v in columns]
    return np.asarray(summed.transpose([left.index(v) for v in columns]))


def test_margins_of_any_columns_are_those_of_the_table_of_all_cells() -> None:
    fitted, table, _ = _fitted(1)
    for count in (1, 2, 3, 4):
        for columns in combinations(range(6), count):
            np.testing.assert_allclose(fitted.margin(columns), _margin(table, columns), atol=1e-13)
    np.testing.assert_allclose(fitted.margin((5, 0, 3)), _margin(table, (5, 0, 3)), atol=1e-13)
    for pair, found in fitted.pairs().items():
        np.testing.assert_allclose(found, _margin(table, pair), atol=1e-13)


def test_log_probabilities_and_conditionals_are_those_of_the_table_of_all_cells() -> None:
    fitted, table, _ = _fitted(2)
    records = np.array(list(np.ndindex(*LEVELS)))
    np.testing.assert_allclose(fitted.log_prob(records), np.log(table.ravel()), atol=1e-10)
    for known in ((1, 2), (0, 4, 5), ()):
        partial = np.where(np.isin(np.arange(6), known), records[::7], -1)
        for target in (3, 5, 0):
            columns = tuple(v for v in known if v != target)
            joint = _margin(table, (*columns, target))
            rows = joint[tuple(partial[:, v] for v in columns)]
            rows = np.broadcast_to(rows, (len(partial), LEVELS[target]))
            expected = rows / rows.sum(axis=1, keepdims=True)
            np.testing.assert_allclose(fitted.conditional(target, partial), expected, atol=1e-12)


def test_records_follow_the_margins() -> None:
    fitted, table, _ = _fitted(3)
    records = fitted.sample(40_000, np.random.default_rng(4))
    for pair in combinations(range(6), 2):
        found = np.zeros([LEVELS[v] for v in pair])
        np.add.at(found, tuple(records[:, v] for v in pair), 1 / len(records))
        assert np.abs(found - _margin(table, pair)).max() < 0.01  # four standard errors of a share of one half


def test_a_chain_needs_no_further_edges_and_a_ring_does() -> None:
    assert sorted(triangulated((2,) * 4, [(0, 1), (1, 2), (2, 3)])) == [(0, 1), (1, 2), (2, 3)]
    ring = triangulated((2,) * 4, [(0, 1), (1, 2), (2, 3), (0, 3)])
    assert sorted(map(len, ring)) == [3, 3]
    assert cells_of((2,) * 4, ring) == 16


def test_tables_that_would_make_the_model_too_large_are_left_out() -> None:
    wanted = [(0, 1), (1, 2), (0, 2), (0, 3)]
    assert within((10,) * 4, wanted, most=400) == [(0, 1), (1, 2), (0, 3)]
    assert within((10,) * 4, wanted, most=1200) == wanted
