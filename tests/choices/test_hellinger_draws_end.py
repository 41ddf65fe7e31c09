"""Draws end soon whatever the table: few proposals for each draw, also where all records lie in one cell."""

from math import exp, log
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare

import discreet as dc
from discreet.choices._hellinger_draws import TABLE_BITS
from discreet.choices._hellinger_envelope import Envelope, _uniform_tables
from discreet.choices._posterior_distances import Tables
from discreet.choices._posterior_powers import PosteriorPowers
from discreet_papers.hellinger_simulation import simulate_draws
from uncalibrated_hellinger import HellingerGlobal, HellingerReciprocal, HellingerSmooth

Counts = NDArray[np.int64]
MOST_PROPOSALS = 3.0  # for each draw; measured: at most 2.03 over the grid below


def model_of(cells: int, prior: float) -> dc.Categories:
    return dc.Categories("x", levels=tuple(range(cells)), prior=prior, outside=0)


def one_cell(size: int, cells: int, elsewhere: int = 0) -> Counts:
    """Return a table with all records but some in one cell; those in the next cells, one in each."""
    table = np.zeros(cells, dtype=np.int64)
    table[1 : 1 + elsewhere] = 1
    table[0] = size - elsewhere
    return table


def proposals(envelope: Envelope) -> float:
    """Return a bound of the expected number of proposals: the mass of all over Z, which is at least 1 and |R| e^-c."""
    least = max(0.0, log(envelope.candidates) - envelope.scale)
    return exp(min(700.0, float(np.logaddexp.reduce(envelope.log_masses)) - least))


FOUND = [  # kind, records, cells, prior, epsilon: tables whose draws once took e^19 to e^5290 proposals
    (HellingerGlobal, 149, 4, 2e-5, "18"),
    (HellingerGlobal, 33_421, 4, 1.7936781009458186e-05, "18.8"),
    (HellingerReciprocal, 444_220, 5, 5.706123845651344e-06, "20.8"),
    (HellingerSmooth, 103_808, 5, 4.013556810274144e-06, "18.9"),
    (HellingerSmooth, 18_329, 3, 0.0008096337874435625, "24.2"),
    (HellingerSmooth, 1_793, 8, 2.633585772428791e-06, "24.8"),
    (HellingerSmooth, 4_527, 5, 0.012822044768728828, "216"),
    (HellingerSmooth, 410_622, 4, 0.006722340233179174, "266"),
    (HellingerReciprocal, 107_064, 3, 0.007779011937310173, "226"),
    (HellingerReciprocal, 4_637, 4, 0.006650695717590547, "143"),
]


@pytest.mark.parametrize(("kind", "size", "cells", "prior", "epsilon"), FOUND)
def test_exact_draws_from_one_cell_take_few_proposals(
    kind: Any, size: int, cells: int, prior: float, epsilon: str
) -> None:
    more = ("1e-6",) if kind is HellingerSmooth else ()
    mechanism = kind(model_of(cells, prior), size, epsilon, *more)
    for elsewhere in (0, 1, 2):
        table = one_cell(size, cells, elsewhere)
        assert proposals(mechanism.envelope(table)) < MOST_PROPOSALS
        draws = mechanism.exact_draws(table)
        mass = sum([draws.uniform_mass, *map(draws.mass, draws.components)])
        least = max(1.0, exp(log(mechanism.candidates) - float(mechanism.scales(table[None])[0])))
        assert mass / (1 << draws.shift + TABLE_BITS * cells) < MOST_PROPOSALS * least
        assert draws.draw(dc.SeededBits(3)).sum() == size


@pytest.mark.parametrize("epsilon", ["18", "60", "250", "1000"])
@pytest.mark.parametrize("prior", [1e-6, 2e-5, 1e-3, 0.02])
def test_draws_take_few_proposals_over_a_grid_of_tables_in_one_cell(prior: float, epsilon: str) -> None:
    for cells in (3, 4, 8, 20):
        for size in (300, 5_000, 90_000):
            mechanism = HellingerGlobal(model_of(cells, prior), size, epsilon)
            for elsewhere in (0, 1, 2):
                assert proposals(mechanism.envelope(one_cell(size, cells, elsewhere))) < MOST_PROPOSALS


def test_tilted_tables_belong_to_their_tilt_and_have_the_right_total() -> None:
    """The twin of the search is plain halving on (-100, 100), for powers of tables that once made it swing."""
    for size, cells, prior in ((149, 4, 2e-5), (33_421, 4, 1.8e-5), (18_329, 3, 8e-4), (5_910, 4, 8e-3)):
        powers = PosteriorPowers(np.full(cells, prior), one_cell(size, cells), 60.0)
        for power in (1.0, 2.0, 6.5, 40.0, 1_000.0):
            tables = powers.at(power)
            found = powers.balanced(tables)
            for plain, tilted in zip(tables, found.tables, strict=True):
                assert np.array_equal(tilted.logs, plain.logs + found.theta * plain.changes)
            low, high = -100.0, 100.0
            for _ in range(60):
                middle = (low + high) / 2
                low, high = (middle, high) if total_of(powers, tables, middle)[0] < 0 else (low, middle)
            assert total_of(powers, tables, found.theta)[1] < total_of(powers, tables, high)[1] + 0.3


def total_of(powers: PosteriorPowers, tables: Any, theta: float) -> tuple[float, float]:
    """Return the expected total and ln of the sum of all products, which is least where that is 0."""
    mean, log_sum = 0.0, 0.0
    for table, cells in zip(tables, powers.sizes.tolist(), strict=True):
        logs = table.logs + theta * table.changes
        top = logs.max()
        weights = np.exp(logs - top)
        mean += cells * float(weights @ table.changes) / float(weights.sum())
        log_sum += cells * (float(top) + log(float(weights.sum())))
    return mean, log_sum


def test_a_release_of_records_that_are_all_alike_ends(tmp_path: Any) -> None:
    model = dc.Categories("x", levels=tuple("abcd"), prior=2e-5, outside="a")
    ledger = dc.Ledger.create(tmp_path / "ledger.db", epsilon=100, delta=0, population="people who are all alike")
    release = dc.publish(
        HellingerGlobal(model, 149, 18), model.statistics({"x": ["a"] * 149}), ledger, "alike", reading="none"
    )
    assert sum(release.output) == 149


class Counted:
    """A generator that counts how many numbers are asked for, and gives up beyond a limit."""

    def __init__(self, seed: int, most: int) -> None:
        self._generator, self.left = np.random.default_rng(seed), most

    def integers(self, places: int, size: tuple[int, int]) -> Counts:
        self.left -= size[0] * size[1]
        assert self.left >= 0, "too many numbers were drawn"
        return self._generator.integers(places, size=size)

    def choice(self, places: int, number: int, *, replace: bool, shuffle: bool) -> Counts:
        self.left -= number
        return self._generator.choice(places, number, replace=replace, shuffle=shuffle)


@pytest.mark.parametrize("cells", [2, 3, 10, 40, 100])
@pytest.mark.parametrize("size", [1, 30, 200, 1_000, 9_000, 20_000])
def test_uniform_tables_take_few_random_numbers(size: int, cells: int) -> None:
    """A row with two equal bars is drawn anew: that must not happen to most rows."""
    generator: Any = Counted(5, 3 * 400 * cells)
    rows = _uniform_tables(size, cells, 400, generator)
    assert rows.shape == (400, cells)
    assert (rows.sum(axis=1) == size).all()
    assert rows.min() >= 0


@pytest.mark.parametrize(("size", "cells"), [(5, 3), (6, 3), (7, 3), (8, 3), (13, 4), (14, 4), (3, 5)])
def test_uniform_tables_are_uniform(size: int, cells: int) -> None:
    """On both sides of the size from which equal bars are drawn anew."""
    tables = Tables(np.ones(cells), size)
    rows = _uniform_tables(size, cells, 40_000, np.random.default_rng(11))
    assert chisquare(np.bincount(tables.indices(rows), minlength=len(tables.all))).pvalue > 1e-3


def test_simulated_draws_of_few_records_in_many_cells_end() -> None:
    mechanism = HellingerReciprocal(model_of(100, 1.0), 200, 1)
    rows = simulate_draws(mechanism, np.full((50, 100), 2), np.random.default_rng(1))
    assert (rows.sum(axis=1) == 200).all()
