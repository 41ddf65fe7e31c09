"""All cells of a table read together where no prior was declared: chains under the crossed prior, until they are many.

Chains start from the noisy counts, spread by as much again as the noise and projected to tables of all records. They
run for a number of sweeps that public facts decide, so nobody waits for longer than was said; how well they agree is
measured on the shares of the columns' levels (of the largest cells, if there is one column), and stated.
"""

import warnings
from dataclasses import dataclass
from functools import cached_property
from math import ceil, nan

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import ConvergenceWarning
from discreet._core.progress import StepCounter
from discreet.inference import CostEstimate, Exactness, Problem, Solver
from discreet.mathematics import Agreement, agreement, in_order_of_starts
from discreet.noise import epsilon_weights, rho_weights
from discreet.tables._crossed import CrossedChains, CrossedPrior
from discreet.tables._model import CROSSED_FROM, Categories
from discreet.tables._pair_moves import CellNoise, GaussianCells, LaplaceCells

MOST_CELLS = 10_000
_CHAINS = ((1_000, 24), (2_500, 16), (MOST_CELLS, 8))  # up to so many cells; whole groups of nested R-hat
_SWEEPS, _STEPS = 240, 6.5e6  # at most so many sweeps, and so many cells drawn in all: some 5 CPU s
_WARM = 0.3  # share of the sweeps that are not kept
_KEPT = 34  # about so many draws of a chain
_EACH = 300.0  # operations of drawing one cell once
_JUDGED = 50  # cells that are judged where nothing is crossed
_BAD_R_HAT = 1.3


@dataclass(frozen=True, eq=False)
class CrossedSolution:
    """Draws of all cells by chains: counts, log odds and shares (chains, draws, cells)."""

    model: Categories
    prior: CrossedPrior
    counts: Counts
    log_odds: Floats
    shares: Floats
    agreement: Agreement
    mean_errors: Floats
    log_evidence: float = nan
    """It has no closed form, and no estimate by chains is given."""

    @cached_property
    def method(self) -> str:
        """Say how long the chains ran, and how well they agree."""
        chains, draws, _ = self.counts.shape
        found = self.agreement
        return (
            f"read by {chains} Markov chains of {draws} draws (nested R-hat of levels at most {found.r_hat:.2f}, "
            f"effective sizes at least {found.bulk:,.0f}; Monte Carlo errors of means at most "
            f"{self.mean_errors.max():.1g})"
        )


class CrossedSolver(Solver):
    """Runs chains of tables under the crossed prior. `posterior.table` asks for it where no prior was declared."""

    models = ()  # problems of tables have a Dirichlet prior
    exactness = Exactness.SAMPLED
    runs_chains = True

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse declared priors, few and very many cells, and noise that is neither Laplace nor Gaussian and alike."""
        if problem.model.is_prior_declared:
            return "a prior was declared"
        if not CROSSED_FROM <= (cells := len(problem.model.cells)) <= MOST_CELLS:
            return f"chains of all cells go through {CROSSED_FROM} to {MOST_CELLS:,} cells; this table has {cells:,}"
        if problem.features or cell_noise(problem) is None:
            return "chains of all cells read Laplace or Gaussian noise of every single cell, alike in all of them"
        return None

    def cost(self, problem: Problem) -> CostEstimate:
        """Return the work of all sweeps."""
        cells = len(problem.model.cells)
        chains, sweeps = _length(cells)
        words = f"running {chains} chains of {sweeps} sweeps through {cells} cells"
        return CostEstimate(words, _EACH * cells * chains * sweeps, 3.0 * cells * chains * _KEPT)

    def solve(self, problem: Problem[Categories]) -> CrossedSolution:
        """Return draws of all cells."""
        model, noise = problem.model, cell_noise(problem)
        assert noise is not None
        generator = np.random.default_rng([problem.seed, 5])
        prior = CrossedPrior(tuple(len(column.levels) for column in model.columns), problem.size)
        count, sweeps = _length(prior.cells)
        every = ceil((1 - _WARM) * sweeps / _KEPT)  # sweeps between two that are kept
        chains = CrossedChains(prior, noise, starting_tables(noise, problem.size, count, generator), generator)
        largest = np.sort(np.argsort(-noise.middle, kind="stable")[:_JUDGED])
        starts = judged(prior, chains.counts / problem.size, largest)
        counts, log_odds, shares = list[Counts](), list[Floats](), list[Floats]()
        with StepCounter("Reading all cells together by Markov chains", sweeps) as steps:
            for number in range(sweeps):
                chains.sweep()
                if number >= _WARM * sweeps and (sweeps - 1 - number) % every == 0:
                    rates = chains.rates()
                    shares.append(rates / rates.sum(axis=1, keepdims=True))
                    counts.append(chains.counts.copy())
                    log_odds.append(chains.log_odds)
                steps.done(number + 1)
        drawn = np.stack(shares, axis=1)
        found = agreement(in_order_of_starts(judged(prior, drawn, largest), starts))
        errors = drawn.mean(axis=1).std(axis=0, ddof=1) / np.sqrt(count)
        if found.r_hat > _BAD_R_HAT:
            warnings.warn(
                f"{problem.label!r}: read together, its cells are so uncertain that chains do not agree well (nested "
                f"R-hat {found.r_hat:.2f}, effective size {found.bulk:.0f}). Treat means and draws of all cells as "
                "rough; intervals of shares from their own noisy sums do not depend on them.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return CrossedSolution(model, prior, np.stack(counts, axis=1), np.stack(log_odds, axis=1), drawn, found, errors)


def _length(cells: int) -> tuple[int, int]:
    """Return how many chains run, and for how many sweeps."""
    chains = next((count for most, count in _CHAINS if cells <= most), _CHAINS[-1][1])
    return chains, min(_SWEEPS, int(_STEPS / (chains * cells)))


def cell_noise(problem: Problem) -> CellNoise | None:
    """Return the noise of all cells if it is Laplace or Gaussian noise of one rate in every release; else None."""
    measurements, cells = problem.measurements, len(problem.model.cells)
    if not problem.is_measured or any(
        m.of.single_cells is None or len(m.of.single_cells) != cells or len(m.noise.blocks) != 1 for m in measurements
    ):
        return None
    laplace = [epsilon_weights(m.noise.structure) for m in measurements]
    gaussian = [rho_weights(m.noise.structure) for m in measurements]
    values = np.zeros((len(measurements), cells), dtype=np.int64)
    for row, measurement in zip(values, measurements, strict=True):
        if measurement.values.size:
            row[measurement.of.single_cells] = measurement.values
    if all(laplace):
        return LaplaceCells(values, np.array([float(weights[0]) for weights in laplace if weights]))
    if all(gaussian):
        precisions = np.array([2 * float(weights[0]) for weights in gaussian if weights])  # rho = c^2 / 2 sigma^2
        return GaussianCells(precisions @ values / precisions.sum(), 1 / float(precisions.sum()))
    return None


def wide_noise(problem: Problem[Categories]) -> tuple[float, float] | None:
    """Return the standard deviation of a cell's noise and the mean count of a cell, if the former is larger; else None.

    Only public facts decide. Noise that wide hides which cells are empty.
    """
    noise, mean = cell_noise(problem), problem.size / len(problem.model.cells)
    return (noise.deviation, mean) if noise is not None and noise.deviation > mean else None


def starting_tables(noise: CellNoise, size: int, chains: int, generator: np.random.Generator) -> Counts:
    """Return tables of all records near the noisy counts, spread by as much again as their noise."""
    spread = noise.deviation * generator.standard_normal((chains, len(noise.middle)))
    return rounded_tables(projected(noise.middle + spread, size), size)


def projected(values: Floats, total: int) -> Floats:
    """Return the nearest rows of numbers that are at least 0 and add up to a total: (values - t)+ for one t."""
    falling = -np.sort(-values, axis=-1)
    excess = (np.cumsum(falling, axis=-1) - total) / np.arange(1, values.shape[-1] + 1)
    last = (falling > excess).sum(axis=-1, keepdims=True) - 1
    return np.maximum(values - np.take_along_axis(excess, last, axis=-1), 0.0)


def rounded_tables(values: Floats, total: int) -> Counts:
    """Return whole numbers that add up to a total, from rows that do: the largest remainders are rounded up."""
    found = np.floor(values).astype(np.int64)
    ranks = np.argsort(np.argsort(found - values, axis=1, kind="stable"), axis=1)
    return np.asarray(found + (ranks < total - found.sum(axis=1, keepdims=True)))


def judged(prior: CrossedPrior, shares: Floats, largest: Counts) -> Floats:
    """Return the shares by which chains are judged (quantities, ...), from those of all cells (..., cells)."""
    if len(prior.shape) == 1:
        return np.moveaxis(shares[..., largest], -1, 0)
    tables = shares.reshape(*shares.shape[:-1], *prior.shape)
    axes = range(shares.ndim - 1, tables.ndim)
    margins = [tables.sum(axis=tuple(other for other in axes if other != axis)) for axis in axes]
    return np.concatenate([np.moveaxis(margin, -1, 0) for margin in margins])
