"""Appendix D: the derivatives of the log-likelihood of one record, and the bound that is made of them."""

import numpy as np

from discreet._core.arrays import Floats
from discreet_papers.papers import PAPER_004
from discreet_papers.reproduction import Outcome, Reproduction, Row

DIMENSIONS, RECORDS = (1, 2, 5, 14), 500


def log_likelihood(record: Floats, w: Floats) -> float:
    """Return -(y - x'w)^2 / 2 for a record (x, y): noise of variance 1, up to a constant."""
    return float(-((record[-1] - record[:-1] @ w) ** 2) / 2)


def gradient(record: Floats, w: Floats) -> Floats:
    """Return the derivatives by x and y: (y - x'w) w and -(y - x'w)."""
    rest = record[-1] - record[:-1] @ w
    return np.append(rest * w, -rest)


def printed_gradient(record: Floats, w: Floats) -> Floats:
    """Return the derivatives as printed: (x w'w - y w) / 2 and (y - w'x) / 2."""
    x, y = record[:-1], record[-1]
    return np.append((x * (w @ w) - y * w) / 2, (y - w @ x) / 2)


def printed_norm(w: Floats) -> float:
    """Return the printed bound on the norm of the gradient for one record: (1 + 2 ||w||_1 + d ||w||_2) / 2."""
    return float((1 + 2 * np.abs(w).sum() + len(w) * np.linalg.norm(w)) / 2)


def proved_norm(w: Floats) -> float:
    """Return (1 + B) sqrt(1 + B^2) with B = ||w||: |y - x'w| <= 1 + B, times the norm of (w, -1)."""
    b = float(np.linalg.norm(w))
    return (1 + b) * float(np.sqrt(1 + b * b))


def differences(record: Floats, w: Floats) -> Floats:
    """Return the derivatives by central differences, which are exact for a quadratic but for rounding."""
    steps = np.eye(len(record)) * 1e-4
    return np.array([(log_likelihood(record + s, w) - log_likelihood(record - s, w)) / 2e-4 for s in steps])


def run(quick: bool) -> Outcome:
    """Compare both gradients with differences on made-up records, and both bounds with the largest norm found."""
    rows = [_row(d, 50 if quick else RECORDS) for d in DIMENSIONS]
    worst = max(row["printed_off_by"] for row in rows)
    ours = max(row["exact_off_by"] for row in rows)
    low = rows[0]
    verdict = (
        f"On made-up records the printed derivatives are off by up to {worst:.2g}, the exact ones by {ours:.1g} "
        f"(rounding). For one feature and ||w|| = 10 the norm of the gradient reaches {low['largest_norm']:.4g}, above "
        f"the printed {low['printed_bound']:.4g} for one record; the proved bound is {low['proved_bound']:.4g}."
    )
    return Outcome(rows, verdict)


def _row(dimension: int, records: int) -> Row:
    generator = np.random.default_rng(dimension)
    wrong, right = [], []
    for _ in range(records):
        x = generator.standard_normal(dimension)
        record = np.append(x / max(1.0, float(np.linalg.norm(x))), generator.uniform(-1, 1))
        w = generator.standard_normal(dimension)
        found = differences(record, w)
        wrong.append(np.abs(printed_gradient(record, w) - found).max())
        right.append(np.abs(gradient(record, w) - found).max())
    w = np.zeros(dimension)
    w[0] = 10.0
    worst = np.append(-w / 10, 1.0)  # x against w, y = 1: the residual is 1 + ||w||
    row: Row = {"features": dimension, "printed_off_by": float(max(wrong)), "exact_off_by": float(max(right))}
    row |= {"largest_norm": float(np.linalg.norm(gradient(worst, w)))}
    return row | {"printed_bound": printed_norm(w), "proved_bound": proved_norm(w)}


REPRODUCTION = Reproduction(
    name="004-appendix-d-gradient",
    title="Appendix D: the gradient of the log-likelihood of a record",
    paper=PAPER_004,
    setting="Records with ||x|| <= 1 and |y| <= 1, noise of variance 1; derivatives by central differences. For the "
    "bounds ||w|| = 10.",
    says="The derivatives of f by x_j and y are (x_j w'w - y w_j)/(2 sigma^2) and (y - w'x)/(2 sigma^2), so that the "
    "norm of the gradient is at most n/(2 sigma^2) (1 + 2 ||w||_1 + d ||w||_2).",
    finds="The derivatives are (y - x'w) w_j / sigma^2 and -(y - x'w) / sigma^2: the printed ones have half the size, "
    "w'w where the product w_j x'w belongs, and the other sign. The norm grows with the square of ||w||, so no bound "
    "that is linear in w holds; for one record (1 + B) sqrt(1 + B^2) / sigma^2 does, and is attained.",
    run=run,
)
