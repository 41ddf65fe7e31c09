"""Inference from counts at places that were found: tests at edges, each valid for every history.

Once all that was published before a step is fixed, its edges are constants and its noise has a distribution that knows
neither records nor history. So the tests of `EdgeTests` hold at these edges, and on average over histories too: no
correction is due for how edges were found. Where two steps count, each may go wrong in a part of what may go wrong in
all.

For the population one thing changes. C(e) is not Bin(n, G(e)) where the edge e was found from the same records. But who
wrongly claims that the quantile Q is at e or above has e > Q, so C(e) is at least M, the number of records at most at
Q: one number, which is at least Bin(n, p) in distribution and independent of this step's noise U. So the claim is wrong
with the probability that Bin(n, p) + U says, if all cuts have one distribution of noise. Which cut is next to Q may
depend on M: so the largest tail over all cuts of the step is taken.

The point is a posterior mean. Under a flat prior for all counts, what was published minus drawn noise are draws of the
counts. Two steps count the same records, so draws where counts fall from one edge to the next are impossible; others
weigh as much as records between the outermost edges are likely to lie that way, if these are Dirichlet-multinomial with
parameters s times the lengths of cells, s = 3, 30 or 10,000 being equally likely. The quantile's record lies anywhere
in its cell. Where one step counts all, the counts are made rising instead, and the point is linear within a cell.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import gammaln, logsumexp

from discreet._core.arrays import Counts, Floats
from discreet.inference import Ratio
from discreet.noise import PrefixSumNoise
from discreet.numbers._edge_tests import DrawnTests, EdgeTests, ExactTests, Tails
from discreet.numbers._quantiles_model import NumberQuantiles

DRAWS, _SEED = 4095, 25
_LEAST = 20  # draws that weighted ones must be worth
_REACH = 34.0  # e^-34 is below 1e-14


@lru_cache(maxsize=64)
def zero_sum_cuts(rate: Fraction, cells: int) -> tuple[PrefixSumNoise, ...]:
    """Return the distributions of noise below each inner edge of cells with Laplace noise that adds up to zero.

    P(U_j = v) ~ f_j(v) f_(m-j)(v), where f_j is the distribution of a sum of j independent ones: what lies above the
    edge adds up to -v.
    """
    half = int((_REACH + 4 * np.sqrt(cells)) / float(rate)) + 2
    length = 1 << (2 * half).bit_length()
    values = np.fft.fftfreq(length, 1 / length)
    own = np.fft.rfft(np.exp(-float(rate) * np.abs(values)) * np.tanh(float(rate) / 2))
    found = []
    for below in range(1, cells):
        parts = [np.maximum(np.fft.irfft(own**count, length), 0.0) for count in (below, cells - below)]
        chances = parts[0] * parts[1]
        kept = np.concatenate([chances[-half:], chances[: half + 1]])
        found.append(PrefixSumNoise(np.asarray(kept / kept.sum())))
    return tuple(found)


@lru_cache(maxsize=16)
def drawn_noise(rate: Fraction, cells: int, step: int) -> Floats:
    """Return draws of all noise of a step: they are public and the same for every release with this noise.

    All numbers but the last are drawn free, the last balances them, and the row is kept with the last one's own weight.
    """
    generator, kept, number = np.random.default_rng([_SEED, step]), list[Floats](), 0
    shrink = -np.expm1(-float(rate))
    while number < DRAWS:
        pairs = generator.geometric(shrink, size=(2, DRAWS, cells - 1))
        free = (pairs[0] - pairs[1]).astype(float)
        last = -free.sum(axis=1)
        rows = generator.random(DRAWS) < np.exp(-float(rate) * np.abs(last))
        kept.append(np.column_stack([free[rows], last[rows]]))
        number += int(rows.sum())
    return np.concatenate(kept)[:DRAWS]


class OneLaw(EdgeTests):
    """The tests of one step; for the population, with the largest tail that any of its cuts has."""

    def __init__(self, own: EdgeTests, others: Sequence[EdgeTests]) -> None:
        self._own, self._others, self.below = own, others, own.below

    @property
    def total(self) -> float:
        return self._own.total

    def tails(self, share: Fraction, sampled: bool) -> Tails:
        if not sampled:
            return self._own.tails(share, sampled)
        low, high = zip(*(each.tails(share, sampled) for each in self._others), strict=True)
        return np.max(low, axis=0), np.max(high, axis=0)

    def share_below(self, edge: int, level: float, sampled: bool) -> Ratio:
        return self._own.share_below(edge, level, sampled)

    def share_of(self, cell: int, level: float, sampled: bool) -> Ratio:
        return self._own.share_of(cell, level, sampled)


@dataclass(eq=False)
class _OneCut(DrawnTests):
    """The same numbers, read at every edge with the noise of one cut."""

    cut: int = 0

    @cached_property
    def _sums(self) -> Floats:
        sums = np.cumsum(self.noise, axis=1)
        sums[:, :-1] = sums[:, [self.cut]]
        return np.asfortranarray(sums)


def _everywhere(values: Floats, size: int, law: PrefixSumNoise) -> ExactTests:
    """Return tests with one distribution of noise at every edge."""
    return ExactTests(values.astype(np.int64), size, lambda _: law, lambda _: law)


@dataclass(frozen=True, eq=False)
class Step:
    """Counts of one step: its edges (groups, edges), what was published, and the rate of its noise."""

    edges: Counts
    values: Counts
    rate: Fraction
    part: float
    """What its claims may go wrong for the records, as a part of what may go wrong in all."""
    sampled_part: float
    """The same for the population."""

    def drawn_noise(self, index: int) -> Floats:
        """Return draws of the noise of all counts; `index` is that of the step."""
        return drawn_noise(self.rate, len(self.values), index)


class StepwiseTests(EdgeTests):
    """The tests of all steps about one group, at all of their edges."""

    def __init__(self, edges: Counts, steps: Sequence[tuple[Counts, OneLaw, float, float]]) -> None:
        self.edges, self._steps = edges, steps
        self.below = np.zeros(len(edges))
        for indices, tests, *_ in steps:
            self.below[indices] = tests.below

    @property
    def total(self) -> float:
        return self._steps[-1][1].total

    def cells_left(self, share: Fraction, level: float, sampled: bool) -> tuple[int, int]:
        """Return the first and the last cell that no step excludes, each at its own level."""
        first, last = 0, len(self.edges)
        for indices, tests, part, sampled_part in reversed(self._steps):
            if (own := sampled_part if sampled else part) == 0:
                continue
            low, high = tests.cells_left(share, 1 - own * (1 - level), sampled)
            low, high = (0, *(indices + 1))[low], (*indices, len(self.edges))[high]
            if max(first, low) <= min(last, high):  # else one of two steps is wrong
                first, last = max(first, low), min(last, high)
        return first, last

    def tails(self, share: Fraction, sampled: bool) -> Tails:
        low, high = np.ones(len(self.edges)), np.ones(len(self.edges))
        for indices, tests, part, sampled_part in self._steps:
            for found, own in zip((low, high), tests.tails(share, sampled), strict=True):
                found[indices] = np.minimum(found[indices], own / max(sampled_part if sampled else part, 1e-12))
        return low, high

    def share_below(self, edge: int, level: float, sampled: bool) -> Ratio:
        indices, tests, *_ = next(step for step in reversed(self._steps) if edge - 1 in step[0])
        return tests.share_below(int(np.flatnonzero(indices == edge - 1)[0]) + 1, level, sampled)

    def share_of(self, cell: int, level: float, sampled: bool) -> Ratio:
        raise NotImplementedError("cells of several steps are not counted by one of them")


@dataclass(frozen=True, eq=False)
class NumberQuantilesSolution:
    """What was counted at places that were found, step by step."""

    model: NumberQuantiles
    size: int
    steps: tuple[Step, ...]
    located: int
    """How many of the first steps say where a quantile is; others are there for the population's interval alone."""
    log_evidence: float = float("nan")

    @property
    def is_exact(self) -> bool:
        """Return whether the number of records with a value is public, so that the distribution of cuts is known."""
        return self.model.by is None and not self.model.leaves_gaps_out

    @property
    def method(self) -> str:
        """Say how it was read."""
        how = "exact tests" if self.is_exact else f"tests by rank among {DRAWS:,} draws of noise"
        return f"read by {how} at every edge that was found, which are valid for any records"

    def _grouped(self, values: Counts | Floats) -> Floats:
        """Return the numbers of a step by groups, without those of records that have no value."""
        groups = len(self.model.groups)
        cells = np.shape(values)[-1] - self.model.leaves_gaps_out
        return np.asarray(values, dtype=np.float64)[..., :cells].reshape(*np.shape(values)[:-1], groups, -1)

    @cached_property
    def tests(self) -> tuple[StepwiseTests, ...]:
        """Return the tests of every group."""
        return tuple(self._tests(group) for group in range(len(self.model.groups)))

    def _tests(self, group: int) -> StepwiseTests:
        edges = np.unique(np.concatenate([step.edges[group] for step in self.steps]))
        found = []
        for index, step in enumerate(self.steps):
            own = self._one_law(group, index)
            found.append((np.searchsorted(edges, step.edges[group]), own, step.part, step.sampled_part))
        return StepwiseTests(edges, found)

    def _one_law(self, group: int, index: int) -> OneLaw:
        step = self.steps[index]
        values = self._grouped(step.values)[group]
        if not self.is_exact:
            noise = self._grouped(step.drawn_noise(index))[:, group]
            others = [_OneCut(values, noise, self.size, cut) for cut in range(len(values) - 1)]
            return OneLaw(DrawnTests(values, noise, self.size), others)
        cuts = zero_sum_cuts(step.rate, len(values))
        laws = cuts[: (len(cuts) + 1) // 2]  # the others are the same, mirrored
        own = ExactTests(values.astype(np.int64), self.size, lambda edge: cuts[edge - 1], lambda _: cuts[0])
        return OneLaw(own, [_everywhere(values, self.size, law) for law in laws])

    def drawn_below(self, group: int, count: int) -> tuple[Counts, Floats, Floats]:
        """Return edges of the first steps, draws of how many lie below, with 0 and all, and the draws' weights."""
        steps = self.steps[:count]
        edges = np.unique(np.concatenate([step.edges[group] for step in steps]))
        below = np.zeros((DRAWS, len(edges) + 2))
        for index, step in enumerate(steps):
            hidden = self._grouped(step.values - step.drawn_noise(index))[:, group]
            sums = np.cumsum(hidden, axis=1)
            below[:, 1 + np.searchsorted(edges, step.edges[group])] = sums[:, :-1]
            below[:, -1] = np.clip(sums[:, -1], 0, self.size)
        if len(steps) > 1 and (weights := self._weights(below, edges)) is not None:
            return edges, below, weights
        rising = np.clip(below, 0, below[:, -1:])
        falling = np.minimum.accumulate(rising[:, ::-1], axis=1)[:, ::-1]
        return edges, (np.maximum.accumulate(rising, axis=1) + falling) / 2, np.full(DRAWS, 1 / DRAWS)

    def _weights(self, below: Floats, edges: Counts) -> Floats | None:
        """Return how likely draws are of which no count falls; None if they are worth too few."""
        counts = np.diff(below, axis=1)
        possible = (counts >= 0).all(axis=1)
        if possible.sum() < _LEAST:
            return None
        inner, lengths = counts[possible, 1:-1], np.diff(edges) / (edges[-1] - edges[0])
        total = inner.sum(axis=1)
        logs = np.full((3, DRAWS), -np.inf)
        for row, strength in zip(logs, (3.0, 30.0, 1e4), strict=True):
            shape = strength * lengths
            parts = gammaln(inner + shape) - gammaln(shape) - gammaln(inner + 1)
            row[possible] = parts.sum(axis=1) + gammaln(strength) + gammaln(total + 1) - gammaln(total + strength)
        joint = logsumexp(logs, axis=0)
        weights = np.exp(joint - joint.max())
        if weights.sum() ** 2 < _LEAST * (weights**2).sum():
            return None
        return np.asarray(weights / weights.sum())

    def point(self, group: int, share: Fraction) -> float:
        """Return the best guess of a quantile, as a number of the column."""
        if self.located == 1:
            guess = self._one_law(group, 0).point(share, self._ends(self.steps[0].edges[group]))
            return float(np.floor(guess)) if self.model.is_whole else guess
        edges, below, weights = self.drawn_below(group, self.located)
        positions = located(below, float(share) * below[:, -1], self._ends(edges))
        if not self.model.is_whole:
            return float(weights @ positions)
        order = np.argsort(positions)
        return float(np.floor(positions[order][np.searchsorted(np.cumsum(weights[order]), 0.5)]))

    def _ends(self, edges: Counts) -> Floats:
        """Return where edges run, between the bounds."""
        return self.model.edge_values([0, *edges, self.model.places])


def located(below: Floats, ranks: Floats, edges: Floats) -> Floats:
    """Return where so many records lie below, for draws of the counts below all edges: evenly within a cell.

    Outside of the outermost cells of a table nothing is known but the bounds; there it goes on as between these.
    """
    rows = np.arange(len(below))
    cells = np.clip((below[:, 1:-1] < ranks[:, None]).sum(axis=1), 0, below.shape[1] - 2)
    start, count = below[rows, cells], np.maximum(below[rows, cells + 1] - below[rows, cells], 1e-9)
    inside = edges[cells] + (edges[cells + 1] - edges[cells]) * np.clip((ranks - start) / count, 0, 1)
    per_record = (edges[-2] - edges[1]) / np.maximum(below[:, -2] - below[:, 1], 1.0)
    before = np.maximum(edges[0], edges[1] - (below[:, 1] - ranks) * per_record)
    behind = np.minimum(edges[-1], edges[-2] + (ranks - below[:, -2]) * per_record)
    return np.asarray(np.where(cells == 0, before, np.where(cells == below.shape[1] - 2, behind, inside)))
