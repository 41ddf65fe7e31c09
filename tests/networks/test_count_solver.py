"""Graphs read by chains through normal coordinates of their tables: against sums over all data sets."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import discreet as dc
from all_data_sets import AllDataSets
from discreet.inference import Problem, SampledTables, fit_of, sources_line
from discreet.mathematics.distributions._dirichlet import BetaMixture
from discreet.networks import Network, NetworkPosterior
from discreet.networks._chains_solver import CountsSolver, target_of
from discreet_papers import as_published

TWO = (0, 1)
LOOP = Network.from_edges(
    "A -> B -> D",
    "A -> C -> D",
    levels=dict.fromkeys("ABCD", TWO),
    prior={"A": 1, "B": (0.5, 2), "C": 1, "D": (2, 1)},
    outside=0,
)


def graph(*edges: str, levels: int = 2, prior: float = 1) -> Network:
    names = sorted({name.strip() for edge in edges for name in edge.split("->")})
    return Network.from_edges(*edges, levels=dict.fromkeys(names, tuple(range(levels))), prior=prior, outside=0)


COLLIDER, TRIANGLE, CHAIN = ("a -> c", "b -> c"), ("a -> b", "a -> c", "b -> c"), ("a -> b", "b -> c")
NAIVE = ("y -> a", "y -> b")
CASES: dict[str, tuple[Network, int, Callable[[Any, int], dc.Mechanism]]] = {
    "collider": (graph(*COLLIDER), 7, lambda net, n: dc.FamilyHistograms(net, n, 3)),
    "triangle": (graph(*TRIANGLE), 7, lambda net, n: dc.FamilyHistograms(net, n, 1)),
    "collider, prior .4": (graph(*COLLIDER, prior=0.4), 7, lambda net, n: dc.FamilyHistograms(net, n, 3)),
    "triangle, prior .4": (graph(*TRIANGLE, prior=0.4), 7, lambda net, n: dc.FamilyHistograms(net, n, 1)),
    "chain": (graph(*CHAIN), 7, lambda net, n: dc.FamilyHistograms(net, n, 2)),
    "chain, little noise": (graph(*CHAIN), 7, lambda net, n: dc.FamilyHistograms(net, n, 12)),
    "chain, little noise, prior .4": (graph(*CHAIN, prior=0.4), 7, lambda net, n: dc.FamilyHistograms(net, n, 12)),
    "collider, prior 40": (graph(*COLLIDER, prior=40), 7, lambda net, n: dc.FamilyHistograms(net, n, 3)),
    "Fourier, naive Bayes": (graph(*NAIVE), 8, lambda net, n: dc.networks.FourierCounts(net, n, 3)),
    "Fourier, collider": (graph(*COLLIDER), 7, lambda net, n: dc.networks.FourierCounts(net, n, 3)),
    "Fourier updates": (graph(*NAIVE), 8, lambda net, n: as_published.FourierUpdates(net, n, 6)),
    "contrasts": (graph(*COLLIDER), 7, lambda net, n: dc.networks.ContrastGaussians(net, n, 3, "0.01")),
    "joint, collider": (graph(*COLLIDER), 7, lambda net, n: dc.networks.JointHistograms(net, n, 2)),
    "joint, three levels": (
        graph("a -> b", levels=3, prior=0.5), 6, lambda net, n: dc.networks.JointHistograms(net, n, 2)
    ),
    "cube": (graph(*NAIVE), 8, lambda net, n: dc.CubeCounts(net, n, 2)),
    "Gaussians": (graph(*COLLIDER), 7, lambda net, n: dc.networks.FamilyGaussians(net, n, 2, "0.01")),
    "updates": (graph(*TRIANGLE), 6, lambda net, n: as_published.LaplaceUpdates(net, n, 3)),
    "draws": (
        graph(*COLLIDER), 7, lambda net, n: dc.draws.NetworkSampling(net, n, 9, "0.9", draws=2, power="0.7")
    ),
    "coarse draws": (graph(*CHAIN), 7, lambda net, n: dc.draws.NetworkSampling(net, n, 9, "0.9", grid_bits=6)),
    "truncated draws": (
        graph("a -> b"), 5, lambda net, n: dc.draws.NetworkSampling.truncated(net, size=n, epsilon=6)
    ),
}  # fmt: skip


@cache
def released(name: str, seed: int = 3) -> dc.Release:
    network, size, make = CASES[name]
    counts = network.simulate(size, np.random.default_rng(seed)).statistics
    return dc.simulate(make(network, size), counts, dc.SeededBits(seed))


@cache
def all_data_sets(name: str) -> AllDataSets:
    return AllDataSets([released(name)])


def sampled(*releases: dc.Release) -> SampledTables:
    counts = CountsSolver().solve(Problem.of(releases)).counts
    assert isinstance(counts, SampledTables)
    return counts


@pytest.mark.parametrize("name", CASES)
def test_means_and_evidence_are_those_of_a_sum_over_all_data_sets(name: str) -> None:
    """Within 4 of the Monte Carlo errors that the reading states."""
    release = released(name)
    exact, found = all_data_sets(name), sampled(release)
    means = np.concatenate([table.ravel() for table in found.means()])
    errors = np.concatenate([table.ravel() for table in found.diagnostics.errors])
    assert (np.abs(means - exact.means()) <= 4 * errors + 1e-6).all()
    assert errors.max() < 0.02
    assert abs(found.log_evidence - exact.log_evidence) <= 4 * found.log_evidence_error
    assert found.log_evidence_error < 0.25


@pytest.mark.parametrize("name", CASES)
def test_the_fit_is_the_mechanisms_own_likelihood(name: str) -> None:
    release = released(name)
    cells = all_data_sets(name).cells[::100]
    found = fit_of(Problem.of([release])).log_likelihood(cells.T)
    np.testing.assert_allclose(found, release.mechanism.log_prob(release.counts, cells), atol=2e-6)


def test_several_releases_are_read_together() -> None:
    """Two of one kind, and noisy counts with draws: the likelihoods multiply."""
    network, size, _ = CASES["collider"]
    counts = network.simulate(size, np.random.default_rng(4)).statistics
    mechanisms = [dc.FamilyHistograms(network, size, 2), dc.draws.NetworkSampling(network, size, 9, "0.9")]
    releases = [dc.simulate(each, counts, dc.SeededBits(5)) for each in mechanisms]
    exact, found = AllDataSets(releases), sampled(*releases)
    means = np.concatenate([table.ravel() for table in found.means()])
    errors = np.concatenate([table.ravel() for table in found.diagnostics.errors])
    assert (np.abs(means - exact.means()) <= 4 * errors + 1e-6).all()


def test_a_margin_is_read_together_with_the_tables_around_it() -> None:
    """A crossed table of a family beside the graph: the sum over all data sets of both likelihoods, in either order."""
    network, size, _ = CASES["collider"]
    margin = dc.Categories(("b", "c"), levels={"b": TWO, "c": TWO}, prior=1, outside={"b": 0, "c": 0})
    counts = network.simulate(size, np.random.default_rng(6)).statistics
    own = counts.reshape(2, 2, 2).sum(axis=0).ravel()
    wide = dc.simulate(dc.FamilyHistograms(network, size, 1), counts, dc.SeededBits(6))
    narrow = dc.simulate(dc.GeometricHistogram(margin, size, 2), own, dc.SeededBits(7))
    exact = AllDataSets([wide])
    cells = exact.cells.reshape(-1, 2, 2, 2).sum(axis=1).reshape(-1, 4)
    chances = exact.chances * np.exp(narrow.mechanism.log_prob(narrow.counts, cells))
    wanted = chances @ exact.values() / chances.sum()
    posterior = dc.infer(narrow, wide)
    assert isinstance(posterior, NetworkPosterior)
    errors = posterior.mean_errors()
    assert errors is not None
    for (name, table), own_errors in zip(posterior.mean_tables().items(), errors.values(), strict=True):
        places = np.split(wanted, [2, 4])[["a", "b", "c"].index(name)]
        assert (np.abs(table.ravel() - places) <= 4 * own_errors.ravel() + 1e-6).all()
    assert "GeometricHistogram of b, c" in sources_line(posterior)
    assert "FamilyHistograms of a, b, c" in str(posterior)


def test_tables_that_do_not_hold_each_other_are_refused() -> None:
    network, size, _ = CASES["chain"]
    outside = dc.Categories(("a", "c"), levels={"a": TWO, "c": TWO}, prior=1, outside={"a": 0, "c": 0})
    releases: list[Any] = [
        dc.simulate(dc.FamilyHistograms(network, size, 1), [3, 1, 1, 2, 2, 2, 1, 2], dc.SeededBits(1)),
        dc.simulate(dc.GeometricHistogram(outside, size, 1), [3, 1, 1, 2], dc.SeededBits(1)),
    ]
    with pytest.raises(dc.DeclarationError, match="a table and its margins"):
        dc.infer(*releases)


@pytest.mark.parametrize("prior", [1, 0.3])
def test_the_prior_reproduces_itself(prior: float) -> None:
    """Without news the chains keep the Dirichlet-multinomial law of the tables: its means and variances."""
    network, size = graph("a -> b", levels=3, prior=prior), 20
    release = dc.simulate(
        dc.FamilyHistograms(network, size, "1e-4"),
        network.simulate(size, np.random.default_rng(1)).statistics,
        dc.SeededBits(1),
    )
    found = sampled(release)
    first = np.asarray(found.pool[0][..., 0, :], dtype=float)  # of the root: levels of `size` records
    chains = first.mean(axis=1)
    error = chains.std(axis=0, ddof=1) / np.sqrt(len(chains))
    assert (np.abs(chains.mean(axis=0) - size / 3) <= 4 * error).all()
    total = 3 * prior
    variance = size * (1 / 3) * (2 / 3) * (total + size) / (total + 1)
    squares = ((first - size / 3) ** 2).mean(axis=1)
    spread = squares.std(axis=0, ddof=1) / np.sqrt(len(chains))
    assert (np.abs(squares.mean(axis=0) - variance) <= 4 * spread).all()


def test_the_same_seed_gives_the_same_bytes() -> None:
    release = released("Fourier, collider")
    one, two = sampled(release), sampled(release)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(one.pool, two.pool, strict=True))


def test_a_tree_is_read_by_chains_as_it_is_read_exactly() -> None:
    """The means of four releases differ by a small part of the posterior deviation."""
    network = Network.from_edges(
        "a -> b -> c", "b -> d", "a -> e", levels=dict.fromkeys("abcde", TWO), outside=0, prior=1
    )
    shifts = []
    for seed in range(4):
        counts = network.simulate(100, np.random.default_rng(seed)).statistics
        release = dc.simulate(dc.FamilyHistograms(network, 100, 1), counts, dc.SeededBits(seed))
        exact, found = dc.infer(release), sampled(release)
        assert exact.method == "read exactly"
        wanted = np.concatenate([table.ravel() for table in exact.mean_tables().values()])
        deviations = np.array([row.sd for row in exact.rows()])
        means = np.concatenate([table.ravel() for table in found.means()])
        shifts.append((means - wanted) / deviations)
    assert np.sqrt(np.mean(np.square(shifts))) < 0.05


def test_slopes_are_those_of_the_smooth_map() -> None:
    """Central differences, where no coupling is: its deviation is taken as fixed, so that its slope is not exact."""
    network = graph("a -> b", "a -> c", "b -> c", levels=3)  # no coupling: every table holds all that is above it
    release = dc.simulate(
        dc.FamilyHistograms(network, 50, 1), network.simulate(50, np.random.default_rng(2)).statistics, dc.SeededBits(2)
    )
    target = target_of(Problem.of([release]))
    coordinates, generator = target.coordinates, np.random.default_rng(3)
    q = generator.standard_normal((coordinates.length, 1))
    weights = [generator.standard_normal(t.shape) for t in coordinates.in_order(coordinates.smooth(q).tables)]

    def value(at: Any) -> float:
        tables = coordinates.in_order(coordinates.smooth(at).tables)
        return float(sum((w * t).sum() for w, t in zip(weights, tables, strict=True)))

    found = coordinates.slopes(coordinates.smooth(q), weights)[:, 0]
    for place in range(coordinates.length):
        step = np.zeros_like(q)
        step[place] = 1e-5
        assert found[place] == pytest.approx((value(q + step) - value(q - step)) / 2e-5, rel=1e-4, abs=1e-6)


@pytest.fixture(scope="module")
def posterior() -> NetworkPosterior:
    counts = LOOP.simulate(30, np.random.default_rng(3)).statistics
    reading = dc.infer(dc.simulate(dc.FamilyHistograms(LOOP, 30, 2), counts, dc.SeededBits(3)))
    assert isinstance(reading, NetworkPosterior)
    return reading


def test_the_reading_says_how_it_was_found(posterior: NetworkPosterior) -> None:
    assert "Markov chains" in posterior.method
    assert "nested R-hat 1.0" in posterior.method
    assert "Monte Carlo errors of means at most 0.0" in posterior.method
    errors = posterior.mean_errors()
    assert errors is not None
    assert errors["D"].shape == (2, 2, 2)
    rows = posterior.rows()
    assert [row.monte_carlo_error for row in rows[:2]] == pytest.approx(errors["A"].tolist())
    facts = posterior.facts()
    assert facts["r_hat"] < 1.02  # type: ignore[operator]
    assert facts["effective_size"] >= 400  # type: ignore[operator]


def test_questions_to_a_loop_follow_from_its_draws(posterior: NetworkPosterior) -> None:
    row = posterior.conditional("D=1", given="C=1, B=0")
    assert row.mean == pytest.approx(posterior.mean_tables()["D"][0, 1, 1], abs=0.01)  # parents in the order B, C
    assert isinstance(row, BetaMixture)
    joint = posterior.marginal("D", "A", given="B=1")
    assert joint.shape == (2, 2)
    assert joint.sum() == pytest.approx(1)
    assert joint[1].sum() == pytest.approx(posterior.conditional("D=1", given="B=1").mean)
    assert joint[:, 1].sum() == pytest.approx(posterior.conditional("A=1", given="B=1").mean)
    record, chance = posterior.most_probable(given="D=0, B=1")
    assert record["D"] == 0
    assert 0 < chance < 1
    for names in ((), ("A", "A"), ("Z",), ("B",)):
        with pytest.raises(dc.DeclarationError, match="Name one or more variables"):
            posterior.marginal(*names, given="B=1")


def test_records_of_a_loop_are_classified_and_made_up(posterior: NetworkPosterior) -> None:
    chances = posterior.predict_proba([{"A": 0, "B": 0, "C": 1}], target="D")[0]
    assert chances[1] == pytest.approx(posterior.mean_tables()["D"][0, 1, 1], abs=0.03)
    made_up = posterior.synthesize(20_000, seed=8)
    tables = posterior.parameters(1, int(np.random.default_rng(8).integers(2**32)))
    both = [float(d) for b, c, d in zip(made_up["B"], made_up["C"], made_up["D"], strict=True) if (b, c) == (0, 1)]
    assert np.mean(both) == pytest.approx(tables["D"][0, 1, 1], abs=4.5 * 0.5 / np.sqrt(len(both)))


def test_chains_that_do_not_agree_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.inference._sampled_tables._BAD_SIZE", 10_000)
    with pytest.warns(dc.ConvergenceWarning, match="do not agree"):
        sampled(released("chain"))


def test_a_graph_that_is_too_dense_is_refused_with_its_cells() -> None:
    names = [f"v{number}" for number in range(16)]
    edges = [f"{a} -> z{number}" for number, a in enumerate(names[:-1])]
    edges += [f"{b} -> z{number}" for number, b in enumerate(names[1:])]
    edges += [f"{a} -> {b}" for place, a in enumerate(names) for b in names[place + 1 : place + 15 : 7]]
    levels = dict.fromkeys({name.strip() for edge in edges for name in edge.split("->")}, (0, 1, 2, 3))
    network = Network.from_edges(*edges, levels=levels, outside=0)
    problem = Problem.before(dc.FamilyHistograms(network, 100, 1))
    why = CountsSolver().unsupported_reason(problem)
    assert why is not None
    assert "too dense" in why


def test_parents_that_depend_on_each_other_though_no_arrow_joins_them_are_read() -> None:
    """Among 3,000 records a correlation of .23 is 13 deviations off; chains get there, agree, and hold the truth."""
    network = graph(*COLLIDER)
    truth = np.array([900, 200, 250, 350, 300, 200, 200, 600])
    release = dc.simulate(dc.FamilyHistograms(network, 3_000, 1), truth, dc.SeededBits(4))
    posterior: NetworkPosterior = dc.infer(release)  # a ConvergenceWarning would be an error
    table = truth.reshape(2, 2, 2)
    shares = [table.sum((1, 2)), table.sum((0, 2)), *table.reshape(4, 2)]
    wanted = np.concatenate([own / own.sum() for own in shares])
    rows = posterior.rows(0.999)
    assert all(row.low < share < row.high for row, share in zip(rows, wanted, strict=True))
