"""The variances of cells after least squares, against dense linear algebra, draws, and the digits that are written."""

from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dc
from discreet._core.errors import DeclarationError
from discreet.planning import cell_variances, mean_cell_variance
from discreet.planning._cell_variances import fitted_blocks, variances_of_cells
from discreet_papers import as_published

Floats = NDArray[np.float64]


def network_of(*edges: str, **levels: int) -> dc.Network:
    return dc.Network.from_edges(
        *edges,
        levels={name: tuple(range(count)) for name, count in levels.items()},
        outside={
            name: each[0] for name, each in ({name: tuple(range(count)) for name, count in levels.items()}).items()
        },
    )


NETWORKS = {
    "chain": network_of("a -> b -> c", a=2, b=3, c=2),
    "loop": network_of("a -> b -> d", "a -> c -> d", a=2, b=2, c=2, d=2),
    "two parents": network_of("a -> c", "b -> c", a=2, b=4, c=3),
    "complete": network_of(*(f"{a} -> {b}" for a, b in combinations("abc", 2)), a=3, b=2, c=2),
}


def marginal_matrix(network: dc.Network, family: tuple[str, ...]) -> Floats:
    """Return the 0/1 matrix from the cells of the joint table of all variables to those of one family's table."""
    names = [variable.name for variable in network.variables]
    cells = list(product(*(range(len(v.levels)) for v in network.variables)))
    matrix = np.zeros((prod(network.shape(family)), len(cells)))
    for column, cell in enumerate(cells):
        code = tuple(cell[names.index(name)] for name in family)
        matrix[np.ravel_multi_index(code, network.shape(family)), column] = 1
    return matrix


def by_dense_least_squares(network: dc.Network, tables: dict[tuple[str, ...], float]) -> dict[str, Floats]:
    """Return the variances of all cells by generalised least squares over joint tables with a known total."""
    cells = prod(len(v.levels) for v in network.variables)
    free = np.linalg.svd(np.ones((1, cells)))[2][1:].T  # a basis of the joint tables that sum to zero
    design = np.concatenate([marginal_matrix(network, f) @ free / np.sqrt(s) for f, s in tables.items()])
    covariance = np.linalg.pinv(design.T @ design, rcond=1e-9)
    wanted = {f[-1]: marginal_matrix(network, f) @ free for f in network.families}
    return {name: np.diag(matrix @ covariance @ matrix.T) for name, matrix in wanted.items()}


@pytest.mark.parametrize("name", NETWORKS)
def test_the_closed_form_is_generalised_least_squares(name: str) -> None:
    network = NETWORKS[name]
    generator = np.random.default_rng(1)
    for families in (network.families, network.maximal_families):
        tables = {family: float(generator.uniform(1, 9)) for family in families}
        found = variances_of_cells(network, fitted_blocks(network, tables))
        for variable, expected in by_dense_least_squares(network, tables).items():
            assert expected == pytest.approx(np.full(len(expected), found[variable]), rel=1e-9)


@pytest.mark.parametrize(
    "kind", [dc.networks.FourierCounts, as_published.FourierUpdates, dc.networks.ContrastGaussians]
)
def test_stated_variances_are_those_of_drawn_tables(kind: Any) -> None:
    network = NETWORKS["loop"]
    more = {"delta": "1e-3"} if kind is dc.networks.ContrastGaussians else {}
    mechanism = kind(network, size=10, epsilon=2, **more)
    counts = np.concatenate([np.eye(1, t.size, dtype=np.int64)[0] * 10 for t in network.split(np.zeros(network.cells))])
    tables = mechanism.basis.tables(contrasts_of(mechanism, counts, 4000), 10.0)
    for variable, variance in cell_variances(mechanism).items():
        assert tables[variable].var(axis=0) == pytest.approx(np.full_like(tables[variable][0], variance), rel=0.12)


def contrasts_of(mechanism: Any, counts: Any, rows: int) -> Any:
    output = mechanism.measured(counts) + mechanism.noise.sample(rows, dc.SeededBits(2))
    return output if isinstance(mechanism, dc.networks.ContrastGaussians) else mechanism.coefficients(output)


@pytest.mark.parametrize("kind", [dc.FamilyHistograms, dc.networks.JointHistograms, dc.networks.FamilyGaussians])
def test_a_single_table_has_the_variance_of_its_own_noise(kind: Any) -> None:
    network = network_of("a -> b", a=2, b=3)
    more = {"delta": "1e-3"} if kind is dc.networks.FamilyGaussians else {}
    mechanism = kind(network, size=10, epsilon=1, **more)
    noise = mechanism.noise.sample(6000, dc.SeededBits(3)).astype(float)
    fitted = noise - noise.mean(axis=1, keepdims=True)  # the total is known
    assert cell_variances(mechanism)["b"] == pytest.approx(fitted.var(), rel=0.05)
    assert cell_variances(mechanism)["a"] == pytest.approx(fitted.reshape(-1, 2, 3).sum(axis=2).var(), rel=0.05)


def test_cube_noise_is_put_together_by_hand() -> None:
    names = ["x0", "x1"]
    network = dc.Network.naive_bayes("y", names, dict.fromkeys(["y", *names], (0, 1)), outside=0)
    mechanism = dc.CubeCounts(network, 10, 1)
    classes, numbers = mechanism.parts(mechanism.noise.sample(8000, dc.SeededBits(4)))
    cells = (classes + numbers[:, :, 0]) / 2
    assert cell_variances(mechanism)["x0"] == pytest.approx(cells.var(), rel=0.05)
    assert cell_variances(mechanism)["y"] == pytest.approx(classes.var(), rel=0.05)
    items = dc.CubeCounts(network_of("a", "b", a=2, b=2), 10, 1)
    assert cell_variances(items)["a"] == pytest.approx((items.noise.sample(8000, dc.SeededBits(5)) / 2).var(), rel=0.05)


def test_the_mean_counts_every_cell_once() -> None:
    network = NETWORKS["chain"]
    assert mean_cell_variance(network, {"a": 1.0, "b": 2.0, "c": 3.0}) == pytest.approx((2 + 12 + 18) / 14)


def test_tables_that_leave_something_open_are_refused() -> None:
    with pytest.raises(DeclarationError, match="determine"):
        fitted_blocks(NETWORKS["chain"], {("a", "b"): 1.0})
    draw = dc.draws.NetworkSampling.plain(NETWORKS["chain"], size=10, delta="0.1")
    with pytest.raises(DeclarationError, match="NetworkSampling does not measure cells"):
        cell_variances(draw)
