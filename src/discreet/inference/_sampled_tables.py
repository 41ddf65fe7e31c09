"""The tables of any graph by chains, run until they agree; their diagnostics are part of the solution.

Chains run until nested R-hat, the bulk and the tail effective size of every probability are good, or they have run as
long as was allowed. Probabilities are judged by their means given the tables, which are what is averaged.

Chains that follow slopes warm up, learning step and metric, and then run in blocks of draws. Chains that move records
run in rounds of 20 draws, each round with twice as many sweeps between two draws as the last one; the draws of the last
round are kept, so that all that came before was warm-up.
"""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Protocol

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import ConvergenceWarning
from discreet._core.progress import StepCounter
from discreet.inference._cliques import Parents
from discreet.inference._count_chains import CountChains
from discreet.inference._fits import Fit
from discreet.inference._normal_coordinates import Coordinates, JointTable
from discreet.inference._record_moves import LEAST_MOVES, RecordMoves, SeenTable, margins_that_weigh
from discreet.inference._table_counts import McmcDiagnostics, TableCounts
from discreet.mathematics import Agreement, agreement, in_order_of_starts

FEW, MANY = 64, 128
"""Chains of large and of small graphs."""
_LARGE = 300  # coordinates
WARM, BLOCK = 24, 20
"""Moves that warm up, and draws between two looks at how well chains agree."""
LONGEST = 160
"""The most draws of each chain; twice as many for small graphs."""

MOVED, ROUNDS = 256, 8
"""Chains that move records, and the most rounds of these."""

_TIME = 2.0  # how long a move goes on, in the metric's units
_LEARNT = (0, 4, 9, 15)  # moves before which the metric is computed
_TINY = 30  # records
_NUDGES = 30
_WANTED_R_HAT, _WANTED_SIZE, _WANTED_TAIL = 1.015, 400.0, 200.0
_BAD_R_HAT, _BAD_SIZE, _BAD_SHARE = 1.05, 100.0, 0.1
_APART = 8.0


@dataclass(frozen=True, eq=False)
class ChainRun:
    """What chains left: the draws that were kept, how well they agree, and how often they moved."""

    chains: int
    kept: Sequence[Sequence[Counts]]
    """Draws of the tables (rows, levels, chains) of all variables."""
    agreement: Agreement
    apart: int
    accepted: float
    moves: int
    """Moves, or sweeps of moves, before and after the warm-up."""
    is_stuck: bool = False
    positions: Floats | None = None
    """Where chains in coordinates ended."""

    @property
    def is_good(self) -> bool:
        """Return whether chains may stop."""
        found = self.agreement
        return (
            not self.apart
            and found.r_hat <= _WANTED_R_HAT
            and found.bulk >= _WANTED_SIZE
            and found.tail >= _WANTED_TAIL
        )


class ChainTarget(Protocol):
    """What chains sample, and how: `alphas` are the priors of the rows of every variable."""

    @property
    def alphas(self) -> Sequence[Floats]:
        """Return the parameters (rows, levels), or (levels), of every variable."""

    def run(self, seed: int, longest: int | None) -> ChainRun:
        """Run chains until they agree, or as long as is allowed."""


def means_given(alphas: Sequence[Floats], tables: Sequence[Counts]) -> Floats:
    """Return (prior + count) / (total of both) of every cell (cells, ...), from tables (rows, levels, ...)."""
    found = []
    for alpha, table in zip(alphas, tables, strict=True):
        shapes = table + alpha.reshape(-1, alpha.shape[-1], *(1 for _ in table.shape[2:]))
        found.append((shapes / shapes.sum(axis=1, keepdims=True)).reshape(-1, *table.shape[2:]))
    return np.concatenate(found)


def judged(alphas: Sequence[Floats], kept: Sequence[Sequence[Counts]], starts: Floats) -> tuple[Agreement, int]:
    """Return how well chains agree about all probabilities, and how many stayed away from the others."""
    means = np.stack([means_given(alphas, tables) for tables in kept], axis=2)
    return agreement(in_order_of_starts(means, starts)), chains_apart(means)


@dataclass(frozen=True, eq=False)
class TablesTarget:
    """What chains in coordinates sample: tables of `coordinates`, seen through `fit` at the families `maximal`.

    `alphas` are the priors. `shares` draws where chains start, (rows, levels, chains) of every variable; without it
    they start from the prior, and the likelihood is introduced gradually. `joint` is roughly known about tables that
    the graph leaves open.
    """

    coordinates: Coordinates
    fit: Fit
    maximal: Sequence[int]
    alphas: Sequence[Floats]
    shares: Callable[[int, np.random.Generator], Sequence[Floats]] | None
    joint: JointTable | None = None

    @property
    def chains(self) -> int:
        """Return how many chains run side by side."""
        return chains_for(self.coordinates.length)

    @property
    def nudges(self) -> int:
        """Return how many single coordinates are rotated after every move: none unless single records matter."""
        sharp = self.coordinates.size < _TINY or self.fit.sharpness > 1
        return min(self.coordinates.length, _NUDGES) if sharp else 0

    def begun(self, generator: np.random.Generator) -> CountChains:
        """Return chains at their starts."""
        if self.shares is None:
            q = generator.standard_normal((self.coordinates.length, self.chains))
        else:
            q = self.coordinates.start(self.shares(self.chains, generator), generator, self.joint)
        return CountChains(self.coordinates, self.fit, self.maximal, q, generator)

    def run(self, seed: int, longest: int | None) -> ChainRun:
        """Warm chains up, and run them in blocks until they agree."""
        chains = self.begun(np.random.default_rng(seed))
        starts = means_given(self.alphas, chains.tables)
        kept: list[list[Counts]] = []
        shares: list[float] = []
        most = longest_for(self.coordinates.length) if longest is None else longest
        with StepCounter("Inference by Markov chains, at most", WARM + most) as steps:
            for number in range(WARM):
                if self.shares is None:
                    chains.power = min(1.0, ((number + 1) / 12) ** 2)
                if number in _LEARNT:
                    chains.learn_metric(rescaled=number > 0)
                chains.move(1.0 if number < 6 else _TIME, gain=0.4 / (1 + number / 8))
                for _ in range(self.nudges):
                    chains.nudge()
                steps.done(number + 1)
            while len(kept) < most:
                for _ in range(BLOCK):
                    shares.append(chains.move(_TIME))
                    for _ in range(self.nudges):
                        chains.nudge()
                    kept.append([table.astype(np.int32) for table in chains.tables])
                    steps.done(WARM + len(kept))
                accepted = float(np.mean(shares))
                is_stuck = accepted < _BAD_SHARE and not self.nudges  # turned coordinates go on without moves
                found = judged(self.alphas, kept, starts)
                run = ChainRun(self.chains, kept, *found, accepted, WARM + len(kept), is_stuck, chains.q)
                if run.is_good:
                    break
        return run


@dataclass(frozen=True, eq=False)
class MovesTarget:
    """What chains that move records sample: tables seen through measured ones; `coordinates` only give their starts."""

    coordinates: Coordinates
    levels: Sequence[int]
    parents: Parents
    alphas: Sequence[Floats]
    seen: Sequence[SeenTable]
    shares: Callable[[int, np.random.Generator], Sequence[Floats]] | None
    joint: JointTable | None = None

    def run(self, seed: int, longest: int | None) -> ChainRun:
        """Run chains in rounds, each twice as long as the last, until the draws of one agree."""
        generator = np.random.default_rng(seed)
        margins = margins_that_weigh(self.levels, self.parents, self.alphas, self.seen)
        chains = RecordMoves(
            self.levels, self.parents, margins, self.coordinates.size, self._start(generator), generator
        )
        starts = means_given(self.alphas, chains.tables)
        each, rounds = sweeps_for(chains.moves.values()), ROUNDS if longest is None else 2
        done = 0
        with StepCounter("Inference by Markov chains, at most", each * BLOCK * (2**rounds - 1)) as steps:
            for number in range(rounds):
                kept, shares = list[list[Counts]](), list[float]()
                for _ in range(BLOCK):
                    for _ in range(each * 2**number):
                        chains.sweep()
                        shares.append(chains.accepted)
                    done += each * 2**number
                    kept.append([table.astype(np.int32) for table in chains.tables])
                    steps.done(done)
                found = judged(self.alphas, kept, starts)
                run = ChainRun(chains.chains, kept, *found, float(np.mean(shares)), done)
                if run.is_good:
                    break
        return run

    def _start(self, generator: np.random.Generator) -> list[Floats]:
        """Return the tables in which chains begin."""
        if self.shares is None:
            return self.coordinates.filled(generator.standard_normal((self.coordinates.length, MOVED)))
        shares = self.shares(MOVED, generator)
        return self.coordinates.filled(self.coordinates.start(shares, generator, self.joint))


def sweeps_for(moves: Iterable[int]) -> int:
    """Return how many sweeps of that many moves of each variable lie between two draws of the first round."""
    return max(1, ceil(LEAST_MOVES / max(1, sum(moves))))


def chains_for(length: int) -> int:
    """Return how many chains run for this many coordinates."""
    return FEW if length > _LARGE else MANY


def longest_for(length: int) -> int:
    """Return how many draws each of them makes at most."""
    return LONGEST if length > _LARGE else 2 * LONGEST


class SampledTables(TableCounts):
    """Draws of the true tables by chains; `agreement` says how good they are."""

    def __init__(
        self, target: ChainTarget, seed: int, evidence: Callable[[], tuple[float, float]], longest: int | None = None
    ) -> None:
        self._alphas, self._evidence = target.alphas, evidence
        self.run = target.run(seed, longest)
        self.agreement = self.run.agreement
        self._warn()

    @property
    def log_evidence(self) -> float:  # type: ignore[override]  # computed where somebody asks
        """Return log P(releases | prior), NaN where it is not known."""
        return self._known_evidence[0]

    @property
    def log_evidence_error(self) -> float:
        return self._known_evidence[1]

    @cached_property
    def _known_evidence(self) -> tuple[float, float]:
        return self._evidence()

    def _warn(self) -> None:
        found, run = self.agreement, self.run
        if found.r_hat > _BAD_R_HAT or min(found.bulk, found.tail) < _BAD_SIZE or run.is_stuck or run.apart:
            apart = f"{run.apart} of them stayed away from all others, " if run.apart else ""
            warnings.warn(
                f"After {run.moves} moves the chains do not agree well enough: {apart}{self._figures}. "
                "Treat the intervals as rough.",
                ConvergenceWarning,
                stacklevel=2,
            )

    @property
    def _figures(self) -> str:
        found = self.agreement
        return (
            f"nested R-hat {found.r_hat:.3f}, effective sizes {found.bulk:,.0f} and {found.tail:,.0f} in the tails, "
            f"{self.run.accepted:.0%} of the moves accepted"
        )

    @property
    def method(self) -> str:
        """Say how long the chains ran, and how well they agree."""
        error = f"Monte Carlo errors of means at most {self.agreement.errors.max():.2g}"
        return f"read by {self.run.chains} Markov chains of {len(self.run.kept)} draws ({self._figures}; {error})"

    @property
    def diagnostics(self) -> McmcDiagnostics:
        """Return how good the worst of all probabilities is."""
        found = self.agreement
        return McmcDiagnostics(found.r_hat, found.bulk, found.tail, self.run.accepted, self._by_variable(found.errors))

    def _by_variable(self, cells: Floats) -> list[Floats]:
        parts = [table[..., 0].shape for table in self.run.kept[0]]
        ends = np.cumsum([rows * levels for rows, levels in parts])
        return [own.reshape(shape) for own, shape in zip(np.split(cells, ends[:-1]), parts, strict=True)]

    def means(self) -> list[Floats]:
        """Return the averages over all draws of the expected probabilities given the tables."""
        total = np.mean([means_given(self._alphas, tables).mean(axis=1) for tables in self.run.kept], axis=0)
        return self._by_variable(total)

    @cached_property
    def pool(self) -> list[Counts]:
        """Return all draws of the tables of every variable (chains, draws, rows, levels)."""
        return [np.stack(own, axis=-1).transpose(2, 3, 0, 1) for own in zip(*self.run.kept, strict=True)]

    def by_chain(self, count: int) -> list[Counts]:
        """Return about this many draws of the tables (chains, draws, rows, levels), evenly spaced along every chain."""
        each = min(max(1, count // self.run.chains), len(self.run.kept))
        indices = np.linspace(0, len(self.run.kept) - 1, each).round().astype(np.int64)
        return [table[:, indices].astype(np.int64) for table in self.pool]

    def tables(self, count: int, generator: np.random.Generator) -> list[Counts]:
        """Draw tables (draws, rows, levels) of every variable: any of those kept, none twice before all were once."""
        length = self.run.chains * len(self.run.kept)
        rounds = [generator.permutation(length) for _ in range(-(-count // length) or 1)]
        indices = np.unravel_index(np.concatenate(rounds)[:count], (self.run.chains, len(self.run.kept)))
        return [table[indices].astype(np.int64) for table in self.pool]


def chains_apart(values: Floats) -> int:
    """Return how many chains stayed far from all others in any quantity, values (quantities, chains, draws).

    A few among many hardly show in R-hat. They are far if their means are more than eight times as far from the
    middle one as a chain usually wanders.
    """
    means, wandering = values.mean(axis=2), np.sqrt(values.var(axis=2).mean(axis=1, keepdims=True))
    off = np.abs(means - np.median(means, axis=1, keepdims=True))
    return int((off > _APART * wandering + 1e-9).any(axis=0).sum())
