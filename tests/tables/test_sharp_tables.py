"""A table and a margin of it, both with little noise beside many records: chains get there, or say that they do not.

Chains that started from the prior did not: a quarter of 128 stayed far away, which nested R-hat (1.02) hardly showed.
"""

import numpy as np
import pytest

import discreet as dc
from discreet.inference import Problem, SampledTables, TablesTarget
from discreet.inference._sampled_tables import chains_apart
from discreet.tables._chains_solver import target_of

LEVELS = {"smoker": ("yes", "no"), "ward": tuple("ABCD")}
CROSSED = dc.Categories(("smoker", "ward"), levels=LEVELS, outside={"smoker": "no", "ward": "A"}, prior=1)
MARGIN = dc.Categories("smoker", levels=LEVELS["smoker"], outside="no", prior=1)
COUNTS = [144, 155, 160, 147, 588, 574, 630, 602]
SIZE = sum(COUNTS)


def releases() -> tuple[dc.Release, dc.Release]:
    margin = [sum(COUNTS[:4]), sum(COUNTS[4:])]
    first = dc.simulate(dc.GeometricHistogram(CROSSED, SIZE, 1), COUNTS, dc.SeededBits(31))
    return first, dc.simulate(dc.GeometricHistogram(MARGIN, SIZE, 1), margin, dc.SeededBits(32))


def test_a_table_and_its_margin_are_read_as_weights_read_them() -> None:
    """The twin: exact draws from the table alone, weighed by the likelihood of the margin."""
    crossed, margin = releases()
    posterior = dc.infer(crossed, margin, prior=1)
    generator = np.random.default_rng(5)
    drawn = dc.infer(crossed, prior=1).solutions[0].counts.draw(40_000, generator)
    sums = drawn.reshape(-1, 2, 4).sum(axis=2)
    different, places = np.unique(sums, axis=0, return_inverse=True)
    logs = np.array([float(np.ravel(margin.mechanism.log_prob(margin.counts, row))[0]) for row in different])
    weights = np.exp(logs - logs.max())[places.ravel()]
    picked = drawn[generator.choice(len(drawn), 40_000, p=weights / weights.sum())]
    shares = generator.standard_gamma(1 + picked)
    shares /= shares.sum(axis=1, keepdims=True)
    for row, own in zip(posterior.rows(), shares.T, strict=True):
        low, high = np.quantile(own, (0.05, 0.95))
        assert [row.mean, row.low, row.high] == pytest.approx([own.mean(), low, high], abs=0.06 * (high - low))


def test_chains_that_do_not_get_there_are_told() -> None:
    target = target_of(Problem.of(releases(), prior=1))
    lost = TablesTarget(target.coordinates, target.fit, target.maximal, target.alphas, None)  # from the prior
    with pytest.warns(dc.ConvergenceWarning, match="of them stayed away from all others"):
        read = SampledTables(lost, 0, lambda: (0.0, 0.0))
    assert read.agreement.r_hat > 1.1, "groups of chains that started side by side have not forgotten it"


def test_a_few_chains_among_many_are_seen() -> None:
    values = np.random.default_rng(1).normal(size=(3, 64, 40))
    assert chains_apart(values) == 0
    values[1, :3] += 9
    assert chains_apart(values) == 3


def test_chains_get_to_draws_of_many_records() -> None:
    """From the prior 4 of 128 chains stayed far away for as long as they ran, and the reader was warned."""
    levels = dict.fromkeys("abcd", ("no", "yes"))
    network = dc.Network.from_edges("a -> b", "a -> c", "b -> c", "c -> d", levels=levels, prior=1, outside="no")
    counts = network.simulate(100_000, np.random.default_rng(8)).statistics
    release = dc.simulate(dc.draws.NetworkSampling(network, 100_000, 9, "0.9"), counts, dc.SeededBits(5))
    posterior = dc.infer(release, prior=1)  # a warning would be an error here
    both = counts[:8].reshape(2, 2, 2).sum(axis=2)  # a and b
    assert posterior.conditional("b=yes", "a=yes").mean == pytest.approx(both[1, 1] / both[1].sum(), abs=0.02)
