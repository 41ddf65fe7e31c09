"""Do chains forget where they started, and do they read trees as exact sums do? Figures that the count solver promises.

Sachs, 1,000 records at epsilon 1: nested R-hat is below 1.02 after 40 draws of each chain, and readings from starts as
they are drawn and from starts with doubled deviations agree: differences of all means over their Monte Carlo errors
have a root mean square below 1.25. Trees of five nodes, 100 records, 20 releases: means differ from exact ones by at
most .05 posterior deviations, root mean square.
"""

from dataclasses import replace
from math import nan

import numpy as np
import pytest
from test_graph_calibration import example

import discreet as dc
from discreet._core.arrays import Floats
from discreet.inference import Problem, SampledTables, TablesTarget
from discreet.inference import _sampled_tables as sampled
from discreet.networks import Network
from discreet.networks._chains_solver import CountsSolver, target_of

SEED = 1


def read(target: TablesTarget, seed: int) -> SampledTables:
    return SampledTables(target, seed, lambda: (nan, nan))


def farther(target: TablesTarget) -> TablesTarget:
    """Return what chains sample with starts whose deviations from their mean are doubled."""
    drawn = target.shares
    assert drawn is not None

    def shares(count: int, generator: np.random.Generator) -> list[Floats]:
        found = []
        for own in drawn(count, generator):
            wide = np.maximum(2 * own - own.mean(axis=2, keepdims=True), own / 10)
            found.append(wide / wide.sum(axis=1, keepdims=True))
        return found

    return replace(target, shares=shares)


def test_sachs_mixes_and_forgets_its_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampled, "_WANTED_SIZE", 1e9)  # so that chains run as long as they may
    monkeypatch.setattr(sampled, "longest_for", lambda length: 40)
    network = example("sachs")
    counts = network.simulate(1_000, np.random.default_rng(SEED)).statistics
    target = target_of(Problem.of([dc.simulate(dc.FamilyHistograms(network, 1_000, 1), counts, dc.SeededBits(SEED))]))
    plain, wide = read(target, 1), read(farther(target), 2)
    means = [np.concatenate([table.ravel() for table in each.means()]) for each in (plain, wide)]
    errors = [np.concatenate([table.ravel() for table in each.diagnostics.errors]) for each in (plain, wide)]
    apart = (means[0] - means[1]) / np.hypot(*errors)
    rms = float(np.sqrt(np.mean(apart**2)))
    print(f"sachs, 40 draws: nested R-hat {plain.agreement.r_hat:.3f} and, from doubled starts, ", end="")
    print(f"{wide.agreement.r_hat:.3f}; means apart by {rms:.2f} errors, {np.abs(apart).max():.2f} at most")
    assert plain.agreement.r_hat < 1.02
    assert rms < 1.25


def test_trees_are_read_by_chains_as_they_are_read_exactly() -> None:
    network = Network.from_edges("a -> b -> c", "b -> d", "a -> e", levels=dict.fromkeys("abcde", (0, 1)), outside=0)
    shifts = []
    for seed in range(20):
        counts = network.simulate(100, np.random.default_rng([SEED, seed])).statistics
        release = dc.simulate(dc.FamilyHistograms(network, 100, 1), counts, dc.SeededBits(seed))
        exact, found = dc.infer(release), CountsSolver().solve(Problem.of([release])).counts
        assert exact.method == "read exactly"
        wanted = np.concatenate([table.ravel() for table in exact.mean_tables().values()])
        means = np.concatenate([np.asarray(table).ravel() for table in found.means() or ()])
        shifts.append((means - wanted) / np.array([row.sd for row in exact.rows()]))
    rms = float(np.sqrt(np.mean(np.square(shifts))))
    print(f"trees, 20 releases: means off by {rms:.3f} posterior deviations")
    assert rms <= 0.05
