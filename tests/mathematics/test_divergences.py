"""Distances keep their digits: against balls, against the notes' digits, against plain sums."""

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.mathematics import hellinger_rows, log_affinities, log_r
from discreet.mathematics._divergences import affinity_ball, hellinger, hockey_stick, l1_distance, total_variation

GOLDEN = [
    ((5, 5), (4, 6), 0.233629480708875276),
    ((1, 9), (5, 5), 0.837372585929585821),
    ((2.5, 3), (4, 7), 0.246407803778928993),
    ((21, 21, 21), (22, 20, 21), 0.110122822057332327),
    ((21, 21, 21), (61, 1, 1), 0.999999984480890709),
    ((1, 1, 1), (1, 1, 2), 0.276115137753435708),
    ((7, 4, 5), (40, 37, 39), 0.672730533441782226),
    ((1000001, 1000001), (1000000, 1000002), 0.000499999843750124023),
    ((0.5, 0.5), (0.5, 100.5), 0.815300974674260649),
]


@pytest.mark.parametrize(("first", "second", "distance"), GOLDEN)
def test_hellinger_has_all_digits(first: tuple[float, ...], second: tuple[float, ...], distance: float) -> None:
    assert hellinger(first, second) == pytest.approx(distance, rel=1e-15)
    assert float(hellinger_rows(first, second)) == pytest.approx(distance, rel=4e-15)


def test_log_r_has_all_digits() -> None:
    golden = {
        0.5: -0.225791352644727432,
        1: -0.120782237635245222,
        2: -0.0618907198070534951,
        5: -0.0249588189462795131,
        20: -0.00624934944569142317,
        1e6: -1.24999999999994792e-7,
    }
    found = log_r(np.array(list(golden), dtype=float))
    assert found == pytest.approx(list(golden.values()), rel=1e-15)
    assert np.exp(log_r(np.array([5.0])))[0] == pytest.approx(0.975350077145229273, rel=1e-15)


def exact_hellinger(a: list[float], b: list[float]) -> arb:
    with ctx.workprec(1200):
        return (1 - affinity_ball(a, b)).sqrt()


def test_hellinger_is_right_to_1e_12_from_a_thousandth_to_a_hundred_million() -> None:
    generator = np.random.default_rng(5)
    for number in range(400):
        a = 10 ** generator.uniform(-3, 8, int(generator.integers(2, 6)))
        factor = (1 + 10 ** generator.uniform(-6, 0), 1 + 10 ** generator.uniform(-8, 0, a.shape))[number % 2]
        b = (a * factor, 10 ** generator.uniform(-3, 8, a.shape))[number % 4 // 2]
        wanted = exact_hellinger(a.tolist(), b.tolist())
        assert hellinger(a, b) == pytest.approx(float(wanted), rel=1e-14)
        assert float(hellinger_rows(a, b)) == pytest.approx(float(wanted), rel=1e-12)


def test_rows_of_equal_totals_are_right_to_1e_13() -> None:
    generator = np.random.default_rng(6)
    for _ in range(300):
        size = int(10 ** generator.uniform(0, 7))
        alpha = 10 ** generator.uniform(-3, 3, 3)
        a, b = (alpha + generator.multinomial(size, generator.dirichlet(np.ones(3))) for _ in range(2))
        if (a != b).any():
            wanted = float(exact_hellinger(a.tolist(), b.tolist()))
            assert float(hellinger_rows(a, b)) == pytest.approx(wanted, rel=1e-13)


@pytest.mark.parametrize(("u", "v"), [(1e-3, 1e8), (3.2408, 3.2418), (12, 12 + 1e-7), (1e8, 1e8 + 1), (0.5, 0.5)])
def test_one_cells_affinity_keeps_its_digits(u: float, v: float) -> None:
    with ctx.workprec(400):
        one, two = arb(u), arb(v)
        wanted = float(((one + two) / 2).lgamma() - (one.lgamma() + two.lgamma()) / 2)
    assert float(log_affinities(u, v)) == pytest.approx(wanted, rel=1e-14, abs=0)


parameters = st.lists(st.floats(1e-3, 1e6), min_size=3, max_size=3)


@given(parameters, parameters, parameters)
def test_hellinger_is_a_metric_below_one(a: list[float], b: list[float], c: list[float]) -> None:
    assert 0 <= hellinger(a, b) <= 1
    assert hellinger(a, b) == hellinger(b, a)
    assert hellinger(a, a) == 0
    assert hellinger(a, c) <= hellinger(a, b) + hellinger(b, c) + 1e-15


def test_distances_of_probabilities_are_plain_sums() -> None:
    generator = np.random.default_rng(7)
    p, q = generator.dirichlet(np.ones(6), 2)
    assert total_variation(p, q) == pytest.approx(hockey_stick(p, q, 0), abs=1e-15)
    best = max(sum(p[i] - np.exp(0.3) * q[i] for i in range(6) if mask >> i & 1) for mask in range(64))
    assert hockey_stick(p, q, 0.3) == pytest.approx(best, abs=1e-15)
    assert l1_distance((7, 4, 5), (8, 3, 5)) == 2


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(dc.DeclarationError, match="2 and 3"):
        hellinger((1, 1), (1, 1, 1))
    with pytest.raises(dc.DeclarationError):
        total_variation((0.5, 0.5), (1.0,))
    with pytest.raises(dc.DeclarationError):
        hockey_stick((0.5, -0.5), (0.5, 0.5), 1)
