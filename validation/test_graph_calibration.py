"""Are chains through graphs calibrated? Asia and alarm, probabilities from the prior, a release, and where they lie.

For every probability of a first level the posterior probability below the truth is kept. If readings are calibrated,
these are uniform: intervals of 50, 90 and 95 % cover as much, and a chi-square test, which takes one probability of
each data set in turns, is not rejected. Alarm is read row by row too, which is an approximation: how much it covers is
printed beside the chains, of the same releases; what is known is said after each of them. `make validate` reads few
data sets, `make validate-full` 320 of asia and 20 of alarm.
"""

import warnings

import numpy as np
import pytest
from kept_results import IS_FULL, kept, repeats
from rank_tests import Floats, uniformity
from scipy.special import betainc

import discreet as dc
from discreet.inference import Problem
from discreet.networks import Network
from discreet.networks._approximate_rows import RowsSolver
from discreet.networks._chains_solver import CountsSolver
from discreet.networks._simulate import counts_of, simulated_records, simulated_tables

LEVELS = (0.5, 0.9, 0.95)
ASIA, ALARM = 20261117, 20261118
DRAWS = 1_000


def example(name: str) -> Network:
    """Return a graph from the copies that pgmpy carries, under the default prior."""
    pgmpy = pytest.importorskip("pgmpy.utils")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # another name of the same function is coming
        return Network.from_pgmpy(pgmpy.get_example_model(name))


def places(network: Network, size: int, seed: int, number: int, solvers: list[type]) -> dict[str, list[float]]:
    """Return, for each solver, the posterior probability below the truth of every row's first level."""
    generator = np.random.default_rng([seed, number])
    truth = simulated_tables(network, generator)
    counts = counts_of(network, simulated_records(network, truth, size, generator))
    problem = Problem.of([dc.simulate(dc.FamilyHistograms(network, size, 1), counts, dc.SeededBits(seed + number))])
    found = {}
    for solver in solvers:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shapes = solver().solve(problem).shapes(DRAWS, generator)
        below: list[float] = []
        for name, table in shapes.items():
            own, rest = table[..., 0], table[..., 1:].sum(axis=-1)
            below += betainc(own, rest, truth[name][..., 0]).mean(axis=0).ravel().tolist()
        found[solver.__name__] = below
    return found


def covered(below: Floats) -> list[tuple[float, float]]:
    """Return how much intervals of each level cover, and the standard error, data sets being independent."""
    shares = [(np.abs(below - 0.5) <= level / 2).mean(axis=1) for level in LEVELS]
    return [(float(each.mean()), float(each.std(ddof=1) / np.sqrt(len(each)))) for each in shares]


def in_words(below: Floats) -> str:
    """Return how much intervals of each level cover, with standard errors if there are two data sets."""
    if len(below) == 1:
        return ", ".join(f"{level:.0%}: {np.mean(np.abs(below - 0.5) <= level / 2):.3f}" for level in LEVELS)
    found = zip(LEVELS, covered(below), strict=True)
    return ", ".join(f"{level:.0%}: {share:.3f} +- {error:.3f}" for level, (share, error) in found)


def printed(name: str, below: Floats) -> list[tuple[float, float]]:
    print(f"{name}, {len(below)} data sets: {in_words(below)}; ranks p = {uniformity(below):.3f}")
    return covered(below)


def test_asia_is_calibrated() -> None:
    network = example("asia")
    results = kept(
        "graph-calibration", "asia, n = 500, epsilon 1", ASIA, repeats(12, 320),
        lambda number: places(network, 500, ASIA, number, [CountsSolver]),
    )  # fmt: skip
    below = np.array([each["CountsSolver"] for each in results])
    print()
    found = printed("asia, n = 500, epsilon 1, chains", below)
    assert uniformity(below) >= 1e-3
    if IS_FULL:
        assert all(abs(share - level) <= 0.02 for level, (share, _) in zip(LEVELS, found, strict=True))
    else:
        assert all(abs(share - level) <= 5 * error + 0.02 for level, (share, error) in zip(LEVELS, found, strict=True))


def alarm(solver: type, count: int) -> Floats:
    """Return where the probabilities of alarm lie, a row for each data set; these are the same for all solvers."""
    network = example("alarm")
    results = kept(
        "graph-calibration", f"alarm, n = 10,000, epsilon 1, {solver.__name__}", ALARM, count,
        lambda number: places(network, 10_000, ALARM, number, [solver]),
        lambda done: in_words(np.array([each[solver.__name__] for each in done])),
    )  # fmt: skip
    return np.array([each[solver.__name__] for each in results])


def test_alarm_row_by_row_is_about_calibrated() -> None:
    print()
    found = printed("alarm, n = 10,000, epsilon 1, row by row", alarm(RowsSolver, repeats(4, 20)))
    assert all(abs(share - level) <= 0.06 for level, (share, _) in zip(LEVELS, found, strict=True))


def test_alarm_is_calibrated() -> None:
    count = repeats(2, 20)
    print()
    found = printed("alarm, n = 10,000, epsilon 1, chains", alarm(CountsSolver, count))
    printed("alarm, n = 10,000, epsilon 1, row by row, the same releases", alarm(RowsSolver, count))
    assert all(abs(share - level) <= 0.06 for level, (share, _) in zip(LEVELS, found, strict=True))
