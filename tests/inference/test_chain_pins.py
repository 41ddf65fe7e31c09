"""What the count engine's coordinates are pinned to: orders of known graphs, laws of bins, weights, starts, slopes."""

from typing import Any

import numpy as np
import pytest
from scipy.special import betainc, ndtri

from discreet.inference import MOST_CELLS, Coordinates, Parents, clique_cells
from discreet.inference import _couplings as couplings
from discreet.inference._sticks import Stick
from discreet.networks import Network
from discreet.networks._solution import graph_of

GRAPHS = {
    "cancer": ("22222", "- - 0,1 2 2"),
    "sachs": ("33333333333", "- 0 1,0 1,0 - 4 5,4 1,0 1,0,7 8,1 9,1"),
    "child": ("26223423333323552223", "- 0 1 2 1 1 4,5 1 5,7 7 6,8 8 9 1 7,13 14 1 7,16 17 1,16"),
    "alarm": (
        "2223333222232223322344444433342333333",
        "- - 1 0,1 3 3 0,1 - - - - 10 - - - 14 - 16,14 - - 19 18,20 16,12,21 16,12,21 16,23 16,23 13,25 26,17 25 28,23 "
        "28,9,27,11 30 7,31 8,31 8,31 31,6 35,11",
    ),
    "insurance": (
        "342425342233445422444224443",
        "- 0 1,0 0,1 1,3 1,3 5,4 - 5,4 0,3 0,9 10,3 8,7,11 12,6 5,4,7 3,1 3,1 16,15,14 13,14,17 12,6 19,18 1 5,4 6,22 "
        "12,0,23 12 10,3",
    ),
}
"""How many levels each variable has, and the places of its parents, in the order of pgmpy's copies."""


def known_graph(name: str) -> tuple[tuple[int, ...], Parents]:
    levels, parents = GRAPHS[name]
    above = tuple(() if own == "-" else tuple(map(int, own.split(","))) for own in parents.split())
    return tuple(map(int, levels)), above


@pytest.mark.parametrize(("name", "cells"), [("cancer", 22), ("sachs", 267), ("child", 716), ("alarm", 1_495)])
def test_orders_of_known_graphs_have_as_few_cells_as_is_known(name: str, cells: int) -> None:
    assert clique_cells(*known_graph(name)) == cells


def test_insurance_is_beyond_what_chains_take() -> None:
    assert MOST_CELLS < clique_cells(*known_graph("insurance")) <= 82_003


@pytest.mark.parametrize("total", [0, 1, 7, 1000])
@pytest.mark.parametrize(("a", "b"), [(0.01, 0.5), (0.4, 0.6), (3, 2)])
def test_weighted_bins_add_up_to_one(total: int, a: float, b: float) -> None:
    """Where bins of a Beta law are weighted: the sum over t of weight times mass, to 1e-9."""
    if a + b > total / 2:
        total = int(2 * (a + b)) + 1  # fewer records are counted in another way, see below
    edges = betainc(a, b, np.arange(total + 2) / (total + 1))
    seen = np.diff(edges) > 1e-12
    x = ndtri((edges[1:] + edges[:-1]) / 2)[None, seen]
    found, weights = Stick(a, b).whole(np.full_like(x, total), x)
    np.testing.assert_array_equal(found[0], np.arange(total + 1)[seen])
    assert np.sum(np.exp(np.asarray(weights)[0]) * np.diff(edges)[seen]) == pytest.approx(1, abs=1e-9)


def coordinates(*edges: str, size: int, levels: int = 3, alpha: float = 1.0) -> Coordinates:
    names = sorted({name.strip() for edge in edges for name in edge.split("->")})
    model = Network.from_edges(*edges, levels=dict.fromkeys(names, tuple(range(levels))), outside=0, prior=alpha)
    return Coordinates(*graph_of(model), model.prior, size)


def test_weights_are_those_of_couplings_alone_and_trees_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Normal coordinates have the prior's law as they are, under priors of 1 and whatever n is."""
    generator, seen = np.random.default_rng(1), []
    tree = coordinates("a -> b", "a -> c", "c -> d", size=700)
    assert (tree.whole(generator.standard_normal((tree.length, 64)))[1] == 0.0).all()
    own = couplings.whole

    def watched(*given: Any) -> Any:
        seen.append(own(*given))
        return seen[-1]

    monkeypatch.setattr(couplings, "whole", watched)
    loop = coordinates("a -> b", "a -> c", "b -> d", "c -> d", size=5_000)
    _, weights = loop.whole(generator.standard_normal((loop.length, 64)))
    assert np.std(weights) > 0
    np.testing.assert_allclose(weights, np.sum([each.sum(axis=(0, 1)) for _, each in seen], axis=0))


def test_chains_start_where_the_given_shares_are() -> None:
    """Rows of 20,000 records: shares of levels within two records of each row, or 1 % of it."""
    own = coordinates("a -> b", "b -> c", size=20_000)
    generator = np.random.default_rng(2)
    shares = [generator.dirichlet(np.full(3, 2.0), (rows, 32)).transpose(0, 2, 1) for rows in (1, 3, 3)]
    tables, _ = own.whole(own.start(shares, generator))
    for table, wanted in zip(own.in_order(tables), shares, strict=True):
        totals = table.sum(axis=1, keepdims=True)
        assert (np.abs(table - totals * wanted) <= 2 + 0.01 * totals).all()


def test_chains_start_near_a_joint_table_that_the_graph_calls_unlikely() -> None:
    """Parents a and b that depend on each other, 20,000 records: within a few errors of the table, not of a product."""
    own, generator = coordinates("a -> c", "b -> c", size=20_000), np.random.default_rng(3)
    table = np.array([[4_000.0, 1_000, 1_000], [1_000, 6_000, 1_000], [500, 1_500, 4_000]])
    shares = [table.sum(axis=1), table.sum(axis=0)]
    rows = [np.repeat((each / 20_000)[None, :, None], 16, axis=2) for each in shares] + [np.full((9, 3, 16), 1 / 3)]

    def joint(places: tuple[int, ...]) -> tuple[Any, float] | None:
        known: dict[tuple[int, ...], tuple[Any, float]] = {(0, 1): (table, 3.0), (1, 0): (table.T, 3.0)}
        return known.get(places)

    for known, is_near in ((joint, True), (None, False)):
        tables = own.in_order(own.whole(own.start(rows, generator, known))[0])
        counts = tables[2].sum(axis=1).reshape(3, 3, 16)  # of a, b
        assert (np.abs(counts - table[..., None]).max() < 60) == is_near


def test_slopes_through_couplings_are_those_of_the_smooth_map_with_fixed_deviations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Central differences, the deviations of all couplings being held where they were."""
    loop, generator = coordinates("a -> b", "a -> c", "b -> d", "c -> d", size=400), np.random.default_rng(5)
    q = 0.3 * generator.standard_normal((loop.length, 1))
    own, kept = couplings.share, []

    def watched(x: Any, places: Any, here: Any, records: Any) -> Any:
        kept.append(own(x, places, here, records)[3])
        return own(x, places, here, records)

    monkeypatch.setattr(couplings, "share", watched)
    tape = loop.smooth(q)
    weights = [generator.standard_normal(table.shape) for table in loop.in_order(tape.tables)]
    found = loop.slopes(tape, weights)[:, 0]
    assert len(kept) == 4

    def value(at: Any) -> float:
        saved = iter(list(kept))

        def fixed(x: Any, places: Any, here: Any, records: Any) -> Any:
            part, load, sd = here / places, records / places, next(saved)
            return records * part + sd * x, part, load, sd

        monkeypatch.setattr(couplings, "share", fixed)
        tables = loop.in_order(loop.smooth(at).tables)
        return float(sum((w * t).sum() for w, t in zip(weights, tables, strict=True)))

    for place in range(loop.length):
        step = np.zeros_like(q)
        step[place] = 1e-5
        assert found[place] == pytest.approx((value(q + step) - value(q - step)) / 2e-5, rel=1e-4, abs=1e-5)
