"""What a reader knows from a median in two steps: the table of the first, and the number below one of its edges."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet._core.arrays import Floats
from discreet.inference import PosteriorSample, Problem
from discreet.noise import PrefixSumNoise, epsilon_weights
from discreet.numbers._edge_tests import EdgeTests
from discreet.numbers._step_tests import StepTests, laplace_cut, weights_of
from discreet.numbers._table_inference import NumberTableSolution
from discreet.numbers._table_posterior import NumberTablePosterior, NumberTableSolver
from discreet.numbers._two_step_median import Below

_MORE = 16  # draws of the table for each one that the second step keeps


@dataclass(frozen=True, eq=False)
class TwoStepSolution(NumberTableSolution):
    """What was published about a table, and the count `noisy` below its inner edge `edge`, with noise of this rate."""

    edge: int = 1
    noisy: int = 0
    rate: float = 1.0

    @property
    def method(self) -> str:
        at = self.model.shown(float(self.model.edge_values[self.edge]))
        return f"{super().method}; below {at} by the second step as well"

    @cached_property
    def distribution(self) -> PrefixSumNoise:
        """Return the distribution of the noise of the second number."""
        return laplace_cut(self.rate)

    @cached_property
    def tests(self) -> tuple[EdgeTests, ...]:
        """Return the tests of both steps."""
        (table,) = super().tests
        cut = self.prefix_sums.cut(self.edge) if self.is_exact and self.prefix_sums is not None else None
        spread = float(self.drawn[:, 0, : self.edge].sum(axis=1).std()) if cut is None else cut.sd
        return (StepTests(table, self.size, spread, self.edge, self.noisy, self.distribution),)


class TwoStepSolver(NumberTableSolver):
    """Reads one median in two steps."""

    def unsupported_reason(self, problem: Problem) -> str | None:
        if not problem.is_measured or len(problem.observed) > 1 or len(problem.measurements) != 2:
            return "it is not a median in two steps"
        return None if isinstance(problem.measurements[1].of, Below) else "it is not a median in two steps"

    def solve(self, problem: Problem) -> TwoStepSolution:
        table, second = problem.measurements
        below = second.of
        assert isinstance(below, Below)
        (rate,) = epsilon_weights(second.noise.structure) or (1.0,)
        return TwoStepSolution(
            problem.model, problem.size, table.values, table.noise,
            edge=below.edge, noisy=int(second.values[0]), rate=float(rate),
        )  # fmt: skip


class TwoStepPosterior(NumberTablePosterior, shows=TwoStepSolution):
    """Quantiles and shares from a median in two steps, each among the records and in the population."""

    solution: TwoStepSolution

    def sample(self, count: int, seed: int | None = None) -> PosteriorSample:
        """Draw from the table, and keep what the second number makes likely."""
        found = super().sample(_MORE * count, seed)
        below = found.behind[:, : self.solution.edge].sum(axis=1)
        weights = weights_of(below, self.solution.noisy, self.solution.distribution)
        kept = np.random.default_rng(seed).choice(len(weights), size=count, p=weights)
        return PosteriorSample({name: values[kept] for name, values in found.parameters.items()}, found.behind[kept])

    def log_likelihoods(self, sample: PosteriorSample) -> list[Floats]:
        """Return log P(noise) of both steps at the counts of each draw."""
        below = sample.behind[:, : self.solution.edge].sum(axis=1)
        own = -self.solution.rate * np.abs(self.solution.noisy - below) + np.log(np.tanh(self.solution.rate / 2))
        return [super().log_likelihoods(sample)[0] + own]
