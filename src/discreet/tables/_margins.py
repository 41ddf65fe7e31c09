"""The margin of a table: what is known about one or more columns, summed over the others. It is a posterior itself.

Where shares are read from their own sums, the release is collapsed to the levels asked for, and these are read like
any table: intervals from each level's own noisy sum, means together under a prior whose strength is learnt, so that
they add up to 1. Where all cells are read together, under a declared prior or in `posterior.table`, the margin is the
sum over cells and agrees with them.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet.inference import Intervals, Problem, column_named, solve_with_strengths, solver_for
from discreet.mathematics.distributions import BetaMixture, CountDistribution, MixtureBatch
from discreet.records import Column
from discreet.tables._differences import Difference
from discreet.tables._drawn_table import DrawnTable
from discreet.tables._group_distributions import MixedGroups
from discreet.tables._groupwise import collapsed_problem
from discreet.tables._model import Categories
from discreet.tables._pooling import PooledRates
from discreet.tables._posterior import CategoriesPosterior
from discreet.tables._solver import TablesSolver


class MarginPosterior(CategoriesPosterior):
    """What is known of some columns of a table, as the posterior of these columns alone."""

    def __init__(self, whole: CategoriesPosterior, columns: Sequence[Column]) -> None:
        self._whole, self._groups_of_cells = whole, _groups(whole.model, columns)
        prior = [float(whole.model.concentration[group].sum()) for group in self._groups_of_cells]
        model = Categories(columns, prior=tuple(prior) if whole.model.is_prior_declared else None)
        self.joint_type, self.about = whole.joint_type, whole.about
        super().__init__(model, whole.releases, _solutions(whole, model, self._groups_of_cells))
        if not (whole.distributions.is_groupwise or whole.model.is_prior_declared):
            self.distributions, self.is_uniform_pair = self.together, False

    @cached_property
    def is_crossed(self) -> bool:
        """Return whether it is the sum over a table that was read so; else it is read from sums of its own."""
        return self._whole.is_crossed and not self._whole.distributions.is_groupwise

    @cached_property
    def drawn(self) -> DrawnTable | None:
        """Return the sums over draws of the whole table."""
        return self._whole.drawn.merged(self._groups_of_cells) if self.is_crossed and self._whole.drawn else None

    def _watch_draws(self) -> None:
        """Ask whoever reads the whole table; a margin from sums of its own has as many cells as were asked for."""
        if not self._whole.distributions.is_groupwise:
            self._whole._watch_draws()

    @cached_property
    def groupwise_distributions(self) -> MixedGroups | None:  # type: ignore[override]  # of groups of the same cells
        """Return the groupwise distributions of the groups of cells."""
        own = self._whole.groupwise_distributions
        return None if own is None else MergedGroups(own, self._groups_of_cells)

    def _size(self) -> int:
        return self._whole.size

    @property
    def _has_holders_prior(self) -> bool:
        """Return whether the prior is the holder's, summed over the other columns."""
        return self._whole._has_holders_prior

    @property
    def warnings(self) -> tuple[Warning, ...]:
        """Return nothing: the reader of the whole table has already been warned."""
        return ()

    def intervals(self, level: float = 0.9) -> Intervals:
        """Return the levels, without a plug-in estimate: their counts were not published."""
        distributions = list(zip(self.joint_means.tolist(), self._intervals(level), strict=True))
        title = "Probability of each level of " + " and ".join(column.name for column in self.columns)
        return Intervals(title, self._lines(distributions), ())

    def pooled(self, event: object, by: str, patience: float = 1.0) -> PooledRates:
        """Refuse what takes two columns and the released counts."""
        raise DeclarationError(f"{self._where}. Ask the posterior of the whole table for pooled rates by {by!r}.")

    def differ(self, event: object, by: str, patience: float = 1.0) -> Difference:
        """Refuse what takes two columns and the released counts."""
        raise DeclarationError(f"{self._where}. Ask the posterior of the whole table whether rates differ by {by!r}.")

    @property
    def _where(self) -> str:
        return f"This is the margin of {', '.join(column.name for column in self.columns)}"


class MergedGroups(MixedGroups):
    """What is known about sets of groups of cells, each set given by the indices of its groups."""

    def __init__(self, distributions: MixedGroups, groups: Sequence[Counts]) -> None:
        self._distributions, self._groups = distributions, tuple(groups)
        self.are_opened, self.is_groupwise, self.weight_error = (
            distributions.are_opened,
            distributions.is_groupwise,
            distributions.weight_error,
        )

    def _cells(self, indices: Counts) -> Counts:
        return np.concatenate([self._groups[int(index)] for index in indices])

    def share(self, indices: Counts) -> BetaMixture:
        return self._distributions.share(self._cells(indices))

    def several(self, groups: Sequence[Counts]) -> MixtureBatch:
        return self._distributions.several([self._cells(group) for group in groups])

    def between(self, one: Counts, two: Counts) -> BetaMixture:
        return self._distributions.between(self._cells(one), self._cells(two))

    def count(self, indices: Counts) -> CountDistribution:
        return self._distributions.count(self._cells(indices))

    def log_draws(self, groups: Sequence[Counts], count: int, seed: int | None) -> Floats:
        return self._distributions.log_draws([self._cells(group) for group in groups], count, seed)


def _groups(model: Categories, columns: Sequence[Column]) -> list[Counts]:
    """Return the indices of the cells for each combination of levels of some columns."""
    shape = [len(column.levels) for column in model.columns]
    codes = np.unravel_index(np.arange(len(model.cells)), shape)
    own = [codes[model.columns.index(column)] for column in columns]
    numbers = np.ravel_multi_index(own, [len(column.levels) for column in columns])
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)


def _solutions(whole: CategoriesPosterior, model: Categories, groups: Sequence[Counts]) -> list[Any]:
    """Return the groupwise posterior of the groups, or that of all cells together."""
    if whole.distributions.is_groupwise:
        labels = np.empty(len(whole.model.cells), dtype=np.int64)
        for number, group in enumerate(groups):
            labels[group] = number
        problem = collapsed_problem(Problem.of(whole.releases), model, labels)
        if problem is not None:
            problems = [replace(problem, model=proposed) for proposed in model.proposals(True)]
            by = TablesSolver() if isinstance(problem.number, int) else solver_for(problem)
            return solve_with_strengths(problems, by=by)
    priors = [[float(each.model.concentration[group].sum()) for group in groups] for each in whole.solutions]
    return [
        replace(each, model=model.with_prior(tuple(prior)), counts=whole.grouped(each.counts, groups))
        for each, prior in zip(whole.solutions, priors, strict=True)
    ]


def margin_of(whole: CategoriesPosterior, names: Sequence[str]) -> CategoriesPosterior:
    """Return the posterior of some columns of a table, in the order named; for all of them, the table's own."""
    columns = [column_named(whole.columns, name) for name in names]
    if not columns or len(set(names)) < len(names):
        raise DeclarationError(
            f"A margin needs one or more columns, each named once; got {list(names)}. The columns are "
            f"{[column.name for column in whole.columns]}."
        )
    return whole if tuple(columns) == whole.columns else MarginPosterior(whole, columns)
