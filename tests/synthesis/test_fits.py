"""Fits to noisy tables: maximum entropy and latent classes, and the precision that is shared out."""

from itertools import combinations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import softmax

from discreet.synthesis import ExpectedLoss, NoisyTable, expected_scores, latent_classes, maximum_entropy
from discreet.synthesis._latent_classes import _Measured
from discreet.synthesis._maximum_entropy import nearest_shares, together

LEVELS, SIZE = (2, 3, 2, 2), 1000.0


def _tables(seed: int, sd: float) -> tuple[np.ndarray, list[NoisyTable]]:
    generator = np.random.default_rng(seed)
    table = generator.dirichlet(np.full(24, 0.5)).reshape(LEVELS)
    found = []
    for columns in [(0,), (1,), (2,), (3,), (0, 1), (1, 2), (0, 3)]:
        counts = SIZE * table.sum(axis=tuple(v for v in range(4) if v not in columns))
        found.append(NoisyTable(columns, counts + sd * generator.standard_normal(counts.shape), 1 / sd**2))
    return table, found


def test_maximum_entropy_is_the_minimum_of_its_objective_over_all_tables_of_cells() -> None:
    _, tables = _tables(1, 30.0)
    shares = [nearest_shares(table.values, SIZE) for table in tables[:4]]
    product = np.einsum("a,b,c,d->abcd", *shares)

    def objective(p: np.ndarray) -> float:
        loss = 0.0
        for table in tables:
            margin = p.sum(axis=tuple(v for v in range(4) if v not in table.columns))
            loss += 0.5 * table.precision * np.square(SIZE * margin - table.values).sum()
        return loss + 100.0 * float((p * np.log(p / product)).sum())

    found = maximum_entropy(LEVELS, SIZE, tables, steps=3000)
    fitted = found.margin(range(4))

    def by_logits(logits: np.ndarray) -> float:
        return objective(softmax(logits).reshape(LEVELS))

    best = minimize(by_logits, np.log(product).ravel(), tol=1e-10)
    assert objective(fitted) == pytest.approx(best.fun, rel=1e-4)
    np.testing.assert_allclose(fitted, softmax(best.x).reshape(LEVELS), atol=2e-3)


def test_without_noise_measured_tables_are_met_and_others_follow_from_them() -> None:
    table, tables = _tables(2, 0.01)
    fitted = maximum_entropy(LEVELS, SIZE, tables, steps=3000)
    for measured in tables:
        np.testing.assert_allclose(SIZE * fitted.margin(measured.columns), measured.values, atol=0.5)
    a, b, c = fitted.margin((0, 1)), fitted.margin((1, 2)), fitted.margin((1,))
    np.testing.assert_allclose(fitted.margin((0, 2)), (a / c) @ b, atol=1e-10)  # 0 and 2 meet in 1 alone
    assert table.sum() == pytest.approx(1)


def test_tables_that_were_measured_twice_are_averaged_by_precision() -> None:
    first, second = NoisyTable((0,), np.array([10.0, 20.0]), 1.0), NoisyTable((0,), np.array([14.0, 16.0]), 3.0)
    (found,) = together([first, second])
    assert found.values.tolist() == [13.0, 17.0]
    assert found.precision == 4.0


def test_slopes_of_latent_classes_are_those_of_differences() -> None:
    _, tables = _tables(3, 20.0)
    measured = _Measured(LEVELS, SIZE, tables)
    generator = np.random.default_rng(5)
    logits, weights = generator.standard_normal((3, 9)), generator.standard_normal(3)
    by_logits, by_weights, _ = measured.slopes(logits, weights)
    step = 1e-5
    for index in np.ndindex(3, 9):
        moved = [logits.copy(), logits.copy()]
        moved[0][index] += step
        moved[1][index] -= step
        difference = (measured.slopes(moved[0], weights)[2] - measured.slopes(moved[1], weights)[2]) / (2 * step)
        assert by_logits[index] == pytest.approx(difference, rel=1e-4, abs=1e-3)
    for which in range(3):
        up, down = weights.copy(), weights.copy()
        up[which] += step
        down[which] -= step
        difference = (measured.slopes(logits, up)[2] - measured.slopes(logits, down)[2]) / (2 * step)
        assert by_weights[which] == pytest.approx(difference, rel=1e-4, abs=1e-3)


def test_latent_classes_come_close_to_exact_tables_and_answer_by_brute_force() -> None:
    table, tables = _tables(4, 1.0)
    fitted = latent_classes(LEVELS, SIZE, tables, classes=20, fits=2)
    every = fitted.margin(range(4))
    assert every.sum() == pytest.approx(1)
    for columns in [(0,), (1,), (0, 1), (1, 2), (0, 3)]:
        margin = table.sum(axis=tuple(v for v in range(4) if v not in columns))
        assert np.abs(fitted.margin(columns) - margin).sum() / 2 < 0.02
    for pair in combinations(range(4), 2):
        np.testing.assert_allclose(fitted.pairs()[pair], fitted.margin(pair), atol=1e-12)
    records = np.array(list(np.ndindex(*LEVELS)))
    np.testing.assert_allclose(np.exp(fitted.log_prob(records)), every.ravel(), atol=1e-12)
    rows = fitted.conditional(1, np.array([[0, -1, 1, -1]]))[0]
    expected = every[0, :, 1, :].sum(axis=1)
    np.testing.assert_allclose(rows, expected / expected.sum(), atol=1e-12)


def test_expected_scores_are_means_of_the_posterior() -> None:
    noisy, variance = np.array([-30.0, 5.0, 80.0, 400.0]), 900.0
    scale = noisy.mean()
    for value, found in zip(noisy, expected_scores(noisy, variance), strict=True):

        def density(s: float, power: int, value: float = value) -> float:
            return float(s**power * np.exp(-((value - s) ** 2) / (2 * variance) - s / scale))

        weight = [quad(density, 0, 900, args=(power,), limit=200)[0] for power in (0, 1)]
        assert found == pytest.approx(weight[1] / weight[0], rel=1e-6)


def test_expected_loss_starts_at_the_score_and_its_gain_has_a_slope_from_0_to_1() -> None:
    references = [np.array([4.0, 1.0, 9.0]), np.array([1.0, 1.0])]
    for precisions in (np.zeros(2), np.array([0.01, 0.3])):
        at = [ExpectedLoss(references, scores).at(precisions) for scores in (np.full(2, 30.0), np.full(2, 31.0))]
        gains = (31.0 - at[1]) - (30.0 - at[0])
        assert ((gains >= -1e-12) & (gains <= 1)).all()
    np.testing.assert_allclose(ExpectedLoss(references, np.array([30.0, 7.0])).at(np.zeros(2)), [30.0, 7.0])


def test_precision_is_shared_so_that_no_other_way_has_a_smaller_expected_loss() -> None:
    generator = np.random.default_rng(6)
    references = [generator.uniform(0, 100, size) for size in (6, 4, 9, 2)]
    losses = ExpectedLoss(references, np.array([120.0, 15.0, 200.0, 3.0]))
    total = 0.02
    found = losses.shared(total)
    assert found.sum() == pytest.approx(total)
    assert found.min() == 0  # a table of two cells that hardly deviates is not worth it
    best = losses.at(found).sum()
    for _ in range(300):
        other = generator.dirichlet(np.ones(4)) * total
        assert losses.at(other).sum() >= best - 1e-9
    step = 1e-7
    slope = (losses.at(found) - losses.at(found + step)) / step
    np.testing.assert_allclose(slope, losses.slopes(found), rtol=1e-4)
