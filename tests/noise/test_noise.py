"""Every law of noise against the slow way: list all noise near zero, with its probability, and compare."""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from itertools import product
from math import inf

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare, kstest, norm

from discreet._core.errors import DeclarationError
from discreet.noise import (
    BlockLaplace,
    Cube,
    Gaussian,
    Laplace,
    Noise,
    SharedRadiusLaplace,
    SideBySide,
    TreeLaplace,
    ZeroSumBlocks,
    ZeroSumGaussian,
    ZeroSumLaplace,
    epsilon_weights,
    generator_of,
    log_terms,
    pieces_of,
    preserved,
    product_of,
    rho_weights,
    simulated_noise,
)
from discreet.noise.randomness._samplers import SeededBits
from discreet_papers.as_published.rounded_noise import CutTowardsZero, Floored, Rounded

Half = Fraction(1, 2)
LAWS: dict[str, Noise] = {
    "Laplace": Laplace((Fraction(3, 2), Fraction(2)), (1, 2)),
    "ZeroSumLaplace": ZeroSumLaplace((Fraction(3, 2),), (4,)),
    "two zero sums": ZeroSumLaplace((Fraction(2), Fraction(5, 2)), (3, 2)),
    "Gaussian": Gaussian((Fraction(3, 4), Fraction(5, 2)), (2, 1)),
    "one Gaussian": Gaussian((Fraction(5, 2),), (3,)),
    "ZeroSumGaussian": ZeroSumGaussian((Fraction(2),), (3,)),
    "two zero-sum Gaussians": ZeroSumGaussian((Fraction(1), Fraction(1, 2)), (3, 2)),
    "Cube": Cube((Fraction(5, 4),), (3,)),
    "two cubes": Cube((Fraction(5, 4), Fraction(2)), (2, 1)),
    "SharedRadiusLaplace": SharedRadiusLaplace(Fraction(4), (3, 2)),
    "side by side": SideBySide((ZeroSumLaplace((Fraction(2),), (2,)), Cube((Fraction(5, 2),), (2,)))),
    "Rounded": Rounded(Fraction(3, 2), 2),
    "Floored": Floored(Fraction(3, 2), 2),
    "CutTowardsZero": CutTowardsZero(Fraction(3, 2), 2),
    "path": TreeLaplace.path((Fraction(2), Fraction(5, 2), Fraction(3))),
    "tree": TreeLaplace((2, 2, 3), (Fraction(2), Fraction(3), Fraction(5, 2))),
    "blocks": BlockLaplace(Half, Fraction(3, 2), (2, 1)),
    "zero-sum blocks": ZeroSumBlocks(Fraction(1), Fraction(2), (2, 2)),
    "uneven zero-sum blocks": ZeroSumBlocks(Fraction(3, 4), Fraction(5, 2), (3, 1)),
    "summed Laplace": Laplace((Fraction(3, 2), Fraction(2)), (1, 2)).marginal((0, 1, 1)) or pytest.fail("no law"),
    "summed Gaussian": Gaussian((Fraction(1),), (3,)).marginal((0, 0, 1)) or pytest.fail("no law"),
    "summed zero sum": ZeroSumLaplace((Fraction(3, 4),), (5,)).marginal((0, 1, 1, 2, 2)) or pytest.fail("no law"),
}
CHANGES: dict[str, list[tuple[int, ...]]] = {
    "Laplace": [(1, 0, -1), (0, 2, 1), (3, 0, 0)],
    "ZeroSumLaplace": [(1, 0, 0, -1)],
    "two zero sums": [(1, -1, 0, 0, 0), (1, 0, -1, -1, 1)],
    "one Gaussian": [(1, -1, 0), (1, 1, 1)],
    "ZeroSumGaussian": [(1, -1, 0)],
    "Cube": [(1, 1, 1), (2, -2, 2), (3, 3, 3)],
    "two cubes": [(1, 1, 2), (2, 2, 0)],
    "SharedRadiusLaplace": [(1, -1, 0, 1, -1), (1, -1, 0, 0, 0), (0, 0, 0, 1, -1)],
    "side by side": [(1, -1, 1, 1), (0, 0, 2, 2)],
    "path": [(1, 0, 0, -1), (0, 1, -1, 0), (0, -2, 0, 2)],
    "tree": [(1, -1, 0, 0), (0, 1, 0, -1)],
    "blocks": [(1, -1, 0), (1, 0, -1)],
    "zero-sum blocks": [(1, 0, -1, 0), (0, 0, -1, 1)],
    "uneven zero-sum blocks": [(1, 0, 0, -1), (-1, 0, 1, 0)],
}
ABOVE: dict[str, list[tuple[int, ...]]] = {
    "ZeroSumLaplace": [(2, -1, 0, -1)],
    "Gaussian": [(1, -1, 1), (2, 0, 0)],
    "two zero-sum Gaussians": [(1, -1, 0, 1, -1)],
    "Cube": [(2, 1, 0), (1, 0, 0)],
    "SharedRadiusLaplace": [(2, -2, 0, 1, -1)],
    "zero-sum blocks": [(2, -1, -1, 0)],
    "Rounded": [(1, -1), (2, 0)],
    "Floored": [(1, -1), (-1, -1)],
    "CutTowardsZero": [(1, -1)],
}
named = pytest.mark.parametrize("name", list(LAWS))
Table = tuple[NDArray[np.int64], NDArray[np.float64]]


@lru_cache(maxsize=64)
def listed(law: Noise, reach: int | None = None) -> Table:
    """Return all noise within a box that holds nearly all of it, and its probabilities."""
    most = reach or {1: 60, 2: 45, 3: 22, 4: 9, 5: 5}[law.length]
    rows = np.array(list(product(range(-most, most + 1), repeat=law.length)), dtype=np.int64)
    logs = law.log_prob(rows)
    return rows[logs > -inf], np.exp(logs[logs > -inf])


def delta_by_listing(law: Noise, change: tuple[int, ...], epsilon: float) -> float:
    """Return sum_u max(0, P(u) - e^epsilon P(u - c))."""
    rows, chances = listed(law)
    moved = np.exp(law.log_prob(rows - np.array(change)))
    return float(np.maximum(0, chances - np.exp(epsilon) * moved).sum())


@named
def test_probabilities_sum_to_one_and_give_the_stated_variance(name: str) -> None:
    law = LAWS[name]
    rows, chances = listed(law)
    assert chances.sum() == pytest.approx(1, abs=1e-5 if law.length > 3 else 1e-9)
    means = chances @ rows
    assert chances @ rows**2 - means**2 == pytest.approx(law.variance, rel=5e-3 if law.length > 3 else 1e-6)


@named
def test_what_no_output_hides_has_an_infinite_loss(name: str) -> None:
    """Noise that keeps totals publishes them: P(0) > 0 and P(0 - c) = 0 for a change c that moves one."""
    law = LAWS[name]
    steps = np.array(list(product((-1, 0, 1, 2), repeat=law.length)))
    off = steps[law.log_prob(-steps) == -inf]
    assert bool(len(off)) == any(preserved(law.structure))
    for change in off[:: max(1, len(off) // 40)]:
        assert law.privacy_loss(change).epsilon == inf
        for cost in ("rho", "curve"):
            with pytest.raises(DeclarationError, match="the privacy loss would be infinite"):
                getattr(law.privacy_loss(change), cost)


def test_a_law_of_two_sums_over_a_tree_hides_no_total() -> None:
    law = TreeLaplace.path((Fraction(2), Fraction(5, 2), Fraction(3))).marginal((0, 0, 1, 1))
    assert law is not None
    assert law.privacy_loss((1, -1)).epsilon < inf
    assert law.privacy_loss((1, 0)).epsilon == inf


@named
def test_samples_follow_the_stated_law(name: str) -> None:
    law, draws = LAWS[name], 40_000
    seen, observed = np.unique(law.sample(draws, SeededBits(5)), axis=0, return_counts=True)
    expected = np.exp(law.log_prob(seen)) * draws
    common = expected >= 10
    assert common.sum() >= 5
    bins = np.append(observed[common], draws - observed[common].sum())
    assert chisquare(bins, np.append(expected[common], draws - expected[common].sum())).pvalue > 1e-4


@pytest.mark.parametrize(("name", "change"), [(name, change) for name in CHANGES for change in CHANGES[name]])
def test_the_loss_of_a_change_is_what_listing_finds(name: str, change: tuple[int, ...]) -> None:
    law = LAWS[name]
    loss = law.privacy_loss(change).curve
    top = min(float(law.privacy_loss(change).epsilon), 4.0)
    for share in (0.0, 0.2, 0.5, 0.9):
        assert loss.delta_at(share * top) == pytest.approx(delta_by_listing(law, change, share * top), abs=3e-5)
    if law.privacy_loss(change).epsilon < inf:
        assert loss.epsilon == law.privacy_loss(change).epsilon
        assert loss.delta_at(law.privacy_loss(change).epsilon) == 0


@pytest.mark.parametrize(("name", "change"), [(name, change) for name in ABOVE for change in ABOVE[name]])
def test_where_the_loss_is_a_bound_it_is_above_what_listing_finds_both_ways(name: str, change: tuple[int, ...]) -> None:
    law = LAWS[name]
    loss = law.privacy_loss(change).curve
    for epsilon in (0.0, 0.4, 1.0, 2.0, 3.0):
        there = delta_by_listing(law, change, epsilon)
        back = delta_by_listing(law, tuple(-step for step in change), epsilon)
        assert max(there, back) <= loss.delta_at(epsilon) + 1e-6


@pytest.mark.parametrize("name", [*CHANGES, "Rounded", "Floored", "CutTowardsZero"])
def test_the_norm_is_the_largest_log_ratio_and_rho_bounds_every_order(name: str) -> None:
    law = LAWS[name]
    for change in CHANGES.get(name, []) + ABOVE.get(name, []):
        rows, chances = listed(law)
        losses = law.log_prob(rows) - law.log_prob(rows - np.array(change))
        if law.privacy_loss(change).epsilon < inf:
            assert np.abs(losses).max() <= float(law.privacy_loss(change).epsilon) * (1 + 1e-9)
            assert np.abs(losses).max() >= float(law.privacy_loss(change).epsilon) * (1 - 1e-4)
        kept = losses < 30
        for order in (1.01, 1.5, 2.0, 4.0):
            divergence = np.log((chances[kept] * np.exp((order - 1) * losses[kept])).sum()) / (order - 1)
            assert divergence <= order * float(law.privacy_loss(change).rho) * (1 + 1e-6) + 1e-4


def weights_of(law: Noise) -> tuple[tuple[Fraction, ...] | None, tuple[Fraction, ...] | None]:
    return epsilon_weights(law.structure), rho_weights(law.structure)


@pytest.mark.parametrize("name", [name for name in LAWS if weights_of(LAWS[name]) != (None, None)])
def test_weights_give_norm_and_rho(name: str) -> None:
    law = LAWS[name]
    pure, concentrated = weights_of(law)
    for change in CHANGES.get(name, []) + ABOVE.get(name, []):
        if pure:
            each = np.repeat(np.array(pure, dtype=object), law.blocks)
            assert (each * np.abs(change)).sum() == law.privacy_loss(change).epsilon
        if concentrated:
            each = np.repeat(np.array(concentrated, dtype=object), law.blocks)
            assert float((each * np.square(change)).sum()) == pytest.approx(
                float(law.privacy_loss(change).rho), rel=1e-8
            )


@pytest.mark.parametrize("name", [name for name in LAWS if product_of(LAWS[name].structure) is not None])
def test_the_factors_of_a_product_multiply_to_its_kernel(name: str) -> None:
    law = LAWS[name]
    rows, _ = listed(law, 3)
    terms = partial(log_terms, law.structure)
    assert terms(rows).sum(axis=-1) == pytest.approx(law.log_kernel(rows), rel=1e-12)
    places = np.arange(law.length)[::-1]
    assert np.array_equal(terms(rows[:, places], places), terms(rows)[:, places])


def test_a_law_that_is_no_product_says_so() -> None:
    with pytest.raises(DeclarationError, match="does not factor"):
        log_terms(LAWS["Cube"].structure, [1, 2, 3])
    with pytest.raises(DeclarationError, match="generator"):
        simulated_noise(LAWS["SharedRadiusLaplace"], 5, np.random.default_rng(1))


@named
def test_the_slope_is_about_the_derivative_of_the_log_kernel(name: str) -> None:
    law = LAWS[name]
    noise = 6 * np.random.default_rng(1).choice([-1.0, 1.0], (6, law.length)) + np.arange(law.length) * 15
    for place in range(law.length):
        step = np.zeros(law.length)
        step[place] = 1
        if any(preserved(law.structure)) or product_of(law.structure) is None:
            continue
        central = (law.log_kernel(noise + step) - law.log_kernel(noise - step)) / 2
        assert law.slope(noise)[:, place] == pytest.approx(central, rel=0.02)
    assert law.slope(noise).shape == noise.shape


@pytest.mark.parametrize("name", [name for name in LAWS if generator_of(LAWS[name].structure) is not None])
def test_real_noise_from_normal_numbers_has_the_density_of_the_kernel(name: str) -> None:
    law = LAWS[name]
    generator = np.random.default_rng(7)
    made = generator_of(law.structure)
    assert made is not None
    rows = made.from_normals(made.draw_normals(20_000, generator))
    other = simulated_noise(law, 20_000, generator)
    assert rows.shape == other.shape == (20_000, law.length)
    for place in range(law.length):
        assert kstest(rows[:, place], other[:, place]).pvalue > 1e-4


def test_real_laplace_numbers_have_the_ranks_of_the_normal_ones() -> None:
    x = np.array([[-3.0, 0.5, 2.0]])
    law = Laplace((Fraction(2),), (3,))
    ranks = np.where(
        law.from_normals(x) < 0, np.exp(2 * law.from_normals(x)) / 2, 1 - np.exp(-2 * law.from_normals(x)) / 2
    )
    assert ranks == pytest.approx(norm.cdf(x), rel=1e-12)


@pytest.mark.parametrize(
    ("name", "lengths"),
    [("Laplace", (1, 2)), ("two zero sums", (3, 2)), ("two cubes", (2, 1)), ("side by side", (2, 2))],
)
def test_pieces_are_independent_laws(name: str, lengths: tuple[int, ...]) -> None:
    law = LAWS[name]
    pieces = pieces_of(law, lengths)
    assert pieces is not None
    rows, _ = listed(law, 3)
    parts = np.split(rows, np.cumsum(lengths)[:-1], axis=1)
    logs = sum(piece.log_prob(own) for piece, own in zip(pieces, parts, strict=True))
    assert logs == pytest.approx(law.log_prob(rows), rel=1e-12)


def test_what_hangs_together_has_no_pieces() -> None:
    assert pieces_of(LAWS["SharedRadiusLaplace"], (3, 2)) is None
    assert pieces_of(LAWS["Cube"], (1, 2)) is None
    assert pieces_of(LAWS["two zero sums"], (2, 3)) is None


def by_listing(law: Noise, parts: tuple[int, ...]) -> dict[tuple[int, ...], float]:
    """Return the probability of each row of sums."""
    rows, chances = listed(law)
    sums = np.zeros((len(rows), max(parts) + 1), dtype=np.int64)
    for place, part in enumerate(parts):
        sums[:, part] += rows[:, place]
    found: dict[tuple[int, ...], float] = {}
    for row, chance in zip(map(tuple, sums.tolist()), chances.tolist(), strict=True):
        found[row] = found.get(row, 0.0) + chance
    return found


SUMS: list[tuple[Callable[[], Noise], tuple[int, ...]]] = [
    (lambda: Laplace((Fraction(3, 2),), (3,)), (0, 1, 1)),
    (lambda: Laplace((Fraction(3, 2), Fraction(2)), (2, 1)), (0, 0, 1)),
    (lambda: ZeroSumLaplace((Fraction(3, 2),), (4,)), (0, 0, 0, 1)),
    (lambda: ZeroSumLaplace((Fraction(3, 2),), (4,)), (0, 0, 1, 1)),
    (lambda: Gaussian((Fraction(2, 5),), (3,)), (0, 0, 0)),
    (lambda: Gaussian((Fraction(6),), (3,)), (0, 0, 1)),
    (lambda: ZeroSumGaussian((Fraction(3, 2),), (4,)), (0, 0, 1, 1)),
]


@pytest.mark.parametrize(("law", "parts"), SUMS)
def test_the_law_of_sums_is_what_listing_finds(law: Callable[[], Noise], parts: tuple[int, ...]) -> None:
    summed = law().marginal(parts)
    assert summed is not None
    exact = by_listing(law(), parts)
    near = [row for row in exact if exact[row] > 1e-5]
    assert len(near) > 5
    stated = np.exp(summed.log_prob(np.array(near)))
    assert stated == pytest.approx([exact[row] for row in near], rel=2e-3 if len(parts) > 3 else 1e-7)


def test_sums_of_many_laplace_numbers_keep_their_digits_far_out() -> None:
    t, count = np.exp(-0.5), 2
    summed = Laplace((Half,), (2,)).marginal((0, 0))
    assert summed is not None
    x = np.array([[0], [1], [40], [400], [1400]])
    exact = np.log(t) * x[:, 0] + np.log(x[:, 0] + (1 + t * t) / (1 - t * t))  # the closed form of two numbers
    assert summed.log_kernel(x) == pytest.approx(exact, rel=1e-12)
    steps = np.arange(-400, 401)
    kernel = np.exp(-0.5 * np.abs(steps))
    folded = kernel
    for _ in range(6):
        folded = np.convolve(folded, kernel)
    seven = Laplace((Half,), (7,)).marginal((0,) * 7)
    assert seven is not None
    middle = len(folded) // 2
    assert seven.log_kernel(np.arange(0, 90, 9)[:, None]) == pytest.approx(
        np.log(folded[middle : middle + 90 : 9]), rel=1e-11
    )
    assert count == 2


def test_sums_without_a_simple_law_are_not_given_one() -> None:
    assert Cube((Half,), (3,)).marginal((0, 0, 1)) is None
    assert SharedRadiusLaplace(Half, (2, 2)).marginal((0, 0, 1, 1)) is None
    assert Laplace((Half, Half), (1, 1)).marginal((0, 0)) is None  # a sum of two blocks
    assert Laplace((Fraction(1, 10**6),), (9,)).marginal((0,) * 9) is None  # too wide for a table
    assert Gaussian((Fraction(1, 100),), (40,)).marginal((0,) * 40) is None  # too narrow for floats
