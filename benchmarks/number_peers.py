"""Quantiles, the mean and the distribution of a number beside OpenDP's documented ways, on the same records.

    python benchmarks/number_peers.py [data sets]

**Neighbours.** Here one record is replaced and the number of records is public. OpenDP's vectors of known size count
replaced records by a symmetric distance of 2 (one removed, one added): every way below is asked for all of epsilon at
that distance, so that both promise the same about one replaced record.

**Its ways**, each at its best setting, in hindsight where there is a choice. A quantile: scores of 10,001 values for
1,000 records up to 200,001 for 100,000, or of all whole numbers of a whole column, so that these are no limit, and
`then_noisy_max`, all of epsilon for a median alone, epsilon / 5 for each of five. Five at once: its consistent tree of
64, 256 or 1,024 leaves as well (`then_b_ary_tree`, `make_quantiles_from_counts`); for each quantile the best of these
counts. The mean: clamped, of a known size, `then_laplace`. The distribution: counts of cells with `then_laplace`,
running sums of which are shares below edges. Ours is what `suggest` takes. diffprivlib's quantile has the distribution
of the first way and is not run.

Errors are root mean squares over the records' own values, in per cent of the range (of shares: in percentage points);
intervals are ours alone, as OpenDP gives none. Each data set is published three times by either side, means ten
times. Ratios have standard errors by resampling data sets; who is within two of them of 1 is even. Values whose score
is more than 60 scales of noise behind the best are not handed to `then_noisy_max`: they win with a chance below 1e-20.
"""

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from figures import ratio_of, verdict
from numpy.typing import NDArray

import discreet as dc
from discreet.numbers import suitable_cells, why_table
from discreet.numbers._edge_tests import ExactTests
from discreet.numbers._sums_inference import NumberSumsSolution

SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)
FINE = {1000: 10_001, 10_000: 50_001, 100_000: 200_001}
LEAVES, HOPELESS = (64, 256, 1024), 60
SIZES, EPSILONS = tuple(FINE), (1.0, 0.1)
DRAWS, MEANS = 3, 10
Floats = NDArray[np.float64]


class Truth(NamedTuple):
    """How a column is made, its bounds, and whether it has whole numbers."""

    draw: Callable[[int, np.random.Generator], Floats]
    low: int
    high: int
    is_whole: bool = False

    def candidates(self, size: int) -> Floats:
        """Return the values that OpenDP chooses from."""
        return np.linspace(self.low, self.high, self.high - self.low + 1 if self.is_whole else FINE[size])


TRUTHS = {
    "income": Truth(lambda n, g: np.clip(g.lognormal(10.4, 0.7, n), 0, 200_000), 0, 200_000),
    "age": Truth(
        lambda n, g: np.clip(np.where(g.random(n) < 0.3, g.normal(12, 8, n), g.normal(50, 18, n)), 0, 99.9), 0, 100
    ),
    "delay, whole": Truth(
        lambda n, g: np.clip(np.rint(g.exponential(25, n) + g.normal(-15, 10, n)), -60, 1200), -60, 1200, True
    ),
}


def scale_of(made: Callable[[float], Any], distance: int, epsilon: float) -> float:
    """Return the scale of noise with this epsilon at a distance; epsilon falls as one over the scale."""
    return float(made(1.0).map(distance)) / epsilon


def scaled(made: Callable[[float], Any], distance: int, epsilon: float) -> Any:
    """Return a measurement with this epsilon at a distance."""
    return made(scale_of(made, distance, epsilon))


def space_of(opendp: Any, size: int, kind: type = float) -> Any:
    """Return vectors of known size, whose records are replaced."""
    given = {"T": kind} if kind is int else {"T": kind, "nan": False}
    return opendp.vector_domain(opendp.atom_domain(**given), size=size), opendp.symmetric_distance()


class Scores:
    """The scores of all candidates for one quantile of some records, from which OpenDP chooses."""

    def __init__(self, opendp: Any, candidates: Floats, records: list[float], share: float) -> None:
        self.opendp, self.candidates = opendp, candidates
        made = space_of(opendp, len(records)) >> opendp.t.then_quantile_score_candidates(candidates.tolist(), share)
        self.moved, self.scores = made.map(2), np.array(made(records), dtype=np.uint64)

    def choose(self, epsilon: float) -> float:
        """Draw one value with all of this epsilon; scores are distances, so the least is best."""
        opendp = self.opendp
        metric = opendp.linf_distance(T="u64")
        one = opendp.vector_domain(opendp.atom_domain(T="u64"), size=1), metric
        scale = scale_of(lambda s: one >> self._noisy_max(s), self.moved, epsilon)
        kept = np.flatnonzero(self.scores <= float(self.scores.min()) + HOPELESS * scale)
        given = opendp.vector_domain(opendp.atom_domain(T="u64"), size=len(kept)), metric
        return float(self.candidates[kept[(given >> self._noisy_max(scale))(self.scores[kept].tolist())]])

    def _noisy_max(self, scale: float) -> Any:
        return self.opendp.m.then_noisy_max(self.opendp.max_divergence(), scale, negate=True)


def tree_quantiles(opendp: Any, counts: list[int], edges: list[float], epsilon: float) -> list[float]:
    """Return quantiles by OpenDP's consistent tree of noisy counts, with its own branching factor."""
    leaves = len(counts)
    branching = opendp.t.choose_branching_factor(leaves)
    space = opendp.vector_domain(opendp.atom_domain(T=int), size=leaves), opendp.l1_distance(T=int)
    tree = space >> opendp.t.then_b_ary_tree(leaves, branching)
    noisy = scaled(lambda s: tree >> opendp.m.then_laplace(s), 2, epsilon)(counts)
    consistent = opendp.t.make_consistent_b_ary_tree(branching)(noisy)
    return list(opendp.t.make_quantiles_from_counts(edges, alphas=list(SHARES), F=float)(consistent[-leaves:]))


def opendp_cells(opendp: Any, cells: int, epsilon: float, size: int) -> Any:
    """Return OpenDP's noisy counts of cells, numbered from 0 on, at this epsilon for replaced records."""
    counts = space_of(opendp, size, int) >> opendp.t.then_count_by_categories(list(range(cells)), False)
    return scaled(lambda s: counts >> opendp.m.then_laplace(s), 2, epsilon)


def rmse(errors: Floats) -> float:
    return float(np.sqrt(np.square(errors).mean()))


def mechanism_of(truth: Truth, shares: tuple[float, ...], size: int, epsilon: float) -> Any:
    """Return what `suggest` takes for these quantiles, a table where that is better."""
    bounds, asked = (truth.low, truth.high), [str(each) for each in shares]
    model: Any = dc.NumberQuantiles("x", bounds, asked, missing=0, is_whole=truth.is_whole)
    if why_table(model, size, str(epsilon)) is not None:
        cells = suitable_cells(size, str(epsilon))
        model = dc.NumberTable("x", bounds, cells, missing=0, quantiles=model.quantiles, is_whole=truth.is_whole)
    return dc.suggest(model, size, str(epsilon)).mechanism


def quantiles_of(opendp: Any, name: str, size: int, repeats: int) -> None:
    """Print the errors of a median alone and of five quantiles, ours and OpenDP's on its fine grid."""
    truth = TRUTHS[name]
    generator, per_cent = np.random.default_rng([20261123, size]), 100 / (truth.high - truth.low)
    asked = [(epsilon, shares) for epsilon in EPSILONS for shares in ((0.5,), SHARES)]
    mechanisms = [mechanism_of(truth, shares, size, epsilon) for epsilon, shares in asked]
    found = [np.zeros((repeats, DRAWS, 3, len(shares))) for _, shares in asked]  # ours, widths, held
    peers: list[list[Floats]] = [[] for _ in asked]
    for number in range(repeats):
        records: Floats = np.sort(truth.draw(size, generator))
        listed = records.tolist()
        true = np.array([records[max(1, int(np.ceil(share * size - 1e-9))) - 1] for share in SHARES])
        scores = [Scores(opendp, truth.candidates(size), listed, share) for share in SHARES]
        trees = []
        for leaves in LEAVES:
            edges = np.linspace(truth.low, truth.high, leaves + 1)
            trees.append((np.histogram(records, edges)[0].tolist(), edges.tolist()))
        summed = {each.model: each.model.rehearse({"x": records}) for each in {m.model: m for m in mechanisms}.values()}
        for (epsilon, shares), mechanism, own, theirs in zip(asked, mechanisms, found, peers, strict=True):
            counts = summed[mechanism.model]
            sought = true if len(shares) > 1 else true[2:3]
            ways = np.zeros((DRAWS, 1 + len(LEAVES), len(shares)))
            for draw in range(DRAWS):
                bits = dc.SeededBits(int(generator.integers(2**32)))
                rows = dc.infer(dc.simulate(mechanism, counts, bits)).rows()[::2]
                for place, row in enumerate(rows):
                    is_held = row.low <= sought[place] <= row.high
                    own[number, draw, :, place] = row.mean - sought[place], row.high - row.low, is_held
                if len(shares) == 1:
                    ways[draw] = scores[2].choose(epsilon) - sought
                else:
                    ways[draw, 0] = [each.choose(epsilon / len(shares)) for each in scores] - sought
                    for way, (tree, edges) in enumerate(trees, start=1):
                        ways[draw, way] = tree_quantiles(opendp, tree, edges, epsilon) - sought
            theirs.append(ways)
    for (epsilon, shares), mechanism, own, theirs in zip(asked, mechanisms, found, peers, strict=True):
        every = np.array(theirs)
        for place, share in enumerate(shares):
            ours, width, held = np.moveaxis(own[..., place], -1, 0)
            errors = [rmse(every[:, :, way, place]) for way in range(every.shape[2])]
            best = int(np.argmin(errors))
            by = "noisy max" if best == 0 else f"tree of {LEAVES[best - 1]:,}"
            alone = "alone" if len(shares) == 1 else "of five"
            ratio, error = ratio_of(ours, every[:, :, best, place])
            print(
                f"| {name} | {size:,} | {epsilon:g} | {100 * share:g} %, {alone} | {type(mechanism).__name__} | "
                f"{per_cent * rmse(ours):.3g} | {per_cent * errors[best]:.3g}, {by} | {ratio:.2f} ± {error:.2f} | "
                f"{per_cent * np.median(width):.3g} | {held.mean():.2f} | {verdict(ratio, error)} |",
                flush=True,
            )


def sums_of(opendp: Any, name: str, size: int, epsilon: float, repeats: int) -> None:
    """Print the errors of a mean and of shares below seven edges."""
    truth = TRUTHS[name]
    generator, per_cent = np.random.default_rng([20261122, size, int(10 * epsilon)]), 100 / (truth.high - truth.low)
    bounds, cells, text = (truth.low, truth.high), suitable_cells(size, str(epsilon)), str(epsilon)
    model = dc.NumberTable("x", bounds, cells, missing=0, is_whole=truth.is_whole)
    table, edges = dc.TreeTable(model, size, text), model.edge_values
    cells = len(edges) - 1
    noise: Any = table.noise
    sums = dc.GeometricSums(dc.NumberSums("x", bounds, missing=0), size, text)
    rates = tuple(float(rate) * sums.model.unit for rate in sums.noise.rates)
    clamped = (
        space_of(opendp, size) >> opendp.t.then_clamp((float(truth.low), float(truth.high))) >> opendp.t.then_mean()
    )
    plain = clamped.output_domain, clamped.output_metric
    laplace = scaled(lambda s: plain >> opendp.m.then_laplace(s), clamped.map(2), epsilon)
    counted = opendp_cells(opendp, cells, epsilon, size)
    means, shares = np.zeros((repeats, 3, MEANS)), np.zeros((repeats, 3, 7))
    quantiles = None
    chosen = [round(cells * part / 8) for part in range(1, 8)]
    for number in range(repeats):
        records: Floats = np.sort(truth.draw(size, generator))
        bits, listed = dc.SeededBits(int(generator.integers(2**32))), records.tolist()
        secret, true, known = sums.model.rehearse({"x": listed}), float(records.mean()), clamped(listed)
        for draw in range(MEANS):
            released = sums.sample(secret, bits)
            reading = NumberSumsSolution(sums.model, size, *sums.model.pairs(released), rates)  # type: ignore[arg-type]
            quantiles = reading.quantiles(0.9) if quantiles is None else quantiles
            point, left, right = (float(sums.model.value_at(each)) for each in reading.record_mean(0, quantiles)[:3])
            means[number, :, draw] = point - true, laplace(known) - true, left <= true <= right
        placed = np.clip(np.searchsorted(edges, records, side="right") - 1, 0, cells - 1)
        counts = np.bincount(placed, minlength=cells)
        tests = ExactTests(table.sample(counts, bits), size, noise.cut, noise.single)
        below, theirs = np.cumsum(counts) / size, np.cumsum(counted(placed.tolist())) / size
        for place, edge in enumerate(chosen):
            own, it = tests.share_below(edge, 0.9, False), below[edge - 1]
            is_held = own.low - 1e-12 <= it <= own.high + 1e-12
            shares[number, :, place] = own.point - it, theirs[edge - 1] - it, is_held
    for what, unit, errors in (("mean", per_cent, means), (f"shares below 7 of {cells} edges", 100.0, shares)):
        ratio, error = ratio_of(errors[:, 0], errors[:, 1])
        print(
            f"| {name} | {size:,} | {epsilon:g} | {what} | {unit * rmse(errors[:, 0]):.3g} | "
            f"{unit * rmse(errors[:, 1]):.3g} | {ratio:.2f} ± {error:.2f} | {errors[:, 2].mean():.2f} | "
            f"{verdict(ratio, error)} |",
            flush=True,
        )


def main(repeats: int) -> None:
    """Print all settings."""
    import opendp.prelude as opendp

    opendp.enable_features("contrib")
    print(f"Quantiles, {repeats} data sets and {DRAWS * repeats} releases each; widths are medians:")
    print("| column | n | epsilon | quantile | by | discreet | OpenDP | ratio | width | held | discreet is |")
    print("|---|---:|---:|---|---|---:|---:|---:|---:|---:|---|")
    for name in TRUTHS:
        for size in SIZES:
            quantiles_of(opendp, name, size, repeats)
    few = max(10, repeats // 2)
    print(f"\nMeans and shares, {few} data sets each, {MEANS * few} releases of means:")
    print("| column | n | epsilon | quantity | discreet | OpenDP | ratio | held | discreet is |")
    print("|---|---:|---:|---|---:|---:|---:|---:|---|")
    for name in ("income", "age"):
        for size in SIZES:
            for epsilon in EPSILONS:
                sums_of(opendp, name, size, epsilon, few)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
