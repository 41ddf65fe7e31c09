"""Tempered particles find what can be computed: rare events, posteriors of normal laws, and their evidence."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kstest, multivariate_normal, norm

from discreet.inference import EACH, ISLANDS, Particles
from discreet.mathematics import Grouped

Floats = NDArray[np.float64]


class Plain:
    """What allows every point."""

    normals: int

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        return generator.standard_normal((count, self.normals))


class Corner(Plain):
    """x is possible where its first two coordinates add up to 6 or more; all of these are equally likely."""

    normals = 12

    def evaluate(self, normals: Floats, deepest: float) -> tuple[Floats, Floats]:
        depths = np.maximum(0.0, 6 - normals[:, 0] - normals[:, 1])
        return depths, np.where(depths == 0, 0.0, -np.inf)


class Seen(Plain):
    """x is seen through correlated normal noise at a far place: prior, likelihood and posterior are normal."""

    normals = 3
    matrix = np.array([[1.0, 2.0, 0.0], [0.5, -1.0, 3.0]])
    seen = np.array([9.0, -7.0])
    noise = 0.04 * np.eye(2)

    def evaluate(self, normals: Floats, deepest: float) -> tuple[Floats, Floats]:
        logs = multivariate_normal.logpdf(normals @ self.matrix.T, self.seen, self.noise)
        return np.zeros(len(normals)), np.asarray(logs)


class Open(Plain):
    """Everything is possible and equally likely."""

    normals = 5

    def evaluate(self, normals: Floats, deepest: float) -> tuple[Floats, Floats]:
        return np.zeros(len(normals)), np.zeros(len(normals))


def walked(particles: Particles, rounds: int) -> tuple[Floats, Grouped]:
    states = np.stack(list(particles.walk(rounds, 4))).reshape(rounds, ISLANDS, EACH, -1).swapaxes(0, 1)
    rows = states.reshape(-1, states.shape[-1])
    return rows, Grouped.equal(len(rows), ISLANDS)


def test_a_rare_event_has_its_probability_and_its_law() -> None:
    """P(x + y >= 6) = P(N(0, 1) >= 6 / sqrt(2)) = 1.1e-5; given that, the other coordinates stay as they were."""
    particles = Particles(Corner(), np.random.default_rng(51), 1e9)
    assert particles.temper()
    value, error = particles.log_evidence
    assert error < 0.2
    assert value == pytest.approx(norm.logsf(6 / np.sqrt(2)), abs=4 * error)
    rows, grouped = walked(particles, 20)
    edge = 6 / np.sqrt(2)
    mean = np.sqrt(2) * norm.pdf(edge) / norm.sf(edge)
    sums = rows[:, 0] + rows[:, 1]
    assert grouped.mean(sums) == pytest.approx(mean, abs=4 * float(grouped.error(sums)))
    assert (sums >= 6).all()
    for other in range(2, 12):
        assert grouped.mean(rows[:, other]) == pytest.approx(0, abs=4.5 * float(grouped.error(rows[:, other])))


def test_a_normal_posterior_and_its_evidence_are_found() -> None:
    particles = Particles(Seen(), np.random.default_rng(52), 1e9)
    assert particles.temper()
    rows, grouped = walked(particles, 30)
    spread = Seen.matrix @ Seen.matrix.T + Seen.noise
    exact = Seen.matrix.T @ np.linalg.solve(spread, Seen.seen)
    covariance = np.eye(3) - Seen.matrix.T @ np.linalg.solve(spread, Seen.matrix)
    assert grouped.mean(rows) == pytest.approx(exact, abs=4 * float(grouped.error(rows).max()))
    assert np.cov(rows.T) == pytest.approx(covariance, abs=0.03)
    value, error = particles.log_evidence
    assert value == pytest.approx(multivariate_normal.logpdf(Seen.seen, np.zeros(2), spread), abs=4 * error)
    assert error < 0.3
    assert grouped.r_hat(rows) < 1.02


def test_the_prior_reproduces_itself() -> None:
    particles = Particles(Open(), np.random.default_rng(53), 1e9)
    assert particles.temper()
    assert particles.log_evidence == (0.0, 0.0)
    rows, _ = walked(particles, 20)
    for column in rows[-ISLANDS * EACH :].T:
        assert kstest(column, "norm").pvalue > 1e-4


def test_the_same_seed_gives_the_same_bytes_and_work_has_an_end() -> None:
    one, two = (Particles(Seen(), np.random.default_rng(54), 1e9) for _ in range(2))
    assert one.temper()
    assert two.temper()
    assert one.normals.tobytes() == two.normals.tobytes()
    stopped = Particles(Corner(), np.random.default_rng(55), 10)
    assert not stopped.temper()
    assert stopped.evaluations < 40
