"""Graphs and tables read by chains: CPU seconds of one run each, beside the goals.

`--only NAME` runs one part: asia, parents, five, fourier, hellinger, joint, tree, regression, alarm. Asia is read with
eight seeds; its effective size is the least over all probabilities of (variance of the draws) / (variance of the eight
means), for one reading. Beside it run eight Markov chains over all records (`record_chains`), whose effective size is
found from their eight means in the same way; the time in which they warmed up is left out.
"""

import argparse
import logging
import warnings
from collections.abc import Callable
from dataclasses import replace
from time import process_time
from typing import Any

import numpy as np
from figures import record
from record_chains import Chains, Families
from regression_inference import release_of

import discreet as dc
from discreet._core.arrays import Floats
from discreet.inference import Problem
from discreet.networks import Network, fit, noisy_parts
from discreet.networks._chains_solver import CountsSolver
from discreet.regression import BoxMoments

WARM, SWEEPS = 250, 1_500
"""Sweeps of the chains over records: some warm them up."""
TREE = Network.from_edges(
    "a -> b -> c -> d", "b -> e", "a -> f -> g", "f -> h", levels=dict.fromkeys("abcdefgh", (0, 1, 2)), outside=0
)


def example(name: str) -> Network:
    """Return a graph from the copies that pgmpy carries."""
    logging.disable(logging.CRITICAL)
    from pgmpy.utils import get_example_model

    return Network.from_pgmpy(get_example_model(name))


def released(mechanism: Any, seed: int = 1) -> dc.Release:
    counts = mechanism.model.simulate(mechanism.size, np.random.default_rng(seed)).statistics
    return dc.simulate(mechanism, counts, dc.SeededBits(seed))


def timed(name: str, release: dc.Release, seconds: float, further: str = "") -> None:
    start = process_time()
    posterior = dc.infer(release)
    taken = process_time() - start
    goal = f"{seconds:g} s{further}" if seconds < np.inf else "read at all"
    print(f"{name}: {taken:.1f} s (goal: {goal}); {posterior.method}", flush=True)
    record(name, taken, "CPU s", "", goal, taken > seconds)


def asia() -> None:
    problem = Problem.of([released(dc.FamilyHistograms(example("asia"), 1_000, 1))])
    means, spreads, start = [], [], process_time()
    for seed in range(8):
        counts: Any = CountsSolver().solve(replace(problem, seed=seed)).counts
        means.append(np.concatenate([table.ravel() for table in counts.means()]))
        values = [
            (pool + alpha) / (pool + alpha).sum(axis=-1, keepdims=True)
            for pool, alpha in zip(counts.pool, map(np.array, problem.model.prior), strict=True)
        ]
        spreads.append(np.concatenate([each.var(axis=(0, 1)).ravel() for each in values]))
    each = (process_time() - start) / 8
    sizes = np.mean(spreads, axis=0) / np.var(means, axis=0, ddof=1)
    old, taken = record_chains(problem)
    now, before = sizes.min() / each, old.min() / taken
    usual = np.median(sizes) / each / (np.median(old) / taken)
    print(
        f"asia, 1,000 records, epsilon 1: {each:.2f} s a reading, effective size least {sizes.min():.0f}, median "
        f"{np.median(sizes):.0f}: {now:.0f} and {np.median(sizes) / each:.0f} a second; chains over records: "
        f"{taken:.1f} s, {old.min():.0f} and {np.median(old):.0f}: {before:.1f} and {np.median(old) / taken:.1f} a "
        f"second, {now / before:.0f} and {usual:.0f} times less (goal: 50)",
        flush=True,
    )
    record(
        "asia, 1,000 records, epsilon 1",
        each,
        "CPU s",
        f"{now / before:.0f} times the draws of chains over records a second",
        "50",
        now < 50 * before,
    )


def record_chains(problem: Problem[Network]) -> tuple[Floats, float]:
    """Return the effective sizes of eight chains over records after so many sweeps, and CPU seconds of these."""
    families = Families(problem.model)
    fitted = fit(problem.model, problem.size, noisy_parts(problem.measurements, problem.size) or ())
    tables = np.concatenate([fitted.table(*family).ravel() for family in problem.model.families])
    shapes = families.priors + np.maximum(0.0, tables) / 8
    chains = Chains(problem.model, problem.size, problem.observed[0].log_likelihood, shapes, 8, 0)
    for number in range(WARM):
        chains.sweep(gain=1.0 / (1 + number / 25))
    kept, start = [], process_time()
    for _ in range(SWEEPS):
        chains.sweep()
        kept.append(families.means(chains.tables))
    values = np.stack(kept, axis=1)  # (chains, sweeps, cells)
    return 8 * values.var(axis=(0, 1)) / values.mean(axis=1).var(axis=0, ddof=1), process_time() - start


def parents() -> None:
    """Read a rare event with three parents, 240 cells, through noise that hardly hides single records."""
    numbers = {"sex": 2, "age": 6, "flc": 10, "death": 2}
    levels = {name: tuple(range(count)) for name, count in numbers.items()}
    model = Network.from_edges("sex -> death", "age -> death", "flc -> death", levels=levels, outside=0)
    shares = (
        np.array([0.55, 0.45])[:, None, None] * np.array([0.38, 0.27, 0.2, 0.1, 0.04, 0.01])[:, None] * np.full(10, 0.1)
    )
    score = -4 + 0.3 * np.arange(2)[:, None, None] + 0.9 * np.arange(6)[:, None] + 0.12 * np.arange(10)
    chance = 1 / (1 + np.exp(-score))
    cells = shares[..., None] * np.stack([1 - chance, chance], axis=-1)
    counts = np.random.default_rng(1).multinomial(7_874, cells.ravel())
    release = dc.simulate(dc.FamilyHistograms(model, 7_874, 1), counts, dc.SeededBits(1))
    timed("three parents, 240 cells, 7,874 records, epsilon 1", release, 15)


def five() -> None:
    """Read a network of five variables, with all rows of its tables."""
    levels = dict.fromkeys(("pollution", "smoker", "cancer", "xray", "dyspnoea"), (0, 1))
    edges = ("pollution -> cancer", "smoker -> cancer", "cancer -> xray", "cancer -> dyspnoea")
    model = Network.from_edges(*edges, levels=levels, outside=0)
    timed("network of 5 yes/no variables, 10,000 records", released(dc.FamilyHistograms(model, 10_000, 1)), 1)


def fourier() -> None:
    names = [f"x{number}" for number in range(10)]
    model = Network.naive_bayes("y", names, dict.fromkeys(["y", *names], (0, 1)), outside=0)
    timed(
        "FourierCounts, naive Bayes of 10 features, 1,000 records",
        released(dc.networks.FourierCounts(model, 1_000, 1)),
        5,
    )


def hellinger() -> None:
    model = dc.Categories("x", levels=("a", "b", "c", "d"), prior=1, outside="a")
    for mechanism in (
        dc.choices.HellingerGlobal(model, 600, 6),
        dc.choices.HellingerSmooth(model, 600, 6, "1e-6"),
        dc.choices.HellingerReciprocal(model, 600, 6),
    ):
        release = dc.simulate(mechanism, np.array([10, 90, 200, 300]), dc.SeededBits(2))
        timed(f"{type(mechanism).__name__}, 600 records in 4 levels", release, 20)


def joint() -> None:
    mechanism = dc.networks.JointHistograms(example("asia"), 100_000, 1)
    timed("JointHistograms of asia, 100,000 records", released(mechanism), np.inf)


def tree() -> None:
    timed("tree of 8 nodes, 3 levels, 100,000 records", released(dc.FamilyHistograms(TREE, 100_000, 1)), 10)


def regression() -> None:
    release = release_of(BoxMoments, 12, 10_000, "1")
    timed("BoxMoments, 12 features, 10,000 records, epsilon 1", release, 3, ", effective size 1,000")


def alarm() -> None:
    mechanism = dc.FamilyHistograms(example("alarm"), 10_000, 1)
    timed("alarm, 10,000 records", released(mechanism), 90, ", effective size 400, nested R-hat 1.02")


PARTS: dict[str, Callable[[], None]] = {
    "asia": asia, "parents": parents, "five": five, "fourier": fourier, "hellinger": hellinger, "joint": joint,
    "tree": tree, "regression": regression, "alarm": alarm,
}  # fmt: skip

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=PARTS)
    only = parser.parse_args().only
    for name, part in PARTS.items():
        if only in (None, name):
            part()
