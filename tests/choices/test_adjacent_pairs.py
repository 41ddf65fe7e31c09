"""Exact privacy over all neighbours: fast rows against dense ones, curves against sums, bounds against both."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from numpy.typing import NDArray
from scipy.special import logsumexp

import discreet as dc
from discreet.choices._adjacent_pairs import can_compare, compare_neighbours, compare_pairs, dominating_loss
from discreet.choices._pair_bound import pair_bound, rounded_up
from discreet.choices._posterior_distances import UNIT, Tables, line_blocks, line_error, line_log_normalisers
from discreet.mathematics import hellinger_rows
from discreet.mathematics._divergences import hockey_stick
from discreet.privacy import compositions

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
EPSILONS = (0.0, 0.1, 0.4, 0.9)


def dense(alpha: Floats, size: int, scales: Floats) -> tuple[float, list[float], Counts, Floats]:
    """Return the pure epsilon and the deltas by comparing all laws, held in memory at once."""
    tables = np.array(list(compositions(size, len(alpha))))
    logs = -scales[:, None] * hellinger_rows(alpha + tables[:, None], alpha + tables[None])
    logs -= logsumexp(logs, axis=1, keepdims=True)
    pairs = np.argwhere(np.abs(tables[:, None] - tables[None]).sum(axis=-1) == 2)
    epsilon = max(float(np.abs(logs[x] - logs[y]).max()) for x, y in pairs)
    laws = np.exp(logs)
    return epsilon, [max(hockey_stick(laws[x], laws[y], e) for x, y in pairs) for e in EPSILONS], tables, logs


def random_setting(generator: np.random.Generator, cells: int, largest: int) -> tuple[Floats, int, Floats]:
    alpha = 10 ** generator.uniform(-2, 1.5, cells)
    if cells > 2 and generator.random() < 0.7:
        alpha[1] = alpha[0]  # symmetry
    size = int(generator.integers(1, largest))
    return alpha, size, 10 ** generator.uniform(-1, 1.3, len(list(compositions(size, cells))))


@pytest.mark.parametrize(("cells", "largest", "repeats"), [(2, 150, 12), (3, 8, 12), (4, 5, 8)])
def test_all_neighbours_are_compared_as_a_dense_table_would(cells: int, largest: int, repeats: int) -> None:
    generator = np.random.default_rng(11)
    for _ in range(repeats):
        alpha, size, scales = random_setting(generator, cells, largest)
        tables = Tables(alpha, size)
        scales = scales[tables.indices(tables.canonical(tables.all))]  # equal for tables that symmetry makes equal
        wanted, deltas, _, _ = dense(alpha, size, scales)
        found = compare_neighbours(alpha, size, lambda t: scales[tables.indices(t)], 1e-13, EPSILONS)  # noqa: B023
        assert found.losses.max() == pytest.approx(wanted, rel=1e-12)
        assert wanted <= found.epsilon <= wanted + 1e-9
        for number, delta in enumerate(deltas):
            assert delta - 1e-15 <= found.delta(number) <= delta + 1e-9
        first, second = (np.array(table) for table in found.worst_pair)
        assert np.abs(first - second).sum() == 2


@pytest.mark.parametrize("prior", [(1, 1), (0.01, 3), (7, 4), (1000, 0.5), (1e-6, 1e9)])
@pytest.mark.parametrize("size", [1, 2, 70, 300])
def test_rows_of_a_line_are_the_distances(prior: tuple[float, float], size: int) -> None:
    alpha, places = np.array(prior), np.arange(size + 1)
    for block in line_blocks(alpha, size):
        for x, row in enumerate(block.distances, start=block.start):
            tables = alpha + np.column_stack([places, size - places])
            wanted = hellinger_rows(tables[x], tables)
            found, at = np.ones(size + 1), x + np.arange(-block.width, block.width + 1)
            inside = (at >= 0) & (at <= size)
            assert (np.isnan(row) == ~inside).all()
            found[at[inside]] = row[inside]
            assert found == pytest.approx(wanted, rel=line_error(block.width) + 1e-14, abs=1e-16)


@pytest.mark.parametrize("prior", [(1e6 + 0.3, 0.1, 7.7), (0.1, 0.1, 0.1), (1e9, 1e-6, 1 / 3), (1e8 / 3, 1e8 / 7)])
def test_distances_keep_their_digits_behind_priors_that_floats_round(prior: tuple[float, ...]) -> None:
    tables = Tables(np.array(prior), 9)
    found, first = tables.distances(tables.all[:5]), tables.all[:5].tolist()
    with ctx.workprec(400):
        for x, row in zip(first, found, strict=True):
            for y, near in zip(tables.all.tolist(), row.tolist(), strict=True):
                ends = [(arb(p) + i, arb(p) + j) for p, i, j in zip(prior, x, y, strict=True)]
                logs = sum((((u + v) / 2).lgamma() - (u.lgamma() + v.lgamma()) / 2 for u, v in ends), arb(0))
                if x != y:
                    wanted = (1 - logs.exp()).sqrt()
                    assert abs(float((arb(near) - wanted) / wanted)) < 64 * UNIT


def test_normalisers_along_a_line_are_sums() -> None:
    alpha, size, scales = np.array([0.3, 2.0]), 90, np.linspace(0.1, 30, 91)
    tables = Tables(alpha, size)
    wanted = tables.log_normalisers(tables.all, scales)
    assert line_log_normalisers(alpha, size, scales) == pytest.approx(wanted, abs=1e-13)


def test_memory_does_not_hold_all_pairs() -> None:
    tracemalloc.start()
    compare_neighbours(np.ones(2), 2_000, lambda t: np.full(len(t), 3.0), 1e-13, (0.2,))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_001**2 * 8 / 3  # one dense table of distances alone would be 32 MB


def test_some_pairs_are_compared_as_all_are() -> None:
    alpha, size = np.ones(2), 40
    scales = np.linspace(1, 4, 41)
    every = compare_neighbours(alpha, size, lambda t: 0.5 * scales[t[:, 0]], 1e-13, (0.1,))
    some = compare_pairs(alpha, every.first[:5], every.second[:5], lambda t: scales[t[:, 0]], 0.0, (0.1,))(0.5)
    assert some.losses == pytest.approx(every.losses[:5], abs=1e-13)
    assert some.deltas[0] == pytest.approx(every.deltas[0, :5], abs=1e-13)


def test_the_bound_for_one_pair_holds_for_every_pair() -> None:
    generator, tightest = np.random.default_rng(12), 0.0
    for cells in (2, 2, 3, 3, 4):
        alpha, size, scales = random_setting(generator, cells, 6)
        _, _, tables, logs = dense(alpha, size, scales)
        for x, y in np.argwhere(np.abs(tables[:, None] - tables[None]).sum(axis=-1) == 2):
            distance = float(hellinger_rows(alpha + tables[x], alpha + tables[y]))
            bound = pair_bound(scales[x], scales[y], distance)
            loss = float(np.abs(logs[x] - logs[y]).max())
            assert loss <= bound * (1 + 1e-12)
            tightest = max(tightest, loss / bound)
    assert tightest > 0.7  # it is not far from the truth


def test_a_curve_dominates_and_touches_its_points() -> None:
    epsilons = tuple(Fraction(step, 8) for step in range(9))
    tops = np.exp([float(e) for e in epsilons])
    deltas = [float((np.e - top) / (1 + np.e)) for top in tops]  # randomised response at epsilon 1
    loss = dominating_loss(epsilons, deltas)
    assert loss.epsilon == 1
    for epsilon in (0, 0.05, 0.3, 0.77, 1):
        wanted = (np.e - np.exp(epsilon)) / (1 + np.e)
        assert wanted <= loss.delta_at(epsilon) <= wanted + 1e-12
    assert sum(loss.probabilities) == pytest.approx(1, abs=1e-12)
    steps = dominating_loss((Fraction(0), Fraction(1, 2), Fraction(1)), (0.3, 0.1, 0.0))
    for epsilon, delta in ((0, 0.3), (0.5, 0.1)):
        assert delta <= steps.delta_at(epsilon) <= delta + 1e-12
    assert 0.1 < steps.delta_at(0.25) < 0.4


def test_too_many_tables_are_refused_with_words() -> None:
    assert can_compare(10_000, 2)
    assert not can_compare(10_001, 2)
    assert can_compare(100, 3)
    assert not can_compare(100, 4)
    with pytest.raises(dc.DeclarationError, match="too many for comparing"):
        compare_neighbours(np.ones(4), 100, lambda t: np.ones(len(t)), 0.0)


@pytest.mark.parametrize("number", [0.4253525818, 1.0, 12345.67, 1e-7])
def test_rounding_up_never_rounds_down(number: float) -> None:
    for value in (number, arb(number), arb(number, number * 1e-12)):
        rounded = rounded_up(value)
        assert Fraction(number) <= rounded <= Fraction(number) * Fraction(100_002, 100_000)
