"""A release as a likelihood of cell probabilities: pins, enumeration, gradients, and what is refused in words."""

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

import discreet as dc
from discreet.mechanism import Mechanism, sized
from discreet.privacy import compositions
from discreet_papers import as_published

Floats = NDArray[np.float64]
THREE = dc.Categories("x", levels=("a", "b", "c"), outside="a")
PAIRS = dc.Categories(("g", "c"), {"g": ("1", "2"), "c": ("y", "n")}, outside={"g": "1", "c": "y"})
P = np.log([0.2, 0.3, 0.5])


def released(mechanism: Mechanism, *output: int, label: str = "made up") -> dc.Release:
    return dc.Release(mechanism, output, label, simulated=True)


GEOMETRIC = released(dc.GeometricHistogram(THREE, 15, "0.5"), 9, 7, -1)
LAPLACE = released(dc.tables.DiscreteLaplaceCounts(THREE, 15, "0.5"), 9, 8, -3)
GAUSSIAN = released(dc.tables.DiscreteGaussianCounts(THREE, 15, "0.5", "1e-5"), 9, 8, -3)


def listed(log_p: Floats, *releases: dc.Release) -> tuple[float, Floats, Floats]:
    """Go through all tables: log P(release | p), E[k] and Cov[k]. It is the slow twin."""
    size = sized(releases[0].mechanism).size
    tables = np.array(list(compositions(size, len(log_p))))
    logs = gammaln(size + 1) - gammaln(tables + 1).sum(axis=1)
    logs = logs + np.where(tables > 0, tables * np.where(log_p == -np.inf, -1e300, log_p), 0).sum(axis=1)
    for release in releases:
        logs = logs + release.mechanism.log_prob(release.counts, tables)
    value = float(logsumexp(logs))
    weights = np.exp(logs - value)
    mean = weights @ tables
    return value, mean, (weights[:, None] * (tables - mean)).T @ (tables - mean)


@pytest.mark.parametrize(
    ("releases", "value", "expected"),
    [
        ((GEOMETRIC,), -7.0684155070232, (3.8431671969995, 5.3246142598955, 5.8322185431050)),
        ((LAPLACE,), -10.8213253483331, (3.7827972733717, 5.4767642188908, 5.7404385077376)),
        ((GAUSSIAN,), -10.4552642635935, (3.2594172377619, 4.7714392512483, 6.9691435109898)),
        ((GEOMETRIC, LAPLACE), -17.1200917551499, (4.6937482048919, 5.9703778091798, 4.3358739859283)),
    ],
)
def test_pinned_values_and_expected_counts(
    releases: tuple[dc.Release, ...], value: float, expected: tuple[float, ...]
) -> None:
    found, counts = dc.programs.Likelihood(*releases)(P)
    assert float(found) == pytest.approx(value, abs=1e-12)
    assert counts == pytest.approx(expected, abs=1e-12)
    assert counts.sum() == pytest.approx(15, abs=1e-12)


def test_pinned_covariance_and_a_structural_zero() -> None:
    likelihood = GEOMETRIC.likelihood
    assert likelihood.covariance_times(P, [1, 0, 0]) == pytest.approx((2.74023442, -1.09267302, -1.6475614), abs=1e-8)
    with np.errstate(divide="ignore"):
        value, expected = likelihood(np.log([0.4, 0.6, 0.0]))
    assert float(value) == pytest.approx(-4.506907993431, abs=1e-12)
    assert expected == pytest.approx((7.13544996, 7.86455004, 0), abs=1e-8)
    assert expected[2] == 0


def test_two_releases_of_other_records_are_not_two_of_the_same() -> None:
    apart, _ = dc.programs.Likelihoods({"one": GEOMETRIC, "two": LAPLACE})({"one": P, "two": P})
    assert float(apart) == pytest.approx(-7.0684155070232 - 10.8213253483331, abs=1e-12)  # -17.8897, not -17.1201


def test_pinned_shares_integrated_out() -> None:
    release = released(dc.GeometricHistogram(PAIRS, 12, "0.7"), 5, 1, 7, -1)
    value, expected = release.likelihood.given("g")(np.log([0.7, 0.3, 0.9, 0.1]))
    assert float(value) == pytest.approx(-6.5258697279552, abs=1e-12)
    assert expected == pytest.approx((4.0547063138593, 1.3325012332985, 6.1603305549843, 0.4524618978579), abs=1e-11)
    assert expected.sum() == pytest.approx(12, abs=1e-11)


def table_of(cells: int) -> dc.Categories:
    return dc.Categories("x", levels=tuple(range(cells)), outside=0)


MAKERS: dict[str, Callable[[dc.Categories, str], Mechanism]] = {
    "geometric": lambda model, epsilon: dc.GeometricHistogram(model, 9, epsilon),
    "laplace": lambda model, epsilon: dc.tables.DiscreteLaplaceCounts(model, 9, epsilon),
    "gaussian": lambda model, epsilon: dc.tables.DiscreteGaussianCounts(model, 9, epsilon, "1e-4"),
    "gaussian histogram": lambda model, epsilon: dc.tables.DiscreteGaussianHistogram(model, 9, epsilon, "1e-4"),
    "rounded": lambda model, epsilon: as_published.RoundedLaplace(model, 9, epsilon, 2, len(model.cells) - 1),
    "floored": lambda model, epsilon: as_published.FlooredLaplace(model, 9, epsilon, 2, len(model.cells) - 1),
    "truncated": lambda model, epsilon: as_published.TruncatedLaplace(model, 9, epsilon, 2, len(model.cells) - 1),
    "clamped": lambda model, epsilon: as_published.ClampedLaplace(model, 9, epsilon, 2, len(model.cells)),
    "draw": lambda model, epsilon: dc.PosteriorSampling.tempered(model, size=9, epsilon=epsilon, delta="1e-4"),
    "hellinger": lambda model, epsilon: dc.choices.HellingerGlobal(model, 9, epsilon),
    "flip": lambda model, epsilon: dc.choices.PermuteAndFlip(model, 9, epsilon),
    "maximum": lambda model, epsilon: dc.choices.MaximumPosterior(model, 9, epsilon),
}


@pytest.mark.parametrize(("cells", "epsilon", "kind"), list(product((2, 3), ("0.1", "3"), MAKERS)))
def test_values_counts_and_covariances_are_those_of_all_tables(cells: int, epsilon: str, kind: str) -> None:
    mechanism = MAKERS[kind](table_of(cells), epsilon)
    generator = np.random.default_rng([cells, len(kind)])
    log_p = np.log(generator.dirichlet(np.ones(cells)))
    counts = generator.multinomial(9, np.exp(log_p))
    release = dc.simulate(mechanism, counts, dc.SeededBits(cells), "made up")
    likelihood, along = release.likelihood, generator.standard_normal(cells)
    value, expected = likelihood(log_p)
    wanted, mean, covariance = listed(log_p, release)
    assert float(value) == pytest.approx(wanted, rel=1e-9, abs=1e-9)  # a draw's grid cells stand for their middles
    assert expected == pytest.approx(mean, abs=1e-8)
    assert expected.sum() == pytest.approx(9, abs=1e-9)
    assert likelihood.covariance_times(log_p, along) == pytest.approx(covariance @ along, abs=1e-7)


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_shares_integrated_out_are_those_of_all_tables(share: float) -> None:
    model = dc.Categories(("c", "g"), {"g": (1, 2, 3), "c": ("y", "n")}, outside={"g": 1, "c": "y"})
    release = dc.simulate(dc.GeometricHistogram(model, 8, 1), [2, 1, 0, 1, 3, 1], dc.SeededBits(5), "made up")
    log_q = np.log([0.2, 0.5, 0.9, 0.8, 0.5, 0.1])  # yes in each group, then no
    value, expected = release.likelihood.given("g", prior=share)(log_q)
    tables = np.array(list(compositions(8, 6)))
    groups = tables[:, :3] + tables[:, 3:]
    logs = release.mechanism.log_prob(release.counts, tables) + gammaln(9) - gammaln(tables + 1).sum(axis=1)
    logs += tables @ log_q + (gammaln(share + groups) - gammaln(share)).sum(axis=1)
    logs += gammaln(3 * share) - gammaln(3 * share + 8)
    wanted = float(logsumexp(logs))
    assert float(value) == pytest.approx(wanted, abs=1e-12)
    assert expected == pytest.approx(np.exp(logs - wanted) @ tables, abs=1e-12)


def large(groups: int, size: int, seed: int) -> dc.Release:
    levels = {"g": tuple(range(groups)), "c": ("y", "n")}
    model = dc.Categories(("g", "c"), levels, outside={"g": 0, "c": "y"})
    counts = np.random.default_rng(seed).multinomial(size, np.full(2 * groups, 0.5 / groups))
    return dc.simulate(dc.GeometricHistogram(model, size, 1), counts, dc.SeededBits(seed), "made up")


def test_shares_of_a_thousand_records_keep_their_sum_and_their_gradient() -> None:
    given = large(6, 1_000, 3).likelihood.given("g")
    log_q = np.log(np.column_stack([np.linspace(0.1, 0.9, 6), 1 - np.linspace(0.1, 0.9, 6)]).ravel())
    _, expected = given(log_q)
    assert expected.sum() == pytest.approx(1_000, abs=1e-8)
    assert (expected > 0).all()
    for place in (0, 5, 11):
        up, down = (given.unchecked(log_q + step * (np.arange(12) == place))[0] for step in (1e-5, -1e-5))
        assert float(up - down) / 2e-5 == pytest.approx(expected[place], abs=1e-5)


def log_convolved(first: Floats, second: Floats) -> Floats:
    """Return log of the product of two series up to their length, from logarithms: nothing underflows."""
    places = np.subtract.outer(np.arange(len(first)), np.arange(len(first)))
    return np.asarray(logsumexp(np.where(places >= 0, first + second[np.maximum(places, 0)], -np.inf), axis=1))


@pytest.mark.parametrize(("size", "epsilon", "stretches"), [(1_400, "0.002", 2), (600, "0.001", 1), (600, "1", 1)])
def test_shares_under_any_noise_are_those_of_logarithms(size: int, epsilon: str, stretches: int) -> None:
    few, some = size // 50, 2 * size // 5
    counts = (few, 0, some, size - few - some)
    release = dc.simulate(dc.GeometricHistogram(PAIRS, size, epsilon), counts, dc.SeededBits(4), "made up")
    given, log_q = release.likelihood.given("g"), np.log([0.98, 0.02, 0.4, 0.6])
    value, expected = given(log_q)
    k, rate = np.arange(size + 1), float(epsilon) / 2
    rows = [k * log_q[i] - gammaln(k + 1) - rate * np.abs(z - k) for i, z in enumerate(release.counts)]
    groups = [log_convolved(*rows[i : i + 2]) + gammaln(1 + k) for i in (0, 2)]
    law = np.exp(groups[0] + groups[1][::-1] - logsumexp(groups[0] + groups[1][::-1]))
    assert expected[:2].sum() == pytest.approx(law @ k, rel=1e-9)
    assert expected.sum() == pytest.approx(size, rel=1e-11)
    other = np.log([0.9, 0.1, 0.4, 0.6])  # constants of the noise cancel in differences
    rows = [k * other[i] - gammaln(k + 1) - rate * np.abs(z - k) for i, z in enumerate(release.counts)]
    moved = log_convolved(*rows[:2]) + gammaln(1 + k)
    wanted = logsumexp(moved + groups[1][::-1]) - logsumexp(groups[0] + groups[1][::-1])
    assert float(given(other)[0] - value) == pytest.approx(wanted, abs=1e-9)
    inner: Any = given._inner
    assert len(inner.tilts) == stretches


@pytest.mark.parametrize(("cells", "size"), [(40, 2_000), (150, 20_000)])
def test_many_cells_agree_with_latent_counts_made_anew(cells: int, size: int) -> None:
    generator = np.random.default_rng(cells)
    model = dc.Categories("x", levels=tuple(range(cells)), outside=0)
    log_p = np.log(generator.dirichlet(np.ones(cells)))
    counts = generator.multinomial(size, np.exp(log_p))
    likelihood = dc.simulate(dc.GeometricHistogram(model, size, 1), counts, dc.SeededBits(1), "made up").likelihood
    value, expected = likelihood(log_p)
    slow = likelihood._table.latent(log_p)  # type: ignore[union-attr]
    means = (slow.marginals * (slow.first[:, None] + np.arange(slow.marginals.shape[1]))).sum(axis=1)
    assert float(value) == pytest.approx(slow.log_sum + likelihood._table.constant, abs=1e-9)  # type: ignore[union-attr]
    assert expected == pytest.approx(means, abs=1e-9)
    assert expected.sum() == pytest.approx(size, abs=1e-8)
    draws = likelihood.draw_counts(log_p, 400, seed=1)
    assert (draws.sum(axis=1) == size).all()
    error = draws.std(axis=0) / np.sqrt(400)
    assert (np.abs(draws.mean(axis=0) - expected) < 5 * error + 0.1).all()


def test_the_gradient_is_the_derivative_of_the_value() -> None:
    model = dc.Categories("x", levels=tuple(range(20)), outside=0)
    generator = np.random.default_rng(8)
    log_p = np.log(generator.dirichlet(np.ones(20)))
    counts = generator.multinomial(500, np.exp(log_p))
    likelihood = dc.simulate(dc.GeometricHistogram(model, 500, 1), counts, dc.SeededBits(2), "made up").likelihood
    _, expected = likelihood(log_p)
    for place in range(0, 20, 3):
        step = 1e-5 * (np.arange(20) == place)
        slope = float(likelihood.unchecked(log_p + step)[0] - likelihood.unchecked(log_p - step)[0]) / 2e-5
        assert slope == pytest.approx(expected[place], abs=2e-6)
    assert float(likelihood.unchecked(log_p + 0.1)[0] - likelihood(log_p)[0]) == pytest.approx(50, abs=1e-9)


def test_a_tiny_probability_has_a_proportional_count() -> None:
    log_p = np.log(np.full(3, 1 / 3))
    found = []
    for tiny in (-40.0, -100.0, -600.0):
        row = np.array([tiny, log_p[1], np.log(-np.expm1(np.logaddexp(tiny, log_p[1])))])
        found.append(GEOMETRIC.likelihood(row)[1][0] / np.exp(tiny))
    assert found[1] == pytest.approx(found[2], rel=1e-9)
    assert found[0] == pytest.approx(found[2], rel=1e-9)


def test_rows_give_rows_and_copies_and_threads_agree_bit_by_bit() -> None:
    likelihood = GEOMETRIC.likelihood
    rows = np.log(np.random.default_rng(1).dirichlet(np.ones(3), size=(4, 2)))
    values, expected = likelihood(rows)
    assert values.shape == (4, 2)
    assert expected.shape == (4, 2, 3)
    copy = pickle.loads(pickle.dumps(likelihood))
    with ThreadPoolExecutor(4) as pool:
        for again, counts in pool.map(copy, [rows] * 8):
            assert (again == values).all()
            assert (counts == expected).all()


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (np.log([0.2, 0.3, 0.4]), "add up to 0.9"),
        (np.log([0.5, 0.5]), "3 cells"),
        (np.array([np.nan, 0.0, 0.0]), "not-a-number"),
        (np.array([np.inf, 0.0, 0.0]), r"\+inf"),
    ],
)
def test_what_are_no_log_probabilities_is_refused(row: Floats, words: str) -> None:
    with pytest.raises(dc.DeclarationError, match=words):
        GEOMETRIC.likelihood(row)


def test_samplers_get_minus_infinity_at_odd_points() -> None:
    values, expected = GEOMETRIC.likelihood.unchecked(np.array([P, [np.nan, 0.0, 0.0]]))
    assert float(values[0]) == pytest.approx(-7.0684155070232)
    assert values[1] == -np.inf
    assert not expected[1].any()


def test_the_same_release_twice_is_refused_and_so_are_other_columns() -> None:
    with pytest.raises(dc.DeclarationError, match="twice"):
        dc.programs.Likelihood(GEOMETRIC, released(GEOMETRIC.mechanism, *GEOMETRIC.output))
    with pytest.raises(dc.DeclarationError, match="same counts"):
        dc.programs.Likelihood(GEOMETRIC, released(dc.GeometricHistogram(PAIRS, 15, 1), 5, 5, 5, 0))
    with pytest.raises(dc.DeclarationError, match="same counts"):
        dc.programs.Likelihood(GEOMETRIC, released(dc.GeometricHistogram(THREE, 16, 1), 5, 5, 6))
    with pytest.raises(dc.DeclarationError, match="twice"):
        dc.programs.Likelihoods({"one": GEOMETRIC, "two": GEOMETRIC})


def test_what_is_no_product_and_too_large_to_list_is_refused_in_words() -> None:
    chosen = dc.choices.HellingerGlobal(dc.Categories("x", levels=tuple(range(8)), outside=0), 200, 1)
    with pytest.raises(dc.DeclarationError, match=r"factor over cells.*tables of 200 records in 8 cells"):
        dc.programs.Likelihood(released(chosen, *([25] * 8)))
    network = dc.Network.naive_bayes("a", ["b"], {"a": (0, 1), "b": (0, 1)}, outside={"a": 0, "b": 0})
    with pytest.raises(dc.DeclarationError, match="Publish the cross table of its columns"):
        dc.programs.Likelihood(released(dc.FamilyHistograms(network, 10, 1), 5, 5, 2, 3, 3, 2))
    with pytest.raises(dc.DeclarationError, match="some, but not all, of x"):
        GEOMETRIC.likelihood.given("x")
