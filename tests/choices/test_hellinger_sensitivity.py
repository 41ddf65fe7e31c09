"""Sensitivities by closed forms and draining, against the definitions; the notes' propositions in corrected form."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from numpy.typing import NDArray

from discreet.choices._hellinger_sensitivity import (
    RELATIVE_ERROR,
    exponential,
    global_sensitivity,
    global_sensitivity_ball,
    least_sensitivity_ball,
    line_local_sensitivities,
    line_sensitivities,
    local_sensitivity,
    local_sensitivity_ball,
    normaliser_bound,
    published_gamma,
    reciprocal,
    reciprocal_sensitivity,
    sensitivity_ball,
    smooth_sensitivity,
)
from discreet.mathematics import hellinger_rows, log_r
from discreet.privacy import compositions

Floats = NDArray[np.float64]
PRIORS = [
    (1, 1),
    (7, 4),
    (0.01, 3),
    (1, 1, 1),
    (7, 4, 5),
    (0.1, 2, 9),
    (0.2, 5, 1, 2.5),
    (2, 2, 2, 2),
    (3, 3, 1, 1, 0.5),
]
RATES = (0, 0.01, 0.05, 0.2, 0.5, 1, 3)


def brute_force(alpha: Floats, size: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats, Floats]:
    """Return all tables, their distances in records, their Hellinger distances, and LS by its definition."""
    tables = np.array(list(compositions(size, len(alpha))))
    steps = np.maximum(tables[:, None] - tables[None], 0).sum(axis=-1)
    distances = hellinger_rows(alpha + tables[:, None], alpha + tables[None])
    gaps = np.abs(distances[:, None] - distances[None]).max(axis=-1)
    assert gaps == pytest.approx(distances, abs=1e-12)  # max_r |H(x, r) - H(y, r)| = H(x, y)
    return tables, steps, distances, np.where(steps == 1, gaps, 0).max(axis=1)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("size", [1, 2, 5])
def test_draining_finds_what_the_definitions_say(prior: tuple[float, ...], size: int) -> None:
    alpha = np.array(prior, dtype=float)
    tables, steps, _, local = brute_force(alpha, size)
    assert global_sensitivity(alpha, size) == pytest.approx(local.max(), rel=1e-12)
    assert float(least_sensitivity_ball(alpha, size)) <= local.min()
    for place, table in enumerate(tables):
        assert local_sensitivity(alpha, table) == pytest.approx(local[place], rel=1e-12)
        for rate in RATES:
            smooth = (local * np.exp(-rate * steps[place])).max()
            assert smooth_sensitivity(alpha, table, rate) == pytest.approx(smooth, rel=1e-12)
            varying = 1 / (1 / local + rate * steps[place]).min()
            assert reciprocal_sensitivity(alpha, table, rate) == pytest.approx(varying, rel=1e-12)


def test_draining_finds_what_the_definitions_say_for_random_priors() -> None:
    generator, compared = np.random.default_rng(8), 0
    for _ in range(90):
        cells = int(generator.integers(2, 5))
        alpha = 10 ** generator.uniform(-2, 1.5, cells)
        tables, steps, _, local = brute_force(alpha, int(generator.integers(1, 7)))
        for place, table in enumerate(tables):
            rate = float(10 ** generator.uniform(-3, 0.5))
            wanted = (local * np.exp(-rate * steps[place])).max()
            assert smooth_sensitivity(alpha, table, rate) == pytest.approx(wanted, rel=1e-12)
            varying = 1 / (1 / local + rate * steps[place]).min()
            assert reciprocal_sensitivity(alpha, table, rate) == pytest.approx(varying, rel=1e-12)
            compared += 2
    assert compared > 2_000


@pytest.mark.parametrize("prior", [(1, 1), (7, 4), (0.01, 3)])
def test_sweeps_along_a_line_agree_with_draining(prior: tuple[float, float]) -> None:
    alpha, size = np.array(prior), 37
    tables = np.array([(x, size - x) for x in range(size + 1)])
    assert line_local_sensitivities(alpha, size) == pytest.approx([local_sensitivity(alpha, t) for t in tables])
    for rate in RATES:
        smooth = line_sensitivities(alpha, size, exponential(lambda rate=rate: arb(rate)))  # type: ignore[misc]
        assert smooth == pytest.approx([smooth_sensitivity(alpha, t, rate) for t in tables], rel=1e-13)
        varying = line_sensitivities(alpha, size, reciprocal(Fraction(rate)))
        assert varying == pytest.approx([reciprocal_sensitivity(alpha, t, rate) for t in tables], rel=1e-13)


def test_floats_are_as_close_to_the_balls_as_certificates_assume() -> None:
    generator = np.random.default_rng(9)
    for _ in range(200):
        cells = int(generator.integers(2, 6))
        alpha = 10 ** generator.uniform(-6, 6, cells)
        table = generator.multinomial(int(10 ** generator.uniform(0, 4)), generator.dirichlet(np.ones(cells)))
        rate = float(10 ** generator.uniform(-4, 0))
        decay = reciprocal(Fraction(rate))
        with ctx.workprec(300):
            pairs = [
                (sensitivity_ball(alpha, table, decay), reciprocal_sensitivity(alpha, table, rate)),
                (local_sensitivity_ball(alpha, table), local_sensitivity(alpha, table)),
                (global_sensitivity_ball(alpha, int(table.sum())), global_sensitivity(alpha, int(table.sum()))),
            ]
            for exact, near in pairs:
                assert abs(float((arb(near) - exact) / exact)) < RELATIVE_ERROR


@pytest.mark.parametrize(
    ("prior", "size", "wanted"),
    [
        ((1, 1), 8, 0.357076903747851466),
        ((1, 1), 100, 0.338939760898314739),
        ((7, 4), 500, 0.175865644447415146),
        ((0.5, 0.5), 10, 0.461021024916210077),
        ((1, 1, 1), 17, 0.463251375176104243),
        ((7, 4, 5), 30, 0.233629480708875276),  # the later notes print 0.239992747797, of a table below the prior
    ],
)
def test_global_sensitivity_has_all_digits(prior: tuple[float, ...], size: int, wanted: float) -> None:
    assert global_sensitivity(np.array(prior, dtype=float), size) == pytest.approx(wanted, rel=4e-15)


def test_the_off_lattice_figure_of_the_notes_is_understood() -> None:
    wanted = np.sqrt(-np.expm1(log_r(np.array([7.0])) + log_r(np.array([3.0]))))[0]
    assert wanted == pytest.approx(0.239992747797, abs=5e-13)


@pytest.mark.parametrize(
    ("epsilon", "delta", "candidates", "wanted"),
    [
        ("1", "1e-8", 101, 0.0208523788548366267),
        ("0.8", "5e-4", 101, 0.0305153594240618085),
        ("0.8", "0.8", 100, 0.069940710811485642),
        ("1", "1e-8", 9, 0.0231910018784999068),
        ("1", "1e-8", 5151, 0.0179147081684927007),
    ],
)
def test_the_papers_gamma_has_all_digits(epsilon: str, delta: str, candidates: int, wanted: float) -> None:
    assert float(published_gamma(Fraction(epsilon), Fraction(delta), candidates)) == pytest.approx(wanted, rel=1e-13)


def test_local_and_smooth_sensitivities_of_eight_records() -> None:
    alpha, gamma = np.ones(2), 0.0231910018784999068
    local = [local_sensitivity(alpha, np.array([x, 8 - x])) for x in range(5)]
    wanted = [
        0.357076903747851466,
        0.357076903747851466,
        0.276833769410903653,
        0.24574139200232635,
        0.233629480708875276,
    ]
    assert local == pytest.approx(wanted, rel=4e-15)
    smooth = [smooth_sensitivity(alpha, np.array([x, 8 - x]), gamma) for x in (2, 3, 4)]
    assert smooth == pytest.approx([0.348891216612450997, 0.340893179457139905, 0.333078490564243779], rel=1e-14)


@pytest.mark.parametrize(
    ("prior", "size", "wanted"),
    [((1, 1), 20, 0.282547716419216686), ((7, 4), 20, 0.153781141666973271), ((0.5, 0.5), 20, 0.372383912488509866),
     ((1, 1), 100, 0.12200424402745), ((1, 1), 400, 0.03530031460834), ((1, 1), 1000, 0.02234672649643)],
)  # fmt: skip
def test_smooth_sensitivity_of_balanced_data(prior: tuple[float, float], size: int, wanted: float) -> None:
    gamma = float(published_gamma(Fraction(1), Fraction(1, 10**8), size + 1))
    found = smooth_sensitivity(np.array(prior), np.array([size // 2, size // 2]), gamma)
    assert found == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("size", [10, 300, 5_000])
def test_smooth_sensitivities_are_as_close_to_the_balls_as_certificates_assume(size: int) -> None:
    for prior in PRIORS[:3]:
        alpha = np.array(prior, dtype=float)
        decay = exponential(lambda: published_gamma(Fraction(1), Fraction(1, 10**8), size + 1))
        found = line_sensitivities(alpha, size, decay)
        for x in range(0, size + 1, max(1, size // 7)):
            with ctx.workprec(300):
                wanted = sensitivity_ball(alpha, np.array([x, size - x]), decay)
                assert abs(float((arb(float(found[x])) - wanted) / wanted)) < RELATIVE_ERROR


def test_a_thousand_cells_of_a_million_records_are_no_trouble() -> None:
    generator = np.random.default_rng(10)
    alpha = np.ones(1000)
    table = generator.multinomial(10**6, generator.dirichlet(alpha))
    assert local_sensitivity(alpha, table) <= smooth_sensitivity(alpha, table, 0.02) <= global_sensitivity(alpha, 10**6)


def edges(size: int) -> Floats:
    """Return H between the posteriors of s and s + 1 successes, s = 0, ..., n - 1, for a uniform prior."""
    logs = log_r(np.arange(1.0, size + 1))
    return np.asarray(np.sqrt(-np.expm1(logs + logs[::-1])))


@pytest.mark.parametrize("size", range(2, 60))
def test_proposition_one_edges_grow_away_from_the_middle(size: int) -> None:
    found = edges(size)
    for x in range(size - 1):
        if 2 * x == size - 2:
            assert found[x] == pytest.approx(found[x + 1], rel=1e-13)
        else:
            assert (found[x] < found[x + 1]) == (2 * x > size - 2)


@pytest.mark.parametrize("size", range(1, 60))
def test_proposition_two_local_sensitivity_is_the_edge_away_from_the_middle(size: int) -> None:
    found, local = edges(size), line_local_sensitivities(np.ones(2), size)
    for x in range(size + 1):
        outward = min(x, size - 1) if 2 * x >= size else max(x - 1, 0)
        assert local[x] == pytest.approx(found[outward], rel=1e-13)


@pytest.mark.parametrize("size", range(1, 60))
def test_proposition_three_the_ends_are_the_most_sensitive_from_four_records_on(size: int) -> None:
    local = line_local_sensitivities(np.ones(2), size)
    assert local[0] == pytest.approx(local.max(), rel=1e-13)
    strict = local[size // 2] < local[0] * (1 - 1e-9)
    assert strict == (size >= 4)


@pytest.mark.parametrize(
    ("size", "cells", "candidates", "wanted"),
    [(8, 2, 9, 2.46214063550197518), (100, 2, 101, 2.48331311158024032), (30, 3, 496, 6.05974450941083515)],
)
def test_the_normaliser_bound_has_all_digits(size: int, cells: int, candidates: int, wanted: float) -> None:
    gamma = float(published_gamma(Fraction(1), Fraction(1, 10**8), candidates))
    assert normaliser_bound(1, gamma, size, cells) == pytest.approx(wanted, rel=1e-12)
