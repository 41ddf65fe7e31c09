"""How often every other kind of interval holds fixed, skewed truths: groups, pooled rates, networks, numbers, models.

As in `test_skewed_truths`, no prior made these truths; records are drawn anew for every release, the output comes from
the exact sampler, and what is looked at is what a user sees at 50, 90 and 95 %.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pytest
from kept_results import kept, repeats
from numpy.typing import NDArray
from test_skewed_truths import LEVELS, Found, assert_held, joined

import discreet as dc

Floats = NDArray[np.float64]
Asked = tuple[str, float, Callable[[float], tuple[float, float]]]
"""What is asked, its truth, and the ends of its interval at a level."""
BATCH = 10
BATCHES, SLOW_BATCHES = repeats(1, 6), repeats(1, 4)


@dataclass(frozen=True)
class Setting:
    """One release after another from fixed truths: `asked` draws the records and says what is asked about each."""

    name: str
    seed: int
    asked: Callable[[np.random.Generator, dc.SeededBits], Iterator[Asked]] = field(repr=False)
    batches: int = BATCHES

    def batch(self, number: int) -> dict[str, Found]:
        """Return what was held of every quantity, in a batch of releases."""
        generator, bits = np.random.default_rng([self.seed, number]), dc.SeededBits(self.seed * 1_000 + number)
        found: dict[str, Found] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(BATCH):
                for name, truth, interval in self.asked(generator, bits):
                    ends = [interval(level) for level in LEVELS]
                    held = [float(low <= truth <= high) for low, high in ends]
                    found.setdefault(f"{name}, {self.name}", []).append([*held, ends[1][1] - ends[1][0]])
        return found


def released(mechanism: Any, counts: Any, bits: dc.SeededBits) -> Any:
    """Return a simulated release of public counts."""
    return dc.simulate(mechanism, counts, bits)


def nth(found: Callable[[float], Any], index: Any) -> Callable[[float], tuple[float, float]]:
    """Return one of several intervals, at each level."""

    def ends(level: float) -> tuple[float, float]:
        low, high = found(level)[index]
        return low, high

    return ends


WARDS, RATES = np.array([0.5, 0.3, 0.12, 0.06, 0.02]), np.array([0.04, 0.06, 0.05, 0.02, 0.3])
GROUPS = dc.Categories(
    ("ward", "fall"), levels={"ward": tuple("ABCDE"), "fall": ("no", "yes")}, outside={"ward": "A", "fall": "no"}
)


def groups(size: int, epsilon: str) -> Callable[[np.random.Generator, dc.SeededBits], Iterator[Asked]]:
    """Ask about five wards of very different sizes, one of which has six times the rate of the others."""
    shares = np.stack([WARDS * (1 - RATES), WARDS * RATES], axis=1).ravel()
    mechanism = dc.GeometricHistogram(GROUPS, size=size, epsilon=epsilon)

    def asked(generator: np.random.Generator, bits: dc.SeededBits) -> Iterator[Asked]:
        counts = generator.multinomial(size, shares)
        posterior = dc.infer(released(mechanism, counts, bits))
        sizes = counts.reshape(5, 2).sum(axis=1)
        pooled = posterior.pooled("fall=yes", "ward")
        for index, ward in enumerate("ABCDE"):
            yield (
                "size of a group",
                float(sizes[index]),
                nth(partial(posterior.group_sizes, "ward"), index),
            )
            rate = pooled.rate(pooled.keys()[index])
            word = "pooled rate, outlying group" if ward == "E" else "pooled rate, other groups"
            yield word, float(RATES[index]), rate.interval
        for index, cell in enumerate(posterior.keys()):
            yield (
                "shortest interval of a cell",
                float(shares[index]),
                nth(posterior.highest_density, cell),
            )
        first, second = "ward=D, fall=yes", "ward=A, fall=yes"
        yield "ratio of shares", float(shares[7] / shares[1]), posterior.ratio(first, second).interval
        yield (
            "function of the shares",
            float((WARDS * RATES).sum()),
            posterior.quantity(lambda p: p[:, 1::2].sum(axis=1), 4_000).interval,
        )
        yield (
            "difference",
            float(shares[9] - shares[1]),
            lambda level: tuple(posterior.difference("ward=E, fall=yes", "ward=A, fall=yes", level).interval),
        )

    return asked


SMOKER, POLLUTED = 0.3, 0.1
CANCER = np.array([[0.001, 0.02], [0.03, 0.05]])  # by smoker, by pollution
NETWORK = dc.Network(
    [dc.Column(name, ("no", "yes"), outside="no") for name in ("smoker", "polluted", "cancer")],
    [(), (), ("smoker", "polluted")],
)


def network(size: int, epsilon: str) -> Callable[[np.random.Generator, dc.SeededBits], Iterator[Asked]]:
    """Ask a network about a rare event with two parents."""
    mechanism = dc.FamilyHistograms(NETWORK, size, epsilon)
    marginal = float(np.array([1 - SMOKER, SMOKER]) @ CANCER @ np.array([1 - POLLUTED, POLLUTED]))

    def asked(generator: np.random.Generator, bits: dc.SeededBits) -> Iterator[Asked]:
        smoker, polluted = generator.random(size) < SMOKER, generator.random(size) < POLLUTED
        cancer = generator.random(size) < CANCER[smoker.astype(int), polluted.astype(int)]
        joint = np.zeros((2, 2, 2), dtype=np.int64)
        np.add.at(joint, (smoker.astype(int), polluted.astype(int), cancer.astype(int)), 1)
        posterior = dc.infer(released(mechanism, joint.ravel(), bits))
        given = float(CANCER[1] @ np.array([1 - POLLUTED, POLLUTED]))
        yield "probability by a network", marginal, posterior.probability("cancer=yes").interval
        yield "conditional by a network", given, posterior.conditional("cancer=yes", "smoker=yes").interval
        for index, name in enumerate(("no", "yes")):
            yield (
                "size of a group by a network",
                float((smoker == bool(index)).sum()),
                nth(partial(posterior.group_sizes, "smoker"), index),
            )
            for other, word in enumerate(("no", "yes")):
                row = posterior.conditional("cancer=yes", f"smoker={name}, polluted={word}")
                yield "entry of a network's table", float(CANCER[index, other]), row.interval

    return asked


def numbers(size: int, epsilon: str) -> Callable[[np.random.Generator, dc.SeededBits], Iterator[Asked]]:
    """Ask a table of a number about a lognormal column: shares of cells, shares below edges, the mean."""
    model = dc.NumberTable("x", (0, 200), 16, asks=("mean", "distribution"), missing=0)
    mechanism = dc.TreeTable(model, size, epsilon)
    many = np.clip(np.random.default_rng(7).lognormal(3, 0.8, 2_000_000), 0, 200)
    edges = np.linspace(0, 200, 17)
    shares = np.histogram(many, edges)[0] / len(many)

    def asked(generator: np.random.Generator, bits: dc.SeededBits) -> Iterator[Asked]:
        values = np.clip(generator.lognormal(3, 0.8, size), 0, 200)
        counts = np.histogram(values, edges)[0]
        posterior = dc.infer(released(mechanism, counts, bits))
        rows = {level: posterior.histogram(level=level) for level in LEVELS}
        below = {level: posterior.cdf(level=level) for level in LEVELS}
        means = {level: [row for row in posterior.rows(level) if "mean" in row.quantity] for level in LEVELS}

        def ends(found: dict[float, Any], index: int) -> Callable[[float], tuple[float, float]]:
            return lambda level: (found[level][index].low - 1e-9, found[level][index].high + 1e-9)

        for cell in (0, 1, 4, 15):
            yield "share of a cell of a number, records", counts[cell] / size, ends(rows, 2 * cell)
            yield "share of a cell of a number, population", float(shares[cell]), ends(rows, 2 * cell + 1)
            if cell < 15:
                yield "share below an edge, records", counts[: cell + 1].sum() / size, ends(below, 2 * cell)
                yield "share below an edge, population", float(shares[: cell + 1].sum()), ends(below, 2 * cell + 1)
        for index, (of, truth) in enumerate((("records", values.mean()), ("population", many.mean()))):
            yield f"mean by a table, {of}", float(truth), ends(means, index)

    return asked


def regression(size: int, epsilon: str) -> Callable[[np.random.Generator, dc.SeededBits], Iterator[Asked]]:
    """Ask a regression on a skewed feature what a new record's target will be."""
    model = dc.LinearRegression("y", ["x"], {"x": (0, 10), "y": (0, 40)}, missing={"x": 0, "y": 0})
    mechanism = dc.ConeMoments(model, size, epsilon)

    def asked(generator: np.random.Generator, bits: dc.SeededBits) -> Iterator[Asked]:
        x = np.clip(generator.exponential(2, size + 1), 0, 10)
        y = np.clip(5 + 2 * x + generator.normal(0, 2, size + 1), 0, 40)
        columns = {"x": x[:-1].tolist(), "y": y[:-1].tolist()}
        posterior = dc.infer(released(mechanism, model.rehearse(columns), bits))

        def ends(level: float) -> tuple[float, float]:
            (found,) = posterior.predict({"x": [float(x[-1])]}, level)
            return found.low, found.high

        yield "a new record's target", float(y[-1]), ends

    return asked


def logistic(size: int, epsilon: str) -> Callable[[np.random.Generator, dc.SeededBits], Iterator[Asked]]:
    """Ask a logistic model about a rare event in wards of different sizes."""
    truth = np.array([-3.0, 0.7, 1.5])
    table = dc.Categories(
        ("fall", "ward"), levels={"fall": ("no", "yes"), "ward": tuple("ABC")}, outside={"fall": "no", "ward": "A"}
    )
    shares = np.array([0.6, 0.3, 0.1])
    rates = 1 / (1 + np.exp(-(truth[0] + np.array([0.0, truth[1], truth[2]]))))
    cells = np.concatenate([shares * (1 - rates), shares * rates])
    mechanism = dc.GeometricHistogram(table, size=size, epsilon=epsilon)

    def asked(generator: np.random.Generator, bits: dc.SeededBits) -> Iterator[Asked]:
        release = released(mechanism, generator.multinomial(size, cells), bits)
        posterior = dc.infer(release, model=dc.Logistic("fall=yes ~ ward"))
        rows = {level: posterior.rows(level) for level in LEVELS}
        for index, value in enumerate(truth):
            yield (
                "coefficient of a logistic model",
                float(value),
                nth(lambda level: [(row.low, row.high) for row in rows[level]], index),
            )

    return asked


SETTINGS = (
    Setting("five wards, n = 2,000, epsilon 1", 781, groups(2_000, "1")),
    Setting("five wards, n = 500, epsilon 0.5", 782, groups(500, "0.5")),
    Setting("rare event with two parents, n = 1,000, epsilon 1", 783, network(1_000, "1")),
    Setting("rare event with two parents, n = 5,000, epsilon 0.5", 784, network(5_000, "0.5")),
    Setting("lognormal in 16 cells, n = 500, epsilon 1", 785, numbers(500, "1")),
    Setting("exponential feature, n = 2,000, epsilon 1", 786, regression(2_000, "1")),
    Setting("three wards, n = 2,000, epsilon 1", 787, logistic(2_000, "1"), SLOW_BATCHES),
)
LEAST = {  # those that do not hold, as docs/calibration.md says first of all
    "pooled rate, outlying group": (0.0, 0.3, 0.4),
    "ratio of shares": (0.4, 0.7, 0.8),
}


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda each: each.name)
def test_other_intervals_hold_skewed_truths(setting: Setting) -> None:
    batches = kept("skewed-others", setting.name, setting.seed, setting.batches, setting.batch)
    for name, found in joined(batches).items():
        quantity = name.split(f", {setting.name}")[0]
        assert_held(name, found, LEAST.get(quantity, (0.4, 0.86, 0.91)))
