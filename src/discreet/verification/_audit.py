"""A black-box audit: outputs alone may show that a promise is broken.

Nothing is asked of a mechanism but to draw. If for neighbouring data sets and some event E

    P(E) > e^epsilon Q(E) + delta,

the guarantee is false, and enough draws will show it. Half of the draws look for the most telling pair of neighbours
and event: outputs are projected to whole numbers (counts, differences, totals, low bits, distances from the data), and
on each projection the values that are likelier under P are collected, the likeliest first. For the best pairs, regions
of several numbers at once are learnt (`learnt_event`). The best of these events go through a second trial, which leaves
one. The other half, fresh draws of that one pair, test that one event. So the search costs no confidence, and with the
exact binomial bounds of Clopper and Pearson

    epsilon_lower = ln((P_low(E) - delta) / Q_high(E))

exceeds the true epsilon with probability at most 1 - confidence, whatever the mechanism is. An audit that finds nothing
proves nothing: `verify` does.

An event that is learnt: outputs are divided by thresholds until each region belongs to one data set or the other.

One number of an output seldom separates two neighbours as well as all of them together: with noise on several cells
the telling outputs lie in a corner, below one threshold here and above another one there. So a tree is grown on draws
of both data sets. Each split is the threshold, among quantiles of all numbers, that takes away most of the uncertainty
about which data set a draw came from (CART, by entropy). What is learnt is only a way to put outputs into bins; how
likely the bins are is for fresh draws to say.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise
from math import inf, log
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, xlogy

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import exact_text, whole
from discreet._core.notebook import NotebookRepr, html_table, with_picture
from discreet.inference import require
from discreet.mechanism import Model
from discreet.noise.randomness import RandomBits, SeededBits
from discreet.privacy import Guarantee
from discreet.verification._work import auditing

_DEEPEST, _LEAST_LEAF = 6, 60  # splits one below another, and draws of both data sets in a region
_THRESHOLDS = 24  # quantiles of a number at which a region may be split
_NUMBERS = 12  # numbers of an output that are considered


@dataclass(frozen=True, eq=False)
class Regions:
    """A tree of thresholds: of each split which number, where, and what lies below and above; leaves are below zero."""

    numbers: Counts
    splits: tuple[tuple[int, int, int, int], ...]

    def __call__(self, outputs: Counts) -> Counts:
        """Return the number of the region of each output, from 0 on."""
        values = _seen(outputs, self.numbers)
        index = np.zeros(len(values), dtype=np.int64)
        if not self.splits:
            return index
        table = np.array(self.splits, dtype=np.int64)
        for _ in range(_DEEPEST):
            inside = np.flatnonzero(index >= 0)
            column, threshold, below, above = table[index[inside]].T
            is_below = values[inside, column] <= threshold
            index[inside] = np.where(is_below, below, above)
        return -1 - index


def learnt_regions(first: Counts, second: Counts, moved: Counts) -> Regions:
    """Return regions learnt from draws of two data sets; the numbers that `moved` are considered before others."""
    length = first.shape[1]
    order = dict.fromkeys([*(int(index) for index in moved if index < length), *range(length)])
    numbers = np.array(list(order)[:_NUMBERS], dtype=np.int64)
    values = np.concatenate([_seen(first, numbers), _seen(second, numbers)])
    is_first = np.arange(len(values)) < len(first)
    splits: list[tuple[int, int, int, int]] = []
    leaves = 0

    def grow(inside: Counts, depth: int) -> int:
        nonlocal leaves
        best = _best_split(values[inside], is_first[inside]) if depth < _DEEPEST else None
        if best is None:
            leaves += 1
            return -leaves
        index = len(splits)
        splits.append((0, 0, 0, 0))
        column, threshold = best
        below = values[inside, column] <= threshold
        ends = [grow(inside[part], depth + 1) for part in (below, ~below)]
        splits[index] = (column, threshold, ends[0], ends[1])
        return index

    grow(np.arange(len(values)), 0)
    return Regions(numbers, tuple(splits))


def _seen(outputs: Counts, numbers: Counts) -> Counts:
    """Return the numbers that are considered, the differences of neighbouring ones, and the total."""
    chosen = outputs[:, numbers]
    return np.column_stack([chosen, np.diff(chosen, axis=1), outputs.sum(axis=1)])


def _best_split(values: Counts, is_first: NDArray[np.bool_]) -> tuple[int, int] | None:
    """Return the number and threshold that tell most, or nothing if no split leaves enough draws on both sides."""
    best, found = 0.0, None
    total = np.array([is_first.sum(), len(is_first) - is_first.sum()], dtype=float)
    whole = _entropy(total[None])[0]
    for column in range(values.shape[1]):
        own = values[:, column]
        edges = np.unique(np.quantile(own, np.linspace(0, 1, _THRESHOLDS + 1), method="inverted_cdf"))[:-1]
        if not edges.size:
            continue
        bins = np.searchsorted(edges, own)
        counts = [np.bincount(bins[side], minlength=len(edges) + 1)[:-1].cumsum() for side in (is_first, ~is_first)]
        below = np.column_stack(counts).astype(float)
        gains = whole - _entropy(below) - _entropy(total - below)
        enough = np.minimum(below.sum(axis=1), (total - below).sum(axis=1)) >= _LEAST_LEAF
        gains = np.where(enough, gains, 0.0)
        index = int(np.argmax(gains))
        if gains[index] > best + 1e-9:
            best, found = float(gains[index]), (column, int(edges[index]))
    return found


def _entropy(counts: Floats) -> Floats:
    """Return how many nats it takes to say which data set each draw of a region came from, for rows of counts."""
    sums = counts.sum(axis=1)
    return np.asarray(xlogy(sums, sums) - xlogy(counts, counts).sum(axis=1))


Pair = tuple[tuple[int, ...], tuple[int, ...]]
Projection = Callable[[Counts], Counts]

DRAWS = 200_000
_BINS = 64  # bins of a histogram; more values are grouped, about equally many in each
_ATOMS = 128  # whole outputs that are considered one by one
_OFTEN = 8  # how often such an output must have been seen
_FEW = 6  # numbers of an output that are considered
_ERRORS = 3.0  # standard errors that the final trial is expected to cost
_CAUTION = 0.1  # tails of the bounds by which events are ranked; the second trial corrects for luck
_SHORTLIST, _FINALISTS = 12, 4  # events kept, and how many simple and learnt ones go through a second trial
_PAIRS = 2  # pairs for which regions are learnt
_LEAST = 50  # draws of a data set
_REPEATED = 24  # rows used to recognise noise that restarts with every call
_SLOW_DRAWS = 400  # draws of a mechanism that must be called for each of them
_RANDOM_PAIRS = 3  # pairs of data sets with drawn records
_KINDS = 64  # different records from which data sets are formed
_OTHERS = (0, 1, 40)  # how many other records there are where their number is secret


@runtime_checkable
class KnowsNeighbours(Protocol):
    """A model that knows which data sets are neighbours, and which of them are worth looking at."""

    def neighbouring_pairs(self, size: int, generator: np.random.Generator) -> list[tuple[Counts, Counts]]:
        """Return neighbouring data sets to look at."""

    def are_neighbours(self, size: int, first: Counts, second: Counts) -> bool:
        """Return whether two data sets may differ by one replaced record."""


@runtime_checkable
class Drawable(Protocol):
    """Everything an audit needs from a mechanism."""

    @property
    def model(self) -> Model:
        """Return the model."""

    @property
    def guarantee(self) -> Guarantee:
        """Return what is promised."""

    def sample(self, counts: Counts, bits: RandomBits) -> Counts:
        """Draw an output for each row of counts."""


@runtime_checkable
class HasSize(Protocol):
    """A mechanism of a public number of records; without one, data sets may differ in a record more or less."""

    @property
    def size(self) -> int:
        """Return the public number of records."""


@dataclass(frozen=True)
class Audit(NotebookRepr):
    """What an audit found: `event` is at least e^epsilon_lower times likelier for the first data set of `pair`.

    `hits` holds how often it occurred among `draws` outputs for each of the two data sets.
    """

    epsilon_lower: float
    pair: Pair
    event: str
    claimed: Guarantee
    confidence: float
    hits: tuple[int, int]
    draws: int

    @property
    def violates(self) -> bool:
        """Return whether the claim is refuted at this confidence."""
        return self.epsilon_lower > self.claimed.epsilon

    def __str__(self) -> str:
        verdict = "The claim is false" if self.violates else "Nothing was found against the claim"
        claim = f"epsilon = {exact_text(self.claimed.epsilon)}, delta = {exact_text(self.claimed.delta)}"
        seen = f"{self.hits[0]} and {self.hits[1]} of {self.draws} draws from {self.pair[0]} and {self.pair[1]}"
        return (
            f"{verdict} ({claim}): epsilon is at least {self.epsilon_lower:.4g} with confidence "
            f"{self.confidence:g}.\nEvent: {self.event}. It occurred in {seen}."
        )

    def _repr_html_(self) -> str:
        """Return what was found for a notebook."""
        title, *lines = str(self).splitlines()
        return with_picture(html_table(title, (), [(line,) for line in lines], words=1), "audit_chart", [("", self)])

    def document(self) -> dict[str, object]:
        """Return all that was found by name."""
        return {
            "epsilon_lower": self.epsilon_lower,
            "violates": self.violates,
            "claimed_epsilon": exact_text(self.claimed.epsilon),
            "claimed_delta": exact_text(self.claimed.delta),
            "confidence": self.confidence,
            "pair": [list(side) for side in self.pair],
            "event": self.event,
            "hits": list(self.hits),
            "draws": self.draws,
        }


def audit(
    mechanism: Drawable,
    draws: int = DRAWS,
    confidence: float = 0.95,
    seed: int = 1,
    pairs: Sequence[tuple[ArrayLike, ArrayLike]] | None = None,
    patience: float = 1.0,
) -> Audit:
    """Search for the neighbours and the event that speak most strongly against a mechanism's guarantee, by simulation.

    >>> import discreet as dc
    >>> coin = dc.Categories("coin", levels=("heads", "tails"), outside="heads")
    >>> found = dc.audit(dc.GeometricHistogram(coin, size=10, epsilon=1), draws=2000)
    >>> found.epsilon_lower <= 1
    True

    Args:
        mechanism: one of the library, or anything that draws outputs (`Drawable`).
        draws: the total number of draws.
        confidence: the probability with which the lower bound holds.
        seed: the seed of the draws.
        pairs: neighbouring simulated data sets; for Categories it is checked that they are neighbours. If left
            out, pairs are chosen for any model: corners, edges, balanced and random ones.
        patience: how many times the usual work is allowed; anything that takes more is refused before it
            begins.

    Returns:
        the largest lower bound of epsilon that was found, with the event and the pair that show it.
    """
    if not isinstance(mechanism, Drawable):
        raise DeclarationError(f"audit takes a mechanism; got a {type(mechanism).__name__}.")
    if not isinstance(confidence, float) or not 0 < confidence < 1:
        raise DeclarationError(f"confidence must lie between 0 and 1, such as 0.95; got {confidence!r}.")
    whole(draws, "draws", least=1_000, most=10**9)
    require(auditing(mechanism, mechanism.model, draws), patience, "Nothing was drawn. Fewer draws need less work.")
    generator = np.random.default_rng(seed)
    chosen = _own_pairs(mechanism, generator) if pairs is None else _arrays(mechanism, pairs)
    box = _Box(mechanism, SeededBits(seed), chosen[0][0])
    half = min(draws, _SLOW_DRAWS * 4 * len(chosen)) // 2 if box.repeats else draws // 2
    claimed, delta = mechanism.guarantee, float(mechanism.guarantee.delta)
    final, each = max(_LEAST, half // 2), max(_LEAST, half // (4 * len(chosen)))
    events = [event for pair in chosen for event in _learnt(box, pair, each, final, delta, generator)]
    shortlist = sorted(events, key=lambda found: -found.score)[:_SHORTLIST]
    learnt = sorted(_learnt_regions(box, shortlist, half // 4, final, delta), key=lambda found: -found.score)
    finalists = [*shortlist[:_FINALISTS], *learnt[:_FINALISTS]]
    best = max(_tried(box, finalists, half // 4, final, delta), key=lambda found: found.score)
    hits, others = (int(best.event.holds(box.draw(side, final)).sum()) for side in best.pair)
    lower = epsilon_lower_bound(hits, others, final, delta, confidence)
    first, second = (tuple(int(count) for count in side) for side in best.pair)
    return Audit(lower, (first, second), best.event.words, claimed, confidence, (hits, others), final)


def epsilon_lower_bound(hits: int, other_hits: int, draws: int, delta: float, confidence: float) -> float:
    """Return ln((P_low - delta)/Q_high), P_low and Q_high the bounds of Clopper and Pearson; at least 0.

    >>> round(epsilon_lower_bound(900, 100, 1000, 0.0, 0.95), 3)
    1.99
    """
    low, high = (float(each) for each in _bounds(np.array(hits), np.array(other_hits), draws, (1 - confidence) / 2))
    return max(0.0, log((low - delta) / high)) if low > delta else 0.0


def _bounds(hits: Counts, others: Counts, draws: int, tail: float) -> tuple[Floats, Floats]:
    """Return P_low and Q_high, each of them wrong with probability `tail` at most."""
    low = betaincinv(np.maximum(hits, 1), draws - hits + 1, tail) * (hits > 0)
    high = np.where(others < draws, betaincinv(others + 1, np.maximum(draws - others, 1), 1 - tail), 1.0)
    return np.asarray(low, dtype=float), np.asarray(high, dtype=float)


def _promise(hits: Counts, others: Counts, draws: int, final: int, delta: float) -> Floats:
    """Return what the final trial, with `final` draws per side, will almost surely show for events seen this often."""
    low, high = _bounds(hits, others, draws, _CAUTION)
    errors = np.sqrt((1 - low) / (np.maximum(low, 1e-300) * final)) + np.sqrt((1 - high) / (high * final))
    return np.where(low > delta, np.log(np.maximum(low - delta, 1e-300) / high) - _ERRORS * errors, -inf)


class _Box:
    """A mechanism that is only ever drawn from."""

    def __init__(self, mechanism: Drawable, bits: RandomBits, table: Counts) -> None:
        self._mechanism, self._bits = mechanism, bits
        first, second = (self._sample(table, _REPEATED) for _ in range(2))
        self.repeats = bool((first == second).all()) and bool((first != first[0]).any())

    def draw(self, table: Counts, count: int) -> Counts:
        """Draw outputs: many in one call, or one per call if the noise restarts with every call."""
        if not self.repeats:
            return self._sample(table, count)
        return np.concatenate([self._sample(table, 1) for _ in range(count)])

    def _sample(self, table: Counts, count: int) -> Counts:
        outputs = np.asarray(self._mechanism.sample(np.tile(table, (count, 1)), self._bits))
        return outputs.reshape(count, -1)


@dataclass(frozen=True, eq=False)
class _Event:
    """A set of values of a projection: those in the chosen bins."""

    words: str
    projection: Projection
    edges: Counts
    chosen: NDArray[np.bool_]

    def holds(self, outputs: Counts) -> NDArray[np.bool_]:
        return np.asarray(self.chosen[np.searchsorted(self.edges, self.projection(outputs), side="right")])


@dataclass(frozen=True, eq=False)
class _Found:
    score: float
    pair: tuple[Counts, Counts]
    event: _Event


def _learnt(
    box: _Box, pair: tuple[Counts, Counts], number: int, final: int, delta: float, generator: np.random.Generator
) -> Iterator[_Found]:
    """Yield the most telling event on each projection, one way and the other."""
    first, second = (box.draw(side, number) for side in pair)
    for name, projection, edges_of in projections(pair, first.shape[1], generator):
        values = projection(first), projection(second)
        edges = edges_of(np.concatenate(values))
        one, two = (np.bincount(np.searchsorted(edges, v, side="right"), minlength=len(edges) + 1) for v in values)
        for p, q, sides in ((one, two, pair), (two, one, pair[::-1])):
            score, chosen = _likeliest_bins(p, q, number, final, delta)
            yield _Found(score, sides, _Event(_in_words(name, edges, chosen), projection, edges, chosen))


def _learnt_regions(box: _Box, shortlist: Sequence[_Found], draws: int, final: int, delta: float) -> Iterator[_Found]:
    """Yield, for each of the best pairs, a set of learnt regions as an event: learnt on some draws, tried on others.

    Half of a pair's draws grow the tree, a quarter chooses among its regions, and a quarter says how good they are.
    """
    pairs = {frozenset(tuple(side.tolist()) for side in found.pair): found.pair for found in reversed(shortlist)}
    chosen = list(pairs.values())[-_PAIRS:]
    number = max(_LEAST, draws // (8 * len(chosen)))
    for pair in chosen:
        drawn = [box.draw(side, 4 * number) for side in pair]
        regions = learnt_regions(drawn[0][: 2 * number], drawn[1][: 2 * number], np.flatnonzero(pair[0] != pair[1]))
        indices = [regions(side[2 * number :]) for side in drawn]
        edges = np.arange(len(regions.splits) + 1)
        one, two = (np.bincount(index[:number] + 1, minlength=len(edges) + 1) for index in indices)
        for p, q, sides, side in ((one, two, pair, slice(None)), (two, one, pair[::-1], slice(None, None, -1))):
            _, chosen_bins = _likeliest_bins(p, q, number, final, delta)
            event = _Event(_learnt_words(chosen_bins), regions, edges, chosen_bins)
            hits, others = (np.array([chosen_bins[index[number:] + 1].sum()]) for index in indices[side])
            yield _Found(float(_promise(hits, others, number, final, delta)[0]), sides, event)


def _learnt_words(chosen: NDArray[np.bool_]) -> str:
    """Count regions; the first bin lies below all of them and is always empty."""
    return f"the output lies in {int(chosen[1:].sum())} of {len(chosen) - 1} learnt regions"


def _tried(box: _Box, shortlist: Sequence[_Found], draws: int, final: int, delta: float) -> Iterator[_Found]:
    """Yield events with their scores on fresh draws."""
    by_pair: dict[tuple[tuple[int, ...], ...], list[_Found]] = {}
    for found in shortlist:
        by_pair.setdefault(tuple(tuple(side.tolist()) for side in found.pair), []).append(found)
    number = max(_LEAST, draws // (2 * len(by_pair)))
    for group in by_pair.values():
        outputs = [box.draw(side, number) for side in group[0].pair]
        for found in group:
            hits, others = (np.array([found.event.holds(side).sum()]) for side in outputs)
            yield _Found(float(_promise(hits, others, number, final, delta)[0]), found.pair, found.event)


def _likeliest_bins(p: Counts, q: Counts, number: int, final: int, delta: float) -> tuple[float, NDArray[np.bool_]]:
    """Return the best score and its set of bins: bins in the order of p/q, or a run of bins from either end."""
    best, chosen = -inf, np.zeros(len(p), dtype=np.bool_)
    for order in (np.argsort(-(p + 0.5) / (q + 0.5), kind="stable"), np.arange(len(p)), np.arange(len(p))[::-1]):
        scores = _promise(np.cumsum(p[order]), np.cumsum(q[order]), number, final, delta)
        index = int(np.argmax(scores))
        if scores[index] > best:
            best, chosen = float(scores[index]), np.isin(np.arange(len(p)), order[: index + 1])
    return best, chosen


def projections(
    pair: tuple[Counts, Counts], length: int, generator: np.random.Generator
) -> Iterator[tuple[str, Projection, Callable[[Counts], Counts]]]:
    """Yield projections of outputs to whole numbers, by name, each with a way to bin its values."""
    moved = np.flatnonzero(pair[0] != pair[1])
    indices = list(dict.fromkeys([*(int(p) for p in moved if p < length), *range(length)]))[:_FEW]
    for i in indices:
        yield f"number {i + 1}", partial(_sum_of, {i: 1}), _ordered
        for bits in (1, 2, 4):
            yield f"number {i + 1} modulo {2**bits}", partial(_modulo, {i: 1}, 2**bits), _ordered
    for i, j in pairwise(indices):
        yield f"number {i + 1} less number {j + 1}", partial(_sum_of, {i: 1, j: -1}), _ordered
    unit = int(np.gcd.reduce(pair[0] - pair[1]))
    if unit > 1:  # records are made of so many units: what hides units may tell records
        for signs, name in [
            *(({i: 1}, f"number {i + 1}") for i in indices),
            *(({i: 1, j: 1}, f"number {i + 1} plus number {j + 1}") for i, j in combinations(sorted(indices), 2)),
        ]:
            yield name, partial(_sum_of, signs), _ordered
            yield f"{name} modulo {2 * unit}", partial(_modulo, signs, 2 * unit), _ordered
    every = dict.fromkeys(range(length), 1)
    yield "the total", partial(_sum_of, every), _ordered
    yield "the total modulo 2", partial(_modulo, every, 2), _ordered
    yield "the largest number", _largest, _ordered
    if length == len(pair[0]):
        yield "the distance from the first data set", partial(_distance, pair[0]), _ordered
        yield "the distance from the second data set", partial(_distance, pair[1]), _ordered
        yield "the difference of both distances", partial(_difference, *pair), _ordered
    factors = generator.integers(1, 2**62, size=length) * 2 + 1
    yield "the whole output", partial(_mixed, factors), _atoms


def _sum_of(signs: dict[int, int], outputs: Counts) -> Counts:
    return np.asarray(sum(sign * outputs[:, index] for index, sign in signs.items()))


def _modulo(signs: dict[int, int], base: int, outputs: Counts) -> Counts:
    return np.asarray(_sum_of(signs, outputs) % base)


def _largest(outputs: Counts) -> Counts:
    return np.asarray(outputs.max(axis=1))


def _distance(table: Counts, outputs: Counts) -> Counts:
    return np.asarray(np.abs(outputs - table).sum(axis=1))


def _difference(first: Counts, second: Counts, outputs: Counts) -> Counts:
    return _distance(first, outputs) - _distance(second, outputs)


def _mixed(factors: Counts, outputs: Counts) -> Counts:
    """Return a number that differs for different outputs, nearly always."""
    with np.errstate(over="ignore"):
        return np.asarray((outputs * factors).sum(axis=1))


def _ordered(values: Counts) -> Counts:
    """Return the left ends of bins: one per value, or with about equally many values in each if there are too many."""
    distinct = np.unique(values)
    if len(distinct) <= _BINS:
        return distinct
    return np.unique(np.quantile(values, np.linspace(0, 1, _BINS + 1), method="inverted_cdf"))


def _atoms(values: Counts) -> Counts:
    """Return ends of bins that hold one frequent value each, with all others in between."""
    distinct, times = np.unique(values, return_counts=True)
    frequent = distinct[np.argsort(-times, kind="stable")[: min(_ATOMS, int((times >= _OFTEN).sum()))]]
    return np.unique(np.concatenate([frequent, frequent + 1]))


def _in_words(name: str, edges: Counts, chosen: NDArray[np.bool_]) -> str:
    """Say which values of a projection were chosen."""
    number = int(chosen.sum())
    if name == "the whole output":
        return f"{name} is one of {number} values found"
    inside = np.flatnonzero(chosen)
    if not (np.diff(inside) == 1).all():
        return f"{name} is in one of {number} ranges out of {len(chosen)}"
    if inside[0] <= 1:
        return f"{name} is below {edges[inside[-1]]}" if inside[-1] < len(edges) else f"{name} is anything"
    if inside[-1] == len(edges):
        return f"{name} is {edges[inside[0] - 1]} or more"
    return f"{name} is from {edges[inside[0] - 1]} to {edges[inside[-1]] - 1}"


def _own_pairs(mechanism: Drawable, generator: np.random.Generator) -> list[tuple[Counts, Counts]]:
    """Return neighbours of a mechanism: with its public number of records, or with and without one record."""
    if isinstance(mechanism, HasSize):
        return neighbouring_pairs(mechanism.model, mechanism.size, generator)
    rows, _ = mechanism.model.contributions(_KINDS)
    ends = list(dict.fromkeys((0, len(rows) - 1)))
    found = [(rows[other] * records, rows[end]) for records in _OTHERS for other in ends for end in ends]
    for records in _OTHERS[1:]:
        others = rows[generator.integers(len(rows), size=min(records, _KINDS))].sum(axis=0)
        found.append((others, rows[int(generator.integers(len(rows)))]))
    return list({(tuple(one), tuple(own)): (one, one + own) for one, own in found}.values())


def neighbouring_pairs(model: Model, size: int, generator: np.random.Generator) -> list[tuple[Counts, Counts]]:
    """Return neighbouring data sets to compare, each once: those that a model names, or simulated ones."""
    if not isinstance(model, Model):
        raise DeclarationError(f"Neighbouring data sets are simulated for a model; got a {type(model).__name__}.")
    if isinstance(model, KnowsNeighbours):
        pairs = model.neighbouring_pairs(size, generator)
    else:
        pairs = _made_up_pairs(model, size, generator)
    return list({(tuple(one), tuple(two)): (one, two) for one, two in pairs}.values())


def _made_up_pairs(model: Model, size: int, generator: np.random.Generator) -> list[tuple[Counts, Counts]]:
    """Return neighbouring data sets of any model: all other records alike, or drawn from all kinds of records."""
    rows, _ = model.contributions(_KINDS)
    gaps = np.abs(rows[:, None] - rows[None]).sum(axis=-1)
    first, second = (int(index) for index in np.unravel_index(int(gaps.argmax()), gaps.shape))
    ends = [(first, second), (second, first), (0, len(rows) - 1), (0, min(1, len(rows) - 1))]
    starts = [(rows[one] * (size - 1), one, two) for one, two in ends if one != two]
    for _ in range(_RANDOM_PAIRS):
        others = rows[generator.integers(len(rows), size=min(size - 1, _KINDS))].sum(axis=0)
        others = others + rows[0] * max(0, size - 1 - _KINDS)
        one, two = (int(index) for index in generator.choice(len(rows), size=2, replace=False))
        starts.append((others, one, two))
    return [(others + rows[one], others + rows[two]) for others, one, two in starts]


def _arrays(mechanism: Drawable, pairs: Sequence[tuple[ArrayLike, ArrayLike]]) -> list[tuple[Counts, Counts]]:
    try:
        found = [(np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)) for first, second in pairs]
    except (TypeError, ValueError):
        found = []
    if not found or any(first.shape != second.shape or first.ndim != 1 for first, second in found):
        raise DeclarationError("pairs must hold one or more pairs of flat rows of counts of the same length.")
    model = mechanism.model
    if isinstance(model, KnowsNeighbours) and not all(_are_neighbours(mechanism, model, *pair) for pair in found):
        pair = f"{mechanism.size} records each, one of them replaced" if isinstance(mechanism, HasSize) else "one added"
        raise DeclarationError(f"pairs must be neighbours: {pair}.")
    return found


def _are_neighbours(mechanism: Drawable, model: KnowsNeighbours, first: Counts, second: Counts) -> bool:
    """Return whether data sets differ in a replaced record or, where their number is secret, in one that was added."""
    if isinstance(mechanism, HasSize):
        return model.are_neighbours(mechanism.size, first, second)
    step = (second - first) * (1 if second.sum() > first.sum() else -1)
    rows, _ = mechanism.model.contributions(len(step))
    return bool(min(first.min(), second.min()) >= 0 and (rows == step).all(axis=1).any())
