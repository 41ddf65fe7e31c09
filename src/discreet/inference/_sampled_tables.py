"""The tables of any graph by chains, run until they agree; their diagnostics are part of the solution.

Chains warm up, learning step and metric, and then run in blocks until nested R-hat, the bulk and the tail effective
size of every probability are good, or they have run as long as was allowed. Probabilities are judged by their means
given the tables, which are what is averaged.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import ConvergenceWarning
from discreet._core.progress import StepCounter
from discreet.inference._count_chains import CountChains
from discreet.inference._fits import Fit
from discreet.inference._normal_coordinates import Coordinates, JointTable
from discreet.inference._table_counts import McmcDiagnostics, TableCounts
from discreet.mathematics import Agreement, agreement, in_order_of_starts

FEW, MANY = 64, 128
"""Chains of large and of small graphs."""
_LARGE = 300  # coordinates
WARM, BLOCK = 24, 20
"""Moves that warm up, and draws between two looks at how well chains agree."""
LONGEST = 160
"""The most draws of each chain; twice as many for small graphs."""

_TIME = 2.0  # how long a move goes on, in the metric's units
_LEARNT = (0, 4, 9, 15)  # moves before which the metric is computed
_TINY = 30  # records
_NUDGES = 30
_WANTED_R_HAT, _WANTED_SIZE, _WANTED_TAIL = 1.015, 400.0, 200.0
_BAD_R_HAT, _BAD_SIZE, _BAD_SHARE = 1.05, 100.0, 0.1
_APART = 8.0


@dataclass(frozen=True, eq=False)
class TablesTarget:
    """What chains sample: tables of `coordinates`, seen through `fit` at the families `maximal`; `alphas` are priors.

    `shares` draws where chains start, (rows, levels, chains) of every variable; without it they start from the prior,
    and the likelihood is introduced gradually. `joint` is roughly known about tables that the graph leaves open.
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

    def means(self, tables: Sequence[Counts]) -> Floats:
        """Return (prior + count) / (total of both) of every cell (cells, ...), from tables (rows, levels, ...)."""
        found = []
        for alpha, table in zip(self.alphas, tables, strict=True):
            shapes = table + alpha.reshape(-1, alpha.shape[-1], *(1 for _ in table.shape[2:]))
            found.append((shapes / shapes.sum(axis=1, keepdims=True)).reshape(-1, *table.shape[2:]))
        return np.concatenate(found)


def chains_for(length: int) -> int:
    """Return how many chains run for this many coordinates."""
    return FEW if length > _LARGE else MANY


def longest_for(length: int) -> int:
    """Return how many draws each of them makes at most."""
    return LONGEST if length > _LARGE else 2 * LONGEST


class SampledTables(TableCounts):
    """Draws of the true tables by chains; `agreement` says how good they are."""

    def __init__(
        self, target: TablesTarget, seed: int, evidence: Callable[[], tuple[float, float]], longest: int | None = None
    ) -> None:
        self._target, self._evidence = target, evidence
        nudges = target.nudges
        chains = target.begun(np.random.default_rng(seed))
        starts = target.means(chains.tables)
        self._kept: list[list[Counts]] = []
        shares: list[float] = []
        most = longest_for(target.coordinates.length) if longest is None else longest
        with StepCounter("Reading by Markov chains, at most", WARM + most) as steps:
            for number in range(WARM):
                if target.shares is None:
                    chains.power = min(1.0, ((number + 1) / 12) ** 2)
                if number in _LEARNT:
                    chains.learn_metric(rescaled=number > 0)
                chains.move(1.0 if number < 6 else _TIME, gain=0.4 / (1 + number / 8))
                for _ in range(nudges):
                    chains.nudge()
                steps.done(number + 1)
            while len(self._kept) < most:
                for _ in range(BLOCK):
                    shares.append(chains.move(_TIME))
                    for _ in range(nudges):
                        chains.nudge()
                    self._kept.append([table.astype(np.int32) for table in chains.tables])
                    steps.done(WARM + len(self._kept))
                means = np.stack([target.means(tables) for tables in self._kept], axis=2)
                self.agreement, self._apart = agreement(in_order_of_starts(means, starts)), chains_apart(means)
                if _is_good(self.agreement) and not self._apart:
                    break
        self.accepted, self.positions = float(np.mean(shares)), chains.q
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
        found = self.agreement
        is_stuck = self.accepted < _BAD_SHARE and not self._target.nudges  # turned coordinates go on without moves
        if found.r_hat > _BAD_R_HAT or min(found.bulk, found.tail) < _BAD_SIZE or is_stuck or self._apart:
            apart = f"{self._apart} of them stayed away from all others, " if self._apart else ""
            warnings.warn(
                f"After {WARM + len(self._kept)} moves the chains do not agree well enough: {apart}{self._figures}. "
                "Treat the intervals as rough.",
                ConvergenceWarning,
                stacklevel=2,
            )

    @property
    def _figures(self) -> str:
        found = self.agreement
        return (
            f"nested R-hat {found.r_hat:.3f}, effective sizes {found.bulk:,.0f} and {found.tail:,.0f} in the tails, "
            f"{self.accepted:.0%} of the moves accepted"
        )

    @property
    def method(self) -> str:
        """Say how long the chains ran, and how well they agree."""
        error = f"Monte Carlo errors of means at most {self.agreement.errors.max():.2g}"
        return f"read by {self._target.chains} Markov chains of {len(self._kept)} draws ({self._figures}; {error})"

    @property
    def diagnostics(self) -> McmcDiagnostics:
        """Return how good the worst of all probabilities is."""
        found = self.agreement
        return McmcDiagnostics(found.r_hat, found.bulk, found.tail, self.accepted, self._by_variable(found.errors))

    def _by_variable(self, cells: Floats) -> list[Floats]:
        parts = [table[..., 0].shape for table in self._kept[0]]
        ends = np.cumsum([rows * levels for rows, levels in parts])
        return [own.reshape(shape) for own, shape in zip(np.split(cells, ends[:-1]), parts, strict=True)]

    def means(self) -> list[Floats]:
        """Return the averages over all draws of the expected probabilities given the tables."""
        total = np.mean([self._target.means(tables).mean(axis=1) for tables in self._kept], axis=0)
        return self._by_variable(total)

    @cached_property
    def pool(self) -> list[Counts]:
        """Return all draws of the tables of every variable (chains, draws, rows, levels)."""
        return [np.stack(own, axis=-1).transpose(2, 3, 0, 1) for own in zip(*self._kept, strict=True)]

    def by_chain(self, count: int) -> list[Counts]:
        """Return about this many draws of the tables (chains, draws, rows, levels), evenly spaced along every chain."""
        each = min(max(1, count // self._target.chains), len(self._kept))
        indices = np.linspace(0, len(self._kept) - 1, each).round().astype(np.int64)
        return [table[:, indices].astype(np.int64) for table in self.pool]

    def tables(self, count: int, generator: np.random.Generator) -> list[Counts]:
        """Draw tables (draws, rows, levels) of every variable: any of those kept, none twice before all were once."""
        length = self._target.chains * len(self._kept)
        rounds = [generator.permutation(length) for _ in range(-(-count // length) or 1)]
        indices = np.unravel_index(np.concatenate(rounds)[:count], (self._target.chains, len(self._kept)))
        return [table[indices].astype(np.int64) for table in self.pool]


def chains_apart(values: Floats) -> int:
    """Return how many chains stayed far from all others in any quantity, values (quantities, chains, draws).

    A few among many hardly show in R-hat. They are far if their means are more than eight times as far from the
    middle one as a chain usually wanders.
    """
    means, wandering = values.mean(axis=2), np.sqrt(values.var(axis=2).mean(axis=1, keepdims=True))
    off = np.abs(means - np.median(means, axis=1, keepdims=True))
    return int((off > _APART * wandering + 1e-9).any(axis=0).sum())


def _is_good(found: Agreement) -> bool:
    return found.r_hat <= _WANTED_R_HAT and found.bulk >= _WANTED_SIZE and found.tail >= _WANTED_TAIL
