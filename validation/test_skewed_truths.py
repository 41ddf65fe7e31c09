"""How often intervals hold fixed, skewed truths: numbers at a bound or in few records, and rates near 0 and 1.

No prior made these truths, and they lie where intervals fail: variances of 0 or far below what the bounds allow, yes/no
columns whose variance is the largest that their mean allows, rates of 0 in small groups. Records are drawn anew for
every release, the output comes from the exact sampler, and what is looked at is what a user sees: the rows of a
posterior, or the interval of what a question returns, at 50, 90 and 95 %. `make validate` makes few releases of each
setting, `make validate-full` many; docs/calibration.md shows them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pytest
from kept_results import IS_FULL, kept, repeats
from numpy.typing import NDArray

import discreet as dc

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
LEVELS = (0.5, 0.9, 0.95)
BATCH = 20
NUMBER_BATCHES, RATE_BATCHES = repeats(2, 15), repeats(1, 10)  # rates take longer
ASKED = ("mean", "sum", "variance")
ROUNDED = 1e-4  # of the range: values are rounded to whole steps between the bounds
MANY = 2_000_000
DRAWS = 5_000  # of differences and ratios, a quarter of what users get by default
Found = list[list[float]]
"""For each release, whether the truth was held at each level, and the width of the 90 % interval."""


def summed_up(found: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Return how often the truth was held at each level, and the mean width of the 90 % interval."""
    rows = np.array(found)
    return {
        "releases": len(rows),
        "covers": rows[:, :3].mean(axis=0).round(4).tolist(),
        "width": float(rows[:, 3].mean()),
    }


# Numbers: values and the group of each record, -1 for those without a value.
Drawn = tuple[Floats, Codes]


def all_have(draw: Callable[[int, np.random.Generator], Floats]) -> Callable[[int, np.random.Generator], Drawn]:
    return lambda n, g: (draw(n, g), np.zeros(n, dtype=np.int64))


def gaps(
    share: float, draw: Callable[[int, np.random.Generator], Floats]
) -> Callable[[int, np.random.Generator], Drawn]:
    return lambda n, g: (draw(n, g), np.where(g.random(n) < share, -1, 0))


def wards(n: int, g: np.random.Generator) -> Drawn:
    groups = g.choice(4, size=n, p=[0.7, 0.2, 0.08, 0.02])
    return g.gamma(np.array([2.0, 3.0, 4.0, 5.0])[groups], 10), np.where(g.random(n) < 0.3, -1, groups)


def yes(share: float) -> Callable[[int, np.random.Generator], Drawn]:
    return all_have(lambda n, g: (g.random(n) < share).astype(float))


@dataclass(frozen=True)
class Numbers:
    """A law of values, its bounds and groups, and a seed of its own; of several releases, each has this epsilon."""

    name: str
    draw: Callable[[int, np.random.Generator], Drawn] = field(repr=False)
    bounds: tuple[int, int]
    size: int
    epsilon: str
    seed: int
    groups: tuple[str, ...] = ()
    has_gaps: bool = False
    releases: int = 1

    @property
    def setting(self) -> str:
        many = f"{self.releases} releases, " if self.releases > 1 else ""
        return f"{self.name}, n = {self.size:,}, {many}epsilon {self.epsilon}"

    @property
    def names(self) -> list[str]:
        """Return the name of each line: with the group, if there are some."""
        return [f"{self.setting}{f', {group}' if group else ''}" for group in self.groups or ("",)]

    @property
    def mechanism(self) -> dc.GeometricSums:
        by = dc.Column("ward", self.groups, outside=self.groups[0]) if self.groups else None
        model = dc.NumberSums("x", self.bounds, ASKED, by, missing=None if self.has_gaps else self.bounds[0])
        return dc.GeometricSums(model, self.size, self.epsilon)


LOGNORMAL = all_have(lambda n, g: g.lognormal(3, 0.8, n))
SPIKES = all_have(lambda n, g: np.where(g.random(n) < 0.01, 100.0, 1.0))
HEAVY = all_have(lambda n, g: 50 + 5 * g.standard_t(2.2, n))
WAITS = gaps(0.2, lambda n, g: g.exponential(2, n))
NUMBERS = (
    Numbers("a constant inside the bounds", all_have(lambda n, g: np.full(n, 17.3)), (0, 100), 100, "1", 701),
    Numbers("a constant at a bound", all_have(lambda n, g: np.zeros(n)), (0, 1), 50, "0.5", 702),
    Numbers("lognormal, bounds ten times too wide", LOGNORMAL, (0, 2000), 500, "1", 703),
    Numbers("lognormal", LOGNORMAL, (0, 200), 30, "1", 704),
    Numbers("lognormal", LOGNORMAL, (0, 200), 20_000, "1", 705),
    Numbers("yes or no, 30 %", yes(0.3), (0, 1), 400, "1", 706),
    Numbers("yes or no, 50 %", yes(0.5), (0, 1), 2_000, "3", 707),
    Numbers("yes or no, 4 %", yes(0.04), (0, 1), 150, "2", 708),
    Numbers("1 % at the upper bound", SPIKES, (0, 100), 200, "4", 709),
    Numbers("t with 2.2 degrees of freedom", HEAVY, (0, 100), 2_000, "1", 710),
    Numbers("waits, a fifth missing", WAITS, (0, 24), 300, "0.5", 711, has_gaps=True),
    Numbers("gamma by ward, 30 % missing", wards, (0, 300), 1_000, "0.7", 712, ("A", "B", "C", "D"), has_gaps=True),
    Numbers("lognormal", LOGNORMAL, (0, 200), 300, "0.5", 713, releases=2),
)


@cache
def population(setting: Numbers) -> list[tuple[float, float, float]]:
    """Return mean, variance and share of the records of each group, in the law itself."""
    values, groups = setting.draw(MANY, np.random.default_rng([setting.seed, 1]))
    own = [np.clip(values[groups == place], *setting.bounds) for place in range(len(setting.groups) or 1)]
    return [(float(each.mean()), float(each.var()), len(each) / MANY) for each in own]


def drawn_release(setting: Numbers, values: Floats, groups: Codes, bits: dc.SeededBits) -> Any:
    """Return the posterior of one release of these records, or of several."""
    mechanism = setting.mechanism
    columns: dict[str, list[Any]] = {
        "x": [value if own >= 0 else None for value, own in zip(values, groups, strict=True)]
    }
    if setting.groups:
        columns["ward"] = [setting.groups[max(own, 0)] for own in groups]
    outputs = mechanism.sample(np.tile(mechanism.model.rehearse(columns), (setting.releases, 1)), bits)
    numbered = enumerate(tuple(map(int, output)) for output in outputs)
    return dc.infer(*(dc.Release(mechanism, output, f"sums {n}", simulated=True) for n, output in numbered))


def number_truths(setting: Numbers, values: Floats, groups: Codes) -> Iterator[tuple[str, float, float]]:
    """Yield every row's name and truth, nan where there is none, and how far rounding of values may move it."""
    width = setting.bounds[1] - setting.bounds[0]
    for place, (mean, variance, share) in enumerate(population(setting)):
        own, name = values[groups == place], setting.names[place]
        among = (own.mean(), own.sum(), own.var()) if len(own) else (np.nan, 0.0, np.nan)
        behind, rounded = (mean, mean * share * setting.size, variance), (1, setting.size, width / 10)
        for ask, *truths, scale in zip(ASKED, among, behind, rounded, strict=True):
            for of, truth in zip(("records", "population"), truths, strict=True):
                yield f"{ask}, {of}, {name}", float(truth), ROUNDED * width * scale


def number_batch(setting: Numbers, number: int) -> dict[str, Found]:
    """Return what was held of every quantity, in a batch of releases."""
    generator, bits = np.random.default_rng([setting.seed, 2, number]), dc.SeededBits(setting.seed * 1_000 + number)
    found: dict[str, Found] = {}
    for _ in range(BATCH):
        values, groups = setting.draw(setting.size, generator)
        values = np.clip(values, *setting.bounds)
        rows = zip(*map(drawn_release(setting, values, groups, bits).rows, LEVELS), strict=True)
        for own, (name, truth, slack) in zip(rows, number_truths(setting, values, groups), strict=True):
            if not np.isnan(truth):
                held = [float(row.low - slack <= truth <= row.high + slack) for row in own]
                found.setdefault(name, []).append([*held, own[1].high - own[1].low])
    return found


# Rates: a crossed table of two groups, the second of which has so many records and the rate that is asked about.
@dataclass(frozen=True)
class Rates:
    """The rates of an event in two groups, the size of the second, and a seed of its own."""

    rates: tuple[float, float]
    group: int
    size: int
    epsilon: str
    seed: int

    @property
    def setting(self) -> str:
        return f"rate {self.rates[1]:g} in a group of {self.group}, n = {self.size:,}, epsilon {self.epsilon}"


RATES = (
    Rates((0.05, 0.002), 100, 1_000, "1", 751),
    Rates((0.05, 0.01), 60, 300, "0.5", 752),
    Rates((0.05, 0.0), 60, 300, "0.5", 753),
    Rates((0.1, 0.0), 80, 400, "1", 754),
    Rates((0.5, 1.0), 80, 400, "1", 755),
    Rates((0.5, 0.02), 30, 300, "3", 756),
    Rates((0.3, 0.97), 100, 1_000, "1", 757),
    Rates((0.05, 0.05), 40, 400, "1", 758),
    Rates((0.2, 0.1), 5, 500, "1", 759),
    Rates((0.02, 0.3), 150, 5_000, "1", 760),
)
WARDS = dc.Categories(
    ("ward", "fall"), levels={"ward": ("A", "B"), "fall": ("no", "yes")}, outside={"ward": "A", "fall": "no"}
)


def rate_batch(setting: Rates, number: int) -> dict[str, Found]:
    """Return what was held of every quantity about the rate in the second group, in a batch of releases."""
    generator, found = np.random.default_rng([setting.seed, number]), dict[str, Found]()
    mechanism = dc.GeometricHistogram(WARDS, size=setting.size, epsilon=setting.epsilon)
    sizes, (one, two) = (setting.size - setting.group, setting.group), setting.rates
    hits = generator.binomial(sizes, setting.rates, (BATCH, 2))
    counts = np.stack([sizes - hits, hits], axis=2).reshape(BATCH, 4)
    share = setting.group / setting.size
    truths = {
        "conditional": two,
        "share of the cell": two * share,
        "difference of rates": two - one,
        "difference of shares": two * share - one * (1 - share),
        "ratio of rates": two / one,
        "odds ratio": (two / (1 - two) if two < 1 else np.inf) / (one / (1 - one)),
    }
    outputs = mechanism.sample(counts, dc.SeededBits(setting.seed * 1_000 + number))
    for output, count in zip(outputs, counts[:, 3].tolist(), strict=True):
        posterior = dc.infer(dc.Release(mechanism, tuple(map(int, output)), "wards", simulated=True))
        laws: dict[str, Any] = {
            "conditional": posterior.conditional("fall=yes", "ward=B"),
            "share of the cell": posterior.probability("ward=B, fall=yes"),
            "count of the cell": posterior.true_count("ward=B, fall=yes"),
            "difference of rates": posterior.risk_difference("fall=yes", "ward=B", "ward=A", DRAWS),
            "difference of shares": posterior.difference_distribution("ward=B, fall=yes", "ward=A, fall=yes", DRAWS),
            "ratio of rates": posterior.risk_ratio("fall=yes", "ward=B", "ward=A", DRAWS),
            "odds ratio": posterior.odds_ratio("fall=yes", "ward=B", "ward=A", DRAWS),
        }
        truths["count of the cell"] = count
        for name, law in laws.items():
            ends = [law.interval(level) for level in LEVELS]
            held = [float(low <= truths[name] <= high) for low, high in ends]
            found.setdefault(f"{name}, {setting.setting}", []).append([*held, ends[1].high - ends[1].low])
    return found


# Further records: a yes/no column of few records, and how many of the next ones are a yes.
FURTHER = 100


@dataclass(frozen=True)
class Next:
    """The share of yes, how many records are known, and a seed of its own."""

    rate: float
    size: int
    epsilon: str
    seed: int

    @property
    def setting(self) -> str:
        return f"rate {self.rate:g} in {self.size} records, epsilon {self.epsilon}"


NEXT = (
    Next(0.0, 60, "0.5", 761),
    Next(0.0, 80, "1", 762),
    Next(0.002, 100, "1", 763),
    Next(0.01, 60, "0.5", 764),
    Next(0.01, 100, "3", 765),
    Next(0.97, 80, "1", 766),
)
FALLS = dc.Categories("fall", levels=("no", "yes"), outside="no")


def next_batch(setting: Next, number: int) -> dict[str, Found]:
    """Return whether intervals hold how many of further records are a yes, in a batch of releases."""
    generator, found = np.random.default_rng([setting.seed, number]), list[list[float]]()
    mechanism = dc.GeometricHistogram(FALLS, size=setting.size, epsilon=setting.epsilon)
    hits, later = (generator.binomial(size, setting.rate, BATCH) for size in (setting.size, FURTHER))
    counts = np.stack([setting.size - hits, hits], axis=1)
    outputs = mechanism.sample(counts, dc.SeededBits(setting.seed * 1_000 + number))
    for output, truth in zip(outputs, later.tolist(), strict=True):
        posterior = dc.infer(dc.Release(mechanism, tuple(map(int, output)), "falls", simulated=True))
        law = posterior.predictive("fall=yes", FURTHER)
        ends = [law.interval(level) for level in LEVELS]
        held = [float(low <= truth <= high) for low, high in ends]
        found.append([*held, ends[1].high - ends[1].low])
    return {f"yes among {FURTHER} further records, {setting.setting}": found}


def joined(batches: Sequence[dict[str, Found]]) -> dict[str, dict[str, Any]]:
    """Return what all batches of a setting say of each quantity."""
    names = dict.fromkeys(name for batch in batches for name in batch)
    return {name: summed_up([row for batch in batches for row in batch.get(name, ())]) for name in names}


def assert_held(name: str, found: dict[str, Any], least: Sequence[float]) -> None:
    """Assert that truths are held at least so often, but for what chance explains, and print it."""
    shares, releases = np.array(found["covers"]), found["releases"]
    chance = (2 if IS_FULL else 3) * np.sqrt(np.array(least) * (1 - np.array(least)) / releases)
    print(f"{name}: {releases} releases, {shares} at {LEVELS}, width at 90 % {found['width']:.4g}")
    assert (shares + chance >= least).all(), name


@pytest.mark.parametrize("setting", NUMBERS, ids=lambda each: each.setting)
def test_variances_of_skewed_numbers_are_held(setting: Numbers) -> None:
    found = joined(
        kept("skewed-numbers", setting.setting, setting.seed, NUMBER_BATCHES, lambda n: number_batch(setting, n))
    )
    for name, own in found.items():
        if name.startswith("variance"):
            assert_held(name, own, (0.45, 0.88, 0.93))
        else:
            print(f"{name}: {own}")


@pytest.mark.parametrize("setting", RATES, ids=lambda each: each.setting)
def test_rates_near_zero_and_one_are_held(setting: Rates) -> None:
    found = joined(kept("skewed-rates", setting.setting, setting.seed, RATE_BATCHES, lambda n: rate_batch(setting, n)))
    for name, own in found.items():
        if name.startswith(("conditional", "difference of rates")):
            assert_held(name, own, (0.4, 0.87, 0.92))
        else:
            print(f"{name}: {own}")


@pytest.mark.parametrize("setting", NEXT, ids=lambda each: each.setting)
def test_counts_among_further_records_are_held(setting: Next) -> None:
    found = joined(kept("skewed-rates", setting.setting, setting.seed, RATE_BATCHES, lambda n: next_batch(setting, n)))
    for name, own in found.items():
        assert_held(name, own, (0.45, 0.88, 0.93))
