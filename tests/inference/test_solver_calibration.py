"""Every solver, on studies that are made up: truths come from the prior, and the solver alone reads each release.

Of an exact or a sampled posterior 80 % intervals hold 80 % of such truths, and the distance of the truth from the mean,
in standard deviations, has mean 0 and mean square 1, both averaged over the prior, whatever the noise is. Tests that
are valid for any records, and approximations, must hold at least 80 %. What is allowed is four standard errors of a
share, 3.5 of a mean, and 5 / sqrt(studies) beyond 1 of a mean square: each about one in a thousand by chance, and the
seeds are literal. A solver whose result is spoilt must be told: if it is given noise that is smaller than it was, if
its means are off by one standard deviation, and if its intervals are half as wide.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from math import sqrt
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.inference import Exactness, Observed, Problem, Solver
from discreet.inference._posterior import posterior_of
from discreet.inference._solvers import SOLVERS
from discreet.mechanism import with_fields
from discreet.numbers import NumberSums, NumberTable, WeightedSums, Weights
from discreet.programs import Poisson

LEVEL = 0.8
Study = tuple[float, float, float, float, float]
"""The truth of one quantity, and its mean, standard deviation and interval as they were read."""


@dataclass(frozen=True)
class Setting:
    """What is published, the number of studies, and how many times larger a spoilt reader takes epsilon to be.

    `is_valid_only` is said of tests that promise coverage for any records, and have no prior.
    """

    make: Callable[[], Any]
    studies: int
    louder: int = 10
    is_valid_only: bool = False


def levels(count: int) -> dc.Categories:
    return dc.Categories("x", levels=tuple(range(count)), prior=1.0, outside=0)


def network(*edges: str) -> dc.Network:
    names = sorted({name for edge in edges for name in edge.split(" -> ")})
    return dc.Network.from_edges(*edges, levels=dict.fromkeys(names, (0, 1)), outside=0, prior=1.0)


CLASS, CHAIN = network("c -> f", "c -> g"), network("a -> b", "b -> d")
LINE = dc.LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, noise="0.5", missing="middle", prior_precision=1)
BULK = dc.WeightedRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, noise="0.5", prior_precision=1)
VISITS = Poisson(dc.Column("visits", tuple(range(7)), outside=6), rate="Gamma(4, 3)").table
SUMS = NumberSums("x", (0, 1), missing=0)
WEIGHTED = WeightedSums("x", (0, 1), missing=0, weights=Weights("w", 2, "fixed by design"))
CELLS = NumberTable("x", (0, 32), 32, missing=0, quantiles=("0.5",))
PLACES = dc.NumberQuantiles("x", (0, 1000), ("0.5",), missing=0)
EVENTS = dc.PoissonRate("events", most=5, outside=5, shape=4, rate=3)

SETTINGS: dict[str, Setting] = {
    "TablesSolver": Setting(lambda: dc.GeometricHistogram(levels(3), 40, "0.2"), 150),
    "TreeTablesSolver": Setting(
        lambda: dc.tables.TreeLevels(levels(3), 40, "0.2", parents=(2, 2), lengths=(1, 1)), 150
    ),
    "EnumerationSolver": Setting(lambda: dc.choices.HellingerGlobal(levels(2), 20, 1), 120),
    "WeightedTablesSolver": Setting(lambda: dc.choices.HellingerGlobal(levels(3), 30, 2), 30),
    "SampledTablesSolver": Setting(lambda: dc.GeometricHistogram(levels(3), 40, "0.2"), 50),
    "CellModelsSolver": Setting(lambda: dc.GeometricHistogram(VISITS, 40, "0.2"), 80),
    "NaiveBayesSolver": Setting(lambda: dc.networks.FamilyHistograms(CLASS, 40, "0.3"), 80),
    "CubeSolver": Setting(lambda: dc.networks.CubeCounts(CLASS, 40, "0.3"), 50),
    "SharedRadiusSolver": Setting(lambda: dc.networks.JointHistograms(CLASS, 12, "0.7"), 30),
    "BinaryTreesSolver": Setting(lambda: dc.networks.FamilyHistograms(CHAIN, 40, "0.3"), 60),
    "TreesSolver": Setting(lambda: dc.networks.FamilyHistograms(CHAIN, 6, 1), 25),
    "MovesSolver": Setting(lambda: dc.networks.FamilyHistograms(CLASS, 40, "0.5"), 40),
    "CountsSolver": Setting(lambda: dc.networks.FamilyHistograms(CLASS, 40, "0.5"), 25),
    "RowsSolver": Setting(lambda: dc.networks.FamilyHistograms(CLASS, 40, "0.5"), 80),
    "FamiliesSolver": Setting(
        lambda: dc.draws.PosteriorSampling.tempered(EVENTS, size=20, epsilon="0.5", delta="1e-3"), 40
    ),
    "MomentsSolver": Setting(lambda: dc.regression.BoxMoments(LINE, 200, "0.5"), 80),
    "WeightedMomentsSolver": Setting(lambda: dc.BallMoments(BULK, 1000, 2), 60),
    "NumberSumsSolver": Setting(lambda: dc.numbers.GeometricSums(SUMS, 50, "0.2"), 100, is_valid_only=True),
    "WeightedSumsSolver": Setting(lambda: dc.numbers.GeometricSums(WEIGHTED, 50, "0.2"), 100, is_valid_only=True),
    "NumberTableSolver": Setting(lambda: dc.numbers.TreeTable(CELLS, 200, "0.3"), 100, 20, is_valid_only=True),
    "NumberQuantilesSolver": Setting(lambda: dc.numbers.ChosenTable(PLACES, 200, "0.2"), 100, 12, is_valid_only=True),
}


def solvers() -> dict[str, type[Solver]]:
    """Return the solvers of the library itself."""
    homes = [name.rpartition(".") for names in SOLVERS.values() for name in names]
    return {name: getattr(import_module(module), name) for module, _, name in homes}


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let weighted draws read a choice among few tables as if it were one among many, with few draws."""
    monkeypatch.setattr("discreet.choices._hellinger_mechanism.MOST_CANDIDATES", 100)
    monkeypatch.setattr("discreet.tables._importance_solver._TRIALS", 300)
    monkeypatch.setattr("discreet.tables._importance_solver._DRAWS", 500)
    monkeypatch.setattr("discreet.tables._importance_solver._WANTED_SIZE", 50)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few records and few draws
        yield


def studies_of(solver: Solver, setting: Setting, believed: Any = None) -> list[Study]:
    """Make up studies, publish each, and let the solver read it, in the belief that another mechanism drew it."""
    mechanism, found = setting.make(), []
    for number in range(setting.studies):
        made = mechanism.model.simulate(mechanism.size, np.random.default_rng([38, number]))
        release = dc.simulate(mechanism, made.statistics, dc.SeededBits(38_000 + number))
        problem = Problem.of([release])
        if believed is not None:
            problem = replace(problem, observed=(Observed(believed, problem.observed[0].output, "believed"),))
        assert solver.unsupported_reason(problem) is None
        reading = solver.solve(problem)
        shown = posterior_of(type(reading))
        rows = shown(problem.model, [release], [reading]).rows(LEVEL)
        place = 0 if setting.is_valid_only else number % len(rows)
        row = rows[place]
        found.append((made.truth[place], row.mean, row.sd, row.low, row.high))
    return found


def told(studies: list[Study], solver: Solver, setting: Setting) -> list[str]:
    """Return in words what is wrong with the answers; nothing if they hold what they promise."""
    truth, mean, sd, low, high = np.array(studies).T
    count, covered = len(truth), float(np.mean((low <= truth) & (truth <= high)))
    allowed, found = 4 * sqrt(LEVEL * (1 - LEVEL) / count), []
    is_at_least = setting.is_valid_only or solver.exactness is Exactness.APPROXIMATE
    if covered < LEVEL - allowed or (covered > LEVEL + allowed and not is_at_least):
        found.append(f"{covered:.2f} of intervals of {LEVEL:.0%} hold the truth")
    if is_at_least:
        return found
    apart = (truth - mean) / sd
    if abs(apart.mean()) * sqrt(count) > 3.5 * max(1.0, apart.std()):
        found.append(f"truths lie {apart.mean():.2f} standard deviations above the mean")
    if np.mean(apart**2) > 1 + 5 / sqrt(count):
        found.append(f"squared distances are {np.mean(apart**2):.2f} of their variance")
    return found


def test_every_solver_has_a_setting() -> None:
    """Those of a secret number of records have no problem with a size; all columns at once choose what is measured."""
    elsewhere = {name for name in solvers() if name.startswith("Secret")}  # validation/test_secret_size.py
    elsewhere |= {"SynthesisSolver"}  # validation/test_synthesis_coverage.py
    assert set(SETTINGS) | elsewhere == set(solvers())


@pytest.mark.parametrize("name", SETTINGS)
def test_a_solver_is_calibrated_and_every_spoilt_one_is_told(name: str) -> None:
    setting, solver = SETTINGS[name], solvers()[name]()
    studies = studies_of(solver, setting)
    assert told(studies, solver, setting) == []
    mechanism = setting.make()
    believed = with_fields(mechanism, epsilon=setting.louder * mechanism.epsilon)
    assert told(studies_of(solver, setting, believed), solver, setting), "noise that is ignored was not told"
    shrunk = 10 if setting.is_valid_only else 2
    narrow = [(t, m, s / shrunk, m - (m - a) / shrunk, m + (b - m) / shrunk) for t, m, s, a, b in studies]
    assert told(narrow, solver, setting), "intervals that are too narrow were not told"
    off = 3 if setting.is_valid_only or solver.exactness is Exactness.APPROXIMATE else 1
    shifted = [(t, m + off * s, s, a + off * s, b + off * s) for t, m, s, a, b in studies]
    assert told(shifted, solver, setting), "shifted answers were not told"
