"""One strength of the prior for each family of a network, shared by its rows and weighted by evidence.

A family whose variable has K > 8 levels has the total weight log-uniform from 2 to K (`strength_grids`); strengths of
different families are independent beforehand. With F such families there are prod_i S_i combinations s. First each
family is gone through with the others at their best so far, until none moves: that gives E(s_i), the evidence of every
strength beside the best of the others, and p_i(s_i) ~ E(s_i). Families speak to each other through counts that all of
them know well, so the posterior of s is nearly prod_i p_i(s_i).

If few combinations have p_i(s_i) > 10^-9 everywhere, all of them are read: what is left out is less than F S 10^-9. Of
more, 32 are drawn so that each family has its strengths as often as p_i says, and each stands for

    prior(s) / (32 prod_i p_i(s_i)),

which makes sums over them estimates of the sums over all (importance sampling); the weights are nearly equal.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product
from math import log, prod
from typing import Any

import numpy as np
from scipy.special import logsumexp

from discreet._core.arrays import Counts, Floats
from discreet.inference import MOST_OPERATIONS, Problem, Solver, SolvesInTurn
from discreet.networks._model import Network
from discreet.networks._solution import NetworkSolution

MOST_COMBINATIONS = 64
"""Up to this many combinations, all are read; beyond, some are drawn."""
_DRAWN = 32
_KEPT = 1e-9  # probability of a strength, with the others at their best, from which on it is read
_ROUNDS = 4  # passes through all families; the second seldom changes any

FamilyIndices = tuple[int, ...]


def are_few(problem: Problem[Network], solver: Solver) -> bool:
    """Return whether solving a problem under all given priors is within the work limit."""
    grids, most = problem.model.strength_grids, MOST_OPERATIONS * problem.work_limit
    if not grids:
        return solver.cost(problem).operations * len(problem.model.proposals(True)) <= most
    shares_rows = isinstance(solver, SolvesInTurn) and solver.shares_rows
    times = max(map(len, grids.values())) if shares_rows else _ROUNDS * sum(map(len, grids.values()))
    operations = solver.cost(problem).operations * (times + _DRAWN * (not shares_rows))
    return operations <= most


def solve_with_family_strengths(problem: Problem[Network], read: Callable[[Problem], Any]) -> list[NetworkSolution]:
    """Return solutions under one strength for each family, each with the weight of the priors that it stands for."""
    return _Families(problem, read).solutions()


class _Families:
    def __init__(self, problem: Problem[Network], read: Callable[[Problem], Any]) -> None:
        self._problem, self._read, self._grids = problem, read, problem.model.strength_grids
        self._known: dict[FamilyIndices, NetworkSolution] = {}

    def solutions(self) -> list[NetworkSolution]:
        """Return the solutions that matter."""
        chances = [_normalised(logs) for logs in self._beside_the_best()]
        prior = -sum(log(len(values)) for values in self._grids.values())
        kept = [np.flatnonzero(own > _KEPT).tolist() for own in chances]
        if prod(map(len, kept)) <= MOST_COMBINATIONS:
            return [self._weighed(indices, prior) for indices in product(*kept)]
        found = []
        for indices, times in _drawn(chances).items():
            chance = sum(log(own[index]) for own, index in zip(chances, indices, strict=True))
            found.append(self._weighed(indices, prior + log(times / _DRAWN) - chance))
        return found

    def _beside_the_best(self) -> list[Floats]:
        """Return the log evidence of every strength of each family, the others at their best."""
        best = [len(values) // 2 for values in self._grids.values()]
        for _ in range(_ROUNDS):
            before, found = list(best), []
            for family, values in enumerate(self._grids.values()):
                beside = [(*best[:family], index, *best[family + 1 :]) for index in range(len(values))]
                found.append(np.array([self._at(indices).log_evidence for indices in beside]))
                best[family] = int(found[-1].argmax())
            if best == before:
                break
        return found

    def _weighed(self, indices: FamilyIndices, log_weight: float) -> NetworkSolution:
        return replace(self._at(indices), log_weight=log_weight)

    def _at(self, indices: FamilyIndices) -> NetworkSolution:
        if indices not in self._known:
            chosen = {name: values[at] for at, (name, values) in zip(indices, self._grids.items(), strict=True)}
            self._known[indices] = self._read(replace(self._problem, model=self._problem.model.under_strengths(chosen)))
        return self._known[indices]


def _normalised(logs: Floats) -> Floats:
    return np.asarray(np.exp(logs - logsumexp(logs)))


def _drawn(chances: list[Floats]) -> Mapping[FamilyIndices, int]:
    """Draw combinations: evenly spaced quantiles of each family, each in its own order; and how often each occurred."""
    generator, levels = np.random.default_rng(0), (np.arange(_DRAWN) + 0.5) / _DRAWN
    columns: list[Counts] = []
    for own in chances:
        indices = np.searchsorted(np.cumsum(own), levels * own.sum() * (1 - 1e-12))
        columns.append(generator.permutation(np.minimum(indices, len(own) - 1)))
    rows, times = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
    return dict(zip(map(tuple, rows.tolist()), times.tolist(), strict=True))
