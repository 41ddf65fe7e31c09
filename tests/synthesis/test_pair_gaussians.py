"""PairGaussians and GaussianPairTables: every step costs what it may, whatever was published, and mistakes are found.

The listing of a small instance through `log_prob` is in tests/contracts and tests/privacy; here single steps are
compared given what was published before, which is what adaptive composition asks, and by arithmetic of its own.
"""

from fractions import Fraction
from functools import cache, partial
from itertools import combinations, product
from math import exp, log
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.mechanism import with_fields
from discreet.synthesis import GaussianPairTables, OwnSums, PairGaussians, Synthesis
from discreet.synthesis._mechanisms import PARTS

THREE = Synthesis(list("abc"), levels=dict.fromkeys("abc", (0, 1)), outside=0)
MIXED = Synthesis(list("abcd"), levels={"a": (0, 1), "b": (0, 1, 2), "c": (0, 1), "d": (0, 1, 2, 3)}, outside=0)
KINDS = [tuple(record) for record in product((0, 1), repeat=3)]
Records = tuple[tuple[int, ...], ...]
ORDERS = (1.01, 2.0, 8.0, 32.0)


def counted(records: Records) -> tuple[np.ndarray, np.ndarray]:
    """Count records one by one: all single columns, then all pairs."""
    ones, pairs = np.zeros((3, 2), dtype=int), np.zeros((3, 2, 2), dtype=int)
    for record in records:
        for column in range(3):
            ones[column, record[column]] += 1
        for index, (a, b) in enumerate(combinations(range(3), 2)):
            pairs[index, record[a], record[b]] += 1
    return ones, pairs


@cache
def divergence(variance: Fraction, moved: int, order: float) -> float:
    """Return D_a of discrete Gaussians of one variance whose middles are so far apart: a sum over whole numbers."""
    v = float(variance)
    reach = int(40 * v**0.5) + abs(moved) * (int(order) + 2) + 20
    u = np.arange(-reach, reach + 1)
    logs = -(u**2) / (2 * v)
    norm = np.logaddexp.reduce(logs)
    first, second = logs - norm, -((u - moved) ** 2) / (2 * v) - norm
    return float(np.logaddexp.reduce(order * first + (1 - order) * second) / (order - 1))


def cost_of(mechanism: Any, output: np.ndarray, one: Records, two: Records, order: float) -> float:
    """Return the sum over all steps of D_a of what they publish of two data sets, given what came before."""
    (ones, pairs), (other_ones, other_pairs) = counted(one), counted(two)
    total = sum(divergence(mechanism.one_way_variance, int(c), order) for c in (ones - other_ones).ravel())
    pieces, never = mechanism.pieces(output), np.ones(3, dtype=bool)
    for number in range(mechanism.rounds):
        references = mechanism.references(output, number).reshape(3, 2, 2)
        scores = [np.abs(each - references).sum(axis=(1, 2)) for each in (pairs, other_pairs)]
        total += sum(divergence(mechanism.score_variance, int(c), order) for c in scores[0] - scores[1])
        for index, part in enumerate(pieces[2 + 3 * number].tolist()):
            if part:
                never[index] = False
                moved = (pairs[index] - other_pairs[index]).ravel()
                total += sum(divergence(mechanism.table_variance(part), int(c), order) for c in moved)
    if mechanism.check and never.any():
        references = mechanism.references(output, mechanism.rounds).reshape(3, 2, 2)
        scores = [np.abs(each - references).sum(axis=(1, 2)) for each in (pairs, other_pairs)]
        variance = mechanism.check_variance(int(never.sum()))
        total += sum(divergence(variance, int(c), order) for c in (scores[0] - scores[1])[never])
    return total


def neighbours(is_sized: bool) -> list[tuple[Records, Records]]:
    """Return pairs of data sets of four records of which one is replaced, or of which one has a record more."""
    others = [(KINDS[0],) * 3, (KINDS[0], KINDS[7], KINDS[3]), (KINDS[5], KINDS[2], KINDS[6]), ()]
    if not is_sized:
        return [((*rest, kind), rest) for rest in others for kind in KINDS]
    return [((*rest, x), (*rest, y)) for rest in others[:3] for x in KINDS for y in KINDS if x != y]


MECHANISMS = [
    PairGaussians(THREE, 4, "2", "1e-3", cells=100),
    PairGaussians(THREE, 4, "8", "1e-3", rounds=1, cells=8),
    PairGaussians(THREE, 4, "8", "1e-3", rounds=2, cells=6, check="1/10"),
    GaussianPairTables(THREE, "8", "1e-3", cells=8, check="1/10"),
    GaussianPairTables(THREE, "2", "1e-3", rounds=3),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_no_pair_of_neighbours_costs_more_than_rho_whatever_was_published(mechanism: Any) -> None:
    """Three columns of two levels and four records: both data sets of a pair are tried, and what others published."""
    is_sized, largest = hasattr(mechanism, "size"), 0.0
    pairs = neighbours(is_sized)
    start = pairs[5][0]
    counts = np.concatenate([table.ravel() for table in counted(start)[1]])
    outputs = mechanism.sample(np.tile(counts, (6, 1)), dc.SeededBits(4))
    for output in outputs:
        mechanism.space.check(output)
        for one, two in pairs:
            for order in ORDERS:
                largest = max(
                    largest,
                    cost_of(mechanism, output, one, two, order) / order,
                    cost_of(mechanism, output, two, one, order) / order,
                )
    rho = float(mechanism.rho)
    assert largest <= rho * (1 + 1e-9)
    assert largest > 0.75 * rho  # a record that differs everywhere uses nearly all of it


def test_what_a_mechanism_states_follows_from_rho() -> None:
    mechanism = PairGaussians(MIXED, 5000, 1, "1e-6", check="1/20")
    rho = mechanism.rho
    costs = [Fraction(4) / (2 * mechanism.one_way_variance)]  # four columns, each 2 / (2 v)
    costs += [Fraction(4 * 6) / (2 * mechanism.score_variance)] * 2  # six scores that move by 2
    costs += [mechanism.table_rho] * 2
    costs += [Fraction(4 * 6) / (2 * mechanism.check_variance(6))]
    assert costs[0] <= rho / 10
    assert sum(costs) + Fraction(4) / (2 * mechanism.one_way_variance) <= rho
    for part in (1, 7, PARTS // 3, PARTS):
        cost = Fraction(2) / (2 * mechanism.table_variance(part))
        assert cost <= mechanism.table_rho * part / PARTS
        assert float(cost) == pytest.approx(float(mechanism.table_rho * part / PARTS), rel=1e-5)


@pytest.mark.parametrize("kind", [PairGaussians, GaussianPairTables])
def test_tables_cost_their_precision(kind: Any) -> None:
    """A table with noise of precision tau costs rho = tau if a record is replaced, half of it if one comes or goes."""
    given: Any = {"size": 10} if kind is PairGaussians else {}
    mechanism = kind(THREE, **given, epsilon=1, delta="1e-6")
    part = PARTS // 5
    tau = 1 / mechanism.table_variance(part)
    cost = tau if kind is PairGaussians else tau / 2
    assert float(cost) == pytest.approx(float(mechanism.table_rho) / 5, rel=1e-4)


def made_up(size: int, seed: int) -> np.ndarray:
    return np.asarray(MIXED.simulate(size, np.random.default_rng(seed)).statistics)


def test_the_likelihood_is_that_of_noise_step_by_step() -> None:
    mechanism = PairGaussians(MIXED, 60, 20, "1e-3", check="1/10", cells=16)
    counts = made_up(60, 3)
    output = mechanism.sample(counts, dc.SeededBits(5))
    ones, *rest = mechanism.pieces(output)

    def log_of(noise: np.ndarray, variance: Fraction) -> float:
        norm = log(sum(exp(-(u**2) / (2 * float(variance))) for u in range(-400, 401)))
        return float((-(noise.astype(float) ** 2) / (2 * float(variance)) - norm).sum())

    total = log_of(ones - np.concatenate(MIXED.one_way(counts)), mechanism.one_way_variance)
    never = np.ones(6, dtype=bool)
    for number in range(2):
        scores, parts, cells = rest[3 * number : 3 * number + 3]
        expected = [
            np.abs(a - b).sum()
            for a, b in zip(MIXED.split(counts), MIXED.split(mechanism.references(output, number)), strict=True)
        ]
        total += log_of(scores - np.array(expected), mechanism.score_variance)
        assert np.array_equal(parts, mechanism.parts_for(output, number))
        for part, noisy, own in zip(parts.tolist(), MIXED.split(cells), MIXED.split(counts), strict=True):
            total += log_of(noisy - own, mechanism.table_variance(part)) if part else 0.0
        never &= parts == 0
    assert never.any()
    references = MIXED.split(mechanism.references(output, 2))
    expected = [np.abs(a - b).sum() for a, b in zip(MIXED.split(counts), references, strict=True)]
    total += log_of((rest[-1] - np.array(expected))[never], mechanism.check_variance(int(never.sum())))
    assert mechanism.log_prob(output, counts) == pytest.approx(total, rel=1e-9)
    both = mechanism.log_prob(np.stack([output, output]), np.stack([counts, made_up(60, 4)]))
    assert both[0] == pytest.approx(total, rel=1e-9)
    assert both[1] < both[0]


def test_what_is_measured_follows_from_what_was_published_alone() -> None:
    """Two data sets, the same noise of a first round that hides them: the same parts; and all scores are asked."""
    mechanism = PairGaussians(MIXED, 60, 1, "1e-3", rounds=1)
    output = mechanism.sample(made_up(60, 3), dc.SeededBits(6))
    again = output.copy()
    again[mechanism._edges[3] :] = 0  # what comes after the scores does not matter for the parts
    assert np.array_equal(mechanism.parts_for(output, 0), mechanism.parts_for(again, 0))


def test_the_model_stays_within_its_cells() -> None:
    for cells in (14, 20, 60):
        mechanism = PairGaussians(MIXED, 3000, 50, "1e-3", cells=cells)
        output = mechanism.sample(made_up(3000, 9), dc.SeededBits(7))
        fitted = mechanism.model_after(output, 2)
        assert sum(margin.size for margin in fitted.margins) <= cells


def test_own_sums_are_generalised_least_squares() -> None:
    """Three columns, tables with several precisions: the closed form against a dense design."""
    mechanism = PairGaussians(MIXED, 800, 3, "1e-3", cells=30)
    output = mechanism.sample(made_up(800, 5), dc.SeededBits(8))
    tables = mechanism.noisy_tables(output)
    design, values, weights = [], [], []
    every = list(np.ndindex(*MIXED.levels))  # least squares over the table of all cells, the total known
    for table in tables:
        for cell in np.ndindex(*table.values.shape):
            design.append([float(tuple(c[v] for v in table.columns) == cell) for c in every])
            values.append(table.values[cell])
            weights.append(table.precision**0.5)
    matrix, target, weight = np.array(design), np.array(values), np.array(weights)
    centre = 800 / len(every)
    basis = np.linalg.qr(np.column_stack([np.ones(len(every)), np.eye(len(every))[:, 1:]]))[0][:, 1:]
    scaled = (matrix @ basis) * weight[:, None]
    solution, *_ = np.linalg.lstsq(scaled, (target - matrix @ np.full(len(every), centre)) * weight, rcond=1e-10)
    fitted = (basis @ solution + centre).reshape(MIXED.levels)
    covariance = basis @ np.linalg.pinv(scaled.T @ scaled, rcond=1e-10) @ basis.T
    sums = OwnSums.of(MIXED.levels, 800.0, 0.0, tables)
    assert sums.pairs
    for columns in [*((v,) for v in range(4)), *sums.pairs]:
        margin = fitted.sum(axis=tuple(v for v in range(4) if v not in columns))
        np.testing.assert_allclose(sums.table(columns), margin, atol=1e-8)
        inside = np.array([float(all(c[v] == 0 for v in columns)) for c in every])
        assert sums.variance(columns) == pytest.approx(float(inside @ covariance @ inside), rel=1e-8)
        weights_of = np.random.default_rng(1).standard_normal([MIXED.levels[v] for v in columns])
        total = np.array([weights_of[tuple(c[v] for v in columns)] for c in every])
        assert sums.variance(columns, weights_of) == pytest.approx(float(total @ covariance @ total), rel=1e-8)


def planted(**parts: Any) -> Any:
    return type("PairGaussians", (PairGaussians,), parts)(THREE, 200, 1, "1e-6")


@pytest.mark.parametrize(
    "parts",
    [
        {"moved": 1},
        {"step": 1, "scores": None},
        {"score_variance": property(lambda self: PairGaussians.score_variance.func(self) / 4)},  # type: ignore[attr-defined]
        {"one_way_variance": property(lambda self: PairGaussians.one_way_variance.func(self) / 3)},  # type: ignore[attr-defined]
        {"table_rho": property(lambda self: (1 - self.one_way - self.scores) * self.rho)},
    ],
    ids=["a table moves by one", "a score moves by one", "scores in one round", "one column", "each round costs all"],
)
def test_planted_mistakes_are_found(parts: dict[str, Any]) -> None:
    honest = PairGaussians(THREE, 200, 1, "1e-6")
    assert dc.verify(honest).guarantee.epsilon == 1
    if "scores" in parts:  # with the usual share this mistake hides in what rounding and small tables leave over
        kind = type("PairGaussians", (PairGaussians,), {"step": 1})
        mechanism = kind(THREE, 200, 1, "1e-6", scores="1/2")
    else:
        mechanism = planted(**parts)
    with pytest.raises(dc.VerificationError, match="rho"):
        dc.verify(mechanism)


def test_a_pure_epsilon_is_refused_with_the_reason() -> None:
    with pytest.raises(dc.DeclarationError, match="costs add without squares"):
        PairGaussians(THREE, 100, 1, 0)
    with pytest.raises(dc.DeclarationError, match="shares of rho"):
        PairGaussians(THREE, 100, 1, "1e-6", one_way="0.6", scores="0.5")
    with pytest.raises(dc.DeclarationError, match="at least two columns"):
        Synthesis(["a"], levels={"a": (0, 1)}, outside=0)
    assert with_fields(MECHANISMS[0], epsilon=3).rho > MECHANISMS[0].rho


def test_outputs_that_no_step_can_have_given_are_refused() -> None:
    mechanism = PairGaussians(THREE, 4, "8", "1e-3", rounds=1, cells=6)
    output = mechanism.sample(np.concatenate([t.ravel() for t in counted(((0, 0, 0),) * 4)[1]]), dc.SeededBits(1))
    start = 6 + 3
    for index, value, words in [(start, PARTS + 1, "add up to at most"), (start, -1, "add up to at most")]:
        wrong = output.copy()
        wrong[index] = value
        with pytest.raises(dc.DocumentError, match=words):
            mechanism.space.check(wrong)
    unmeasured = int(np.flatnonzero(output[start : start + 3] == 0)[0])
    wrong = output.copy()
    wrong[start + 3 + 4 * unmeasured] = 5
    with pytest.raises(dc.DocumentError, match="was not measured"):
        mechanism.space.check(wrong)


def log_power_sum(one: Records, two: Records, mechanism: Any, output: np.ndarray, order: int) -> float:
    """Return log sum P(z)^a Q(z)^(1-a) over all scores z of a round, times that of the tables which z chooses."""
    (_, pairs), (_, other_pairs) = counted(one), counted(two)
    references = mechanism.references(output, 0).reshape(3, 2, 2)
    scores, others = (np.abs(each - references).sum(axis=(1, 2)) for each in (pairs, other_pairs))
    variance = float(mechanism.score_variance)
    reach = int(9 * order * variance**0.5) + 1
    values = np.arange(-reach, reach + 1)
    log_norm = np.logaddexp.reduce(-(values**2) / (2 * variance))
    logs = []
    for first, second in zip(scores.tolist(), others.tolist(), strict=True):
        at = np.arange(min(first, second) - reach, max(first, second) + reach + 1)
        both = order * -((at - first) ** 2) + (1 - order) * -((at - second) ** 2)
        likely = both / (2 * variance) - log_norm > -23
        logs.append(list(zip(at[likely].tolist(), (both[likely] / (2 * variance) - log_norm).tolist(), strict=True)))
    edges, total = mechanism._edges, -np.inf
    published = np.concatenate([output[: edges[1]], np.zeros(3, dtype=np.int64)])
    for chosen in product(*logs):
        published[edges[1] :] = [value for value, _ in chosen]
        parts = mechanism.parts_for(published, 0).tolist()
        cost = sum(log_p for _, log_p in chosen)
        for index, part in enumerate(parts):
            if part:
                moved = (pairs[index] - other_pairs[index]).ravel()
                cost += (order - 1) * sum(divergence(mechanism.table_variance(part), int(c), order) for c in moved)
        total = float(np.logaddexp(total, cost))
    return total


@pytest.mark.parametrize("is_sized", [True, False], ids=["replaced", "added"])
def test_the_choice_and_its_tables_together_cost_their_shares_of_rho_listed_over_all_scores(is_sized: bool) -> None:
    """Three columns of two levels, few records: every score that has a probability, and the tables it leads to."""
    made: Any = partial(PairGaussians, THREE, 3) if is_sized else partial(GaussianPairTables, THREE)
    mechanism = made("150", "1e-3", rounds=1, cells=6, scores="3/5")
    one: Records = (KINDS[0], KINDS[7], KINDS[0])
    two: Records = (KINDS[0], KINDS[7], KINDS[7]) if is_sized else (KINDS[0], KINDS[7])
    output = mechanism.sample(np.concatenate([t.ravel() for t in counted(one)[1]]), dc.SeededBits(2))
    allowed = float(mechanism.scores * mechanism.rho + mechanism.table_rho)
    found = [log_power_sum(*pair, mechanism, output, 2) for pair in ((one, two), (two, one))]
    assert max(found) <= 2 * allowed * (1 + 1e-9)  # D_a <= a rho
    assert max(found) > 0.6 * allowed
    dearer = with_fields(mechanism, epsilon="500")  # the same steps with the noise of a mistake
    assert max(log_power_sum(*pair, dearer, output, 2) for pair in ((one, two), (two, one))) > 2 * allowed
