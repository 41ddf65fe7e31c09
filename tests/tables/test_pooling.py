"""Partial pooling agrees with summing over every table, and shrinks as it should."""

import warnings
from itertools import product
from math import inf
from typing import Any

import numpy as np
import pytest
from scipy.special import betaln, gammaln, logsumexp

import discreet as dc
from discreet.privacy import compositions
from discreet.tables import PooledRates
from discreet.tables._groups import BetaBinomials, Group, Sizes, groups_of

WARDS = ("A", "B", "C")
MODEL = dc.Categories(
    [dc.Column("ward", WARDS, outside=WARDS[0]), dc.Column("fall", ("no", "yes"), outside="no")], prior=0.7
)
SIZE = 5


def ways(counts: Any, alpha: float) -> Any:
    return gammaln(alpha + counts) - gammaln(alpha) - gammaln(np.asarray(counts) + 1.0)


def brute_force(release: dc.Release, mu: float, kappa: float) -> tuple[float, np.ndarray]:
    """Return the evidence of a pair, up to a constant, and E[theta] of the groups, by going through all tables."""
    total, means = 0.0, np.zeros(3)
    for table in compositions(SIZE, 6):
        counts = np.array(table)
        likelihood = float(np.exp(release.mechanism.log_prob(release.counts, counts)))
        weight, rates = likelihood, []
        for rest, hits in counts.reshape(3, 2):
            size = rest + hits
            choose = gammaln(size + 1) - gammaln(hits + 1) - gammaln(rest + 1)
            inside = choose + betaln(kappa * mu + hits, kappa * (1 - mu) + rest) - betaln(kappa * mu, kappa * (1 - mu))
            weight *= float(np.exp(ways(size, 1.4) + inside))
            rates.append((kappa * mu + hits) / (kappa + size))
        total += weight
        means += weight * np.array(rates)
    return total, means / total


@pytest.mark.parametrize(
    ("mechanism", "output"),
    [
        (dc.GeometricHistogram(MODEL, size=SIZE, epsilon="2"), (2, 1, 0, 1, -1, 2)),
        (dc.tables.DiscreteLaplaceCounts(MODEL, size=SIZE, epsilon="3"), (2, 1, 0, 1, 0, 0)),
        (dc.tables.DiscreteGaussianHistogram(MODEL, size=SIZE, epsilon="2", delta="1e-2"), (3, 1, -1, 1, -1, 2)),
    ],
    ids=["geometric", "laplace", "gaussian"],
)
def test_every_point_of_the_grid_agrees_with_a_sum_over_all_tables(mechanism: Any, output: tuple[int, ...]) -> None:
    release = dc.Release(mechanism, output, "small", simulated=True)
    pooled = PooledRates(MODEL, [release], "fall=yes", "ward", lambda level: ())
    points = [pooled._point(u, v) for u, v in product((-1.0, 0.6), (-1.0, 3.0))]
    slow = [brute_force(release, point.mu, point.kappa) for point in points]
    jacobians = [np.log(p.mu * (1 - p.mu) * p.kappa / (1 + p.kappa) ** 2) for p in points]
    fast = np.array([p.log_weight - j for p, j in zip(points, jacobians, strict=True)])
    assert fast - fast[0] == pytest.approx(np.log([s[0] for s in slow]) - np.log(slow[0][0]), abs=1e-8)
    for point, (_, means) in zip(points, slow, strict=True):
        assert pooled._means(point) == pytest.approx(means, abs=1e-8)


def direct(noisy: np.ndarray, size: int, rate: float, mu: float, kappa: float) -> tuple[float, np.ndarray]:
    """Return the same for groups of two noisy sums (with, without) of two cells each, by sums over all counts.

    The noise of two cells has the kernel r^|x| (|x| + (1 + r^2) / (1 - r^2)). Sizes have Dirichlet(2/K) beforehand.
    """
    counts, r = np.arange(size + 1), np.exp(-rate)
    laws, weighed = [], []
    for own in noisy:
        far = np.abs(own[:, None] - counts)
        hits, rest = r**far * (far + (1 + r * r) / (1 - r * r))
        y, w = np.meshgrid(counts, counts, indexing="ij")
        inside = np.exp(ways(y, kappa * mu) + ways(w, kappa * (1 - mu)) - ways(y + w, kappa))
        joint = np.exp(ways(y + w, 2 / len(noisy))) * inside * hits[:, None] * rest
        rates = joint * (kappa * mu + y) / (kappa + y + w)
        laws.append(np.bincount((y + w).ravel(), joint.ravel())[: size + 1])
        weighed.append(np.bincount((y + w).ravel(), rates.ravel())[: size + 1])

    def total(rows: list[np.ndarray]) -> float:
        law = np.ones(1)
        for row in rows:
            law = np.convolve(law, row)[: size + 1]
        return float(law[size])

    found = [total([*laws[:g], weighed[g], *laws[g + 1 :]]) for g in range(len(noisy))]
    return total(laws), np.array(found) / total(laws)


def test_ten_groups_are_read_from_their_summed_kernels_as_by_direct_sums() -> None:
    """To 1e-9, and also where noise went so far below zero that no count of a window around it is possible."""
    wards, size = tuple("ABCDEFGHIJ"), 90
    columns = [dc.Column("ward", wards, outside="A"), dc.Column("fall", ("no", "yes"), outside="no")]
    model = dc.Categories([*columns, dc.Column("sex", ("f", "m"), outside="f")])
    output = np.array([[3, 4, 1, 0], [5, 2, 2, 1], [9, 4, -1, 2], [2, 3, 0, 1], [6, 5, 3, 0]] * 2).reshape(10, 2, 2)
    output[4, 1] -= [20, 22]
    output[7, 0] += [20, 22]
    output[0, 0, 0] += size - int(output.sum())
    release = dc.Release(
        dc.GeometricHistogram(model, size, "2"), tuple(output.ravel().tolist()), "wards", simulated=True
    )
    groups = groups_of([release], model, "fall=yes", "ward", least=3)
    noisy = output.sum(axis=2)[:, ::-1]
    first: tuple[float, float] | None = None
    for mu, kappa in ((0.2, 3.0), (0.4, 0.5), (0.1, 40.0)):
        fast, (slow, means) = Sizes(groups, size, mu, kappa), direct(noisy, size, 1.0, mu, kappa)
        first = first or (fast.counts.log_sum, np.log(slow))
        assert fast.counts.log_sum - first[0] == pytest.approx(np.log(slow) - first[1], abs=1e-9)
        for place, group in enumerate(groups):
            sizes, weights = fast.counts.sum_of(np.array([place]))
            rates = (kappa * mu + fast.hits(place)) / (kappa + group.sizes)
            assert float(weights @ rates[sizes - group.sizes[0]]) == pytest.approx(means[place], abs=1e-9)


@pytest.mark.parametrize("kappa", [0.1, 5.0, 1e4, inf])
@pytest.mark.parametrize("mu", [0.003, 0.3])
@pytest.mark.parametrize("first", [(0, 0), (40, 700)])
def test_sizes_far_from_the_noisy_ones_keep_their_digits(first: tuple[int, int], mu: float, kappa: float) -> None:
    """The slow twin adds logarithms pair by pair: the factors of y, w and n differ by thousands of nats."""
    logs = [-0.1 * np.abs(np.arange(length) - middle) for length, middle in ((150, 10), (250, 125))]
    group = Group("A", 1.0, *first, *logs)
    found = BetaBinomials([group], mu, kappa).of(group)
    y, w = (start + np.arange(len(own)) for start, own in zip(first, logs, strict=True))
    n = y[:, None] + w
    if kappa == inf:
        chances = gammaln(n + 1.0) - (gammaln(y + 1.0) - y * np.log(mu))[:, None] - gammaln(w + 1.0) + w * np.log1p(-mu)
    else:
        chances = ways(y, kappa * mu)[:, None] + ways(w, kappa * (1 - mu)) - ways(n, kappa)
    joint = chances + logs[0][:, None] + logs[1]
    law = np.array([logsumexp(np.diagonal(joint[::-1], step)) for step in range(1 - len(y), len(w))])
    assert found.log_prob == pytest.approx(law, abs=1e-8)
    means = [np.exp(np.diagonal((joint - law[n - n[0, 0]])[::-1], at)) @ y[::-1][max(0, -at) :][: len(w) - max(at, 0)]
             for at in range(1 - len(y), len(w))]  # fmt: skip
    assert found.expected == pytest.approx(means, rel=1e-8)
    given = found.given(group.sizes[[5, 200]])
    assert given @ y == pytest.approx(found.expected[[5, 200]], rel=1e-8)


def test_cells_of_further_columns_are_summed_out() -> None:
    wide = dc.Categories(
        [dc.Column("ward", WARDS, outside=WARDS[0]), dc.Column("fall", ("no", "once", "often"), outside="no")], prior=1
    )
    mechanism = dc.GeometricHistogram(wide, size=60, epsilon="50")  # hardly any noise
    release = dc.Release(mechanism, (12, 5, 3, 10, 6, 4, 11, 7, 2), "wide", simulated=True)
    falls: Any = [cell for cell in wide.cells if cell[1] != "no"]  # type: ignore[index]
    pooled = dc.infer(release).pooled(falls, "ward")
    narrow = dc.Release(
        dc.GeometricHistogram(MODEL.with_prior(1), size=60, epsilon="50"),
        (12, 8, 10, 10, 11, 9),
        "narrow",
        simulated=True,
    )
    assert list(pooled.mean.values()) == pytest.approx(
        list(dc.infer(narrow).pooled("fall=yes", "ward").mean.values()), rel=0.03
    )


def test_draws_follow_the_exact_means() -> None:
    mechanism = dc.GeometricHistogram(MODEL, size=90, epsilon="1")
    release = dc.Release(mechanism, (20, 11, 24, 6, 14, 15), "wards", simulated=True)
    pooled = dc.infer(release).pooled("fall=yes", "ward")
    draws = pooled.draws(20_000, seed=5)["rate"]
    errors = 4 * draws.std(axis=0) / np.sqrt(20_000)
    assert (np.abs(draws.mean(axis=0) - np.array(list(pooled.mean.values()))) < errors).all()
    assert pooled.rate("A").mean == pytest.approx(pooled.mean["A"], abs=0.02)
    assert 0 < pooled.likeness < 1
    assert pooled.probability_that("C", greater_than="B") > 0.9
    low, high = pooled.interval("B", 0.9)
    assert low < pooled.mean["B"] < high


def test_pooled_rates_lie_between_the_groups_own_and_the_overall_one() -> None:
    wards = tuple("ABCDEFGH")
    model = dc.Categories([dc.Column("ward", wards, outside=wards[0]), dc.Column("fall", ("no", "yes"), outside="no")])
    counts = np.array([[8, 2], [7, 3], [9, 1], [8, 2], [6, 4], [8, 2], [7, 3], [3, 7]])
    mechanism = dc.GeometricHistogram(model, size=80, epsilon="20")
    release = dc.Release(mechanism, tuple(int(k) for k in counts.ravel()), "wards", simulated=True)
    posterior = dc.infer(release)
    pooled = posterior.pooled("fall=yes", "ward")
    alone = posterior.conditional("fall=yes", given="ward=H").mean
    assert pooled.overall < pooled.mean["H"] < alone


def test_a_group_that_may_be_empty_is_marked_as_among_rates_that_do_not_borrow() -> None:
    model = dc.Categories(
        [dc.Column("ward", ("A", "B", "none"), outside="A"), dc.Column("fall", ("no", "yes"), outside="no")]
    )
    mechanism = dc.GeometricHistogram(model, size=200, epsilon="2")
    posterior = dc.infer(dc.Release(mechanism, (80, 20, 70, 30, 0, 0), "wards", simulated=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.LittleInformationWarning)
        alone = posterior.rates("fall=yes", "ward", 0.8)
    rows = posterior.pooled("fall=yes", "ward").rows(0.8)
    assert [row.records_text for row in rows] == [row.records_text for row in alone]
    assert [row.starred_mean == "nothing known" for row in rows] == [False, False, True]


def test_large_groups_are_read_too_and_hardly_shrunk() -> None:
    wards = tuple("ABCDEFGH")
    model = dc.Categories([dc.Column("ward", wards, outside=wards[0]), dc.Column("fall", ("no", "yes"), outside="no")])
    hits = np.array([820, 700, 900, 640, 760, 820, 710, 850])
    counts = np.column_stack([5000 - hits, hits])
    release = dc.simulate(dc.GeometricHistogram(model, size=40_000, epsilon="0.5"), counts.ravel(), dc.SeededBits(2))
    pooled = dc.infer(release).pooled("fall=yes", "ward")
    assert list(pooled.mean.values()) == pytest.approx(list(hits / 5000), abs=0.006)


def test_what_cannot_be_pooled_is_refused_in_words() -> None:
    posterior = dc.infer(dc.Release(dc.GeometricHistogram(MODEL, size=6, epsilon="20"), (1,) * 6, "s", simulated=True))
    with pytest.raises(dc.DeclarationError, match="no column 'town'"):
        posterior.pooled("fall=yes", "town")
    with pytest.raises(dc.DeclarationError, match="three or more groups"):
        posterior.pooled("ward=A", "fall")
    with pytest.raises(dc.DeclarationError, match="neither certain nor impossible"):
        posterior.pooled("ward=A", "ward")
    with pytest.raises(dc.DeclarationError, match="no quantity"):
        posterior.pooled("fall=yes", "ward").rate("Z")


def test_whoever_pools_is_warned_of_groups_that_are_unlike_all_others() -> None:
    release = dc.Release(dc.GeometricHistogram(MODEL, size=6, epsilon="2"), (1,) * 6, "s", simulated=True)
    with pytest.warns(dc.UncalibratedDrawsWarning, match=r"a group of 'ward' that is unlike .* without pooling"):
        dc.infer(release).pooled("fall=yes", "ward")
