"""Powers of affinities and their sums over all tables: against balls, enumeration and plain convolution."""

import numpy as np
import pytest
from flint import arb, ctx

from discreet.choices._posterior_distances import Tables
from discreet.choices._posterior_powers import PosteriorPowers, cell_log_affinities
from discreet.choices._power_sums import AFFINITY_ERROR, power_sum
from discreet.mathematics import log_affinities


def test_logarithms_of_factors_keep_their_digits() -> None:
    generator = np.random.default_rng(1)
    for _ in range(1_500):
        prior, count = 10 ** generator.uniform(-4, 3), int(10 ** generator.uniform(0, 6)) - 1
        far = int(generator.integers(-count, 3 * count + 50))
        near = max(-count, int(generator.choice([-1, 1]) * 10 ** generator.uniform(0, 3)))
        changes = np.sort([far, near])
        found = cell_log_affinities(prior, count, changes)
        with ctx.workprec(200):
            for change, log in zip(changes.tolist(), found.tolist(), strict=True):
                a, b = arb(prior) + count, arb(prior) + count + change
                true = ((a + b) / 2).lgamma() - (a.lgamma() + b.lgamma()) / 2
                assert log == 0 if change == 0 else abs(arb(log) - true) <= AFFINITY_ERROR * abs(true)


@pytest.mark.parametrize("floor", [5.0, 40.0, 300.0])
@pytest.mark.parametrize(("prior", "count"), [(1.0, 0), (0.01, 3), (7.0, 400), (1.0, 3_000)])
def test_tables_hold_every_factor_above_the_floor(prior: float, count: int, floor: float) -> None:
    other = 5_000 - count
    powers = PosteriorPowers(np.array([prior, 1.0]), np.array([count, other]), floor)
    for power in (1.0, 2.5, 60.0):
        table = powers.at(power)[powers.cell_class[0]]
        every = np.arange(-count, other + 1)
        wanted = every[power * cell_log_affinities(prior, count, every) >= -floor]
        assert (table.changes[0], table.changes[-1]) == (wanted[0], wanted[-1])


CASES = [
    ((1.0, 1.0, 1.0), (3, 4, 5)),
    ((1.0, 0.3, 2.0), (10, 0, 0)),
    ((0.01, 0.01, 1.0, 7.0), (0, 0, 7, 0)),
    ((1.0, 1.0, 1.0, 1.0), (6, 6, 6, 6)),
    ((1e-4, 2.0, 30.0), (0, 40, 20)),
]


@pytest.mark.parametrize(("alpha", "counts"), CASES)
@pytest.mark.parametrize("power", [0.3, 1.0, 2.0, 7.5, 100.0, 5_000.0])
def test_sums_of_powers_are_those_of_enumeration(
    alpha: tuple[float, ...], counts: tuple[int, ...], power: float
) -> None:
    prior, table = np.array(alpha), np.array(counts)
    every = Tables(prior, int(table.sum())).all
    wanted = np.logaddexp.reduce(power * log_affinities(prior + table, prior + every, every - table).sum(axis=1))
    found = power_sum(PosteriorPowers(prior, table, 200.0), power)
    assert abs(found.log - wanted) <= found.error + 1e-14
    assert found.error < 1e-10


def test_long_sums_do_not_wrap_around() -> None:
    """The total is cut to a few deviations there; convolution in full gives the same."""
    counts, alpha = np.array([9_000, 500, 0, 15_000, 3]), np.array([1.0, 0.2, 0.1, 1.0, 1.0])
    powers = PosteriorPowers(alpha, counts, 60.0)
    for power in (1.0, 3.0, 40.0):
        law, start = np.ones(1), 0
        tables = powers.balanced(powers.at(power)).tables
        for kind in powers.cell_class:
            law, start = np.convolve(law, np.exp(tables[kind].logs)), start + tables[kind].start
        found = power_sum(powers, power)
        assert abs(found.log - np.log(law[-start])) <= found.error + 1e-11
        assert found.error < 1e-9
