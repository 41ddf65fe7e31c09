"""Quantiles, the mean and the distribution of a number beside OpenDP's documented ways, on the same records.

    python benchmarks/number_peers.py [repeats]

**Neighbours.** Here one record is replaced and the number of records is public. OpenDP's vectors of known size count
replaced records by a symmetric distance of 2 (one removed, one added): every way below is asked for all of epsilon at
that distance, so that both promise the same about one replaced record.

**Its ways.** The mean: `then_clamp`, `then_mean` of a known size, `then_laplace`. A quantile: scores of 200,001
values, so that these are no limit, and `then_noisy_max`, epsilon / 5 for each of five, or all of epsilon for a median
alone. The distribution: `then_count_by_categories` of cells with `then_laplace`, running sums of which are shares below
edges. Ours is what `suggest` takes. Errors are root mean squares over the records' own values, in per cent of the range
(of shares: in percentage points); intervals are ours alone, as OpenDP gives none. Means are cheap to draw and their
Laplace noise has long tails: each data set gives 50 of them on either side, 5 if it is large, and the law that both
should have stands beside. Ratios of quantiles have standard errors by resampling data sets; "even" is within two of
them.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import discreet as dc
from discreet.numbers import suitable_cells, why_table
from discreet.numbers._edge_tests import ExactTests
from discreet.numbers._sums_inference import NumberSumsSolution

SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)
FINE = 200_001
TRUTHS: dict[str, tuple[Any, tuple[float, float]]] = {
    "income": (lambda n, g: np.clip(g.lognormal(10.4, 0.7, n), 0, 200_000), (0.0, 200_000.0)),
    "age": (
        lambda n, g: np.clip(np.where(g.random(n) < 0.3, g.normal(12, 8, n), g.normal(50, 18, n)), 0, 99.9),
        (0.0, 100.0),
    ),
}
Floats = NDArray[np.float64]


def scaled(made: Callable[[float], Any], distance: int, epsilon: float) -> Any:
    """Return a measurement with this epsilon at a distance; epsilon falls as one over the scale."""
    return made(float(made(1.0).map(distance)) / epsilon)


def opendp_quantile(opendp: Any, candidates: list[float], share: float, epsilon: float, size: int) -> Any:
    """Return OpenDP's private quantile at this epsilon for replaced records."""
    space = opendp.vector_domain(opendp.atom_domain(T=float, nan=False), size=size), opendp.symmetric_distance()
    scores = space >> opendp.t.then_quantile_score_candidates(candidates, share)
    return scaled(lambda s: scores >> opendp.m.then_noisy_max(opendp.max_divergence(), s, negate=True), 2, epsilon)


def opendp_mean(opendp: Any, bounds: tuple[float, float], epsilon: float, size: int) -> Any:
    """Return OpenDP's private mean of bounded values of a known number at this epsilon for replaced records."""
    domain = opendp.vector_domain(opendp.atom_domain(T=float, nan=False), size=size)
    mean = (domain, opendp.symmetric_distance()) >> opendp.t.then_clamp(bounds) >> opendp.t.then_mean()
    return scaled(lambda s: mean >> opendp.m.then_laplace(s), 2, epsilon)


def opendp_cells(opendp: Any, cells: int, epsilon: float, size: int) -> Any:
    """Return OpenDP's noisy counts of cells, numbered from 0 on, at this epsilon for replaced records."""
    domain = opendp.vector_domain(opendp.atom_domain(T=int), size=size)
    counts = (domain, opendp.symmetric_distance()) >> opendp.t.then_count_by_categories(list(range(cells)), False)
    return scaled(lambda s: counts >> opendp.m.then_laplace(s), 2, epsilon)


class Tally:
    """Errors of both sides, and how often our intervals held, by what was asked."""

    def __init__(self) -> None:
        self.errors: dict[str, list[tuple[float, float]]] = {}
        self.held: dict[str, list[bool]] = {}

    def add(self, what: str, ours: float, theirs: float, is_held: bool) -> None:
        """Note down one error of each side, and whether our interval held the truth."""
        self.errors.setdefault(what, []).append((ours, theirs))
        self.held.setdefault(what, []).append(is_held)

    def show(self) -> None:
        """Print root mean squares, their ratio, and coverage; say who wins."""
        for what, pairs in self.errors.items():
            ours, theirs = np.sqrt(np.mean(np.square(pairs), axis=0))
            better = "discreet" if ours <= theirs else "OpenDP"
            print(
                f"  {what:38s} discreet {ours:9.4f}  OpenDP {theirs:9.4f}  ratio {ours / theirs:5.2f} ({better} is "
                f"nearer); our 90 % intervals hold {np.mean(self.held[what]):.2f}"
            )


def verdict(ratio: float, error: float) -> str:
    """Say who is ahead: nobody, where the ratio is within two standard errors of 1.

    >>> verdict(0.5, 0.1), verdict(1.1, 0.1), verdict(1.3, 0.1)
    ('ahead', 'even', 'behind')
    """
    return "even" if abs(ratio - 1) <= 2 * error else "ahead" if ratio < 1 else "behind"


def ratio_of(ours: Floats, theirs: Floats) -> tuple[float, float]:
    """Return the ratio of root mean squares over data sets, and its standard error by resampling these."""
    generator, squares = np.random.default_rng(0), (np.square(ours), np.square(theirs))
    rows = generator.integers(len(ours), size=(1000, len(ours)))
    several = np.sqrt(squares[0][rows].mean(axis=1) / squares[1][rows].mean(axis=1))
    return float(np.sqrt(squares[0].mean() / squares[1].mean())), float(several.std())


def quantiles_of(opendp: Any, name: str, size: int, epsilon: float, repeats: int) -> None:
    """Print the errors of a median alone and of five quantiles, ours and OpenDP's on its fine grid."""
    draw, (low, high) = TRUTHS[name]
    generator, candidates = np.random.default_rng([20261123, size, int(10 * epsilon)]), np.linspace(low, high, FINE)
    listed = candidates.tolist()
    for shares in ((0.5,), SHARES):
        model: Any = dc.NumberQuantiles("x", (int(low), int(high)), [str(each) for each in shares], missing=0)
        if why_table(model, size, str(epsilon)) is not None:
            cells = suitable_cells(size, str(epsilon))
            model = dc.NumberTable("x", (int(low), int(high)), cells, missing=0, quantiles=model.quantiles)
        mechanism = dc.suggest(model, size, str(epsilon)).mechanism
        others = [opendp_quantile(opendp, listed, share, epsilon / len(shares), size) for share in shares]
        found = np.zeros((repeats, 4, len(shares)))
        for number in range(repeats):
            records: Floats = np.sort(draw(size, generator))
            counts, values = model.rehearse({"x": records}), records.tolist()
            rows = dc.infer(dc.simulate(mechanism, counts, dc.SeededBits(int(generator.integers(2**32))))).rows()[::2]
            for place, (row, share, other) in enumerate(zip(rows, shares, others, strict=True)):
                true = records[max(1, int(np.ceil(share * size - 1e-9))) - 1]
                errors = row.mean - true, candidates[other(values)] - true, row.high - row.low
                found[number, :3, place] = 100 * np.array(errors) / (high - low)
                found[number, 3, place] = row.low <= true <= row.high
        for place, share in enumerate(shares):
            ours, theirs, width, held = found[:, :, place].T
            alone = "alone" if len(shares) == 1 else "of five"
            ratio, error = ratio_of(ours, theirs)
            rmse = " | ".join(f"{np.sqrt(np.square(each).mean()):.3g}" for each in (ours, theirs))
            print(
                f"| {name} | {size:,} | {epsilon:g} | {100 * share:g} %, {alone} | "
                f"{type(mechanism).__name__} | {rmse} | {ratio:.2f} +- {error:.2f} | {np.median(width):.3g} | "
                f"{held.mean():.2f} | {verdict(ratio, error)} |",
                flush=True,
            )


def one_setting(opendp: Any, name: str, size: int, repeats: int) -> None:
    """Compare a mean and shares on `repeats` data sets of one truth and size, at epsilon = 1."""
    draw, (low, high) = TRUTHS[name]
    generator, per_cent, tally = np.random.default_rng([20261122, size]), 100 / (high - low), Tally()
    cells = 64 if size == 1000 else 256
    model = dc.NumberTable("x", (int(low), int(high)), cells, missing=0)
    table, edges = dc.TreeTable(model, size, 1), model.edge_values
    noise: Any = table.noise
    sums = dc.GeometricSums(dc.NumberSums("x", (int(low), int(high)), missing=0), size, 1)
    rates = tuple(float(rate) * sums.model.unit for rate in sums.noise.rates)
    mean = opendp_mean(opendp, (low, high), 1.0, size)
    counted = opendp_cells(opendp, cells, 1.0, size)
    quantiles = None
    for _ in range(repeats):
        records: Floats = np.sort(draw(size, generator))
        bits = dc.SeededBits(int(generator.integers(2**32)))
        counts = np.histogram(records, edges)[0]
        tests = ExactTests(table.sample(counts, bits), size, noise.cut, noise.single)
        listed, below = records.tolist(), np.cumsum(counts)[:-1] / size
        secret, true = sums.model.rehearse({"x": listed}), float(records.mean())
        for _ in range(50 if size == 1000 else 5):
            released = sums.sample(secret, bits)
            reading = NumberSumsSolution(sums.model, size, *sums.model.pairs(released), rates)  # type: ignore[arg-type]
            quantiles = reading.quantiles(0.9) if quantiles is None else quantiles
            point, left, right = (float(sums.model.value_at(each)) for each in reading.record_mean(0, quantiles)[:3])
            tally.add("mean", (point - true) * per_cent, (mean(listed) - true) * per_cent, left <= true <= right)
        placed = np.clip(np.searchsorted(edges, records, side="right") - 1, 0, cells - 1)
        theirs_below = np.cumsum(counted(placed.tolist()))[:-1] / size
        for edge in range(cells // 8, cells, cells // 8):
            own = tests.share_below(edge, 0.9, False)
            truth, off = below[edge - 1], theirs_below[edge - 1] - below[edge - 1]
            held = own.low - 1e-12 <= truth <= own.high + 1e-12
            tally.add("shares below 7 edges (the CDF)", 100 * (own.point - truth), 100 * off, bool(held))
    print(f"{name}, n = {size:,}, epsilon = 1, {cells} cells, {repeats} data sets:")
    tally.show()
    print(f"  a mean with Laplace noise of scale range / (n epsilon) has the error {100 * 2**0.5 / size:.4f}")


def main(repeats: int) -> None:
    """Print all settings."""
    import opendp.prelude as opendp

    opendp.enable_features("contrib")
    print(f"Quantiles, rmse and median width of our 90 % intervals in % of the range; {repeats} data sets each:")
    print("| column | n | epsilon | quantile | by | discreet | OpenDP | ratio | width | held | discreet is |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name in TRUTHS:
        for size in (1000, 10_000, 100_000):
            for epsilon in (1.0, 0.1):
                quantiles_of(opendp, name, size, epsilon, repeats)
    print(__doc__.split("**Neighbours.**")[1].split("**Its ways.**")[0].strip().replace("\n", " "))
    for name in TRUTHS:
        one_setting(opendp, name, 1000, repeats)
        one_setting(opendp, name, 100_000, max(10, repeats // 5))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
