"""How often the black-box audit finds planted errors, and how often it accuses the innocent.

Every fault is a working sampler with one mistake that people have made, under the guarantee that it claims. Beside each
stands its twin without the mistake, whose guarantee is tight or nearly so, which is where a false alarm is easiest.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import pytest
from kept_results import IS_FULL, kept, repeats
from numpy.typing import NDArray

import discreet as dc
from discreet.noise.randomness._samplers import RandomBits
from discreet.verification import audit
from discreet_papers.as_published import HellingerLocal
from discreet_papers.as_published.hellinger_table import HellingerTable
from discreet_papers.as_published.published_laplace import RoundedLaplace
from uncalibrated_hellinger import HellingerGlobal, HellingerReciprocal

Counts = NDArray[np.int64]
COIN, DIE = (dc.Categories("x", levels=levels, outside=levels[0]) for levels in (("no", "yes"), ("a", "b", "c")))
HEAVY = dc.Categories("x", levels=("a", "b", "c"), prior=20, outside="a")
FAULTY_RUNS, HONEST_RUNS = repeats(10, 40), repeats(25, 100)
SEED = 500_000


@dataclass(frozen=True)
class Planted:
    """A mechanism whose draws, or whose claim, were tampered with."""

    honest: Any
    claimed: str
    fault: Callable[[Any, Counts, RandomBits], Counts] = lambda honest, counts, bits: honest.sample(counts, bits)

    @property
    def model(self) -> Any:
        return self.honest.model

    @property
    def size(self) -> int:
        return int(self.honest.size)

    @property
    def guarantee(self) -> dc.Guarantee:
        return dc.Guarantee(self.claimed)

    def sample(self, counts: Counts, bits: RandomBits) -> Counts:
        return self.fault(self.honest, counts, bits)


def reused(honest: Any, counts: Counts, bits: RandomBits) -> Counts:
    """Give all cells the noise of the first."""
    return np.asarray(counts + (honest.sample(counts, bits) - counts)[..., :1])


def clamped(honest: Any, counts: Counts, bits: RandomBits) -> Counts:
    """Clamp the noise to +-3 before it is added, instead of the sum afterwards."""
    return np.asarray(counts + np.clip(honest.sample(counts, bits) - counts, -3, 3))


def redrawn(honest: Any, counts: Counts, bits: RandomBits) -> Counts:
    """Draw again until no count is negative."""
    outputs = honest.sample(counts, bits)
    while (late := np.flatnonzero((outputs < 0).any(axis=-1))).size:
        outputs[late] = honest.sample(counts[late], bits)
    return np.asarray(outputs)


def even(honest: Any, counts: Counts, bits: RandomBits) -> Counts:
    """Add noise that is always even: the parity of a count is published as it is."""
    return np.asarray(counts + 2 * (honest.sample(counts, bits) - counts))


def reseeded(honest: Any, counts: Counts, bits: RandomBits) -> Counts:
    """Start the same noise anew in every call."""
    return np.asarray(honest.sample(counts, dc.SeededBits(5)))


FAULTS = {
    "exponent epsilon/S, two cells": (HellingerTable(COIN, 8, 1), 60_000),
    "exponent epsilon/S, three cells": (HellingerTable(DIE, 10, 1), 100_000),
    "sensitivity halved, two cells": (Planted(dc.GeometricHistogram(COIN, 20, 2), "1"), 5_000),
    "sensitivity halved, three cells": (Planted(RoundedLaplace(DIE, 20, 1, 1, 3), "1"), 60_000),
    "noise reused across cells": (Planted(dc.tables.DiscreteLaplaceCounts(DIE, 20, 1), "1", reused), 5_000),
    "noise clamped before it is added": (Planted(dc.GeometricHistogram(COIN, 20, 1), "1", clamped), 60_000),
    "noise redrawn until it fits": (Planted(dc.GeometricHistogram(COIN, 20, 1), "1", redrawn), 100_000),
    "even noise": (Planted(dc.GeometricHistogram(COIN, 20, "0.5"), "1", even), 5_000),
    "noise seeded in every call": (Planted(dc.tables.DiscreteLaplaceCounts(COIN, 20, 1), "1", reseeded), 5_000),
    "local sensitivity, prior 20, n = 90": (HellingerLocal(HEAVY, 90, 1), 400_000),
}
HONEST = {
    "GeometricHistogram, two cells": (dc.GeometricHistogram(COIN, 20, 1), 20_000),
    "GeometricHistogram, three cells": (dc.GeometricHistogram(DIE, 20, 1), 20_000),
    "DiscreteLaplaceCounts": (dc.tables.DiscreteLaplaceCounts(DIE, 20, 1), 20_000),
    "RoundedLaplace": (RoundedLaplace(COIN, 20, 1, 1, 1), 20_000),
    "DiscreteGaussianHistogram": (dc.tables.DiscreteGaussianHistogram(COIN, 20, 1, "0.01"), 20_000),
    "HellingerGlobal, enumerated epsilon": (HellingerGlobal(COIN, 8, 1), 20_000),
    "HellingerReciprocal, prior 20, n = 30": (HellingerReciprocal(HEAVY, 30, 1), 20_000),
}
NEAR = {
    "DiscreteLaplaceCounts, four cells": dc.tables.DiscreteLaplaceCounts(
        dc.Categories("x", levels=("a", "b", "c", "d"), outside="a"), 20, "1.2"
    ),
    "MaximumPosterior, three cells": dc.choices.MaximumPosterior(DIE.with_prior(1), 10, "1.2", 8),
    "HellingerCalibrated, three cells": dc.choices.HellingerCalibrated(DIE.with_prior(1), 6, "1.2"),
}
NEAR_RUNS, NEAR_DRAWS, NEAR_SEED = repeats(8, 100), 400_000, 700_000  # 200,000 of each data set
CUBE_RUNS, CUBE_SEED = repeats(4, 20), 710_000
LEVEL_RUNS, LEVEL_DRAWS, LEVEL_SEED = repeats(15, 100), 20_000, 720_000
LEAST_FOUND = 0.9 if IS_FULL else 0.7  # of audits of a promise that is broken by a fifth


def seed_of(name: str) -> int:
    """Return the first of the seeds of a setting."""
    return SEED + 1_000 * [*FAULTS, *HONEST].index(name)


def alarms(name: str, mechanism: Any, draws: int, runs: int, seed: int) -> int:
    """Return how many of so many audits, each with a seed of its own, find a violation."""
    return sum(kept("audits", name, seed, runs, lambda run: bool(audit(mechanism, draws, seed=seed + run).violates)))


@pytest.mark.parametrize("name", FAULTS)
def test_planted_errors_are_found(name: str) -> None:
    mechanism, draws = FAULTS[name]
    found = alarms(name, mechanism, draws, FAULTY_RUNS, seed_of(name))
    print(f"\n{name}: found in {found} of {FAULTY_RUNS} audits of {draws} draws")
    assert found >= 0.95 * FAULTY_RUNS


def test_the_innocent_are_left_alone() -> None:
    """At 95 % confidence the bounds of Clopper and Pearson are wrong in far less than 5 % of audits."""
    total = 0
    for name, (mechanism, draws) in HONEST.items():
        accused = alarms(name, mechanism, draws, HONEST_RUNS, seed_of(name))
        print(f"\n{name}: accused in {accused} of {HONEST_RUNS} audits of {draws} draws", end="")
        total += accused
    print(f"\nfalse alarms: {total} of {HONEST_RUNS * len(HONEST)}")
    assert total <= 0.01 * HONEST_RUNS * len(HONEST)


@pytest.mark.parametrize("name", NEAR)
def test_a_promise_that_is_broken_by_a_fifth_is_found(name: str) -> None:
    """A true epsilon of 1.2 that is declared as 1: found in at least 90 of 100 audits of a full run."""
    found = alarms(f"declared as 1, {name}", Planted(NEAR[name], "1"), NEAR_DRAWS, NEAR_RUNS, NEAR_SEED)
    print(f"\n{name}: true 1.2 declared as 1 found in {found} of {NEAR_RUNS} audits of {NEAR_DRAWS} draws")
    assert found >= LEAST_FOUND * NEAR_RUNS


def test_regions_of_several_numbers_are_learnt() -> None:
    """One radius for three yes/no items: no single number tells much."""
    items = dc.Network.from_edges("a", "b", "c", levels=dict.fromkeys("abc", (0, 1)), outside=0)
    planted = Planted(dc.networks.CubeCounts(items, 20, "1.2"), "1")
    found = alarms("declared as 1, CubeCounts", planted, NEAR_DRAWS, CUBE_RUNS, CUBE_SEED)
    print(f"\nCubeCounts, three items: true 1.2 declared as 1 found in {found} of {CUBE_RUNS} audits")
    assert found >= LEAST_FOUND * CUBE_RUNS


def test_alarms_stay_at_their_level() -> None:
    """Audits at 95 % confidence of mechanisms whose epsilon is true and used up: at most 30 alarms in 400."""
    honest = {**NEAR, "GeometricHistogram, two cells": dc.GeometricHistogram(COIN, 20, "1.2")}
    found = sum(
        alarms(f"declared as it is, {name}", each, LEVEL_DRAWS, LEVEL_RUNS, LEVEL_SEED + 1_000 * place)
        for place, (name, each) in enumerate(honest.items())
    )
    audits = LEVEL_RUNS * len(honest)
    print(f"\nfalse alarms: {found} of {audits} audits of {LEVEL_DRAWS} draws")
    assert found <= 0.05 * audits + 2.3 * sqrt(0.05 * 0.95 * audits)  # that is 30 of 400
