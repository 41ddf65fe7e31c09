"""Do intervals of the joint table hold fixed truths? All cells and all margins, as whoever takes its draws finds them.

Tables that no prior made, those of `test_fixed_truths` and others. Of each release, `posterior.table` says an interval
for every cell with a true share above 0, and for every level of every column (`posterior.table.margin`), at 50, 90 and
95 %; and two points, the mean and `closest`, whose distance in total variation from the truth is compared with that of
the noisy counts, projected to tables without negative counts. `make validate` takes 2 releases of each setting, `make
validate-full` 20.
"""

from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from kept_results import IS_FULL, kept, repeats
from numpy.typing import NDArray
from test_fixed_truths import model_of, truths

import discreet as dc
from discreet.tables._crossed_solver import projected

Floats = NDArray[np.float64]
LEVELS = (0.5, 0.9, 0.95)
RELEASES = repeats(2, 20)


@dataclass(frozen=True)
class Joint:
    """One truth, read from so many records through this epsilon; a seed; the least coverage of cells and margins."""

    truth: str
    size: int
    epsilon: str
    seed: int
    least: tuple[float, float] = (0.8, 0.75)

    @property
    def name(self) -> str:
        return f"{self.truth}, n = {self.size:,}, epsilon {self.epsilon}"


JOINT = (
    Joint("two clusters", 10_000, "0.3", 856, (0.85, 0.85)),
    Joint("Adult country x occupation", 24_420, "0.1", 852, (0.85, 0.8)),
    Joint("Adult country x occupation", 24_420, "1", 851),
    Joint("product of Zipfs", 10_000, "0.3", 855, (0.85, 0.85)),
    Joint("Flights origin x carrier x month", 10_000, "0.3", 862),
    Joint("triangle of zeros", 10_000, "0.3", 863),
    Joint("3 columns", 10_000, "0.3", 857),
    Joint("Zipf of 42 levels", 1_000, "0.3", 865),
    Joint("Flights carrier x dest", 10_000, "0.1", 861, (0.7, 0.75)),  # most cells are empty, and noise hides which
    Joint("Flights carrier x dest", 10_000, "0.3", 866, (0.7, 0.75)),
    Joint("uniform", 1_000, "0.1", 859),
    Joint("Adult race x relationship x marital", 5_000, "0.3", 853),
    Joint("Adult education x occupation", 300, "0.3", 854),
    Joint("Zipf 300", 10_000, "0.3", 858),
    Joint("Flights carrier x dest", 10_000, "1", 860),
    Joint("Zipf of 1,000 levels", 10_000, "1", 864),
)


@cache
def truth_of(name: str) -> Floats:
    """Return the true shares of all cells, as a table."""
    if name.startswith("Zipf of"):
        weights = np.arange(1.0, int(name.split()[2].replace(",", "")) + 1) ** -1.5
        return np.asarray(weights / weights.sum())
    return truths()[name]


def margins_of(table: Floats) -> list[Floats]:
    """Return the shares of each column's levels."""
    axes = range(table.ndim)
    return [table.sum(axis=tuple(other for other in axes if other != axis)) for axis in axes]


def held(posterior: Any, truth: Floats) -> list[list[float]]:
    """Return, for each level of intervals, how many of these shares are held, of how many."""
    there = truth.ravel() > 0
    found = []
    for level in LEVELS:
        rows = posterior.rows(level)
        low, high = (np.array([getattr(row, end) for row in rows])[there] for end in ("low", "high"))
        inside = (low <= truth.ravel()[there]) & (truth.ravel()[there] <= high)
        found.append([float(inside.sum()), float(there.sum())])
    return found


def released(setting: Joint, number: int) -> dict[str, Any]:
    """Return what one release finds."""
    truth, generator = truth_of(setting.truth), np.random.default_rng([setting.seed, number])
    mechanism = dc.GeometricHistogram(model_of(truth.shape), size=setting.size, epsilon=setting.epsilon)
    counts = generator.multinomial(setting.size, truth.ravel())
    output = mechanism.sample(counts, dc.SeededBits(setting.seed * 1_000 + number))
    release = dc.Release(mechanism, tuple(int(value) for value in output), "joint", simulated=True)
    table = dc.infer(release).table
    names = [column.name for column in table.columns]
    columns = [table.margin(name) for name in names] if len(names) > 1 else []
    margins = [held(*pair) for pair in zip(columns, margins_of(truth), strict=False)]
    points = {
        "mean": table.joint_means,
        "closest": np.array(list(table.closest().values())),
        "projected": projected(np.asarray(output, dtype=float), setting.size) / setting.size,
    }
    return {
        "cells": held(table, truth),
        "margins": np.sum(margins, axis=0).tolist() if margins else [[0.0, 0.0]] * len(LEVELS),
        "off": {name: float(np.abs(point - truth.ravel()).sum() / 2) for name, point in points.items()},
        "r_hat": table.facts().get("r_hat"),
    }


def summed_up(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Return coverage by level with its standard error over releases, and distances over that of the projection."""
    entry: dict[str, Any] = {"releases": len(found)}
    for kind in ("cells", "margins"):
        pairs = np.array([each[kind] for each in found])
        if pairs[:, :, 1].any():
            shares = pairs[:, :, 0] / pairs[:, :, 1]
            entry[kind] = [
                shares.mean(axis=0).round(4).tolist(),
                (shares.std(axis=0) / len(found) ** 0.5).round(4).tolist(),
            ]
    off = {name: np.array([each["off"][name] for each in found]) for name in found[0]["off"]}
    root = {name: float(np.sqrt(np.square(own).mean())) for name, own in off.items()}
    entry["distance"] = {name: round(root[name] / root["projected"], 4) for name in ("mean", "closest")}
    entry["r_hat"] = round(float(np.median([each["r_hat"] for each in found])), 3)
    return entry


def words_of(found: list[dict[str, Any]]) -> str:
    """Return what is known so far."""
    entry = summed_up(found)
    margins = entry.get("margins", [["-"] * 3])[0]
    return f"cells {entry['cells'][0]}, margins {margins}, distance {entry['distance']}, R-hat {entry['r_hat']}"


@pytest.mark.filterwarnings("ignore::discreet.ConvergenceWarning", "ignore::discreet.UncalibratedDrawsWarning")
@pytest.mark.parametrize("setting", JOINT, ids=lambda setting: setting.name)
def test_cells_and_margins_of_the_joint_table_are_held(setting: Joint) -> None:
    found = summed_up(kept("joint-table", setting.name, setting.seed, RELEASES, partial(released, setting), words_of))
    print(f"\n{setting.name}: {found}")
    chance = 0.0 if IS_FULL else 0.15
    for kind, least in zip(("cells", "margins"), setting.least, strict=True):
        if kind in found:
            assert found[kind][0][1] >= least - chance
    assert found["distance"]["closest"] <= (1.02 if IS_FULL else 1.2)
