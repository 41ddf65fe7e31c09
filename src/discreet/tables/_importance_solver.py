"""Choices among more candidate tables than can be listed, by weighted draws of the true table (importance sampling).

Tables are functions of a few normal coordinates, as for chains. Draws come from a mixture of the prior and of normal
distributions, narrow and wide, around the chosen candidate, so that no weight is large: a choice says either that the
truth is near, or nothing. The mixture is fitted to the posterior a few times (population Monte Carlo) and then kept.
The mean of its weights is an unbiased estimate of the evidence, and their spread gives the error of everything.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import ConvergenceWarning
from discreet.inference import (
    CostEstimate,
    CountChains,
    Exactness,
    Feature,
    Observed,
    Problem,
    Solver,
    TablesTarget,
    WeightedTables,
    choice_of,
    fit_of,
    near_sums,
    operations_of,
    unreadable,
)
from discreet.mathematics import MOST_SHAPE, Smoothed, smoothed
from discreet.mechanism import Normalised
from discreet.tables._chains_solver import table_coordinates
from discreet.tables._model import Categories
from discreet.tables._solution import TableSolution

MOST_CELLS = 12
"""The most cells for which weighted draws work well."""

_TRIALS, _DRAWS, _MOST_BLOCKS = 2_000, 4_000, 3
_LEAST_ROUNDS, _MOST_ROUNDS = 2, 5  # rounds of trials, after each of which the mixture is refitted
_ENOUGH = 0.1  # share of the trials' draws: if they are worth this much, the mixture is good
_WIDTHS = (1 / 64, 1 / 16, 1 / 4, 1.0, 4.0)  # factors of the covariances around a candidate
_LEAST_SHARE, _LEAST_PRIOR = 0.04, 0.2  # least share of a part of the mixture, so that none is lost
_WIDER = 1.3  # factor by which fitted covariances are inflated
_AROUND = 400  # draws that locate a candidate
_NARROWEST, _PROBES = -12, 24  # powers of 4 among which widths are searched, and draws of each
_INSIDE = 6.0  # larger normal numbers belong to empty cells
_FALLEN = 1.0  # nats per coordinate: a width at which likelihoods have fallen this far is too large
_AROUND_NARROW = (1 / 64, 1 / 16, 1 / 4, 1.0)
_WANTED_SIZE, _BAD_SIZE = 400.0, 100.0
_AT, _CHECKED = 48, 8  # tables at which sums are refined, and checked afterwards
_REFINED = 3e8  # operations of one of them
_NO_SHARE, _FEWEST = 1e-4, 5  # below this, refinement does not matter; this many tables must lie above
_MOST_OFF = 0.05


class WeightedTablesSolver(Solver):
    """Weights draws of a table by the choice, and by whatever else was published about the same records."""

    models = (Categories,)
    exactness = Exactness.SAMPLED
    handles = frozenset({Feature.MARGINS})

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse wide tables, and problems without a choice whose sums can be computed for many tables."""
        near = [each.is_margin for each in problem.observed if near_sums(each) is not None]
        if not any(_has_many_candidates(each) for each in problem.observed):
            return "weighted draws are used for choices among more tables than can be listed"
        if any(near):
            return "a choice among so many tables can be read only alone, or with others of the same table"
        if (cells := len(problem.model.cells)) > MOST_CELLS:
            return f"weighted draws work for at most {MOST_CELLS} cells; this table has {cells}"
        return next((why for each in problem.observed if (why := unreadable(each)) is not None), None)

    def cost(self, problem: Problem) -> CostEstimate:
        """Return the work of the likelihoods of the largest number of draws."""
        draws, cells = _MOST_ROUNDS * _TRIALS + _MOST_BLOCKS * _DRAWS, len(problem.model.cells)
        each = sum(map(operations_of, problem.observed)) + 1e4 * cells
        is_near = any(near_sums(observed) is not None for observed in problem.observed)
        held = cells * (problem.size + 1.0) if is_near else 8.0 * (problem.size + 1) ** 2
        refined = _REFINED * (_AT + 2 * _CHECKED) if is_near else 0.0
        words = f"weighing {draws} draws of {cells} cells"
        return CostEstimate(words, draws * each + refined, 2.0 * draws * (len(_WIDTHS) + cells) + held)

    def solve(self, problem: Problem[Categories]) -> TableSolution:
        """Return weighted draws of the table."""
        generator = np.random.default_rng([problem.seed, 4])
        target = TablesTarget(
            table_coordinates(problem), fit_of(problem), [0], [np.array(problem.model.concentration, dtype=float)], None
        )
        near = [part.normalised for part in target.fit.parts if part.normalised is not None]
        mixture = _Mixture.around(problem, target, generator)
        for number in range(_MOST_ROUNDS):
            q = mixture.draw(_TRIALS, generator)
            drawn, log_target = _logs(target, q, generator)
            found = smoothed(log_target - mixture.log_density(q))
            mixture = mixture.fitted(q, found.weights)
            if number + 1 == _LEAST_ROUNDS:
                for each in near:
                    _refine(each, drawn, found.weights, generator)
            if number + 1 >= _LEAST_ROUNDS and found.effective_size >= _ENOUGH * _TRIALS:
                break
        tables, logs = list[Counts](), list[Floats]()
        for _ in range(_MOST_BLOCKS):
            q = mixture.draw(_DRAWS, generator)
            drawn, log_target = _logs(target, q, generator)
            tables.append(drawn)
            logs.append(log_target - mixture.log_density(q))
            found = smoothed(np.concatenate(logs))
            if found.effective_size >= _WANTED_SIZE:
                break
        every = np.concatenate(tables)
        off = max((_checked(each, every, found.weights, generator) for each in near), default=0.0)
        _warn(problem, found, off)
        counts = WeightedTables.drawn(every, found.weights, found.log_mean)
        errors = _errors(found, every) / (problem.size + float(problem.model.concentration.sum()))
        return TableSolution(problem.model, counts, found.log_mean, _method(found, errors, off), tuple(errors.tolist()))


def _logs(target: TablesTarget, q: Floats, generator: np.random.Generator) -> tuple[Counts, Floats]:
    """Return tables (draws, cells) and the log of prior times likelihood, up to the normal constant."""
    chains = CountChains(target.coordinates, target.fit, target.maximal, q, generator)
    return np.asarray(chains.tables[0][0].T), chains.weights + chains.fits


@dataclass(frozen=True, eq=False)
class _Mixture:
    """Normal distributions with shares, means (parts, coordinates) and roots of covariances; the first is the prior."""

    shares: Floats
    means: Floats
    roots: Floats

    @classmethod
    def around(cls, problem: Problem[Categories], target: TablesTarget, generator: np.random.Generator) -> "_Mixture":
        """Return the prior and distributions of several widths around each candidate, or around the prior's middle.

        Candidates that are margins say where sums lie, not where the table does.
        """
        length = target.coordinates.length
        means, roots = [np.zeros(length)], [np.eye(length)]
        for observed in problem.observed:
            if (
                (chosen := choice_of(observed)) is not None
                and not observed.is_margin
                and _has_many_candidates(observed)
            ):
                alpha = np.array(problem.model.concentration, dtype=float) + chosen.candidate
                shares = generator.dirichlet(alpha, size=_AROUND).T[None]
                q = target.coordinates.start([shares], generator)
                root = np.asarray(np.linalg.cholesky(np.atleast_2d(np.cov(q)) + 1e-9 * np.eye(length)), dtype=float)
                means += [q.mean(axis=1)] * len(_WIDTHS)
                roots += [np.sqrt(width) * root for width in _WIDTHS]
                itself = _index(target, chosen.candidate, q.mean(axis=1), generator)
                narrow = _narrow(target, itself, root, generator)
                means += [itself] * len(narrow)
                roots += [np.sqrt(width) * root for width in narrow]
        if len(means) == 1:
            means += [np.zeros(length)] * len(_WIDTHS)
            roots += [np.sqrt(width) * np.eye(length) for width in _WIDTHS]
        return cls(np.full(len(means), 1 / len(means)), np.array(means), np.array(roots))

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        """Draw coordinates (coordinates, draws)."""
        parts = generator.choice(len(self.shares), size=count, p=self.shares)
        normals = generator.standard_normal((count, self.means.shape[1]))
        return np.asarray((self.means[parts] + np.einsum("nij,nj->ni", self.roots[parts], normals)).T)

    def _log_parts(self, q: Floats) -> Floats:
        """Return the log of share times density of every part (parts, draws), up to the same constant."""
        found = []
        for share, mean, root in zip(self.shares, self.means, self.roots, strict=True):
            scaled = np.linalg.solve(root, q - mean[:, None])
            found.append(np.log(share) - 0.5 * (scaled**2).sum(axis=0) - np.log(np.diag(root)).sum())
        return np.array(found)

    def log_density(self, q: Floats) -> Floats:
        """Return the log density of the mixture, up to a constant of the normal distribution."""
        return np.asarray(logsumexp(self._log_parts(q), axis=0))

    def fitted(self, q: Floats, weights: Floats) -> "_Mixture":
        """Return the mixture after one step of expectation and maximisation on weighted draws; the prior stays."""
        logs = self._log_parts(q)
        owners = np.exp(logs - logsumexp(logs, axis=0)) * weights
        shares = np.maximum(owners.sum(axis=1), _LEAST_SHARE)
        shares[0] = max(shares[0], _LEAST_PRIOR)
        means, roots = self.means.copy(), self.roots.copy()
        for part in range(1, len(shares)):
            own = owners[part]
            if 1 / np.square(own / max(own.sum(), 1e-300)).sum() > 10 * len(q):  # enough draws for a covariance
                means[part] = q @ own / own.sum()
                away = q - means[part][:, None]
                spread = _WIDER * (away * own) @ away.T / own.sum()
                roots[part] = np.linalg.cholesky(spread + 1e-9 * np.eye(len(q)))
        return _Mixture(shares / shares.sum(), means, roots)


def _errors(found: Smoothed, tables: Counts) -> Floats:
    """Return the standard errors of the expected counts."""
    away = tables - found.weights @ tables
    return np.asarray(np.sqrt((np.square(found.weights)[:, None] * away**2).sum(axis=0)))


def _method(found: Smoothed, errors: Floats, off: float) -> str:
    """Say how good the weights are, and how far off sums over candidates are where they were checked."""
    sums = f"; sums over all candidates have a relative error of at most {off:.1g} where checked" if off else ""
    return (
        f"read by {len(found.weights):,} weighted draws (effective size {found.effective_size:,.0f}, Pareto k-hat "
        f"{found.shape:.2f}; Monte Carlo errors of means at most {errors.max():.2g}, of the log evidence "
        f"{found.log_mean_error:.2g}){sums}"
    )


def _index(target: TablesTarget, candidate: Counts, mean: Floats, generator: np.random.Generator) -> Floats:
    """Return the coordinates of a candidate itself; where a cell is empty, those of draws around it."""
    shares = (candidate / candidate.sum())[None, :, None]
    q = target.coordinates.start([shares], generator)[:, 0]
    return np.asarray(np.where(np.abs(q) < _INSIDE, q, mean))


def _narrow(target: TablesTarget, mean: Floats, root: Floats, generator: np.random.Generator) -> tuple[float, ...]:
    """Return widths around the one at which likelihoods begin to fall: a sharp choice is far narrower than others."""
    length, least = len(mean), -np.inf
    for power in range(_NARROWEST, 1):
        width = 4.0**power
        q = mean[:, None] + np.sqrt(width) * root @ generator.standard_normal((length, _PROBES))
        chains = CountChains(target.coordinates, target.fit, target.maximal, q, generator)
        middle = float(np.median(chains.fits))
        if middle < least:
            return tuple(4 * width * factor for factor in _AROUND_NARROW) if power > _NARROWEST else ()
        least = max(least, middle - _FALLEN * length)
    return ()


def _has_many_candidates(observed: Observed) -> bool:
    """Return whether an output is a choice among more tables than can be listed."""
    choice = choice_of(observed)
    return choice is not None and (choice.is_summed or choice.near_sums() is not None)


def _picked(tables: Counts, weights: Floats, count: int, generator: np.random.Generator) -> Counts:
    """Return some tables, in proportion to their weights, none twice."""
    own = weights / weights.sum() if weights.sum() > 0 else np.full(len(weights), 1 / len(weights))
    return np.asarray(np.unique(tables[generator.choice(len(tables), size=count, p=own)], axis=0))


def _refine(near: Normalised, tables: Counts, weights: Floats, generator: np.random.Generator) -> None:
    """CostEstimate sums out where they matter: half of the tables where the posterior is, half where draws went."""
    shares = near.shares(tables)
    if (shares > _NO_SHARE).sum() < _FEWEST:
        return  # the known part is all there is
    chosen = [_picked(tables, own * shares, _AT // 2, generator) for own in (weights, np.ones(len(weights)))]
    near.refine(np.unique(np.concatenate(chosen), axis=0))


def _checked(near: Normalised, tables: Counts, weights: Floats, generator: np.random.Generator) -> float:
    """Return the largest error of a log sum at some draws of the posterior."""
    return float(np.abs(near.errors(_picked(tables, weights, _CHECKED, generator))).max())


def _warn(problem: Problem, found: Smoothed, off: float) -> None:
    if off > _MOST_OFF:
        warnings.warn(
            f"{problem.label!r}: sums over candidates have relative errors of up to {off:.2g}. Treat the intervals as "
            "rough.",
            ConvergenceWarning,
            stacklevel=2,
        )
    if found.shape > MOST_SHAPE or found.effective_size < _BAD_SIZE:
        warnings.warn(
            f"{problem.label!r}: {_DRAWS * _MOST_BLOCKS} weighted draws are worth only {found.effective_size:.0f} "
            f"(Pareto k-hat {found.shape:.2f}). Treat the intervals as rough.",
            ConvergenceWarning,
            stacklevel=2,
        )
