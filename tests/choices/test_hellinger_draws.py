"""Draws among any number of candidates: the whole numbers they are made of, their law, and releases of large tables."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from numpy.typing import NDArray
from scipy.stats import chisquare, kstest

import discreet as dc
from discreet.choices import PermuteAndFlip
from discreet.choices import _hellinger_draws as hellinger_draws
from discreet.choices._hellinger_draws import TABLE_BITS, ExactDraws
from discreet.choices._hellinger_envelope import Envelope
from discreet.choices._posterior_distances import Tables
from discreet.mathematics._divergences import hellinger
from discreet.privacy import enumerate_neighbours
from discreet_papers.hellinger_simulation import simulate_batch, simulate_draws
from uncalibrated_hellinger import HellingerGlobal, HellingerReciprocal, HellingerSmooth

Counts = NDArray[np.int64]


def model_of(*prior: float) -> dc.Categories:
    return dc.Categories("x", levels=tuple(range(len(prior))), prior=prior, outside=0)


GRID: list[tuple[tuple[float, ...], tuple[int, ...], str]] = [
    ((1, 1, 1), (3, 4, 5), "1"),
    ((1, 0.3, 2), (10, 0, 0), "3"),
    ((0.01, 0.01, 1, 7), (0, 0, 7, 0), "0.5"),
    ((1, 1), (15, 25), "4"),
    ((1, 1, 1, 1), (2, 2, 2, 3), "8"),
    ((0.001, 0.001), (30, 0), "2"),
    ((1, 1, 1, 1, 1), (0, 0, 0, 6, 0), "1"),
    ((7, 4, 5), (0, 1, 14), "10"),
    ((1, 1, 1), (1, 0, 0), "1"),
    ((0.2, 0.2, 0.2), (5, 5, 5), "20"),
]


def mechanism_of(prior: tuple[float, ...], counts: tuple[int, ...], epsilon: str) -> HellingerReciprocal:
    return HellingerReciprocal(model_of(*prior), sum(counts), epsilon)


def law_of(mechanism: HellingerReciprocal, table: Counts) -> NDArray[np.float64]:
    return np.asarray(np.exp(mechanism.log_prob(mechanism.tables.all, table)))


@pytest.mark.parametrize(("prior", "counts", "epsilon"), GRID)
def test_the_mixture_of_whole_numbers_lies_above_the_law_on_all_tables(
    prior: tuple[float, ...], counts: tuple[int, ...], epsilon: str
) -> None:
    mechanism, table = mechanism_of(prior, counts, epsilon), np.array(counts)
    draws = mechanism.exact_draws(table)
    length = draws.shift + TABLE_BITS * len(counts)
    with ctx.workprec(192):
        scale = mechanism.strength() / mechanism.sensitivity_ball(table)
        for candidate in mechanism.tables.all:
            assert mechanism.weight(table, candidate, scale) * arb(2) ** length < draws.above(candidate)


LARGE: list[tuple[float, Any, int, int, str]] = [
    (1, lambda i: 1, 600, 4, "1"),
    (1, lambda i: 1, 10**6, 20, "1"),
    (1e-3, lambda i: 0.3**i, 5_000, 10, "1000"),
    (2, lambda i: float(i == 0), 10**6, 20, "1"),
    (1, lambda i: float(i < 5), 50, 60, "3"),
    (1e9, lambda i: 1, 1_000, 5, "100"),
    (0.1, lambda i: 0.5**i, 2 * 10**6, 3, "1e-6"),
    (1, lambda i: 1, 10**6, 2, "5"),
]


@pytest.mark.parametrize(("prior", "shape", "size", "cells", "epsilon"), LARGE)
def test_the_mixture_lies_above_the_law_where_nothing_can_be_listed(
    prior: float, shape: Any, size: int, cells: int, epsilon: str
) -> None:
    """On the true table, its neighbours, uniform tables, and draws near and far."""
    shares = np.array([shape(i) for i in range(cells)], dtype=float)
    table = (size * shares / shares.sum()).astype(np.int64)
    table[0] += size - table.sum()
    mechanism = HellingerReciprocal(model_of(*[prior] * cells), size, epsilon)
    draws, generator = mechanism.exact_draws(table), np.random.default_rng(4)
    moves = table + np.eye(cells, dtype=np.int64)[1:] - np.eye(cells, dtype=np.int64)[0]
    near = [generator.multinomial(size, generator.dirichlet(table * share + 1)) for share in (1e-4, 0.01, 1, 100) * 5]
    uniform = [np.diff(np.sort(generator.integers(0, size, cells - 1)), prepend=0, append=size) for _ in range(5)]
    length = draws.shift + TABLE_BITS * cells
    with ctx.workprec(256):
        scale = mechanism.strength() / mechanism.sensitivity_ball(table)
        for candidate in [table, *moves, *near, *uniform]:
            assert mechanism.weight(table, candidate, scale) * arb(2) ** length < draws.above(candidate)
    assert draws.draw(dc.SeededBits(1)).sum() == size


@pytest.mark.parametrize(("prior", "counts", "epsilon"), GRID)
def test_proposals_have_exactly_the_stated_rational_law(
    prior: tuple[float, ...], counts: tuple[int, ...], epsilon: str
) -> None:
    """Every way in which a table can be proposed, as fractions: choose a component, draw cells, keep the last one."""
    table = np.array(counts)
    mechanism = mechanism_of(prior, counts, epsilon)
    draws = mechanism.exact_draws(table)
    masses = [draws.uniform_mass, *(draws.mass(component) for component in draws.components)]
    for candidate in mechanism.tables.all[:: max(1, len(mechanism.tables.all) // 40)]:
        found = Fraction(draws.uniform_mass, len(mechanism.tables.all))
        for mass, component in zip(masses[1:], draws.components, strict=True):
            chance = Fraction(1)
            for cell, kind in enumerate(draws.cell_classes.tolist()):
                entry = component.entry(kind, int(candidate[cell] - table[cell]))
                whole = draws.largest(component) if cell == draws.dependent else int(component.edges[kind][-1])
                chance *= Fraction(entry, whole)
            found += mass * chance
        assert found == draws.above(candidate)


def pooled_p_value(drawn: Counts, law: NDArray[np.float64], tables: Tables) -> float:
    observed = np.bincount(tables.indices(drawn), minlength=len(law))
    order = np.argsort(law)
    bins = np.cumsum(law[order] * len(drawn)) // 12  # rare tables are put together until twelve are expected
    wanted = np.bincount(bins.astype(np.int64), law[order] * len(drawn))
    counted = np.bincount(bins.astype(np.int64), observed[order])
    used = wanted > 5
    return float(chisquare(counted[used], wanted[used] * counted[used].sum() / wanted[used].sum()).pvalue)


def test_simulated_draws_follow_the_law_over_a_grid_of_small_cases() -> None:
    """P-values of 60 tests against brute force are uniform, and none is very small."""
    generator, found = np.random.default_rng(2029), []
    for repeat in range(6):
        for prior, counts, epsilon in GRID:
            mechanism, table = mechanism_of(prior, counts, epsilon), np.array(counts)
            scale = float(mechanism.scales(table[None])[0]) * (1 + repeat)
            weights = np.exp(-scale * mechanism.tables.distances(table[None])[0])
            drawn = Envelope(mechanism.model.concentration, table, scale).draw(5_000, generator)
            found.append(pooled_p_value(drawn, weights / weights.sum(), mechanism.tables))
    assert min(p for p in found if not np.isnan(p)) > 1e-4
    assert kstest([p for p in found if not np.isnan(p)], "uniform").pvalue > 1e-3


def test_published_draws_follow_the_law_over_a_grid_of_small_cases() -> None:
    found, bits = [], dc.SeededBits(2031)
    for prior, counts, epsilon in GRID:
        mechanism, table = mechanism_of(prior, counts, epsilon), np.array(counts)
        draws = mechanism.exact_draws(table)
        drawn = np.stack([draws.draw(bits) for _ in range(800)])
        found.append(pooled_p_value(drawn, law_of(mechanism, table), mechanism.tables))
    assert min(p for p in found if not np.isnan(p)) > 1e-3
    assert kstest([p for p in found if not np.isnan(p)], "uniform").pvalue > 1e-3


def test_the_law_of_the_draws_keeps_the_promise() -> None:
    """Weights that decide about keeping, for all neighbours of 9 records in 3 cells: no ratio above the guarantee."""
    mechanism = HellingerReciprocal(model_of(1, 0.2, 3), 9, "1.5")

    def log_prob(outputs: Counts, table: Counts) -> NDArray[np.float64]:
        scale = mechanism.strength() / mechanism.sensitivity_ball(table)
        weights = np.array([float(mechanism.weight(table, output, scale)) for output in outputs])
        return np.asarray(np.log(weights / weights.sum()))

    found = enumerate_neighbours(log_prob, 9, 3, mechanism.tables.all)
    assert found.epsilon <= float(mechanism.pure_epsilon) < float(mechanism.epsilon)


def test_an_envelope_that_is_too_low_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hellinger_draws, "MARGIN", -0.9)
    draws = mechanism_of(*GRID[0]).exact_draws(np.array(GRID[0][1]))
    with pytest.raises(ArithmeticError, match="too low"):
        [draws.draw(dc.SeededBits(seed)) for seed in range(200)]


def test_few_candidates_are_listed_and_many_are_not() -> None:
    assert HellingerGlobal(model_of(1, 1), 19_999, 1).draws_from_list
    assert not HellingerGlobal(model_of(1, 1), 20_000, 1).draws_from_list
    assert not HellingerGlobal(model_of(1, 1, 1, 1), 600, 1).draws_from_list
    many_cells = dc.Categories("x", levels=tuple(range(300)), outside=0)
    assert HellingerGlobal(many_cells, 2, 1).draws_from_list  # 45,150 candidates, too many cells for a mixture


@pytest.mark.parametrize(("size", "cells"), [(600, 4), (10**6, 20)])
@pytest.mark.parametrize("kind", ["HellingerGlobal", "HellingerReciprocal", "HellingerSmooth", "HellingerSmoothProved"])
def test_large_tables_are_published_read_back_and_verified(tmp_path: Any, kind: str, size: int, cells: int) -> None:
    model = dc.Categories("x", levels=tuple(f"level {i}" for i in range(cells)), outside="level 0")
    more = {"delta": "1e-8"} if "Smooth" in kind else {}
    mechanism = dc.Mechanism.registered()[kind](model, size, 1, **more)  # type: ignore[call-arg]
    ledger = dc.Ledger.create(tmp_path / "ledger.db", epsilon=5, delta="1e-6", population="many people")
    levels = [f"level {i}" for i in range(cells)] * (size // cells)
    release = dc.publish(mechanism, model.statistics({"x": levels}), ledger, "large", reading="none")
    read = dc.Release.from_json(release.to_json())
    assert read == release
    assert sum(read.output) == size
    certificate = dc.verify(read, ledger=ledger)
    assert certificate.guarantee == mechanism.guarantee
    assert mechanism.guarantee.epsilon == 1
    assert mechanism.guarantee.evidence is dc.privacy.Evidence.PROVED


def test_likelihoods_of_large_tables_are_pointwise() -> None:
    mechanism = HellingerReciprocal(model_of(1, 1, 1, 1), 600, 1)
    tables = np.array([[150, 150, 150, 150], [148, 152, 150, 150], [600, 0, 0, 0]])
    logs = mechanism.log_prob(tables[0], tables)
    assert logs[0] == pytest.approx(-mechanism.moments(tables[0]).log_normaliser.middle, abs=1e-10)
    for table, found in zip(tables, logs, strict=True):
        distance = hellinger(1.0 + tables[0], 1.0 + table)
        scale = float(mechanism.scales(table[None])[0])
        assert found == pytest.approx(-scale * distance - mechanism.moments(table).log_normaliser.middle, abs=1e-9)
    assert mechanism.log_prob(tables[0] + 1, tables[0]) == -np.inf


def test_both_ways_to_the_normaliser_agree() -> None:
    mechanism = HellingerSmooth(model_of(1, 1, 1, 1), 60, 2, "1e-6")
    for table in ([15, 15, 15, 15], [60, 0, 0, 0], [40, 18, 1, 1]):
        listed = float(mechanism.log_normalisers(np.array([table]))[0])
        bounds = mechanism.moments(np.array(table)).log_normaliser
        assert bounds.lower - 1e-12 <= listed <= bounds.upper + 1e-12


def test_simulations_of_many_rows_follow_the_law() -> None:
    generator = np.random.default_rng(5)
    mechanism = HellingerSmooth(model_of(1, 1, 1), 12, 2, "1e-6")
    tables = np.array([[12, 0, 0], [4, 4, 4], [1, 5, 6]])
    drawn = simulate_draws(mechanism, np.repeat(tables, 20_000, axis=0), generator).reshape(3, 20_000, 3)
    for table, rows in zip(tables, drawn, strict=True):
        law = np.exp(mechanism.log_prob(mechanism.tables.all, table))
        assert pooled_p_value(rows, law, mechanism.tables) > 1e-4


def test_batches_of_many_small_tables_follow_the_law() -> None:
    generator = np.random.default_rng(6)
    tables = np.array([[3, 2], [0, 9], [20, 20]])
    rows = np.tile(tables, (8_000, 1))
    drawn = simulate_batch(lambda size: HellingerReciprocal(model_of(1, 1), size, 1), rows, generator)
    assert (drawn.sum(axis=1) == rows.sum(axis=1)).all()
    for number, table in enumerate(tables):
        mechanism = HellingerReciprocal(model_of(1, 1), int(table.sum()), 1)
        assert pooled_p_value(drawn[number::3], law_of(mechanism, table), mechanism.tables) > 1e-4


def test_simulations_of_large_tables_agree_with_published_draws() -> None:
    mechanism = HellingerReciprocal(model_of(1, 1, 1, 1), 600, 1)
    table = np.array([150, 150, 150, 150])
    bounds = mechanism.moments(table).distance
    rehearsed = simulate_draws(mechanism, np.tile(table, (4_000, 1)), np.random.default_rng(8))
    published = mechanism.sample(np.tile(table, (400, 1)), dc.SeededBits(8))
    for rows in (rehearsed, published):
        distances = np.array([hellinger(1.0 + table, 1.0 + row) for row in rows[:400]])
        assert abs(distances.mean() - bounds.middle) < 4 * distances.std() / np.sqrt(len(distances))


def test_simulations_refuse_secrets_and_other_laws() -> None:
    generator, model = np.random.default_rng(1), model_of(1, 1)
    secret = model.statistics({"x": [0, 1, 1]})
    with pytest.raises(dc.SecretError):
        simulate_draws(HellingerGlobal(model, 3, 1), secret, generator)
    with pytest.raises(dc.DeclarationError, match="is not one"):
        simulate_draws(PermuteAndFlip(model, 3, 1), [1, 2], generator)
    with pytest.raises(dc.DeclarationError, match="add up to the public size"):
        simulate_draws(HellingerGlobal(model, 3, 1), [1, 1], generator)


def test_draws_need_no_list_whatever_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of all tables would fill the memory; nothing on the way to a draw asks for one."""
    mechanism = HellingerSmooth(dc.Categories("x", levels=tuple(range(20)), outside=0), 10**6, 1, "1e-8")
    monkeypatch.setattr(Tables, "all", property(lambda self: pytest.fail("all tables were listed")))
    for table in (np.full(20, 50_000), np.array([10**6] + [0] * 19), np.array([10**6 - 19] + [1] * 19)):
        assert mechanism.sample(table, dc.SeededBits(2)).sum() == 10**6
        assert isinstance(mechanism.exact_draws(table), ExactDraws)
