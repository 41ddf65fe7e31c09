"""Lemma D.1: the posterior under a truncated Gaussian prior is the truncated Gaussian with the usual parameters."""

import numpy as np

from discreet.mathematics.distributions._truncated_gaussian import TruncatedGaussian
from discreet_papers.papers import PAPER_004
from discreet_papers.reproduction import Outcome, Reproduction, Row

DIMENSIONS = (1, 2, 5, 14)
SIZE, NOISE, RADIUS = 60, 0.7, 1.0


def off_by(dimension: int, points: int) -> float:
    """Return by how much log prior + log likelihood differs from the lemma's log density, up to one constant."""
    generator = np.random.default_rng([617, dimension])
    x = generator.standard_normal((SIZE, dimension)) / (3 * np.sqrt(dimension))
    y = generator.uniform(-1, 1, SIZE)
    root = generator.standard_normal((dimension, dimension))
    precision = root @ root.T + np.eye(dimension)  # the prior's, of any shape
    a = (x.T @ x) / NOISE**2 + precision
    posterior = TruncatedGaussian(a, x.T @ y / NOISE**2, RADIUS)
    w = generator.standard_normal((points, dimension))
    w *= (generator.random(points) ** (1 / dimension) / np.linalg.norm(w, axis=1))[:, None]  # even in the ball
    rest = y - w @ x.T
    direct = -np.square(rest).sum(axis=1) / (2 * NOISE**2) - np.einsum("ni,ij,nj->n", w, precision, w) / 2
    gaps = direct - posterior.log_kernel(w)
    return float(np.ptp(gaps))


def run(quick: bool) -> Outcome:
    """Compare both sides of Bayes' rule at random points of the ball."""
    points = 200 if quick else 5000
    rows: list[Row] = [{"features": d, "points": points, "off_by": off_by(d, points)} for d in DIMENSIONS]
    most = max(row["off_by"] for row in rows)
    return Outcome(rows, f"The two sides of Bayes' rule differ by one constant, up to {most:.1g} (rounding).")


REPRODUCTION = Reproduction(
    name="004-lemma-d1",
    title="Lemma D.1: truncated Gaussian prior, truncated Gaussian posterior",
    paper=PAPER_004,
    setting=f"{SIZE} made-up records, noise of standard deviation {NOISE}, a prior precision of any shape, ||w|| <= 1; "
    "random points of the ball.",
    says="The posterior is N((X'X + sigma^2 Lambda)^-1 X'y, sigma^2 (X'X + sigma^2 Lambda)^-1), cut off at the same "
    "ball as the prior.",
    finds="It holds. The library draws from this law exactly, on a grid by whole numbers in `BallDraw`, and by the "
    "same rejection step with real numbers in `TruncatedGaussian`.",
    run=run,
)
