"""Are programs read right from noisy tables, on average over the prior? Beside it a plug-in reader of clamped counts.

Parameters come from the prior, records from them, and the place of the truth in its posterior has to be uniform. The
plug-in reader takes noisy counts, clamped at zero, for the true ones. `python validation/test_program_ranks.py NAME
BATCHES FIRST` goes through further batches of a setting and prints what each quantity's intervals cover.
"""

import sys
import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest
from kept_results import repeats
from rank_tests import BATCH, Places, Setting, coverage, judge, rank, uniformity

import discreet as dc
from discreet.mathematics import by_draws, on_a_grid, peak_of
from discreet.programs import Program
from discreet.programs._model import _Known, starts_of

AGE = dc.Column("age", ("young", "middle", "old"), outside="young")
WARD = dc.Column("ward", ("A", "B"), outside="A")
WARDS = dc.Column("ward", tuple(range(8)), outside=0)
FALLS = dc.Column("falls", ("no", "yes"), outside="no")
VISITS = dc.Column("visits", tuple(range(7)), outside=6)
BANDS = dc.Column.banded("x", (-3.2, -2.4, -1.6, -0.8, 0, 0.8, 1.6, 2.4, 3.2))


def read(program: Program, size: int, epsilon: float, generator: np.random.Generator, bits: dc.SeededBits) -> Places:
    """Return where the true quantities lie in the posterior, and in that of the plug-in reader."""
    table = program.table
    made = table.simulate(size, generator)
    mechanism = dc.GeometricHistogram(table, size, epsilon)
    release = dc.Release(
        mechanism, tuple(int(z) for z in mechanism.sample(made.statistics, bits)), "made up", simulated=True
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        posterior: Any = dc.infer(release)
    values = posterior.solution.values
    places = [
        float(posterior.solution.grouped.mean(own <= truth)) for own, truth in zip(values.T, made.truth, strict=True)
    ]
    clamped = _Known(table.bound, np.maximum(release.counts, 0).astype(float))
    peak = peak_of(clamped, starts_of(table.bound))
    few = table.bound.dimension <= 2
    found = on_a_grid(clamped, peak) if few else by_draws(clamped, peak, 1_000, 300, 2_000, generator)
    chosen = found.grouped.chosen(99, generator)
    values = table.bound.natural(found.points[chosen])
    return places, [rank(truth, own) for truth, own in zip(made.truth, values.T, strict=True)]


POISSON = dc.programs.Poisson(VISITS, rate="Gamma(4, 3)")
NORMAL = dc.programs.Normal(BANDS, mean="Normal(0, 1)", sd="LogNormal(0, 0.3)")
LOGISTIC = dc.Logistic("falls ~ age + ward", columns=[AGE, WARD, FALLS], prior="Normal(0, 1)")
VARYING = dc.Logistic("falls ~ (1 | ward)", columns=[WARDS, FALLS], prior="Normal(0, 1)")
SETTINGS = [
    Setting("Poisson rate from a table", 501, partial(read, POISSON, 200, 2), batches=repeats(4, 40)),
    Setting("Normal mean and spread", 502, partial(read, NORMAL, 400, 1), batches=repeats(2, 80)),
    Setting("logistic, 12 cells", 503, partial(read, LOGISTIC, 1_000, 1), batches=repeats(1, 40)),
    Setting("varying intercepts", 504, partial(read, VARYING, 2_000, 1), batches=repeats(1, 8)),
]


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_true_parameters_rank_uniformly(setting: Setting) -> None:
    judge("programs", setting)


def sweep(name: str, batches: int, first: int) -> None:
    """Go through batches of one setting, and print what is known after each."""
    setting = next(each for each in SETTINGS if each.name.lower().startswith(name.lower()))
    aware: list[list[float]] = []
    plugged: list[list[float]] = []
    for number in range(first, first + batches):
        found = setting.batch(number)
        aware, plugged = aware + found["aware"], plugged + found["plug-in"]
        each = [coverage(np.array(aware)[:, [place]]) for place in range(len(aware[0]))]
        naive = [coverage(np.array(plugged)[:, [place]])[0] for place in range(len(aware[0]))]
        ranks = [uniformity(np.array(aware)[:, [place]]) for place in range(len(aware[0]))]
        told = zip(each, ranks, naive, strict=True)
        words = [f"{c:.3f} +- {e:.3f} (p {p:.2f}, plug-in {n:.3f})" for (c, e), p, n in told]
        print(f"{setting.name}, {len(aware)} data sets ({BATCH} a batch): 90 % cover", ", ".join(words), flush=True)


if __name__ == "__main__":
    sweep(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
