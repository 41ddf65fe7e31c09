"""Contrasts, the worst change of one record, and the mechanisms that rest on them, against slow and obvious twins."""

from fractions import Fraction
from itertools import combinations, product
from math import prod, tanh
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dc
from discreet._core.errors import DeclarationError
from discreet.networks import contrast_basis, parity_changes
from discreet.networks._contrasts import ContrastBasis
from discreet.networks._fourier_counts import best_shares
from discreet.networks._record_changes import contrast_changes
from discreet.planning import cell_variances, mean_cell_variance
from discreet_papers import as_published

Counts = NDArray[np.int64]


def network_of(*edges: str, **levels: int) -> dc.Network:
    return dc.Network.from_edges(
        *edges,
        levels={name: tuple(range(count)) for name, count in levels.items()},
        outside={
            name: each[0] for name, each in ({name: tuple(range(count)) for name, count in levels.items()}).items()
        },
    )


def naive_bayes(features: int, levels: int = 2) -> dc.Network:
    names = [f"x{i}" for i in range(features)]
    return dc.Network.naive_bayes("y", names, dict.fromkeys(["y", *names], tuple(range(levels))), outside=0)


def yes_no(*edges: str) -> dc.Network:
    names = sorted({name.strip() for edge in edges for name in edge.split("->")})
    return network_of(*edges, **dict.fromkeys(names, 2))


BINARY = {
    "naive Bayes": naive_bayes(4),
    "chain": yes_no("a -> b -> c -> d -> e"),
    "independent": yes_no("a", "b", "c"),
    "complete": yes_no(*(f"{a} -> {b}" for a, b in combinations("abcd", 2))),
    "loop": yes_no("a -> b -> d", "a -> c -> d"),
    "asia": yes_no("a -> t", "s -> l", "s -> b", "t -> e", "l -> e", "e -> x", "e -> d", "b -> d"),
}
MIXED = {
    "levels 2, 3, 4": network_of("a -> c", "b -> c", "c -> d", a=2, b=3, c=4, d=3),
    "three levels": naive_bayes(3, levels=3),
    "chain of 5": network_of("a -> b -> c", a=5, b=2, c=3),
}


PAIRS = list(combinations(range(10, 33), 2))
DENSE = [f"p{j} -> c{i}{j}" for i, j in PAIRS]  # every two of 23 variables have a child together


def records_of(network: dc.Network, count: int, seed: int) -> Counts:
    generator = np.random.default_rng(seed)
    return np.column_stack([generator.integers(0, len(v.levels), count) for v in network.variables])


def counts_of(network: dc.Network, records: Counts) -> Counts:
    """Count records cell by cell: the slow and obvious way."""
    names = [variable.name for variable in network.variables]
    tables = []
    for family in network.maximal_families:
        table = np.zeros(network.shape(family), dtype=np.int64)
        np.add.at(table, tuple(records[:, names.index(name)] for name in family), 1)
        tables.append(table.ravel())
    return np.concatenate(tables)


def family_table(network: dc.Network, family: tuple[str, ...], records: Counts) -> Counts:
    names = [variable.name for variable in network.variables]
    table = np.zeros(network.shape(family), dtype=np.int64)
    np.add.at(table, tuple(records[:, names.index(name)] for name in family), 1)
    return table


def slow_contrasts(network: dc.Network, records: Counts) -> list[int]:
    """Return t_ga by its definition, record by record."""
    names = [variable.name for variable in network.variables]
    found = []
    for block in contrast_basis(network).blocks:
        for chosen in product(*(range(1, levels) for levels in network.shape(block))):
            total = 0
            for record in records:
                values = [int(record[names.index(name)]) for name in block]
                total += prod(1 if x < a else -a if x == a else 0 for x, a in zip(values, chosen, strict=True))
            found.append(total)
    return found


@pytest.mark.parametrize("name", [*BINARY, *MIXED])
def test_contrasts_are_those_of_the_definition(name: str) -> None:
    network = (BINARY | MIXED)[name]
    records = records_of(network, 30, seed=1)
    found = contrast_basis(network).contrasts(counts_of(network, records))
    assert found.tolist() == slow_contrasts(network, records)


@pytest.mark.parametrize(
    "kind", [as_published.FourierUpdates, dc.networks.FourierCounts, dc.networks.ContrastGaussians]
)
def test_what_is_measured_is_a_linear_map_of_the_cells(kind: Any) -> None:
    network = BINARY["loop"]
    mechanism = kind(network, 50, 1, **({"delta": "1e-6"} if kind is dc.networks.ContrastGaussians else {}))
    matrix = mechanism.measured(np.eye(network.cells, dtype=np.int64))
    counts = counts_of(network, records_of(network, 50, seed=13))
    assert np.array_equal(counts @ matrix, mechanism.measured(counts))


def test_the_coefficients_of_four_records_are_as_by_hand() -> None:
    basis = ContrastBasis(yes_no("a -> b"))
    records = np.array([[0, 0], [0, 1], [1, 1], [1, 1]])
    assert basis.contrasts(counts_of(basis.network, records)).tolist() == [0, -2, 2]  # and 4 for the empty block


@pytest.mark.parametrize("name", [*BINARY, *MIXED])
def test_tables_come_back_from_their_contrasts(name: str) -> None:
    network = (BINARY | MIXED)[name]
    records = records_of(network, 40, seed=2)
    basis = contrast_basis(network)
    tables = basis.tables(basis.contrasts(counts_of(network, records)), 40)
    for family in network.families:
        assert tables[family[-1]] == pytest.approx(family_table(network, family, records), abs=1e-9)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("kind", [as_published.FourierUpdates, dc.networks.FourierCounts])
def test_noisy_tables_of_yes_no_variables_agree_to_the_last_bit(kind: Any, name: str) -> None:
    network = BINARY[name]
    mechanism = kind(network, 50, 1)
    output = mechanism.sample(counts_of(network, records_of(network, 50, seed=3)), dc.SeededBits(3))
    assert_margins_agree(network, mechanism.tables(output), 0.0)
    if kind is dc.networks.FourierCounts:
        assert all(table.sum() == 50 for table in mechanism.tables(output).values())


@pytest.mark.parametrize("name", MIXED)
def test_noisy_tables_of_any_levels_agree_but_for_rounding(name: str) -> None:
    network = MIXED[name]
    mechanism = dc.networks.ContrastGaussians(network, 50, 1, "1e-6")
    output = mechanism.sample(counts_of(network, records_of(network, 50, seed=4)), dc.SeededBits(4))
    assert_margins_agree(network, mechanism.tables(output), 1e-9)
    independent = dc.networks.FamilyGaussians(network, 50, 1, "1e-6")
    other = independent.sample(counts_of(network, records_of(network, 50, seed=4)), dc.SeededBits(4))
    tables = dict(zip(network.maximal_families, network.split(other), strict=True))
    shared = [(f, g) for f, g in combinations(tables, 2) if set(f) & set(g)]
    assert any(
        (network.marginal(tables[f], f, (n,)) != network.marginal(tables[g], g, (n,))).any()
        for f, g in shared
        for n in set(f) & set(g)
    )  # what consistency is about: independent tables contradict each other


def assert_margins_agree(network: dc.Network, tables: dict[str, Any], tolerance: float) -> None:
    for first, second in combinations(network.families, 2):
        shared = tuple(name for name in first if name in second)
        ours = network.marginal(tables[first[-1]], first, shared)
        assert np.abs(ours - network.marginal(tables[second[-1]], second, shared)).max() <= tolerance


def brute_force(network: dc.Network, weights: tuple[int, ...], changes: Any) -> Fraction:
    """Return the worst change over all pairs of records, from the contrasts of single records."""
    basis = contrast_basis(network)
    everyone = np.array(list(product(*(range(len(v.levels)) for v in network.variables))))
    rows = np.array([basis.contrasts(counts_of(network, record[None])) for record in everyone])
    first = rows[0]
    best = Fraction(0)
    for other in rows:  # which record is replaced does not matter: only the pattern of variables that differ does
        total = Fraction(0)
        for place, block in enumerate(basis.blocks):
            step = (other - first)[basis.edges[place] : basis.edges[place + 1]]
            if changes is parity_changes:
                total += weights[place] * Fraction(int(np.abs(step).sum()), 2)
            else:
                lengths = [[a * (a + 1) for a in range(1, k)] for k in network.shape(block)]
                scales = [prod(each) for each in product(*lengths)]
                total += weights[place] * sum(Fraction(int(s) ** 2, 2 * v) for s, v in zip(step, scales, strict=True))
        best = max(best, total)
    return best


@pytest.mark.parametrize("name", BINARY)
def test_elimination_finds_the_worst_parity_change_of_all_records(name: str) -> None:
    network, generator = BINARY[name], np.random.default_rng(5)
    blocks = contrast_basis(network).blocks
    for weights in (tuple([1] * len(blocks)), tuple(generator.integers(1, 50, len(blocks)).tolist())):
        value, pattern = parity_changes(network).worst(weights)
        assert value == brute_force(network, weights, parity_changes)
        assert value == pytest.approx(np.array(weights) @ parity_changes(network).moves(pattern))


@pytest.mark.parametrize("name", [*MIXED, "loop"])
def test_elimination_finds_the_worst_contrast_change_of_all_records(name: str) -> None:
    network, generator = (BINARY | MIXED)[name], np.random.default_rng(6)
    blocks = contrast_basis(network).blocks
    for most in (2, 50, 10**18):  # the last one leaves 64 bits
        weights = tuple(int(w) for w in generator.integers(1, most, len(blocks)))
        assert contrast_changes(network).worst(weights)[0] == brute_force(network, weights, contrast_changes)


def test_the_change_of_a_block_depends_on_the_pattern_alone() -> None:
    network = network_of("a -> b", a=3, b=4)
    basis = contrast_basis(network)
    everyone = list(product(range(3), range(4)))
    seen: dict[tuple[bool, ...], set[Fraction]] = {}
    for first, second in product(everyone, everyone):
        rows = [basis.contrasts(counts_of(network, np.array([record]))) for record in (first, second)]
        step = (rows[1] - rows[0])[basis.edges[2] : basis.edges[3]]
        scales = [(a * (a + 1)) * (b * (b + 1)) for a, b in product(range(1, 3), range(1, 4))]
        half = sum(Fraction(int(s) ** 2, 2 * v) for s, v in zip(step, scales, strict=True))
        seen.setdefault(tuple(x == y for x, y in zip(first, second, strict=True)), set()).add(Fraction(half))
    still = Fraction(2, 3) * Fraction(3, 4)
    assert seen[False, False] == {still - Fraction(-1, 3) * Fraction(-1, 4)}
    assert seen[True, False] == {still - Fraction(2, 3) * Fraction(-1, 4)}
    assert seen[True, True] == {Fraction(0)}


def test_known_sensitivities() -> None:
    for network, moved in ((naive_bayes(16), 32), (naive_bayes(200), 400), (BINARY["complete"], 8)):
        assert parity_changes(network).worst([1] * len(contrast_basis(network).blocks))[0] == moved
    assert len(contrast_basis(naive_bayes(16)).blocks) + 1 == 34  # |N| = 2d + 2
    assert as_published.FourierUpdates(naive_bayes(16), 50, 1).guarantee.epsilon == Fraction(32, 34)
    for k in range(2, 10):  # a chain of k variables: ceil(k/2) + k - 1
        chain = yes_no("->".join("abcdefghij"[:k]))
        assert parity_changes(chain).worst([1] * (2 * k - 1))[0] == (k + 1) // 2 + k - 1


def test_the_best_shares_of_naive_bayes_are_those_in_closed_form() -> None:
    for features in (4, 16):
        mechanism = dc.networks.FourierCounts(naive_bayes(features), 50, 1)
        rates = dict(zip(mechanism.basis.blocks, map(float, mechanism.rates), strict=True))
        assert rates["y",] == pytest.approx(1 / 2, rel=5e-3)  # scale 4 of c_y
        assert rates["x0",] == pytest.approx(1 / (2 * features), rel=5e-3)  # scale 4 d
        assert rates["y", "x0"] == pytest.approx(1 / (2 * features), rel=5e-3)


@pytest.mark.parametrize("name", BINARY)
def test_no_nearby_shares_are_better(name: str) -> None:
    network = BINARY[name]
    changes, basis = parity_changes(network), contrast_basis(network)
    costs = basis.cost() * 2.0 ** np.array([-len(block) for block in basis.blocks])

    def cost(shares: tuple[int, ...]) -> float:
        return float((costs * (float(changes.worst(shares)[0]) / np.array(shares)) ** 2).sum())

    best, generator = cost(best_shares(network)), np.random.default_rng(7)
    for _ in range(60):
        other = np.array(best_shares(network)) * 1000 * generator.lognormal(0, 0.05, len(costs))
        assert cost(tuple(int(share) for share in other)) >= best * (1 - 2e-3)
    assert best <= cost((1,) * len(costs)) * (1 + 1e-9)


def test_equal_shares_have_an_exact_loss_and_others_are_dominated() -> None:
    network = BINARY["chain"]
    tight = dc.networks.FourierCounts(network, 50, 1, shares=(1,) * 9)
    assert len(tight.privacy_loss().losses) == 8  # seven coefficients move
    assert float(tight.rho) == pytest.approx(7 * tanh(1 / 14) / 7, rel=1e-7)  # seven numbers of rate 1/7
    weighted = dc.networks.FourierCounts(network, 50, 1)
    assert weighted.privacy_loss().losses == (Fraction(1), Fraction(-1))
    assert weighted.rho < Fraction(1, 2)


def test_documents_with_other_shares_mean_the_same_noise() -> None:
    network = yes_no("a -> b")
    mechanism = dc.networks.FourierCounts(network, 50, "1/3", shares=(2, 4, 6))
    release = dc.simulate(mechanism, np.array([10, 20, 5, 15]), dc.SeededBits(8))
    again = dc.Release.from_json(release.to_json())
    assert again.mechanism == mechanism
    assert "shares" in repr(mechanism)
    assert parity_changes(network).worst((2, 4, 6))[0] * mechanism.rates[0] / 2 == Fraction(1, 3)


def test_shares_and_networks_that_do_not_fit_are_refused() -> None:
    network = yes_no("a -> b")
    for shares in ((1, 2), (1, 2, 0), (1, 2, -1), (1, 2, 0.5), "123", (1, 2, 10**10)):
        for kind, more in ((dc.networks.FourierCounts, {}), (dc.networks.ContrastGaussians, {"delta": "1e-6"})):
            made: Any = kind
            with pytest.raises(DeclarationError, match="share"):
                made(network, 50, 1, shares=shares, **more)
    for published in (dc.networks.FourierCounts, as_published.FourierUpdates):
        with pytest.raises(DeclarationError, match="3 levels"):
            published(MIXED["three levels"], 50, 1)
    with pytest.raises(DeclarationError, match="rate"):
        dc.networks.FourierCounts(network, 50, "1e-6", shares=(1, 1, 10))
    with pytest.raises(DeclarationError, match="densely"):
        dc.networks.FourierCounts(yes_no(*(f"p{i} -> c{i}{j} -> q{i}{j}" for i, j in PAIRS), *DENSE), 50, 1)


def test_a_gaussian_variance_that_is_too_small_is_refused() -> None:
    network = MIXED["levels 2, 3, 4"]
    good = dc.networks.ContrastGaussians(network, 50, 1, "1e-6")
    assert dc.networks.ContrastGaussians(network, 50, 1, "1e-6", good.shares, good.variance) == good
    with pytest.raises(DeclarationError, match="too small"):
        dc.networks.ContrastGaussians(network, 50, 1, "1e-6", variance=good.variance * Fraction(999, 1000))
    with pytest.raises(DeclarationError, match="between"):
        dc.networks.ContrastGaussians(network, 50, 1, "1e-6", variance=10**17)
    patterns = [frozenset(names) for size in range(5) for names in combinations("abcd", size)]
    spent = [float(contrast_changes(network).moves(p) @ (1 / good.block_variances())) for p in patterns]
    assert max(spent) == pytest.approx(float(1 / good.variance), rel=1e-12)
    assert 1 / good.variance <= good.rho


def test_gaussian_contrasts_have_the_variances_that_are_stated() -> None:
    network = MIXED["levels 2, 3, 4"]
    mechanism = dc.networks.ContrastGaussians(network, 50, 2, "1e-3")
    drawn = mechanism.noise.sample(4000, dc.SeededBits(9)).astype(float)
    ratios = drawn.var(axis=0) / [float(v) for v in mechanism.variances]
    assert np.abs(ratios - 1).max() < 5 * np.sqrt(2 / 4000)
    counts = counts_of(network, records_of(network, 50, seed=9))
    tables = mechanism.tables(mechanism.measured(counts) + drawn.astype(np.int64))
    for family in network.families:
        stated = mechanism.basis.cell_variance(family, mechanism.block_variances().tolist())
        assert tables[family[-1]].var(axis=0) == pytest.approx(np.full(network.shape(family), stated), rel=0.15)


def test_such_releases_are_read_by_chains() -> None:
    """Noise on sums over many cells is no product over cells, but it has a likelihood; chains need no more."""
    counts = np.array([100, 200, 50, 150])
    release = dc.simulate(dc.networks.FourierCounts(yes_no("a -> b"), 500, 4), counts, dc.SeededBits(10))
    posterior = dc.infer(release)
    assert "Markov chains" in posterior.method
    assert posterior.mean_tables()["b"][0, 1] == pytest.approx(2 / 3, abs=0.05)
    assert as_published.truncated_reading(release).mean_tables()["b"].sum(axis=1) == pytest.approx([1, 1])


def test_the_published_increment_goes_to_every_cell() -> None:
    mechanism = as_published.FourierUpdates(yes_no("a -> b"), 50, 2)
    output = mechanism.sample(np.array([10, 20, 5, 15]), dc.SeededBits(11))
    assert mechanism.increment(0.5) == 4 * 0.5 * 16 / 2
    raised = mechanism.published_tables(output, 0.5)["b"] - mechanism.tables(output)["b"]
    assert raised == pytest.approx(np.full((2, 2), 4.0))
    assert mechanism.looks_like_counts(output, 1e6)
    assert not mechanism.looks_like_counts(output, -1e6)
    many = mechanism.sample(np.tile([10, 20, 5, 15], (6, 1)), dc.SeededBits(12))
    slow = [min(t.min() for t in mechanism.published_tables(row, 0.1).values()) >= 0 for row in many]
    assert mechanism.looks_like_counts(many, 0.1).tolist() == slow


def test_they_are_published_charged_and_verified_like_any_other(tmp_path: Any) -> None:
    network = yes_no("a -> b", "c -> b")
    data = {"a": [0, 1] * 10, "b": [1] * 20, "c": [0] * 15 + [1] * 5}
    ledger = dc.Ledger.create(tmp_path / "ledger.db", epsilon=3, delta="1e-5")
    mechanisms = dc.networks.FourierCounts(network, 20, 1), as_published.FourierUpdates(network, 20, 1)
    for mechanism in (*mechanisms, dc.networks.ContrastGaussians(network, 20, 1, "1e-6")):
        release = dc.publish(mechanism, network.statistics(data), ledger=ledger, label=type(mechanism).__name__)
        certificate = dc.verify(dc.Release.from_json(release.to_json()), ledger=ledger)
        assert certificate.guarantee == mechanism.guarantee
        assert certificate.delta_at(mechanism.guarantee.epsilon) <= float(mechanism.guarantee.delta)
    assert ledger.spent.epsilon == Fraction(5, 2)  # 1, 4 of 8 coefficients, 1


@pytest.mark.parametrize("levels", [2, 3, 5])
def test_contrasts_and_fitted_maximal_tables_coincide_for_naive_bayes(levels: int) -> None:
    network = naive_bayes(4, levels)
    kinds = (
        dc.networks.ContrastGaussians(network, 50, 1, "1e-6"),
        dc.networks.FamilyGaussians(network, 50, 1, "1e-6"),
    )
    means = [mean_cell_variance(network, cell_variances(kind)) * float(kind.rho) for kind in kinds]
    assert means[0] == pytest.approx(means[1], rel=2e-3)


def test_too_many_parents_are_refused_before_any_work() -> None:
    names = [f"x{number}" for number in range(12)]
    network = dc.Network(
        [dc.Column(name, ("no", "yes"), outside="no") for name in names], [()] * 11 + [tuple(names[:11])]
    )
    with pytest.raises(dc.DeclarationError, match="11 parents; at most 10"):
        dc.networks.FourierCounts(network, 100, 1)
