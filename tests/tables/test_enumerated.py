"""Reading a release table by table: against brute force, and against the windows and transforms of LatentCounts."""

from itertools import product
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.inference import Observed, Problem, WeightedTables
from discreet.tables import CategoriesPosterior
from discreet.tables._enumeration import EnumerationSolver
from discreet.tables._solution import TableSolution
from discreet.tables._solver import TablesSolver
from uncalibrated_hellinger import HellingerReciprocal, HellingerSmooth

MODEL = dc.Categories("x", levels=("a", "b", "c"), prior=(0.5, 1, 2), outside="a")


def enumerated(mechanisms: list[Any], outputs: list[np.ndarray], model: dc.Categories) -> WeightedTables:
    seen = tuple(Observed(m, np.asarray(o), "seen") for m, o in zip(mechanisms, outputs, strict=True))
    counts = EnumerationSolver().solve(Problem(model, mechanisms[0].size, seen)).counts
    assert isinstance(counts, WeightedTables)
    return counts


def brute_force(mechanism: HellingerReciprocal, output: tuple[int, ...]) -> dict[tuple[int, ...], float]:
    """Return P(k | z), from the definition, with Dirichlet-multinomial weights written out."""
    weights = {}
    for table in product(range(mechanism.size + 1), repeat=3):
        if sum(table) == mechanism.size:
            prior = float(np.exp(mechanism.model.log_evidence(np.array(table))))
            weights[table] = prior * float(np.exp(mechanism.log_prob(np.array(output), np.array(table))))
    total = sum(weights.values())
    return {table: weight / total for table, weight in weights.items()}


def test_every_answer_is_that_of_brute_force() -> None:
    mechanism, output = HellingerReciprocal(MODEL, 6, 3), (1, 3, 2)
    wanted = brute_force(mechanism, output)
    found = enumerated([mechanism], [np.array(output)], MODEL)
    assert found.total == 6
    for cell in range(3):
        law = [sum(p for table, p in wanted.items() if table[cell] == count) for count in range(7)]
        assert found.marginals[cell] == pytest.approx(law, abs=1e-13)
        sums, weights = found.sum_of(np.array([cell]))
        assert weights == pytest.approx([law[int(s)] for s in sums], abs=1e-13)
    sums, weights = found.sum_of(np.array([0, 2]))
    assert weights == pytest.approx([sum(p for t, p in wanted.items() if t[0] + t[2] == s) for s in sums], abs=1e-13)
    one, two, weights, *_ = found.pair_of_sums(np.array([0]), np.array([2]))
    law = [sum(p for t, p in wanted.items() if (t[0], t[2]) == pair) for pair in zip(one, two, strict=True)]
    assert weights == pytest.approx(law, abs=1e-13)
    tables = np.array(list(wanted))
    logs = found.log_weights(tables)
    assert np.exp(logs - found.log_sum) == pytest.approx(list(wanted.values()), abs=1e-13)


def test_draws_follow_the_posterior() -> None:
    found = enumerated([HellingerReciprocal(MODEL, 6, 3)], [np.array([1, 3, 2])], MODEL)
    drawn = found.draw(40_000, np.random.default_rng(18))
    assert (drawn.sum(axis=1) == 6).all()
    means, sd = found.marginals @ np.arange(7), np.sqrt(found.marginals @ np.arange(7) ** 2)
    assert np.abs(drawn.mean(axis=0) - means).max() < 5 * sd.max() / 200


@pytest.mark.parametrize(("prior", "size"), [((1, 1), 30), ((0.5, 1, 2), 9)])
def test_it_agrees_with_transforms_where_both_can_read(prior: tuple[float, ...], size: int) -> None:
    model = dc.Categories("x", levels=tuple("abc"[: len(prior)]), prior=prior, outside="a")
    mechanism = dc.GeometricHistogram(model, size=size, epsilon="0.7")
    release = dc.simulate(mechanism, (size, *[0] * (len(prior) - 1)), dc.SeededBits(19))
    reading = TablesSolver().solve(Problem.of([release.with_prior(model.prior)]))
    found = enumerated([mechanism], [release.counts], model)
    assert found.log_sum == pytest.approx(reading.log_evidence, abs=1e-10)
    means = found.first + found.marginals @ np.arange(size + 1)
    assert means == pytest.approx(reading.mean_counts, abs=1e-9)


def test_a_posterior_can_be_made_of_it() -> None:
    mechanism = HellingerSmooth(MODEL, 12, 20, "1e-6")
    output = np.array([2, 4, 6])
    release = dc.Release(mechanism, (2, 4, 6), "read", simulated=True)
    counts: Any = enumerated([mechanism], [output], MODEL)
    posterior = CategoriesPosterior(MODEL, [release], [TableSolution(MODEL, counts, counts.log_sum)])
    assert sum(posterior.mean.values()) == pytest.approx(1, abs=1e-12)
    assert posterior.log_evidence == pytest.approx(counts.log_sum, abs=1e-12)
    assert posterior.interval("a", 0.9).width > 0
    assert posterior.ratio("a", "b").median > 0
    assert posterior.true_count("c").mean == pytest.approx(float(counts.marginals[2] @ np.arange(13)), abs=1e-9)
    assert posterior.draws(10, seed=1)["theta"].shape == (10, 3)
    assert posterior.probability_that("c > a") > 0.5
    assert len(posterior.bayes_remap().concentration) == 3


def test_thousands_of_records_of_two_cells_are_read() -> None:
    model = dc.Categories("x", levels=("a", "b"), outside="a")
    mechanism = HellingerReciprocal(model, 3_000, 1)
    found = enumerated([mechanism], [np.array([1_500, 1_500])], model)
    assert found.marginals[0].sum() == pytest.approx(1, abs=1e-12)
    assert found.marginals[0].argmax() == 1_500


def test_too_many_tables_are_refused_with_words() -> None:
    mechanism = dc.GeometricHistogram(MODEL, size=1_000, epsilon=1)
    refusal = EnumerationSolver().rejection(Problem.before(mechanism))
    assert refusal is not None
    assert "at most 200000 can be listed" in refusal


def test_drawn_tables_answer_by_the_shares_of_their_draws() -> None:
    rng = np.random.default_rng(39)
    tables, weights = rng.multinomial(9, [0.5, 0.3, 0.2], size=60), rng.exponential(size=60)
    weights[7] = 0.0
    found = WeightedTables.drawn(tables, weights, -3.0)
    shares = weights / weights.sum()
    assert (found.total, found.log_sum, found.lost) == (9, -3.0, None)
    assert found.draws == pytest.approx(1 / (shares**2).sum())
    for cell in range(3):
        steps = found.first[cell] + np.arange(found.marginals.shape[1])
        wanted = [shares[tables[:, cell] == step].sum() for step in steps]
        assert found.marginals[cell] == pytest.approx(wanted, abs=1e-15)
    sums, chances = found.sum_of(np.array([0, 2]))
    both = tables[:, 0] + tables[:, 2]
    assert chances == pytest.approx([shares[both == s].sum() for s in sums], abs=1e-15)
    one, two, chances, lost, draws = found.pair_of_sums(np.array([2]), np.array([0]))
    wanted = [shares[(tables[:, 2] == a) & (tables[:, 0] == b)].sum() for a, b in zip(one, two, strict=True)]
    assert chances == pytest.approx(wanted, abs=1e-15)
    assert (lost, draws) == (None, found.draws)
    asked = np.concatenate([tables[:5], [[100, 0, 0]]])
    wanted = [shares[(tables == table).all(axis=1)].sum() for table in asked]
    assert np.exp(found.log_weights(asked)) == pytest.approx(wanted, abs=1e-15)
    assert set(map(tuple, found.draw(200, rng))) <= {tuple(t) for t, w in zip(tables, weights, strict=True) if w}


def test_far_apart_sums_are_told_apart_without_counting_between_them() -> None:
    tables = np.array([[0, 10**9], [10**9, 0], [10**9, 0]])
    sums, chances = WeightedTables.drawn(tables, np.ones(3), 0.0).sum_of(np.array([0]))
    assert sums.tolist() == [0, 10**9]
    assert chances == pytest.approx([1 / 3, 2 / 3])
