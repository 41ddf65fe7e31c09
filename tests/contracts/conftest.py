"""The contract of every mechanism: one table of small settings, driven by the registry, and the checks they must pass.

Everything is listed: all data sets, all neighbours, all outputs. What is true is found from `log_prob` alone, by
the slow and obvious way, and what is stated must never be below it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property
from itertools import combinations_with_replacement, pairwise, product
from math import inf
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

import discreet as dc
from cone_twin import twin_of
from discreet.inference import Problem
from discreet.mechanism import Mechanism, Sized
from discreet.noise import has_density
from discreet.privacy import rho_delta
from discreet.release import mechanism_document, read_mechanism

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
OUTPUTS, MISSING = 40_000, 1e-5  # this many outputs are listed at most, and what they leave out is less than this
MORE_OUTPUTS = 100_000  # of moments, which are whole numbers on a grid
MOST_RECORDS = 2  # where their number is secret
LEVEL = 1e-5  # of the test that samples follow the likelihood; each setting has one literal seed


def table_of(*prior: float) -> dc.Categories:
    return dc.Categories("x", levels=tuple("abcd"[: len(prior)]), prior=prior, outside="a")


def network_of(*edges: str, **levels: int) -> dc.Network:
    return dc.Network.from_edges(
        *edges,
        levels={name: tuple(range(count)) for name, count in levels.items()},
        outside={
            name: each[0] for name, each in ({name: tuple(range(count)) for name, count in levels.items()}).items()
        },
    )


COIN, SKEWED, THREE, FOUR = table_of(1, 1), table_of(0.1, 7), table_of(1, 1, 1), table_of(7, 4, 5, 4)
ONE, ROOTS, ARROW = network_of("a", a=2), network_of("a", "b", a=2, b=2), network_of("a -> b", a=2, b=2)
MIXED = network_of("a", "b", a=2, b=3)
LINE = dc.LinearRegression(
    "y", ["x"], {"x": (0, 1), "y": (0, 1)}, noise="0.5", intercept=False, grid=8, norm_bound=1, missing="middle"
)
COARSE = next(LINE.parts())  # on the coarsest grid, which has room for all outputs but is for no real records
GAPS = dc.LinearRegression("y", (), {"y": (0, 1)}, noise="0.5", grid=8).changed(grid=1)  # records may be left out
BULK = dc.WeightedRegression("y", (), {"y": (0, 1)}, grid=8).changed(grid=3)  # two coordinates, so three numbers
GROUPS = dc.Column("g", ("a", "b"), outside="a")
SUMS, GAPPED = dc.NumberSums("x", (0, 1), missing=0, unit=2), dc.NumberSums("x", (0, 1), unit=2)
FOUR_CELLS, TWO_CELLS = dc.NumberTable("x", (0, 4), 4, missing=0), dc.NumberTable("x", (0, 2), 2)
UNEVEN = dc.NumberTable("x", (0, 4), edges=(0, 1, 3, 4), missing=0)
GROUPED = dc.NumberTable("x", (0, 2), 2, missing=0, by=GROUPS)
A_MEDIAN, A_GROUPED_MEDIAN = (
    dc.NumberQuantiles("x", (0, 3), ("0.5",), missing=0, is_whole=True, by=by) for by in (None, GROUPS)
)
A_GAPPED_MEDIAN = dc.NumberQuantiles("x", (0, 3), ("1/3",), is_whole=True)
TWO_QUANTILES = dc.NumberQuantiles("x", (0, 5), ("0.25", "0.75"), missing=0, is_whole=True)
PAIR = dc.Synthesis(("a", "b"), levels={"a": (0, 1), "b": (0, 1)}, outside=0)
EVENTS, MEAN = (
    dc.PoissonRate("events", most=3, outside=3),
    dc.NormalMean("x", low=-1, high=1, variance=1, bands=3, outside="usual"),
)


@dataclass(frozen=True)
class Setting:
    """A mechanism small enough to list, the seed of its samples, and how many are drawn."""

    make: Callable[[type[Any]], Any]
    seed: int
    samples: int = 3000


def of(model: Any, size: int, epsilon: Any, seed: int, samples: int = 3000, **more: Any) -> Setting:
    return Setting(lambda kind: kind(model, size, epsilon, **more), seed, samples)


def of_secret_number(model: Any, epsilon: Any, seed: int, samples: int = 3000, **more: Any) -> Setting:
    return Setting(lambda kind: kind(model, epsilon, **more), seed, samples)


def by(name: str, model: Any, seed: int, samples: int = 500, **more: Any) -> Setting:
    return Setting(lambda kind: getattr(kind, name)(model, **more), seed, samples)


HELLINGER = [of(COIN, 1, "0.3", 11), of(SKEWED, 9, "2.5", 12), of(THREE, 4, 1, 13), of(FOUR, 3, 1, 14)]
WITH_DELTA = [of(COIN, 6, 1, 15, delta="1e-3"), of(SKEWED, 9, "2.5", 16, delta="1e-3"), of(THREE, 4, 1, 17, delta=".1")]
NOISE = [of(COIN, 1, "0.3", 1), of(COIN, 6, 2, 2), of(THREE, 3, 4, 3)]
GAUSSIAN = [of(COIN, 1, "0.5", 4, delta="0.01"), of(COIN, 6, 2, 5, delta="0.1"), of(THREE, 2, 3, 6, delta="0.05")]
LAPLACE = [
    of(COIN, 6, 1, 21, sensitivity=2, noisy_cells=1),
    of(COIN, 3, 2, 22, sensitivity=2, noisy_cells=2),
    of(THREE, 3, 3, 23, sensitivity=2, noisy_cells=2),
]
PARITY = [of(ONE, 3, 1, 31), of(ROOTS, 2, 4, 32), of(ARROW, 1, 9, 33)]

TABLE: dict[str, list[Setting]] = {
    "GeometricHistogram": NOISE,
    "DiscreteLaplaceCounts": NOISE,
    "DiscreteGaussianHistogram": GAUSSIAN,
    "DiscreteGaussianCounts": [*GAUSSIAN[:2], of(THREE, 1, 5, 6, delta="0.1")],
    "CubeCounts": [of(ROOTS, 2, 1, 34), of(ARROW, 1, 8, 35, class_share="1/2")],
    "JointHistograms": [of(ROOTS, 2, 1, 36), of(MIXED, 1, 3, 37), of(ARROW, 1, 3, 38)],
    "FamilyHistograms": [of(ROOTS, 2, 2, 39), of(MIXED, 1, 5, 40, shares=(1, 2)), of(ARROW, 2, 3, 41)],
    "FamilyGaussians": [of(ONE, 3, 1, 42, delta="0.01"), of(ROOTS, 1, 4, 43, delta="0.1")],
    "LaplaceUpdates": [of(ONE, 3, 1, 44), of(ROOTS, 1, 20, 45)],
    "FourierUpdates": [of(ONE, 3, 1, 46), of(ROOTS, 1, 12, 47)],
    "FourierCounts": [*PARITY, of(ARROW, 1, 9, 48, shares=(1, 1, 2))],
    "ContrastGaussians": [of(ONE, 2, 1, 49, delta="0.01"), of(ARROW, 1, 4, 50, delta="0.1")],
    "HellingerGlobal": HELLINGER,
    "HellingerSmooth": WITH_DELTA,
    "HellingerSmoothProved": WITH_DELTA,
    "HellingerReciprocal": HELLINGER,
    "PublishedHellingerGlobal": HELLINGER,
    "PublishedHellingerSmooth": WITH_DELTA,
    "HellingerLocal": HELLINGER,
    "HellingerCalibrated": [*WITH_DELTA, of(COIN, 10, 1, 18, delta=0)],
    "HellingerTable": HELLINGER,
    "PermuteAndFlip": HELLINGER,
    "RoundedLaplace": LAPLACE,
    "FlooredLaplace": LAPLACE,
    "TruncatedLaplace": LAPLACE,
    "ClampedLaplace": LAPLACE,
    "PosteriorSampling": [
        of(COIN, 3, 1, 51, 800, power="0.3", least="0.2", grid_bits=4),
        by("truncated", THREE, 52, 400, size=2, epsilon=3, grid_bits=4),
        by("tempered", COIN, 53, 600, size=5, epsilon=1, delta="0.01", grid_bits=5),
        by("tempered", EVENTS, 54, 400, size=2, epsilon=1, delta="0.05", grid_bits=2),
        by("tempered", MEAN, 55, 400, size=2, epsilon=1, delta="0.05", grid_bits=3),
        of(COIN, 2, 6, 56, 400, least="0.2", draws=2, power="0.9", grid_bits=3),
    ],
    "NetworkSampling": [
        of(ONE, 3, 1, 68, 400, power="0.3", least="0.2", grid_bits=4),
        of(ARROW, 2, 3, 57, 400, power="0.54", least="0.2", grid_bits=4),
        of(ARROW, 2, 1, 58, 400, delta="0.9", grid_bits=4),
        of(MIXED, 1, "6.56", 59, 400, least="0.15", grid_bits=3),
    ],
    "NetworkMaximum": [of(ONE, 1, 2, 60, resolution=3), of(ARROW, 2, 1, 61, resolution=4)],
    "MaximumPosterior": [of(COIN, 1, 2, 62, resolution=3), of(THREE, 4, 1, 63, resolution=6)],
    "TotalVariationChoice": [of(COIN, 1, "0.3", 80), of(SKEWED, 9, "2.5", 81), of(COIN, 6, 1, 82)],
    "BallMoments": [of(BULK, 2, 8, 95, rounds=0), of(BULK.changed(grid=2), 2, 6, 96, rounds=0)],
    "GaussianBallMoments": [of(BULK, 2, 200, 98, delta="0.01", rounds=0), of(BULK, 2, 90, 99, delta="0.1", rounds=0)],
    "BoxMoments": [of(COARSE, 2, 1, 64), of(LINE, 2, 128, 69), of(GAPS, 2, 1, 108)],
    "ConeMoments": [of(COARSE, 2, 2, 72), of(COARSE, 3, "1.6", 73), of(GAPS, 2, 2, 107)],
    "LaplaceTable": [
        of_secret_number(COIN, 1, 92),
        of_secret_number(THREE, 2, 93),
        of_secret_number(COIN, 3, 94, total="1/3"),
    ],
    "CubeSums": [of_secret_number(SUMS, 4, 98), of_secret_number(GAPPED, 16, 99)],
    "CubeTables": [of_secret_number(ROOTS, 2, 104), of_secret_number(ARROW, 8, 105)],
    "LaplaceSums": [of_secret_number(SUMS, 16, 100, squares="1/2")],
    "BlockTable": [
        of_secret_number(TWO_CELLS, 2, 102, blocks=2),
        of_secret_number(FOUR_CELLS, 8, 101, blocks=2),
        of_secret_number(GROUPED, 8, 103, blocks=1),
    ],
    "GaussianTable": [
        of_secret_number(COIN, 1, 95, delta="0.01"),
        of_secret_number(THREE, 3, 96, delta="0.1"),
        of_secret_number(COIN, 3, 97, delta="0.1", total="1/3"),
    ],
    "LaplaceMoments": [of(COARSE, 2, 1, 65), of(LINE, 2, 256, 70), of(GAPS, 2, 1, 109)],
    "GaussianMoments": [
        of(COARSE, 2, 1, 66, delta="0.01"),
        of(LINE, 2, 2000, 71, delta="0.01"),
        of(GAPS, 2, 1, 110, delta="0.01"),
    ],
    "GeometricSums": [of(SUMS, 3, 2, 72, squares="1/2"), of(GAPPED, 2, 16, 73, squares="1/2")],
    "TreeTable": [
        of(FOUR_CELLS, 2, 3, 74, blocks=2),
        of(FOUR_CELLS, 2, 4, 75, blocks=3, share="0.3"),
        of(TWO_CELLS, 3, 2, 76, blocks=2),
        of(GROUPED, 1, 8, 77, blocks=1),
    ],
    "ChosenCounts": [of(A_MEDIAN, 2, 28, 80, 800), of(A_GAPPED_MEDIAN, 1, 28, 81, 800)],
    "ChosenTable": [
        of(A_MEDIAN, 2, 12, 82, 1000),
        of(TWO_QUANTILES, 2, 16, 83, 800),
        of(A_GAPPED_MEDIAN, 2, 12, 90, 800),
        of(A_GROUPED_MEDIAN, 1, 20, 91, 800),
    ],
    "PathTable": [of(FOUR_CELLS, 2, 6, 78), of(UNEVEN, 2, 9, 79)],
    "GroupPaths": [of(GROUPED, 1, 24, 88, between=1), of(GROUPED, 1, 24, 89, between=2)],
    "TreeLevels": [
        of(THREE, 2, 4, 84, parents=(2, 2), lengths=(1, "1/2")),
        of(COIN, 3, 1, 85, parents=(1,), lengths=(2,)),
    ],
    "RateTruncation": [
        of(EVENTS, 2, 3, 88, 400, lowest="0.5", highest=2, grid_bits=3),
        by("tempered", MEAN, 89, 400, size=2, epsilon=1, lowest=-1, highest=1, grid_bits=3),
        of(EVENTS, 1, 9, 90, 400, lowest="0.5", highest=2, draws=2, grid_bits=2),
    ],
    "MetricSums": [of(SUMS, 3, 2, 86, squares="1/2"), of(SUMS, 2, 3, 87, squares="1/2")],
    "BallDraw": [of(LINE, 3, 1, 67, 600, steps=16)],
    "PairGaussians": [of(PAIR, 1, 90, 98, 800, delta="0.1", rounds=1, one_way="0.3", scores="0.3")],
    "GaussianPairTables": [of_secret_number(PAIR, 45, 99, 800, delta="0.1", rounds=1, one_way="0.3", scores="0.3")],
}


def unlisted(registry: Mapping[str, type[Any]]) -> set[str]:
    """Return the kinds that a document may name and that have no entry in the table."""
    return {name for name in registry if not TABLE.get(name)}


def statistics_of(model: Any, records: tuple[Any, ...]) -> Counts:
    """Count records one by one, the slow and obvious way."""
    if isinstance(model, dc.LinearRegression | dc.WeightedRegression):
        x, y = zip(*records, strict=True)
        return np.asarray(model.rehearse({"x": list(x), "y": list(y)}))
    if isinstance(model, dc.NumberSums | dc.NumberTable | dc.NumberQuantiles):
        return np.asarray(model.rehearse({"x": [x for x, _ in records], "g": [g for _, g in records]}))
    if isinstance(model, dc.Synthesis):
        return np.asarray(model.counts_of(np.array(records, dtype=np.int64).reshape(-1, len(model.columns))))
    if not isinstance(model, dc.Network):
        return np.bincount(records, minlength=len(model.cells))
    names, parts = [variable.name for variable in model.variables], []
    for family in model.maximal_families:
        part = np.zeros(model.shape(family), dtype=np.int64)
        for record in records:
            part[tuple(record[names.index(name)] for name in family)] += 1
        parts.append(part.ravel())
    return np.concatenate(parts)


def kinds_of_records(model: Any) -> list[Any]:
    if isinstance(model, dc.LinearRegression):
        return list(product((0.0, 0.5, 1.0), repeat=2))
    if isinstance(model, dc.WeightedRegression):
        return list(product((0.0,), (0.0, 0.5, 1.0, None)))
    if isinstance(model, dc.NumberSums | dc.NumberTable | dc.NumberQuantiles):
        own: Sequence[float] = (0.0, 0.5, 1.0)
        if isinstance(model, dc.NumberTable):
            own = [float(a + b) / 2 for a, b in pairwise(model.edges)]
        if isinstance(model, dc.NumberQuantiles):
            own = range(model.places)
        return list(product([*own, *([-1] if not model.leaves_gaps_out else ["gap"])], "ab" if model.by else "a"))
    if isinstance(model, dc.Network | dc.Synthesis):
        return list(product(*(range(len(column.levels)) for column in model.columns)))
    return list(range(len(model.cells)))


class Listed:
    """A mechanism with all data sets, all ordered pairs of neighbours, all outputs and their probabilities."""

    def __init__(self, mechanism: Any) -> None:
        self.mechanism = mechanism
        is_sized, kinds = isinstance(mechanism, Sized), kinds_of_records(mechanism.model)
        sizes = [mechanism.size] if is_sized else range(MOST_RECORDS + 1)
        sets = [data for size in sizes for data in combinations_with_replacement(kinds, size)]
        rows = np.array([statistics_of(mechanism.model, data) for data in sets])
        self.tables, indices = np.unique(rows, axis=0, return_inverse=True)
        by_rest: dict[Any, set[int]] = {}
        for data, index in zip(sets, indices.ravel().tolist(), strict=True):
            for i in range(len(data)):
                by_rest.setdefault((*data[:i], *data[i + 1 :]), set()).add(index)
            if not is_sized:  # neighbours have a record more or less, so a data set is beside what it is the rest of
                by_rest.setdefault(data, set()).add(index)
        sums = self.tables.sum(axis=1)
        self.pairs = sorted(
            {
                (i, j)
                for beside in by_rest.values()
                for i in beside
                for j in beside
                if i != j and (is_sized or sums[i] != sums[j])
            }
        )
        most = MORE_OUTPUTS if mechanism.model == LINE else OUTPUTS
        measured = Problem.before(mechanism).measurements
        is_known = all(has_density(each.noise.structure) for each in measured) and hasattr(mechanism, "outputs_for")
        self.twin = None if is_known else twin_of(mechanism)
        self.outputs: Counts = (
            mechanism.outputs_for(self.tables, most)
            if self.twin is None
            else self.twin.outputs_for(mechanism.measured(self.tables))
        )

    @cached_property
    def logs(self) -> Floats:
        return np.stack([self.log_prob(table) for table in self.tables])

    def log_prob(self, table: Counts) -> Floats:
        """Return log P of all outputs: as it is stated, or integrated by the twin of noise that states none."""
        if self.twin is None:
            return np.asarray(self.mechanism.log_prob(self.outputs, table))
        return np.asarray(self.twin.log_likelihood(self.outputs - self.mechanism.measured(table)))

    def both(self) -> Iterator[tuple[Floats, Floats]]:
        for first, second in self.pairs:
            used = np.isfinite(self.logs[first]) | np.isfinite(self.logs[second])
            yield self.logs[first][used], self.logs[second][used]

    def epsilon(self) -> float:
        return max(float(np.abs(p - q).max()) for p, q in self.both())

    def delta(self, epsilon: float) -> float:
        """Return the largest sum of max(0, P - e^epsilon Q)."""
        return max(float((np.exp(p) * -np.expm1(np.minimum(0, epsilon + q - p))).sum()) for p, q in self.both())

    def rho(self) -> float:
        """Return sup over orders a of D_a / a, D_a = ln sum P^a Q^(1-a) / (a - 1)."""
        orders = (1.01, 2.0, 10.0)
        return max(
            float(np.logaddexp.reduce(a * p + (1 - a) * q)) / (a - 1) / a for p, q in self.both() for a in orders
        )


def probabilities_sum_to_one(listed: Listed, setting: Setting) -> None:
    totals = np.exp(listed.logs).sum(axis=1)
    assert totals.min() >= 1 - MISSING, totals.min()
    assert totals.max() <= 1 + 1e-9, totals.max()


def samples_follow_the_likelihood(listed: Listed, setting: Setting) -> None:
    """G = 2 sum O ln(O/E) over bins of outputs, the likeliest first, each expected about five times or more."""
    table = listed.tables[min(1, len(listed.tables) - 1)]
    drawn = listed.mechanism.sample(np.tile(table, (setting.samples, 1)), dc.SeededBits(setting.seed))
    seen, times = np.unique(drawn, axis=0, return_counts=True)
    observed = dict(zip((row.tobytes() for row in seen.astype(np.int64)), times.tolist(), strict=True))
    expected = np.exp(listed.logs[min(1, len(listed.tables) - 1)]) * setting.samples
    order = np.argsort(-expected, kind="stable")
    hits = np.array([observed.get(row.tobytes(), 0) for row in listed.outputs[order]])
    _, bins_of = np.unique(((np.cumsum(expected[order]) - expected[order]) // 5).astype(int), return_inverse=True)
    bins, wanted = (np.bincount(bins_of, weights=values) for values in (hits, expected[order]))
    assert setting.samples - hits.sum() <= 5, "samples outside of all listed outputs"
    used = bins > 0
    g = 2 * float((bins[used] * np.log(bins[used] / wanted[used])).sum() + (wanted - bins).sum())
    assert len(bins) > 1
    assert chi2.sf(g, len(bins) - 1) > LEVEL, (g, len(bins))


def stated_over_true(listed: Listed) -> tuple[str, float, float, float]:
    """Return epsilon if the promise is pure, else delta at the stated epsilon: as stated, as is true, and the ratio."""
    guarantee = listed.mechanism.guarantee
    what, stated = "epsilon", float(guarantee.epsilon)
    if guarantee.evidence is dc.privacy.Evidence.CLAIMED:
        stated = float(listed.mechanism.privacy_loss().epsilon)
    elif guarantee.delta:
        what, stated = "delta", float(guarantee.delta)
    true = listed.epsilon() if what == "epsilon" else listed.delta(float(guarantee.epsilon))
    return what, stated, true, stated / true if true else inf


def is_within(listed: Listed, factor: float, ratio: float) -> bool:
    """Tell whether the stated epsilon is at most `factor` times the true one at the stated delta.

    If the promise is pure that is the ratio; else a smaller epsilon by this factor must not do with the stated delta.
    """
    stated, delta = float(listed.mechanism.guarantee.epsilon), float(listed.mechanism.guarantee.delta)
    return listed.delta(stated / factor) > delta if delta else ratio <= factor


def the_promise_holds(listed: Listed, _: Setting) -> None:
    what, stated, true, _ratio = stated_over_true(listed)
    assert true <= stated * (1 + 1e-9) + (1e-13 if what == "delta" else 0), (what, stated, true)


def rho_holds(listed: Listed, _: Setting) -> None:
    if not rho_delta(listed.mechanism):
        assert listed.rho() <= float(listed.mechanism.rho) * (1 + 1e-9), (listed.rho(), float(listed.mechanism.rho))


def the_stated_loss_dominates(listed: Listed, _: Setting) -> None:
    loss = listed.mechanism.privacy_loss()
    top = float(loss.epsilon if loss.epsilon < inf else listed.mechanism.guarantee.epsilon)
    for epsilon in (0.0, 0.2 * top, 0.5 * top, 0.9 * top, top):
        assert listed.delta(epsilon) <= loss.delta_at(epsilon) + 1e-12, epsilon


def documents_keep_it(listed: Listed, _: Setting) -> None:
    mechanism = listed.mechanism
    if getattr(mechanism.model, "grid", 8) < 8:
        with pytest.raises(dc.DocumentError, match="grid"):
            read_mechanism(mechanism_document(mechanism))
        return
    written = mechanism_document(mechanism)
    read = read_mechanism(written)
    assert read == mechanism
    assert (hash(read), read.guarantee, mechanism_document(read)) == (hash(mechanism), mechanism.guarantee, written)
    release = dc.simulate(mechanism, listed.tables[0], dc.SeededBits(1))
    assert dc.Release.from_json(release.to_json()) == release


def nonsense_is_refused(listed: Listed, _: Setting) -> None:
    mechanism, kind = listed.mechanism, type(listed.mechanism)
    kept = {field.name: getattr(mechanism, field.name) for field in fields(kind)}
    is_sized = isinstance(mechanism, Sized)
    wrong: list[tuple[str, object]] = [("size", value) for value in (0, -3, 2.5, True) if is_sized]
    wrong += [("epsilon", v) for v in (0, "-1", "nan", "inf", None)]
    for name, value in [*wrong, ("model", "a model")]:
        with pytest.raises(dc.DeclarationError):
            kind(**kept | {name: value})
    table = listed.tables[0]
    secret = dc.Statistics(mechanism.model, table, records=int(table.sum()))
    with pytest.raises(dc.SecretError):
        mechanism.sample(secret, dc.SeededBits(1))
    for counts in (table[:-1], table.astype(float)):
        with pytest.raises(dc.DeclarationError):
            mechanism.sample(counts, dc.SeededBits(1))
    if not isinstance(mechanism.model, dc.LinearRegression | dc.WeightedRegression):
        for counts in (*([table * 2] if is_sized else []), table - table.max() - 1):
            with pytest.raises(dc.DeclarationError):
                mechanism.sample(counts, dc.SeededBits(1))
    output = mechanism.sample(table, dc.SeededBits(1))
    mechanism.space.check(output)
    for impossible in (output[:-1], np.append(output, 0), np.full_like(output, 2**62 + 5)):
        with pytest.raises(dc.DocumentError):
            mechanism.space.check(impossible)


CHECKS = (
    probabilities_sum_to_one,
    samples_follow_the_likelihood,
    the_promise_holds,
    rho_holds,
    the_stated_loss_dominates,
    documents_keep_it,
    nonsense_is_refused,
)


@cache
def listed_setting(kind: str, number: int) -> Listed:
    return Listed(TABLE[kind][number].make(dc.Mechanism.registered()[kind]))


CASES = [(kind, number) for kind, settings in TABLE.items() for number in range(len(settings))]


@pytest.fixture
def contracts() -> SimpleNamespace:
    """Return the table and its checks."""
    return SimpleNamespace(
        TABLE=TABLE,
        CHECKS=CHECKS,
        CASES=CASES,
        Listed=Listed,
        Mechanism=Mechanism,
        listed=listed_setting,
        unlisted=unlisted,
        stated_over_true=stated_over_true,
        is_within=is_within,
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if {"kind", "number"} <= set(metafunc.fixturenames):
        metafunc.parametrize(("kind", "number"), CASES, ids=[f"{kind}-{number}" for kind, number in CASES])
