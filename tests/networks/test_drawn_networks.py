"""Drawn tables of a network are read by the exact law of the counts behind them, or refused with the reason."""

from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln

import discreet as dc
from discreet.inference import Problem, fit_of
from discreet.inference._truncated_mass import log_chance_above
from discreet_papers import as_published

NET = dc.Network.naive_bayes(
    "y", ["a", "b"], {"y": (0, 1), "a": (0, 1), "b": (0, 1, 2)}, prior={"y": 2, "a": 1, "b": 1.5}, outside=0
)


def rows(total: int, levels: int) -> list[tuple[int, ...]]:
    return [row for row in product(range(total + 1), repeat=levels) if sum(row) == total]


def log_chance(counts: tuple[int, ...], alpha: float) -> float:
    """Return the logarithm of the Dirichlet-multinomial probability of counts."""
    k, a = np.array(counts), np.full(len(counts), alpha)
    combinations = gammaln(k.sum() + 1) - gammaln(k + 1).sum()
    return float(combinations + gammaln(a.sum()) - gammaln(a.sum() + k.sum()) + (gammaln(a + k) - gammaln(a)).sum())


def test_drawn_tables_are_read_as_enumeration_reads_them() -> None:
    """All tables of 4 records under a reader's own prior: evidence and expected tables of two draws together."""
    mechanisms = [
        dc.draws.NetworkSampling(NET, 4, "3", "0.99", power="0.8", grid_bits=24),
        dc.draws.NetworkSampling(NET.with_prior(3), 4, "3", "0.99", draws=2, grid_bits=24),
    ]
    cells = np.array([1, 1, 2, 0, 0, 1, 1, 1, 0, 1])
    releases = [dc.simulate(m, cells, dc.SeededBits(number)) for number, m in enumerate(mechanisms)]
    read = dc.infer(*releases, prior={"y": 1.0, "a": 0.7, "b": 1.2})
    logs, means = [], []
    for n in range(5):
        halves = [[(first, second) for first in rows(n, k) for second in rows(4 - n, k)] for k in (2, 3)]
        for a, b in product(*halves):
            table = np.array([*a[0], *a[1], *b[0], *b[1]])
            prior = (
                log_chance((n, 4 - n), 1.0) + sum(log_chance(r, 0.7) for r in a) + sum(log_chance(r, 1.2) for r in b)
            )
            logs.append(prior + sum(float(r.mechanism.log_prob(r.counts, table)) for r in releases))
            means.append(
                [(1 + n) / 6, (0.7 + a[0][0]) / (1.4 + n), (1.2 + b[1][2]) / (3.6 + 4 - n), (1.2 + b[0][0]) / (3.6 + n)]
            )
    weights = np.exp(np.array(logs) - max(logs))
    wanted = weights @ np.array(means) / weights.sum()
    tables = read.mean_tables()
    found = [tables["y"][0], tables["a"][0, 0], tables["b"][1, 2], tables["b"][0, 0]]
    assert found == pytest.approx(wanted, rel=1e-6)
    assert read.log_evidence == pytest.approx(max(logs) + np.log(weights.sum()), abs=1e-5)


def test_intervals_of_drawn_tables_cover_what_they_say() -> None:
    generator, inside, repeats = np.random.default_rng(5), 0, 150
    mechanism = dc.draws.NetworkSampling.plain(NET.with_prior(5), size=60, delta="1e-3")
    for repeat in range(repeats):
        theta = {name: generator.dirichlet([1] * k, size=2) for name, k in (("y", 2), ("a", 2), ("b", 3))}
        y = (generator.random(60) < theta["y"][0, 1]).astype(int)
        records = {"y": y.tolist()} | {
            name: [int(generator.choice(len(theta[name][c]), p=theta[name][c])) for c in y] for name in ("a", "b")
        }
        tables = [np.zeros((2, len(theta[name][0])), dtype=np.int64) for name in ("a", "b")]
        for table, name in zip(tables, ("a", "b"), strict=True):
            np.add.at(table, (y, np.array(records[name])), 1)
        release = dc.simulate(mechanism, np.concatenate([t.ravel() for t in tables]), dc.SeededBits(repeat))
        interval = dc.infer(release, prior=1).conditional("a=1", given="y=1").interval(0.8)
        inside += interval.low <= theta["a"][1, 1] <= interval.high
    assert abs(inside / repeats - 0.8) < 4 * (0.8 * 0.2 / repeats) ** 0.5


def test_what_cannot_be_read_is_refused_with_the_reason() -> None:
    five = dc.Network.from_edges("a", levels={"a": range(5)}, outside=0)
    coarse = dc.draws.NetworkSampling(five, 2, 9, grid_bits=12, least="0.1")
    drawn = dc.simulate(coarse, [1, 0, 0, 1, 0], dc.SeededBits(1))
    with pytest.raises(dc.DeclarationError, match="read from a grid of 16 bits or more"):
        dc.infer(drawn)
    for reading in (as_published.truncated_reading, as_published.projected_reading):
        with pytest.raises(dc.DeclarationError, match="not hold noisy tables"):
            reading(drawn)


@pytest.mark.parametrize("levels", [3, 4, 6])
def test_what_truncation_cuts_off_is_what_made_up_draws_lose(levels: int) -> None:
    """The integrals against 200,000 draws each, within 4 standard errors."""
    generator = np.random.default_rng(levels)
    for least in (0.01, 0.4 / levels, 0.8 / levels):
        shapes = generator.uniform(0.5, 30, size=levels)
        found = float(np.exp(log_chance_above(shapes[:, None], least)[0]))
        kept = (generator.dirichlet(shapes, 200_000) >= least).all(axis=1).mean()
        assert abs(found - kept) <= 4 * np.sqrt(found * (1 - found) / 200_000) + 1e-6


def test_drawn_and_noisy_tables_are_read_together() -> None:
    cells = np.array([1, 1, 2, 0, 0, 1, 1, 1, 0, 1])
    mechanisms = [dc.draws.NetworkSampling(NET, 4, "3", "0.99", grid_bits=24), dc.FamilyHistograms(NET, 4, 2)]
    releases = [dc.simulate(each, cells, dc.SeededBits(8)) for each in mechanisms]
    logs = []
    for n in range(5):
        halves = [[(first, second) for first in rows(n, k) for second in rows(4 - n, k)] for k in (2, 3)]
        for a, b in product(*halves):
            prior = log_chance((n, 4 - n), 2) + sum(log_chance(r, 1) for r in a) + sum(log_chance(r, 1.5) for r in b)
            table = np.array([*a[0], *a[1], *b[0], *b[1]])
            logs.append(prior + sum(float(r.mechanism.log_prob(r.counts, table)) for r in releases))
    found = dc.infer(*releases).log_evidence
    assert found == pytest.approx(float(np.logaddexp.reduce(logs)), abs=1e-5)


def test_drawn_tables_of_any_graph_have_a_likelihood_for_chains() -> None:
    """The quick form that chains use differs from the mechanism's own by one constant, also at the ends of the grid."""
    levels = {"a": (0, 1), "b": (0, 1, 2), "c": (0, 1)}
    chain = dc.Network.from_edges(
        "a -> b -> c", levels=levels, prior=0.5, outside={name: each[0] for name, each in levels.items()}
    )
    mechanism = dc.draws.NetworkSampling(chain, 5, "500", "0.999")
    generator = np.random.default_rng(9)
    output = generator.integers(2**32, size=mechanism.space.length)
    output[1:3] = EDGE, 3
    problem = Problem.of([dc.Release(mechanism, tuple(output.tolist()), "drawn", simulated=True)])
    tables = []
    for _ in range(12):
        a, b, c = (generator.integers(k, size=5) for k in (2, 3, 2))
        first, second = np.zeros((2, 3), dtype=np.int64), np.zeros((3, 2), dtype=np.int64)
        np.add.at(first, (a, b), 1)
        np.add.at(second, (b, c), 1)
        tables.append(np.concatenate([first.ravel(), second.ravel()]))
    gaps = fit_of(problem).log_likelihood(np.array(tables).T) - mechanism.log_prob(output, np.array(tables))
    assert np.ptp(gaps) == pytest.approx(0, abs=1e-6)


EDGE = 2**32 - 1


@pytest.mark.parametrize(
    "output",
    [
        (EDGE, EDGE, EDGE - 120, 0, 5, 2**30, EDGE),
        (0, 1, EDGE, 0, 0, 0, 0),
        (2**31, 0, EDGE, 2**31, EDGE - 3, 2, 2**31),
    ],
    ids=str,
)
def test_draws_in_the_outermost_cells_are_read_as_enumeration_reads_them(output: tuple[int, ...]) -> None:
    """Near the ends of the grid a density is far from even over a cell; the slow twin sums over all tables."""
    net = NET.with_prior(0.01)
    mechanism = dc.draws.NetworkSampling(net, 3, "500", "0.999", power="0.01")
    release = dc.Release(mechanism, output, "edges")
    read, logs, means = dc.infer(release), [], []
    for n in range(4):
        halves = [[(first, second) for first in rows(n, k) for second in rows(3 - n, k)] for k in (2, 3)]
        for a, b in product(*halves):
            prior = log_chance((n, 3 - n), 0.01) + sum(log_chance(row, 0.01) for row in (*a, *b))
            table = np.array([*a[0], *a[1], *b[0], *b[1]])
            logs.append(prior + float(mechanism.log_prob(release.counts, table)))
            means.append([(0.01 + n) / 3.02, (0.01 + a[0][0]) / (0.02 + n), (0.01 + b[1][2]) / (0.03 + 3 - n)])
    weights = np.exp(np.array(logs) - max(logs))
    wanted = weights @ np.array(means) / weights.sum()
    tables = read.mean_tables()
    assert [tables["y"][0], tables["a"][0, 0], tables["b"][1, 2]] == pytest.approx(wanted, rel=1e-6)
    assert read.log_evidence == pytest.approx(max(logs) + np.log(weights.sum()), abs=1e-5)


def test_an_early_stick_at_the_far_end_is_read_around_what_is_expected() -> None:
    """Its mass depends on the sum of all later counts of the row; made linear it is a product again."""
    net = NET.with_prior(0.5)
    mechanism = dc.draws.NetworkSampling(net, 3, "500", "0.999")
    release = dc.Release(mechanism, (2**31, 2**30, 2**31, EDGE, 2**30, 2**31, 2**30), "edges")
    read, logs, means = dc.infer(release), [], []
    assert "taken as linear" in read.method
    for n in range(4):
        halves = [[(first, second) for first in rows(n, k) for second in rows(3 - n, k)] for k in (2, 3)]
        for a, b in product(*halves):
            prior = log_chance((n, 3 - n), 0.5) + sum(log_chance(row, 0.5) for row in (*a, *b))
            table = np.array([*a[0], *a[1], *b[0], *b[1]])
            logs.append(prior + float(mechanism.log_prob(release.counts, table)))
            means.append([(0.5 + n) / 4, (0.5 + a[0][0]) / (1 + n), (0.5 + b[1][2]) / (1.5 + 3 - n)])
    weights = np.exp(np.array(logs) - max(logs))
    tables = read.mean_tables()
    wanted = weights @ np.array(means) / weights.sum()
    assert [tables["y"][0], tables["a"][0, 0], tables["b"][1, 2]] == pytest.approx(wanted, rel=1e-6)
