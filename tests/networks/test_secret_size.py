"""Naive Bayes of a secret number of records through cube noise, beside sums over every table."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

import discreet as dc
from discreet.inference import Problem, solve
from discreet.networks import CubeTables
from discreet.networks._secret_size import NumberedKernel, _windowed

TWO = (0, 1)
NAIVE = dc.Network.naive_bayes("y", ["a"], {"y": TWO, "a": TWO}, outside=0, prior=1)
ITEMS = dc.Network.from_edges("a", "b", levels={"a": TWO, "b": TWO}, outside=0, prior=1)


def test_one_class_has_the_posterior_that_was_computed_elsewhere() -> None:
    """Rate .6, z = (7, -2, 5), each count uniform given n, n flat."""
    window = _windowed(NumberedKernel(7, np.array([-2, 5]), 0.6, np.ones((2, 2))))
    counts = window.counts
    chances = np.exp(window.values - logsumexp(window.values))
    assert chances[counts == 7][0] == pytest.approx(0.113960582269, rel=1e-9)
    assert float(chances @ counts) == pytest.approx(6.142806279343, rel=1e-9)


def beta_binomial(alpha: tuple[float, float], no: Any, yes: Any) -> Any:
    """Return log P(no, yes | their sum)."""
    total = no + yes
    logs = gammaln(total + 1) - gammaln(no + 1) - gammaln(yes + 1) + gammaln(sum(alpha)) - gammaln(sum(alpha) + total)
    return logs + gammaln(alpha[0] + no) - gammaln(alpha[0]) + gammaln(alpha[1] + yes) - gammaln(alpha[1])


MOST = 34


def every_table(mechanism: Any, output: tuple[int, ...], alpha: float) -> dict[str, Any]:
    """Weigh all tables of up to 34 records in each of two classes: the slow, obvious twin."""
    cells = np.array(list(product(range(MOST + 1), repeat=2)))
    cells = cells[cells.sum(axis=1) <= MOST]
    rate = float(mechanism.epsilon)
    own = []
    for z in (output[:2], output[2:]):
        number, signed = cells.sum(axis=1), cells[:, 1] - cells[:, 0]
        noise = -rate * np.maximum(abs(z[0] - number), abs(z[1] - signed))
        features = beta_binomial((alpha, alpha), cells[:, 0], cells[:, 1])
        own.append(noise + features + gammaln(alpha + number) - gammaln(alpha) - gammaln(number + 1))
    numbers = cells.sum(axis=1)
    by_count = [np.array([logsumexp(logs[numbers == t]) for t in range(MOST + 1)]) for logs in own]
    one, two = np.meshgrid(np.arange(MOST + 1), np.arange(MOST + 1), indexing="ij")
    total = one + two
    log_h = gammaln(total + 1) + gammaln(2 * alpha) - gammaln(2 * alpha + total)
    joint = by_count[0][:, None] + by_count[1][None, :] + log_h
    evidence = logsumexp(joint)
    joint = np.exp(joint - evidence)
    yes = []
    for logs, counts in zip(own, by_count, strict=True):
        shares = (alpha + cells[:, 1]) / (2 * alpha + numbers)
        given = np.array([float((np.exp(logs - counts[t]) * shares * (numbers == t)).sum()) for t in range(MOST + 1)])
        yes.append(given)
    theta_one = float((joint * (alpha + one) / (2 * alpha + total)).sum())
    predicted = float((joint * (alpha + one) / (2 * alpha + total) * yes[0][:, None]).sum())
    return {
        "number": float((joint * total).sum()),
        "none": float(joint[0, 0]),
        "class": theta_one,
        "yes": float((joint * yes[0][:, None]).sum()),
        "predicted": predicted,
        "evidence": float(evidence),
    }


@pytest.mark.parametrize("output", [(6, 2, 3, -3), (1, -2, -1, 0), (9, 9, 0, 4)])
@pytest.mark.parametrize("alpha", [1, 3])
def test_naive_bayes_is_the_sum_over_every_table(output: tuple[int, ...], alpha: int) -> None:
    model = dc.Network.naive_bayes("y", ["a"], {"y": TWO, "a": TWO}, outside=0, prior=alpha)
    mechanism = CubeTables(model, "1.5")
    slow = every_table(mechanism, output, alpha)
    solution: Any = solve(Problem.of([dc.Release(mechanism, output, "seen", simulated=True)]))
    counts = solution.counts
    assert counts.number.mean == pytest.approx(slow["number"], rel=1e-8)
    assert float(counts.number.probabilities[0]) * (counts.number.first == 0) == pytest.approx(slow["none"], abs=1e-9)
    assert counts.class_means[0] == pytest.approx(slow["class"], rel=1e-6)
    assert counts.feature_means(0)[0, 1] == pytest.approx(slow["yes"], rel=1e-7)
    assert np.exp(counts.log_joint(np.array([[1]])))[0, 0] == pytest.approx(slow["predicted"], rel=1e-6)
    constant = 2 * float(mechanism.noise.log_normaliser) / 2
    assert counts.log_evidence == pytest.approx(slow["evidence"] - constant, rel=1e-8)
    split = counts.class_split(np.array([True, False]))
    mean = split.chances @ ((alpha + split.inside) / (2 * alpha + split.inside + split.outside))
    assert float(mean) == pytest.approx(slow["class"], rel=1e-5)


def test_draws_are_those_of_the_exact_means() -> None:
    release = dc.Release(CubeTables(NAIVE, 1), (12, 4, 5, -3), "seen", simulated=True)
    posterior: Any = dc.infer(release)
    shapes = posterior.standard_shapes
    classes = shapes["y"][:, 0]
    assert float((classes[:, 0] / classes.sum(axis=1)).mean()) == pytest.approx(posterior.mean["y=0"], abs=0.01)
    known = posterior.number_of_records
    assert float(classes.sum(axis=1).mean() - 2) == pytest.approx(known.mean, rel=0.03)
    assert posterior.size == round(known.mean)
    assert posterior.about == "about "


def test_yes_no_items_have_one_block_and_any_number_of_records() -> None:
    release = dc.Release(CubeTables(ITEMS, 2), (40, -10, 22), "seen", simulated=True)
    posterior: Any = dc.infer(release)
    assert posterior.number_of_records.interval(0.99).low <= 40 <= posterior.number_of_records.interval(0.99).high
    assert posterior.mean["b=1"] == pytest.approx(31 / 40, abs=0.03)
    nothing: Any = dc.infer(dc.Release(CubeTables(ITEMS, 2), (-6, 1, -2), "nobody", simulated=True))
    assert nothing.number_of_records.first == 0
    assert nothing.mean["a=1"] == pytest.approx(0.5, abs=0.05)


def test_what_is_measured_is_counted_record_by_record() -> None:
    model = dc.Network.naive_bayes("y", ["a", "b"], dict.fromkeys("yab", TWO), outside=0)
    generator = np.random.default_rng(3)
    rows = generator.integers(2, size=(40, 3))
    counts = model.statistics(dict(zip("yab", rows.T.tolist(), strict=True))).open_for_publishing()
    slow = []
    for y in TWO:
        own = rows[rows[:, 0] == y]
        slow += [len(own), *(2 * own[:, 1:] - 1).sum(axis=0).tolist()]
    mechanism = CubeTables(model, 1)
    assert mechanism.measured(counts).tolist() == slow
    values = generator.normal(size=mechanism.quantities.length)
    applied = float(mechanism.quantities.apply(counts) @ values)
    assert applied == pytest.approx(float(counts @ mechanism.quantities.transpose(values)))


def test_other_networks_and_criticism_are_refused_in_words() -> None:
    wide = dc.Network.naive_bayes("y", ["a"], {"y": TWO, "a": (0, 1, 2)}, outside={"y": 0, "a": 0})
    chain = dc.Network.from_edges("a -> b -> c", levels=dict.fromkeys("abc", TWO), outside=0)
    for model, words in ((wide, "has 3 levels"), (chain, "the graph is not a naive Bayes network")):
        with pytest.raises(dc.DeclarationError, match=words):
            CubeTables(model, 1)
    posterior: Any = dc.infer(dc.Release(CubeTables(NAIVE, 1), (12, 4, 5, -3), "seen", simulated=True))
    with pytest.raises(dc.DeclarationError, match="cannot be criticised"):
        posterior.criticise()


class Louder(CubeTables):
    """Wrong on purpose: noise of half the scale."""

    def log_prob(self, output: Any, counts: Any) -> Any:
        return CubeTables(self.model, 2 * self.epsilon).log_prob(output, counts)


class KeepsCounts(CubeTables):
    """Wrong on purpose: the counts of classes are published exactly."""

    def log_prob(self, output: Any, counts: Any) -> Any:
        noise = np.asarray(output) - self.measured(counts)
        exact = (noise[..., :: self.quantities.blocks[0]] == 0).all(axis=-1)
        return np.where(exact, super().log_prob(output, counts), -np.inf)


class OneSided(CubeTables):
    """Wrong on purpose: no class is ever made smaller."""

    def log_prob(self, output: Any, counts: Any) -> Any:
        noise = np.asarray(output) - self.measured(counts)
        above = (noise[..., :: self.quantities.blocks[0]] >= 0).all(axis=-1)
        return np.where(above, super().log_prob(output, counts), -np.inf)


class OnlyParity(CubeTables):
    """Wrong on purpose: all noise is even, so it shows whether the number of records is."""

    def log_prob(self, output: Any, counts: Any) -> Any:
        noise = np.asarray(output) - self.measured(counts)
        return np.where((noise % 2 == 0).all(axis=-1), super().log_prob(output, counts), -np.inf)


@pytest.mark.parametrize("wrong", [Louder, KeepsCounts, OneSided, OnlyParity])
def test_noise_that_does_not_hide_a_record_is_found(wrong: Any) -> None:
    with pytest.raises(dc.VerificationError):
        dc.verify(wrong(NAIVE, 2))
