"""Quantiles, shares and histograms of a number where the number of records is secret: tests at edges, by ratios.

At the true quantile p of any number of records (1 - p) C_j - p (N - C_j) is at most 0 below and at least 0 above it,
and what was published of it differs by noise alone: so it is tested by ranks among draws of noise, as where it is
secret how many records of a group have a value.
"""

from dataclasses import dataclass

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet.inference import Feature, PosteriorSample, Problem, number_facts, number_in_words
from discreet.mathematics.distributions import CountDistribution
from discreet.noise import BlockLaplace, PrefixSumNoise
from discreet.numbers._free_ends import number_behind
from discreet.numbers._further_numbers import further_cells
from discreet.numbers._table_inference import SecretNumberTableSolution
from discreet.numbers._table_posterior import NumberTablePosterior, NumberTableSolver


@dataclass(frozen=True)
class SumOfAll:
    """The noise of the sum of all cells."""

    distribution: PrefixSumNoise

    def log_density(self, distance: Floats) -> Floats:
        """Return log P(U = v), and far below all others where it is less than 1e-12."""
        return np.log(self.distribution.at(np.rint(distance)) + 1e-300)

    @property
    def reach(self) -> float:
        """Return how far it may reach."""
        return float(self.distribution.half)


class SecretNumberTableSolver(NumberTableSolver):
    """Solves one table of numbers of a secret number of records."""

    handles = frozenset({Feature.SECRET_NUMBER})

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse anything but one table with noise that is independent over blocks."""
        if isinstance(problem.number, int):
            return "the number of records is public"
        if len(problem.observed) != 1 or len(problem.measurements) != 1:
            return "a table of a secret number of records is read from one release at a time"
        if not isinstance(problem.measurements[0].noise, BlockLaplace):
            return "its noise is not that of a BlockTable"
        return None

    def solve(self, problem: Problem) -> SecretNumberTableSolution:
        """Return the table with the distribution of its noise, and how many records there are."""
        (measured,) = problem.measurements
        noise = measured.noise
        assert isinstance(noise, BlockLaplace)
        number = number_behind([(float(measured.values.sum()), SumOfAll(noise.whole_sum))])
        return SecretNumberTableSolution(problem.model, round(number.mean), measured.values, noise, number=number)


class SecretNumberTablePosterior(NumberTablePosterior, shows=SecretNumberTableSolution):
    """Quantiles and shares of a column of a secret number of records, and that number."""

    solution: SecretNumberTableSolution
    about = "about "

    @property
    def number_of_records(self) -> CountDistribution:
        """Return the distribution of the number of records, from the sum of all that was published."""
        return self.solution.number

    def facts(self, level: float = 0.9) -> dict[str, object]:
        """Return the number of records besides."""
        return {"number_of_records": number_facts(self.number_of_records, level)}

    def remarks(self, level: float = 0.9) -> tuple[str, ...]:
        """Say how many records there are, too."""
        who = self.model.among.removeprefix("these ")
        return (number_in_words(self.number_of_records, self.size, who, level), *super().remarks(level))

    def replicate(self, sample: PosteriorSample, generator: np.random.Generator) -> Counts:
        """Draw the counts of as many further records as were drawn behind the release."""
        sizes = np.maximum(np.rint(np.asarray(sample.behind).sum(axis=1)), 0).astype(np.int64)
        return further_cells(np.asarray(sample.behind), sizes, generator)
