"""Mechanisms for networks: no noise is wasted, and their laws, calibrations and shares are as computed by hand."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import comb, exp, prod
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare

from discreet._core.errors import DeclarationError, DocumentError
from discreet.networks import (
    ContrastGaussians,
    CubeCounts,
    FamilyGaussians,
    FamilyHistograms,
    FourierCounts,
    JointHistograms,
    Network,
    NetworkCounts,
)
from discreet.networks._table_mechanisms import calibrated_variance
from discreet.noise import RadiusDistribution, delta_of_moves, histogram_variance
from discreet.noise._shared_radius import point_within, sum_of_squares_within, within
from discreet.noise.randomness._samplers import SeededBits, discrete_gaussian
from discreet.planning import suggest
from discreet_papers.as_published.fourier_updates import FourierUpdates
from discreet_papers.as_published.laplace_updates import LaplaceUpdates

Counts = NDArray[np.int64]


def network_of(*edges: str, **levels: int) -> Network:
    return Network.from_edges(
        *edges,
        levels={name: tuple(range(count)) for name, count in levels.items()},
        outside={
            name: each[0] for name, each in ({name: tuple(range(count)) for name, count in levels.items()}).items()
        },
    )


def naive_bayes(features: int, classes: int = 2, levels: int = 2) -> Network:
    names = [f"f{i}" for i in range(features)]
    return Network.naive_bayes(
        "y", names, {"y": tuple(range(classes))} | dict.fromkeys(names, tuple(range(levels))), outside=0
    )


NETWORKS = {
    "one item": network_of("a", a=2),
    "two roots": network_of("a", "b", a=2, b=2),
    "roots of 2 and 3 levels": network_of("a", "b", a=2, b=3),
    "chain": network_of("a -> b -> c", a=2, b=2, c=2),
    "chain with 3 levels": network_of("a -> b", "c", a=2, b=3, c=2),
    "two parents": network_of("a -> c", "b -> c", a=2, b=2, c=2),
    "naive Bayes": naive_bayes(2),
    "naive Bayes, 3 classes": naive_bayes(2, classes=3),
    "naive Bayes, 3 levels": naive_bayes(2, levels=3),
}
CUBES = ("one item", "two roots", "naive Bayes", "naive Bayes, 3 classes")
BINARY = ("one item", "two roots", "chain", "two parents", "naive Bayes")
PURE: list[tuple[type[NetworkCounts], str]] = [
    *((CubeCounts, name) for name in CUBES),
    *((kind, name) for kind in (JointHistograms, FamilyHistograms, LaplaceUpdates) for name in NETWORKS),
    *((kind, name) for kind in (FourierCounts, FourierUpdates) for name in BINARY),
]
GAUSSIAN: tuple[type[NetworkCounts], ...] = (FamilyGaussians, ContrastGaussians)
ALL = [*PURE, *((kind, name) for kind in GAUSSIAN for name in ("two roots", "chain", "naive Bayes, 3 levels"))]
KINDS = [CubeCounts, JointHistograms, FamilyHistograms, LaplaceUpdates, FourierCounts, FourierUpdates, *GAUSSIAN]


def mechanism_of(kind: type[NetworkCounts], name: str, size: int, epsilon: str) -> Any:
    more = {"delta": "1e-3"} if kind in GAUSSIAN else {}
    made: Any = kind
    return made(NETWORKS[name], size=size, epsilon=epsilon, **more)


def counts_of(network: Network, records: list[tuple[int, ...]]) -> Counts:
    """Count records cell by cell: the slow and obvious way."""
    names = [variable.name for variable in network.variables]
    tables = []
    for family in network.maximal_families:
        table = np.zeros(network.shape(family), dtype=np.int64)
        for record in records:
            table[tuple(record[names.index(name)] for name in family)] += 1
        tables.append(table.ravel())
    return np.concatenate(tables)


def data_sets(network: Network, size: int) -> tuple[Counts, NDArray[np.int64]]:
    """Return the counts of all data sets, and all pairs of neighbours among them."""
    records = list(product(*(range(len(variable.levels)) for variable in network.variables)))
    sets = list(combinations_with_replacement(records, size))
    place = {data: number for number, data in enumerate(sets)}
    pairs = {
        (place[data], place[tuple(sorted((*data[:i], other, *data[i + 1 :])))])
        for data in sets
        for i in range(size)
        for other in records
    }
    return np.array([counts_of(network, list(data)) for data in sets]), np.array(sorted(pairs))


@pytest.mark.parametrize(("kind", "name"), PURE)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_no_output_reveals_more_than_the_promised_epsilon(kind: type[NetworkCounts], name: str, size: int) -> None:
    if size == 3 and prod(len(v.levels) for v in NETWORKS[name].variables) > 8:
        size = 1  # 18 kinds of records: 1 and 2 of them are enough
    mechanism = mechanism_of(kind, name, size, "0.7")
    tables, pairs = data_sets(mechanism.model, size)
    measured = mechanism.measured(tables)
    drawn = mechanism.sample(np.tile(tables, (4, 1))[:400], SeededBits(3))
    outputs = np.concatenate([measured[:200], drawn])
    laws = np.stack([mechanism.log_prob(outputs, table) for table in tables])
    assert np.isfinite(laws).all()
    losses = np.abs(laws[pairs[:, 0]] - laws[pairs[:, 1]]).max(axis=1)
    stated = float(mechanism.guarantee.epsilon)
    assert losses.max() <= stated * (1 + 1e-12) <= 0.7 * (1 + 2e-12)
    assert losses.max() >= stated * (1 - 1e-12)  # no noise is wasted


@pytest.mark.parametrize("name", NETWORKS)
def test_a_replaced_record_moves_two_cells_of_each_family_at_most(name: str) -> None:
    tables, pairs = data_sets(NETWORKS[name], 2 if len(NETWORKS[name].variables) < 3 else 1)
    squares = np.square(tables[pairs[:, 0]] - tables[pairs[:, 1]]).sum(axis=1)
    assert squares.max() == 2 * len(NETWORKS[name].maximal_families)


@pytest.mark.parametrize("kind", [FamilyHistograms, LaplaceUpdates])
@pytest.mark.parametrize("name", ["chain", "chain with 3 levels", "naive Bayes, 3 classes"])
def test_the_loss_of_a_record_that_changes_everywhere_is_exact(kind: type[NetworkCounts], name: str) -> None:
    mechanism = mechanism_of(kind, name, 1, "1.5")
    tables, _ = data_sets(mechanism.model, 1)
    first, second, draws = tables[0], tables[-1], 20_000  # the first and the last level of everything
    outputs = mechanism.sample(np.tile(first, (draws, 1)), SeededBits(6))
    losses = mechanism.log_prob(outputs, first) - mechanism.log_prob(outputs, second)
    stated = mechanism.privacy_loss()
    observed = np.array([np.isclose(losses, float(loss), atol=1e-9).sum() for loss in stated.losses])
    assert observed.sum() == draws
    expected = np.array(stated.probabilities) * draws
    common = expected >= 5
    bins = np.append(observed[common], draws - observed[common].sum())
    wanted = np.append(expected[common], max(1e-9, draws - expected[common].sum()))
    used = wanted > 1e-6
    assert chisquare(bins[used], wanted[used] * bins[used].sum() / wanted[used].sum()).pvalue > 1e-4


def test_gaussian_noise_is_independent_in_every_cell() -> None:
    mechanism = mechanism_of(FamilyGaussians, "chain", 2, "1")
    values, v = np.arange(-2000, 2001), float(mechanism.variance)
    logs = -(values.astype(float) ** 2) / (2 * v)
    logs -= np.log(np.exp(logs).sum())
    noise = mechanism.noise.sample(50, SeededBits(16))
    assert mechanism.log_noise(noise) == pytest.approx(logs[noise + 2000].sum(axis=1), rel=1e-12)


@pytest.mark.parametrize("variance", ["2", "3.7", "1000003/1000", "123456789.123"])
def test_the_discrete_gaussian_follows_its_law(variance: str) -> None:
    v, draws = Fraction(variance), 20_000
    drawn = discrete_gaussian(v, draws, SeededBits(8))
    edges = np.linspace(-2.5, 2.5, 12) * float(v) ** 0.5
    values = np.arange(-40_000, 40_001) if v < 10**4 else np.arange(-120_000, 120_001)
    weights = np.exp(-(values.astype(float) ** 2) / (2 * float(v)))
    bins = np.bincount(np.searchsorted(edges, drawn), minlength=13)
    wanted = np.bincount(np.searchsorted(edges, values), weights=weights, minlength=13)
    used = wanted > 0
    assert chisquare(bins[used], wanted[used] / wanted.sum() * draws).pvalue > 1e-4


def by_convolution(variance: float, tables: int, epsilon: float) -> float:
    """Return delta(epsilon) from the law of a sum of 2F discrete Gaussians, one convolution after another."""
    far = int(14 * variance**0.5) + 5
    values = np.arange(-far, far + 1)
    one = np.exp(-(values**2) / (2 * variance))
    law = np.ones(1)
    for _ in range(2 * tables):
        law = np.convolve(law, one / one.sum())
    losses = (np.arange(len(law)) - len(law) // 2 + tables) / variance
    return float((law * np.maximum(0.0, -np.expm1(epsilon - losses))).sum())


@pytest.mark.parametrize(("tables", "epsilon", "delta"), [(1, "1", "1e-6"), (2, "3", "1e-4"), (5, "0.8", "1e-3")])
def test_the_calibrated_variance_is_the_least_by_the_exact_law(tables: int, epsilon: str, delta: str) -> None:
    variance = calibrated_variance(Fraction(epsilon), Fraction(delta), tables)
    exact = by_convolution(float(variance), tables, float(epsilon))
    stated = delta_of_moves(variance, 2 * tables, Fraction(epsilon))
    assert exact <= stated <= float(delta)
    assert stated == pytest.approx(exact, rel=1e-6)
    assert by_convolution(float(variance) * (1 - 1e-5), tables, float(epsilon)) > float(delta)


def test_blocks_of_many_values_only_round_up() -> None:
    fine = delta_of_moves(Fraction(10**6), 80, Fraction(1, 100))  # 226,000 values in blocks of 14
    spread = 80 * 10.0**6
    values = np.arange(-120_000, 120_001)
    law = np.exp(-(values.astype(float) ** 2) / (2 * spread)) / np.sqrt(2 * np.pi * spread)
    plain = float((law * np.maximum(0.0, -np.expm1(0.01 - (values + 40) / 1e6))).sum())
    assert plain <= fine <= plain * 1.01


def test_a_variance_below_what_delta_needs_is_refused() -> None:
    net = naive_bayes(3)
    good = FamilyGaussians(net, 100, 1, "1e-6")
    assert FamilyGaussians(net, 100, 1, "1e-6", variance=good.variance) == good
    assert FamilyGaussians(net, 100, 1, "1e-6", variance=good.variance * 2).rho == pytest.approx(good.rho / 2)
    with pytest.raises(DeclarationError, match="delta"):
        FamilyGaussians(net, 100, 1, "1e-6", variance=good.variance * Fraction(999, 1000))
    for variance in ("1", "1e17"):
        with pytest.raises(DeclarationError, match="variance"):
            FamilyGaussians(net, 100, 1, "1e-6", variance=variance)
    assert good.privacy_loss().delta_at(1) <= 1e-6
    assert good.privacy_loss().delta_at(1) == pytest.approx(1e-6, rel=1e-4)


def test_type_b_eulerian_numbers_start_the_radius_of_a_cube() -> None:
    row = [1]
    for n in range(1, 9):  # B(n, k) = (2k + 1) B(n-1, k) + (2n - 2k + 1) B(n-1, k-1)
        padded = [0, *row, 0]
        row = [(2 * k + 1) * padded[k + 1] + (2 * n - 2 * k + 1) * padded[k] for k in range(n + 1)]
        assert RadiusDistribution(Fraction(1), [(2 * r + 1) ** n for r in range(n + 1)]).starts == row


def points(cells: int, radius: int) -> Counts:
    free = np.array(list(product(range(-radius, radius + 1), repeat=cells - 1)))
    vectors = np.column_stack([free, -free.sum(axis=1)])
    return np.asarray(vectors[np.abs(vectors).sum(axis=1) <= 2 * radius])


@pytest.mark.parametrize(("cells", "radius"), [(2, 0), (2, 5), (3, 1), (3, 4), (4, 3), (5, 2)])
def test_lattice_points_are_counted_as_by_hand(cells: int, radius: int) -> None:
    listed = points(cells, radius)
    assert within(radius, cells) == len(listed)
    assert sum_of_squares_within(radius, cells) == (listed[:, 0] ** 2).sum()


def test_points_within_a_radius_are_uniform() -> None:
    bits = SeededBits(9)
    drawn = np.array([point_within(3, 3, bits) for _ in range(9000)])
    _, observed = np.unique(drawn, axis=0, return_counts=True)
    assert len(observed) == within(3, 3)
    assert chisquare(observed).pvalue > 1e-4


@pytest.mark.parametrize("sizes", [(2, 2), (4, 4, 4), (2, 9), (6,) * 16, (3, 50)])
def test_the_radius_of_joint_tables_has_its_law(sizes: tuple[int, ...]) -> None:
    degree = sum(sizes) - len(sizes)
    law = RadiusDistribution(Fraction(1, 2), [prod(within(r, m) for m in sizes) for r in range(degree + 1)])
    weights = np.array([float(prod(Fraction(within(r, m), within(degree, m)) for m in sizes)) for r in range(1000)])
    weights *= np.exp(-0.5 * np.arange(1000))
    mean = weights @ np.arange(1000) / weights.sum()
    assert law.moments()[0] == pytest.approx(mean, rel=1e-9)
    drawn = law.sample(4000, SeededBits(10))
    assert abs(drawn.mean() - mean) < 5 * drawn.std() / np.sqrt(4000)


def test_sixteen_tables_of_four_cells_gain_from_a_shared_radius() -> None:
    joint = JointHistograms(naive_bayes(16), size=1000, epsilon=1)
    drawn = joint.noise.sample(300, SeededBits(11))
    distances = np.abs(drawn).reshape(300, 16, 4).sum(axis=2) / 2
    assert distances.mean() == pytest.approx(36.7, abs=1.5)  # 48.0 for an equal split
    assert joint.count_sd() == pytest.approx((drawn.reshape(-1, 2) @ [0.5, -0.5]).std(), rel=0.05)
    assert joint.count_sd() < FamilyHistograms(naive_bayes(16), size=1000, epsilon=1).count_sd()


def test_noise_of_naive_bayes_with_sixteen_features_is_as_computed() -> None:
    net = naive_bayes(16)
    cube = CubeCounts(net, 1000, 1)
    assert cube.count_sd() == pytest.approx(10.78, abs=0.01)
    family = FamilyHistograms(net, 1000, 1)
    assert histogram_variance(4, 1 / 16) ** 0.5 == pytest.approx(32.8, abs=0.1)  # of a cell
    assert family.count_sd() == pytest.approx(26.77, abs=0.01)  # given its class total
    assert FamilyGaussians(net, 1000, 1, "1e-6").count_sd() == pytest.approx(16.90, abs=0.01)
    updates = LaplaceUpdates(net, 1000, 1)
    assert updates.cell_sd() == pytest.approx(48.08, abs=0.01)
    assert updates.count_sd() == pytest.approx(34.00, abs=0.01)


@pytest.mark.parametrize("kind", KINDS)
def test_the_stated_standard_deviation_is_that_of_samples(kind: type[NetworkCounts]) -> None:
    mechanism = mechanism_of(kind, "naive Bayes", 1, "0.5")
    drawn = mechanism.noise.sample(3000, SeededBits(12))
    if isinstance(mechanism, CubeCounts):
        seen = drawn[:, 2:].std() / 2
    elif isinstance(mechanism, FourierCounts | FourierUpdates | ContrastGaussians):
        tables = mechanism.tables(mechanism.measured(np.tile([1, 0, 0, 0], 2)) + drawn)
        seen = max(((table - table.mean(axis=0)) @ [0.5, -0.5]).std() for table in tables.values())
    else:
        seen = (drawn[:, -8:].reshape(-1, 2) @ [0.5, -0.5]).std()
    assert mechanism.count_sd() == pytest.approx(seen, rel=0.05)


@pytest.mark.parametrize(("cells", "epsilon"), [(2, 1.0), (3, 0.4), (6, 2.0)])
def test_the_variance_of_a_histogram_cell_is_that_of_its_law(cells: int, epsilon: float) -> None:
    far, p = 400, exp(-epsilon / 2)
    t = np.arange(-far, far + 1)
    one, others = p ** np.abs(t), np.ones(1)
    for _ in range(cells - 1):
        others = np.convolve(others, one)
    middle = len(others) // 2
    law = one * others[middle - far : middle + far + 1]
    assert histogram_variance(cells, epsilon) == pytest.approx(law @ t**2 / law.sum(), rel=1e-9)


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
def test_a_thousand_features_are_published_in_one_draw(kind: Callable[..., Any]) -> None:
    features = 300 if kind is JointHistograms else 1000
    more = {"delta": "1e-6"} if kind in GAUSSIAN else {}
    mechanism = kind(naive_bayes(features), size=1000, epsilon=1, **more)
    counts = np.tile([200, 300, 400, 100], features)
    output = mechanism.sample(counts, SeededBits(13))
    mechanism.space.check(output)
    assert np.isfinite(mechanism.log_prob(output, counts))


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_an_output_has_its_length_and_is_checked(kind: type[NetworkCounts], name: str) -> None:
    mechanism = mechanism_of(kind, name, 4, "1")
    table = counts_of(mechanism.model, [(0,) * len(mechanism.model.variables)] * 4)
    output = mechanism.sample(table, SeededBits(14))
    assert output.shape == (mechanism.space.length,) == mechanism.measured(table).shape
    assert output.dtype == np.int64
    mechanism.space.check(output)
    for wrong in (output[:-1], output + 10**15):
        with pytest.raises(DocumentError):
            mechanism.space.check(wrong)
    if isinstance(mechanism, JointHistograms | FamilyHistograms | CubeCounts) and mechanism.model.target is not None:
        with pytest.raises(DocumentError, match="add up"):
            mechanism.space.check(output + np.eye(1, mechanism.space.length, dtype=np.int64)[0])
        assert mechanism.log_prob(output + np.eye(1, mechanism.space.length, dtype=np.int64)[0], table) == -np.inf


def test_networks_and_shares_that_do_not_fit_are_refused_by_name() -> None:
    for name, words in (("chain", "naive Bayes"), ("naive Bayes, 3 levels", "3 levels")):
        with pytest.raises(DeclarationError, match=words):
            CubeCounts(NETWORKS[name], 10, 1)
    for share in ("0", "1", "-0.1", "2", "1e-7"):
        with pytest.raises(DeclarationError, match=r"class"):
            CubeCounts(NETWORKS["naive Bayes"], 10, 1, class_share=share)
    for shares in (("1",), ("1", "0"), ("1", "-1"), "12", ("1", "1/20000")):
        with pytest.raises(DeclarationError, match="share"):
            FamilyHistograms(NETWORKS["chain"], 10, 1, shares=shares)
    for delta in ("0", "1e-16", "0.6", "2"):
        with pytest.raises(DeclarationError, match="delta"):
            FamilyGaussians(NETWORKS["chain"], 10, 1, delta)


def test_shares_sum_to_epsilon_exactly() -> None:
    net = network_of("a -> b", "a -> c", "c -> d", "b -> d", a=2, b=7, c=3, d=2)
    for shares in (None, ("0.2", "0.3", "0.5"), (1, 2, 4)):
        mechanism = FamilyHistograms(net, 10, "1/3", shares=shares)
        assert sum(mechanism.family_epsilons) == Fraction(1, 3)
        assert mechanism.privacy_loss().epsilon == Fraction(1, 3)
    assert FamilyHistograms(NETWORKS["chain"], 10, 1).shares == (1, 1)
    many = network_of(*(f"x{i}" for i in range(2000)), **{f"x{i}": 2 + i % 3 for i in range(2000)})
    made = FamilyHistograms(many, 10, 1)
    assert FamilyHistograms(many, 10, 1, shares=made.shares) == made  # the constructor takes what it gives
    one, two = FamilyHistograms(network_of("a", "b", a=2, b=16), 10, 1).shares
    assert two / one == pytest.approx(2, rel=1e-3)  # (16/2)^(1/3)


def test_the_published_truncation_is_on_the_readers_side() -> None:
    mechanism = LaplaceUpdates(NETWORKS["chain"], 3, "0.1")
    table = counts_of(mechanism.model, [(0, 0, 0), (1, 0, 1), (1, 1, 1)])
    clear = mechanism.tables(mechanism.measured(table))
    assert clear["a"].tolist() == [1, 2]
    assert clear["b"].tolist() == [[1, 0], [1, 1]]
    assert clear["c"].tolist() == [[1, 1], [0, 1]]
    output = mechanism.sample(table, SeededBits(15))
    cut = mechanism.truncated(output)
    assert output.min() < 0
    assert (cut.min(), cut.max()) == (0, 3)


def test_a_suggested_mechanism_says_why() -> None:
    cases: list[tuple[Network, str | int, Any, str]] = [
        (naive_bayes(16), 0, CubeCounts, "cube"),
        (naive_bayes(16), "1e-6", CubeCounts, "not needed"),
        (naive_bayes(80), "1e-6", FamilyGaussians, "smaller"),
        (naive_bayes(4, classes=3, levels=3), 0, JointHistograms, "similar"),
        (network_of("a -> b", "c", a=4, b=4, c=2), 0, FamilyHistograms, "share"),
        (NETWORKS["two parents"], 0, FamilyHistograms, "share"),
        (NETWORKS["two roots"], 0, CubeCounts, "cube"),
    ]
    for net, delta, kind, word in cases:
        found = suggest(net, 100, 1, delta)
        assert type(found.mechanism) is kind
        assert word in found.reason


def test_the_binomial_loss_of_laplace_updates_is_as_by_hand() -> None:
    loss = LaplaceUpdates(NETWORKS["two roots"], 5, 4).privacy_loss()
    up = 1 / (1 + exp(-1.0))
    assert [int(value) for value in loss.losses] == [-4, -2, 0, 2, 4]
    assert loss.probabilities == pytest.approx([comb(4, k) * up**k * (1 - up) ** (4 - k) for k in range(5)], rel=1e-12)
