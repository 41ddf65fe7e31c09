"""A smooth density for the eye: where a column's values lie, drawn through a noisy table.

It is for the picture only: no interval and no number comes from it, because a table does not tell where within a cell
its records lie. The fitted shares of cells (increasing sums of what was published) are smoothed by the maximum
penalised likelihood of a Poisson table (Whittaker's smoother): with heights e^f_i on equal steps,

    minimise sum_i (n_i - c_i)^2 / (c_i + v) + lambda sum_i (f_(i-1) - 2 f_i + f_(i+1))^2,

where v is the variance of a cell's noise, so that it bends less where noise is wide.
"""

import numpy as np
from scipy.linalg import solveh_banded

from discreet.arrays import Floats

POINTS = 128
_ROUNDS, _STRENGTH = 12, 40.0


def smooth_density(edges: Floats, counts: Floats, variance: float) -> tuple[tuple[float, float], ...]:
    """Return places and heights of a smooth density, in shares per unit of the column."""
    fine = np.linspace(edges[0], edges[-1], POINTS + 1)
    below = np.interp(fine, edges, np.concatenate([[0.0], np.cumsum(np.maximum(counts, 0.0))]))
    spread = np.maximum(np.diff(below), 0.0)  # records in every fine step, spread evenly within cells
    noise = max(variance, 1.0) * len(counts) / POINTS
    found = smoothed(spread, noise, _STRENGTH * (POINTS / len(counts)) ** 2)
    heights = found / max(float(found.sum()), 1e-300) / np.diff(fine)
    return tuple(zip(((fine[1:] + fine[:-1]) / 2).tolist(), heights.tolist(), strict=True))


def smoothed(values: Floats, noise: float, strength: float) -> Floats:
    """Return smooth positive numbers near the values, by a few Newton steps on the logarithms."""
    start = np.convolve(values, np.ones(9) / 9, mode="same") + 0.5
    logs = np.log(start)
    bend = np.zeros((3, len(values)))
    bend[2], bend[1, 1:], bend[0, 2:] = 6.0, -4.0, 1.0
    bend[2, [0, -1]], bend[2, [1, -2]] = 1.0, 5.0
    bend[1, [1, -1]] = -2.0
    for _ in range(_ROUNDS):
        mean = np.exp(np.clip(logs, -30, 30))
        weight = mean**2 / (mean + noise)
        target = logs + np.clip((values - mean) / mean, -1.0, 1.0)
        left = strength * bend
        left[2] += weight + 1e-6
        logs = solveh_banded(left, (weight + 1e-6) * target)
    return np.asarray(np.exp(np.clip(logs, -30, 30)))
