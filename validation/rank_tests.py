"""Simulation-based calibration: truth from the prior, records, release, reading, and the place of the truth in it.

If a reading is exact, the place of the truth in its posterior, P(value <= truth | release), is uniform, however much
noise there is; and so is its rank among independent draws from that posterior. Each data set has the draws of its own
seed. Several quantities of one data set depend on each other: the test of uniformity takes one of each, in turns.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from kept_results import kept, repeats
from numpy.typing import NDArray
from scipy.stats import chisquare

import discreet as dc

Floats = NDArray[np.float64]
Places = tuple[Sequence[float], Sequence[float]]
"""Where the true quantities of one data set lie, read with the noise in mind and by plug-in."""

BATCH = 25  # data sets that are simulated before results are written
DRAWS = 99  # ranks among so many draws are 0, ..., 99, so that 5 of 100 lie below a 90 % interval and 5 above
LEAST_P = 1e-4


@dataclass(frozen=True)
class Setting:
    """Something to be read, the law of its truth, and a seed of its own."""

    name: str
    seed: int
    data_set: Callable[[np.random.Generator, dc.SeededBits], Places]
    batches: int = repeats(4, 12)

    def batch(self, number: int) -> dict[str, list[list[float]]]:
        """Return the places of all quantities in the data sets of one batch."""
        found: dict[str, list[list[float]]] = {"aware": [], "plug-in": []}
        for place in range(BATCH * number, BATCH * (number + 1)):
            generator, bits = np.random.default_rng([self.seed, place]), dc.SeededBits(self.seed * 100_000 + place)
            for name, places in zip(found, self.data_set(generator, bits), strict=True):
                found[name].append([float(value) for value in places])
        return found


def rank(truth: float, draws: Floats) -> float:
    """Return the rank of a truth among draws, as the middle of its part of (0, 1)."""
    return float((draws < truth).sum() + 0.5) / (len(draws) + 1)


def uniformity(places: Floats) -> float:
    """Return the p-value of a chi-square test of uniformity: data sets are rows, of which each gives one quantity."""
    rows = np.arange(len(places))
    taken = places[rows, rows % places.shape[1]]
    bins = 20 if len(taken) >= 400 else 10
    return float(chisquare(np.histogram(taken, bins=bins, range=(0, 1))[0]).pvalue)


def coverage(places: Floats) -> tuple[float, float]:
    """Return how often 90 % intervals cover, and its standard error, which is clustered by data set."""
    inside = ((places >= 0.05) & (places <= 0.95)).mean(axis=1)
    return float(inside.mean()), float(inside.std(ddof=1) / np.sqrt(len(inside)))


def judge(sweep: str, setting: Setting) -> None:
    """Simulate, print, and refuse ranks that are not uniform and a coverage that is not the nominal one."""
    batches: list[Any] = kept(sweep, setting.name, setting.seed, setting.batches, setting.batch)
    aware, plugged = (np.concatenate([batch[name] for batch in batches]) for name in ("aware", "plug-in"))
    (covered, error), (naive, _) = coverage(aware), coverage(plugged)
    p_value, naive_p = uniformity(aware), uniformity(plugged)
    print(
        f"\n{setting.name}, {len(aware)} data sets: covers {covered:.3f} +- {error:.3f}, ranks p = {p_value:.3f}; "
        f"plug-in covers {naive:.3f}, ranks p = {naive_p:.1e}"
    )
    assert abs(covered - 0.9) <= 4 * error
    assert p_value >= LEAST_P
