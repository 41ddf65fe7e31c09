"""Hellinger mechanisms cost what they declare: by comparison, by the series, and by what is proved beyond both."""

from fractions import Fraction
from math import comb, exp, sqrt

import numpy as np
import pytest
from flint import arb, ctx
from scipy.special import gammaln

import discreet as dc
from discreet.choices import HellingerGlobal, HellingerReciprocal, HellingerSmooth, HellingerSmoothProved
from discreet.choices import _hellinger_series as hellinger_series
from discreet.choices._hellinger_sensitivity import global_sensitivity_ball
from discreet.choices._hellinger_series import _coefficients, _concave_above, pair_sums, series_epsilon, stretches
from discreet.privacy import compositions
from discreet.release import mechanism_document, read_mechanism
from discreet_papers.as_published import PublishedHellingerGlobal, PublishedHellingerSmooth


def table_of(*prior: float) -> dc.Categories:
    return dc.Categories("x", levels=tuple(range(len(prior))), outside=0, prior=prior)


def affinities(alpha: tuple[float, ...], size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return all tables and the affinities of all pairs, by differences of log gammas."""
    tables = np.array(list(compositions(size, len(alpha))))
    a = np.array(alpha) + tables
    logs = gammaln((a[:, None] + a) / 2).sum(axis=-1) - (gammaln(a).sum(-1)[:, None] + gammaln(a).sum(-1)) / 2
    return tables, np.exp(np.minimum(0.0, logs))


def slow_epsilon(alpha: tuple[float, ...], size: int, scale: float) -> float:
    """Return the largest log ratio over all neighbours and candidates of P ~ e^(-scale H / GS)."""
    tables, overlap = affinities(alpha, size)
    distances = np.sqrt(np.maximum(0.0, 1 - overlap))
    np.fill_diagonal(distances, 0.0)
    near = np.abs(tables[:, None] - tables).sum(axis=-1) == 2
    logs = -scale / distances[near].max() * distances
    logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
    first, second = np.nonzero(near)
    return float(np.abs(logs[first] - logs[second]).max())


CASES = [
    (HellingerGlobal, {}),
    (HellingerReciprocal, {}),
    (HellingerSmooth, {"delta": "1e-3"}),
    (HellingerSmoothProved, {"delta": "1e-3"}),
]


@pytest.mark.parametrize(("kind", "more"), CASES)
@pytest.mark.parametrize(("prior", "size", "epsilon"), [((1, 1), 12, "0.5"), ((0.3, 2, 1), 6, 2), ((1,) * 4, 600, 1)])
def test_what_is_declared_is_charged(
    kind: type[dc.Mechanism],
    more: dict[str, str],
    prior: tuple[float, ...],
    size: int,
    epsilon: object,
    tmp_path: object,
) -> None:
    mechanism = kind(table_of(*prior), size, epsilon, **more)  # type: ignore[call-arg]
    assert mechanism.guarantee.epsilon == Fraction(str(epsilon))
    ledger = dc.Ledger.create(f"{tmp_path}/one.ledger", epsilon=3, delta="0.01")
    ledger.charge(mechanism.guarantee, "x", mechanism_document(mechanism))
    assert ledger.spent.epsilon == Fraction(str(epsilon))
    assert read_mechanism(mechanism_document(mechanism)) == mechanism


@pytest.mark.parametrize(("prior", "size", "epsilon"), [((1, 1), 9, 1), ((1, 1, 1), 5, 1), ((0.5, 2, 1), 4, "0.4")])
def test_the_global_scale_uses_all_of_epsilon(prior: tuple[float, ...], size: int, epsilon: object) -> None:
    mechanism = HellingerGlobal(table_of(*prior), size, epsilon)  # type: ignore[arg-type]
    found = slow_epsilon(tuple(map(float, prior)), size, float(mechanism.scale))
    assert float(mechanism.epsilon) * (1 - 2e-5) <= found <= float(mechanism.epsilon) * (1 + 1e-9)


PINS = [
    (20, 1, 1.9954, 0.9977),
    (20, 2, 1.978, 1.978),
    (20, 5, 1.918, 4.796),
    (40, 1, 1.9985, 0.9992),
    (40, 2, 1.990, 1.990),
    (40, 5, 1.914, 4.785),
]


@pytest.mark.parametrize(("size", "epsilon", "gain", "enumerated"), PINS)
def test_published_scales_of_three_cells_may_be_nearly_doubled(
    size: int, epsilon: int, gain: float, enumerated: float
) -> None:
    """Scales and losses that were worked out apart from the library, to their digits."""
    assert slow_epsilon((1.0, 1.0, 1.0), size, gain * epsilon / 2) == pytest.approx(enumerated, rel=3e-4)
    assert float(HellingerGlobal(table_of(1, 1, 1), size, epsilon).scale) >= gain * epsilon / 2


@pytest.mark.parametrize(
    ("alpha", "size", "epsilon"),
    [
        ((1.0,) * 3, 8, 0.5),
        ((1.0,) * 3, 8, 2.0),
        ((1.0,) * 3, 20, 1.0),
        ((0.5, 2.0, 1.0), 12, 5.0),
        ((1.0,) * 4, 9, 3.0),
    ],
)
def test_the_series_lies_above_what_is_enumerated(alpha: tuple[float, ...], size: int, epsilon: float) -> None:
    sensitivity, candidates = global_sensitivity_ball(np.array(alpha), size), comb(size + len(alpha) - 1, size)
    bound = series_epsilon(Fraction(epsilon), sensitivity, candidates, pair_sums(alpha, size))
    assert slow_epsilon(alpha, size, epsilon) <= bound
    assert bound <= 2 * epsilon + 1e-6


@pytest.mark.parametrize(("alpha", "size"), [((1.0,) * 3, 14), ((0.3, 2.0, 1.0), 11), ((1.0,) * 4, 7), ((0.5,) * 5, 4)])
@pytest.mark.parametrize(("alone", "growth"), [(24, 1.08), (2, 1.6)])
def test_distances_and_sums_of_affinities_are_bounded_for_every_pair(
    alpha: tuple[float, ...], size: int, alone: int, growth: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every pair of neighbours is listed, with counts one by one and put together in stretches."""
    monkeypatch.setattr(hellinger_series, "_ALONE", alone)
    monkeypatch.setattr(hellinger_series, "_GROWTH", growth)
    sums, (first, _) = pair_sums.__wrapped__(alpha, size), stretches(size - 1)
    assert (len(first) < size) is (alone == 2 and size > 4)
    kinds = [(a, b) for a in range(len(first)) for b in range(len(first)) if first[a] + first[b] < size]
    places = {kind: place for place, kind in enumerate(kinds)}
    tables, overlap = affinities(alpha, size)
    powers = np.array([(overlap**j).sum(axis=1) for j in range(1, 13)])
    tight = []
    for x, y in zip(*np.nonzero(np.abs(tables[:, None] - tables).sum(axis=-1) == 2), strict=True):
        change = tables[x] - tables[y]
        a, b = tables[y][change == 1][0], tables[x][change == -1][0]
        place = places[tuple(int(np.searchsorted(first, each, side="right")) - 1 for each in (a, b))]  # type: ignore[index]
        assert sqrt(1 - overlap[x, y]) <= sums.distance[place]
        assert (powers[:, y] <= sums.above[:12, place]).all()
        assert (powers[:, x] >= sums.below[:12, place]).all()
        tight.append((sums.above[:12, place] / powers[:, y]).min())
    assert min(tight) < 2
    assert (np.diff(sums.above, axis=0) <= 1e-9).all()


def test_strong_priors_are_bounded_with_all_their_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where ln Gammas are large they are not subtracted; where they are not, both ways agree."""
    usual = [pair_sums.__wrapped__(*case) for case in (((1e9,) * 3, 30), ((1.0, 1.0, 0.5), 30))]
    assert usual[0].above[0].max() == pytest.approx(31**2, rel=5e-7)  # affinities of 1, all of them
    monkeypatch.setattr(hellinger_series, "_MOST_GAMMA", 0)
    slow = [pair_sums.__wrapped__(*case) for case in (((1e9,) * 3, 30), ((1.0, 1.0, 0.5), 30))]
    for one, two in zip(usual, slow, strict=True):
        assert one.above == pytest.approx(two.above, rel=1e-10)
        assert one.below == pytest.approx(two.below, rel=1e-10)


def test_stretches_hold_the_bounds_of_every_count_in_them(monkeypatch: pytest.MonkeyPatch) -> None:
    alpha, size = (0.5, 1.0, 2.0, 1.0), 40
    monkeypatch.setattr(hellinger_series, "_ALONE", size)
    single = pair_sums.__wrapped__(alpha, size)
    counts = np.array([(a, b) for a in range(size) for b in range(size) if a + b < size])
    monkeypatch.setattr(hellinger_series, "_ALONE", 2)
    monkeypatch.setattr(hellinger_series, "_GROWTH", 1.6)
    wide, (first, last) = pair_sums.__wrapped__(alpha, size), stretches(size - 1)
    assert (first[1:] == last[:-1] + 1).all()
    assert last[-1] == size - 1
    kinds = [(a, b) for a in range(len(first)) for b in range(len(first)) if first[a] + first[b] < size]
    for place, (a, b) in enumerate(kinds):
        low, high = np.array([first[a], first[b]]), np.array([last[a], last[b]])
        own = ((counts >= low) & (counts <= high)).all(axis=1)
        assert single.distance[own].max() <= wide.distance[place]
        assert (single.above[:, own].max(axis=1) <= wide.above[:, place]).all()
        assert (single.below[:, own].min(axis=1) >= wide.below[:, place]).all()


def test_the_bound_in_floats_is_that_of_balls() -> None:
    """The same sums for all pairs, in balls of 300 bits."""
    alpha, size, scale = (1.0, 1.0, 1.0), 60, Fraction(9, 2)
    sums, candidates = pair_sums(alpha, size), comb(size + 2, 2)
    with ctx.workprec(300):
        sensitivity = global_sensitivity_ball(np.array(alpha), size)
        k = arb(9) / 2 / sensitivity
        weights = _coefficients(k, len(sums.above))
        rest, found = k.exp() - sum(weights, arb(0)), []
        for place in range(len(sums.distance)):
            above, below = (column[:, place].tolist() for column in (sums.above, sums.below))
            top = candidates + sum(
                (a * arb(s) for a, s in zip(weights[1:], above, strict=False)), rest * arb(above[-1])
            )
            low = candidates + sum((a * arb(s) for a, s in zip(weights[1:], below, strict=False)), rest)
            found.append(float((k * arb(float(sums.distance[place])) + (top / low).log()).upper()))
    assert max(found) <= series_epsilon(scale, sensitivity, candidates, sums) <= max(found) * (1 + 1e-6) + 1e-8


def test_the_coefficients_are_those_of_the_exponential() -> None:
    for k in (0.5, 3.0):
        weights = [float(a) for a in _coefficients(arb(k), 80)]
        assert min(weights) >= 0
        assert sum(weights) <= exp(k)
        for b in (0.1, 0.6):
            assert sum(a * b**j for j, a in enumerate(weights)) == pytest.approx(exp(k * (1 - sqrt(1 - b))), rel=1e-9)


def test_a_concave_hull_lies_above_its_points_and_touches_them() -> None:
    generator = np.random.default_rng(3)
    values = np.cumsum(generator.random(30) * (generator.random(30) < 0.5))
    hull = _concave_above(values, np.arange(30.0))
    assert (hull >= values - 1e-12).all()
    assert (np.diff(hull, 2) <= 1e-12).all()
    assert np.isclose(hull, values).sum() >= 2


@pytest.mark.parametrize(("epsilon", "gain"), [("0.5", 1.9998), (1, 1.9998), (2, 1.9997), (5, 1.9914)])
def test_six_hundred_records_in_four_cells_use_nearly_all_of_epsilon(epsilon: object, gain: float) -> None:
    mechanism = HellingerGlobal(table_of(1, 1, 1, 1), 600, epsilon)  # type: ignore[arg-type]
    assert float(mechanism.scale / (mechanism.epsilon / 2)) == pytest.approx(gain, abs=5e-4)
    assert mechanism.guarantee.evidence is dc.privacy.Evidence.PROVED
    with pytest.raises(dc.DeclarationError, match="scale"):
        HellingerGlobal(table_of(1, 1, 1, 1), 600, epsilon, scale=mechanism.scale * Fraction(101, 100))  # type: ignore[arg-type]


SERIES = [(200, 1, 1.998), (200, 2, 1.997), (200, 5, 1.935), (600, 1, 1.9998), (600, 2, 1.9998), (600, 5, 1.906)]


@pytest.mark.parametrize(("size", "epsilon", "gain"), SERIES)
def test_three_cells_beyond_comparison_reach_the_gain_of_the_series(size: int, epsilon: int, gain: float) -> None:
    mechanism = HellingerGlobal(table_of(1, 1, 1), size, epsilon)
    assert gain <= float(mechanism.scale / (mechanism.epsilon / 2)) < 2
    assert "of epsilon may be unused" in mechanism.guarantee.reason


def test_where_nothing_is_compared_nor_bounded_the_difference_is_said() -> None:
    mechanism = HellingerGlobal(table_of(1, 1, 1, 1), 100_000, 1)
    assert mechanism.scale == Fraction(1, 2)
    assert "unused" in mechanism.guarantee.reason


def test_the_smooth_scale_beyond_comparison_keeps_one_of_the_two_bounds() -> None:
    mechanism = HellingerSmooth(table_of(1, 1, 1, 1), 600, 1, "1e-8")
    assert PublishedHellingerSmooth(table_of(1, 1, 1, 1), 600, 1, "1e-8").guarantee.epsilon > Fraction(5, 4)
    t, gamma = float(mechanism.scale), float(mechanism.gamma().mid())
    outside = 2 * t + (exp(gamma) - 1) * np.log(mechanism.candidates / 1e-8)
    assert min(outside, float(mechanism.proved_pure_epsilon())) <= 1 + 1e-5
    assert min(outside, float(mechanism.proved_pure_epsilon())) >= 1 - 1e-4


def test_the_papers_scales_have_their_true_figure() -> None:
    coin = table_of(1, 1)
    assert float(PublishedHellingerGlobal(coin, 100, "0.8").guarantee.epsilon) == pytest.approx(0.4231, abs=1e-4)
    smooth = PublishedHellingerSmooth(coin, 90, "0.8", "5e-4")
    assert smooth.neighbours().losses.max() == pytest.approx(0.425352581839, abs=1e-11)
    assert float(smooth.gamma().mid()) == float(HellingerSmooth(coin, 90, "0.8", "5e-4").gamma().mid())
    three = PublishedHellingerSmooth(table_of(1, 1, 1), 9, "0.8", "5e-4")
    assert float(three.gamma().mid()) == pytest.approx(np.log(1 - 0.8 / (2 * np.log(5e-4 / 20))), rel=1e-12)
    assert float(HellingerSmooth(table_of(1, 1, 1), 9, "0.8", "5e-4").gamma().mid()) < float(three.gamma().mid())


def test_the_papers_global_scale_is_charged_what_it_costs_beyond_comparison() -> None:
    """Its true epsilon is at least epsilon/2, what two neighbours GS apart lose by the score alone."""
    four = PublishedHellingerGlobal(table_of(1, 1, 1, 1), 600, 1)
    assert Fraction(1, 2) < four.guarantee.epsilon < Fraction(501, 1000)
    assert "bounded by a series" in four.guarantee.reason
    assert read_mechanism(mechanism_document(four)) == four
    assert PublishedHellingerGlobal(table_of(1, 1, 1, 1), 100_000, 1).guarantee.epsilon == 1
