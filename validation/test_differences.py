"""How often differences of two quantities of a posterior hold fixed, skewed truths: by joint draws, on every kind.

`posterior.difference(first, second)` takes what is drawn together: means and medians of two groups, entries of a
network's tables, effects of a regression and of a logistic model, levels of a margin, pooled rates. Two groups are
lognormal, the smaller one a sixth of the records. Differences of tables and of their events are in
`test_skewed_truths` and `test_other_intervals`.
"""

from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np
import pytest
from kept_results import kept, repeats
from test_other_intervals import CANCER, NETWORK, POLLUTED, SMOKER, Asked, Setting
from test_skewed_truths import assert_held, joined

import discreet as dc
from discreet.numbers import ChosenTable
from discreet.tables import LaplaceTable

BATCHES = repeats(1, 4)
REGION = dc.Column("region", ("West", "East"), outside="West")
PUBLISHED = dc.Weights("weight", 2, "fixed by design")
FALLS = dc.Categories(
    ("ward", "fall"), levels={"ward": ("A", "B", "C"), "fall": ("no", "yes")}, outside={"ward": "A", "fall": "no"}
)
WARDS, RATES = np.array([0.7, 0.2, 0.1]), np.array([0.05, 0.1, 0.02])
Answer = Callable[[np.random.Generator, dc.SeededBits], Iterator[Asked]]


def minus(posterior: Any, first: Hashable, second: Hashable) -> Callable[[float], tuple[float, float]]:
    """Return the interval of a difference, at each level."""

    def ends(level: float) -> tuple[float, float]:
        low, high = posterior.difference(first, second, level).interval
        return low, high

    return ends


def records(size: int, generator: np.random.Generator) -> dict[str, Any]:
    """Draw two groups with a lognormal number each; half of the records weigh twice as much."""
    east = generator.random(size) < 1 / 6
    pay = np.clip(generator.lognormal(3, 0.6, size) * np.where(east, 1.5, 1.0), 0, 100)
    weights = 1.0 + (generator.random(size) < 0.5)
    return {"pay": pay.tolist(), "region": np.where(east, "East", "West").tolist(), "weight": weights.tolist()}


MANY = np.clip(np.random.default_rng(7).lognormal(3, 0.6, 2_000_000) * np.array([[1.0], [1.5]]), 0, 100)


def of_groups(model: Any, kind: Any, size: int, epsilon: Any, keys: tuple[Any, Any], what: Any) -> Answer:
    """Ask how much higher the mean or the median of the smaller group is, in the population and among the records."""
    mechanism = kind(model, size, epsilon)
    truth = float(what(MANY[1]) - what(MANY[0]))

    def asked(generator: np.random.Generator, bits: dc.SeededBits) -> Iterator[Asked]:
        drawn = records(size, generator)
        posterior = dc.infer(dc.simulate(mechanism, model.rehearse(drawn), bits))
        east, pay = np.array(drawn["region"]) == "East", np.array(drawn["pay"])
        yield "difference, population", truth, minus(posterior, *keys)
        if "weight" not in str(model):
            own = [(*(key if isinstance(key, tuple) else (key,)), "these records") for key in keys]
            yield "difference, records", float(what(pay[east]) - what(pay[~east])), minus(posterior, *own)

    return asked


def network(size: int, epsilon: str) -> Answer:
    """Ask how much more frequent a rare event is under one parent's level, and how two levels of a root differ."""
    mechanism = dc.FamilyHistograms(NETWORK, size, epsilon)

    def asked(generator: np.random.Generator, bits: dc.SeededBits) -> Iterator[Asked]:
        smoker, polluted = generator.random(size) < SMOKER, generator.random(size) < POLLUTED
        cancer = generator.random(size) < CANCER[smoker.astype(int), polluted.astype(int)]
        joint = np.zeros((2, 2, 2), dtype=np.int64)
        np.add.at(joint, (smoker.astype(int), polluted.astype(int), cancer.astype(int)), 1)
        posterior = dc.infer(dc.simulate(mechanism, joint.ravel(), bits))
        for word in ("no", "yes"):
            first, second = (f"cancer=yes | smoker={each}, polluted={word}" for each in ("yes", "no"))
            truth = float(np.subtract(*CANCER[::-1, int(word == "yes")]))
            yield "difference of entries of a network's table", truth, minus(posterior, first, second)
        yield "difference of a network's levels", 1 - 2 * SMOKER, minus(posterior, "smoker=no", "smoker=yes")

    return asked


def table(secret: bool, size: int, epsilon: str) -> Answer:
    """Ask a crossed table how levels and pooled rates differ, or one of a secret number of records how cells do."""
    shares = np.stack([WARDS * (1 - RATES), WARDS * RATES], axis=1)
    mechanism: Any = LaplaceTable(FALLS, epsilon) if secret else dc.GeometricHistogram(FALLS, size, epsilon)

    def asked(generator: np.random.Generator, bits: dc.SeededBits) -> Iterator[Asked]:
        counts = generator.multinomial(generator.poisson(size) if secret else size, shares.ravel())
        posterior = dc.infer(dc.simulate(mechanism, counts, bits))
        if secret:
            truth = float(shares[2, 1] - shares[1, 1])
            yield "difference of cells, secret number", truth, minus(posterior, ("C", "yes"), ("B", "yes"))
            return
        yield "difference of a margin's levels", float(WARDS[1] - WARDS[2]), minus(posterior.margin("ward"), "B", "C")
        pooled = posterior.pooled("fall=yes", "ward")
        yield "difference of pooled rates", float(RATES[1] - RATES[0]), minus(pooled, "B", "A")

    return asked


def regression(size: int, epsilon: str) -> Answer:
    """Ask how two slopes on skewed features differ."""
    bounds = {"x": (0, 10), "w": (0, 10), "y": (0, 60)}
    model = dc.LinearRegression("y", ["x", "w"], bounds, missing=dict.fromkeys(bounds, 0))
    mechanism = dc.ConeMoments(model, size, epsilon)

    def asked(generator: np.random.Generator, bits: dc.SeededBits) -> Iterator[Asked]:
        x, w = (np.clip(generator.exponential(2, size), 0, 10) for _ in range(2))
        y = np.clip(5 + 2 * x + w + generator.normal(0, 2, size), 0, 60)
        columns = {"x": x.tolist(), "w": w.tolist(), "y": y.tolist()}
        posterior = dc.infer(dc.simulate(mechanism, model.rehearse(columns), bits))
        yield "difference of slopes", 1.0, minus(posterior, "x", "w")

    return asked


def logistic(size: int, epsilon: str) -> Answer:
    """Ask a logistic model how the effects of two wards differ."""
    odds = np.log(RATES / (1 - RATES))
    shares = np.stack([WARDS * (1 - RATES), WARDS * RATES], axis=1).ravel()
    mechanism = dc.GeometricHistogram(FALLS, size, epsilon)

    def asked(generator: np.random.Generator, bits: dc.SeededBits) -> Iterator[Asked]:
        release = dc.simulate(mechanism, generator.multinomial(size, shares), bits)
        posterior = dc.infer(release, model=dc.Logistic("fall=yes ~ ward"))
        _, second, third = posterior.keys()[:3]
        yield "difference of coefficients", float(odds[2] - odds[1]), minus(posterior, third, second)

    return asked


SUMS = dc.NumberSums("pay", (0, 100), asks=("mean",), by=REGION, missing=0)
WEIGHTED = dc.WeightedSums("pay", (0, 100), asks=("mean",), by=REGION, weights=PUBLISHED, missing=0)
MEDIANS = dc.NumberTable("pay", (0, 100), 32, quantiles=("0.5",), by=REGION, missing=0)
CHOSEN = dc.NumberQuantiles("pay", (0, 100), ("0.5",), by=REGION, missing=0)
GROUPS = ("East", "West")
SETTINGS = (
    Setting("means, n = 600, epsilon 1", 941, of_groups(SUMS, dc.GeometricSums, 600, 1, GROUPS, np.mean), BATCHES),
    Setting("weighted means, n = 600, epsilon 1", 942,
            of_groups(WEIGHTED, dc.GeometricSums, 600, 1, GROUPS, np.mean), BATCHES),
    Setting("medians of a table, n = 600, epsilon 1", 943,
            of_groups(MEDIANS, dc.TreeTable, 600, 1, GROUPS, np.median), BATCHES),
    Setting("medians at chosen places, n = 600, epsilon 1", 944,
            of_groups(CHOSEN, ChosenTable, 600, 1, GROUPS, np.median), BATCHES),
    Setting("rare event with two parents, n = 5,000, epsilon 1", 945, network(5_000, "1"), BATCHES),
    Setting("three wards x fall, n = 1,000, epsilon 1", 946, table(False, 1_000, "1"), BATCHES),
    Setting("three wards x fall, about 500, epsilon 1", 947, table(True, 500, "1"), BATCHES),
    Setting("two exponential features, n = 2,000, epsilon 1", 948, regression(2_000, "1"), BATCHES),
    Setting("wards of a logistic model, n = 5,000, epsilon 1", 949, logistic(5_000, "1"), BATCHES),
)  # fmt: skip


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda each: each.name)
def test_differences_by_joint_draws_hold_skewed_truths(setting: Setting) -> None:
    batches = kept("skewed-differences", setting.name, setting.seed, setting.batches, setting.batch)
    for name, found in joined(batches).items():
        print(f"{name}: {found}")
        assert_held(name, found, (0.4, 0.86, 0.91))
